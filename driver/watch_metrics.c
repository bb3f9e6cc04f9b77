/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The metrics file: written every WRITE_MS while the fleet is used, and once
 * more when it is no longer and each time its idle links have become fewer
 * then.  A helper's thread writes, since a disk may take its time.
 *
 * Fleets of one process that name the same file share it: whichever of them is
 * the first writes what is known of all.
 */
#include "autoconf.h"

#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "login.h"
#include "text.h"
#include "watch_metrics.h"

enum { WRITE_MS = 5000 };

/* Said once until it works again. */
static void note_trouble(struct fleet *fleet, int error)
{
    bool said = fleet->metrics.troubled;
    struct text path;

    fleet->metrics.troubled = error != 0;
    if (!error || said) {
        return;
    }
    text_init(&path);
    metrics_append_path(&path, fleet->config.metrics);
    event_say(fleet->events, LOG_IS_ERROR, NULL,
              "the metrics file cannot be written: %s: %s",
              text_string(&path), strerror(error));
    text_free(&path);
}

static void free_text(struct text *text)
{
    text_free(text);
    free(text);
}

static void run_write(struct fleet *fleet, void *text)
{
    bool ok = metrics_write(fleet->config.metrics, text, &fleet->metrics.mark);

    note_trouble(fleet, ok ? 0 : errno);
    free_text(text);
}

static void order(struct fleet *fleet, struct fleet *const *fleets,
                  uint32_t count, uint64_t now)
{
    struct text *text = calloc(1, sizeof *text);

    if (!text) {
        return; /* at the next look */
    }
    text_init(text);
    watch_metrics_text(fleets, count, now, text);
    if (!fleet_disk_begin(fleet, &fleet->metrics.disk, run_write, text)) {
        free_text(text);
    }
}

/* ---- the fleets of a file ------------------------------------------------ */

/* Leaves those in fleets[0..*count) that share the file with this fleet. */
static void leave_sharers(const struct fleet *fleet, struct fleet **fleets,
                          uint32_t *count)
{
    uint32_t kept = 0;

    for (uint32_t f = 0; f < *count; f++) {
        if (strcmp(fleets[f]->config.metrics, fleet->config.metrics) == 0) {
            fleets[kept++] = fleets[f];
        } else {
            fleet_release(fleets[f]);
        }
    }
    *count = kept;
}

static bool any_is_used(struct fleet *const *fleets, uint32_t count,
                        uint64_t now)
{
    bool used = false;

    for (uint32_t f = 0; f < count; f++) {
        used = used || watch_is_used(fleets[f], now);
    }
    return used;
}

static uint32_t links_of(struct fleet *const *fleets, uint32_t count)
{
    uint32_t links = 0;

    for (uint32_t f = 0; f < count; f++) {
        links += login_all_links(fleets[f]);
    }
    return links;
}

/* Writes what is due of these, of which this one is the first. */
static uint64_t write_for(struct fleet *fleet, struct fleet *const *fleets,
                          uint32_t count, uint64_t now)
{
    bool used = any_is_used(fleets, count, now);
    uint32_t links = links_of(fleets, count);
    bool news = used || fleet->metrics.used || links != fleet->metrics.links;

    if (!news) {
        return UINT64_MAX;
    }
    if (now < fleet->metrics.due) {
        return fleet->metrics.due;
    }
    fleet->metrics.due = now + WRITE_MS * NS_PER_MS;
    if (!fleet_disk_is_busy(&fleet->metrics.disk)) {
        fleet->metrics.used = used;
        fleet->metrics.links = links;
        order(fleet, fleets, count, now);
    }
    return fleet->metrics.due;
}

uint64_t watch_metrics(struct fleet *fleet, uint64_t now)
{
    struct fleet **fleets;
    uint64_t next = UINT64_MAX;
    uint32_t count;

    if (!*fleet->config.metrics) {
        return UINT64_MAX;
    }
    fleets = fleet_all(&count);
    leave_sharers(fleet, fleets, &count);
    if (count && fleets[0] == fleet) {
        next = write_for(fleet, fleets, count, now);
    }
    for (uint32_t f = 0; f < count; f++) {
        fleet_release(fleets[f]);
    }
    free(fleets);
    return clock_earlier(next,
                         fleet_disk_look(fleet, &fleet->metrics.disk,
                                         fleet->config.metrics, now));
}
