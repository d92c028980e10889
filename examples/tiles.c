/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tiles.c - see tiles.h. */
#include "tiles.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>

static int flags(const struct tiles *tiles)
{
    return tiles->real_data
               ? STARPU_MALLOC_PINNED
               : STARPU_MALLOC_PINNED | STARPU_MALLOC_SIMULATION_FOLDED;
}

static size_t bytes(const struct tiles *tiles)
{
    return (size_t)tiles->rows * tiles->order * sizeof(float);
}

int tiles_register(struct tiles *tiles)
{
    unsigned n = tiles->nblocks;
    struct starpu_data_filter columns = {
        .filter_func = starpu_matrix_filter_vertical_block, .nchildren = n};
    struct starpu_data_filter rows = {.filter_func = starpu_matrix_filter_block,
                                      .nchildren = n};

    if (tiles->rows == 0)
        tiles->rows = tiles->order;
    tiles->real_data = !orrery_is_simulated() || orrery_runs_kernels();
    tiles->handles = malloc((size_t)n * n * sizeof(*tiles->handles));
    if (!tiles->handles || starpu_malloc_flags((void **)&tiles->matrix,
                                               bytes(tiles), flags(tiles)) != 0)
        return -1;
    starpu_matrix_data_register(&tiles->whole, STARPU_MAIN_RAM,
                                (uintptr_t)tiles->matrix, tiles->rows,
                                tiles->rows, tiles->order, sizeof(float));
    starpu_data_map_filters(tiles->whole, 2, &columns, &rows);
    for (unsigned j = 0; j < n; j++)
        for (unsigned i = 0; i < n; i++)
            tiles->handles[i + (size_t)j * n] =
                starpu_data_get_sub_data(tiles->whole, 2, j, i);
    return 0;
}

void tiles_unregister(struct tiles *tiles)
{
    starpu_data_unpartition(tiles->whole, STARPU_MAIN_RAM);
    starpu_data_unregister(tiles->whole);
}

void tiles_done(struct tiles *tiles)
{
    if (tiles->matrix)
        starpu_free_flags(tiles->matrix, bytes(tiles), flags(tiles));
    free(tiles->handles);
}

float tiles_noise(unsigned i, unsigned j)
{
    uint64_t mixed = ((uint64_t)i << 32 | j) * 0x9e3779b97f4a7c15u;

    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9u;
    return (float)(mixed >> 40) / (float)(1 << 24);
}

int tiles_fill(const struct tiles *tiles, struct starpu_codelet *codelet,
               bool lower)
{
    int n = (int)tiles->nblocks, order = (int)tiles->order;

    for (int j = 0; j < n; j++)
        for (int i = lower ? j : 0; i < n; i++) {
            int result = starpu_task_insert(
                codelet, STARPU_VALUE, &i, sizeof(i), STARPU_VALUE, &j,
                sizeof(j), STARPU_VALUE, &order, sizeof(order), STARPU_W,
                tile(tiles, (unsigned)i, (unsigned)j), 0);

            if (result != 0) {
                fprintf(stderr, "no worker can run %s: %s\n", codelet->name,
                        strerror(-result));
                return result;
            }
        }
    return starpu_task_wait_for_all();
}

struct starpu_task *tiles_task(struct starpu_codelet *codelet, double flops,
                               int priority)
{
    struct starpu_task *task = starpu_task_create();

    if (!task) {
        fprintf(stderr, "out of memory for tasks\n");
        exit(EXIT_FAILURE);
    }
    task->cl = codelet;
    task->flops = flops;
    task->priority = priority;
    return task;
}

void tiles_submit(struct starpu_task *task)
{
    int result = starpu_task_submit(task);

    if (result == 0)
        return;
    fprintf(stderr, "no worker can run %s: %s\n", task->cl->name,
            strerror(-result));
    exit(EXIT_FAILURE);
}
