#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The lists of files in Makefile.am and local.mk and the files that are there
# agree, so that nothing is left out of the build, of make dist or of the tests.
set -u

cd "${AFF_SRCDIR:-$(dirname "$0")/..}" || exit 1
. ./tests/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -hoE '(driver|setup|tests)/[A-Za-z0-9_./-]+' driver/local.mk \
    setup/local.mk tests/local.mk tests/bench/local.mk | sed 's/[.]$//' |
    LC_ALL=C sort -u >"$work/listed"

# A program is listed without its .c; what is made, and these lists, need none.
for file in driver/* setup/* tests/* tests/bench/* tests/diff/* tests/fake/* \
    tests/storm/*
do
    case $file in
        */local.mk | setup/odbcinst.ini.template | *.o | *.lo | *.la | *.log | \
            *.trs | *~) continue ;;
    esac
    [ -f "$file" ] || continue
    grep -qxF -e "$file" -e "${file%.c}" "$work/listed" || echo "$file"
done >"$work/forgotten"
empty "every file of driver/, setup/ and tests/ is listed in a local.mk" \
    "$(cat "$work/forgotten")"

while read -r name; do
    case $name in
        *.la | *.so | setup/odbcinst.ini.template) continue ;;
    esac
    [ -e "$name" ] || [ -e "$name.c" ] || echo "$name"
done <"$work/listed" >"$work/missing"
empty "every file that is listed exists" "$(cat "$work/missing")"
tap_done
