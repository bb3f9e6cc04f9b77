# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0

# AFF_SONAME(VARIABLE, NAME, FUNCTION, LIBS)
# Defines VARIABLE as the soname of libNAME: what a program that calls FUNCTION
# is linked with needs at run time.
AC_DEFUN([AFF_SONAME],
[AS_VAR_PUSHDEF([aff_answer], [aff_cv_soname_$2])dnl
AC_CACHE_CHECK([for the soname of lib$2], [aff_answer],
  [aff_saved_libs=$LIBS
   LIBS="$4 $LIBS"
   AC_LINK_IFELSE([AC_LANG_CALL([], [$3])],
     [AS_VAR_SET([aff_answer],
       [`$OBJDUMP -p conftest$EXEEXT | $SED -n 's/^ *NEEDED *\(lib$2@<:@.@:>@.*\)/\1/p'`])])
   LIBS=$aff_saved_libs])
AS_VAR_IF([aff_answer], [''],
  [AC_MSG_ERROR([lib$2 is needed, as a shared library, with $3])])
AS_VAR_COPY([aff_soname], [aff_answer])
AC_DEFINE_UNQUOTED([$1], ["$aff_soname"], [The soname of lib$2.])
AS_VAR_POPDEF([aff_answer])dnl
])
