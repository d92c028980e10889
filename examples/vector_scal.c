/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vector_scal.c - a first program: multiplies a vector by a number, in pieces
 * that workers handle side by side. Start reading here.
 */
#include <stdio.h>
#include <stdlib.h>

#include <orrery.h>
#include <starpu.h>

#define LENGTH 1000000
#define PIECES 8

/* The kernel. `buffers` holds the data of the task, `arg` its values. */
static void scale(void *buffers[], void *arg)
{
    float *x = (float *)STARPU_VECTOR_GET_PTR(buffers[0]);
    unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);
    float factor;

    starpu_codelet_unpack_args(arg, &factor);
    for (unsigned i = 0; i < n; i++)
        x[i] *= factor;
}

/* The kernel's times are measured while it runs, and kept on disk. */
static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "vector_scal"};

/* The description of the kernel. */
static struct starpu_codelet codelet = {
    .cpu_funcs = {scale},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .model = &model,
    .name = "scale",
};

/* Submits a task per piece. Those of the second round wait for those of the
 * first implicitly, since they write the same pieces. */
static int submit(starpu_data_handle_t vector, float factor)
{
    for (unsigned round = 0; round < 2; round++)
        for (unsigned piece = 0; piece < PIECES; piece++) {
            int result = starpu_task_insert(
                &codelet, STARPU_RW, starpu_data_get_sub_data(vector, 1, piece),
                STARPU_VALUE, &factor, sizeof(factor), 0);

            if (result != 0)
                return result;
        }
    return 0;
}

int main(void)
{
    struct starpu_data_filter pieces = {
        .filter_func = starpu_vector_filter_block, .nchildren = PIECES};
    starpu_data_handle_t vector;
    float *x = malloc(LENGTH * sizeof(*x));
    int result = x ? starpu_init(NULL) : -1;

    if (result != 0) {
        fprintf(stderr, "vector_scal: the runtime does not start\n");
        free(x);
        return EXIT_FAILURE;
    }
    for (unsigned i = 0; i < LENGTH; i++)
        x[i] = 1.0f;
    starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t)x, LENGTH,
                                sizeof(*x));
    starpu_data_partition(vector, &pieces);
    result = submit(vector, 1.5f);
    starpu_task_wait_for_all();

    /* Bring the pieces back to main memory before reading them. */
    starpu_data_unpartition(vector, STARPU_MAIN_RAM);
    starpu_data_unregister(vector);
    if (orrery_is_simulated() && !orrery_runs_kernels())
        puts("simulated: time passed, but no kernel ran");
    else
        printf("x[0] = %.2f (1 * 1.5 * 1.5 = 2.25)\n", (double)x[0]);
    starpu_shutdown();
    free(x);
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
