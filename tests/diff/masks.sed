# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The masks: what may differ between the inner driver's data source and ours,
# each with its reason. Everything else is compared byte for byte.

# An address that psqlODBC puts into the names of plans, cursors and
# savepoints: another process, another place.
s/\(SQL_CUR\|_PLAN\|_EXEC_SVP_\)0x[0-9a-f]*/\1ADDRESS/g

# The data source's name, which the manager puts into the field
# SQL_DIAG_SERVER_NAME (11) of every record: it is how they are told apart.
s/ 11:0,[0-9]*"@DSN@"/ 11:DSN/

# The same in a wide program over a driver without wide functions: the manager
# tells the length of that name, and no name.
s/ 11:0,[0-9]*"\(\\00\)*"/ 11:DSN/
