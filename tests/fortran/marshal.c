/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* marshal.c - what stands between f90_marshal.f90 and the library. */
#include <starpu.h>

void scale_column(int n, double *column, double factor);
void submit_columns(int n, int m, double *matrix);

static void scale(void *buffers[], void *arg)
{
    double factor;

    starpu_codelet_unpack_args(arg, &factor);
    scale_column((int)STARPU_VECTOR_GET_NX(buffers[0]),
                 (double *)STARPU_VECTOR_GET_PTR(buffers[0]), factor);
}

static struct starpu_codelet codelet = {
    .cpu_funcs = {scale},
    .name = "scale_column",
    .nbuffers = 1,
    .modes = {STARPU_RW},
};

void submit_columns(int n, int m, double *matrix)
{
    for (int j = 0; j < m; j++) {
        starpu_data_handle_t column;
        double factor = j + 1;

        starpu_vector_data_register(&column, STARPU_MAIN_RAM, (uintptr_t)&matrix[j * n],
                                    (uint32_t)n, sizeof(*matrix));
        starpu_task_insert(&codelet, STARPU_RW, column, STARPU_VALUE, &factor,
                           sizeof(factor), 0);
        starpu_data_unregister(column);
    }
}
