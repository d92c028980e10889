/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/wave.h - a program whose main is app_main: run_alone.c or run_ranks.c is
 * in front of it. */
#pragma once

#ifdef __cplusplus
extern "C"
#endif
int app_main(int argc, char **argv);
