# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# make check runs what needs no database: the checks of the source tree and the
# unit tests. tests/run runs those and, on a sandbox, everything else.

EXTRA_DIST += \
	tests/README.md \
	tests/run \
	tests/tap.sh \
	$(check_scripts) \
	$(integration_scripts) \
	$(NULL)

check_scripts = \
	tests/check-build.sh \
	tests/check-layers.sh \
	tests/check-onedoor.sh \
	tests/check-register.sh \
	tests/check-style.sh \
	tests/check-symbols.sh \
	$(NULL)

# One cmocka program for each file of driver/ under test, one group in each.
unit_tests = \
	tests/unit-connstr \
	tests/unit-inifile \
	tests/unit-route \
	tests/unit-text \
	$(NULL)

# Programs and scripts that need the sandbox; they print TAP.
integration_programs = \
	$(NULL)
integration_scripts = \
	tests/build-test.sh \
	$(NULL)

TESTS += $(check_scripts)
TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	AFF_SRCDIR='$(abs_top_srcdir)'; \
	AFF_BUILDDIR='$(abs_top_builddir)'; \
	CMOCKA_MESSAGE_OUTPUT=TAP; \
	export AFF_SRCDIR AFF_BUILDDIR CMOCKA_MESSAGE_OUTPUT;

if TESTS_WANTED
TESTS += $(unit_tests)
check_PROGRAMS += $(unit_tests) $(integration_programs)
endif

# A unit test needs no more than its line above. An integration test is linked
# with the driver manager instead of the driver:
#   tests_storm_test_LDADD = $(integration_ldadd)
AM_CPPFLAGS += $(ODBC_CFLAGS) $(CMOCKA_CFLAGS)
LDADD = driver/libcore.la $(CMOCKA_LIBS)
integration_ldadd = $(ODBC_LIBS)
# A library for tests to load, never installed:
#   tests_libfake_la_LDFLAGS = $(loadable_ldflags)
loadable_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
