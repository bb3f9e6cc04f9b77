# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# Probes for what the compiler and the linker understand. The answers go to
# variables of our own: CFLAGS and LDFLAGS belong to whoever runs make.

# AFF_ADD_CFLAG(VARIABLE, FLAG, [IF-NOT])
# Appends FLAG to VARIABLE if the compiler takes it without a warning.
AC_DEFUN([AFF_ADD_CFLAG],
[AS_VAR_PUSHDEF([aff_answer], [aff_cv_cflag_$2])dnl
AC_CACHE_CHECK([whether $CC accepts $2], [aff_answer],
  [aff_saved_cflags=$CFLAGS
   CFLAGS="$CFLAGS -Werror $2"
   AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
     [AS_VAR_SET([aff_answer], [yes])], [AS_VAR_SET([aff_answer], [no])])
   CFLAGS=$aff_saved_cflags])
AS_VAR_IF([aff_answer], [yes], [AS_VAR_APPEND([$1], [" $2"])], [$3])
AS_VAR_POPDEF([aff_answer])dnl
])

# AFF_ADD_LDFLAG(VARIABLE, FLAG, [IF-NOT])
# Appends FLAG to VARIABLE if a program can be linked with it.
AC_DEFUN([AFF_ADD_LDFLAG],
[AS_VAR_PUSHDEF([aff_answer], [aff_cv_ldflag_$2])dnl
AC_CACHE_CHECK([whether $CC links with $2], [aff_answer],
  [aff_saved_ldflags=$LDFLAGS
   LDFLAGS="$LDFLAGS $2"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
     [AS_VAR_SET([aff_answer], [yes])], [AS_VAR_SET([aff_answer], [no])])
   LDFLAGS=$aff_saved_ldflags])
AS_VAR_IF([aff_answer], [yes], [AS_VAR_APPEND([$1], [" $2"])], [$3])
AS_VAR_POPDEF([aff_answer])dnl
])
