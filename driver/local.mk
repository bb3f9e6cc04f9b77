# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The driver. Everything but the exported functions is built once, as a library
# that the unit tests link as well; each exported name stays out of it, because
# a test program that defined SQLFetch would stand before the manager's.

include_HEADERS += driver/affinity_odbc.h

EXTRA_DIST += \
	driver/balance.h \
	driver/balance_fact.h \
	driver/balance_rendezvous.h \
	driver/command.def \
	driver/command.h \
	driver/command_answer.h \
	driver/command_facts.h \
	driver/command_likely.h \
	driver/command_show.h \
	driver/command_token.h \
	driver/config.def \
	driver/config.h \
	driver/config_rows.h \
	driver/connstr.h \
	driver/diag.def \
	driver/diag.h \
	driver/diag_inside.h \
	driver/driver.map \
	driver/driver.symbols \
	driver/entry_connect.h \
	driver/entry_hot.h \
	driver/entry_pooling.h \
	driver/environment.h \
	driver/event.h \
	driver/fleet.h \
	driver/fleet_balance.h \
	driver/fleet_disk.h \
	driver/fleet_drain.h \
	driver/fleet_facts.h \
	driver/fleet_file.h \
	driver/fleet_group.h \
	driver/fleet_key.h \
	driver/fleet_log.h \
	driver/fleet_probe.h \
	driver/fleet_state.h \
	driver/handle.h \
	driver/inifile.h \
	driver/inifile_inside.h \
	driver/inner.h \
	driver/inner_kind.h \
	driver/inner_pqopt.h \
	driver/inner_psqlodbc.h \
	driver/inner_sql.h \
	driver/keeper.h \
	driver/keeper_clock.h \
	driver/keeper_thread.h \
	driver/library.h \
	driver/link.h \
	driver/link_call.h \
	driver/link_note.h \
	driver/link_probe.h \
	driver/link_socket.h \
	driver/link_wait.h \
	driver/link_state.def \
	driver/lock.h \
	driver/log.h \
	driver/login.h \
	driver/metrics.h \
	driver/place.h \
	driver/place_unit.h \
	driver/pool.h \
	driver/pool_exit.h \
	driver/pool_inside.h \
	driver/pool_job.h \
	driver/pool_shelf.h \
	driver/pool_stat.def \
	driver/pool_stat.h \
	driver/route.h \
	driver/route_able.h \
	driver/route_bound.h \
	driver/route_datetime.h \
	driver/route_key.h \
	driver/route_literal.h \
	driver/route_map.h \
	driver/route_map_index.h \
	driver/route_map_inside.h \
	driver/route_numeric.h \
	driver/route_pghash.h \
	driver/route_reason.def \
	driver/route_refusal.def \
	driver/route_type.h \
	driver/secret.h \
	driver/session.h \
	driver/session_attr.h \
	driver/session_inside.h \
	driver/surface.def \
	driver/surface.h \
	driver/text.h \
	driver/text_encoding.h \
	driver/topology.h \
	driver/topology_file.h \
	driver/topology_file_ini.h \
	driver/topology_file_scan.h \
	driver/topology_inside.h \
	driver/topology_reply.h \
	driver/topology_resolve.h \
	driver/topology_rows.h \
	driver/topology_trial.h \
	driver/watch.h \
	driver/watch_metrics.h \
	driver/why.h \
	$(NULL)

noinst_LTLIBRARIES += driver/libcore.la
driver_libcore_la_CPPFLAGS = \
	$(AM_CPPFLAGS) \
	-DODBC_MODULE_DIR='"$(odbc_module_dir)"' \
	$(ODBCINST_CFLAGS) \
	$(INIPARSER_CFLAGS) \
	$(NULL)
# By layer; only files that exist. (HACKING.md has the layers from the top down.)
driver_libcore_la_SOURCES = \
	driver/entry_attr.c \
	driver/entry_browse.c \
	driver/entry_cancel.c \
	driver/entry_connect.c \
	driver/entry_diag.c \
	driver/entry_env.c \
	driver/entry_exec.c \
	driver/entry_forward.c \
	driver/entry_handle.c \
	driver/entry_info.c \
	driver/entry_pooling.c \
	driver/entry_stmt.c \
	driver/handle.c \
	driver/session.c \
	driver/session_attr.c \
	driver/session_link.c \
	driver/command.c \
	driver/command_answer.c \
	driver/command_change.c \
	driver/command_explain.c \
	driver/command_facts.c \
	driver/command_likely.c \
	driver/command_parse.c \
	driver/command_show.c \
	driver/command_show_events.c \
	driver/command_show_stats.c \
	driver/command_token.c \
	driver/watch.c \
	driver/watch_file.c \
	driver/watch_learn.c \
	driver/watch_links.c \
	driver/watch_metrics.c \
	driver/watch_metrics_text.c \
	driver/watch_pool.c \
	driver/watch_probe.c \
	driver/watch_seek.c \
	driver/place.c \
	driver/place_ask.c \
	driver/place_count.c \
	driver/place_report.c \
	driver/place_say.c \
	driver/place_time.c \
	driver/login.c \
	driver/login_hung.c \
	driver/login_life.c \
	driver/login_limit.c \
	driver/pool.c \
	driver/pool_cancel.c \
	driver/pool_exit.c \
	driver/pool_job.c \
	driver/pool_order.c \
	driver/pool_probe.c \
	driver/pool_shelf.c \
	driver/pool_stat.c \
	driver/fleet.c \
	driver/fleet_balance.c \
	driver/fleet_disk.c \
	driver/fleet_drain.c \
	driver/fleet_facts.c \
	driver/fleet_file.c \
	driver/fleet_group.c \
	driver/fleet_key.c \
	driver/fleet_list.c \
	driver/fleet_log.c \
	driver/fleet_probe.c \
	driver/fleet_state.c \
	driver/topology.c \
	driver/topology_change.c \
	driver/topology_file.c \
	driver/topology_file_ini.c \
	driver/topology_file_scan.c \
	driver/topology_find.c \
	driver/topology_fingerprint.c \
	driver/topology_hash.c \
	driver/topology_map.c \
	driver/topology_next.c \
	driver/topology_partitions.c \
	driver/topology_query.c \
	driver/topology_reply.c \
	driver/topology_resolve.c \
	driver/topology_resolve_sql.c \
	driver/topology_rows.c \
	driver/topology_say.c \
	driver/topology_server.c \
	driver/topology_sql.c \
	driver/topology_trial.c \
	driver/route.c \
	driver/route_able.c \
	driver/route_bound.c \
	driver/route_datetime.c \
	driver/route_key.c \
	driver/route_literal.c \
	driver/route_map.c \
	driver/route_map_find.c \
	driver/route_map_hashed.c \
	driver/route_map_index.c \
	driver/route_map_merge.c \
	driver/route_map_path.c \
	driver/route_map_search.c \
	driver/route_map_settle.c \
	driver/route_map_sorted.c \
	driver/route_map_sum.c \
	driver/route_map_walk.c \
	driver/route_numeric.c \
	driver/route_pghash.c \
	driver/route_type.c \
	driver/balance_adaptive.c \
	driver/balance_adaptive_failover.c \
	driver/balance_draw.c \
	driver/balance_fact.c \
	driver/balance_failover.c \
	driver/balance_fastest.c \
	driver/balance_operational.c \
	driver/balance_proportional.c \
	driver/balance_random.c \
	driver/balance_rendezvous.c \
	driver/balance_saturation.c \
	driver/event.c \
	driver/keeper_clock.c \
	driver/keeper_crew.c \
	driver/keeper_thread.c \
	driver/link.c \
	driver/link_error.c \
	driver/link_note.c \
	driver/link_probe.c \
	driver/link_query.c \
	driver/link_reset.c \
	driver/link_socket.c \
	driver/link_wait.c \
	driver/inner.c \
	driver/inner_kind.c \
	driver/inner_mariadb.c \
	driver/inner_pqopt.c \
	driver/inner_psqlodbc.c \
	driver/inner_psqlodbc_encoding.c \
	driver/inner_psqlodbc_sql.c \
	driver/inner_say.c \
	driver/inner_sql.c \
	driver/inner_sqlite.c \
	driver/inner_unknown.c \
	driver/config.c \
	driver/config_instances.c \
	driver/config_rows.c \
	driver/config_text.c \
	driver/inifile.c \
	driver/environment.c \
	driver/inifile_section.c \
	driver/connstr.c \
	driver/secret.c \
	driver/diag.c \
	driver/diag_copy.c \
	driver/diag_field.c \
	driver/log.c \
	driver/metrics.c \
	driver/why.c \
	driver/text.c \
	driver/text_encoding.c \
	driver/text_odbc.c \
	driver/library.c \
	driver/lock.c \
	$(NULL)

# The two drivers come from the same sources: the second exports no wide name,
# for inner drivers that have none. The manager chooses by what is exported.
odbc_LTLIBRARIES += driver/libodbcaffinity.la driver/libodbcaffinitya.la
surface_sources = \
	driver/surface.c \
	$(NULL)
module_ldflags = \
	$(AM_LDFLAGS) \
	$(AFF_MODULE_LDFLAGS) \
	-module -avoid-version -shared -no-undefined \
	$(NULL)
if VERSION_SCRIPT
module_ldflags += -Wl,--version-script=$(srcdir)/driver/driver.map
else
module_ldflags += -export-symbols-regex ^SQL
endif

driver_libodbcaffinity_la_SOURCES = $(surface_sources)
driver_libodbcaffinity_la_CPPFLAGS = $(driver_libcore_la_CPPFLAGS)
driver_libodbcaffinity_la_LDFLAGS = $(module_ldflags)
driver_libodbcaffinity_la_LIBADD = driver/libcore.la
EXTRA_driver_libodbcaffinity_la_DEPENDENCIES = driver/driver.map

driver_libodbcaffinitya_la_SOURCES = $(surface_sources)
driver_libodbcaffinitya_la_CPPFLAGS = \
	$(driver_libcore_la_CPPFLAGS) \
	-DAFF_ANSI_ONLY \
	$(NULL)
driver_libodbcaffinitya_la_LDFLAGS = $(module_ldflags)
driver_libodbcaffinitya_la_LIBADD = driver/libcore.la
EXTRA_driver_libodbcaffinitya_la_DEPENDENCIES = driver/driver.map

# The manager loads the .so itself; a .la beside it would only be in the way.
INSTALL_HOOKS += remove-la
remove-la:
	$(AM_V_at)rm -f '$(DESTDIR)$(odbcdir)/libodbcaffinity.la' \
	  '$(DESTDIR)$(odbcdir)/libodbcaffinitya.la'
UNINSTALL_HOOKS += remove-so
remove-so:
	$(AM_V_at)rm -f '$(DESTDIR)$(odbcdir)/libodbcaffinity.so' \
	  '$(DESTDIR)$(odbcdir)/libodbcaffinitya.so'
.PHONY: remove-la remove-so
