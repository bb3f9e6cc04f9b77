#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# Makes configure and what it needs out of configure.ac; run from any folder.
set -e
cd "$(dirname "$0")"
exec autoreconf --force --install
