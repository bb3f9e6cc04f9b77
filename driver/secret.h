/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Memory for secrets that live long: the login of a pool (rules §5.6).
 *
 * Each secret has pages of its own (at least one: there are a few secrets per
 * login, so that this is cheap enough), kept out of core dumps
 * (MADV_DONTDUMP), read-only once filled, and wiped before they are unmapped.
 *
 * A forked child starts afresh and needs none of its parent's: the kernel
 * gives it pages of zeros instead (MADV_WIPEONFORK), whoever forks, whatever
 * other threads do just then, and at no cost to either.
 *
 * Buffers that live for one call use struct text with wipe instead, but not
 * over a call of the inner driver's, which may take long.
 */
#ifndef SECRET_H
#define SECRET_H

#include <stddef.h>

/* A copy of text[0..length), NUL-terminated (it may hold NULs itself), owned
   by the caller and given back with secret_free().  Writing to it is a
   fault.  NULL: out of memory.  No locks; any thread. */
const char *secret_dup(const char *text, size_t length);

/* The length given to secret_dup(). */
size_t secret_length(const char *secret);

/* Wipes and frees; NULL is fine, and in a child a parent's is.  Nobody may use
   it any more. */
void secret_free(const char *secret);

/* Wipes and free()s an ordinary NUL-terminated string that turned out to be
   secret; NULL is fine. */
void secret_free_string(char *string);

#endif
