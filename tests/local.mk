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

# What a program is linked with is the same for each, so it is named once:
#   tests_unit_route_LDADD = $(unit_ldadd)
#   tests_storm_test_LDADD = $(integration_ldadd)
unit_cppflags = $(AM_CPPFLAGS) $(ODBC_CFLAGS) $(CMOCKA_CFLAGS)
unit_ldadd = driver/libcore.la $(CMOCKA_LIBS)
integration_cppflags = $(AM_CPPFLAGS) $(ODBC_CFLAGS)
integration_ldadd = $(ODBC_LIBS)
# A library for tests to load, never installed:
#   tests_libfake_la_LDFLAGS = $(loadable_ldflags)
loadable_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
