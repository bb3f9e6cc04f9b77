# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The driver. Everything but the exported functions is built once, as a library
# that the unit tests link as well; each exported name stays out of it, because
# a test program that defined SQLFetch would stand before the manager's.

include_HEADERS += driver/affinity_odbc.h

EXTRA_DIST += \
	driver/driver.map \
	driver/driver.symbols \
	$(NULL)

noinst_LTLIBRARIES += driver/libcore.la
driver_libcore_la_CPPFLAGS = \
	$(AM_CPPFLAGS) \
	-DODBC_MODULE_DIR='"$(odbc_module_dir)"' \
	$(ODBC_CFLAGS) \
	$(ODBCINST_CFLAGS) \
	$(INIPARSER_CFLAGS) \
	$(NULL)
driver_libcore_la_LIBADD = \
	$(ODBCINST_LIBS) \
	$(INIPARSER_LIBS) \
	$(NULL)
# From the top down; only files that exist.
driver_libcore_la_SOURCES = \
	driver/lock.c \
	$(NULL)

# The two drivers come from the same sources: the second exports no wide name,
# for inner drivers that have none. The manager chooses by what is exported.
driver_module_ldflags = \
	$(AM_LDFLAGS) \
	$(AFF_MODULE_LDFLAGS) \
	-module -avoid-version -shared \
	$(NULL)
if VERSION_SCRIPT
driver_module_ldflags += -Wl,--version-script=$(srcdir)/driver/driver.map
else
driver_module_ldflags += -export-symbols-regex ^SQL
endif
driver_module_deps = driver/libcore.la driver/driver.map
