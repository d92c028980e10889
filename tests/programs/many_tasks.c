/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* many_tasks.c - a graph of 100,000 tasks, all submitted before the first is waited
 * for: chains that meet, without data and with; then tasks that are waited for. */
#include "expect.h"

#include <starpu.h>

#define CHAINS 100
#define LINKS  1000

static void add(void *buffers[], void *arg)
{
    (void)arg;
    *(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
        *(const long *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "add"};
static struct starpu_codelet add_cl = {
    .cpu_funcs = {add},
    .cuda_funcs = {add},
    .nbuffers = 2,
    .modes = {STARPU_RW, STARPU_R},
    .model = &model,
    .name = "add",
};

/* Each chain adds its neighbour now and then. */
static void chains(void)
{
    static long value[CHAINS], right[CHAINS];
    starpu_data_handle_t chain[CHAINS];

    for (int i = 0; i < CHAINS; i++) {
        value[i] = right[i] = 1;
        starpu_variable_data_register(&chain[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&value[i], sizeof(long));
    }
    for (int j = 0; j < LINKS; j++)
        for (int i = 0; i < CHAINS; i++) {
            int other = (i + 1 + j % 3) % CHAINS;

            right[i] =
                (long)((unsigned long)right[i] + (unsigned long)right[other]);
            EXPECT(starpu_task_insert(&add_cl, STARPU_RW, chain[i], STARPU_R,
                                      chain[other], 0) == 0);
        }
    EXPECT(starpu_task_wait_for_all() == 0);
    for (int i = 0; i < CHAINS; i++)
        starpu_data_unregister(chain[i]);
    for (int i = 0; i < CHAINS; i++)
        EXPECT_RESULT(value[i] == right[i]);
}

/* A tree of empty tasks, the leaves submitted first, the root waited for. */
static void tree(void)
{
    enum { TASKS = 4095 };
    static struct starpu_task *task[TASKS];

    for (int i = TASKS - 1; i >= 0; i--) {
        task[i] = starpu_task_create();
        task[i]->cl = NULL;
        task[i]->destroy = 0;
        task[i]->detach = 0;
        if (2 * i + 2 < TASKS)
            starpu_task_declare_deps_array(task[i], 2, &task[2 * i + 1]);
    }
    for (int i = 0; i < TASKS; i++)
        EXPECT(starpu_task_submit(task[i]) == 0);
    EXPECT(starpu_task_wait(task[0]) == 0);
    for (int i = 1; i < TASKS; i++)
        EXPECT(starpu_task_finished(task[i]));
    EXPECT(starpu_task_wait_array(task + 1, TASKS - 1) == 0);
    for (int i = 0; i < TASKS; i++)
        starpu_task_destroy(task[i]);
}

int main(void)
{
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    chains();
    tree();
    starpu_shutdown();
    return 0;
}
