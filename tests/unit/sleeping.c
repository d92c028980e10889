/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/sleeping.c - 300 tasks in a row, of 10 ms each when the machine is real: a
 * program to interrupt. It prints a line when some have ended.
 */
#include <starpu.h>

#include <stdio.h>
#include <unistd.h>

enum { NTASKS = 300, NEARLY = 50 };

static void rest(void *buffers[], void *arg)
{
    int *n = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);

    (void)arg;
    usleep(10000);
    if (++*n == NEARLY)
        printf("under way\n");
    fflush(stdout);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {rest},
    .cuda_funcs = {rest},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "rest",
};

int main(void)
{
    int n = 0;
    starpu_data_handle_t datum;

    if (starpu_init(NULL) != 0)
        return 77;
    starpu_variable_data_register(&datum, STARPU_MAIN_RAM, (uintptr_t)&n, sizeof(n));
    for (int i = 0; i < NTASKS; i++)
        starpu_task_insert(&cl, STARPU_RW, datum, 0);
    starpu_task_wait_for_all();
    starpu_data_unregister(datum);
    starpu_shutdown();
    return 0;
}
