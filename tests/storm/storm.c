/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "storm.h"

#include <string.h>
#include <time.h>

static const char *const names[STORM_INSTANCES] = { "n1",   "n1s1", "n2",
                                                    "n2s1", "n3",   "n3s1" };

const char *storm_name(unsigned instance)
{
    return instance < STORM_INSTANCES ? names[instance] : "nobody";
}

unsigned storm_instance(const char *name)
{
    size_t length = strcspn(name, "-");

    for (unsigned i = 0; i < STORM_INSTANCES; i++) {
        if (strlen(names[i]) == length && !strncmp(names[i], name, length)) {
            return i;
        }
    }
    return STORM_NOBODY;
}

void storm_rest(unsigned ms)
{
    struct timespec ts = { .tv_sec = ms / 1000,
                           .tv_nsec = (long)(ms % 1000) * 1000000 };

    nanosleep(&ts, NULL);
}
