# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Data directories of setup/sandbox: making a primary, a standby, and a
# standby out of a primary that was superseded. What the tables hold and who
# points at whom is sandbox_topology.sh's.

# Settings of instance $1, whatever its role; a standby takes its data
# directory and with it this file from its primary, so it is written anew
# before each start. mmap instead of POSIX shared memory keeps even a crashed
# instance's leavings inside the sandbox. A primary that stops waits for its
# standbys, so wal_sender_timeout is how long a paused one can hold it up.
instance_settings() {
    local members member hosts='' ports=''
    group_members "${1%%s*}"
    for member in "${members[@]}"; do
        if [[ $member != "$1" ]]; then
            hosts+=",$sockets"
            ports+=",${port_of[$member]}"
        fi
    done
    cat <<END
cluster_name = '$1'
listen_addresses = '127.0.0.1'
port = ${port_of[$1]}
unix_socket_directories = '"$sockets"'
max_connections = 400
shared_buffers = 16MB
dynamic_shared_memory_type = mmap
fsync = off
synchronous_commit = on
wal_level = replica
wal_log_hints = on
wal_keep_size = 128MB
max_wal_size = 512MB
max_wal_senders = 16
wal_sender_timeout = 10s
wal_receiver_timeout = 10s
max_worker_processes = 8
max_prepared_transactions = 16
hot_standby = on
wal_retrieve_retry_interval = 200ms
recovery_target_timeline = latest
password_encryption = 'scram-sha-256'
jit = off
log_line_prefix = '%m [%p] %q%u@%d/%a '
END
    # A standby follows whichever member of its group is the primary.
    if [[ -n $hosts ]]; then
        cat <<END
primary_conninfo = 'host=''${hosts#,}'' port=${ports#,} user=postgres application_name=$1 connect_timeout=2 target_session_attrs=primary'
END
    fi
}

instance_configure() {
    instance_settings "$1" |
        as_owner tee "$dir/$1/data/sandbox.conf" >/dev/null
}

# A new, running primary with its tables. Output goes to its log.
primary_make() {
    local data=$dir/$1/data
    as_owner "$bin/initdb" -D "$data" -U postgres -A trust -E UTF8 \
        --locale=C --no-sync --no-instructions --wal-segsize=1 &&
    printf "include = 'sandbox.conf'\n" |
        as_owner tee -a "$data/postgresql.conf" >/dev/null &&
    as_owner tee "$data/pg_hba.conf" >/dev/null <<'END' &&
local all         all              trust
local replication all              trust
host  all         all 127.0.0.1/32 scram-sha-256
END
    instance_configure "$1" &&
    instance_start "$1" &&
    psql_on "$1" -d postgres -v password="$password" <<'END' &&
CREATE ROLE app LOGIN PASSWORD :'password';
CREATE DATABASE app OWNER app;
\c app
CREATE EXTENSION postgres_fdw;
END
    topology_repoint "$1" &&
    psql_on "$1" -v me="${1#n}" -v count="$instances" \
        -f - <"$top_setup/sandbox_tables.sql"
}

# A fresh copy of its group's running primary, as a standby, running.
standby_make() {
    local source fresh=$dir/$1/data.new
    source=${primary_of[${1%%s*}]}
    as_owner rm -rf "$fresh"
    as_owner "$bin/pg_basebackup" -h "$sockets" -p "${port_of[$source]}" \
        -U postgres -D "$fresh" -X stream -c fast --no-sync &&
    as_owner rm -rf "$dir/$1/data" &&
    as_owner mv "$fresh" "$dir/$1/data" &&
    standby_start "$1"
}

# Starts $1 as a standby and waits until it streams and holds everything.
standby_start() {
    as_owner touch "$dir/$1/data/standby.signal" &&
    instance_configure "$1" &&
    instance_start "$1" &&
    standby_follow "$1"
}

# Waits until standby $1 streams from its primary and has replayed all that
# the primary has flushed by now (the insert position can lie behind a page
# header that nothing was written after, which no standby ever reaches).
# Nothing to wait for if the primary is down.
standby_follow() {
    local source position
    source=${primary_of[${1%%s*}]}
    instance_answers "$source" || return 0
    position=$(ask "$source" 'SELECT pg_current_wal_flush_lsn()') || return 0
    # a walreceiver that meets the end of a timeline tries again after 5 s
    await 40 standby_has "$1" "$position"
}

standby_has() {
    [[ $(ask "$1" "SELECT status = 'streaming' AND
        pg_last_wal_replay_lsn() >= '$2' FROM pg_stat_wal_receiver") == t ]]
}

# Makes the superseded primary $1 a standby of the one that took its place:
# undo what it wrote alone, or take a fresh copy where that is impossible.
superseded_rejoin() {
    local source
    source=${primary_of[${1%%s*}]}
    instance_answers "$source" ||
        fail "$source, the primary that $1 would follow, is down"
    instance_sweep "$1"
    if as_owner "$bin/pg_rewind" --no-sync -D "$dir/$1/data" \
        --source-server="host='$sockets' port=${port_of[$source]} \
user=postgres dbname=postgres" >>"$dir/$1/log" 2>&1; then
        standby_start "$1" && return
        instance_end "$1"
    fi
    say "$1 cannot be rewound: copying $source"
    standby_make "$1" >>"$dir/$1/log" 2>&1 ||
        fail "$1 cannot follow $source: see $dir/$1/log"
}

# The system identifier that an instance's data directory carries.
instance_identity() {
    as_owner "$bin/pg_controldata" "$dir/$1/data" 2>/dev/null |
        sed -n 's/^Database system identifier: *//p' || true
}
