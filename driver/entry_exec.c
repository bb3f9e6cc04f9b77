/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Running a text: SQLExecDirect, SQLPrepare, SQLExecute, and SQLNativeSql,
 * which shows it.  A text that is a command of ours (command.h) is answered
 * by a SELECT of literals on the application's own statement, so that what it
 * asks next about the result is the inner driver's to answer; every other
 * text is forwarded as it came.
 *
 * Also known here: whether a unit may be open, since a command must not leave
 * one behind where there was none (rules §12).
 */
#include "autoconf.h"

#include "entry_hot.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "command_likely.h"
#include "link_note.h"
#include "session.h"

/* A prepared command tells its columns before it has values: as wide as
   psqlODBC lets a VARCHAR be. */
enum { PREPARED_WIDTH = 255 };

/* ---- is it ours? ----------------------------------------------------- */

/* REFUSED: the reason is in the records. */
static enum command_found look(struct diags *diags, enum text_width width,
                               const void *text, SQLINTEGER length,
                               struct command *command)
{
    enum command_found found = COMMAND_REFUSED;
    struct why why = { 0 };
    struct text utf8;

    if (!command_likely(text, length, width)) {
        return COMMAND_NOT_OURS;
    }
    text_init(&utf8);
    text_append_argument(&utf8, text, length, width, TEXT_CHARACTERS);
    if (utf8.failed) {
        why_memory(&why);
    } else {
        found = command_parse(text_string(&utf8), utf8.length, command, &why);
        command->width = width;
    }
    text_free(&utf8);
    diag_why(diags, &why);
    return found;
}

/* The end of a call in which the inner driver was not asked. */
static SQLRETURN leave(struct stmt *stmt, SQLRETURN rc)
{
    atomic_store_explicit(&stmt->running, false, memory_order_relaxed);
    return rc;
}

void entry_forget_command(struct stmt *stmt)
{
    command_free(stmt->command);
    stmt->command = NULL;
    stmt->prepared = stmt->theirs;
}

/* With a SessionLimit: what the session runs, or is about to. */
static void note_text(struct stmt *stmt, enum text_width width,
                      enum entry_way way, const void *text, SQLINTEGER length)
{
    char shown[LINK_NOTE_ROOM];
    struct text utf8;

    if (stmt->theirs != PREPARED_NOTED) {
        return;
    }
    text_init_wiped(&utf8);
    text_append_argument(&utf8, text, length, width, TEXT_CHARACTERS);
    link_note_shown(text_string(&utf8), shown);
    text_free(&utf8);
    session_note_ran(stmt->dbc->session, shown);
    free(stmt->noted);
    stmt->noted = way == WAY_PREPARE ? strdup(shown) : NULL;
}

/* ---- units ----------------------------------------------------------- */

/* Certainly no unit is open: nothing was run since the last one ended, and no
   other statement has a cursor through which one can begin unseen (SQLSetPos,
   fetching with UseDeclareFetch).  Whoever is not sure leaves the unit to the
   application. */
static bool no_unit_is_open(struct stmt *stmt)
{
    struct dbc *dbc = stmt->dbc;
    bool cursors = false;
    struct stmt *other;

    mutex_lock(&dbc->lock);
    DL_FOREACH(dbc->stmts, other) {
        cursors |= other != stmt && atomic_load(&other->executed);
    }
    mutex_unlock(&dbc->lock);
    return !cursors && !atomic_load(&dbc->unit);
}

static bool is_autocommit(const struct inner_calls *call, SQLHDBC hdbc)
{
    __typeof__(SQLGetConnectAttr) *get =
        call->SQLGetConnectAttr ? call->SQLGetConnectAttr
                                : call->SQLGetConnectAttrW;
    SQLULEN on = SQL_AUTOCOMMIT_ON; /* some drivers write eight bytes */

    return !get || !SQL_SUCCEEDED(get(hdbc, SQL_ATTR_AUTOCOMMIT, &on,
                                      SQL_IS_UINTEGER, NULL)) ||
           (SQLUINTEGER)on == SQL_AUTOCOMMIT_ON;
}

/* The SELECT has begun a unit if autocommit is off.  Ending it keeps its rows
   (facts §9).  Should that fail, the application's next call finds out why. */
static void end_own_unit(struct stmt *stmt)
{
    const struct inner_calls *call;
    SQLHDBC hdbc = session_inner(stmt->dbc->session, &call);

    atomic_store(&stmt->executed, false);
    lock_assert_none();
    if (hdbc && call->SQLEndTran && !is_autocommit(call, hdbc) &&
        no_unit_is_open(stmt)) {
        call->SQLEndTran(SQL_HANDLE_DBC, hdbc, SQL_COMMIT);
    }
}

/* ---- running a command ----------------------------------------------- */

/* The SELECT to the inner statement, in the width in which the command came.
   A prepared one is prepared anew each time, since its values are. */
static SQLRETURN send(const struct stmt *stmt, enum text_width width,
                      enum entry_way way, void *text, SQLINTEGER length)
{
    const struct inner_calls *call = stmt->call;
    SQLRETURN rc;

    lock_assert_none();
    if (width == TEXT_WIDE) {
        rc = way == WAY_DIRECT
                 ? call->SQLExecDirectW(stmt->inner, text, length)
                 : call->SQLPrepareW(stmt->inner, text, length);
    } else {
        rc = way == WAY_DIRECT
                 ? call->SQLExecDirect(stmt->inner, text, length)
                 : call->SQLPrepare(stmt->inner, text, length);
    }
    if (way == WAY_EXECUTE && SQL_SUCCEEDED(rc)) {
        rc = call->SQLExecute(stmt->inner);
    }
    return rc;
}

static bool can_send(const struct inner_calls *call, enum text_width width,
                     enum entry_way way)
{
    bool direct = way == WAY_DIRECT;

    return width == TEXT_WIDE
               ? (direct ? (bool)call->SQLExecDirectW
                         : call->SQLPrepareW && call->SQLExecute)
               : (direct ? (bool)call->SQLExecDirect
                         : call->SQLPrepare && call->SQLExecute);
}

/* The text as the inner driver takes it; NULL: out of memory. */
static void *to_argument(const struct text *sql, enum text_width width)
{
    size_t size = width == TEXT_WIDE ? sizeof(SQLWCHAR) : 1;
    void *argument = sql->length < INT_MAX ? malloc((sql->length + 1) * size)
                                           : NULL;

    if (argument) {
        text_write(sql->data, sql->length, argument, (SQLLEN)sql->length + 1,
                   width, TEXT_CHARACTERS);
    }
    return argument;
}

static const char dead_link[] = "the link of this session is dead";

/* Why no result set can be made on the session's link now; NULL: it can. */
static const char *obstacle(struct session *session)
{
    return session_known_dead(session) ? dead_link
           : session_may_hang(session)
               ? "the instance of this session does not answer"
               : NULL;
}

/* There is no link to make a result set on, so each row is a record (rules
   §12). */
static SQLRETURN say_rows(struct stmt *stmt, const char *why,
                          const struct command_answer *answer)
{
    size_t rows = command_answer_rows(answer);
    SQLRETURN rc = SQL_ERROR;

    diag_clear(&stmt->head.diags);
    for (size_t i = 0; i < rows; i++) {
        struct text row;

        text_init(&row);
        command_answer_say(answer, i, &row);
        rc = diag_add(&stmt->head.diags, WHY_REFUSED, "%s; %s", why,
                      text_string(&row));
        text_free(&row);
    }
    return rows ? rc : diag_add(&stmt->head.diags, WHY_REFUSED,
                                "%s; there are no rows to tell", why);
}

/* Makes the answer the statement's result set, or (WAY_PREPARE) its shape
   what the statement is prepared for. */
static SQLRETURN answer_with(struct stmt *stmt, enum text_width width,
                             enum entry_way way,
                             const struct command_answer *answer)
{
    struct text sql;
    void *text = NULL;
    SQLRETURN rc;

    text_init(&sql);
    if (command_answer_sql(answer, inner_of(stmt->call)->kind->sql,
                           way == WAY_PREPARE ? PREPARED_WIDTH : 1, &sql)) {
        text = to_argument(&sql, width);
    }
    if (!text) {
        text_free(&sql);
        return leave(stmt, diag_add(&stmt->head.diags, WHY_MEMORY, "%s", ""));
    }
    rc = send(stmt, width, way, text, (SQLINTEGER)sql.length);
    free(text);
    text_free(&sql);
    if (way != WAY_PREPARE && rc == SQL_ERROR &&
        session_ask_dead(stmt->dbc->session)) {
        return leave(stmt, say_rows(stmt, dead_link, answer));
    }
    if (way != WAY_PREPARE && SQL_SUCCEEDED(rc)) {
        rc = surface_leave_STMT(&stmt->head, rc);
        end_own_unit(stmt);
        return rc;
    }
    return surface_leave_STMT(&stmt->head, rc);
}

static SQLRETURN run(struct stmt *stmt, const struct command *command,
                     enum entry_way way)
{
    struct command_answer answer;
    struct command_view view;
    struct why why = { 0 };
    const char *wrong;
    SQLRETURN rc;

    if (!can_send(stmt->call, command->width, way)) {
        return entry_missing(&stmt->head, "SQLExecDirect or SQLPrepare",
                             TEXT_NARROW);
    }
    if (!session_view(stmt->dbc->session, &view)) {
        return leave(stmt, entry_unconnected(&stmt->head));
    }
    if (way == WAY_PREPARE) {
        command_describe(command, &answer);
    } else if (!command_run(command, &view, &answer, &why)) {
        command_answer_free(&answer);
        return leave(stmt, diag_why(&stmt->head.diags, &why));
    }
    wrong = way == WAY_PREPARE ? NULL : obstacle(stmt->dbc->session);
    rc = wrong ? leave(stmt, say_rows(stmt, wrong, &answer))
               : answer_with(stmt, command->width, way, &answer);
    command_answer_free(&answer);
    return rc;
}

/* ---- what entry_hot.h leaves --------------------------------------------- */

static SQLRETURN run_directly(struct stmt *stmt, struct command *command)
{
    SQLRETURN rc = run(stmt, command, WAY_DIRECT);

    command_clear(command);
    return rc;
}

/* Keeps the command with the statement, for SQLExecute. */
static SQLRETURN prepare(struct stmt *stmt, struct command *command)
{
    SQLRETURN rc = run(stmt, command, WAY_PREPARE);

    if (SQL_SUCCEEDED(rc)) {
        stmt->command = malloc(sizeof *command);
        if (stmt->command) {
            *stmt->command = *command;
            stmt->prepared = PREPARED_COMMAND;
            return rc;
        }
        rc = diag_add(&stmt->head.diags, WHY_MEMORY, "%s", "");
    }
    command_clear(command);
    return rc;
}

/* True: the text is a command of ours or was meant for one, and *rc is what
   the call returns; false: it is to be forwarded. */
static bool take_command(struct stmt *stmt, enum text_width width,
                         enum entry_way way, const void *text,
                         SQLINTEGER length, SQLRETURN *rc)
{
    struct command command;

    switch (look(&stmt->head.diags, width, text, length, &command)) {
    case COMMAND_OURS:
        *rc = way == WAY_DIRECT ? run_directly(stmt, &command)
                                : prepare(stmt, &command);
        return true;
    case COMMAND_REFUSED:
        stmt->prepared = PREPARED_NOTHING;
        *rc = leave(stmt, SQL_ERROR);
        return true;
    default:
        return false;
    }
}

/* The statement cannot be used; but a session that has lost its link may still
   ask what has become of it. */
static SQLRETURN refuse_text(struct stmt *stmt, enum text_width width,
                             enum entry_way way, const void *text,
                             SQLINTEGER length, SQLRETURN rc)
{
    if (way == WAY_DIRECT && handle_is(stmt, HANDLE_STMT) &&
        session_is_lost(stmt->dbc->session)) {
        take_command(stmt, width, way, text, length, &rc);
    }
    return rc;
}

SQLRETURN entry_run_text(SQLHSTMT handle, void *text, SQLINTEGER length,
                         enum text_width width, enum entry_way way)
{
    struct stmt *stmt = handle;
    const struct inner_calls *call;
    SQLRETURN rc = surface_enter_STMT(&handle, &call);

    if (rc != SQL_SUCCESS) {
        return refuse_text(stmt, width, way, text, length, rc);
    }
    entry_forget_command(stmt);
    if (take_command(stmt, width, way, text, length, &rc)) {
        return rc;
    }
    note_text(stmt, width, way, text, length);
    return entry_forward_text(stmt, width, way, text, length);
}

SQLRETURN entry_run_prepared(SQLHSTMT handle)
{
    struct stmt *stmt = handle;
    const struct inner_calls *call;
    SQLRETURN rc = surface_enter_STMT(&handle, &call);

    if (rc != SQL_SUCCESS) {
        return rc;
    }
    switch (stmt->prepared) {
    case PREPARED_COMMAND:
        return run(stmt, stmt->command, WAY_EXECUTE);
    case PREPARED_NOTHING:
        return leave(stmt, diag_add(&stmt->head.diags, WHY_SEQUENCE,
                                    "nothing is prepared"));
    default:
        if (stmt->noted) {
            session_note_ran(stmt->dbc->session, stmt->noted);
        }
        return entry_forward_execute(stmt);
    }
}

/* ---- SQLNativeSql ---------------------------------------------------- */

/* A command has no native form, so it is its own. */
static SQLRETURN copy_text(struct head *head, enum text_width width,
                           const void *in, SQLINTEGER in_length, void *out,
                           SQLINTEGER out_size, SQLINTEGER *out_length)
{
    struct text_written written;
    struct text text;

    if (out && out_size < 0) {
        return diag_add(&head->diags, WHY_LENGTH,
                        "the room for a statement's text is %d",
                        (int)out_size);
    }
    text_init(&text);
    text_append_argument(&text, in, in_length, width, TEXT_CHARACTERS);
    if (text.failed) {
        text_free(&text);
        return diag_add(&head->diags, WHY_MEMORY, "%s", "");
    }
    written = text_write(text_string(&text), text.length, out, out_size,
                         width, TEXT_CHARACTERS);
    text_free(&text);
    if (out_length) {
        *out_length = (SQLINTEGER)written.needed;
    }
    return written.truncated ? diag_add(&head->diags, WHY_TRUNCATED, "%s", "")
                             : SQL_SUCCESS;
}

SQLRETURN entry_SQLNativeSql(enum text_width width, SQLHDBC handle, void *in,
                             SQLINTEGER in_length, void *out,
                             SQLINTEGER out_size, SQLINTEGER *out_length)
{
    struct head *head = handle;
    const struct inner_calls *call;
    struct command command = { .argument = NULL };
    enum command_found found;
    SQLRETURN rc = surface_enter_DBC(&handle, &call);

    if (rc != SQL_SUCCESS) {
        return rc;
    }
    found = look(&head->diags, width, in, in_length, &command);
    command_clear(&command);
    if (found != COMMAND_NOT_OURS) {
        diag_clear(&head->diags);
        return copy_text(head, width, in, in_length, out, out_size,
                         out_length);
    }
    session_note_width(((struct dbc *)head)->session, width);
    if (width == TEXT_WIDE ? !call->SQLNativeSqlW : !call->SQLNativeSql) {
        return entry_missing(head, "SQLNativeSql", width);
    }
    rc = width == TEXT_WIDE
             ? call->SQLNativeSqlW(handle, in, in_length, out, out_size,
                                   out_length)
             : call->SQLNativeSql(handle, in, in_length, out, out_size,
                                  out_length);
    return surface_leave_DBC(head, rc);
}
