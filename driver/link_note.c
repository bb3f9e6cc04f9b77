/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "link_note.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lock.h"
#include "text.h"

enum { KEY_ROOM = 64 };

struct link_note {
    struct mutex lock; /* LOCK_NOTE */
    bool keyed;
    char key[KEY_ROOM];
    char ran[LINK_NOTE_ROOM]; /* "": nothing yet */
};

struct link_note *link_note_new(void)
{
    struct link_note *note = calloc(1, sizeof *note);

    if (note) {
        mutex_init(&note->lock, LOCK_NOTE);
    }
    return note;
}

void link_note_free(struct link_note *note)
{
    if (note) {
        mutex_destroy(&note->lock);
        free(note);
    }
}

static void copy(char *to, size_t room, const char *from)
{
    size_t length = strlen(from);

    if (length >= room) {
        length = text_cut(from, room - 1);
    }
    memcpy(to, from, length);
    to[length] = '\0';
}

/* ALTER ROLE … PASSWORD, CREATE USER MAPPING … (password …), IDENTIFIED BY. */
static bool has_secret(const char *text)
{
    return text_contains(text, "PASSW") || text_contains(text, "IDENTIFIED");
}

void link_note_begin(struct link_note *note, const char *key)
{
    mutex_lock(&note->lock);
    note->keyed = key != NULL;
    copy(note->key, sizeof note->key, key ? key : "");
    note->ran[0] = '\0';
    mutex_unlock(&note->lock);
}

void link_note_shown(const char *text, char shown[LINK_NOTE_ROOM])
{
    copy(shown, LINK_NOTE_ROOM,
         has_secret(text) ? "(not shown, since it may hold a password)" : text);
}

void link_note_ran(struct link_note *note, const char *shown)
{
    mutex_lock(&note->lock);
    copy(note->ran, sizeof note->ran, shown);
    mutex_unlock(&note->lock);
}

void link_note_say(struct link_note *note, struct text *out)
{
    mutex_lock(&note->lock);
    if (note->keyed) {
        text_appendf(out, "key %s, ", note->key);
    }
    text_append(out, note->ran[0] ? "last ran: " : "and has run nothing");
    text_append(out, note->ran);
    mutex_unlock(&note->lock);
}
