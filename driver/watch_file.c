/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The map file, looked at as often as instances are probed, as long as the
 * fleet has links and the process is not quiet.
 */
#include "autoconf.h"

#include "watch.h"

#include "fleet_file.h"
#include "login.h"

uint64_t watch_file(struct fleet *fleet, uint64_t now)
{
    enum { LOOK_MS = 1000 };
    struct fleet_file *file = &fleet->file;
    uint32_t interval = fleet->config.check_interval;
    uint64_t late;

    if (!*fleet->config.map) {
        return UINT64_MAX;
    }
    interval = interval ? interval : LOOK_MS;
    late = fleet_disk_look(fleet, &file->disk, fleet->config.map, now);
    if (watch_is_quiet(fleet, now)) {
        return late; /* it is looked at when somebody comes */
    }
    if (now >= file->look_at) {
        file->look_at = now + interval * NS_PER_MS;
        fleet_file_look(fleet);
    }
    return clock_earlier(late,
                         login_all_links(fleet) ? file->look_at : UINT64_MAX);
}
