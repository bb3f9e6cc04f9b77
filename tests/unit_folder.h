/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A folder of its own for a unit test that reads ODBC's ini files: unixODBC
 * finds user.ini (the user's), odbc.ini and odbcinst.ini there and nowhere
 * else.  It keeps the first ODBCSYSINI that it meets, so there is one folder a
 * process.
 */
#ifndef UNIT_FOLDER_H
#define UNIT_FOLDER_H

/* Makes it and has unixODBC look there; ends the process if it cannot.
   Before any ODBC call. */
void unit_folder_make(void);

/* Writes a file there, replacing it as an editor does: a new one is moved over
   it.  A cmocka assertion fails if that does. */
void unit_folder_put(const char *name, const char *content);

/* A file's content, "" if there is none; the caller frees it. */
char *unit_folder_read(const char *name);

/* Its path; valid until the next call. */
const char *unit_folder_path(const char *name);

/* Removes it with the ini files in it; a cmocka group teardown. */
int unit_folder_remove(void **state);

#endif
