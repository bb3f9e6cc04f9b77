# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Who points at whom in setup/sandbox, and the two verbs that change it:
# promote and move.
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

# Options of the foreign server of group $1: "name value" lines.
server_options() {
    local member hosts='' ports=''
    while IFS= read -r member; do
        hosts+=",$sockets"
        ports+=",${port_of[$member]}"
    done < <(group_members "$1")
    printf '%s\n' "host ${hosts#,}" "port ${ports#,}" 'dbname app' \
        'connect_timeout 3'
    if (( standbys > 0 )); then
        printf '%s\n' 'target_session_attrs any' 'keep_connections off'
    fi
}

# SQL that makes foreign server $1 as it should be, and touches it only if it
# is not.
server_sql() {
    local option value wanted='' changes=''
    while read -r option value; do
        wanted+=", $option '$value'"
        changes+=", SET $option '$value'"
    done < <(server_options "$1")
    cat <<END
SELECT CASE WHEN count(*) = 0 THEN
  \$sql\$CREATE SERVER $1 FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (${wanted#, });
  GRANT USAGE ON FOREIGN SERVER $1 TO app;
  CREATE USER MAPPING FOR postgres SERVER $1 OPTIONS (user 'postgres');
  CREATE USER MAPPING FOR app SERVER $1
    OPTIONS (user 'app', password_required 'false')\$sql\$
WHEN bool_or('port=$(server_options "$1" | sed -n 's/^port //p')'
             = ANY (srvoptions)) THEN ''
ELSE \$sql\$ALTER SERVER $1 OPTIONS (${changes#, })\$sql\$ END
FROM pg_foreign_server WHERE srvname = '$1' \gexec
END
}

# Points the foreign servers of primary $1 at the present primaries.
servers_repoint() {
    local group
    for group in "${groups[@]}"; do
        if [[ $group != "${1%%s*}" ]]; then
            server_sql "$group"
        fi
    done | psql_on "$1" -f -
}

# Prints those "LEAF GROUP" of the moved leaves that primary $1 still looks
# for elsewhere.
leaves_stale() {
    [[ -s $dir/moved ]] || return 0
    psql_on "$1" -F ' ' -c "SELECT c.relname, m.owner
      FROM (VALUES $(sed "s/^\\(.*\\) \\(.*\\)\$/('\\1', '\\2'),/; \$s/,\$//" \
                     "$dir/moved")) AS m(leaf, owner)
      JOIN pg_class c ON c.oid = to_regclass('public.' || m.leaf)
      JOIN pg_foreign_table f ON f.ftrelid = c.oid
      JOIN pg_foreign_server s ON s.oid = f.ftserver
     WHERE s.srvname <> m.owner"
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

# Brings primary $1 up to date with everything that happened without it.
topology_repoint() {
    local leaf group stale
    servers_repoint "$1" && stale=$(leaves_stale "$1") || return 1
    while read -r leaf group; do
        leaf_repoint "$1" "$leaf" "$group" || return 1
    done < <(printf '%s' "${stale:+$stale$'\n'}")
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
