<?php
// SPDX-FileCopyrightText: odbc-affinity contributors
// SPDX-License-Identifier: Apache-2.0
//
// An ordinary program over PDO; it knows nothing of odbc-affinity.
// usage: client-pdo.php CONNECTION-STRING CUSTOMER
[, $string, $customer] = $argv;

function show($what, $statement)
{
    echo "$what\n";
    foreach ($statement->fetchAll(PDO::FETCH_ASSOC) as $row) {
        echo '    ', json_encode($row, JSON_UNESCAPED_UNICODE), "\n";
    }
}

function run($c, $sql, ...$parameters)
{
    try {
        $statement = $c->prepare($sql);
        $statement->execute($parameters);
        return $statement;
    } catch (PDOException $e) {
        echo $e->getCode(), ' ', $e->getMessage(), "\n";
        return null;
    }
}

$c = new PDO('odbc:' . $string, 'app', getenv('AFFINITY_SANDBOX_PASSWORD'));
$c->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
echo run($c, 'SHOW cluster_name')->fetchColumn(), "\n";
run($c, 'DELETE FROM plain');
$c->beginTransaction();
foreach ([[1, 'one'], [2, 'zwölf €'], [3, null]] as [$id, $t]) {
    echo run($c, 'INSERT INTO plain VALUES (?, ?)', $id, $t)->rowCount(), "\n";
}
$c->commit();
$c->beginTransaction();
run($c, 'UPDATE plain SET t = ? WHERE id = ?', 'uno', 1);
show('in the transaction', run($c, 'SELECT * FROM plain ORDER BY id'));
$c->rollBack();
$statement = run($c, 'SELECT id, t, length(t) AS n FROM plain WHERE id > ? '
                 . 'ORDER BY id', 0);
show('rolled back', $statement);
run($c, 'SELECT * FROM nowhere');
run($c, 'SELECT 1 / ?::int', 0);
$order = [$customer, 79, 'eu', '12.50', '2026-05-06 07:08:09'];
run($c, 'INSERT INTO orders VALUES (?, ?, ?, ?, ?)', ...$order);
run($c, 'INSERT INTO orders VALUES (?, ?, ?, ?, ?)', ...$order);
show('orders', run($c, 'SELECT * FROM orders WHERE customer_id = ?',
                   $customer));
echo run($c, 'DELETE FROM orders WHERE customer_id = ? AND id = 79',
         $customer)->rowCount(), "\n";
echo run($c, 'DELETE FROM plain')->rowCount(), "\n";
