# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0

# AFF_ODBC_DIR
# Sets odbcdir, where drivers are installed, and odbc_module_dir, where the
# driver manager looks for a driver named without a path.
# Without a prefix, or with the manager's own, the first is the second, so that
# odbcinst.ini can name the driver as the distribution's drivers are named.
# With any other prefix nothing is written outside it.
AC_DEFUN([AFF_ODBC_DIR],
[AC_ARG_WITH([odbc-dir],
  [AS_HELP_STRING([--with-odbc-dir=DIR],
    [install the drivers in DIR (the driver manager's own directory, or
     LIBDIR/odbc when --prefix is given)])],
  [AS_CASE([$withval], [yes|no|''],
    [AC_MSG_ERROR([--with-odbc-dir needs a directory])])],
  [with_odbc_dir=])
AC_MSG_CHECKING([for the driver manager's directory of drivers])
aff_odbc_prefix=`$PKG_CONFIG --variable=prefix odbc`
odbc_module_dir=`$PKG_CONFIG --variable=libdir odbc`
AS_IF([test -d "$odbc_module_dir/odbc"],
  [odbc_module_dir=$odbc_module_dir/odbc])
AC_MSG_RESULT([$odbc_module_dir])
AC_MSG_CHECKING([where to install the drivers])
AS_IF([test -n "$with_odbc_dir"], [odbcdir=$with_odbc_dir],
  [test "x$prefix" = xNONE || test "x$prefix" = "x$aff_odbc_prefix"],
  [odbcdir=$odbc_module_dir],
  [odbcdir='${libdir}/odbc'])
AC_MSG_RESULT([$odbcdir])
AC_SUBST([odbcdir])
AC_SUBST([odbc_module_dir])
])
