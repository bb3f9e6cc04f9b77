/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the session that holds a link is doing with it, for whoever is told that
 * it holds it for too long (keyword SessionLimit): its key, and the beginning
 * of the text that it last ran or prepared.
 *
 * Only links of a fleet with a SessionLimit have a note.  Values of parameters
 * are not in it, but literals are part of a text; of one with a word that goes
 * with secrets nothing is kept.
 */
#ifndef LINK_NOTE_H
#define LINK_NOTE_H

#include <stddef.h>

struct link_note;
struct text;

/* What is shown of a text, UTF-8, with its NUL. */
enum { LINK_NOTE_ROOM = 204 };
void link_note_shown(const char *text, char shown[LINK_NOTE_ROOM]);

/* NULL: out of memory. */
struct link_note *link_note_new(void);
void link_note_free(struct link_note *note); /* NULL is fine */

/* Another session has it now.  key NULL: it has none.
   Locks: take LOCK_NOTE, as the next two. */
void link_note_begin(struct link_note *note, const char *key);

/* It runs the text of which this is shown. */
void link_note_ran(struct link_note *note, const char *shown);

/* Appends "key 1500, last ran: SELECT …", or what of it there is. */
void link_note_say(struct link_note *note, struct text *out);

#endif
