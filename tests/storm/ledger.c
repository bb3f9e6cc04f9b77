/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "ledger.h"

#include "../odbc_tap.h"
#include "../trouble.h"
#include "chronicle.h"
#include "storm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 1024 };
static const long long first_id = 1000000000000, per_rider = 10000000;

/* A page never moves, so that a row may be pointed at. */
static struct {
    struct row *pages[PAGES];
    long long count, latest;
} books[STORM_RIDERS];

static unsigned strange;

long long ledger_open(unsigned rider, unsigned key)
{
    long long n = books[rider].count++;
    struct row **page = &books[rider].pages[n / PAGE];

    if (n / PAGE >= PAGES) {
        abort();
    }
    if (!*page) {
        *page = calloc(PAGE, sizeof **page);
    }
    (*page)[n % PAGE] = (struct row){ .key = key, .outcome = ROW_UNKNOWN };
    return first_id + per_rider * (long long)rider + n;
}

struct row *ledger_row(long long id)
{
    long long rider = (id - first_id) / per_rider,
              n = (id - first_id) % per_rider;

    if (id < first_id || rider >= STORM_RIDERS || n >= books[rider].count) {
        return NULL;
    }
    return &books[rider].pages[n / PAGE][n % PAGE];
}

void ledger_close(long long id, enum outcome outcome, double begun,
                  double ended)
{
    struct row *row = ledger_row(id);

    row->outcome = outcome;
    row->begun = begun;
    row->ended = ended;
    if (outcome == ROW_DONE) {
        books[(id - first_id) / per_rider].latest = id;
    }
}

long long ledger_latest(unsigned rider)
{
    return books[rider].latest;
}

/* ---- counting -------------------------------------------------------- */

static bool count_leaf(SQLHDBC dbc, const char *leaf)
{
    char sql[200];
    SQLBIGINT key = 0, id = 0;
    SQLLEN got;
    SQLHSTMT stmt;
    SQLRETURN rc;

    snprintf(sql, sizeof sql,
             "SELECT customer_id, amount::bigint FROM %s WHERE amount >= %lld",
             leaf, first_id);
    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    rc = SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS);
    SQLBindCol(stmt, 1, SQL_C_SBIGINT, &key, sizeof key, &got);
    SQLBindCol(stmt, 2, SQL_C_SBIGINT, &id, sizeof id, &got);
    while (SQL_SUCCEEDED(rc) && SQL_SUCCEEDED(rc = SQLFetch(stmt))) {
        struct row *row = ledger_row(id);

        if (row && row->key == (unsigned)key) {
            row->found++;
        } else {
            strange++;
        }
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return rc == SQL_NO_DATA;
}

/* The leaves that this instance has as tables of its own. */
static bool count_instance(unsigned instance)
{
    char string[80], leaves[500], *rest = leaves, *leaf;
    SQLHDBC dbc;
    bool ok;

    snprintf(string, sizeof string, "DSN=%s;UID=postgres",
             storm_name(instance));
    dbc = odbc_open(trouble_env, string, false);
    ok = dbc != SQL_NULL_HDBC;
    if (ok) {
        snprintf(leaves, sizeof leaves, "%s",
                 odbc_value(dbc, "SELECT string_agg(c.relname, ' ') FROM "
                                 "pg_partition_tree('public.orders') t JOIN "
                                 "pg_class c ON c.oid = t.relid WHERE "
                                 "c.relkind = 'r'"));
        while (ok && (leaf = strtok_r(rest, " ", &rest)) &&
               strcmp(leaf, "NULL") != 0) {
            ok = count_leaf(dbc, leaf);
        }
        odbc_close(dbc);
    }
    return ok;
}

bool ledger_count(void)
{
    bool ok = true;

    for (unsigned g = 0; g < STORM_GROUPS; g++) {
        ok = count_instance(chronicle_ruler(REIGN_PRIMARY, g)) && ok;
    }
    return ok;
}

/* ---- judging --------------------------------------------------------- */

/* Was its leaf then a group's that has lost rows of that time? */
static bool may_be_gone(const struct row *row)
{
    bool gone = false;

    for (unsigned g = 0; g < STORM_GROUPS; g++) {
        gone |= chronicle_reigned(REIGN_LEAF, row->key / STORM_LEAF_KEYS, g,
                                  row->begun, row->ended) &&
                chronicle_lost(g, row->begun, row->ended);
    }
    return gone;
}

static void complain(struct ledger_sums *sums, const char *what,
                     const struct row *row, unsigned rider, long long n)
{
    if (!sums->error[0]) {
        snprintf(sums->error, sizeof sums->error,
                 "%s: id %lld, key %u, found %u times, sent %.0f, answered "
                 "%.0f (+%.0f); %s",
                 what, first_id + per_rider * (long long)rider + n, row->key,
                 row->found, row->begun, row->ended, row->ended - row->begun,
                 chronicle_say(row->begun, row->ended));
    }
}

static void judge(struct ledger_sums *sums, const struct row *row,
                  unsigned rider, long long n)
{
    sums->rows[row->outcome]++;
    if (row->found > 1) {
        sums->doubled++;
        complain(sums, "there more than once", row, rider, n);
    }
    switch (row->outcome) {
    case ROW_DONE:
        if (row->found == 0 && may_be_gone(row)) {
            sums->gone++;
        } else if (row->found == 0) {
            sums->lost++;
            complain(sums, "acknowledged and lost", row, rider, n);
        }
        break;
    case ROW_REFUSED:
        if (row->found > 0) {
            sums->ghosts++;
            complain(sums, "there, though refused", row, rider, n);
        }
        break;
    default:
        sums->unknown_there += row->found > 0;
    }
}

void ledger_sum(struct ledger_sums *sums)
{
    memset(sums, 0, sizeof *sums);
    for (unsigned r = 0; r < STORM_RIDERS; r++) {
        for (long long n = 0; n < books[r].count; n++) {
            judge(sums, &books[r].pages[n / PAGE][n % PAGE], r, n);
        }
    }
    sums->strange = strange;
}
