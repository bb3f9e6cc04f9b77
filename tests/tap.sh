# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# TAP for test scripts in sh: source this, call the functions below, and end
# with tap_done. A script that dies before it prints no plan, and counts as
# failed.

tap_count=0
tap_failed=0

# diag TEXT: says more about the result above; any number of lines.
diag() {
    printf '%s\n' "$1" | sed 's/^/# /'
}

# pass NAME / fail NAME [DETAILS]
pass() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}
fail() {
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
    [ -z "${2-}" ] || diag "$2"
}

# skip NAME WHY
skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# is NAME GOT WANTED: the two texts are equal.
is() {
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "got:    $2
wanted: $3"
    fi
}

# has NAME TEXT PATTERN: the text has a line that fits the extended regular
# expression.
has() {
    if printf '%s\n' "$2" | grep -Eq -e "$3"; then
        pass "$1"
    else
        fail "$1" "got:            $2
wanted to find: $3"
    fi
}

# runs NAME COMMAND...: it succeeds; what it printed is shown if not.
runs() {
    tap_name=$1
    shift
    if tap_output=$("$@" 2>&1); then
        pass "$tap_name"
    else
        fail "$tap_name" "$* failed with $?: $tap_output"
    fi
}

# empty NAME TEXT: nothing was found.
empty() {
    if [ -z "$2" ]; then
        pass "$1"
    else
        fail "$1" "$2"
    fi
}

# php_has MODULE: PHP is there and can load it. Under AddressSanitizer it loads
# none, since it does so with RTLD_DEEPBIND.
php_has() {
    php -r 'exit((int)!extension_loaded($argv[1]));' -- "$1" >/dev/null 2>&1
}

# tap_done: prints the plan and ends the script.
tap_done() {
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
    exit
}
