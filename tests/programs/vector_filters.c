/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vector_filters.c - a vector that is scaled in pieces, pieces of pieces, and in
 * pieces and as a whole in turn. */
#include "expect.h"

#include <starpu.h>

#define N      10007 /* pieces are not equal */
#define PIECES 6

static void scale(void *buffers[], void *arg)
{
    int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);
    int factor;

    starpu_codelet_unpack_args(arg, &factor);
    for (unsigned i = 0; i < n; i++)
        x[i] *= factor;
}

static void number(void *buffers[], void *arg)
{
    int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);

    (void)arg;
    for (unsigned i = 0; i < n; i++)
        x[i] = (int)i;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "scale"};
static struct starpu_codelet scale_cl = {
    .cpu_funcs = {scale},
    .cuda_funcs = {scale},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .model = &model,
    .name = "scale",
};
static struct starpu_codelet number_cl = {
    .cpu_funcs = {number},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .name = "number",
};

static void scale_by(starpu_data_handle_t x, int factor)
{
    EXPECT(starpu_task_insert(&scale_cl, STARPU_RW, x, STARPU_VALUE, &factor,
                              sizeof(factor), 0) == 0);
}

static void in_pieces(starpu_data_handle_t x)
{
    struct starpu_data_filter pieces = {
        .filter_func = starpu_vector_filter_block, .nchildren = PIECES};
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};

    starpu_data_map_filters(x, 2, &pieces, &halves);
    for (int i = 0; i < PIECES; i++)
        for (int j = 0; j < 2; j++)
            scale_by(starpu_data_get_sub_data(x, 2, i, j), 2);
    starpu_data_unpartition(x, STARPU_MAIN_RAM);
}

/* Partitioned and whole in turn, without a wait in between. */
static void in_turn(starpu_data_handle_t x)
{
    struct starpu_data_filter pieces = {
        .filter_func = starpu_vector_filter_block, .nchildren = PIECES};

    for (int round = 0; round < 3; round++) {
        starpu_data_partition(x, &pieces);
        for (int i = 0; i < PIECES; i++)
            scale_by(starpu_data_get_sub_data(x, 1, i), 3);
        starpu_data_unpartition(x, STARPU_MAIN_RAM);
        scale_by(x, 5);
    }
}

int main(void)
{
    static int x[N];
    starpu_data_handle_t handle;
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, N,
                                sizeof(x[0]));
    EXPECT(starpu_task_insert(&number_cl, STARPU_W, handle, 0) == 0);
    in_pieces(handle);
    in_turn(handle);
    starpu_data_acquire(handle, STARPU_R);
    for (int i = 0; i < N; i++)
        EXPECT_RESULT(x[i] == i * 2 * 27 * 125);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
    return 0;
}
