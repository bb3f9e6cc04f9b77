#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The rules of form that a machine can check, one result each.
set -u

cd "${AFF_SRCDIR:-$(dirname "$0")/..}" || exit 1
. ./tests/tap.sh

c_files=$(find driver setup tests -name '*.[ch]' | LC_ALL=C sort)
driver_files=$(find driver -name '*.[ch]' | LC_ALL=C sort)
script_files=$(find setup tests .ci -type f \( -name '*.sh' -o -name '*.py' \
    -o -name '*.pl' -o -name '*.php' -o ! -name '*.*' \) | LC_ALL=C sort)
make_files="autogen.sh configure.ac Makefile.am $(find driver setup tests m4 \
    -name '*.mk' -o -name 'aff_*.m4' | LC_ALL=C sort)"
table_files=$(find driver -name '*.def' -o -name '*.map' | LC_ALL=C sort)

# The two lines stand first, or after #!, in any comment.
without_licence() {
    for file; do
        head -n 4 "$file" | tr '\n' ' ' | grep -Eq \
'SPDX-FileCopyrightText: odbc-affinity contributors.*SPDX-License-Identifier: Apache-2\.0' ||
            echo "$file"
    done
}

# Functions are found by their braces in the first column; LONG: in a comment,
# in the function or directly above it, gives the reason for a long one.
long_functions() {
    awk '
        FNR == 1 { start = 0; reason = 0 }
        /LONG:/ { reason = 1 }
        /^{/ { start = FNR }
        /^}/ {
            if (start && FNR - start - 1 > 60 && !reason)
                print FILENAME ":" start ": " FNR - start - 1 " lines"
            start = 0; reason = 0
        }' "$@"
}

long_files() {
    for file; do
        [ "$(wc -l <"$file")" -le 600 ] || head -n 40 "$file" |
            grep -q 'LONG:' || echo "$file: $(wc -l <"$file") lines"
    done
}

# Functions whose name ends in _locked and whose first statement, behind the
# declarations and the blank line after them, does not assert the lock.
unasserted() {
    awk '
        FNR == 1 { head = ""; inside = 0 }
        /^[a-z]/ { head = "" }
        /^[a-z ]/ && !inside { head = head $0 }
        /^{/ {
            inside = 1; lines = 0; behind = 0
            where = FILENAME ":" FNR
            name = head
            sub(/[(].*/, "", name)
            sub(/.*[ *]/, "", name)
            due = sought = name ~ /_locked$/
            next
        }
        /^}/ {
            if (inside && due) print where ": " name "()"
            inside = 0; due = 0; sought = 0; head = ""
        }
        sought && $0 == "" { behind = 1; next }
        sought && (lines++ == 0 || behind) {
            if (/^    mutex_assert_held[(]/) due = 0
            sought = due && !behind
        }' "$@"
}

# Files that end with an empty line.
empty_ends() {
    for file; do
        [ -n "$(tail -n 1 "$file")" ] || echo "$file"
    done
}

# shellcheck disable=SC2086 # the lists are words
{
empty "each source file names its licence" \
    "$(without_licence $c_files $make_files $table_files \
        $(grep -lI '^#!\|^<?php' $script_files))"
empty "no function that cannot be used safely" \
    "$(grep -nwE '(strcpy|strcat|sprintf|gets|strtok|atoi) *\(' $c_files)"
empty "the environment is read in environment.c alone" \
    "$(grep -nwE '(secure_)?getenv *\(' $driver_files |
        grep -vE '(^|/)environment\.[ch]:')"
empty "no name ends in _unlocked or _nolock" \
    "$(grep -nE '[a-z]_(unlocked|nolock)\b' $c_files)"
empty "each function named _locked asserts its lock first" \
    "$(unasserted $driver_files)"
empty "no file over 600 lines without its reason (LONG:)" \
    "$(long_files $c_files)"
empty "no function over 60 lines without its reason (LONG:)" \
    "$(long_functions $driver_files)"
empty "no line over 80 columns in driver/" \
    "$(LC_ALL=C.UTF-8 grep -nE '^.{81,}' $driver_files)"
empty "no tab, and no blank at the end of a line, in C" \
    "$(grep -nE '	|[ ]$' $c_files)"
empty "no file ends with an empty line" \
    "$(empty_ends $c_files $make_files $table_files $script_files)"
}
tap_done
