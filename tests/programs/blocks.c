/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* blocks.c - a cube smoothed in slabs: three dimensions, scratch memory, copies
 * asked for in advance, and main that reads and writes between tasks. */
#include "expect.h"

#include <starpu.h>

#define N     24
#define SLABS 6
#define STEPS 5

static float cube[N * N * N];

/* Smooths along x, through a scratch line. */
static void smooth(void *buffers[], void *arg)
{
    float *v = (float *)STARPU_BLOCK_GET_PTR(buffers[0]);
    float *line = (float *)STARPU_VECTOR_GET_PTR(buffers[1]);
    unsigned nx = STARPU_BLOCK_GET_NX(buffers[0]);
    unsigned ny = STARPU_BLOCK_GET_NY(buffers[0]);
    unsigned nz = STARPU_BLOCK_GET_NZ(buffers[0]);
    unsigned ldy = STARPU_BLOCK_GET_LDY(buffers[0]);
    unsigned ldz = STARPU_BLOCK_GET_LDZ(buffers[0]);

    (void)arg;
    for (unsigned z = 0; z < nz; z++)
        for (unsigned y = 0; y < ny; y++) {
            float *row = v + y * ldy + z * ldz;

            for (unsigned x = 0; x < nx; x++)
                line[x] = row[(x + nx - 1) % nx] + row[(x + 1) % nx];
            for (unsigned x = 0; x < nx; x++)
                row[x] = line[x] / 2;
        }
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "smooth"};
static struct starpu_codelet cl = {
    .cpu_funcs = {smooth},
    .cuda_funcs = {smooth},
    .nbuffers = 2,
    .modes = {STARPU_RW, STARPU_SCRATCH},
    .model = &model,
    .name = "smooth",
};

static void step(starpu_data_handle_t all, starpu_data_handle_t scratch)
{
    for (int i = 0; i < SLABS; i++)
        EXPECT(starpu_task_insert(&cl, STARPU_RW,
                                  starpu_data_get_sub_data(all, 1, i),
                                  STARPU_SCRATCH, scratch, 0) == 0);
}

/* Main adds 1 to one cell of each slab between the steps. */
static void touch(starpu_data_handle_t all)
{
    for (int i = 0; i < SLABS; i++) {
        starpu_data_handle_t slab = starpu_data_get_sub_data(all, 1, i);

        EXPECT(starpu_data_prefetch_on_node(slab, STARPU_MAIN_RAM, 1) == 0);
        EXPECT(starpu_data_acquire(slab, STARPU_RW) == 0);
        cube[i * (N / SLABS) * N * N] += 1;
        starpu_data_release(slab);
    }
}

static void oracle(float *v)
{
    for (int t = 0; t < STEPS; t++) {
        for (int row = 0; row < N * N; row++) {
            float old[N];

            for (int x = 0; x < N; x++)
                old[x] = v[row * N + x];
            for (int x = 0; x < N; x++)
                v[row * N + x] = (old[(x + N - 1) % N] + old[(x + 1) % N]) / 2;
        }
        for (int i = 0; i < SLABS; i++)
            v[i * (N / SLABS) * N * N] += 1;
    }
}

int main(void)
{
    static float right[N * N * N];
    struct starpu_data_filter slabs = {
        .filter_func = starpu_block_filter_depth_block, .nchildren = SLABS};
    starpu_data_handle_t all, scratch;
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    for (int i = 0; i < N * N * N; i++)
        cube[i] = right[i] = (float)(i * 7 % 31);
    starpu_block_data_register(&all, STARPU_MAIN_RAM, (uintptr_t)cube, N, N * N,
                               N, N, N, sizeof(float));
    starpu_vector_data_register(&scratch, -1, 0, N, sizeof(float));
    starpu_data_partition(all, &slabs);
    for (int t = 0; t < STEPS; t++) {
        step(all, scratch);
        touch(all);
    }
    starpu_data_unpartition(all, STARPU_MAIN_RAM);
    starpu_data_unregister(scratch);
    starpu_data_unregister(all);
    oracle(right);
    for (int i = 0; i < N * N * N; i++)
        EXPECT_RESULT(cube[i] == right[i]);
    starpu_shutdown();
    return 0;
}
