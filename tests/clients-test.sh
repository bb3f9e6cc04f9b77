#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The promise of README: a program that uses an instance's DSN is given the
# wrapper's instead, and a key, and does the same. Each program in clients/
# runs with both, and must print the same, byte for byte; its first line is
# the name of the instance. It does so on every instance, and over the narrow
# driver too.

. "$AFF_SRCDIR/tests/tap.sh"

programs=$AFF_SRCDIR/tests/clients
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Debian's ruby-odbc has functions of its own that say "no manager" before those
# of a manager that it loads by itself.
with_manager() {
    env LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}libodbc.so.2" "$@"
}

# client NAME STRING CUSTOMER: what that program prints, and how it ends.
client() {
    case $1 in
        isql) isql -b -k "$2" <"$programs/client.sql" ;;
        isql3) isql -3 -b -k "$2" <"$programs/client.sql" ;;
        iusql) iusql -b "${2#DSN=}" <"$programs/client.sql" ;;
        pyodbc) /usr/bin/python3 "$programs/client.py" "$2" "$3" ;;
        php) php "$programs/client.php" "$2" "$3" ;;
        pdo) php "$programs/client-pdo.php" "$2" "$3" ;;
        perl) perl "$programs/client.pl" "$2" "$3" ;;
        r) Rscript --vanilla "$programs/client.R" "$2" "$3" ;;
        tcl) tclsh8.6 "$programs/client.tcl" "$2" "$3" ;;
        ruby) with_manager ruby "$programs/client.rb" "$2" "$3" ;;
    esac
    echo "ended with $?"
}

# usable NAME: it is there, and so is what it needs.
usable() {
    case $1 in
        isql*|iusql) command -v "${1%3}" ;;
        pyodbc) /usr/bin/python3 -c 'import pyodbc' ;;
        php) php_has odbc ;;
        pdo) php_has pdo_odbc ;;
        perl) perl -e 'use DBI; use DBD::ODBC' ;;
        r) Rscript --vanilla -e 'library(RODBC)' ;;
        tcl) echo 'package require tdbc::odbc' | tclsh8.6 ;;
        ruby) with_manager ruby -e 'require "odbc"; ODBC::Environment.new' ;;
    esac >/dev/null 2>&1
}

# timed COMMAND…: says how many milliseconds it took; what it says goes to 3.
timed() {
    begin=$(date +%s%N)
    "$@" >&3 2>&3
    echo $((($(date +%s%N) - begin) / 1000000))
}

# compare NAME DIRECT WRAPPED INSTANCE CUSTOMER
# In hint whoever waits in vain for an owner that is late (300 ms, or more) goes
# elsewhere. Where that may have been so it is run again; whoever is elsewhere
# sooner is there for another reason.
compare() {
    usual=$(timed client "$1" "$2" "$5" 3>"$work/direct")
    for _ in 1 2 3 4 5; do
        took=$(timed client "$1" "$3" "$5" 3>"$work/wrapped")
        served=$(grep -om 1 'n[0-9]' "$work/wrapped")
        [ "$served" != "$4" ] && [ "$took" -ge $((usual + 300)) ] || break
    done
    is "$1: $3 is served by $4" "$served" "$4"
    lines=$(wc -l <"$work/direct")
    if [ "$lines" -gt 20 ] && cmp -s "$work/direct" "$work/wrapped"; then
        pass "$1: $3 prints the same as $2 ($lines lines)"
    else
        fail "$1: $3 prints the same as $2" \
            "$(diff "$work/direct" "$work/wrapped" | head -n 40)
$lines lines, the last: $(tail -n 1 "$work/direct")"
    fi
}

for name in isql isql3 iusql pyodbc php pdo perl r tcl ruby; do
    if ! usable "$name"; then
        skip "$name prints the same" "it is not installed, or cannot load what it needs"
        continue
    fi
    compare "$name" "DSN=n1" "DSN=orders;AffinityKey=5" n1 5
    compare "$name" "DSN=n2" "DSN=orders;AffinityKey=1005" n2 1005
    compare "$name" "DSN=n3" "DSN=orders-strict;AffinityKey=2005" n3 2005
    compare "$name" "DSN=n2-tcp" "DSN=orders-strict-tcp;AffinityKey=1005" n2 \
        1005
    case $name in
        iusql|pyodbc) ;; # cannot work with psqlODBC's narrow driver itself
        *) compare "$name" "DSN=n3-ansi" "DSN=orders-ansi;AffinityKey=2005" \
            n3 2005 ;;
    esac
done
tap_done
