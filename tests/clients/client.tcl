# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# An ordinary program over tdbc::odbc; it knows nothing of odbc-affinity.
# usage: client.tcl CONNECTION-STRING CUSTOMER
package require tdbc::odbc
encoding system utf-8
fconfigure stdout -encoding utf-8
lassign $argv string customer

# Runs a statement with the variables of a dictionary, and shows what came.
proc run {sql {values {}}} {
    try {
        set statement [$::c prepare $sql]
        set results [$statement execute $values]
        puts "$sql: [$results rowcount] [$results columns]"
        foreach row [$results allrows -as lists] {
            puts "    $row"
        }
        $statement close
    } on error {message options} {
        puts "$sql: $message [lrange [dict get $options -errorcode] 0 2]"
    }
}

proc show {what rows} {
    puts $what
    foreach row $rows {
        puts "    $row"
    }
}

tdbc::odbc::connection create c $string
set c ::c
puts [lindex [c allrows -as lists {SHOW cluster_name}] 0 0]
show tables [dict keys [c tables pl%]]
foreach {name column} [c columns orders] {
    puts "$name $column"
}
show keys [c primarykeys devices_h00]
puts [c configure -isolation]
run {DELETE FROM plain}
c transaction {
    run {INSERT INTO plain VALUES (:id, :t)} {id 1 t one}
    run {INSERT INTO plain VALUES (:id, :t)} {id 2 t "zwölf €"}
    run {INSERT INTO plain VALUES (:id, :t)} {id 3}
}
c begintransaction
run {UPDATE plain SET t = :t WHERE id = :id} {id 1 t uno}
run {SELECT * FROM plain ORDER BY id}
c rollback
run {SELECT id, t, length(t) AS n FROM plain WHERE id > :id ORDER BY id} {id 0}
run {SELECT * FROM nowhere}
run {SELECT 1}
run {SELECT 1 / CAST(:nothing AS int)} {nothing 0}
set order [list customer $customer id 82 region eu amount 12.50 \
    placed "2026-05-06 07:08:09"]
set insert {INSERT INTO orders VALUES (:customer, :id, :region, :amount,
    :placed)}
run $insert $order
run $insert $order
run {SELECT * FROM orders WHERE customer_id = :customer} $order
run {DELETE FROM orders WHERE customer_id = :customer AND id = 82} $order
run "SELECT 2.5::float8, true, 'x'::char(3), date '2026-02-03', time '01:02:03',
    NULL::int, 12345678901234567890::numeric"
run {DELETE FROM plain}
c close
