/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/gpu-clock.h - the stand-in on the virtual clock of the program
 * (../unit/on-clock.c): host and devices take turns on one thread, and the order of
 * what they do follows from a seed.
 */
#pragma once

/* Before each starpu_init. */
void gpu_clock_set(unsigned long seed);
