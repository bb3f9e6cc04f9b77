/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What diag.c and diag_copy.c share, and nobody else needs.
 */
#ifndef DIAG_INSIDE_H
#define DIAG_INSIDE_H

#include "diag.h"

void diag_free_record(struct diag_record *record);

/* Adds records behind those of the list, which takes them over, and notes the
   header (NULL: it stays as it is) and the result. */
void diag_append(struct diags *diags, struct diag_record *records,
                 const struct diag_header *header, SQLRETURN result);

#endif
