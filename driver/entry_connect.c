/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLConnect, SQLDriverConnect and SQLDisconnect: arguments become a struct
 * config, the session does the rest.  Nothing is ever prompted for: below the
 * manager all values of DriverCompletion behave as SQL_DRIVER_NOPROMPT, since
 * a library inside somebody else's process has no screen (facts §6).
 */
#include "autoconf.h"

#include "entry_connect.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "session.h"
#include "surface.h"

bool entry_read(struct dbc *dbc, struct text *text, const void *argument,
                SQLSMALLINT length, enum text_width width, const char *name)
{
    if (!text_append_argument(text, argument, length, width,
                              TEXT_CHARACTERS)) {
        diag_add(&dbc->head.diags, WHY_LENGTH,
                 "the length of %s is %d, which is no length", name,
                 (int)length);
        return false;
    }
    if (text->failed) {
        diag_add(&dbc->head.diags, WHY_MEMORY, "%s", "");
        return false;
    }
    return true;
}

struct config *entry_new_config(struct dbc *dbc)
{
    struct config *config = calloc(1, sizeof *config);

    if (!config) {
        diag_add(&dbc->head.diags, WHY_MEMORY, "%s", "");
    }
    return config;
}

/* The name in all further records of this connection; names are cut at a
   character. */
static void name_records(struct dbc *dbc, const char *name)
{
    if (name && *name) {
        text_write(name, strlen(name), dbc->dsn, sizeof dbc->dsn, TEXT_NARROW,
                   TEXT_BYTES);
    }
}

bool entry_can_connect(struct dbc *dbc)
{
    if (dbc->connected) {
        diag_add(&dbc->head.diags, WHY_CONNECTED, "%s", "");
    }
    return !dbc->connected;
}

/* For the functions that SQLBrowseConnect's first answer shuts out until
   SQLDisconnect. */
static bool can_begin(struct dbc *dbc)
{
    if (dbc->browse) {
        diag_add(&dbc->head.diags, WHY_CONNECTED,
                 "SQLBrowseConnect is under way");
        return false;
    }
    return entry_can_connect(dbc);
}

SQLRETURN entry_connect(struct dbc *dbc, struct config *config,
                        enum text_width width)
{
    /* The session takes the config over, so its sentences are taken first:
       they belong behind the error, if there is one. */
    char **warnings = config->warnings;
    size_t count = config->warning_count;
    SQLRETURN rc;

    config->warnings = NULL;
    config->warning_count = 0;
    name_records(dbc, *config->dsn ? config->dsn : config->driver);
    rc = session_connect(dbc->session, config, dbc->env->odbc_version,
                         width == TEXT_WIDE, &dbc->head.diags);
    dbc->connected = SQL_SUCCEEDED(rc);
    for (size_t i = 0; i < count; i++) {
        diag_add(&dbc->head.diags, WHY_KEYWORD, "%s", warnings[i]);
        free(warnings[i]);
    }
    free(warnings);
    if (rc == SQL_SUCCESS && count) {
        rc = SQL_SUCCESS_WITH_INFO;
    }
    return diag_result(&dbc->head.diags, rc);
}

/* ---- SQLConnect ------------------------------------------------------ */

SQLRETURN entry_SQLConnect(enum text_width width, SQLHDBC handle, void *dsn,
                           SQLSMALLINT dsn_length, void *user,
                           SQLSMALLINT user_length, void *password,
                           SQLSMALLINT password_length)
{
    struct dbc *dbc = entry_dbc(handle);
    struct text name, uid, pwd;
    struct config *config = NULL;
    SQLRETURN rc = SQL_ERROR;
    struct why why;

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    text_init(&name);
    text_init(&uid);
    text_init_wiped(&pwd);
    if (can_begin(dbc) &&
        entry_read(dbc, &name, dsn, dsn_length, width, "ServerName") &&
        entry_read(dbc, &uid, user, user_length, width, "UserName") &&
        entry_read(dbc, &pwd, password, password_length, width,
                   "Authentication")) {
        config = entry_new_config(dbc);
    }
    if (config) {
        name_records(dbc, text_string(&name));
        if (config_read_connect(config, text_string(&name),
                                user ? text_string(&uid) : NULL,
                                password ? text_string(&pwd) : NULL, &why)) {
            rc = entry_connect(dbc, config, width);
            session_forget_login(dbc->session);
        } else {
            free(config);
            rc = diag_why(&dbc->head.diags, &why);
        }
    }
    text_free(&name);
    text_free(&uid);
    text_free(&pwd);
    return rc;
}

/* ---- SQLDriverConnect ------------------------------------------------ */

/* For the record of a string that could not be made a config. */
static void name_by_string(struct dbc *dbc, const struct text *string)
{
    struct connstr list;

    connstr_init(&list);
    if (connstr_parse(&list, text_string(string), string->length)) {
        name_records(dbc, connstr_value(&list, "DSN"));
    }
    connstr_free(&list);
}

SQLRETURN entry_connect_string(struct dbc *dbc, const struct text *string,
                               enum text_width width)
{
    struct config *config = entry_new_config(dbc);
    struct why why;

    if (!config) {
        return SQL_ERROR;
    }
    if (!config_read_string(config, text_string(string), string->length,
                            &why)) {
        free(config);
        name_by_string(dbc, string);
        return diag_why(&dbc->head.diags, &why);
    }
    return entry_connect(dbc, config, width);
}

SQLRETURN entry_write(struct dbc *dbc, const struct text *text, void *out,
                      SQLSMALLINT size, SQLSMALLINT *length,
                      enum text_width width, SQLRETURN rc)
{
    struct text_written written =
        text_write(text_string(text), text->length, out, size, width,
                   TEXT_CHARACTERS);

    if (length) {
        *length = (SQLSMALLINT)(written.needed > 32767 ? 32767 :
                                written.needed);
    }
    if (written.truncated) {
        diag_add(&dbc->head.diags, WHY_TRUNCATED, "%s", "");
        if (rc == SQL_SUCCESS) {
            rc = SQL_SUCCESS_WITH_INFO;
        }
    }
    return rc == SQL_SUCCESS ? rc : diag_result(&dbc->head.diags, rc);
}

SQLRETURN entry_write_completed(struct dbc *dbc, void *out, SQLSMALLINT size,
                                SQLSMALLINT *length, enum text_width width,
                                SQLRETURN rc)
{
    struct text completed;

    text_init_wiped(&completed);
    config_out_string(session_config(dbc->session), &completed);
    session_forget_login(dbc->session);
    rc = entry_write(dbc, &completed, out, size, length, width, rc);
    text_free(&completed);
    return rc;
}

static bool allowed_completion(struct dbc *dbc, SQLUSMALLINT completion)
{
    switch (completion) {
    case SQL_DRIVER_NOPROMPT:
    case SQL_DRIVER_COMPLETE:
    case SQL_DRIVER_PROMPT:
    case SQL_DRIVER_COMPLETE_REQUIRED:
        return true;
    default:
        diag_add(&dbc->head.diags, WHY_COMPLETION,
                 "there is no DriverCompletion %u", (unsigned)completion);
        return false;
    }
}

SQLRETURN entry_SQLDriverConnect(enum text_width width, SQLHDBC handle,
                                 SQLHWND window, void *in,
                                 SQLSMALLINT in_length, void *out,
                                 SQLSMALLINT out_size,
                                 SQLSMALLINT *out_length,
                                 SQLUSMALLINT completion)
{
    struct dbc *dbc = entry_dbc(handle);
    struct text string;
    SQLRETURN rc = SQL_ERROR;

    (void)window;
    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    text_init_wiped(&string);
    if (out_size < 0) {
        diag_add(&dbc->head.diags, WHY_LENGTH,
                 "the room for the completed connection string is %d",
                 (int)out_size);
    } else if (can_begin(dbc) && allowed_completion(dbc, completion) &&
               entry_read(dbc, &string, in, in_length, width,
                          "InConnectionString")) {
        rc = entry_connect_string(dbc, &string, width);
    }
    text_free(&string);
    if (SQL_SUCCEEDED(rc)) {
        rc = entry_write_completed(dbc, out, out_size, out_length, width, rc);
    }
    return rc;
}

/* ---- SQLDisconnect --------------------------------------------------- */

/* Of a connection of the parent's only our memory is freed: its inner handles
   are as much the parent's as its socket. */
static void forget_children(struct link_child *child)
{
    while (child) {
        struct link_child *next = child->next;

        child->done(child);
        child = next;
    }
}

SQLRETURN entry_SQLDisconnect(SQLHDBC handle)
{
    struct dbc *dbc = entry_dbc(handle);
    struct link_child *children;

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    if (dbc->browse) { /* ends the browsing, by SQLBrowseConnect's page */
        handle_end_browse(dbc);
        return SQL_SUCCESS;
    }
    if (!dbc->connected) {
        return entry_unconnected(&dbc->head);
    }
    children = handle_detach(dbc);
    if (handle_inherited(&dbc->head)) {
        forget_children(children);
        children = NULL;
    }
    session_disconnect(dbc->session, children);
    dbc->connected = false;
    handle_claim(&dbc->head); /* unconnected, it is this process's own */
    dbc->dsn[0] = '\0';
    return SQL_SUCCESS;
}
