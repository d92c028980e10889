/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine_edit.h - `orrery machine show` and `orrery machine copy`, which
 * both can edit what they show or write. One thread.
 */
#pragma once

#include <stdbool.h>

/* argv[0] is the verb. They return the exit code. */
int machine_show(int argc, char **argv, const char *const *sampling_dirs,
                 bool json);
int machine_copy(int argc, char **argv, const char *const *sampling_dirs,
                 bool json);
