/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/machine.h - the machine of a program as a platform file and as
 * environment variables. */
#pragma once

#include <stdio.h>

#include "program.h"

/* Writes the platform file of a simulated machine; each line begins with
 * `before` and ends with `after`, quotation marks are '. */
void machine_write(FILE *out, const struct machine *machine, const char *before,
                   const char *after);

/* Calls say(name, value, arg) for each variable that the machine needs; NULL:
 * it must be unset. ORRERY_MACHINE is not among them. */
void machine_environment(const struct machine *machine,
                         void (*say)(const char *name, const char *value,
                                     void *arg),
                         void *arg);

/* From now on every machine has that policy. Borrows the name. */
void machine_only_sched(const char *name);

/* The machine's policy. */
const char *machine_policy(const struct machine *machine);

/* The policy of the second context: the machine's, where that has a name alone. */
const char *machine_second_policy(const struct machine *machine);

/* The names of codelets, by length. */
extern const char *const codelet_names[];
