/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What inifile.c, which reads sections, and inifile_section.c, which keeps
 * them, share, and nobody else needs.
 */
#ifndef INIFILE_INSIDE_H
#define INIFILE_INSIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "inifile.h"

struct section {
    struct inifile_section shown; /* first: callers hold a pointer to it */
    enum inifile_kind kind;
    atomic_uint references;
    struct section *next;
};

/* Adds one entry to a section whose array has room for it.  False: no
   memory. */
bool inifile_add_entry(struct section *section, struct inifile_entry *entries,
                       const char *keyword, const char *value);

/* Wipes and frees, whoever holds a reference. */
void inifile_free(struct section *section);

/* Gives back the reference that a list holds to each of its sections. */
void inifile_release_all(struct section *list);

/* In a child, its parent's: threads that it has not may have references to
   them, so they are wiped and not freed (but kept, lest they look lost). */
void inifile_leave_all(struct section *list);

/* The section in the list; NULL: none. */
struct section *inifile_find(struct section *list, const char *name,
                             enum inifile_kind kind);

/* Copies, per processor: what inifile.c has forgotten has none, for it adds and
   forgets them with its mutex held.  inifile_find_copy() retains; NULL: there
   is none here.  Locks: take one of LOCK_DIAG. */
struct section *inifile_find_copy(const char *name, enum inifile_kind kind);
void inifile_add_copy(const struct section *section);
void inifile_forget_copies(void);

#endif
