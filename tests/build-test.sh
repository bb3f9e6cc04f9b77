#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The whole builds with another compiler, installs where it should, and goes
# through make distcheck; each from nothing, in a folder of its own.
set -u

src=${AFF_SRCDIR:-$(cd "$(dirname "$0")/.." && pwd)}
. "$src/tests/tap.sh"

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
unset MAKEFLAGS CFLAGS
jobs=-j$(nproc)

# in_folder NAME COMMAND…: shows the last lines of a long output only.
in_folder() (
    mkdir -p "$work/$1" && cd "$work/$1" || exit
    shift
    "$@" >output 2>&1 && exit
    status=$?
    tail -n 30 output
    exit "$status"
)

if command -v clang >/dev/null 2>&1; then
    runs "clang: configure" in_folder clang \
        "$src/configure" CC=clang --enable-werror --enable-debug
    runs "clang: everything builds without a warning" in_folder clang \
        make "$jobs" check TESTS=
else
    skip "clang: everything builds without a warning" "clang is not installed"
fi

runs "without a prefix: configure" in_folder plain "$src/configure" \
    --enable-werror
runs "without debug, it builds without a warning" in_folder plain \
    make "$jobs"
runs "make install" in_folder plain make install DESTDIR="$work/root"
is "installs the drivers among the manager's, the header and the template" \
    "$(cd "$work/root" && find . -type f ! -path '*/doc/*' | LC_ALL=C sort)" \
    "$(printf '.%s\n' \
        "$(pkg-config --variable=libdir odbc)/odbc/libodbcaffinity.so" \
        "$(pkg-config --variable=libdir odbc)/odbc/libodbcaffinitya.so" \
        /usr/local/include/affinity_odbc.h \
        /usr/local/share/odbc-affinity/odbcinst.ini.template \
        /usr/local/share/odbc-affinity/register)"
runs "make uninstall" in_folder plain make uninstall DESTDIR="$work/root"
is "leaves nothing" "$(find "$work/root" -type f)" ''

# A stand-in for a tree that was configured in place: setup/build must not go on
# with what automake then refuses, nor say that all is well.
mkdir -p "$work/tree/setup"
cp "$src/setup/build" "$work/tree/setup"
printf '#!/bin/sh\nexit 3\n' >"$work/tree/configure"
chmod +x "$work/tree/configure"
is "setup/build ends where configure fails" \
    "$("$work/tree/setup/build" "$work/tree/out" >/dev/null 2>&1; echo $?)" 3
touch "$work/tree/config.status"
has "setup/build says so of a tree that was configured in place" \
    "$("$work/tree/setup/build" "$work/tree/out" 2>&1)" 'make distclean'

# The unit tests have been run by whoever runs this one.
runs "make distcheck" in_folder plain make "$jobs" distcheck \
    DISTCHECK_CONFIGURE_FLAGS=--disable-tests
tap_done
