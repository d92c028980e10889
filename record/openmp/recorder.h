/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/recorder.h - what the two front ends have in common: whether this
 * process is recorded, and events. Any thread, no locks but for a new chunk.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/openmp/log.h"

/* What programs and their runtimes find. */
#define PUBLIC __attribute__((visibility("default")))

/* The function of that name behind ours; ends the program, with a message, without one. */
void *orr_omp_next(const char *name);

/* Whether this process is recorded: ORRERY_OPENMP_LOG names the log, and the program
 * does not use the library itself, which records it then. The first call makes the log;
 * a child of fork is not recorded, which the log of its parent says. */
bool orr_omp_on(void);

/* The program's is that runtime; libgomp if nobody says. */
void orr_omp_runtime(enum orr_omp_runtime runtime);

/* A new number for a task or a region. */
uint64_t orr_omp_number(void);

/* A region of so many threads begins. Where the first one has more than there are
 * processors, threads take turns, and all times are those of each thread's processor time; so
 * they are if ORRERY_OPENMP_CLOCK is `cpu'. */
void orr_omp_team(unsigned threads);

/* One more event of this thread. If the log can take no more, all later ones are lost,
 * and it says so. */
void orr_omp_put(enum orr_omp_kind kind, unsigned flags, uint32_t n, uint64_t a, uint64_t b);

/* The task has that datum in a depend clause; where the program's memory is known, what the
 * datum is in is told before. */
void orr_omp_depend(uint64_t task, enum orr_omp_mode mode, uint64_t address);

/* Tells once per thread which file the code is of; returns the address. It is that of a
 * function, or one to which a call of the runtime `returns`. */
uint64_t orr_omp_code(const void *code, bool returns);
