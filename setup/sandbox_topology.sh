# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Who points at whom in setup/sandbox: the foreign servers and foreign leaves of
# each primary, and bringing them up to date after promote and move.
#
# Each instance has one foreign server per other group, named like the group's
# first member. A group with standbys is a host list, its primary first, with
# target_session_attrs=any. Tried: `primary` (and read-write) there sends
# every session to the primary too, but a read then fails while the primary
# is down, though a standby could answer it; `prefer-standby` never reaches
# the primary. `any` takes the first host that lets it in: the primary as
# long as it lives, for reads and writes, else a standby, which answers reads
# and refuses writes with 25006. promote puts the new primary first.
# keep_connections=off with it: else a session that once met a standby would
# stay there after the primary is back.

# Adds to $sql what makes foreign server $1 as it should be, and touches it
# only if it is not.
server_add() {
    local member members hosts='' ports='' extra=''
    group_members "$1"
    for member in "${members[@]}"; do
        hosts+=",$sockets"
        ports+=",${port_of[$member]}"
    done
    if (( standbys > 0 )); then
        extra=", target_session_attrs 'any', keep_connections 'off'"
    fi
    sql+="
SELECT CASE
WHEN count(*) = 0 THEN
  \$sql\$CREATE SERVER $1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS
    (host '${hosts#,}', port '${ports#,}', dbname 'app', connect_timeout '3'
     $extra);
  GRANT USAGE ON FOREIGN SERVER $1 TO app;
  CREATE USER MAPPING FOR postgres SERVER $1 OPTIONS (user 'postgres');
  CREATE USER MAPPING FOR app SERVER $1
    OPTIONS (user 'app', password_required 'false')\$sql\$
WHEN NOT bool_or('port=${ports#,}' = ANY (srvoptions)) THEN
  'ALTER SERVER $1 OPTIONS (SET port ''${ports#,}'')'
END FROM pg_foreign_server WHERE srvname = '$1' \\gexec"
}

# Adds to $sql the question which moved leaves are pointed at a wrong place:
# it answers with lines "LEAF GROUP".
stale_add() {
    local leaf owner list=''
    [[ -s $dir/moved ]] || return 0
    while read -r leaf owner; do
        list+=", ('$leaf', '$owner')"
    done <"$dir/moved"
    sql+="
SELECT c.relname || ' ' || m.owner
  FROM (VALUES ${list#, }) AS m(leaf, owner)
  JOIN pg_class c ON c.oid = to_regclass('public.' || m.leaf)
  JOIN pg_foreign_table f ON f.ftrelid = c.oid
  JOIN pg_foreign_server s ON s.oid = f.ftserver
 WHERE s.srvname <> m.owner;"
}

# Brings primary $1 up to date with everything that happened without it: its
# foreign servers name the present primaries, its foreign leaves their owners.
topology_repoint() {
    local group leaf sql='' stale
    for group in "${groups[@]}"; do
        if [[ $group != "${1%%s*}" ]]; then
            server_add "$group"
        fi
    done
    stale_add
    stale=$(psql_on "$1" -f - <<<"$sql") || return 1
    while read -r leaf group; do
        [[ -z $leaf ]] || leaf_repoint "$1" "$leaf" "$group" || return 1
    done <<<"$stale"
}

# SQL that makes foreign leaf $1 point at group $2. The root is locked first:
# whoever uses the leaf through it has finished or not begun.
leaf_repoint_sql() {
    cat <<END
BEGIN;
SET LOCAL lock_timeout = '2s';
SELECT format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE',
              pg_partition_root('public.$1'::regclass)) \gexec
SELECT $(leaf_foreign_sql "$2")
  FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
 WHERE c.oid = 'public.$1'::regclass AND c.relkind = 'f' \gexec
COMMIT;
END
}

# An SQL expression over pg_class c and pg_inherits i: the statements that put
# a foreign leaf, on group $1, in the place of leaf c.
leaf_foreign_sql() {
    cat <<END
format('ALTER TABLE %1\$s DETACH PARTITION %2\$s; DROP %7\$s %2\$s; '
       'CREATE FOREIGN TABLE %2\$s PARTITION OF %1\$s %3\$s SERVER %4\$I '
       'OPTIONS (schema_name ''public'', table_name %5\$L); '
       'ALTER FOREIGN TABLE %2\$s OWNER TO %6\$I',
       i.inhparent::regclass, c.oid::regclass,
       pg_get_expr(c.relpartbound, c.oid), '$1', c.relname,
       pg_get_userbyid(c.relowner),
       CASE c.relkind WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END)
END
}

# With a few tries: a session may hold the root for a moment.
leaf_repoint() {
    local try
    for try in 1 2 3 4 5; do
        if leaf_repoint_sql "$2" "$3" | psql_on "$1" -f - 2>"$dir/tmp/repoint"
        then
            return
        fi
        sleep "0.$(( try * 2 ))"
    done
    warn "$1: leaf $2: $(<"$dir/tmp/repoint")"
    return 1
}
