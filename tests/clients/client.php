<?php
// SPDX-FileCopyrightText: odbc-affinity contributors
// SPDX-License-Identifier: Apache-2.0
//
// An ordinary program over PHP's odbc_ functions; it knows nothing of
// odbc-affinity. usage: client.php CONNECTION-STRING CUSTOMER
[, $string, $customer] = $argv;

function show($what, $result)
{
    echo "$what\n";
    if (!$result) {
        echo "    none\n";
        return;
    }
    while ($row = odbc_fetch_array($result)) {
        echo '    ', json_encode($row, JSON_UNESCAPED_UNICODE), "\n";
    }
}

function run($c, $sql, ...$parameters)
{
    $statement = odbc_prepare($c, $sql);
    if (!$statement || !@odbc_execute($statement, $parameters)) {
        echo odbc_error($c), ' ', odbc_errormsg($c), "\n";
        return false;
    }
    return $statement;
}

$c = odbc_connect($string, 'app', getenv('AFFINITY_SANDBOX_PASSWORD'));
if (!$c) {
    exit(odbc_error() . ' ' . odbc_errormsg() . "\n");
}
echo odbc_result(odbc_exec($c, 'SHOW cluster_name'), 1), "\n";
show('tables', odbc_tables($c, null, 'public', 'pl%', 'TABLE'));
show('columns', odbc_columns($c, null, 'public', 'orders', '%'));
show('keys', odbc_primarykeys($c, '', 'public', 'devices_h00'));

odbc_exec($c, 'DELETE FROM plain');
odbc_autocommit($c, false);
foreach ([[1, 'one'], [2, 'zwölf €'], [3, null]] as [$id, $t]) {
    echo odbc_num_rows(run($c, 'INSERT INTO plain VALUES (?, ?)', $id, $t)),
        "\n";
}
odbc_commit($c);
run($c, 'UPDATE plain SET t = ? WHERE id = ?', 'uno', 1);
show('in the transaction', odbc_exec($c, 'SELECT * FROM plain ORDER BY id'));
odbc_rollback($c);
$result = run($c, 'SELECT id, t, length(t) AS n FROM plain WHERE id > ? '
              . 'ORDER BY id', 0);
for ($i = 1; $i <= odbc_num_fields($result); $i++) {
    echo odbc_field_name($result, $i), ' ', odbc_field_type($result, $i), ' ',
        odbc_field_len($result, $i), "\n";
}
show('rolled back', $result);
run($c, 'SELECT * FROM nowhere');
run($c, 'SELECT 1');
odbc_rollback($c);
run($c, 'SELECT 1 / ?::int', 0);
odbc_rollback($c);
$order = [$customer, 78, 'eu', '12.50', '2026-05-06 07:08:09'];
run($c, 'INSERT INTO orders VALUES (?, ?, ?, ?, ?)', ...$order);
run($c, 'INSERT INTO orders VALUES (?, ?, ?, ?, ?)', ...$order);
odbc_rollback($c);
run($c, 'INSERT INTO orders VALUES (?, ?, ?, ?, ?)', ...$order);
odbc_commit($c);
show('orders', run($c, 'SELECT * FROM orders WHERE customer_id = ?',
                   $customer));
echo odbc_num_rows(run($c, 'DELETE FROM orders WHERE customer_id = ? AND '
                       . 'id = 78', $customer)), "\n";
odbc_commit($c);
odbc_autocommit($c, true);
echo odbc_num_rows(odbc_exec($c, 'DELETE FROM plain')), "\n";
odbc_close($c);
