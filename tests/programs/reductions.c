/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reductions.c - a sum and a histogram to which tasks contribute side by side, read
 * in between and contributed to again. */
#include "expect.h"

#include <string.h>

#include <starpu.h>

#define N      4096
#define PIECES 32
#define BINS   8

static void zero_bins(void *buffers[], void *arg)
{
    (void)arg;
    memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 0,
           STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(long));
}

static void add_bins(void *buffers[], void *arg)
{
    long *to = (long *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const long *from = (const long *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] += from[i];
}

static void count(void *buffers[], void *arg)
{
    const int *x = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    long *bins = (long *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        bins[x[i] % BINS]++;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "count"};
static struct starpu_codelet zero_cl = {.cpu_funcs = {zero_bins},
                                        .cuda_funcs = {zero_bins},
                                        .nbuffers = 1,
                                        .modes = {STARPU_W},
                                        .name = "zero"};
static struct starpu_codelet add_cl = {
    .cpu_funcs = {add_bins},
    .cuda_funcs = {add_bins},
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
    .name = "add"};
static struct starpu_codelet count_cl = {.cpu_funcs = {count},
                                         .cuda_funcs = {count},
                                         .nbuffers = 2,
                                         .modes = {STARPU_R, STARPU_REDUX},
                                         .model = &model,
                                         .name = "count"};

static void count_all(starpu_data_handle_t x, starpu_data_handle_t bins)
{
    for (int i = 0; i < PIECES; i++)
        EXPECT(starpu_task_insert(&count_cl, STARPU_R,
                                  starpu_data_get_sub_data(x, 1, i),
                                  STARPU_REDUX, bins, 0) == 0);
}

int main(void)
{
    static int x[N];
    static long bins[BINS], right[BINS];
    struct starpu_data_filter pieces = {
        .filter_func = starpu_vector_filter_block, .nchildren = PIECES};
    starpu_data_handle_t numbers, histogram;
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    for (int i = 0; i < N; i++) {
        x[i] = i * i / 3;
        right[x[i] % BINS]++;
    }
    starpu_vector_data_register(&numbers, STARPU_MAIN_RAM, (uintptr_t)x, N,
                                sizeof(int));
    starpu_vector_data_register(&histogram, STARPU_MAIN_RAM, (uintptr_t)bins,
                                BINS, sizeof(long));
    starpu_data_set_reduction_methods(histogram, &add_cl, &zero_cl);
    starpu_data_partition(numbers, &pieces);
    for (int round = 1; round <= 3; round++) {
        count_all(numbers, histogram);
        EXPECT(starpu_data_acquire(histogram, STARPU_R) == 0);
        for (int i = 0; i < BINS; i++)
            EXPECT_RESULT(bins[i] == round * right[i]);
        starpu_data_release(histogram);
    }
    starpu_data_unpartition(numbers, STARPU_MAIN_RAM);
    starpu_data_unregister(numbers);
    starpu_data_unregister(histogram);
    starpu_shutdown();
    return 0;
}
