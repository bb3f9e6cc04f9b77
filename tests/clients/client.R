# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# An ordinary program over RODBC; it knows nothing of odbc-affinity.
# usage: client.R CONNECTION-STRING CUSTOMER
suppressMessages(library(RODBC))
options(width = 200)
arguments <- commandArgs(trailingOnly = TRUE)
customer <- arguments[2]

show <- function(what, result) {
    cat(what, "\n")
    print(result)
}

run <- function(sql) {
    show(sql, sqlQuery(c, sql, errors = TRUE, stringsAsFactors = FALSE))
}

c <- odbcDriverConnect(arguments[1], believeNRows = FALSE)
cat(sqlQuery(c, "SHOW cluster_name")[1, 1], "\n")
information <- odbcGetInfo(c)
show("information", information[names(information) != "Data_Source_Name"])
tables <- sqlTables(c, schema = "public", tableName = "pl%")
show("tables", tables)
show("columns", sqlColumns(c, "public.orders")[, 1:12])
show("keys", sqlPrimaryKeys(c, "public.devices_h00")[, 1:5])
show("types", sqlTypeInfo(c)[, 1:3])
run("DELETE FROM plain")
odbcSetAutoCommit(c, FALSE)
run("INSERT INTO plain VALUES (1, 'one'), (2, 'zwölf €'), (3, NULL)")
odbcEndTran(c, TRUE)
run("UPDATE plain SET t = 'uno' WHERE id = 1")
run("SELECT * FROM plain ORDER BY id")
odbcEndTran(c, FALSE)
run("SELECT id, t, length(t) AS n FROM plain WHERE id > 0 ORDER BY id")
run("SELECT * FROM nowhere")
run("SELECT 1")
odbcEndTran(c, FALSE)
run("SELECT 1 / 0")
odbcEndTran(c, FALSE)
odbcSetAutoCommit(c, TRUE)
# a data frame by parameters, row by row
show("saved", sqlSave(c, data.frame(id = 4:6, t = base::c("four", NA, "fünf")),
                      "plain", append = TRUE, rownames = FALSE))
show("fetched", sqlFetch(c, "plain", sqtable = "plain"))
run(paste0("INSERT INTO orders VALUES (", customer,
           ", 83, 'eu', 12.50, '2026-05-06 07:08:09')"))
run(paste0("INSERT INTO orders VALUES (", customer,
           ", 83, 'eu', 12.50, '2026-05-06 07:08:09')"))
run(paste("SELECT * FROM orders WHERE customer_id =", customer))
run(paste("DELETE FROM orders WHERE id = 83 AND customer_id =", customer))
run(paste("SELECT 2.5::float8, true, 'x'::char(3), date '2026-02-03',",
          "time '01:02:03', NULL::int, 12345678901234567890::numeric"))
run("DELETE FROM plain")
odbcClose(c)
