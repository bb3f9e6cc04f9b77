/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* The subjects, each in the file of its name. */
#include "diff.h"

#define SUBJECT(name) void subject_##name(void);
#include "subjects.def"

const struct subject subjects[] = {
#define SUBJECT(name) { #name, subject_##name, false },
#include "subjects.def"
};

const size_t subject_count = sizeof subjects / sizeof subjects[0];
