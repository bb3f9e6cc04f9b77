/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sections of odbc.ini and odbcinst.ini, as unixODBC reads them, by way of
 * libodbcinst and kept for the process: 40 warm look-ups of libodbcinst cost
 * 10 µs and cold ones 1.3 ms (rules §11.4), ours costs a mutex and, at most
 * every INIFILE_STAT_MS, four stat() calls.  It sees a changed file at once
 * after that, which libodbcinst with its cache of 20 s does not.
 *
 * libodbcinst is called under a mutex of this file: before 2.3.14 its own
 * concurrent reads are not safe.  It cuts lines at 1,000 characters without
 * a word: a line that fills that limit is an error here (rules §11.2).
 */
#ifndef INIFILE_H
#define INIFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "why.h"

enum {
    INIFILE_LINE_MAX = 998, /* bytes of the longest line that is not cut */
    INIFILE_STAT_MS = 200     /* files are looked at no more often */
};

enum inifile_kind {
    INIFILE_DSN,   /* odbc.ini: the user's, then the system's */
    INIFILE_DRIVER /* odbcinst.ini */
};

struct inifile_entry {
    const char *keyword;
    const char *value;
};

/* Immutable and shared, with those who ask on the same processor; keywords are
   unique (case aside, the first wins) in the order of the file.  A section
   without entries counts as none. */
struct inifile_section {
    const char *name; /* as asked for */
    const struct inifile_entry *entries;
    size_t count;
};

/* The section of that name (case aside), retained for the caller, who gives
   it back with inifile_release().  NULL: why is WHY_DSN (there is none),
   WHY_INI (a line is too long; file, section and key are named) or
   WHY_MEMORY.  Only on threads of the application's (rules §15).
   Locks: takes and leaves this file's mutex; no lock of ours may be needed by
   libodbcinst, which reads files under it. */
const struct inifile_section *inifile_section(const char *name,
                                              enum inifile_kind kind,
                                              struct why *why);

/* NULL is fine. */
void inifile_release(const struct inifile_section *section);

/* The value of that keyword (case aside), or NULL; lives as long as the
   section is retained. */
const char *inifile_value(const struct inifile_section *section,
                          const char *keyword);

/* A number that changes whenever one of the files did (time in ns, size,
   inode, there or not), looked at no more often than INIFILE_STAT_MS; never
   0.  Locks: takes and leaves this file's mutex. */
uint64_t inifile_fingerprint(void);

/* Forgets everything read and looks at the files again at the next call.  For
   tests, which write files more often than INIFILE_STAT_MS. */
void inifile_forget(void);

#endif
