#!/bin/bash
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# Keys beyond ASCII in locales that are not UTF-8's: whoever means the same text
# comes to the same instance, and a key is read as the driver reads a statement.
# isql is a narrow program and calls setlocale(); pyodbc is a wide one.
set -u

. "$AFF_SRCDIR/tests/tap.sh"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/odbc" "$work/locales" || exit 1
cp "$AFFINITY_SANDBOX/odbc"/*.ini "$work/odbc" || exit 1
# A key whose owner is not known within PoolWait is served anywhere.
cat >>"$work/odbc/odbc.ini" <<END

[hash]
Driver = Affinity
Instances = n1, n2, n3
AffinityMode = strict
PoolWait = 60000

[hash-ansi]
Driver = Affinity ANSI
Instances = n1-ansi, n2-ansi, n3-ansi
AffinityMode = strict
PoolWait = 60000
END
export ODBCINI=$work/odbc/odbc.ini ODBCSYSINI=$work/odbc
unset LC_ALL LC_CTYPE LANG PGCLIENTENCODING

# By chance they are all served by the same instances once in 3^9.
all='Zürich Köln Tønder Málaga Orléans Łódź Kraków Gdańsk Žilina'
western='Zürich Köln Tønder Málaga Orléans Kraków façade Åland Écija'
polish='Łódź Kraków Gdańsk Žilina Köln Zürich Ćma Świt Żuk'

make_locale() { # NAME CHARMAP
    localedef -c -i "${1%%[.@]*}" -f "$2" "$work/locales/$1" >/dev/null 2>&1
    [ -d "$work/locales/$1" ]
}

# narrow LOCALE ENCODING DSN KEYS: of each key, the instance and what the server
# was told by the same bytes in a statement, both as hex digits of UTF-8.
narrow() {
    local key
    for key in $4; do
        printf "SHOW AFFINITY\nSELECT encode(convert_to('%s', 'UTF8'), 'hex')\n" \
            "$key" | iconv -f UTF-8 -t "$2" >"$work/sql"
        LC_ALL=$1 isql -b -d, -k "DSN=$3;AffinityKey=$(
            printf '%s' "$key" | iconv -f UTF-8 -t "$2")" <"$work/sql" 2>&1 |
            iconv -f "$2" -t UTF-8 | cut -d, -f 1-2 | paste -s -d' '
    done
}

# texts KEYS: what the server is told, if it is told the truth.
texts() {
    local key
    for key in $1; do
        printf '%s' "$key" | od -An -v -tx1 | tr -d ' \n'
        echo
    done
}

# wide LOCALE DSN KEYS: the instances, known by their ports, since the narrow
# driver has no wide texts.
wide() {
    LC_ALL=$1 /usr/bin/python3 -X utf8 - "$2" "$3" <<'END'
import locale, os, sys
import pyodbc

locale.setlocale(locale.LC_CTYPE, '')
dsn = sys.argv[1]
names = {int(os.environ['AFFINITY_SANDBOX_PORT_' + name]): name
         for name in os.environ['AFFINITY_SANDBOX_INSTANCES'].split()}
for key in sys.argv[2].split():
    row = pyodbc.connect('DSN=%s;AffinityKey=%s' % (dsn, key)).execute(
        "SELECT current_setting('port')::int").fetchone()
    print(names[row[0]] + dsn[len('hash'):])
END
}

# begin DSN KEYS: how it is in UTF-8, into $told and $places.
begin() {
    dsn=$1 keys=$2
    told=$(narrow C.UTF-8 UTF-8 "$1" "$2")
    places=$(sed 's/.*,//; s/ .*//' <<<"$told")
    is "$1: in UTF-8, the server is told the keys" \
        "$(cut -d' ' -f2 <<<"$told")" "$(texts "$2")"
    has "$1: and not all have one instance" \
        "$(sort -u <<<"$places" | wc -l)" '^[23]$'
}

narrow_in() { # LOCALE ENCODING
    is "$dsn, narrow in $1: the same instances, and the same texts" \
        "$(narrow "$1" "$2" "$dsn" "$keys")" "$told"
}

wide_in() { # LOCALE
    is "$dsn, wide in $1: the same instances" "$(wide "$1" "$dsn" "$keys")" \
        "$places"
}

if ! make_locale de_DE.ISO-8859-1 ISO-8859-1 ||
    ! make_locale pl_PL.ISO-8859-2 ISO-8859-2 ||
    ! make_locale ja_JP.EUC-JP EUC-JP; then
    skip "locales other than UTF-8's" "localedef has nothing to make them of"
    tap_done
fi
export LOCPATH=$work/locales

begin hash "$all"
wide_in C.UTF-8
narrow_in C UTF-8 # its bytes are the server's
wide_in C
wide_in de_DE.ISO-8859-1
begin hash "$polish"
narrow_in pl_PL.ISO-8859-2 ISO-8859-2
begin hash-ansi "$western"
narrow_in C UTF-8
narrow_in de_DE.ISO-8859-1 ISO-8859-1
wide_in de_DE.ISO-8859-1 # in UTF-8, the manager has no room for its bytes
begin hash "$western"
narrow_in de_DE.ISO-8859-1 ISO-8859-1
PGCLIENTENCODING=latin-1 narrow_in C.UTF-8 ISO-8859-1

bytes=$(printf 'Z\374rich')
has "a key that is no text in the locale's encoding is refused, and why" \
    "$(LC_ALL=ja_JP.EUC-JP isql -b -v -k "DSN=hash;AffinityKey=$bytes" \
        </dev/null 2>&1)" 'AffinityKey is no text in EUC-JP'
has "EXPLAIN AFFINITY KEY reads it in the same way" "$(
    printf "EXPLAIN AFFINITY KEY '%s'\n" "$bytes" |
        LC_ALL=de_DE.ISO-8859-1 isql -b -d, -k DSN=hash | grep ',yes,')" \
    "^${places%%$'\n'*},"
has "SHOW AFFINITY CONFIG tells it" "$(
    echo "SHOW AFFINITY CONFIG" |
        LC_ALL=de_DE.ISO-8859-1 isql -b -d, -k "DSN=hash;AffinityKey=$bytes" |
        iconv -f ISO-8859-1 -t UTF-8)" '^AffinityKey,Zürich$'
tap_done
