/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * LONG: one driver, its instances, and the stand-ins, which share their state.
 *
 * The pretend inner driver, its instances, and the stand-ins.
 */
#include "autoconf.h"

#include "pretend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "connstr.h"
#include "environment.h"
#include "fleet_group.h"
#include "inner.h"
#include "inner_kind.h"
#include "lock.h"
#include "place.h"
#include "pool_exit.h"
#include "topology.h"

struct mutex pretend_lock = MUTEX_INITIALIZER(LOCK_DIAG);
struct cond pretend_changed;
struct pretend_instance pretend_at[PRETEND_INSTANCES];
struct pretend_key pretend_keys[PRETEND_KEYS];
int pretend_lacks = -1;
bool pretend_late[PRETEND_KEYS];
bool pretend_stale[PRETEND_KEYS];
uint32_t pretend_connections;
bool pretend_minds_threads;
void (*pretend_pause)(void);
void (*pretend_regrouped)(void);

/* A forked child finds all this whole. */
__attribute__((constructor)) static void keep(void)
{
    lock_keep_over_fork(&pretend_lock, LOCK_DIAG);
}

static char folder[] = "/tmp/unit-pretend-XXXXXX";

/* ---- calls ------------------------------------------------------------------ */

struct pretend_stmt {
    struct pretend_conn *conn;
    bool fetched;
    SQLSMALLINT columns;
};

static _Thread_local char last_state[6];

static SQLRETURN error(const char *state)
{
    snprintf(last_state, sizeof last_state, "%s", state);
    return SQL_ERROR;
}

static void enter(struct pretend_conn *conn)
{
    lock_assert_none(); /* promise 8 */
    if (pretend_minds_threads && !atomic_load(&conn->held) &&
        environment_is_allowed()) {
        fprintf(stderr, "an application's thread calls the inner driver\n");
        abort();
    }
    if (atomic_exchange(&conn->busy, true)) {
        fprintf(stderr, "two threads are in one connection\n");
        abort();
    }
}

static void leave(struct pretend_conn *conn)
{
    atomic_store(&conn->busy, false);
}

/* Nobody is there, who would say so. */
static void wait_in_vain(const struct pretend_instance *at)
{
    uint64_t until = clock_ns() + PRETEND_AWAY_MS * NS_PER_MS;

    while (at->manner == PRETEND_IS_AWAY && clock_ns() < until) {
        cond_wait(&pretend_changed, &pretend_lock, until);
    }
}

/* Takes its time, and hangs with its instance.  False: the connection is
   dead. */
static bool travel(struct pretend_conn *conn)
{
    struct pretend_instance *at = &pretend_at[conn->instance];
    bool alive;

    if (pretend_pause) {
        pretend_pause();
    }
    mutex_lock(&pretend_lock);
    while (at->manner == PRETEND_HANGS && !conn->dead) {
        cond_wait(&pretend_changed, &pretend_lock, UINT64_MAX);
    }
    alive = !conn->dead;
    mutex_unlock(&pretend_lock);
    return alive;
}

static SQLRETURN alloc_handle(SQLSMALLINT type, SQLHANDLE parent,
                              SQLHANDLE *handle)
{
    if (type == SQL_HANDLE_DBC) {
        struct pretend_conn *conn = calloc(1, sizeof *conn);
        mutex_lock(&pretend_lock);
        pretend_connections++;
        mutex_unlock(&pretend_lock);
        *handle = conn;
    } else {
        struct pretend_stmt *stmt = calloc(1, sizeof *stmt);
        stmt->conn = parent;
        *handle = stmt;
    }
    return SQL_SUCCESS;
}

static SQLRETURN free_handle(SQLSMALLINT type, SQLHANDLE handle)
{
    if (type == SQL_HANDLE_DBC) {
        struct pretend_conn *conn = handle;
        if (conn->connected || conn->busy) {
            fprintf(stderr, "a connection is freed that is in use\n");
            abort();
        }
        mutex_lock(&pretend_lock);
        pretend_connections--;
        cond_broadcast(&pretend_changed);
        mutex_unlock(&pretend_lock);
    }
    free(handle);
    return SQL_SUCCESS;
}

static SQLRETURN connect_as(struct pretend_conn *conn)
{
    static const char *const states[] = {
        [PRETEND_REFUSES] = "08001", [PRETEND_IS_FULL] = "53300",
        [PRETEND_STARTS] = "57P03", [PRETEND_NO_LOGIN] = "28P01",
        [PRETEND_IS_AWAY] = "08001",
    };
    struct pretend_instance *at = &pretend_at[conn->instance];
    SQLRETURN rc = SQL_SUCCESS;

    mutex_lock(&pretend_lock);
    wait_in_vain(at);
    if (at->manner == PRETEND_IS_AWAY) {
        at->turned_away++;
    }
    if (*at->unwelcome && strcmp(at->unwelcome, conn->user) == 0) {
        at->turned_away++;
        rc = error("28P01");
    } else if (at->manner == PRETEND_SERVES || at->manner == PRETEND_HANGS) {
        conn->connected = true;
        at->opened++;
        at->open++;
        at->most = at->open > at->most ? at->open : at->most;
    } else {
        rc = error(states[at->manner]);
    }
    mutex_unlock(&pretend_lock);
    return rc;
}

static void count_connecting(const struct pretend_conn *conn, int more)
{
    struct pretend_instance *at = &pretend_at[conn->instance];

    mutex_lock(&pretend_lock);
    at->connecting += (uint32_t)more;
    mutex_unlock(&pretend_lock);
}

static SQLRETURN driver_connect(SQLHDBC hdbc, SQLHWND window, SQLCHAR *string,
                                SQLSMALLINT length, SQLCHAR *out,
                                SQLSMALLINT room, SQLSMALLINT *needed,
                                SQLUSMALLINT completion)
{
    struct pretend_conn *conn = hdbc;
    const char *user = strstr((char *)string, ";as=");
    SQLRETURN rc;

    (void)window;
    (void)length;
    (void)out;
    (void)room;
    (void)needed;
    (void)completion;
    enter(conn);
    /* to=h1;as=u1; */
    snprintf(conn->user, sizeof conn->user, "%.*s",
             (int)strcspn(user + 4, ";"), user + 4);
    conn->instance = (uint32_t)strtoul((char *)string + 4, NULL, 10) - 1;
    count_connecting(conn, 1);
    travel(conn);
    rc = connect_as(conn);
    count_connecting(conn, -1);
    leave(conn);
    return rc;
}

static SQLRETURN disconnect(SQLHDBC hdbc)
{
    struct pretend_conn *conn = hdbc;

    enter(conn);
    travel(conn);
    mutex_lock(&pretend_lock);
    if (conn->connected) {
        conn->connected = false;
        pretend_at[conn->instance].open--;
    }
    cond_broadcast(&pretend_changed);
    mutex_unlock(&pretend_lock);
    leave(conn);
    return SQL_SUCCESS;
}

/* Of connections and statements. */
static SQLRETURN set_attr(SQLHANDLE handle, SQLINTEGER attribute,
                          SQLPOINTER value, SQLINTEGER length)
{
    (void)handle;
    (void)attribute;
    (void)value;
    (void)length;
    return SQL_SUCCESS;
}

/* Nothing but "are you dead": its own memory, no network. */
static SQLRETURN get_connect_attr(SQLHDBC hdbc, SQLINTEGER attribute,
                                  SQLPOINTER value, SQLINTEGER room,
                                  SQLINTEGER *length)
{
    const struct pretend_conn *conn = hdbc;

    (void)attribute;
    (void)room;
    (void)length;
    mutex_lock(&pretend_lock);
    *(SQLUINTEGER *)value = conn->dead ? SQL_CD_TRUE : SQL_CD_FALSE;
    mutex_unlock(&pretend_lock);
    return SQL_SUCCESS;
}

static SQLRETURN end_tran(SQLSMALLINT type, SQLHANDLE handle,
                          SQLSMALLINT completion)
{
    struct pretend_conn *conn = handle;
    bool alive;

    (void)type;
    (void)completion;
    enter(conn);
    alive = travel(conn);
    leave(conn);
    return alive ? SQL_SUCCESS : error("08S01");
}

/* RESET cleans, WHO asks, and so do the probes (kind below); all take a round
   trip. */
static SQLRETURN exec_direct(SQLHSTMT hstmt, SQLCHAR *text, SQLINTEGER length)
{
    struct pretend_stmt *stmt = hstmt;
    struct pretend_conn *conn = stmt->conn;
    struct pretend_instance *at = &pretend_at[conn->instance];
    SQLRETURN rc = SQL_SUCCESS;

    (void)length;
    enter(conn);
    if (!travel(conn)) {
        rc = error("08S01");
    }
    mutex_lock(&pretend_lock);
    stmt->columns = strcmp((char *)text, "WHO") == 0            ? 6
                    : strcmp((char *)text, "SELECT ALL") == 0   ? 12
                    : strcmp((char *)text, "SELECT SIGN") == 0 ? 1
                                                                : 0;
    if (rc == SQL_SUCCESS && stmt->columns == 12 &&
        strcmp(at->mistrusts, conn->user) == 0) {
        rc = error("42501");
    } else if (rc == SQL_SUCCESS && stmt->columns == 6) {
        at->validated++;
    } else if (rc == SQL_SUCCESS && stmt->columns) {
        at->probed++;
    } else if (rc == SQL_SUCCESS && at->reset_fails) {
        rc = error("55006");
    } else if (rc == SQL_SUCCESS) {
        at->reset++;
        conn->dirty = false;
    }
    mutex_unlock(&pretend_lock);
    leave(conn);
    return rc;
}

static SQLRETURN num_result_cols(SQLHSTMT stmt, SQLSMALLINT *count)
{
    *count = ((struct pretend_stmt *)stmt)->columns;
    return SQL_SUCCESS;
}

static SQLRETURN fetch(SQLHSTMT hstmt)
{
    struct pretend_stmt *stmt = hstmt;
    bool more = !stmt->fetched;

    stmt->fetched = true;
    return more ? SQL_SUCCESS : SQL_NO_DATA;
}

static SQLRETURN get_data(SQLHSTMT hstmt, SQLUSMALLINT column,
                          SQLSMALLINT type, SQLPOINTER value, SQLLEN room,
                          SQLLEN *length)
{
    const struct pretend_stmt *stmt = hstmt;
    uint32_t i = stmt->conn->instance;
    struct pretend_instance at;

    (void)type;
    mutex_lock(&pretend_lock);
    at = pretend_at[i];
    mutex_unlock(&pretend_lock);
    if (column == 1) {
        *length = snprintf(value, (size_t)room, "%d", at.standby);
    } else if (column == 2) {
        *length = snprintf(value, (size_t)room, "%u", i);
    } else if (column == 3 && at.timeline) {
        *length = snprintf(value, (size_t)room, "%u", at.timeline);
    } else if (column == 7) {
        *length = snprintf(value, (size_t)room, "%llu",
                           (unsigned long long)at.position);
    } else if (column == 8) {
        *length = snprintf(value, (size_t)room, "%u", at.open);
    } else if (column == 9) {
        *length = snprintf(value, (size_t)room, "100");
    } else {
        *length = SQL_NULL_DATA;
    }
    return SQL_SUCCESS;
}

static SQLRETURN get_diag_rec(SQLSMALLINT type, SQLHANDLE handle,
                              SQLSMALLINT number, SQLCHAR *state,
                              SQLINTEGER *native, SQLCHAR *text,
                              SQLSMALLINT room, SQLSMALLINT *length)
{
    (void)type;
    (void)handle;
    (void)number;
    memcpy(state, last_state, 6);
    *native = 1;
    *length = (SQLSMALLINT)snprintf((char *)text, (size_t)room,
                                    "the pretend instance says %s",
                                    last_state);
    return SQL_SUCCESS;
}

/* ---- the kind ----------------------------------------------------------------- */

static bool compose(const struct inner_target *target, bool wide,
                    struct text *out, struct why *why)
{
    (void)wide;
    (void)why;
    text_appendf(out, "to=%s;as=%s;", target->host,
                 connstr_value(target->passed, "UID"));
    return true;
}

static bool settings(const struct inner_target *target, struct text *out,
                     struct why *why)
{
    (void)target;
    (void)out;
    (void)why;
    return true;
}

static bool attr_default(SQLINTEGER attribute, SQLULEN *value)
{
    (void)attribute;
    *value = 0;
    return true;
}

static enum inner_fault fault(const char *state, SQLINTEGER native,
                              const char *text)
{
    (void)native;
    (void)text;
    switch (state[0]) {
    case '2':
        return INNER_FAULT_LOGIN;
    case '5':
        return state[1] == '3' ? INNER_FAULT_FULL : INNER_FAULT_STARTING;
    default:
        return INNER_FAULT_INSTANCE;
    }
}

static const char *const who[] = { "WHO", NULL };
static const struct inner_probe probe[] = {
    { "ALL", "" }, { "SIGN", "" }, { NULL, NULL },
};

static const struct inner_kind kind = {
    .name = "pretend",
    .env_shared = true,
    .compose = compose,
    .reset = "RESET",
    .settings = settings,
    .who = who,
    .probe = probe,
    .attr_default = attr_default,
    .fault = fault,
};

static char path[] = "pretend";
static const struct inner inner = {
    .call = {
        .SQLAllocHandle = alloc_handle,
        .SQLFreeHandle = free_handle,
        .SQLDriverConnect = driver_connect,
        .SQLDisconnect = disconnect,
        .SQLSetConnectAttr = set_attr,
        .SQLGetConnectAttr = get_connect_attr,
        .SQLSetStmtAttr = set_attr,
        .SQLEndTran = end_tran,
        .SQLExecDirect = exec_direct,
        .SQLNumResultCols = num_result_cols,
        .SQLFetch = fetch,
        .SQLGetData = get_data,
        .SQLGetDiagRec = get_diag_rec,
    },
    .kind = &kind,
    .path = path,
};

/* ---- stand-ins ------------------------------------------------------------------ */

const struct inner *inner_load(const char *driver, struct why *why)
{
    (void)driver;
    (void)why;
    return &inner;
}

SQLHENV inner_env(const struct inner *of, SQLINTEGER odbc_version,
                  struct why *why)
{
    (void)odbc_version;
    (void)why;
    return (SQLHENV)(uintptr_t)of;
}

SQLHENV inner_env_new(const struct inner *of, SQLINTEGER odbc_version,
                      struct why *why)
{
    return inner_env(of, odbc_version, why);
}

void inner_confirm(const struct inner *of, SQLHDBC hdbc, bool wide)
{
    (void)wide;
    (void)of;
    (void)hdbc;
    (void)wide;
}

void pool_close_at_exit(void)
{
}

static char topology; /* somewhere to point */

struct topology *topology_new(struct fleet *fleet, struct why *why)
{
    (void)fleet;
    (void)why;
    return (struct topology *)(void *)&topology;
}

void topology_free(struct topology *of)
{
    (void)of;
}

struct topology_limits topology_limits(const struct topology *of, uint32_t i)
{
    (void)of;
    (void)i;
    return (struct topology_limits){ .weight = 1, .group = "" };
}

void topology_find(struct fleet *fleet, const struct route_key *key,
                   struct topology_answer *answer)
{
    const struct pretend_key *known;

    (void)fleet;
    mutex_lock(&pretend_lock);
    known = &pretend_keys[key->text[1] - '0'];
    memset(answer, 0, sizeof *answer);
    answer->state = known->state;
    answer->pending = known->state == ROUTE_IS_UNKNOWN && known->pending;
    answer->soon = answer->pending && !pretend_late[key->text[1] - '0'];
    if (known->state == ROUTE_IS_OWNED) {
        answer->owners[0] = known->owner;
        answer->count = 1;
    }
    mutex_unlock(&pretend_lock);
}

int topology_next(struct fleet *fleet, const struct route_key *key,
                  topology_may *may, const struct login *login, uint64_t now)
{
    struct pretend_key *known;
    int i = -1;

    (void)now;
    if (!key) {
        if (pretend_lacks >= 0 && may(login, (uint32_t)pretend_lacks)) {
            i = pretend_lacks;
            pretend_lacks = -1;
        }
        return i;
    }
    mutex_lock(&pretend_lock);
    known = &pretend_keys[key->text[1] - '0'];
    if (known->state == ROUTE_IS_UNKNOWN && known->pending && !known->asked &&
        may(login, known->owner % fleet->count)) {
        known->asked = true;
        i = (int)(known->owner % fleet->count);
    }
    mutex_unlock(&pretend_lock);
    return i;
}

bool pretend_at_once(struct place_order *order, const struct config *config)
{
    struct shelf *shelf = shelf_enter();
    bool placed;

    order->login = shelf_login_locked(shelf, config, SQL_OV_ODBC3, false);
    placed = order->login && place_at_once(order, shelf);
    shelf_leave(shelf);
    return placed;
}

bool topology_is_quiet(const struct fleet *fleet, uint64_t now)
{
    (void)fleet;
    (void)now;
    return pretend_lacks < 0;
}

uint64_t topology_wake(struct fleet *fleet, uint64_t now)
{
    (void)fleet;
    (void)now;
    return UINT64_MAX;
}

/* For every key that i is being asked for. */
static void end_asking(const struct fleet *fleet, uint32_t i,
                       enum route_ownership state, bool pending)
{
    mutex_lock(&pretend_lock);
    for (int k = 0; k < PRETEND_KEYS; k++) {
        struct pretend_key *known = &pretend_keys[k];
        if (!known->asked || known->owner % fleet->count != i) {
            continue;
        }
        *known = (struct pretend_key){ state, known->owner, pending, false };
        if (pretend_stale[k]) {
            known->state = ROUTE_IS_UNKNOWN;
            known->pending = true;
        }
        pretend_stale[k] = false;
    }
    mutex_unlock(&pretend_lock);
}

/* Every key that is asked for is answered by whom was asked. */
/* What they say does not change. */
bool topology_begun(struct fleet *f)
{
    (void)f;
    return false;
}

bool topology_fingerprint_due(struct fleet *f, uint32_t i, uint64_t now,
                              struct text *expression)
{
    (void)f;
    (void)i;
    (void)now;
    (void)expression;
    return false;
}

bool topology_fingerprint_heard(struct fleet *f, uint32_t i,
                                const char *value, uint64_t now, uint64_t cost)
{
    (void)f;
    (void)i;
    (void)value;
    (void)now;
    (void)cost;
    return false;
}

bool topology_ask(struct fleet *fleet, uint32_t i, struct link *link,
                  struct link_error *problem)
{
    bool ok = link_query(link, "WHO", NULL, NULL, problem);

    end_asking(fleet, i, ok ? ROUTE_IS_OWNED : ROUTE_IS_UNKNOWN, false);
    return ok;
}

void topology_not_asked(struct fleet *fleet, uint32_t i, bool back_off)
{
    end_asking(fleet, i, ROUTE_IS_UNKNOWN, !back_off);
}

bool topology_complete(struct fleet *fleet)
{
    bool complete = true;

    (void)fleet;
    mutex_lock(&pretend_lock);
    for (int k = 0; k < PRETEND_KEYS; k++) {
        complete &= !pretend_keys[k].pending;
    }
    mutex_unlock(&pretend_lock);
    return complete;
}

struct topology_file *topology_read_file(const struct fleet *fleet,
                                         struct why *why)
{
    (void)fleet;
    (void)why;
    return NULL;
}

struct topology_file *topology_change_file_locked(struct fleet *fleet,
                                                  struct topology_file *file)
{
    (void)fleet;
    return file;
}

void topology_free_file(struct topology_file *file)
{
    (void)file;
}

void topology_regroup(struct fleet *fleet)
{
    (void)fleet;
    if (pretend_regrouped) {
        pretend_regrouped();
    }
}

bool fleet_regroup_locked(struct fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        struct route_member *m = &fleet->members[i];
        atomic_store(&m->group, i);
        atomic_store(&m->role, (uint8_t)fleet->instances[i].who.role);
    }
    return true;
}

bool fleet_learnt(struct fleet *fleet)
{
    (void)fleet;
    return false;
}

/* ---- for the tests ---------------------------------------------------------------- */

void pretend_set(uint32_t instance, enum pretend_manner manner)
{
    mutex_lock(&pretend_lock);
    pretend_at[instance].manner = manner;
    cond_broadcast(&pretend_changed);
    mutex_unlock(&pretend_lock);
}

void pretend_forget(int k)
{
    mutex_lock(&pretend_lock);
    pretend_stale[k] = pretend_keys[k].asked;
    pretend_keys[k].state = ROUTE_IS_UNKNOWN;
    pretend_keys[k].pending = true;
    mutex_unlock(&pretend_lock);
}

void pretend_kill(struct pretend_conn *conn)
{
    mutex_lock(&pretend_lock);
    conn->dead = true;
    cond_broadcast(&pretend_changed);
    mutex_unlock(&pretend_lock);
}

struct config *pretend_config(uint32_t instances, const char *keywords,
                              const char *uid)
{
    struct config *config = calloc(1, sizeof *config);
    struct why why = { .code = WHY_NONE };
    struct text text;

    text_init(&text);
    text_appendf(&text, "DRIVER=Affinity;InnerDriver=pretend;UID=%s;"
                 "Instances=", uid);
    for (uint32_t i = 0; i < instances; i++) {
        text_appendf(&text, "%sn%u@h%u", i ? "," : "", i + 1, i + 1);
    }
    text_appendf(&text, ";%s", keywords);
    if (!config_read_string(config, text_string(&text), text.length, &why)) {
        fprintf(stderr, "%s: %s\n", text_string(&text), why.text);
        abort();
    }
    text_free(&text);
    return config;
}

int pretend_begin(void **state)
{
    char file[128];
    FILE *out;

    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(file, sizeof file, "%s/odbcinst.ini", folder);
    out = fopen(file, "we");
    if (!out || fputs("[Affinity]\nDriver=libodbcaffinity.so\n", out) < 0 ||
        fclose(out) != 0) {
        return -1;
    }
    snprintf(file, sizeof file, "%s/odbc.ini", folder);
    setenv("ODBCINI", file, 1);
    setenv("ODBCSYSINI", folder, 1);
    setenv("HOME", folder, 1);
    unsetenv("ODBCINSTINI");
    cond_init(&pretend_changed);
    return 0;
}

int pretend_end(void **state)
{
    char file[128];

    (void)state;
    snprintf(file, sizeof file, "%s/odbcinst.ini", folder);
    unlink(file);
    rmdir(folder);
    return 0;
}
