/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/gpu-tasks.c - so many asynchronous tasks on one CUDA device, which do
 * nothing, on two data that stay there: what bench-gpu-tasks.py counts.
 *
 * usage: gpu-tasks NTASKS
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

static void start_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    (void)starpu_cuda_get_local_stream();
}

static struct starpu_codelet cl = {
    .cuda_funcs = {start_nothing},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 2,
    .modes = {STARPU_RW, STARPU_R},
    .name = "nothing",
};

int main(int argc, char **argv)
{
    static double values[2][64];
    starpu_data_handle_t data[2];
    long n = argc == 2 ? strtol(argv[1], NULL, 10) : 0;

    if (n <= 0) {
        fputs("usage: gpu-tasks NTASKS\n", stderr);
        return 2;
    }
    if (starpu_init(NULL) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        starpu_vector_data_register(&data[i], STARPU_MAIN_RAM,
                                    (uintptr_t)values[i], 64, sizeof(double));
    for (long i = 0; i < n; i++)
        if (starpu_task_insert(&cl, STARPU_RW, data[0], STARPU_R, data[1], 0))
            return 1;
    starpu_task_wait_for_all();
    for (int i = 0; i < 2; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
    return 0;
}
