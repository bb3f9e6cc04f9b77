#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# setup/register, on an odbcinst.ini of its own: what it writes, that a second
# run changes nothing, and that taking out leaves what was there before.
set -u

src=${AFF_SRCDIR:-$(dirname "$0")/..}
. "$src/tests/tap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lib="$work/lib & more" # which sed must not take for something of its own
mkdir "$lib"
touch "$lib/libodbcaffinity.so" "$lib/libodbcaffinitya.so"
export ODBCSYSINI="$work"
unset ODBCINSTINI
ini=$work/odbcinst.ini

register() {
    sh "$src/setup/register" "$@"
}

# count PATTERN: of lines in odbcinst.ini
count() {
    grep -Ec -e "$1" "$ini"
}

cat >"$ini" <<'INI'
; kept by hand
[PostgreSQL Unicode]
Driver=psqlodbcw.so
UsageCount=2

[Affinity Other]
Driver = /somewhere/else.so

INI
cp "$ini" "$work/before"

runs "install" register install --dir "$lib"
has "Affinity is the wide library" "$(sed -n '/^\[Affinity\]/,/^\[/p' "$ini")" \
    "^Driver = $lib/libodbcaffinity\\.so\$"
has "Affinity ANSI is the narrow library" \
    "$(sed -n '/^\[Affinity ANSI\]/,$p' "$ini")" \
    "^Driver = $lib/libodbcaffinitya\\.so\$"
is "both lock for themselves" "$(count '^Threading = 0$')" 2
is "both stay loaded" "$(count '^DontDLClose = 1$')" 2
is "other sections are as they were" \
    "$(head -n "$(wc -l <"$work/before")" "$ini" | cmp - "$work/before" 2>&1)" ''

cp "$ini" "$work/first"
runs "install again" register install --dir "$lib"
is "the second time changes nothing" "$(cmp "$ini" "$work/first" 2>&1)" ''

sed 's/^UsageCount = 1$/UsageCount = 2\nCommLog = 1/' "$work/first" >"$ini"
runs "install over a doubled UsageCount" register install --dir "$lib"
is "every UsageCount is 1" "$(count '^UsageCount = ')$(count '^UsageCount = 1$')" 22
is "lines added to our sections are kept" "$(count '^CommLog = 1$')" 2

runs "remove" register remove
is "what was there before is there again" \
    "$(cmp "$ini" "$work/before" 2>&1)" ''
runs "remove again" register remove
is "and nothing else is lost" "$(cmp "$ini" "$work/before" 2>&1)" ''

rm "$ini"
runs "remove without odbcinst.ini" register remove
runs "install without odbcinst.ini" register install --dir "$lib"
is "it is made" "$(count '^\[Affinity')" 2

rm "$ini" "$lib/libodbcaffinitya.so"
answer=$(register install --dir "$lib" 2>&1)
is "a library that is missing is refused" "$?" 1
has "and named" "$answer" "$lib/libodbcaffinitya\\.so does not exist"
is "nothing is registered then" "$(cat "$ini" 2>/dev/null)" ''
answer=$(register renew 2>&1)
is "an unknown verb is refused" "$?" 1
has "and named" "$answer" "unknown verb 'renew'"
tap_done
