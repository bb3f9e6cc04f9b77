/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Memory for secrets that live long: the login of a pool (rules §5.6).
 *
 * Each secret has pages of its own (at least one: there is one secret per
 * login, so that this is cheap enough), kept out of core dumps
 * (MADV_DONTDUMP), read-only once filled, and wiped before they are unmapped.
 * Not MADV_WIPEONFORK: a forked child may have to connect again.  Buffers
 * that live for one call use struct text with wipe instead.
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

/* Wipes and frees; NULL is fine.  Nobody may use it any more. */
void secret_free(const char *secret);

/* Wipes and free()s an ordinary NUL-terminated string that turned out to be
   secret; NULL is fine. */
void secret_free_string(char *string);

#endif
