# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The processes of one instance of setup/sandbox: finding, starting, stopping,
# pausing and killing them. It knows nothing of groups and tables.
#
# A process belongs to an instance if it is a `postgres` whose working
# directory is the instance's data directory: true of the postmaster and of
# every child, also after the postmaster was killed, and of nothing else.

# Answers are left in $found: where a fork costs milliseconds, a subshell for
# each question is most of what a verb takes.

# Finds all processes of data directory $1. A zombie has no working directory
# and so does not count: some containers never reap.
processes_of() {
    local process
    found=
    for process in /proc/[0-9]*; do
        if process_belongs "$1" "${process##*/}"; then
            found+="${process##*/} "
        fi
    done
}

process_belongs() {
    local comm=
    [[ /proc/$2/cwd -ef $1 ]] || return 1
    { IFS= read -r comm <"/proc/$2/comm"; } 2>/dev/null || return 1
    [[ $comm == postgres ]]
}

# Finds the postmaster's pid, or nothing if the instance is down.
postmaster_of() {
    local main=none
    found=
    { read -r main <"$1/postmaster.pid"; } 2>/dev/null || return 0
    if process_belongs "$1" "$main"; then
        found=$main
    fi
}

# Finds the state letter of process $1, or nothing if it is gone.
process_state() {
    local line=
    { read -r line <"/proc/$1/stat"; } 2>/dev/null || line=
    line=${line##*) }
    found=${line%% *}
}

# Succeeds if every process is stopped: SIGSTOP takes a moment.
processes_still() {
    local process
    processes_of "$1"
    for process in $found; do
        process_state "$process"
        [[ $found == T || -z $found ]] || return 1
    done
}

# Sends signal $2 to the postmaster first, so that it can fork no more (STOP),
# then to its children until none is left that has not had it.
processes_signal() {
    local process seen=' ' again=1
    postmaster_of "$1"
    if [[ -n $found ]]; then
        kill "-$2" "$found" 2>/dev/null || true
        seen=" $found "
    fi
    while (( again )); do
        again=0
        processes_of "$1"
        for process in $found; do
            if [[ $seen != *" $process "* ]]; then
                kill "-$2" "$process" 2>/dev/null || true
                seen+="$process "
                again=1
            fi
        done
    done
}

process_library=$(declare -f process_belongs processes_of postmaster_of \
    process_state processes_still processes_signal)

# Root without CAP_SYS_PTRACE (19), as in many a container, does not see the
# working directories of others: then $owner has to look.
sight_find() {
    local key value
    sight=own
    (( EUID == 0 )) || return 0
    while read -r key value; do
        if [[ $key == CapEff: ]] && ! (( 16#$value >> 19 & 1 )); then
            sight=owner
        fi
    done </proc/self/status
}
sight_find

# Calls one of the functions above.
look() {
    if [[ $sight == own ]]; then
        "$@"
    else
        # shellcheck disable=SC2016
        found=$(as_owner bash -c "$process_library"'
            "$@"; result=$?; printf %s "$found"; exit "$result"' _ "$@")
    fi
}

# Finds all processes of instance $1.
instance_pids() {
    look processes_of "$dir/$1/data"
}

# Finds the postmaster of instance $1.
instance_pid() {
    look postmaster_of "$dir/$1/data"
}

instance_is_up() {
    instance_pid "$1"
    [[ -n $found ]]
}

instance_is_gone() {
    instance_pids "$1"
    [[ -z $found ]]
}

instance_is_paused() {
    instance_pid "$1"
    [[ -n $found ]] && process_state "$found" && [[ $found == T ]]
}

# Up and not paused: worth a question.
instance_answers() {
    instance_is_up "$1" && ! instance_is_paused "$1"
}

instance_is_still() {
    look processes_still "$dir/$1/data"
}

instance_signal() {
    look processes_signal "$dir/$1/data" "$2"
}

# A child forked just before its postmaster stopped is seen by the second
# round only.
instance_pause() {
    instance_signal "$1" STOP
    instance_signal "$1" STOP
    await 10 instance_is_still "$1" || fail "$1 does not stop"
}

instance_resume() {
    instance_signal "$1" CONT
}

# SIGKILL to all of it. The postmaster is stopped first: it must not start
# children anew in answer to the death of others.
instance_kill() {
    instance_signal "$1" STOP
    await 10 instance_kill_round "$1" || fail "$1 does not die"
}

instance_kill_round() {
    instance_signal "$1" KILL
    instance_is_gone "$1"
}

# Removes what a killed postmaster has left where it would keep the next one
# from starting: a lock file whose pid is a zombie or somebody else's by now.
instance_sweep() {
    local pid=
    instance_is_gone "$1" || fail "$1 has processes without a postmaster"
    # before the data directory is looked at: it may be a new one
    rm -f "$sockets/.s.PGSQL.${port_of[$1]}"{,.lock}
    { read -r pid <"$dir/$1/data/postmaster.pid"; } 2>/dev/null || return 0
    if [[ -e /proc/$pid ]]; then
        shared_memory_remove "$1"
        rm -f "$dir/$1/data/postmaster.pid"
    fi
}

# A killed postmaster leaves its System V segment, named on line 7 of its
# lock file: "key id". Only a segment of that key and id to which nobody is
# attached is ours to remove.
shared_memory_remove() {
    local key id
    { read -r key id < <(sed -n 7p "$dir/$1/data/postmaster.pid"); } \
        2>/dev/null || return 0
    if awk -v key="$key" -v id="$id" \
        '$1 == key && $2 == id && $7 == 0 { found = 1 }
         END { exit !found }' /proc/sysvipc/shm 2>/dev/null; then
        as_owner ipcrm -m "$id" 2>/dev/null || true
    fi
}

# Starts $1 and waits until it accepts connections. The postmaster outlives
# us, so it gets none of our file descriptors: a lock held or a pipe kept open
# by it would hang others.
instance_start() {
    local fd
    instance_sweep "$1"
    (
        for fd in /proc/"$BASHPID"/fd/*; do
            fd=${fd##*/}
            if (( fd > 2 && fd != 255 )); then
                eval "exec $fd>&-"
            fi
        done
        as_owner "$bin/pg_ctl" start -w -t 90 -s -D "$dir/$1/data" \
            -l "$dir/$1/log" </dev/null >/dev/null 2>&1
    ) && await 60 instance_accepts "$1" && return
    warn "$1 did not start; the end of $dir/$1/log:"
    tail -n 8 "$dir/$1/log" >&2
    return 1
}

instance_accepts() {
    "$bin/pg_isready" -q -h "$sockets" -p "${port_of[$1]}" \
        -U postgres -d postgres
}

# Stops $1 cleanly: everything is written down and sent to the standbys.
instance_stop() {
    as_owner "$bin/pg_ctl" stop -w -t 60 -s -m fast -D "$dir/$1/data" \
        </dev/null >/dev/null 2>&1
}

# Ends all of $1, whatever state it is in, and leaves nothing behind: for data
# that nobody wants any more.
instance_end() {
    instance_kill "$1"
    shared_memory_remove "$1"
}
