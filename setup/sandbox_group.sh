# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The verbs of setup/sandbox that change who is primary: promote, supersede and
# revive.

# Brings every primary that answers up to date; the others catch up when they
# are revived or resumed.
topology_repoint_all() {
    local group primary
    for group in "${groups[@]}"; do
        primary=${primary_of[$group]}
        if instance_answers "$primary"; then
            topology_repoint "$primary" || return 1
        else
            say "$primary does not answer: it catches up when it is back"
        fi
    done
}

# Stops primary $1 so that standby $2 has all it ever committed. If that
# cannot be had the primary is up again, and nothing has changed.
primary_hand_over() {
    local last
    if instance_is_paused "$1"; then
        instance_resume "$1"
    fi
    await 15 standby_streams_from "$1" "$2" ||
        fail "$2 does not follow $1: promoting it would lose rows"
    instance_stop "$1" || fail "$1 does not stop"
    last=$(as_owner "$bin/pg_controldata" "$dir/$1/data" |
        sed -n 's/^Latest checkpoint location: *//p')
    if ! await 10 standby_received "$2" "$last"; then
        instance_start "$1"
        fail "$2 has not received all of $1: $1 is primary again"
    fi
    say "$1 stopped cleanly"
}

# Leaves primary $1 to itself when $2 takes its place.
primary_ignore() {
    say "$1 is not told: what it had not sent to $2, and what it writes from" \
        "now on, is lost"
}

standby_streams_from() {
    [[ $(ask "$1" "SELECT count(*) FROM pg_stat_replication
        WHERE application_name = '$2' AND state = 'streaming'") == 1 ]]
}

standby_received() {
    [[ $(ask "$1" "SELECT greatest(pg_last_wal_receive_lsn(),
        pg_last_wal_replay_lsn()) > '$2'") == t ]]
}

# $2: what is done about a primary that is up.
promote_instance() {
    local group old member members
    group=${1%%s*}
    old=${primary_of[$group]}
    if [[ $old == "$1" ]]; then
        say "$1 is the primary of $group already"
        topology_repoint_all
        return
    fi
    instance_is_up "$1" || fail "$1 is down: revive it first"
    ! instance_is_paused "$1" || fail "$1 is paused: resume it first"
    [[ $(ask "$1" 'SELECT pg_is_in_recovery()') == t ]] ||
        fail "$1 is not a standby"
    if instance_is_up "$old"; then
        "$2" "$old" "$1"
    else
        say "$old is down: what it had not sent to $1 is lost"
    fi
    as_owner "$bin/pg_ctl" promote -w -t 60 -s -D "$dir/$1/data" \
        >/dev/null 2>&1 || fail "$1: pg_ctl promote failed, see $dir/$1/log"
    primary_set "$group" "$1"
    # pg_rewind and pg_basebackup read the timeline of the last checkpoint.
    ask "$1" CHECKPOINT
    say "$1 is now the primary of $group; $old is superseded"
    group_members "$group"
    for member in "${members[@]}"; do
        if [[ $member != "$1" && $member != "$old" ]]; then
            standby_keep "$member"
        fi
    done
    moves_resolve
    topology_repoint_all
}

# Makes sure that standby $1 follows its primary. One that had received more
# than the promoted one cannot: it gets a fresh copy. A superseded primary is
# no standby, and goes on until it is crashed and revived.
standby_keep() {
    instance_answers "$1" || return 0
    if [[ $(ask "$1" 'SELECT pg_is_in_recovery()') == f ]]; then
        say "$1 is superseded, and does not know"
        return
    fi
    standby_follow "$1" && return
    say "$1 cannot follow: it gets a fresh copy"
    instance_end "$1"
    standby_make "$1" >>"$dir/$1/log" 2>&1 ||
        fail "$1 cannot be made anew: see $dir/$1/log"
}

revive_instance() {
    local primary
    primary=${primary_of[${1%%s*}]}
    if instance_is_up "$1"; then
        ! instance_is_paused "$1" || fail "$1 is paused: resume it"
        say "$1 is up already"
    elif [[ $primary == "$1" ]]; then
        instance_configure "$1" && instance_start "$1" ||
            fail "$1 cannot be revived"
        say "$1 is up again, as primary"
    elif [[ -e $dir/$1/data/standby.signal ]]; then
        instance_configure "$1" && instance_start "$1" ||
            fail "$1 cannot be revived"
        standby_keep "$1"
        say "$1 is up again, as standby of $primary"
    elif [[ -e $dir/$1/data/PG_VERSION ]]; then
        superseded_rejoin "$1"
        say "$1 has joined $primary as its standby"
    else
        standby_make "$1" >>"$dir/$1/log" 2>&1 ||
            fail "$1 cannot be made anew: see $dir/$1/log"
        say "$1 is a new standby of $primary"
    fi
    instance_returned "$1"
}

# What an instance that was away has missed.
instance_returned() {
    moves_resolve
    if is_group_primary "$1"; then
        topology_repoint "$1" || fail "$1 still points at old places"
    else
        standby_keep "$1"
    fi
}
