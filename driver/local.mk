# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The driver. Everything but the exported functions is built once, as a library
# that the unit tests link as well; each exported name stays out of it, because
# a test program that defined SQLFetch would stand before the manager's.

include_HEADERS += driver/affinity_odbc.h

EXTRA_DIST += \
	driver/config.def \
	driver/config.h \
	driver/config_rows.h \
	driver/connstr.h \
	driver/diag.def \
	driver/diag.h \
	driver/driver.map \
	driver/driver.symbols \
	driver/entry_connect.h \
	driver/fleet.h \
	driver/fleet_group.h \
	driver/handle.h \
	driver/inifile.h \
	driver/inner.h \
	driver/inner_kind.h \
	driver/inner_pqopt.h \
	driver/keeper.h \
	driver/link.h \
	driver/link_call.h \
	driver/link_state.def \
	driver/lock.h \
	driver/place.h \
	driver/pool.h \
	driver/route.h \
	driver/route_bound.h \
	driver/route_datetime.h \
	driver/route_key.h \
	driver/route_literal.h \
	driver/route_map.h \
	driver/route_map_inside.h \
	driver/route_numeric.h \
	driver/route_pghash.h \
	driver/route_reason.def \
	driver/route_refusal.def \
	driver/route_type.h \
	driver/secret.h \
	driver/session.h \
	driver/surface.def \
	driver/surface.h \
	driver/text.h \
	driver/topology.h \
	driver/why.h \
	$(NULL)

noinst_LTLIBRARIES += driver/libcore.la
driver_libcore_la_CPPFLAGS = \
	$(AM_CPPFLAGS) \
	-DODBC_MODULE_DIR='"$(odbc_module_dir)"' \
	$(ODBCINST_CFLAGS) \
	$(INIPARSER_CFLAGS) \
	$(NULL)
driver_libcore_la_LIBADD = \
	$(ODBCINST_LIBS) \
	$(INIPARSER_LIBS) \
	$(NULL)
# From the top down; only files that exist.
driver_libcore_la_SOURCES = \
	driver/entry_attr.c \
	driver/entry_browse.c \
	driver/entry_cancel.c \
	driver/entry_connect.c \
	driver/entry_diag.c \
	driver/entry_env.c \
	driver/entry_forward.c \
	driver/entry_info.c \
	driver/handle.c \
	driver/route.c \
	driver/route_bound.c \
	driver/route_datetime.c \
	driver/route_key.c \
	driver/route_literal.c \
	driver/route_map.c \
	driver/route_map_find.c \
	driver/route_map_index.c \
	driver/route_map_merge.c \
	driver/route_numeric.c \
	driver/route_pghash.c \
	driver/route_type.c \
	driver/balance_proportional.c \
	driver/balance_random.c \
	driver/fleet.c \
	driver/fleet_list.c \
	driver/keeper_crew.c \
	driver/pool.c \
	driver/pool_job.c \
	driver/pool_login.c \
	driver/link.c \
	driver/link_query.c \
	driver/link_reset.c \
	driver/inner.c \
	driver/inner_pqopt.c \
	driver/inner_psqlodbc.c \
	driver/inner_unknown.c \
	driver/config.c \
	driver/config_instances.c \
	driver/config_rows.c \
	driver/config_text.c \
	driver/inifile.c \
	driver/connstr.c \
	driver/secret.c \
	driver/diag.c \
	driver/diag_field.c \
	driver/why.c \
	driver/text.c \
	driver/text_odbc.c \
	driver/lock.c \
	$(NULL)
