/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/machines.h - the machines that each scenario runs on: the real
 * one, and a simulated one with 3 GPUs whose kernels are run, under several
 * policies. Check forks for each, so that the environment is its own.
 */
#pragma once

#include <check.h>
#include <starpu.h>

#include "../suite.h"

/* How many there are: those from FIRST_SIMULATED on are left out where TEST_MACHINES is
 * "real". */
int machine_count(void);
#define NMACHINES machine_count()

/* Those from this one on are simulated: for loops over one sort. */
enum { FIRST_SIMULATED = 2 };

/* How many CPU workers the machines have: TEST_NCPU or 2. */
const char *machine_ncpus(void);

/* Sets the environment for machine i of NMACHINES; TEST_SCHED is the policy of all. */
void machine_choose(int i);

/* Whether machine i is a simulated one. */
int machine_simulated(int i);

/* starpu_init on machine i, or a failed check. */
void machine_open(int i);
