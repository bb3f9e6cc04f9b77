# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# An address that the driver puts into the names of cursors.
s/CUR_0000[0-9A-F]*/CUR_ADDRESS/g
