/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What SQL leaves in a session, and that a session begins without any of it:
 * first all that can be asked is shown, then as much as possible is left.
 */
#include "diff.h"

void subject_leavings(void);

void subject_leavings(void)
{
    SQLHSTMT stmt = stmt_new();

    for (size_t i = 0; run.dialect->state[i]; i++) {
        show(stmt, run.dialect->state[i]);
    }
    for (size_t i = 0; run.dialect->leavings[i]; i++) {
        sql(stmt, run.dialect->leavings[i]);
        CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    }
    for (size_t i = 0; run.dialect->state[i]; i++) {
        show(stmt, run.dialect->state[i]);
    }
    sql(stmt, "BEGIN");
    sql(stmt, "INSERT INTO work (id, t) VALUES (71, 'never committed')");
}
