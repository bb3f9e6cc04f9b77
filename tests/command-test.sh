#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The SQL commands of odbc-affinity from the tools that have nothing but SQL:
# isql, PHP and Perl, narrow and wide, by both libraries.
set -u

. "${AFF_SRCDIR:-$(dirname "$0")/..}/tests/tap.sh"

# isql_rows STRING COMMAND: the answer's rows, with | between values.
isql_rows() {
    printf '%s\n' "$2" | isql -k "$1" -b -d'|' -v 2>&1
}

php_rows() {
    php -r '
        $db = odbc_connect($argv[1], "", "");
        if (!$db) exit(1);
        $result = @odbc_exec($db, $argv[2]);
        if (!$result) { echo odbc_error($db), " ", odbc_errormsg($db); exit(1); }
        while ($row = odbc_fetch_array($result))
            echo implode("|", array_map(fn($v) => $v ?? "NULL", $row)), "\n";
    ' -- "$1" "$2" 2>&1
}

# A prepared statement run twice, with autocommit off.
php_prepared() {
    php -r '
        $db = odbc_connect($argv[1], "", "");
        odbc_autocommit($db, false);
        $stmt = odbc_prepare($db, $argv[2]);
        for ($i = 0; $i < 2; $i++) {
            if (!odbc_execute($stmt)) exit(1);
            while ($row = odbc_fetch_array($stmt)) echo $row["instance"], "\n";
        }
    ' -- "$1" "$2" 2>&1
}

perl_rows() {
    perl -MDBI -e '
        my $db = DBI->connect("dbi:ODBC:$ARGV[0]", "app", "",
            { RaiseError => 1, PrintError => 0, AutoCommit => $ARGV[2] });
        my $stmt = eval {
            my $s = $db->prepare($ARGV[1]); $s->execute; $s };
        if (!$stmt) { print $DBI::state, " ", $DBI::errstr; exit 1 }
        while (my @row = $stmt->fetchrow_array) {
            print join("|", map { defined $_ ? $_ : "NULL" } @row), "\n";
        }
        $db->disconnect;
    ' -- "$1" "$2" "${3-1}" 2>&1
}

# its instances are n1, n2, n3; those of the other n1-ansi, …
wide='DSN=orders-strict;AffinityKey=1500'
ansi='DSN=orders-ansi;AffinityMode=strict;AffinityKey=1500'
key='Zürich €'
text="DSN=orders;AffinityTable=public.regions;AffinityKey=$key"

# check_answers TOOL STRING SUFFIX
check_answers() {
    rows=${1}_rows
    what="$1, ${2%%;*}"
    n1=n1$3 n2=n2$3 n3=n3$3
    has "$what: SHOW AFFINITY" "$($rows "$2" 'SHOW AFFINITY')" \
        "^1500\\|$n2\\|$n2: key 1500 \\(owner $n2\\), .*\\|strict\\|read-write\\|$n2\\|"
    is "$what: SHOW AFFINITY INSTANCES" \
        "$($rows "$2" 'SHOW AFFINITY INSTANCES;' | grep '^n' |
            cut -d'|' -f1 | tr '\n' ' ')" "$n1 $n2 $n3 "
    is "$what: SHOW AFFINITY POOLS" \
        "$($rows "$2" 'SHOW AFFINITY POOLS' | grep '^n' |
            cut -d'|' -f1 | tr '\n' ' ')" "$n1 $n2 $n3 "
    has "$what: SHOW AFFINITY TOPOLOGY" \
        "$($rows "$2" 'SHOW AFFINITY TOPOLOGY')" \
        "FOR VALUES FROM \\('1000'\\) TO \\('2000'\\)\\|$n2\\|owned"
    has "$what: SHOW AFFINITY CONFIG" \
        "$($rows "$2" 'SHOW AFFINITY CONFIG')" '^PoolMax\|20$'
    has "$what: EXPLAIN AFFINITY KEY" \
        "$($rows "$2" "EXPLAIN AFFINITY KEY '2500'")" \
        "^$n3\\|$n3\\|yes\\|would serve it: "
    has "$what: REFRESH AFFINITY" \
        "$($rows "$2" 'REFRESH AFFINITY')" \
        '^table public.orders\|[0-9]+\|(in)?complete$'
    has "$what: a mistake is explained" \
        "$($rows "$2" 'SHOW AFFINITY POOLZ')" \
        'SHOW AFFINITY POOLZ: not a well-formed command; allowed: SHOW'
}

for tool in isql php perl; do
    if [ $tool = php ] && ! php_has odbc; then
        skip "php: the commands" "it is not installed, or cannot load its module"
        continue
    fi
    check_answers "$tool" "$wide" ''
    check_answers "$tool" "$ansi" -ansi
    has "$tool: characters beyond ASCII arrive" \
        "$("${tool}_rows" "$text" 'SHOW AFFINITY')" "^$key\\|"
done

if php_has odbc; then
    is "php: prepared, twice, in a transaction" \
        "$(php_prepared "$wide" 'SHOW AFFINITY' | tr '\n' ' ')" 'n2 n2 '
fi
has "perl: with AutoCommit off" "$(perl_rows "$wide" 'SHOW AFFINITY' 0)" \
    '^1500\|n2\|'
tap_done
