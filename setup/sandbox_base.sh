# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Ground floor of setup/sandbox: messages, who runs PostgreSQL, the folder of
# a sandbox and what it remembers, and asking an instance by psql. It starts
# and ends nothing.
#
# What a sandbox remembers, all of it inside its folder $dir:
#   .affinity-sandbox   the marker, then key=value lines that never change
#   ready               exists once `start` has finished
#   primary.GROUP       name of the member that is the group's primary now
#   moved               "LEAF GROUP" lines: leaves that `move` has moved
#   lock                held by verbs that change more than one instance

marker_line='odbc-affinity sandbox 1'
declare -A port_of primary_of

say() {
    printf '%s\n' "sandbox: $*"
}

warn() {
    printf '%s\n' "sandbox: $*" >&2
}

fail() {
    warn "$@"
    exit 1
}

# The caller's own PostgreSQL settings must not reach our psql and pg_ctl.
environment_clean() {
    local name
    for name in "${!PG@}"; do
        unset "$name"
    done
    export LC_ALL=C PGCONNECT_TIMEOUT=5
}

# Sets $bin to the newest installed PostgreSQL's programs.
binaries_find() {
    local found
    found=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V |
        tail -n 1)
    bin=${found%/postgres}
    [[ -x $bin/postgres && -x $bin/initdb && -x $bin/pg_basebackup ]] ||
        fail "no PostgreSQL in /usr/lib/postgresql (package postgresql)"
}

# Sets $owner: PostgreSQL refuses to run as root.
owner_choose() {
    if (( EUID != 0 )); then
        owner=$(id -un)
    elif id -u postgres >/dev/null 2>&1; then
        owner=postgres
    else
        owner=nobody
    fi
}

# Runs a command as $owner, in a folder it can be in.
as_owner() {
    if (( EUID == 0 )) && [[ $owner != root ]]; then
        owner_group=${owner_group:-$(id -g "$owner")}
        (cd / && exec setpriv --reuid "$owner" --regid "$owner_group" \
            --init-groups -- "$@")
    else
        (cd / && exec "$@")
    fi
}

# Sets $dir to the absolute, physical path of $1, which need not exist.
dir_resolve() {
    dir=$(realpath -m -- "$1") || fail "$1: not a path"
    [[ $dir != *$'\n'* ]] || fail "the path of a sandbox is one line"
    [[ $dir != / ]] || fail "/ cannot be a sandbox"
}

dir_is_sandbox() {
    local line=
    [[ -f $dir/.affinity-sandbox ]] || return 1
    IFS= read -r line <"$dir/.affinity-sandbox" || true
    [[ $line == "$marker_line" ]]
}

state_write() {
    printf '%s\n' "$marker_line" "bin=$bin" "owner=$owner" \
        "sockets=$sockets" "password=$password" "instances=$instances" \
        "standbys=$standbys" "first=$first" >"$dir/.affinity-sandbox"
}

# Sets the variables of state_write from the marker file, and what names_make
# and primaries_load set.
state_read() {
    local key value
    dir_is_sandbox || fail "$dir is not a sandbox"
    while IFS='=' read -r key value; do
        case $key in
        bin | owner | sockets | password | instances | standbys | first)
            printf -v "$key" '%s' "$value" ;;
        esac
    done <"$dir/.affinity-sandbox"
    names_make
    primaries_load
}

# Sets $names (all instances in order), $groups (the first of each group) and
# port_of[name]. The group of instance n1s2 is n1: ${name%%s*}.
names_make() {
    local i j
    names=() groups=()
    for (( i = 1; i <= instances; i++ )); do
        groups+=("n$i")
        names+=("n$i")
        for (( j = 1; j <= standbys; j++ )); do
            names+=("n${i}s$j")
        done
    done
    for i in "${!names[@]}"; do
        port_of[${names[i]}]=$(( ${first:-0} + i ))
    done
}

# Sets primary_of[group].
primaries_load() {
    local group
    for group in "${groups[@]}"; do
        primary_of[$group]=$group
        if [[ -e $dir/primary.$group ]]; then
            IFS= read -r "primary_of[$group]" <"$dir/primary.$group"
        fi
    done
}

primary_set() {
    printf '%s\n' "$2" >"$dir/primary.$1"
    primary_of[$1]=$2
}

# Fails unless `start` has finished in $dir.
state_ready() {
    state_read
    [[ -e $dir/ready ]] ||
        fail "$dir: its start did not finish; run: sandbox stop $dir"
}

# The same, for verbs that look at processes or change them.
state_mine() {
    state_ready
    owner_check
}

owner_check() {
    (( EUID == 0 )) || [[ $owner == "$(id -un)" ]] ||
        fail "$dir belongs to root and $owner"
}

# Sets $name to $1 after a check that such an instance exists.
name_check() {
    local known
    for known in "${names[@]}"; do
        if [[ $known == "$1" ]]; then
            name=$1
            return
        fi
    done
    fail "no instance '$1' here; there are: ${names[*]}"
}

# Sets $members to the names of group $1, its present primary first.
group_members() {
    local member
    members=("${primary_of[$1]}")
    for member in "${names[@]}"; do
        if [[ ${member%%s*} == "$1" && $member != "${primary_of[$1]}" ]]; then
            members+=("$member")
        fi
    done
}

is_group_primary() {
    [[ ${primary_of[${1%%s*}]} == "$1" ]]
}

# One verb at a time: a promotion in the middle of a move would be no test of
# anything. Waits for the other one, then sees what it has changed.
lock_take() {
    exec {lock_fd}>>"$dir/lock" || fail "$dir: not yours to change"
    flock -w 300 "$lock_fd" || fail "another verb has kept $dir for 5 min"
    primaries_load
}

# psql on instance $1 as superuser; further arguments go to psql.
psql_on() {
    local on=$1
    shift
    "$bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 -h "$sockets" -p "${port_of[$on]}" \
        -U postgres -d app "$@"
}

# The same as a bounded question: an instance that hangs gives a failure.
ask() {
    local on=$1
    shift
    timeout 10 "$bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 -h "$sockets" \
        -p "${port_of[$on]}" -U postgres -d app -c "$@"
}

# Repeats a command until it succeeds: $1 seconds at most. For the states of
# PostgreSQL that nothing announces.
await() {
    local end=$(( SECONDS + $1 ))
    shift
    until "$@"; do
        (( SECONDS < end )) || return 1
        sleep 0.05
    done
}

# Waits for the given background jobs; fails if one of them failed.
jobs_wait() {
    local job failed=0
    for job in "$@"; do
        wait "$job" || failed=1
    done
    return "$failed"
}
