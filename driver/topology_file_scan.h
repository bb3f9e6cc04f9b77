/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A first look at the lines of the map file: which sections and keys there
 * are, and whether iniparser will read them as they are meant.
 */
#ifndef TOPOLOGY_FILE_SCAN_H
#define TOPOLOGY_FILE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "why.h"

struct fleet;

struct topology_entry {
    uint32_t instance;
    unsigned line;
    const char *section; /* as in the file */
    const char *key;     /* lower case */
};

struct topology_scan {
    struct topology_entry *entries; /* by instance, then key */
    size_t count, room;
    char **names; /* what the entries point at */
    size_t name_count, name_room;
    int copy; /* of the file, as it was read; -1 = none could be made */
    char copy_path[40]; /* by which it is opened */
};

/* False: why names file, line, section and key (WHY_INI), or WHY_MEMORY; the
   scan is to be freed in any case. */
bool topology_scan_read(const char *path, const struct fleet *fleet,
                        struct topology_scan *scan, struct why *why);
void topology_scan_free(struct topology_scan *scan);

#endif
