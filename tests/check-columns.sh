#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# README's section on the columns of the answers names each column that a
# command has.
set -u

cd "${AFF_SRCDIR:-$(dirname "$0")/..}" || exit 1
. ./tests/tap.sh

# The words of each "…_columns[] = {…}", and of the table of what is counted.
columns() {
    awk '/_columns\[\] = \{/ { inside = 1 }
        inside { print }
        /}/ { inside = 0 }' driver/command_*.c |
        grep -o '"[a-z_]*"' | tr -d '"'
    sed -nE 's/^POOL_STAT\([^"]*"([a-z_]+)".*/\1/p' driver/pool_stat.def
}

described=$(sed -n '/^## Columns of the answers/,/^## What/p' README.md |
    grep -o '`[a-z_]*`' | tr '`\n' ' ')
named=$(columns | LC_ALL=C sort -u)
has "there are columns" "$(echo "$named" | wc -l)" '^[1-9][0-9]+$'
for name in $named; do
    case $described in
        *" $name "*) pass "README describes the column $name" ;;
        *) fail "README describes the column $name" "no \`$name\` there" ;;
    esac
done
tap_done
