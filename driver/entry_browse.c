/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLBrowseConnect: gathers keywords over several calls and connects as soon
 * as they suffice.  What can be missing is Instances, when the application
 * browses by DRIVER= or by a DSN that lists none; the inner driver's name and
 * the login are then offered along with it as optional (*), and offered alone
 * when instances are named by host, which have no DSN of their own to hold a
 * login.  Nothing else is asked for: everything has a default.
 */
#include "autoconf.h"

#include "entry_connect.h"

#include <stdlib.h>

#include "config.h"
#include "session.h"
#include "surface.h"

static const char ask_all[] =
    "Instances:Instances=?;*InnerDriver:Inner driver=?;"
    "*UID:User name=?;*PWD:Password=?;";
static const char ask_login[] = "*UID:User name=?;*PWD:Password=?;";

/* Puts what earlier calls brought before this one's keywords.  The strings are
   joined as they came, since braces decide how the inner driver reads a value
   (rules §5.8); the last of duplicates wins. */
static void gather(const struct dbc *dbc, struct text *string)
{
    if (dbc->browse) {
        text_append_bytes(string, text_string(dbc->browse),
                          dbc->browse->length);
        text_append_char(string, ';');
    }
}

static bool remember(struct dbc *dbc, const struct text *string)
{
    if (!dbc->browse) {
        dbc->browse = malloc(sizeof *dbc->browse);
        if (!dbc->browse) {
            return false;
        }
        text_init_wiped(dbc->browse);
    }
    text_clear(dbc->browse);
    text_append_bytes(dbc->browse, text_string(string), string->length);
    return !dbc->browse->failed;
}

static bool names_instances(const struct text *string)
{
    struct connstr list;
    bool named;

    connstr_init(&list);
    named = connstr_parse(&list, text_string(string), string->length) &&
            connstr_find(&list, "Instances");
    connstr_free(&list);
    return named;
}

/* What to ask for, NULL: nothing (more).  What is wrong for another reason
   than Instances is said by connecting. */
static const char *missing(const struct text *string)
{
    struct config config;
    const char *ask = NULL;
    struct why why;

    if (!config_read_string(&config, text_string(string), string->length,
                            &why)) {
        return why.code == WHY_VALUE && !names_instances(string) ? ask_all :
            NULL;
    }
    if (*config.fleet.inner_driver && !connstr_find(&config.passed, "UID")) {
        ask = ask_login;
    }
    config_free(&config);
    return ask;
}

/* SQL_NEED_DATA with what is asked for, once, or the connection. */
static SQLRETURN step(struct dbc *dbc, const struct text *string, void *out,
                      SQLSMALLINT out_size, SQLSMALLINT *out_length,
                      enum text_width width)
{
    const char *ask = dbc->browse ? NULL : missing(string);
    struct text text;
    SQLRETURN rc;

    if (!ask) {
        rc = entry_connect_string(dbc, string, width);
        return SQL_SUCCEEDED(rc) ?
            entry_write_completed(dbc, out, out_size, out_length, width, rc) :
            rc;
    }
    if (!remember(dbc, string)) {
        return diag_add(&dbc->head.diags, WHY_MEMORY, "%s", "");
    }
    text_init(&text);
    text_append(&text, ask);
    rc = entry_write(dbc, &text, out, out_size, out_length, width,
                     SQL_NEED_DATA);
    text_free(&text);
    return rc;
}

SQLRETURN entry_SQLBrowseConnect(enum text_width width, SQLHDBC handle,
                                 void *in, SQLSMALLINT in_length, void *out,
                                 SQLSMALLINT out_size,
                                 SQLSMALLINT *out_length)
{
    struct dbc *dbc = entry_dbc(handle);
    struct text string;
    SQLRETURN rc = SQL_ERROR;

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    text_init_wiped(&string);
    gather(dbc, &string);
    if (out_size < 0) {
        diag_add(&dbc->head.diags, WHY_LENGTH,
                 "the room for the browse result is %d", (int)out_size);
    } else if (entry_can_connect(dbc) &&
               entry_read(dbc, &string, in, in_length, width,
                          "InConnectionString")) {
        rc = step(dbc, &string, out, out_size, out_length, width);
    }
    if (rc != SQL_NEED_DATA) {
        handle_end_browse(dbc); /* connected, or to be begun anew */
    }
    text_free(&string);
    return rc;
}
