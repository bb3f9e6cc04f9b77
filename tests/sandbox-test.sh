#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# setup/sandbox, every verb, by psql alone and on sandboxes of its own: what
# others build on must be known to hold. The wrapper is not needed.
set -u

src=$(cd "${AFF_SRCDIR:-$(dirname "$0")/..}" && pwd)
. "$src/tests/tap.sh"

work=$(mktemp -d /tmp/sandbox-test.XXXXXX)
chmod 711 "$work" # PostgreSQL may run as another user
dir="$work/a fleet" # a path with a blank, on purpose
small=$work/small

clean_up() {
    halt
    for folder in "$dir" "$small"; do
        [ ! -e "$folder/.affinity-sandbox" ] ||
            "$src/setup/sandbox" stop "$folder" >/dev/null 2>&1
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

sandbox() {
    "$src/setup/sandbox" "$@" 2>&1
}

# refuses NAME PATTERN VERB…: the verb fails and says why.
refuses() {
    refuses_name=$1 refuses_pattern=$2
    shift 2
    if refuses_output=$(sandbox "$@"); then
        fail "$refuses_name" "succeeded: $refuses_output"
    else
        has "$refuses_name" "$refuses_output" "$refuses_pattern"
    fi
}

port() {
    eval "echo \"\$AFFINITY_SANDBOX_PORT_$1\""
}

# sql INSTANCE TEXT [psql option…], as the application's user
sql() {
    sql_on=$1 sql_text=$2
    shift 2
    "$AFFINITY_SANDBOX_BIN/psql" -X -q -A -t -h "$AFFINITY_SANDBOX_SOCKETS" \
        -p "$(port "$sql_on")" -U app -d app -c "$sql_text" "$@" 2>&1
}

# everywhere TEXT: what each instance answers, equal answers once
everywhere() {
    for instance in $AFFINITY_SANDBOX_INSTANCES; do
        sql "$instance" "$1"
    done | sort -u
}

role() {
    sandbox status "$dir" | awk -v name="$1" '$1 == name { print $2 }'
}

field() {
    sandbox status "$dir" | sed -n "s/^$1 .* $2=\([^ ]*\).*/\1/p"
}

# The instance that has leaf $1 as a table of its own, primaries only.
owners() {
    for instance in $AFFINITY_SANDBOX_INSTANCES; do
        sql "$instance" "SELECT current_setting('cluster_name') FROM pg_class
            WHERE relname = '$1' AND relkind = 'r' AND NOT pg_is_in_recovery()"
    done
}

# pointer INSTANCE LEAF: the foreign server it looks for it on
pointer() {
    sql "$1" "SELECT srvname FROM pg_foreign_table f JOIN pg_foreign_server s
        ON s.oid = f.ftserver WHERE f.ftrelid = '$2'::regclass"
}

# How many processes work in the data directory of instance $1, or in any.
processes() {
    find /proc -maxdepth 2 -name cwd -lname "$work/*/${1:-*}/data" 2>/dev/null |
        wc -l
}

# begin FILE INSTANCE TEXT: repeats a statement until `halt`, with a pause that
# keeps the machine free for the rest; what came back is in the file.
begin() {
    printf '%s \\watch 0.01\n' "$3" | "$AFFINITY_SANDBOX_BIN/psql" -X -q -A -t \
        -U app -d app -h "$AFFINITY_SANDBOX_SOCKETS" -p "$(port "$2")" \
        >"$work/$1" 2>"$work/$1.errors" &
    busy="$busy $!"
}
busy=
halt() {
    # shellcheck disable=SC2086 # a list
    kill $busy 2>/dev/null
    # shellcheck disable=SC2086
    wait $busy 2>/dev/null
    busy=
}

# writer INSTANCE NUMBER: inserts keys of n1, n2 and n3's ranges through the
# instance's root; the file gets the ids of rows that were acknowledged.
writer() {
    begin "written.$2" "$1" "INSERT INTO orders
        SELECT n * 7 % 3000, $2000000 + n, 'written'
          FROM nextval('ticket_seq') n RETURNING id"
}

# reader INSTANCE: counts the hundred rows of n2's range that nobody writes
reader() {
    begin "read.$1" "$1" "SELECT 'rows ' || count(*) FROM orders WHERE
        customer_id BETWEEN 1000 AND 1999 AND region <> 'written'"
}

# Acknowledged rows that are missing, and rows that are there twice, as seen
# by instance $1.
lost_and_doubled() {
    cat "$work"/written.? | grep -x '[0-9]\{7\}' | sort >"$work/acknowledged"
    sql "$1" "SELECT id FROM orders WHERE region = 'written'" |
        sort >"$work/stored"
    comm -23 "$work/acknowledged" "$work/stored" | sed 's/^/lost /'
    uniq -d "$work/stored" | sed 's/^/doubled /'
}

# --- what is refused

refuses "a verb is needed" 'usage:'
refuses "an unknown verb is refused" "no verb 'go'" go "$dir"
refuses "a folder is needed" 'needs DIR' status
refuses "a folder that is no sandbox is refused" 'not a sandbox' \
    status "$work"
mkdir "$work/full"
touch "$work/full/mine"
refuses "start leaves a folder with something in it alone" \
    'something else' start "$work/full"
refuses "stop does so too" 'not a sandbox' stop "$work/full"
is "and it still has its file" "$(ls "$work/full")" mine
refuses "a count must be a number" 'not a number' \
    start "$small" --instances many
refuses "there is at least one instance" 'at least one' \
    start "$small" --instances 0
refuses "a parent that does not exist is an error" 'cannot make' \
    start "$work/no/where"

# --- start, env, status

runs "three instances with a standby each start" \
    "$src/setup/sandbox" start "$dir" --standbys 1
settings=$(sandbox env "$dir") || settings=
eval "$settings"
is "env names the ini files, blanks or not" "${ODBCINI-}" "$dir/odbc/odbc.ini"
is "env prints only exports" "$(echo "$settings" | grep -vc '^export ')" 0
status=$(sandbox status "$dir")
is "status shows the roles" "$(echo "$status" | awk '{ print $1 $2 }' | xargs)" \
    "n1primary n1s1standby n2primary n2s1standby n3primary n3s1standby"
is "each group has a system identifier of its own, shared by its standby" \
    "$(echo "$status" | sed 's/.*system=\([0-9]*\).*/\1/' | sort | uniq -c |
        awk '{ print $1 }' | xargs)" "2 2 2"
is "cluster_name is the instance's name" \
    "$(everywhere "SHOW cluster_name" | xargs)" "n1 n1s1 n2 n2s1 n3 n3s1"
is "there is room for 400 sessions" "$(everywhere 'SHOW max_connections')" 400
runs "start again changes nothing" "$src/setup/sandbox" start "$dir"
refuses "but not with other numbers" 'stop it first' \
    start "$dir" --instances 2
refuses "a port that is taken is refused" 'in use' \
    start "$small" --port "$(port n1)"
is "and nothing is left of that" "$(ls -d "$small" 2>/dev/null)" ""

# --- logins

tcp() {
    PGPASSWORD=$1 "$AFFINITY_SANDBOX_BIN/psql" -X -w -A -t -h 127.0.0.1 \
        -p "$(port n1)" -U app -d app -c "SELECT 'in'" 2>&1
}
is "TCP with the password" "$(tcp "$AFFINITY_SANDBOX_PASSWORD")" in
has "TCP with another password" "$(tcp wrong)" 'authentication failed'
has "TCP without one" "$(tcp '')" 'no password supplied'
is "the password is kept as SCRAM" "$(sql n1 "SELECT left(rolpassword, 13)
    FROM pg_authid WHERE rolname = 'app'" -U postgres)" SCRAM-SHA-256
is "the application's user is no superuser" \
    "$(everywhere 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user')" f

# --- tables

for table in orders regions devices readings accounts; do
    total=$(everywhere "SELECT count(*), count(DISTINCT t::text) FROM $table t")
    rows=${total%|*}
    is "$table: each instance answers for every row, none twice" "$total" \
        "$rows|$rows"
    local_rows=$(for instance in n1 n2 n3; do
        sql "$instance" "SELECT count(*) FROM $table t JOIN pg_class c
            ON c.oid = t.tableoid WHERE c.relkind = 'r'"
    done)
    is "$table: each row is stored once" \
        "$(($(echo "$local_rows" | paste -sd+)))" "$rows"
    is "$table: every instance stores some" \
        "$(echo "$local_rows" | grep -c '^[1-9]')" 3
done
is "orders: n2 owns 1000 to 1999, each tenth key has a row" \
    "$(sql n2 'SELECT min(customer_id), max(customer_id), count(*)
        FROM orders_n2')" "1000|1990|100"
is "orders: the default is n1's" "$(owners orders_default)" n1
is "regions: the NULL key has an owner" \
    "$(sql n1 'SELECT DISTINCT tableoid::regclass FROM regions
        WHERE k IS NULL')" regions_n2
is "devices: modulus 12" "$(sql n1 "SELECT count(*) FROM pg_class
    WHERE pg_get_expr(relpartbound, 0) LIKE '%modulus 12,%'")" 12
is "readings: two levels" "$(sql n1 "SELECT max(level)
    FROM pg_partition_tree('readings')")" 2
is "accounts: three moduli" "$(sql n1 "SELECT count(DISTINCT
    substring(pg_get_expr(relpartbound, 0), 'modulus (\d+)'))
    FROM pg_class WHERE relname LIKE 'accounts_m%r__'")" 3
is "the application can write through a foreign leaf" \
    "$(sql n1 "INSERT INTO orders VALUES (1001, 1) RETURNING tableoid::regclass")" \
    orders_n2
sql n2 'DELETE FROM orders WHERE id = 1' >/dev/null

# --- DSNs

dsn_value() {
    sed -n "/^\[$1\]/,/^\$/s/^$2 = //p" "$ODBCINI"
}
is "the fleet lists every instance" "$(dsn_value orders Instances)" \
    "n1, n1s1, n2, n2s1, n3, n3s1"
is "its modes have DSNs" "$(for fleet in orders orders-strict orders-prefer; do
    dsn_value $fleet AffinityMode; done | xargs)" "hint strict prefer"
is "the fleet over TCP" "$(dsn_value orders-strict-tcp Instances)" \
    "n1-tcp, n1s1-tcp, n2-tcp, n2s1-tcp, n3-tcp, n3s1-tcp"
is "the drivers are registered as they need" "$(grep -c \
    '^Threading = 0$\|^DontDLClose = 1$' "$ODBCSYSINI/odbcinst.ini")" 8
if command -v isql >/dev/null; then
    for dsn in n2 n2-tcp n2-ansi n2s1; do
        has "DSN $dsn works" "$(echo "SELECT 'at ' ||
            current_setting('cluster_name')::varchar(9)" | tr '\n' ' ' |
            isql -b -d, "$dsn" 2>&1)" "^at ${dsn%-*}"
    done
else
    skip "the DSNs work" "isql is not installed"
fi

# --- crash and revive

has "crash" "$(sandbox crash "$dir" n2)" 'n2 is killed'
has "crash again is harmless" "$(sandbox crash "$dir" n2)" 'down already'
is "status: down" "$(role n2)" down
is "no process is left of it" "$(processes n2)" 0
has "it refuses" "$(sql n2 'SELECT 1')" 'refused|No such file'
is "its standby keeps reads through others answered" \
    "$(sql n1 'SELECT count(*) FROM orders_n2')" 100
has "but takes no writes" \
    "$(sql n1 'INSERT INTO orders VALUES (1001, 1)')" 'read-only'
refuses "pause needs a running one" 'n2 is down' pause "$dir" n2
refuses "resume too" 'n2 is down' resume "$dir" n2
refuses "move needs its target" 'n2 is down' move "$dir" orders_n1 n2
refuses "move needs the leaf's owner" 'does not answer' \
    move "$dir" orders_n2 n1
has "revive" "$(sandbox revive "$dir" n2)" 'up again, as primary'
has "revive again is harmless" "$(sandbox revive "$dir" n2)" 'up already'
is "writes through others work again" \
    "$(sql n1 'INSERT INTO orders VALUES (1001, 1) RETURNING id')" 1
sql n2 'DELETE FROM orders WHERE id = 1' >/dev/null
refuses "an unknown name is refused" "no instance 'n9'" crash "$dir" n9

# --- pause and resume

has "pause" "$(sandbox pause "$dir" n3)" 'n3 is paused'
has "pause again is harmless" "$(sandbox pause "$dir" n3)" 'n3 is paused'
is "status: paused" "$(role n3)" paused
main=$(field n3 pid)
is "every process of it is stopped" \
    "$(ps -o stat= -p "$main" --ppid "$main" | cut -c1 | sort -u)" T
timeout 1 "$AFFINITY_SANDBOX_BIN/psql" -X -h "$AFFINITY_SANDBOX_SOCKETS" \
    -p "$(port n3)" -U app -d app -c 'SELECT 1' >/dev/null 2>&1
is "it hangs, it does not refuse" $? 124
refuses "revive is not resume" 'resume it' revive "$dir" n3
has "resume" "$(sandbox resume "$dir" n3)" 'n3 goes on'
has "resume again is harmless" "$(sandbox resume "$dir" n3)" 'not paused'
is "it answers again" "$(sql n3 'SELECT 1')" 1

# --- move, while others write and read

refuses "move of an unknown leaf" "no instance has a leaf partition 'nix'" \
    move "$dir" nix n1
refuses "a root is no leaf" 'no instance has a leaf' move "$dir" orders n1
refuses "move to a standby" 'n1s1 is a standby' move "$dir" orders_n2 n1s1
for instance in 1 2 3; do
    writer "n$instance" "$instance"
    reader "n$instance"
done
for target in n3 n1 n2; do
    has "move orders_n2 to $target" "$(sandbox move "$dir" orders_n2 $target)" \
        "rows moved from n[1-3] to $target"
    is "one instance owns it" "$(owners orders_n2)" $target
    for other in n1 n2 n3; do
        [ $other = $target ] || is "$other points at it" \
            "$(pointer $other orders_n2)" $target
    done
done
halt
for instance in n1 n2 n3s1; do
    empty "no row lost, none doubled, as $instance sees it" \
        "$(lost_and_doubled "$instance")"
done
empty "nobody saw an error" "$(cat "$work"/written.?.errors \
    "$work"/read.*.errors)"
is "readers always saw all rows" "$(grep -h '^rows' "$work"/read.n? |
    sort -u)" "rows 100"
diag "$(wc -l <"$work/acknowledged") rows were written meanwhile, \
$(cat "$work"/read.n? | grep -c '^rows') times they were read"
has "there were writers all the time" "$(wc -l <"$work/acknowledged")" '..'
is "the keys went along" "$(sql n2 "SELECT pg_get_indexdef(indexrelid)
    FROM pg_index WHERE indrelid = 'orders_n2'::regclass AND indisprimary")" \
    "CREATE UNIQUE INDEX orders_n2_pkey ON public.orders_n2 USING btree \
(customer_id, id)"
has "moving it where it is" "$(sandbox move "$dir" orders_n2 n2)" 'already'
has "a leaf of the second level" \
    "$(sandbox move "$dir" readings_2026q1_h0 n3)" '150 rows'
has "the default" "$(sandbox move "$dir" orders_default n2)" '11 rows'
is "has moved" "$(owners orders_default)" n2
sandbox crash "$dir" n3 >/dev/null
has "move without the third" "$(sandbox move "$dir" orders_n1 n2)" 'n3 .*catch'
sandbox revive "$dir" n3 >/dev/null
is "which catches up when it is revived" "$(pointer n3 orders_n1)" n2

# --- promote with a live primary: nothing is lost

writer n3 4
has "promote" "$(sandbox promote "$dir" n3s1)" 'n3s1 is now the primary'
halt
is "the old one is superseded" "$(role n3) $(role n3s1)" "superseded primary"
empty "what was acknowledged is there" "$(lost_and_doubled n1)"
is "others write to the new one" "$(sql n1 \
    'INSERT INTO orders VALUES (2001, 1) RETURNING id')" 1
is "where it is" "$(sql n3s1 'SELECT count(*) FROM orders_n3 WHERE id = 1')" 1
has "promote again is harmless" "$(sandbox promote "$dir" n3s1)" 'already'
has "revive makes the old one a standby" "$(sandbox revive "$dir" n3)" \
    'as its standby'
is "which follows" "$(role n3) $(sql n3 \
    'SELECT count(*) FROM orders_n3 WHERE id = 1')" "standby 1"
has "and back" "$(sandbox promote "$dir" n3)" 'n3 is now the primary'
sandbox revive "$dir" n3s1 >/dev/null
is "the roles are as before" "$(role n3) $(role n3s1)" "primary standby"
has "a third instance is none the wiser" \
    "$(sql n2 'DELETE FROM orders WHERE id = 1 RETURNING customer_id')" 2001

# --- promote with a dead primary that had more than it sent

sandbox pause "$dir" n2s1 >/dev/null
refuses "a paused standby cannot be promoted" 'paused' promote "$dir" n2s1
sql n2 "INSERT INTO orders VALUES (1003, 3)" >/dev/null
sandbox crash "$dir" n2 >/dev/null
sandbox crash "$dir" n2s1 >/dev/null
refuses "one that is down neither" 'down' promote "$dir" n2s1
sandbox revive "$dir" n2s1 >/dev/null
has "promote says what it cannot know" "$(sandbox promote "$dir" n2s1)" \
    'had not sent .* is lost'
sql n1 "INSERT INTO orders VALUES (1004, 4)" >/dev/null
has "the superseded one joins again" "$(sandbox revive "$dir" n2)" \
    'as its standby'
is "without what only it had" "$(sql n2 \
    'SELECT id FROM orders_n2 WHERE id IN (3, 4)')" 4
is "every instance still answers for all" \
    "$(everywhere 'SELECT count(*) FROM devices')" 1200
has "a move to the promoted one" "$(sandbox move "$dir" orders_n3 n2s1)" \
    'moved from n3 to n2s1'

# --- supersede: the old primary is left as it is

sandbox pause "$dir" n2s1 >/dev/null
has "supersede" "$(sandbox supersede "$dir" n2)" 'n2 is now the primary'
has "the old one goes on" "$(sandbox resume "$dir" n2s1)" \
    'n2s1 is superseded, and does not know'
is "there are two primaries" "$(role n2) $(role n2s1) $(sql n2s1 \
    'SELECT pg_is_in_recovery()')" "primary superseded f"
sandbox crash "$dir" n2s1 >/dev/null
has "crashed and revived, it joins" "$(sandbox revive "$dir" n2s1)" \
    'as its standby'

# --- stop

sandbox crash "$dir" n1 >/dev/null
sandbox pause "$dir" n3 >/dev/null
has "stop, with one crashed and one paused" "$(sandbox stop "$dir")" 'gone'
is "the folder is gone" "$(ls -d "$dir" 2>/dev/null)" ""
is "so are the processes" "$(processes)" 0
has "stop again is harmless" "$(sandbox stop "$dir")" 'nothing to stop'

# --- a start that is interrupted cleans up

mkdir "$small"
"$src/setup/sandbox" start "$small" --instances 2 >"$work/out" 2>&1 &
until [ -e "$small/n2/data/postmaster.pid" ]; do
    kill -0 $! 2>/dev/null || break
done
kill -TERM $!
wait $!
is "start ends by the signal" $? 130
is "and leaves the folder as it was" "$(ls -A "$small")" ""
is "and no process" "$(processes)" 0
has "and says so" "$(cat "$work/out")" 'cleaning up'

tap_done
