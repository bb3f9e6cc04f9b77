/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where lines of the log go (keyword Log): a file, stderr or syslog.  Which
 * lines there are is event.h's business.  Writing may wait for a disk, so it
 * is done with no lock held, by a helper thread.
 *
 * A file is opened for each write and closed behind it, for appending: it may
 * be moved away at any time, several processes may share it, and no descriptor
 * is kept in somebody else's process.
 */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "why.h"

enum log_level { LOG_IS_ERROR, LOG_IS_WARNING, LOG_IS_INFO, LOG_IS_DEBUG };

const char *log_level_word(enum log_level level);

/* Is Log's value one that can be written to?  "" is: nothing is.  A file is
   made if it is not there.  False: why. */
bool log_check(const char *where, struct why *why);

/* Writes lines[0..length), each with its \n, in one piece.  level: of all of
   them, for syslog.  False: it could not be done; errno tells. */
bool log_write(const char *where, enum log_level level, const char *lines,
               size_t length);

/* Writes bytes[0..count) to a file that is open.  False: errno tells. */
bool log_write_all(int fd, const char *bytes, size_t count);

/* Is each line to be given by itself, without time and process, because they
   are added there? */
bool log_is_syslog(const char *where);

#endif
