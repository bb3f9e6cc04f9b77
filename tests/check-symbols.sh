#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The built drivers export exactly the entry points that driver.symbols lists
# (the ANSI one those without a wide form), and are linked with libc alone, since
# each library more costs time at every connect (driver/library.h).
set -u

src=${AFF_SRCDIR:-$(dirname "$0")/..}
build=${AFF_BUILDDIR:-$src/build}
. "$src/tests/tap.sh"

exports() {
    nm -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort
}

# The libraries that the given one asks for, apart from those below. The loader
# itself, which keeps a thread's own variables, costs nothing.
foreign_libraries() {
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -Ev '^(libc|ld-linux.*)\.so\.' |
        grep -Ev '^lib(a|t|ub)san\.so\.'
}

check_library() {
    library=$build/driver/.libs/$1.so
    if [ ! -e "$library" ]; then
        fail "$1: is built" "$library does not exist"
        return
    fi
    empty "$1: exports what driver.symbols lists and nothing else" \
        "$(exports "$library" | diff "$2" -)"
    empty "$1: is linked with libc alone" \
        "$(foreign_libraries "$library")"
    flags=$(readelf -d "$library")
    has "$1: is never unmapped" "$flags" '\(FLAGS_1\).*NODELETE'
    has "$1: keeps calls to its own names" "$flags" '\(SYMBOLIC\)|\(FLAGS\).*SYMBOLIC'
    has "$1: is bound when loaded" "$flags" '\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW'
}

lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
LC_ALL=C sort "$src/driver/driver.symbols" >"$lists/wide"
grep -v 'W$' "$lists/wide" >"$lists/narrow"

is "driver.symbols lists 92 names, 61 of them narrow" \
    "$(wc -l <"$lists/wide") $(wc -l <"$lists/narrow")" "92 61"
check_library libodbcaffinity "$lists/wide"
check_library libodbcaffinitya "$lists/narrow"
tap_done
