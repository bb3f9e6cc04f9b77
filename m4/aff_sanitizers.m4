# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0

# AFF_SANITIZERS
# --enable-sanitizers=LIST sets SANITIZER_CFLAGS, used to compile and to link,
# and aff_sanitizers (the list, or no).
AC_DEFUN([AFF_SANITIZERS],
[AC_ARG_ENABLE([sanitizers],
  [AS_HELP_STRING([--enable-sanitizers=LIST],
    [build with -fsanitize=LIST: "address,undefined" or "thread"])],
  [aff_sanitizers=$enableval], [aff_sanitizers=no])
SANITIZER_CFLAGS=
AS_CASE([$aff_sanitizers],
  [no], [],
  [yes], [AC_MSG_ERROR([--enable-sanitizers needs a list: address,undefined or thread])],
  [SANITIZER_CFLAGS="-fsanitize=$aff_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
   AC_MSG_CHECKING([whether $CC builds with $SANITIZER_CFLAGS])
   aff_saved_cflags=$CFLAGS
   CFLAGS="$CFLAGS $SANITIZER_CFLAGS"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
     [AC_MSG_RESULT([yes])],
     [AC_MSG_RESULT([no])
      AC_MSG_ERROR([$CC cannot build with -fsanitize=$aff_sanitizers])])
   CFLAGS=$aff_saved_cflags])
AC_SUBST([SANITIZER_CFLAGS])
])
