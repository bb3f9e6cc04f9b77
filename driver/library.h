/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Libraries of the system that are loaded together with us but not linked.
 *
 * The manager looks up some 300 names in a driver at each connect, most of
 * which no driver has, and for each of those the loader goes through all that
 * the driver is linked with: two libraries and what they need cost a tenth of
 * a whole connect.  What is loaded at run time is not looked through.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* One function of the library, and the pointer that it is to be put into. */
struct library_function {
    const char *name;
    void *place;
};

/* For a table of pointers whose members have the functions' names. */
#define LIBRARY_FUNCTION(table, name) { #name, &(table).name }

/* Loads a library by its soname and fills the pointers.  False: it is not
   there or lacks one of them, and nothing is filled.  To be called by a
   constructor, as if it were linked: then no thread is under way, and none of
   our locks is held while the loader runs foreign code. */
bool library_load(const char *soname, const struct library_function *functions,
                  size_t count);

#endif
