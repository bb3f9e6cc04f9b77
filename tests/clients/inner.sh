#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# As clients-test.sh, with SQL that every database reads: isql, pyodbc, PHP and
# Perl do a small job directly and over us, and must print the same.
# usage: inner.sh DIRECT OURS   (connection strings; both lead to one instance)
set -u

. "$AFF_SRCDIR/tests/tap.sh"

run_isql() {
    isql -b -k "$1" <<'END'
DROP TABLE job
CREATE TABLE job (id INTEGER, t VARCHAR(40))
INSERT INTO job VALUES (1, 'one'), (2, 'zwölf €'), (3, NULL)
SELECT * FROM job ORDER BY id
UPDATE job SET t = 'uno' WHERE id = 1
SELECT id, t FROM job WHERE id < 3 ORDER BY id
SELECT * FROM nowhere
help job
DELETE FROM job
END
}

run_pyodbc() {
    /usr/bin/python3 - "$1" <<'END'
import sys
import pyodbc
pyodbc.pooling = False
db = pyodbc.connect(sys.argv[1], autocommit=False)
c = db.cursor()
for i in range(5):
    c.execute('INSERT INTO job VALUES (?, ?)', i, 'row %d' % i)
db.rollback()
c.executemany('INSERT INTO job VALUES (?, ?)', [(1, 'zwölf €'), (2, None)])
db.commit()
c.execute('SELECT id, t FROM job ORDER BY id')
print(c.description)
print([tuple(row) for row in c.fetchall()])
print([tuple(row)[2:6] for row in c.columns(table='job')])
for wrong in 'SELECT * FROM nowhere', 'SELEKT 1':
    try:
        c.execute(wrong)
    except pyodbc.Error as e:
        print(e.args)
for info in pyodbc.SQL_DRIVER_NAME, pyodbc.SQL_DBMS_NAME, pyodbc.SQL_DBMS_VER:
    print(db.getinfo(info))
db.rollback()
END
}

run_php() {
    php -r '
        $db = odbc_connect($argv[1], "", "");
        odbc_autocommit($db, false);
        $stmt = odbc_prepare($db, "INSERT INTO job VALUES (?, ?)");
        for ($i = 10; $i < 13; $i++) odbc_execute($stmt, [$i, "php $i"]);
        odbc_commit($db);
        odbc_result_all(odbc_exec($db, "SELECT * FROM job ORDER BY id"));
        if (!@odbc_exec($db, "SELECT * FROM nowhere"))
            echo odbc_error($db), odbc_errormsg($db), "\n";
        odbc_rollback($db);
    ' -- "$1"
}

run_perl() {
    perl -MDBI -e '
        my $db = DBI->connect("dbi:ODBC:$ARGV[0]", "", "",
            { RaiseError => 0, PrintError => 0, AutoCommit => 0 });
        $db->do("INSERT INTO job VALUES (?, ?)", {}, $_, "perl $_") for 20..22;
        $db->commit;
        my $rows = $db->selectall_arrayref("SELECT id, t FROM job ORDER BY id");
        print join("|", map { $_ // "NULL" } @$_), "\n" for @$rows;
        $db->do("SELECT * FROM nowhere") or print $db->state, $db->errstr, "\n";
        $db->do("DELETE FROM job");
        $db->commit;
        $db->disconnect;
    ' -- "$1"
}

# Before each, isql's job makes the table anew, and leaves it empty.
for client in isql pyodbc php perl; do
    if [ $client = php ] && ! php_has odbc; then
        skip "php prints the same" "it is not installed, or cannot load its module"
        continue
    fi
    run_isql "$1" >/dev/null 2>&1
    direct=$("run_$client" "$1" 2>&1; echo "ended with $?")
    run_isql "$1" >/dev/null 2>&1
    is "$client prints the same, $(echo "$direct" | wc -l) lines" \
        "$("run_$client" "$2" 2>&1; echo "ended with $?")" "$direct"
    has "$client does its job to the end" "$direct" '^ended with 0$'
done
tap_done
