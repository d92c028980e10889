/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * twin.c - three programs, of which twin_nf.f90 and twin_of.f90 have the same in Fortran:
 * a vector in parts, a factorisation in tiles, a reduction; and N tasks on one datum. Their
 * kernels do nothing.
 * usage: twin vector|cholesky|redux|tasks N
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

static float v[4096], m[256][256];
static double sum;

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

#define CODELET(the_name, ...)                                                             \
    static struct starpu_codelet the_name = {                                              \
        .cpu_funcs = {nothing},                                                            \
        .cuda_funcs = {nothing},                                                           \
        .name = #the_name,                                                                 \
        .nbuffers = sizeof((int[]){__VA_ARGS__}) / sizeof(int),                            \
        .modes = {__VA_ARGS__},                                                            \
    }
CODELET(scale, STARPU_RW);
CODELET(potrf, STARPU_RW);
CODELET(trsm, STARPU_R, STARPU_RW);
CODELET(syrk, STARPU_R, STARPU_RW);
CODELET(gemm, STARPU_R, STARPU_R, STARPU_RW);
CODELET(contribute, STARPU_REDUX);
CODELET(zero, STARPU_W);
CODELET(add, STARPU_RW | STARPU_COMMUTE, STARPU_R);

static void vector(int n)
{
    struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
                                   .nchildren = 8};
    starpu_data_handle_t handle;
    float factor = 2;

    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)v, 4096, sizeof(*v));
    starpu_data_map_filters(handle, 1, &f);
    for (int i = 0; i < n; i++)
        for (int part = 0; part < 8; part++)
            starpu_task_insert(&scale, STARPU_RW,
                               starpu_data_get_child(handle, (unsigned)part),
                               STARPU_VALUE, &factor, sizeof(factor), 0);
    starpu_task_wait_for_all();
    starpu_data_unpartition(handle, STARPU_MAIN_RAM);
    starpu_data_unregister(handle);
}

static void cholesky(int n)
{
    struct starpu_data_filter rows = {.filter_func = starpu_matrix_filter_block,
                                      .nchildren = (unsigned)n};
    struct starpu_data_filter columns = {
        .filter_func = starpu_matrix_filter_vertical_block, .nchildren = (unsigned)n};
    starpu_data_handle_t handle;

#define TILE(i, j) starpu_data_get_sub_data(handle, 2, i, j)
    starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)m, 256, 256, 256,
                                sizeof(**m));
    starpu_data_map_filters(handle, 2, &rows, &columns);
    for (int k = 0; k < n; k++) {
        starpu_task_insert(&potrf, STARPU_RW, TILE(k, k), STARPU_PRIORITY, 2 * (n - k), 0);
        for (int i = k + 1; i < n; i++)
            starpu_task_insert(&trsm, STARPU_R, TILE(k, k), STARPU_RW, TILE(i, k),
                               STARPU_PRIORITY, 2 * (n - k) - 1, 0);
        for (int j = k + 1; j < n; j++) {
            starpu_task_insert(&syrk, STARPU_R, TILE(j, k), STARPU_RW, TILE(j, j), 0);
            for (int i = j + 1; i < n; i++)
                starpu_task_insert(&gemm, STARPU_R, TILE(i, k), STARPU_R, TILE(j, k),
                                   STARPU_RW, TILE(i, j), 0);
        }
    }
    starpu_task_wait_for_all();
    starpu_data_unpartition(handle, STARPU_MAIN_RAM);
    starpu_data_unregister(handle);
}

static void redux(int n)
{
    starpu_data_handle_t handle;

    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&sum, sizeof(sum));
    starpu_data_set_reduction_methods(handle, &add, &zero);
    for (int i = 0; i < n; i++)
        starpu_task_insert(&contribute, STARPU_REDUX, handle, 0);
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
}

static void tasks(int n)
{
    starpu_data_handle_t handle;

    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&sum, sizeof(sum));
    for (int i = 0; i < n; i++)
        starpu_task_insert(&scale, STARPU_RW, handle, 0);
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int n);
    } programs[] = {
        {"vector", vector}, {"cholesky", cholesky}, {"redux", redux}, {"tasks", tasks}};
    double start;

    if (argc != 3 || starpu_init(NULL) != 0)
        return 77;
    start = starpu_timing_now();
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
        if (strcmp(programs[i].name, argv[1]) == 0)
            programs[i].run(atoi(argv[2]));
    printf("%.3f\n", starpu_timing_now() - start);
    starpu_shutdown();
    return 0;
}
