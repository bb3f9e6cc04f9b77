#!/bin/bash
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# Promise 1: nothing tells an application whether it uses the inner driver or
# us. diff/differ is run with the DSN of an instance and with ours and a key of
# that instance, and what it wrote must be the same but for diff/masks.sed:
#
#   cold    each session has a link of its own
#   warm    each session but the first has the link that another subject left
#
# usage: diff-test.sh [DIALECT STRAIGHT OURS [narrow|wide [SUBJECT…]]]
#        by hand, and by the tests of other inner drivers, e.g.
#        diff-test.sh psqlodbc DSN=n1 'DSN=orders;AffinityKey=5;PoolMax=1'
set -u

. "$AFF_SRCDIR/tests/tap.sh"

here=$AFF_SRCDIR/tests/diff
differ=$AFF_BUILDDIR/tests/diff/differ
if [ -n "${AFF_KEEP-}" ]; then # the logs, to be looked at
    work=$AFF_KEEP/diff-test
    rm -rf "$work"
    mkdir -p "$work" || exit 1
else
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
fi

# leg NAME DIALECT STRAIGHT WIDTH VERSION ORDER STRING
# Runs all subjects on STRING; the logs are in $work/NAME.
leg() {
    # shellcheck disable=SC2086 # the subjects are words
    "$differ" "$2" "$3" "$4" "$5" "$6" "$work/$1" "$7" ${subjects-} \
        >"$work/$1.said" 2>&1 || echo "ended with $?" >>"$work/$1.said"
    # psqlODBC wants more than there is, which tests/run lets pass
    sed -i '/WARNING: AddressSanitizer failed to allocate/d' "$work/$1.said"
    mask "$1" "$7" "$2"
}

# mask LEG STRING DIALECT: in the logs of that leg, run with that string.
mask() {
    local dsn=${2#*DSN=}
    sed "s/@DSN@/${dsn%%;*}/" "$here/masks.sed" >"$work/$1.masks"
    [ ! -e "$here/masks-$3.sed" ] || cat "$here/masks-$3.sed" \
        >>"$work/$1.masks"
    sed -i -f "$work/$1.masks" "$work/$1"/*
}

# compare WHAT LEG DIRECT: one result for each subject.
compare() {
    local log name
    for log in "$work/$3"/*; do
        name=${log##*/}
        if cmp -s "$log" "$work/$2/$name"; then
            pass "$1: $name ($(wc -l <"$log") lines)"
        else
            fail "$1: $name" "$(diff "$log" "$work/$2/$name" | head -n 12)"
        fi
    done
}

# pair NAME DIALECT STRAIGHT OURS WIDTH VERSION
pair() {
    local name=$1 dialect=$2 straight=$3 ours=$4
    shift 4
    leg "$name-direct" "$dialect" "$straight" "$1" "$2" straight "$straight"
    leg "$name-cold" "$dialect" "$straight" "$1" "$2" straight \
        "$ours;PoolMaxReuse=1"
    leg "$name-warm" "$dialect" "$straight" "$1" "$2" turned "$ours"
}

# judge NAME: what pair() left.
judge() {
    local said=$work/$1

    has "$1: all subjects ran directly" "$(tail -n 1 "$said-direct.said")" \
        '^[1-9][0-9]* sessions(, [1-9][0-9]* of them with a new link)?$'
    is "$1: as many with new links" "$(tail -n 1 "$said-cold.said")" \
        "$(tail -n 1 "$said-direct.said")"
    is "$1: and with links left by another" \
        "$(cat "$said-warm.said")" \
        "$(sed -n '${ s/, .*/, 0 of them with a new link/; p; }' \
            "$said-direct.said")"
    compare "$1, cold" "$1-cold" "$1-direct"
    compare "$1, warm" "$1-warm" "$1-direct"
}

# The surface's functions, narrow or wide, that no log names.
uncalled() {
    local name names
    names=$(cat "$work"/*-direct/* | grep -o '^SQL[A-Za-z]*(' | sort -u)
    sed -n 's/^\(PLAIN\|TEXT\)(\(SQL[A-Za-z]*\),.*/\1 \2/p' \
        "$AFF_SRCDIR/driver/surface.def" |
        while read -r kind name; do
            [[ $names == *"$name("* ]] || echo "$name"
            [[ $kind == PLAIN || $names == *"${name}W("* ]] || echo "${name}W"
        done
}

if [ $# -ge 3 ]; then
    "$differ" "$1" "$2" || exit 1
    subjects=${*:5}
    pair given "$1" "$2" "$3" "${4-wide}" 3
    judge given
    tap_done
fi

# ini NAME DRIVER SUFFIX KEY: a data source of ours, as in the sandbox but that
# it has the key of an instance and one link to it.
ini() {
    cat <<END

[$1]
Driver = $2
Instances = n1$3, n2$3, n3$3
AffinityMode = strict
AffinityTable = public.orders
AffinityKey = $4
PoolMax = 1
PoolWait = 60000
END
}

mkdir "$work/odbc" || exit 1
cp "$AFFINITY_SANDBOX/odbc"/*.ini "$work/odbc" || exit 1
{
    ini diff-n1 Affinity '' 5
    ini diff-n2 Affinity '' 1005
    ini diff-n3-ansi 'Affinity ANSI' -ansi 2005
} >>"$work/odbc/odbc.ini"
export ODBCINI=$work/odbc/odbc.ini ODBCSYSINI=$work/odbc

for dsn in n1 n2 n3-ansi; do
    runs "the tables are made in $dsn" "$differ" psqlodbc "DSN=$dsn"
done
pair wide psqlodbc DSN=n1 DSN=diff-n1 wide 3 &
{
    pair narrow psqlodbc DSN=n2 DSN=diff-n2 narrow 3
    pair ansi psqlodbc DSN=n3-ansi DSN=diff-n3-ansi narrow 2
    # Where the manager converts texts that psqlODBC has not written (attrs, desc,
    # results), it tells what memory held; and psqlODBC itself crashes (cursors).
    subjects='catalog leavings getdata bind params paramsets atexec bulk escapes
        txn diag empty wide crossed cancel info connect spoil'
    pair ansi-wide psqlodbc DSN=n3-ansi DSN=diff-n3-ansi wide 3
} &
wait
for name in wide narrow ansi ansi-wide; do
    judge "$name"
done
for dsn in n1 n2 n3-ansi; do
    runs "the tables are gone from $dsn" "$differ" psqlodbc "DSN=$dsn" drop
done
empty "every function of the surface was called" "$(uncalled)"
tap_done
