/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* matrix_product.c - C = A B in tiles: filters in both directions, tasks made by
 * hand with priorities, a strip of A per task and a column of B. */
#include "expect.h"

#include <starpu.h>

#define N     96
#define TILES 4

static double a[N * N], b[N * N], c[N * N];

static void multiply(void *buffers[], void *arg)
{
    const double *x = (const double *)STARPU_MATRIX_GET_PTR(buffers[0]);
    const double *y = (const double *)STARPU_MATRIX_GET_PTR(buffers[1]);
    double *z = (double *)STARPU_MATRIX_GET_PTR(buffers[2]);
    unsigned ldx = STARPU_MATRIX_GET_LD(buffers[0]);
    unsigned ldy = STARPU_MATRIX_GET_LD(buffers[1]);
    unsigned ldz = STARPU_MATRIX_GET_LD(buffers[2]);
    unsigned rows = STARPU_MATRIX_GET_NX(buffers[2]);
    unsigned columns = STARPU_MATRIX_GET_NY(buffers[2]);
    unsigned inner = STARPU_MATRIX_GET_NY(buffers[0]);

    (void)arg;
    for (unsigned j = 0; j < columns; j++)
        for (unsigned i = 0; i < rows; i++) {
            double sum = 0;

            for (unsigned k = 0; k < inner; k++)
                sum += x[i + k * ldx] * y[k + j * ldy];
            z[i + j * ldz] = sum;
        }
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "multiply"};
static struct starpu_codelet cl = {
    .cpu_funcs = {multiply},
    .cuda_funcs = {multiply},
    .nbuffers = 3,
    .modes = {STARPU_R, STARPU_R, STARPU_W},
    .model = &model,
    .name = "multiply",
};

static void submit(starpu_data_handle_t A, starpu_data_handle_t B,
                   starpu_data_handle_t C)
{
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j < TILES; j++) {
            struct starpu_task *task = starpu_task_create();

            task->cl = &cl;
            task->handles[0] = starpu_data_get_sub_data(A, 1, i);
            task->handles[1] = starpu_data_get_sub_data(B, 1, j);
            task->handles[2] = starpu_data_get_sub_data(C, 2, j, i);
            task->priority = i == j ? STARPU_MAX_PRIO : STARPU_DEFAULT_PRIO;
            EXPECT(starpu_task_submit(task) == 0);
        }
}

int main(void)
{
    struct starpu_data_filter rows = {.filter_func = starpu_matrix_filter_block,
                                      .nchildren = TILES};
    struct starpu_data_filter columns = {
        .filter_func = starpu_matrix_filter_vertical_block, .nchildren = TILES};
    starpu_data_handle_t A, B, C;
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    for (int i = 0; i < N * N; i++) {
        a[i] = i % 7;
        b[i] = i % 11;
    }
    starpu_matrix_data_register(&A, STARPU_MAIN_RAM, (uintptr_t)a, N, N, N,
                                sizeof(double));
    starpu_matrix_data_register(&B, STARPU_MAIN_RAM, (uintptr_t)b, N, N, N,
                                sizeof(double));
    starpu_matrix_data_register(&C, STARPU_MAIN_RAM, (uintptr_t)c, N, N, N,
                                sizeof(double));
    starpu_data_partition(A, &rows);
    starpu_data_partition(B, &columns);
    starpu_data_map_filters(C, 2, &columns, &rows);
    submit(A, B, C);
    EXPECT(starpu_task_wait_for_all() == 0);
    starpu_data_unpartition(A, STARPU_MAIN_RAM);
    starpu_data_unpartition(B, STARPU_MAIN_RAM);
    starpu_data_unpartition(C, STARPU_MAIN_RAM);
    starpu_data_unregister(A);
    starpu_data_unregister(B);
    starpu_data_unregister(C);
    starpu_shutdown();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;

            for (int k = 0; k < N; k++)
                sum += a[i + k * N] * b[k + j * N];
            EXPECT_RESULT(c[i + j * N] == sum);
        }
    return 0;
}
