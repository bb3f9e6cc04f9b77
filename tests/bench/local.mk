# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# The programs of tests/bench/run; no other target builds them.

EXTRA_DIST += \
	tests/bench/README.md \
	tests/bench/packages \
	tests/bench/plots/connect-select.svg \
	tests/bench/plots/connect.svg \
	tests/bench/plots/rows.svg \
	tests/bench/report.py \
	tests/bench/rows.py \
	tests/bench/run \
	$(NULL)

bench_programs = \
	tests/bench/calls \
	tests/bench/checkout \
	tests/bench/connect \
	tests/bench/failover \
	tests/bench/memory \
	tests/bench/rows \
	tests/bench/start \
	tests/bench/verdict \
	tests/bench/watch \
	$(NULL)
EXTRA_PROGRAMS = $(bench_programs)
EXTRA_LTLIBRARIES = tests/bench/libnothing.la tests/bench/libslow.la

bench-programs: $(bench_programs) $(EXTRA_LTLIBRARIES)
.PHONY: bench-programs

bench = tests/bench/bench.c tests/bench/bench.h $(odbc_tap)
below = tests/bench/below.c tests/bench/below.h
tests_bench_calls_SOURCES = tests/bench/calls.c $(bench)
tests_bench_calls_LDADD = $(integration_ldadd)
tests_bench_checkout_SOURCES = tests/bench/checkout.c $(bench) $(below)
tests_bench_checkout_LDADD = $(integration_ldadd)
tests_bench_connect_SOURCES = tests/bench/connect.c $(bench)
tests_bench_connect_LDADD = $(integration_ldadd)
tests_bench_failover_SOURCES = \
	tests/bench/failover.c \
	tests/bench/bench.c \
	tests/bench/bench.h \
	$(trouble) \
	$(NULL)
tests_bench_failover_LDADD = $(integration_ldadd)
tests_bench_memory_SOURCES = tests/bench/memory.c $(bench) $(below)
tests_bench_memory_LDADD = $(integration_ldadd)
tests_bench_rows_SOURCES = tests/bench/rows.c $(bench)
tests_bench_rows_LDADD = $(integration_ldadd)
tests_bench_start_SOURCES = tests/bench/start.c $(bench)
tests_bench_start_LDADD = $(integration_ldadd)
tests_bench_verdict_SOURCES = tests/bench/verdict.c $(bench)
tests_bench_verdict_LDADD = driver/libcore.la $(integration_ldadd)
tests_bench_watch_SOURCES = tests/bench/watch.c $(bench)
tests_bench_watch_LDADD = $(integration_ldadd)

# Under the conditions of ours: the same names, found in the same way, and
# linked with libc, though it hardly needs it, and nothing else.
tests_bench_libnothing_la_SOURCES = \
	tests/bench/nothing.c \
	tests/bench/nothing_answers.c \
	$(NULL)
tests_bench_libnothing_la_LDFLAGS = \
	$(loadable_ldflags) \
	$(AFF_MODULE_LDFLAGS) \
	-Wl,--no-as-needed \
	$(NULL)
tests_bench_libslow_la_SOURCES = \
	tests/bench/slow.c \
	$(tests_bench_libnothing_la_SOURCES) \
	$(NULL)
tests_bench_libslow_la_LDFLAGS = $(tests_bench_libnothing_la_LDFLAGS)
