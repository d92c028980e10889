/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/images/refusals.h - functions that name what was called, and end the process. */
#pragma once

#include <stdbool.h>

/* Whether it is a function of MPI that ranks would do together: others are local, and the
 * MPI's own do. */
bool orr_refusal_is_due(const char *name);

/* Whether one rank without the others cannot do it, either. */
bool orr_refusal_is_due_alone(const char *name);

/* What who is refused may do instead; for all, and stays. */
void orr_refusals_say(const char *reason);

/* The function that refuses that one, of as many as there is room for: NULL. The name
 * stays where it is. */
void (*orr_refusal_of(const char *name))(void);
