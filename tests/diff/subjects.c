/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* The subjects, each in the file of its name. */
#include "diff.h"

#define SUBJECT(name, links) void subject_##name(void);
#include "subjects.def"

const struct subject subjects[] = {
#define SUBJECT(name, links) { #name, subject_##name, LINKS_##links },
#include "subjects.def"
};

const size_t subject_count = sizeof subjects / sizeof subjects[0];
