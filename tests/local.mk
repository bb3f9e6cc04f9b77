# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# make check runs what needs no database: the checks of the source tree and the
# unit tests. tests/run runs those and, on a sandbox, everything else.

EXTRA_DIST += \
	$(check_scripts) \
	$(integration_scripts) \
	tests/README.md \
	tests/asan.supp \
	tests/cmocka-tap \
	tests/tsan.supp \
	tests/run \
	tests/odbc_ini.py \
	tests/odbc_tap.py \
	tests/odbc_tsan.py \
	tests/own_sandbox.py \
	tests/clients/client-pdo.php \
	tests/clients/client.R \
	tests/clients/client.php \
	tests/clients/client.pl \
	tests/clients/client.py \
	tests/clients/client.rb \
	tests/clients/client.sql \
	tests/clients/client.tcl \
	tests/clients/inner.sh \
	tests/diff/masks-sqlite.sed \
	tests/diff/masks.sed \
	tests/storm/run \
	tests/tap.sh \
	tests/unit-route_map.h \
	tests/unit-route_parse.h \
	tests/unit-place.h \
	tests/unit-topology.h \
	tests/unit-yes.h \
	$(NULL)

check_scripts = \
	tests/check-build.sh \
	tests/check-columns.sh \
	tests/check-layers.sh \
	tests/check-onedoor.sh \
	tests/check-register.sh \
	tests/check-sample.sh \
	tests/check-style.sh \
	tests/check-symbols.sh \
	$(NULL)

# One cmocka program for each file of driver/ under test, one group in each.
unit_tests = \
	tests/entry-disk-test \
	tests/entry-fork-test \
	tests/entry-order-test \
	tests/entry-pooling-test \
	tests/entry-test \
	tests/surface-manager-test \
	tests/surface-test \
	tests/unit-balance \
	tests/unit-balance_fact \
	tests/unit-balance_rendezvous \
	tests/unit-command \
	tests/unit-command_likely \
	tests/unit-config \
	tests/unit-connstr \
	tests/unit-diag \
	tests/unit-event \
	tests/unit-fleet_drain \
	tests/unit-fleet_facts \
	tests/unit-fleet_group \
	tests/unit-fleet_state \
	tests/unit-inifile \
	tests/unit-inner \
	tests/unit-inner_kind \
	tests/unit-inner_pqopt \
	tests/unit-inner_psqlodbc \
	tests/unit-keeper \
	tests/unit-keeper_clock \
	tests/unit-link \
	tests/unit-link_error \
	tests/unit-link_note \
	tests/unit-link_probe \
	tests/unit-link_query \
	tests/unit-link_reset \
	tests/unit-link_socket \
	tests/unit-link_wait \
	tests/unit-lock \
	tests/unit-login_hung \
	tests/unit-metrics \
	tests/unit-place \
	tests/unit-place_model \
	tests/unit-pool \
	tests/unit-route \
	tests/unit-route_bound \
	tests/unit-route_datetime \
	tests/unit-route_key \
	tests/unit-route_literal \
	tests/unit-route_map \
	tests/unit-route_map_find \
	tests/unit-route_map_merge \
	tests/unit-route_map_random \
	tests/unit-route_map_walk \
	tests/unit-route_numeric \
	tests/unit-route_pghash \
	tests/unit-route_type \
	tests/unit-secret \
	tests/unit-session_attr \
	tests/unit-text \
	tests/unit-text_encoding \
	tests/unit-topology \
	tests/unit-topology_file \
	tests/unit-watch \
	tests/unit-watch_pool \
	tests/unit-watch_probe \
	tests/unit-watch_seek \
	$(NULL)

# Programs and scripts that need the sandbox; they print TAP.
integration_programs = \
	tests/attr-test \
	tests/cancel-test \
	tests/conform-argument-test \
	tests/conform-attr-test \
	tests/conform-command-test \
	tests/conform-connect-test \
	tests/conform-data-test \
	tests/conform-desc-test \
	tests/conform-diag-test \
	tests/conform-handle-test \
	tests/conform-info-test \
	tests/conform-large-test \
	tests/conform-record-test \
	tests/conform-state-test \
	tests/conform-text-test \
	tests/connect-test \
	tests/fault-test \
	tests/fork-test \
	tests/great-storm-test \
	tests/guest-test \
	tests/hang-test \
	tests/leak-test \
	tests/limits-test \
	tests/lost-test \
	tests/manager-kept-test \
	tests/manager-leak-test \
	tests/manager-test \
	tests/order-test \
	tests/standby-test \
	tests/storm-test \
	tests/switch-test \
	tests/warm-test \
	$(NULL)
integration_scripts = \
	tests/build-test.sh \
	tests/clients-test.sh \
	tests/command-test.py \
	tests/command-test.sh \
	tests/learn-test.py \
	tests/log-test.py \
	tests/mariadb-test.py \
	tests/metrics-test.py \
	tests/pool-test.py \
	tests/diff-test.sh \
	tests/drain-test.py \
	tests/exit-test.py \
	tests/file-test.py \
	tests/locale-test.sh \
	tests/manager-test.py \
	tests/route-truth-test.py \
	tests/routing-test.py \
	tests/sandbox-test.sh \
	tests/sqlite-test.py \
	tests/starting-test.py \
	tests/startup-test.py \
	tests/topology-test.py \
	tests/watch-test.py \
	$(NULL)

TESTS += $(check_scripts)
TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
LOG_COMPILER = $(SHELL) $(srcdir)/tests/cmocka-tap
AM_TESTS_ENVIRONMENT = \
	AFF_SRCDIR='$(abs_top_srcdir)'; \
	AFF_BUILDDIR='$(abs_top_builddir)'; \
	CMOCKA_MESSAGE_OUTPUT=TAP; \
	export AFF_SRCDIR AFF_BUILDDIR CMOCKA_MESSAGE_OUTPUT;

if TESTS_WANTED
TESTS += $(unit_tests)
check_PROGRAMS += $(unit_tests) $(integration_programs)
# the wrapper's side of route-truth-test.py
check_PROGRAMS += tests/route-truth
endif

# A unit test needs no more than its line above. An integration test is linked
# with the driver manager instead of the driver:
#   tests_storm_test_LDADD = $(integration_ldadd)
tests_great_storm_test_SOURCES = \
	tests/great-storm-test.c \
	tests/storm/ask.c \
	tests/storm/ask.h \
	tests/storm/blow.c \
	tests/storm/chronicle.c \
	tests/storm/chronicle.h \
	tests/storm/judge.c \
	tests/storm/judge.h \
	tests/storm/ledger.c \
	tests/storm/ledger.h \
	tests/storm/meddle.c \
	tests/storm/metronome.c \
	tests/storm/metronome.h \
	tests/storm/muster.c \
	tests/storm/muster.h \
	tests/storm/rider.c \
	tests/storm/rider.h \
	tests/storm/rule.c \
	tests/storm/rule.h \
	tests/storm/storm.c \
	tests/storm/storm.h \
	tests/storm/weather.c \
	tests/storm/weather.h \
	$(trouble) \
	$(NULL)
tests_great_storm_test_LDADD = $(integration_ldadd)
AM_CPPFLAGS += $(ODBC_CFLAGS) $(CMOCKA_CFLAGS)
LDADD = driver/libcore.la $(CMOCKA_LIBS)
integration_ldadd = $(ODBC_LIBS)
# A library for tests to load, never installed:
#   tests_libfake_la_LDFLAGS = $(loadable_ldflags)
loadable_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere

# The fake inner driver, the same without wide names, and the same by a name for
# which it is taken for psqlODBC (inner_kind_of()).
check_LTLIBRARIES += tests/libfake.la tests/libfakenarrow.la
check_LTLIBRARIES += tests/libpsqlodbcfake.la
fake_sources = \
	driver/connstr.c \
	driver/secret.c \
	driver/text.c \
	driver/text_odbc.c \
	tests/fake/fake.h \
	tests/fake/fake_driver.c \
	tests/fake/fake_handle.c \
	tests/fake/fake_inside.h \
	tests/fake/fake_stmt.c \
	$(NULL)
tests_libfake_la_SOURCES = $(fake_sources)
tests_libfake_la_CPPFLAGS = $(AM_CPPFLAGS)
tests_libfake_la_LDFLAGS = $(loadable_ldflags) -Wl,-Bsymbolic
tests_libfakenarrow_la_SOURCES = $(fake_sources)
tests_libfakenarrow_la_CPPFLAGS = $(AM_CPPFLAGS) -DFAKE_NARROW
tests_libfakenarrow_la_LDFLAGS = $(loadable_ldflags) -Wl,-Bsymbolic
tests_libpsqlodbcfake_la_SOURCES = $(fake_sources)
tests_libpsqlodbcfake_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DFAKE_LIBRARY='"libpsqlodbcfake.so"'
tests_libpsqlodbcfake_la_LDFLAGS = $(loadable_ldflags) -Wl,-Bsymbolic

tests_surface_test_SOURCES = \
	tests/surface-test.c \
	tests/fake/fake_use.c \
	tests/fake/fake_use.h \
	$(NULL)

# What C programs over the manager share.
odbc_tap = tests/odbc_tap.c tests/odbc_tap.h
# What tests of connecting share.
odbc_try = $(odbc_tap) tests/odbc_try.c tests/odbc_try.h
# Conformance: one program a subject, psqlODBC itself beside the wrapper.
conform = \
	tests/conform.c \
	tests/conform.h \
	tests/conform_deviations.c \
	tests/conform_state.c \
	$(odbc_tap) \
	$(NULL)
tests_conform_diag_test_SOURCES = tests/conform-diag-test.c $(conform)
tests_conform_diag_test_LDADD = $(integration_ldadd)
tests_conform_record_test_SOURCES = tests/conform-record-test.c $(conform)
tests_conform_record_test_LDADD = $(integration_ldadd)
tests_conform_handle_test_SOURCES = tests/conform-handle-test.c $(conform)
tests_conform_handle_test_LDADD = $(integration_ldadd)
tests_conform_info_test_SOURCES = tests/conform-info-test.c $(conform)
tests_conform_info_test_LDADD = $(integration_ldadd)
tests_conform_connect_test_SOURCES = tests/conform-connect-test.c $(conform)
tests_conform_connect_test_LDADD = $(integration_ldadd)
tests_conform_attr_test_SOURCES = tests/conform-attr-test.c $(conform)
tests_conform_attr_test_LDADD = $(integration_ldadd)
tests_conform_text_test_SOURCES = tests/conform-text-test.c $(conform)
tests_conform_text_test_LDADD = $(integration_ldadd)
tests_conform_state_test_SOURCES = tests/conform-state-test.c $(conform)
tests_conform_state_test_LDADD = $(integration_ldadd)
tests_conform_desc_test_SOURCES = tests/conform-desc-test.c $(conform)
tests_conform_desc_test_LDADD = $(integration_ldadd)
tests_conform_command_test_SOURCES = tests/conform-command-test.c $(conform)
tests_conform_command_test_LDADD = $(integration_ldadd)
tests_conform_large_test_SOURCES = tests/conform-large-test.c $(conform)
tests_conform_large_test_LDADD = $(integration_ldadd)
tests_conform_data_test_SOURCES = tests/conform-data-test.c $(conform)
tests_conform_data_test_LDADD = $(integration_ldadd)
tests_conform_argument_test_SOURCES = tests/conform-argument-test.c $(conform)
tests_conform_argument_test_LDADD = $(integration_ldadd)
tests_switch_test_SOURCES = tests/switch-test.c $(odbc_try)
tests_switch_test_LDADD = $(integration_ldadd)
# What tests of the manager's own pooling share.
manager = tests/manager.c tests/manager.h tests/odbc_try.c tests/odbc_try.h
tests_manager_test_SOURCES = tests/manager-test.c $(manager) $(odbc_tap)
tests_manager_kept_test_SOURCES = \
	tests/manager-kept-test.c \
	$(manager) \
	$(trouble) \
	$(NULL)
tests_manager_kept_test_LDADD = $(integration_ldadd)
tests_manager_test_LDADD = $(integration_ldadd)
tests_warm_test_SOURCES = tests/warm-test.c $(odbc_try)
tests_warm_test_LDADD = $(integration_ldadd)
tests_limits_test_SOURCES = tests/limits-test.c $(odbc_try)
tests_limits_test_LDADD = $(integration_ldadd)
tests_connect_test_SOURCES = tests/connect-test.c $(odbc_try)
tests_connect_test_LDADD = $(integration_ldadd)
tests_attr_test_SOURCES = tests/attr-test.c $(odbc_try)
tests_attr_test_LDADD = $(integration_ldadd)
tests_cancel_test_SOURCES = tests/cancel-test.c $(odbc_try)
tests_cancel_test_LDADD = $(integration_ldadd)
# What those share that break instances.
trouble = tests/trouble.c tests/trouble.h $(odbc_tap)
# And those on the sandbox of three instances.
expect = tests/expect.c tests/expect.h $(trouble)
tests_fault_test_SOURCES = tests/fault-test.c $(expect)
tests_fault_test_LDADD = $(integration_ldadd)
tests_fork_test_SOURCES = tests/fork-test.c $(trouble)
tests_fork_test_LDADD = $(integration_ldadd)
tests_guest_test_SOURCES = tests/guest-test.c $(trouble)
tests_guest_test_LDADD = $(integration_ldadd)
tests_hang_test_SOURCES = tests/hang-test.c $(expect)
tests_hang_test_LDADD = $(integration_ldadd)
tests_order_test_SOURCES = tests/order-test.c $(expect)
tests_order_test_LDADD = $(integration_ldadd)
tests_lost_test_SOURCES = tests/lost-test.c $(expect)
tests_lost_test_LDADD = $(integration_ldadd)
tests_standby_test_SOURCES = tests/standby-test.c $(expect)
tests_standby_test_LDADD = $(integration_ldadd)
tests_storm_test_SOURCES = tests/storm-test.c $(trouble)
tests_storm_test_LDADD = $(integration_ldadd)
# What one session may leave to the next.
leak_mess = tests/leak_mess.c tests/leak_mess.h $(odbc_tap)
leak = tests/leak.c tests/leak.h $(leak_mess)
tests_leak_test_SOURCES = tests/leak-test.c $(leak)
tests_leak_test_LDADD = $(integration_ldadd)
# What sqlite-test.py and mariadb-test.py run.
check_PROGRAMS += tests/leak-inner
tests_leak_inner_SOURCES = tests/leak-inner.c $(leak_mess)
tests_leak_inner_LDADD = $(integration_ldadd)
tests_manager_leak_test_SOURCES = \
	tests/manager-leak-test.c \
	tests/leak.c \
	tests/leak.h \
	tests/leak_mess.c \
	tests/leak_mess.h \
	$(odbc_try) \
	$(NULL)
tests_manager_leak_test_LDADD = $(integration_ldadd)
# What unit tests share that read ini files.
unit_folder = tests/unit_folder.c tests/unit_folder.h
tests_unit_event_SOURCES = tests/unit-event.c $(unit_folder)
tests_unit_metrics_SOURCES = tests/unit-metrics.c $(unit_folder)
tests_unit_config_SOURCES = tests/unit-config.c $(unit_folder)
tests_unit_inifile_SOURCES = tests/unit-inifile.c $(unit_folder)
tests_unit_inner_psqlodbc_SOURCES = tests/unit-inner_psqlodbc.c $(unit_folder)
tests_unit_session_attr_SOURCES = tests/unit-session_attr.c $(unit_folder)
tests_unit_inner_CPPFLAGS = $(driver_libcore_la_CPPFLAGS)
tests_unit_inner_SOURCES = \
	tests/unit-inner.c \
	tests/fake/fake_use.c \
	tests/fake/fake_use.h \
	$(NULL)
tests_entry_disk_test_SOURCES = \
	tests/entry-disk-test.c \
	tests/fake/fake_use.c \
	tests/fake/fake_use.h \
	$(NULL)
tests_entry_disk_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--export-dynamic
tests_entry_fork_test_SOURCES = \
	tests/entry-fork-test.c \
	tests/fake/fake_use.c \
	tests/fake/fake_use.h \
	$(NULL)
tests_entry_order_test_SOURCES = \
	tests/entry-order-test.c \
	tests/fake/fake_use.c \
	tests/fake/fake_use.h \
	$(NULL)
tests_entry_pooling_test_SOURCES = \
	tests/entry-pooling-test.c \
	tests/fake/fake_use.c \
	tests/fake/fake_use.h \
	$(NULL)
tests_entry_test_SOURCES = \
	tests/entry-test.c \
	tests/fake/fake_use.c \
	tests/fake/fake_use.h \
	$(NULL)
tests_surface_manager_test_SOURCES = \
	tests/surface-manager-test.c \
	tests/fake/fake_use.c \
	tests/fake/fake_use.h \
	$(NULL)
tests_surface_manager_test_LDADD = driver/libcore.la $(ODBC_LIBS)

# The keeper's clock is the test's; sqrt() judges a distribution.
skew = tests/skew.c tests/skew.h
skew_ldflags = $(AM_LDFLAGS) -Wl,--wrap=clock_ns,--wrap=cond_wait
tests_unit_keeper_SOURCES = tests/unit-keeper.c $(skew)
tests_unit_keeper_LDFLAGS = $(skew_ldflags)
tests_unit_keeper_clock_SOURCES = tests/unit-keeper_clock.c $(skew)
tests_unit_keeper_clock_LDFLAGS = $(skew_ldflags)
tests_unit_balance_LDADD = $(LDADD) -lm
tests_unit_balance_rendezvous_LDADD = $(LDADD) -lm

# On threads that take turns, above an inner driver inside the program.
tests_unit_place_SOURCES = \
	tests/unit-place.c \
	tests/pretend.c \
	tests/pretend.h \
	tests/sim.c \
	tests/sim.h \
	$(NULL)
tests_unit_place_model_SOURCES = \
	tests/unit-place_model.c \
	tests/pretend.c \
	tests/pretend.h \
	tests/sim.c \
	tests/sim.h \
	$(NULL)
sim_ldflags = \
	$(AM_LDFLAGS) \
	-Wl,--wrap=clock_ns,--wrap=cond_wait \
	-Wl,--wrap=cond_signal,--wrap=cond_broadcast \
	$(NULL)
tests_unit_place_LDFLAGS = \
	$(sim_ldflags) \
	-Wl,--wrap=lock_stripe,--wrap=route_choose \
	$(NULL)
tests_unit_place_model_LDFLAGS = \
	$(sim_ldflags) \
	-Wl,--wrap=lock_stripe,--wrap=route_choose \
	$(NULL)
tests_unit_watch_SOURCES = \
	tests/unit-watch.c \
	tests/pretend.c \
	tests/pretend.h \
	tests/sim.c \
	tests/sim.h \
	$(NULL)
tests_unit_watch_LDFLAGS = $(sim_ldflags) -Wl,--wrap=fleet_all,--wrap=login_all
# The same, with the rounds of one duty.
rounds = \
	tests/pretend.c \
	tests/pretend.h \
	tests/rounds.c \
	tests/rounds.h \
	tests/sim.c \
	tests/sim.h \
	$(NULL)
rounds_ldflags = $(sim_ldflags) -Wl,--wrap=login_all
tests_unit_login_hung_SOURCES = tests/unit-login_hung.c $(rounds)
tests_unit_login_hung_LDFLAGS = $(rounds_ldflags)
tests_unit_watch_probe_SOURCES = tests/unit-watch_probe.c $(rounds)
tests_unit_watch_probe_LDFLAGS = $(rounds_ldflags)
tests_unit_watch_seek_SOURCES = tests/unit-watch_seek.c $(rounds)
tests_unit_watch_seek_LDFLAGS = $(rounds_ldflags)
tests_unit_watch_pool_SOURCES = tests/unit-watch_pool.c $(rounds)
tests_unit_watch_pool_LDFLAGS = $(rounds_ldflags)
tests_unit_fleet_facts_SOURCES = \
	tests/unit-fleet_facts.c \
	tests/sim.c \
	tests/sim.h \
	$(NULL)
tests_unit_fleet_facts_LDFLAGS = $(sim_ldflags)
tests_unit_pool_SOURCES = \
	tests/unit-pool.c \
	tests/pretend.c \
	tests/pretend.h \
	$(NULL)
tests_unit_pool_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=secret_dup
# Says RESUME while it is being drained.
tests_unit_fleet_drain_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fleet_set_drained
# Has no memory for a text.
tests_unit_link_query_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=text_append
# Looks while an answer is let go of.
tests_unit_topology_LDFLAGS = \
	$(AM_LDFLAGS) \
	-Wl,--wrap=topology_reply_release \
	$(NULL)

# The differential harness, which diff-test.sh runs.
check_PROGRAMS += tests/diff/differ
tests_diff_differ_SOURCES = \
	tests/diff/atexec.c \
	tests/diff/attrs.c \
	tests/diff/bind.c \
	tests/diff/bulk.c \
	tests/diff/cancel.c \
	tests/diff/catalog.c \
	tests/diff/connect.c \
	tests/diff/crossed.c \
	tests/diff/cursors.c \
	tests/diff/desc.c \
	tests/diff/diag.c \
	tests/diff/empty.c \
	tests/diff/dialect.c \
	tests/diff/dialect.h \
	tests/diff/dialect_mariadb.c \
	tests/diff/dialect_sqlite.c \
	tests/diff/diff.h \
	tests/diff/differ.c \
	tests/diff/escapes.c \
	tests/diff/fuzz.c \
	tests/diff/getdata.c \
	tests/diff/handle.c \
	tests/diff/info.c \
	tests/diff/leavings.c \
	tests/diff/params.c \
	tests/diff/paramsets.c \
	tests/diff/results.c \
	tests/diff/say.c \
	tests/diff/show.c \
	tests/diff/spoil.c \
	tests/diff/subjects.c \
	tests/diff/subjects.def \
	tests/diff/txn.c \
	tests/diff/wide.c \
	$(NULL)
tests_diff_differ_LDADD = $(integration_ldadd)
