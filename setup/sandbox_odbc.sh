# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The ODBC side of setup/sandbox: where the drivers are, and the two ini files
# in DIR/odbc. It asks no instance.

# Sets $inner to the folder of psqlODBC.
inner_find() {
    local folder
    for folder in /usr/lib/"$(uname -m)"-linux-gnu*/odbc /usr/lib/*/odbc \
            /usr/lib64 /usr/lib/odbc /usr/lib; do
        if [[ -e $folder/psqlodbcw.so && -e $folder/psqlodbca.so ]]; then
            inner=$folder
            return
        fi
    done
    fail "psqlODBC is not installed (package odbc-postgresql)"
}

# Sets $libraries to the folder of the wrapper's libraries: the newest build
# of this tree unless AFFINITY_LIBDIR says otherwise.
libraries_find() {
    local folder newest=
    if [[ -n ${AFFINITY_LIBDIR:-} ]]; then
        libraries=$(realpath -m -- "$AFFINITY_LIBDIR")
    else
        for folder in "$top/build/driver/.libs" "$top/driver/.libs"; do
            if [[ -e $folder/libodbcaffinity.so &&
                  $folder/libodbcaffinity.so -nt $newest ]]; then
                newest=$folder/libodbcaffinity.so
            fi
        done
        libraries=${newest%/*}
        libraries=${libraries:-$top/driver/.libs}
    fi
    [[ -e $libraries/libodbcaffinity.so ]] ||
        warn "note: $libraries/libodbcaffinity.so is not built yet"
}

driver_section() {
    printf '[%s]\nDescription = %s\nDriver = %s\n' "$1" "$2" "$3"
    printf 'Threading = 0\nDontDLClose = 1\nUsageCount = 1\n\n'
}

# $1 DSN, $2 driver, $3 socket folder or address, $4 port
instance_section() {
    printf '[%s]\nDriver = %s\nServername = %s\nPort = %s\n' "$@"
    printf 'Database = app\nUsername = app\n'
}

# $1 DSN, $2 driver, $3 mode, $4 suffix of the instances' DSNs. No login: each
# instance's own DSN has it.
fleet_section() {
    local list
    list=$(printf ", %s$4" "${names[@]}")
    printf '[%s]\nDriver = %s\nInstances = %s\nAffinityMode = %s\n' \
        "$1" "$2" "${list#, }" "$3"
    printf 'AffinityTable = public.orders\n\n'
}

odbcinst_print() {
    driver_section 'PostgreSQL Unicode' 'psqlODBC, wide functions' \
        "$inner/psqlodbcw.so"
    driver_section 'PostgreSQL ANSI' 'psqlODBC, narrow functions' \
        "$inner/psqlodbca.so"
    driver_section 'Affinity' 'odbc-affinity' "$libraries/libodbcaffinity.so"
    driver_section 'Affinity ANSI' 'odbc-affinity, narrow functions' \
        "$libraries/libodbcaffinitya.so"
}

odbc_print() {
    local each port
    for each in "${names[@]}"; do
        port=${port_of[$each]}
        instance_section "$each" 'PostgreSQL Unicode' "$sockets" "$port"
        printf '\n'
        instance_section "$each-tcp" 'PostgreSQL Unicode' 127.0.0.1 "$port"
        printf 'Password = %s\n\n' "$password"
        instance_section "$each-ansi" 'PostgreSQL ANSI' "$sockets" "$port"
        printf '\n'
    done
    fleet_section orders Affinity hint ''
    fleet_section orders-strict Affinity strict ''
    fleet_section orders-prefer Affinity prefer ''
    fleet_section orders-tcp Affinity hint -tcp
    fleet_section orders-strict-tcp Affinity strict -tcp
    fleet_section orders-ansi 'Affinity ANSI' hint -ansi
}

# The ini files hold a password, and they follow the sandbox's own rights.
odbc_write() {
    inner_find
    libraries_find
    mkdir -p "$dir/odbc"
    odbcinst_print >"$dir/odbc/odbcinst.ini"
    odbc_print >"$dir/odbc/odbc.ini"
}
