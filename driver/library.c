/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loading a library of the system by its soname.  It is never unloaded, as we
 * are not.
 */
#include "autoconf.h"

#include "library.h"

#include <dlfcn.h>
#include <string.h>

bool library_load(const char *soname, const struct library_function *functions,
                  size_t count)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; i < count; i++) {
        if (!library || !dlsym(library, functions[i].name)) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, functions[i].name);

        memcpy(functions[i].place, &found, sizeof found);
    }
    return true;
}
