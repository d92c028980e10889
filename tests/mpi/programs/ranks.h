/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/ranks.h - what the programs here share: each is a list of tests that
 * all ranks make in one run. Rank 0 prints TAP when all have ended.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_mpi.h>

struct ranks_test {
    const char *name;
    void (*run)(void);
};

extern int ranks_me, ranks_n;
extern MPI_Comm ranks_half; /* those that are even, or odd, the last one first */
extern MPI_Comm ranks_most; /* all but the last one, for which it is MPI_COMM_NULL */
extern int ranks_failures; /* of the test that runs, on this rank */

#define EXPECT(condition)                                                                  \
    ((condition) ? (void)0                                                                 \
                 : (ranks_failures++, (void)fprintf(stderr, "# rank %d: %s:%d: %s\n",      \
                                                    ranks_me, __FILE__, __LINE__,          \
                                                    #condition)))
#define EXPECT_EQ(is, should)                                                              \
    do {                                                                                   \
        long long is_ = (long long)(is), should_ = (long long)(should);                    \
        if (is_ == should_)                                                                \
            break;                                                                         \
        ranks_failures++;                                                                  \
        fprintf(stderr, "# rank %d: %s:%d: %s is %lld, not %lld\n", ranks_me, __FILE__,    \
                __LINE__, #is, is_, should_);                                              \
    } while (0)

/* Runs the tests one after the other between starpu_mpi_init_conf and
 * starpu_mpi_shutdown, returns main's status. */
int ranks_main(int argc, char **argv, const struct ranks_test *tests, int n);
#define RANKS_MAIN(...)                                                                    \
    int main(int argc, char **argv)                                                        \
    {                                                                                      \
        static const struct ranks_test tests[] = {__VA_ARGS__};                            \
        return ranks_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));            \
    }

/* An int in memory of the caller's. */
starpu_data_handle_t ranks_int(int *value);
/* One that is this rank's with that tag; on other ranks without memory. */
starpu_data_handle_t ranks_shared_int(int *value, int64_t tag, int owner);
/* Its value, after what was submitted. */
int ranks_value(starpu_data_handle_t handle);

/* Tasks of ints: a += 1; a += b; a = b; a += rank of the one who executes it. */
extern struct starpu_codelet ranks_increment, ranks_add, ranks_copy, ranks_add_rank;
