# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# What gets the driver onto a machine, and a fleet to try it on.

EXTRA_DIST += \
	setup/build \
	setup/demo \
	setup/install-packages \
	setup/odbcinst.ini.template.in \
	setup/packages \
	setup/sandbox \
	setup/sandbox-mariadb \
	setup/sandbox_base.sh \
	setup/sandbox_group.sh \
	setup/sandbox_instance.sh \
	setup/sandbox_move.sh \
	setup/sandbox_odbc.sh \
	setup/sandbox_process.sh \
	setup/sandbox_tables.sql \
	setup/sandbox_topology.sh \
	$(NULL)

dist_doc_DATA += setup/affinity.map.sample
dist_pkgdata_SCRIPTS += setup/register
pkgdata_DATA = setup/odbcinst.ini.template
CLEANFILES += $(pkgdata_DATA)

# The installed template names the driver without a path where the manager
# finds it so, and by its full path elsewhere.
setup/odbcinst.ini.template: setup/odbcinst.ini.template.in Makefile
	$(AM_V_at)$(MKDIR_P) setup
	$(AM_V_GEN)test '$(odbcdir)' = '$(odbc_module_dir)' || dir='$(odbcdir)/'; \
	  sed "s|@driver_dir@|$$dir|" \
	    '$(srcdir)/setup/odbcinst.ini.template.in' >$@

INSTALL_HOOKS += register-hint
register-hint:
	@echo 'To make the drivers known to unixODBC: $(pkgdatadir)/register install'
.PHONY: register-hint
