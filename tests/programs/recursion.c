/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recursion.c - tasks whose callbacks submit more tasks, as divide and conquer does:
 * a sum of an interval, halved until it is short. */
#include "expect.h"

#include <starpu.h>

#define N     20000
#define SHORT 64

static long total;
static unsigned submitted;
static starpu_data_handle_t sum;

struct interval {
    int from, to;
};

static void add(void *buffers[], void *arg)
{
    const struct interval *part = arg;
    long *to = (long *)STARPU_VARIABLE_GET_PTR(buffers[0]);

    for (int i = part->from; i < part->to; i++)
        *to += i;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "add"};
static struct starpu_codelet add_cl = {
    .cpu_funcs = {add},
    .nbuffers = 1,
    .modes = {STARPU_RW | STARPU_COMMUTE},
    .model = &model,
    .name = "add",
};

static void submit(int from, int to);

static void split(void *arg)
{
    const struct interval *part = arg;
    int middle = (part->from + part->to) / 2;

    submit(part->from, middle);
    submit(middle, part->to);
}

static void submit(int from, int to)
{
    struct starpu_task *task = starpu_task_create();
    struct interval *part = malloc(sizeof(*part));

    EXPECT(part);
    *part = (struct interval){from, to};
    task->cl_arg = part;
    task->cl_arg_size = sizeof(*part);
    if (to - from > SHORT) { /* no kernel, only the callback */
        task->cl = NULL;
        task->callback_func = split;
        task->callback_arg = part;
        task->callback_arg_free = 1;
    } else {
        task->cl = &add_cl;
        task->handles[0] = sum;
        task->cl_arg_free = 1;
        task->name = "short";
    }
    __atomic_fetch_add(&submitted, 1, __ATOMIC_RELAXED);
    EXPECT(starpu_task_submit(task) == 0);
}

int main(void)
{
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    starpu_variable_data_register(&sum, STARPU_MAIN_RAM, (uintptr_t)&total,
                                  sizeof(total));
    submit(0, N);
    EXPECT(starpu_task_wait_for_all() == 0);
    EXPECT(starpu_task_nsubmitted() == 0);
    starpu_data_unregister(sum);
    EXPECT(submitted == 1023);
    EXPECT_RESULT(total == (long)N * (N - 1) / 2);
    starpu_shutdown();
    return 0;
}
