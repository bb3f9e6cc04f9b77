# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# An ordinary program over DBI; it knows nothing of odbc-affinity.
# usage: client.pl CONNECTION-STRING CUSTOMER
use strict;
use warnings;
use DBI;

my ($string, $customer) = @ARGV;

sub text {
    return join ', ', map { defined $_ ? "'$_'" : 'NULL' } @_;
}

sub show {
    my ($what, $statement) = @_;
    print "$what\n";
    return unless $statement;
    print '    ', text(@{ $statement->{NAME} }), "\n";
    while (my @row = $statement->fetchrow_array) {
        print '    ', text(@row), "\n";
    }
}

my $c = DBI->connect("dbi:ODBC:$string", 'app',
                     $ENV{AFFINITY_SANDBOX_PASSWORD},
                     { RaiseError => 0, PrintError => 0, AutoCommit => 1 })
    or die "$DBI::state $DBI::errstr\n";

sub run {
    my ($sql, @parameters) = @_;
    my $statement = $c->prepare($sql);
    my $count = $statement && $statement->execute(@parameters);
    if (!defined $count) {
        print $c->state, ' ', $c->err, ' ', $c->errstr, "\n";
        return;
    }
    return $statement;
}

print $c->selectrow_array('SHOW cluster_name'), "\n";
print text(map { $c->get_info($_) } 6, 17, 18, 47), "\n";
show('tables', $c->table_info(undef, 'public', 'pl%', 'TABLE'));
show('columns', $c->column_info(undef, 'public', 'orders', '%'));
show('keys', $c->primary_key_info(undef, 'public', 'devices_h00'));
run('DELETE FROM plain');
$c->{AutoCommit} = 0;
for my $row ([1, 'one'], [2, 'zwölf €'], [3, undef]) {
    print run('INSERT INTO plain VALUES (?, ?)', @$row)->rows, "\n";
}
$c->commit;
run('UPDATE plain SET t = ? WHERE id = ?', 'uno', 1);
show('in the transaction', run('SELECT * FROM plain ORDER BY id'));
$c->rollback;
my $statement = run('SELECT id, t, length(t) AS n FROM plain WHERE id > ? '
                    . 'ORDER BY id', 0);
print text(@{ $statement->{TYPE} }), '; ', text(@{ $statement->{PRECISION} }),
    "\n";
show('rolled back', $statement);
run('SELECT * FROM nowhere');
run('SELECT 1');
$c->rollback;
run('SELECT 1 / CAST(? AS int)', 0);
$c->rollback;
my @order = ($customer, 80, 'eu', '12.50', '2026-05-06 07:08:09');
run('INSERT INTO orders VALUES (?, ?, ?, ?, ?)', @order);
run('INSERT INTO orders VALUES (?, ?, ?, ?, ?)', @order);
$c->rollback;
run('INSERT INTO orders VALUES (?, ?, ?, ?, ?)', @order);
$c->commit;
show('orders', run('SELECT * FROM orders WHERE customer_id = ?', $customer));
print run('DELETE FROM orders WHERE customer_id = ? AND id = 80',
          $customer)->rows, "\n";
$c->commit;
$c->{AutoCommit} = 1;
print run('DELETE FROM plain')->rows, "\n";
$c->disconnect;
