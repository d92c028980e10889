/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Real tasks of one buffer, for structure.py, which counts what each takes: all are
 * submitted before the first one starts. usage: structure_task NTASKS
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

static void structure_kernel(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet structure_codelet = {
    .cpu_funcs = {structure_kernel},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "structure",
};

int main(int argc, char **argv)
{
    static float values[16];
    long ntasks = argc == 2 ? atol(argv[1]) : 0;
    starpu_data_handle_t handle;

    if (ntasks <= 0 || starpu_init(NULL) != 0)
        return 1;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, 16,
                                sizeof(values[0]));
    starpu_pause();
    for (long i = 0; i < ntasks; i++) {
        if (starpu_task_insert(&structure_codelet, STARPU_RW, handle, 0) != 0)
            return 1;
    }
    starpu_resume();
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
    starpu_shutdown();
    return 0;
}
