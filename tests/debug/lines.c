/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/debug/lines.c - tasks whose lines are known in several ways, for test-lines.py:
 * lines [stuck]. Files have names that texts, XML and addresses have to escape.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <starpu.h>

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

#define CODELET(codelet)                                                       \
    static struct starpu_codelet codelet = {                                   \
        .cpu_funcs = {nothing},                                                \
        .nbuffers = 1,                                                         \
        .modes = {STARPU_RW},                                                  \
        .name = #codelet,                                                      \
    }

CODELET(called);
CODELET(said);
CODELET(inserted);

/* Tasks 1 to 3. */
static void submit_all(starpu_data_handle_t handle)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &said;
    task->handles[0] = handle;
    starpu_task_submit_line(task, "a \"folder\"/<said> & done.c", 7);
    starpu_task_insert(&inserted, STARPU_RW, handle, STARPU_TASK_FILE, "/a, b/inserted.c",
                       STARPU_TASK_LINE, 8, 0);
#line 40 "/no such/folder & more/called<1>.c"
    starpu_task_insert(&called, STARPU_RW, handle, 0);
#line 41 "tests/debug/lines.c"
}

int main(int argc, char **argv)
{
    bool stuck = argc > 1 && !strcmp(argv[1], "stuck");
    starpu_data_handle_t handle;
    static int value;

    if (starpu_init(NULL) != 0)
        return 77;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value, sizeof(value));
    if (stuck)
        starpu_data_acquire(handle, STARPU_RW);
    submit_all(handle);
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
    starpu_shutdown();
    return 0;
}
