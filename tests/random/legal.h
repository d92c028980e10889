/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/legal.h - makes of any list of calls a program that is allowed,
 * ends, and has one result.
 */
#pragma once

#include <stdint.h>

#include "program.h"

/* Drops and mends calls of the graph: no value is read that nobody wrote, what
 * has an end is not used after it, nobody waits for what cannot come, memories
 * hold the data of each task. What is to be ordered and is not by the data gets
 * dependencies (call.needs). Begins with the registration of all data, ends
 * with that of their life. The same again for what is legal already. */
void graph_legalise(struct graph *graph, const struct machine *machine,
                    uint64_t features);

void program_legalise(struct program *program, uint64_t features);
