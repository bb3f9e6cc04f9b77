#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# A file calls downwards only. The layers stand below from the top to the
# ground; a file belongs to the layer whose name its own begins with, and two
# names with a / between them are one layer. Seen in the built objects: what one
# calls that another one defines.
set -u

build=${AFF_BUILDDIR:-$(dirname "$0")/../build}
src=${AFF_SRCDIR:-$(dirname "$0")/..}
. "$src/tests/tap.sh"

layers='surface entry handle session command watch place login/pool fleet
topology route balance event keeper link inner config connstr secret inifile
environment diag metrics log why text library lock'

# A fleet owns its logins, which pools are made of, and lets go of them with
# itself; these are the only calls from knowledge up to links.
allowed='fleet_list.c calls login_retire_all\(\)'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints "file symbol" for each symbol of the given kind in nm's output; what is
# left in the build of a file that is no more counts for nothing.
symbols() {
    for object in "$build"/driver/.libs/libcore_la-*.o \
        "$build"/driver/.libs/libodbcaffinity_la-*.o; do
        file=$(basename "${object##*_la-}" .o)
        [ -e "$object" ] || continue
        [ -e "$src/driver/$file.c" ] || continue
        nm "$1" "$object" | awk -v file="$file" '{ print file, $NF }'
    done
}
symbols --defined-only >"$work/defined"
symbols --undefined-only >"$work/wanted"

if [ -s "$work/defined" ]; then
    pass "the objects are built"
else
    fail "the objects are built" "none found in $build/driver/.libs"
fi

awk -v layers="$layers" '
    BEGIN { count = split(layers, names) }
    function layer(file, i, k, of, n) {
        for (i = 1; i <= count; i++) {
            n = split(names[i], of, "/")
            for (k = 1; k <= n; k++)
                if (file == of[k] || index(file, of[k] "_") == 1) return i
        }
        return 0
    }
    NR == FNR { owner[$2] = $1; next }
    $2 in owner {
        from = layer($1); to = layer(owner[$2])
        if (from == 0) homeless[$1] = 1
        else if (to && to < from)
            print "up " $1 ".c calls " $2 "() of " owner[$2] ".c"
    }
    END { for (file in homeless) print "homeless " file ".c" }
    ' "$work/defined" "$work/wanted" | LC_ALL=C sort -u >"$work/found"

empty "every file belongs to a layer" "$(sed -n 's/^homeless //p' "$work/found")"
empty "no file calls upwards" \
    "$(sed -n 's/^up //p' "$work/found" | grep -Ev "^$allowed of ")"
tap_done
