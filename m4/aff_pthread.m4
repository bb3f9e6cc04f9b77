# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0

# AFF_PTHREAD
# Sets PTHREAD_CFLAGS to what compiling and linking with threads takes here,
# or stops. pthread_atfork is linked too, because some C libraries keep it
# apart from the rest.
AC_DEFUN([AFF_PTHREAD],
[AC_CACHE_CHECK([how to build with threads], [aff_cv_pthread],
  [aff_saved_cflags=$CFLAGS
   aff_cv_pthread=no
   for aff_flag in -pthread none; do
     CFLAGS=$aff_saved_cflags
     test "$aff_flag" = none || CFLAGS="$CFLAGS $aff_flag"
     AC_LINK_IFELSE([AC_LANG_PROGRAM(
         [[#include <pthread.h>
           static void nothing(void) { }
           static void *run(void *arg) { return arg; }]],
         [[pthread_t thread;
           return pthread_create(&thread, 0, run, 0)
             || pthread_join(thread, 0)
             || pthread_atfork(nothing, nothing, nothing);]])],
       [aff_cv_pthread=$aff_flag; break])
   done
   CFLAGS=$aff_saved_cflags])
AS_CASE([$aff_cv_pthread],
  [no], [AC_MSG_ERROR([cannot build a program with POSIX threads])],
  [none], [PTHREAD_CFLAGS=],
  [PTHREAD_CFLAGS=$aff_cv_pthread])
AC_SUBST([PTHREAD_CFLAGS])
])
