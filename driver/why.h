/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Why something did not work: one code and one sentence, filled where the
 * fact is known and carried up unchanged to the handle that reports it.
 *
 * The codes are classes of failure, not places: diag.def gives each its
 * SQLSTATE and native number, and nothing else in the code names one.  The
 * text is UTF-8 without the "[odbc-affinity][DSN]" in front, never holds a
 * secret, and fits unixODBC 2.3.11's 512 characters (rules §11.7).
 */
#ifndef WHY_H
#define WHY_H

#include <stdarg.h>

enum why_code {
    WHY_NONE,        /* nothing wrong; text is empty */
    WHY_MEMORY,      /* HY001 out of memory */
    WHY_LENGTH,      /* HY090 a length argument that ODBC does not allow */
    WHY_VALUE,       /* HY024 a keyword's or attribute's value */
    WHY_UNAVAILABLE, /* HYC00 means something, but not in this version */
    WHY_DSN,         /* IM002 no such section in odbc.ini, or no DSN at all */
    WHY_INI,         /* HY000 an ini file cannot be read as it stands */
    WHY_DRIVER,      /* IM003 an inner driver cannot be loaded or used */
    WHY_LOGIN,       /* 28000 the instance refuses this login */
    WHY_REFUSED,     /* 08001/28 no link can be had at all */
    WHY_OPEN_LATE,   /* HYT01 opening one link timed out */
    WHY_WAIT_LATE,   /* HYT00/29 no link within PoolWait */
    WHY_NO_OWNER,    /* HY000 complete topology, and no partition takes it */
    WHY_KEY,         /* 22018 the key does not fit the owner's key type */
    WHY_DEAD,        /* 08S01 the link died */
    WHY_PINNED,      /* 25000 cannot move now: open transaction */
    WHY_CURSOR,      /* HY011 cannot move now: cursor or pinned state */
    WHY_CANCELLED,   /* HY008 SQLCancel ended a wait of ours */
    WHY_COMMAND,     /* 42000 one of our SQL commands is not well formed */
    WHY_SEQUENCE,    /* HY010 function sequence */
    WHY_GENERAL,     /* HY000 anything else, told by the text */
    WHY_INNER        /* the inner driver's own records say it; text repeats
                        the first of them for logs */
};

enum { WHY_TEXT = 400 };

struct why {
    enum why_code code;
    char text[WHY_TEXT];
};

/* Fills *why, replacing what stood there; a text that is too long is cut
   after its last whole UTF-8 character and ends in "...".  why may be NULL
   (nobody asks).  Allocates nothing, never fails. */
void why_set(struct why *why, enum why_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void why_vset(struct why *why, enum why_code code, const char *format,
              va_list arguments) __attribute__((format(printf, 3, 0)));

/* The same for running out of memory, whose sentence is always the same. */
void why_memory(struct why *why);

#endif
