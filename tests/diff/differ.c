/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs subjects on a data source, each with each of the dialect's options and
 * on a connection of its own, and writes what it is told into FOLDER/SUBJECT,
 * so that the order in which they run is free.  With a pool beneath, each of
 * them inherits the link that another left behind, except the first; `turned`
 * has every other round go backwards, so that it is another one.
 *
 * Beside the data source it knows the database by a second one, STRAIGHT,
 * which is asked after each subject which links are open; given that alone it
 * makes the tables.
 * On its output it says how many sessions there were, and which of them were
 * given a new link where there was one already.
 */
#include "diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct run run;

static const char *folder;
static bool turned;
static SQLHDBC straight;
static unsigned sessions, again; /* with a new link, though there was one */

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s\n", what, detail);
    exit(2);
}

/* ---- not in the log --------------------------------------------------------- */

static const char *first_record(SQLSMALLINT type, SQLHANDLE handle)
{
    static SQLCHAR text[600];
    SQLCHAR state[6] = "";
    SQLINTEGER native;

    if (!SQL_SUCCEEDED(SQLGetDiagRec(type, handle, 1, state, &native, text,
                                     sizeof text, NULL))) {
        return "no record";
    }
    return (const char *)text;
}

static SQLHENV env_new(SQLINTEGER version)
{
    SQLHENV env;

    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, NULL, &env)) ||
        !SQL_SUCCEEDED(SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION,
                                     (SQLPOINTER)(size_t)version, 0))) {
        die("environment", "cannot be made");
    }
    return env;
}

static void connect_to(SQLHDBC dbc, const char *string)
{
    SQLRETURN rc = run.wide && dbc != straight ?
        SQLDriverConnectW(dbc, NULL, WIDE(string), SQL_NTS, NULL, 0, NULL,
                          SQL_DRIVER_NOPROMPT) :
        SQLDriverConnect(dbc, NULL, (SQLCHAR *)string, SQL_NTS, NULL, 0, NULL,
                         SQL_DRIVER_NOPROMPT);

    if (!SQL_SUCCEEDED(rc)) {
        die(string, first_record(SQL_HANDLE_DBC, dbc));
    }
}

static void straight_run(const char *text)
{
    SQLHSTMT stmt;

    SQLAllocHandle(SQL_HANDLE_STMT, straight, &stmt);
    if (SQLExecDirect(stmt, (SQLCHAR *)text, SQL_NTS) == SQL_ERROR) {
        die(text, first_record(SQL_HANDLE_STMT, stmt));
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
}

static void straight_connect(const char *string)
{
    SQLAllocHandle(SQL_HANDLE_DBC, env_new(SQL_OV_ODBC3), &straight);
    connect_to(straight, string);
}

static void run_list(const char *const *texts)
{
    for (size_t i = 0; texts && texts[i]; i++) {
        straight_run(texts[i]);
    }
}

/* How many links there are that were not there at the question before. */
static unsigned links_new(void)
{
    static char seen[4000][80];
    static size_t count;
    char name[80];
    unsigned found = 0;
    SQLHSTMT stmt;

    if (!run.dialect->links) {
        return 0;
    }
    SQLAllocHandle(SQL_HANDLE_STMT, straight, &stmt);
    if (!SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)run.dialect->links,
                                     SQL_NTS))) {
        die(run.dialect->links, first_record(SQL_HANDLE_STMT, stmt));
    }
    while (SQL_SUCCEEDED(SQLFetch(stmt)) &&
           SQL_SUCCEEDED(SQLGetData(stmt, 1, SQL_C_CHAR, name, sizeof name,
                                    NULL))) {
        size_t i = 0;

        while (i < count && strcmp(seen[i], name) != 0) {
            i++;
        }
        if (i == count && count < 4000) {
            snprintf(seen[count++], sizeof seen[0], "%s", name);
            found++;
        }
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return found;
}

/* ---- sessions ------------------------------------------------------------------ */

static SQLHDBC session_open(const char *more)
{
    char string[1000];
    SQLHDBC dbc;

    SQLAllocHandle(SQL_HANDLE_DBC, run.env, &dbc);
    snprintf(string, sizeof string, "%s%s%s", run.string, run.options, more);
    connect_to(dbc, string);
    handle_know(SQL_HANDLE_DBC, dbc);
    return dbc;
}

SQLHDBC session_new(void)
{
    return session_open(run.dialect->other_login);
}

void session_end(SQLHDBC dbc)
{
    disconnect(dbc);
    handle_free(SQL_HANDLE_DBC, dbc);
}

static FILE *log_open(const char *name)
{
    char path[1000];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "a");
    if (!file) {
        die(path, "cannot be written");
    }
    return file;
}

/* Whatever the subject left (statements, cursors, a transaction) is still
   there when the session ends; that is what the next one must not see. */
static void run_subject(const struct subject *subject, bool first)
{
    FILE *file = log_open(subject->name);
    unsigned links;

    run.env = env_new(run.version);
    run.dbc = session_open("");
    say_to(file);
    say("\n==== %s %s", subject->name, run.options);
    subject->run();
    links = links_new();
    if (run.dialect->bare) {
        handle_free_statements();
    }
    if (!SQL_SUCCEEDED(disconnect(run.dbc))) {
        die(subject->name, "does not disconnect");
    }
    handle_forget_all();
    SQLFreeHandle(SQL_HANDLE_DBC, run.dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, run.env);
    say_to(NULL);
    fclose(file);
    sessions++;
    if (links > 0 && !first && subject->links != LINKS_MORE) {
        again++;
        printf("%s had a new link, with '%s'\n", subject->name, run.options);
    }
}

/* ---- choosing -------------------------------------------------------------------- */

static bool is_wanted(const char *name, char **wanted)
{
    if (!*wanted) {
        return true;
    }
    while (*wanted && strcmp(*wanted, name) != 0) {
        wanted++;
    }
    return *wanted;
}

static void run_all(char **wanted)
{
    for (size_t round = 0; run.dialect->options[round]; round++) {
        bool first = true; /* nothing was left that could be inherited */

        run.options = run.dialect->options[round];
        for (size_t i = 0; i < subject_count; i++) {
            const struct subject *subject =
                &subjects[turned && round % 2 == 0 ? subject_count - 1 - i
                                                   : i];

            if (is_wanted(subject->name, wanted)) {
                run_subject(subject, first);
                first = subject->links == LINKS_SPOILT;
            }
        }
    }
}

int main(int argc, char **argv)
{
    char name[40];

    if (argc < 3 || !(run.dialect = dialect_find(argv[1])) ||
        (argc > 4 && argc < 8)) {
        fprintf(stderr, "usage: %s DIALECT STRAIGHT [narrow|wide 2|3|380 "
                "straight|turned FOLDER STRING [SUBJECT…]]\n"
                "DIALECT STRAIGHT makes the tables, DIALECT STRAIGHT drop drops "
                "them\n", argv[0]);
        return 2;
    }
    snprintf(name, sizeof name, "differ-%ld", (long)getpid());
    setenv("PGAPPNAME", name, 1);
    straight_connect(argv[2]);
    if (argc == 3) {
        run_list(run.dialect->setup);
        return 0;
    }
    if (argc == 4) { /* drop */
        run_list(run.dialect->drop);
        return 0;
    }
    run.wide = strcmp(argv[3], "wide") == 0;
    run.version = (SQLINTEGER)strtol(argv[4], NULL, 10);
    turned = strcmp(argv[5], "turned") == 0;
    folder = argv[6];
    run.string = argv[7];
    mkdir(folder, 0777);
    links_new();
    run_all(argv + 8);
    if (run.dialect->links) {
        printf("%u sessions, %u of them with a new link\n", sessions, again);
    } else {
        printf("%u sessions\n", sessions);
    }
    return 0;
}
