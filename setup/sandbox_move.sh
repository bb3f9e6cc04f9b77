# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The verb move of setup/sandbox: a leaf and its rows go to another instance
# while others read and write, and no row is lost or doubled.
#
# Source S and target T each have one transaction:
#   S  lock the root, EXCLUSIVE, itself only: writers through S's root finish,
#      new ones wait and hold nothing. Others still reach S's leaves directly.
#   T  lock the root, ACCESS EXCLUSIVE, itself only: users of T's root finish
#      (their way to S's leaves is open), new ones wait and hold nothing.
#   S  lock the root with all below it ACCESS EXCLUSIVE: those who come from
#      third instances to the leaf itself finish, new ones wait.
#   S  copy the rows out.  T  drop the pointer, make the leaf, attach it, copy
#      the rows in.  S  detach and drop the leaf, put a pointer to T in its
#      place: who waited for the leaf, and who still comes here for it, is
#      passed on; were it only detached, their rows would vanish in it.
#   S  prepare.  T  commit.  S  commit what is prepared.
# S's ACCESS EXCLUSIVE lock alone would starve: a session at T that waits for
# S's leaf holds T's root, which T must have to attach; PostgreSQL sees no
# deadlock between instances. Hence the order above, lock time-outs, and
# beginning again. A session at S that has read the root and now waits to
# write makes a deadlock with us: by a short deadlock_timeout of ours, and lock
# time-outs under the application's (1 s), we are always the one to give way.
# S prepares so that a crash between the two commits leaves the leaf locked,
# not owned twice: moves_resolve ends it.

declare -A session_in session_out session_pid

# Opens a psql on instance $2 under the name $1, in the folder $dir/tmp.
session_open() {
    local pipe=$dir/tmp/$1 fd
    rm -f "$pipe.in" "$pipe.out"
    mkfifo "$pipe.in" "$pipe.out"
    (cd "$dir/tmp" && psql_on "$2") <"$pipe.in" >"$pipe.out" 2>"$pipe.err" &
    session_pid[$1]=$!
    exec {fd}>"$pipe.in"
    session_in[$1]=$fd
    exec {fd}<"$pipe.out"
    session_out[$1]=$fd
}

# Runs the text $2 in session $1 and prints what comes back. psql ends at an
# error, so the end of its output is the failure; $1.err says which.
session_run() {
    local line
    { printf '%s\n\\echo :done\n' "$2" >&"${session_in[$1]}"; } 2>/dev/null ||
        return 1
    while IFS= read -r line <&"${session_out[$1]}"; do
        [[ $line != :done ]] || return 0
        printf '%s\n' "$line"
    done
    return 1
}

# Ends all sessions; what they have not committed is rolled back.
sessions_close() {
    local key fd
    for key in "${!session_pid[@]}"; do
        fd=${session_in[$key]}
        exec {fd}>&-
        fd=${session_out[$key]}
        exec {fd}<&-
    done
    for key in "${!session_pid[@]}"; do
        wait "${session_pid[$key]}" 2>/dev/null || true
    done
    session_in=() session_out=() session_pid=()
}

# Sets $source to the primary that has leaf $1 as a table of its own.
leaf_find() {
    local group primary kind known=0 silent=''
    source=
    [[ $1 =~ ^[a-z_][a-z0-9_]*$ ]] || fail "'$1' is not a leaf's name"
    for group in "${groups[@]}"; do
        primary=${primary_of[$group]}
        if ! instance_answers "$primary"; then
            silent+=" $primary"
            continue
        fi
        kind=$(ask "$primary" "SELECT relkind FROM pg_class WHERE relispartition
            AND relkind <> 'p' AND oid = to_regclass('public.$1')") ||
            fail "$primary does not answer"
        case $kind in
        f) known=1 ;;
        ?) source=$primary ;;
        esac
    done
    [[ -z $source ]] || return 0
    if (( known )); then
        fail "the owner of $1 does not answer (silent:$silent)"
    fi
    fail "no instance has a leaf partition '$1'; there are:" \
        "$(ask "$primary" "SELECT string_agg(relname, ' ' ORDER BY relname)
            FROM pg_class WHERE relispartition AND relkind IN ('r', 'f')")"
}

move_leaf() {
    local leaf=$1 target=$2 source root try
    [[ ${primary_of[${target%%s*}]} == "$target" ]] ||
        fail "$target is a standby: name the primary of its group," \
            "${primary_of[${target%%s*}]}"
    instance_is_up "$target" || fail "$target is down"
    ! instance_is_paused "$target" || fail "$target is paused"
    moves_resolve
    leaf_find "$leaf"
    if [[ $source == "$target" ]]; then
        say "$leaf is on $target already"
        topology_repoint_all
        return
    fi
    root=$(ask "$source" "SELECT pg_partition_root('public.$leaf'::regclass)")
    # The leaf as it is, keys, owner, rights and its place in the tree.
    "$bin/pg_dump" -s -h "$sockets" -p "${port_of[$source]}" -U postgres \
        -t "public.$leaf" app | sed '/^SET \(lock\|statement\)_timeout/d' \
        >"$dir/tmp/leaf.sql" || fail "$source: cannot dump $leaf"
    trap '' PIPE
    for (( try = 1; ; try++ )); do
        if move_try "$leaf" "$root" "$source" "$target"; then
            break
        fi
        sessions_close
        if ! grep -q 'lock timeout\|deadlock detected' \
            "$dir/tmp/source.err" "$dir/tmp/target.err"; then
            fail "$leaf stays on $source:" \
                "$(cat "$dir/tmp/source.err" "$dir/tmp/target.err")"
        fi
        (( try < 40 )) ||
            fail "$leaf stays on $source: sessions keep using $root"
        sleep "0.$(( 1 + RANDOM % 5 ))"
    done
    sessions_close
    say "$leaf: $(<"$dir/tmp/count") rows moved from $source to $target" \
        "(attempt $try)"
    topology_repoint_all
    move_settle "$source" "$target"
}

# One attempt. Fails with everything rolled back, or by `fail` if it is in
# between; then the error says so.
move_try() {
    local leaf=$1 root=$2 source=$3 target=$4 group count
    group=${target%%s*}
    session_open source "$source"
    session_open target "$target"
    session_run source "BEGIN; SET LOCAL lock_timeout = '3s';
        SET LOCAL deadlock_timeout = '50ms';
        LOCK TABLE ONLY $root IN EXCLUSIVE MODE;
        SET LOCAL lock_timeout = '900ms';" &&
    session_run target "BEGIN; SET LOCAL lock_timeout = '900ms';
        SET LOCAL deadlock_timeout = '50ms';
        LOCK TABLE ONLY $root IN ACCESS EXCLUSIVE MODE;" &&
    session_run source "LOCK TABLE $root IN ACCESS EXCLUSIVE MODE;
        \\copy public.$leaf TO 'rows'" &&
    count=$(session_run source "SELECT count(*) FROM public.$leaf;") &&
    session_run target "$(leaf_drop_sql "$leaf")
        \\i leaf.sql
        \\copy public.$leaf FROM 'rows'" >/dev/null &&
    [[ $(session_run target "SELECT count(*) FROM public.$leaf;") == "$count" ]] &&
    session_run source "SELECT $(leaf_foreign_sql "$group")
          FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
         WHERE c.oid = 'public.$leaf'::regclass \\gexec
        PREPARE TRANSACTION 'move $leaf $group';" || return 1
    printf '%s\n' "$count" >"$dir/tmp/count"
    if session_run target 'COMMIT;'; then
        moved_note "$leaf" "$group"
        session_run source "COMMIT PREPARED 'move $leaf $group';" ||
            fail "$leaf is on $target, but $source has not let go:" \
                "revive $source"
    else
        sessions_close
        moves_resolve
        return 1
    fi
}

# Drops the pointer that the target has in the leaf's place.
leaf_drop_sql() {
    cat <<END
SELECT format('ALTER TABLE %s DETACH PARTITION %s; DROP FOREIGN TABLE %2\$s',
              inhparent::regclass, inhrelid::regclass)
  FROM pg_inherits WHERE inhrelid = 'public.$1'::regclass \\gexec
END
}

# Remembers where leaf $1 is now, for instances that are away.
moved_note() {
    { [[ ! -e $dir/moved ]] || sed "/^$1 /d" "$dir/moved"
      printf '%s %s\n' "$1" "$2"; } >"$dir/tmp/moved"
    mv "$dir/tmp/moved" "$dir/moved"
}

# Ends moves that a crash has left between the two commits: forwards if the
# target has committed, else back.
moves_resolve() {
    local group primary target gid leaf to kind
    for group in "${groups[@]}"; do
        primary=${primary_of[$group]}
        instance_answers "$primary" || continue
        while read -r gid leaf to; do
            target=${primary_of[$to]}
            kind=$(instance_answers "$target" && ask "$target" \
                "SELECT relkind FROM pg_class
                  WHERE oid = to_regclass('public.$leaf')") || kind=
            case $kind in
            r) moved_note "$leaf" "$to"
               psql_on "$primary" -c "COMMIT PREPARED '$gid $leaf $to'"
               say "$leaf: its move to $to is complete" ;;
            '') warn "$leaf is locked on $primary until $target is back" ;;
            *) psql_on "$primary" -c "ROLLBACK PREPARED '$gid $leaf $to'"
               say "$leaf: its move to $to is undone" ;;
            esac
        done < <(ask "$primary" "SELECT gid FROM pg_prepared_xacts
            WHERE gid LIKE 'move %' AND database = 'app'")
    done
}

# Lets the standbys of both sides have the move too: one that is promoted
# before would own the leaf a second time.
move_settle() {
    local primary member members
    for primary in "$@"; do
        group_members "${primary%%s*}"
        for member in "${members[@]}"; do
            if [[ $member != "$primary" ]] && instance_answers "$member"; then
                standby_follow "$member" ||
                    warn "$member has not replayed the move yet"
            fi
        done
    done
}
