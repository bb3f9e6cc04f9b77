/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where the ODBC reference is not kept, and why.  What psqlODBC 13.02 does
 * otherwise the wrapper does otherwise, too (promise 1): an application that
 * was written for it must find the same.  What unixODBC 2.3.11 does above us
 * nobody below can mend; that it is its doing is shown by the same rule
 * holding below the manager.
 *
 * Rules and what they miss are patterns, * stands for anything.
 */
#include "autoconf.h"

#include "conform.h"

#include <fnmatch.h>

static const struct {
    enum book_by by;
    const char *rule, *miss, *reason;
} deviations[] = {
    { BOOK_BY_MANAGER, "SQLGetDiagField, Header Fields: *",
      "RecNumber is ignored for header fields: SQL_ERROR, not SQL_SUCCESS",
      "unixODBC wants record 0 for them" },
    { BOOK_BY_MANAGER, "SQLGetDiagField, Header Fields: those of statements *",
      "header field *: SQL_SUCCESS, not SQL_ERROR",
      "unixODBC answers dynamic functions itself, for any handle" },
    { BOOK_BY_MANAGER, "SQLGetDiagField, Record Fields: NATIVE, *",
      "*", "unixODBC knows rows and columns of statements only" },
    { BOOK_BY_MANAGER, "SQLGetDiagField, SQL_DIAG_RETURNCODE: *",
      "n*: 0, not *", "unixODBC answers it, and notes only what has records" },
    { BOOK_BY_PSQLODBC, "SQLGetDiagField, Record Fields: CLASS_ORIGIN, *",
      "*: '', not *", "psqlODBC says nothing of origins" },
    { BOOK_BY_US, "SQLGetDiagField, Record Fields: SERVER_NAME *",
      "server: 'n1', not 'orders'",
      "the inner driver's record is about an instance" },
    { BOOK_BY_PSQLODBC, "SQLGetDiagField, SQL_DIAG_ROW_COUNT: *", "*: 0, not 3",
      "psqlODBC counts only in SQLRowCount" },
    { BOOK_BY_PSQLODBC, "SQLGetDiagField, SQL_DIAG_DYNAMIC_FUNCTION: *", "*",
      "psqlODBC does not tell the kind of a statement" },
};

const char *book_deviation(const char *rule, const char *miss, unsigned by)
{
    for (size_t i = 0; i < sizeof deviations / sizeof deviations[0]; i++) {
        if ((deviations[i].by & by) &&
            fnmatch(deviations[i].rule, rule, 0) == 0 &&
            fnmatch(deviations[i].miss, miss, 0) == 0) {
            return deviations[i].reason;
        }
    }
    return NULL;
}
