/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/debug/two_threads.c - a few tasks, in a process that has another thread, which
 * does nothing: a copy of the process would not have it.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <starpu.h>

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static void *sleep_on(void *arg)
{
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

int main(void)
{
    static struct starpu_codelet step = {
        .cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "step"};
    starpu_data_handle_t handle;
    pthread_t thread;
    long value = 0;

    if (pthread_create(&thread, NULL, sleep_on, NULL) != 0 || starpu_init(NULL) != 0)
        return 77;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value, sizeof(value));
    for (unsigned i = 0; i < 10; i++)
        if (starpu_task_insert(&step, STARPU_RW, handle, 0) != 0)
            return 1;
    puts("all are submitted");
    starpu_data_unregister(handle);
    starpu_shutdown();
    return 0;
}
