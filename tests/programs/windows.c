/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* windows.c - the shape of an eigenvalue solver written for StarPU 1.3: windows are chased
 * down the diagonal of a matrix in tiles; each is copied together, rotated, copied back,
 * and its rotation is applied to the tiles left, right and above. Tasks are made by hand,
 * with numbers of data that are known when they are submitted only; models have sizes of
 * their own; copies have no model.
 *
 *     windows [TILES TILE SWEEPS]
 */
#include "expect.h"

#include <math.h>
#include <string.h>

#include <starpu.h>

enum { MAX_TILES = 64, WINDOW = 4 }; /* tiles of a window */

static int ntiles = 5, size = 32, nsweeps = 2;
static starpu_data_handle_t tiles[MAX_TILES][MAX_TILES];

static double *tile_of(void *buffer) { return (double *)STARPU_MATRIX_GET_PTR(buffer); }

static unsigned order_of(void *buffer) { return STARPU_MATRIX_GET_NX(buffer); }

/* Tiles (0,0), (1,0), (0,1), (1,1) between themselves and one matrix of twice their size. */
static void copy_window(void *buffers[], void *arg)
{
    double *window = tile_of(buffers[0]);
    int back;

    starpu_codelet_unpack_args(arg, &back);
    for (unsigned t = 0; t < WINDOW; t++) {
        double *tile = tile_of(buffers[1 + t]);
        unsigned n = order_of(buffers[1 + t]);

        for (unsigned j = 0; j < n; j++) {
            double *there = &window[(j + (t / 2) * n) * 2 * n + (t % 2) * n];

            if (back)
                memcpy(&tile[j * n], there, n * sizeof(double));
            else
                memcpy(there, &tile[j * n], n * sizeof(double));
        }
    }
}

static void rotate_columns(double *a, double *b, unsigned n, const double *rotation)
{
    for (unsigned i = 0; i < n; i++) {
        double x = a[i], y = b[i];

        a[i] = rotation[0] * x + rotation[1] * y;
        b[i] = rotation[0] * y - rotation[1] * x;
    }
}

static void rotate_rows(double *a, double *b, unsigned n, unsigned ld, const double *rotation)
{
    for (unsigned j = 0; j < n; j++) {
        double x = a[j * ld], y = b[j * ld];

        a[j * ld] = rotation[0] * x + rotation[1] * y;
        b[j * ld] = rotation[0] * y - rotation[1] * x;
    }
}

/* One rotation for each pair of rows of the two tiles, by what is in the window. */
static void chase(void *buffers[], void *arg)
{
    double *window = tile_of(buffers[0]), *rotations = tile_of(buffers[1]);
    unsigned n = order_of(buffers[0]) / 2, ld = 2 * n;

    (void)arg;
    for (unsigned i = 0; i < n; i++) {
        double angle = atan2(window[i * ld + n + i], 1 + fabs(window[i * ld + i]));

        rotations[2 * i] = cos(angle);
        rotations[2 * i + 1] = sin(angle);
        rotate_rows(&window[i], &window[n + i], 2 * n, ld, &rotations[2 * i]);
        rotate_columns(&window[i * ld], &window[(n + i) * ld], 2 * n, &rotations[2 * i]);
    }
}

static void update_rows(void *buffers[], void *arg)
{
    const double *rotations = tile_of(buffers[0]);
    double *above = tile_of(buffers[1]), *below = tile_of(buffers[2]);
    unsigned n = order_of(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < n; i++)
        rotate_rows(&above[i], &below[i], n, n, &rotations[2 * i]);
}

static void update_columns(void *buffers[], void *arg)
{
    const double *rotations = tile_of(buffers[0]);
    double *left = tile_of(buffers[1]), *right = tile_of(buffers[2]);
    unsigned n = order_of(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < n; i++)
        rotate_columns(&left[i * n], &right[i * n], n, &rotations[2 * i]);
}

static size_t size_of_window(struct starpu_task *task, unsigned nimpl)
{
    (void)nimpl;
    return starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, 0)) / sizeof(double);
}

static struct starpu_perfmodel chase_model = {.type = STARPU_HISTORY_BASED,
                                              .symbol = "windows_chase",
                                              .size_base = size_of_window};
static struct starpu_perfmodel update_model = {.type = STARPU_HISTORY_BASED,
                                               .symbol = "windows_update"};
static struct starpu_codelet copy_cl = {.cpu_funcs = {copy_window},
                                        .cpu_funcs_name = {"copy_window"},
                                        .nbuffers = STARPU_VARIABLE_NBUFFERS,
                                        .name = "windows_copy"};
static struct starpu_codelet chase_cl = {.cpu_funcs = {chase},
                                         .cpu_funcs_name = {"chase"},
                                         .nbuffers = 2,
                                         .modes = {STARPU_RW, STARPU_W},
                                         .model = &chase_model,
                                         .name = "windows_chase"};
static struct starpu_codelet rows_cl = {.cpu_funcs = {update_rows},
                                        .nbuffers = 3,
                                        .modes = {STARPU_R, STARPU_RW, STARPU_RW},
                                        .model = &update_model,
                                        .name = "windows_rows"};
static struct starpu_codelet columns_cl = {.cpu_funcs = {update_columns},
                                           .nbuffers = 3,
                                           .modes = {STARPU_R, STARPU_RW, STARPU_RW},
                                           .model = &update_model,
                                           .name = "windows_columns"};

static void submit_copy(starpu_data_handle_t window, int k, int back)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &copy_cl;
    task->nbuffers = 1 + WINDOW;
    task->handles[0] = window;
    task->modes[0] = back ? STARPU_R : STARPU_W;
    for (int t = 0; t < WINDOW; t++) {
        task->handles[1 + t] = tiles[k + t % 2][k + t / 2];
        task->modes[1 + t] = back ? STARPU_W : STARPU_R;
    }
    starpu_codelet_pack_args(&task->cl_arg, &task->cl_arg_size, STARPU_VALUE, &back,
                             sizeof(back), 0);
    task->cl_arg_free = 1;
    task->priority = starpu_sched_get_max_priority();
    EXPECT(starpu_task_submit(task) == 0);
}

static void submit_update(struct starpu_codelet *cl, starpu_data_handle_t rotations,
                          starpu_data_handle_t one, starpu_data_handle_t other)
{
    struct starpu_task *task = starpu_task_build(cl, STARPU_R, rotations, STARPU_RW, one,
                                                 STARPU_RW, other, 0);

    EXPECT(task);
    task->priority = starpu_sched_get_min_priority();
    EXPECT(starpu_task_submit(task) == 0);
}

static void submit_window(int k)
{
    starpu_data_handle_t window, rotations;

    starpu_matrix_data_register(&window, -1, 0, 2 * (uint32_t)size, 2 * (uint32_t)size,
                                2 * (uint32_t)size, sizeof(double));
    starpu_matrix_data_register(&rotations, -1, 0, 2, 2, (uint32_t)size, sizeof(double));
    submit_copy(window, k, 0);
    EXPECT(starpu_task_insert(&chase_cl, STARPU_RW, window, STARPU_W, rotations,
                              STARPU_PRIORITY, STARPU_MAX_PRIO, 0) == 0);
    submit_copy(window, k, 1);
    starpu_data_unregister_submit(window);
    for (int j = 0; j < ntiles; j++)
        if (j != k && j != k + 1) {
            submit_update(&rows_cl, rotations, tiles[k][j], tiles[k + 1][j]);
            submit_update(&columns_cl, rotations, tiles[j][k], tiles[j][k + 1]);
        }
    starpu_data_unregister_submit(rotations);
}

/* The trace, and the sum of squares: similar matrices by rotations have the same. */
static void invariants(const double *matrix, double *trace, double *squares)
{
    *trace = *squares = 0;
    for (int i = 0; i < ntiles; i++)
        for (int j = 0; j < ntiles; j++) {
            const double *tile = &matrix[(i * ntiles + j) * size * size];

            for (int e = 0; e < size * size; e++)
                *squares += tile[e] * tile[e];
            for (int e = 0; i == j && e < size; e++)
                *trace += tile[e * size + e];
        }
}

int main(int argc, char **argv)
{
    double *matrix, before[2], after[2];
    struct starpu_conf conf;
    size_t n;
    int result;

    if (argc == 4) {
        ntiles = atoi(argv[1]);
        size = atoi(argv[2]);
        nsweeps = atoi(argv[3]);
    }
    EXPECT(ntiles > 1 && ntiles <= MAX_TILES);
    EXPECT(starpu_conf_init(&conf) == 0);
    conf.ncuda = 0;
    result = starpu_init(&conf);
    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    n = (size_t)(ntiles * ntiles) * (size_t)(size * size);
    EXPECT(starpu_malloc((void **)&matrix, n * sizeof(double)) == 0);
    for (size_t i = 0; i < n; i++)
        matrix[i] = sin((double)(i % 1009));
    invariants(matrix, &before[0], &before[1]);
    for (int i = 0; i < ntiles; i++)
        for (int j = 0; j < ntiles; j++)
            starpu_matrix_data_register(
                &tiles[i][j], STARPU_MAIN_RAM,
                (uintptr_t)&matrix[(i * ntiles + j) * size * size], (uint32_t)size,
                (uint32_t)size, (uint32_t)size, sizeof(double));
    for (int sweep = 0; sweep < nsweeps; sweep++)
        for (int k = 0; k + 1 < ntiles; k++)
            submit_window(k);
    starpu_task_wait_for_all();
    for (int i = 0; i < ntiles; i++)
        for (int j = 0; j < ntiles; j++)
            starpu_data_unregister(tiles[i][j]);
    invariants(matrix, &after[0], &after[1]);
    EXPECT_RESULT(fabs(after[0] - before[0]) < 1e-9 * before[1]);
    EXPECT_RESULT(fabs(after[1] - before[1]) < 1e-9 * before[1]);
    starpu_free_noflag(matrix, n * sizeof(double));
    starpu_shutdown();
    return 0;
}
