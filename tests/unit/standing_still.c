/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/standing_still.c - a program that waits for ever: for two tasks and one more
 * behind a datum that it has acquired itself. It prints a line before that.
 */
#include <stdint.h>
#include <stdio.h>

#include <starpu.h>

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet use = {
    .cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "use"};
static struct starpu_codelet last = {
    .cpu_funcs = {nothing}, .nbuffers = 2, .modes = {STARPU_R, STARPU_W}, .name = "last"};

int main(void)
{
    static int a, b;
    starpu_data_handle_t one, other;

    if (starpu_init(NULL) != 0)
        return 77;
    starpu_variable_data_register(&one, STARPU_MAIN_RAM, (uintptr_t)&a, sizeof(a));
    starpu_variable_data_register(&other, STARPU_MAIN_RAM, (uintptr_t)&b, sizeof(b));
    starpu_data_set_name(one, "A");
    starpu_data_acquire(one, STARPU_RW);
    for (int i = 1; i <= 2; i++)
        starpu_task_insert(&use, STARPU_RW, one, STARPU_TASK_FILE, "x y.c", STARPU_TASK_LINE, i,
                           0);
    starpu_task_insert(&last, STARPU_R, one, STARPU_W, other, 0);
    puts("the tasks are submitted");
    fflush(stdout);
    starpu_task_wait_for_all();
    return 0;
}
