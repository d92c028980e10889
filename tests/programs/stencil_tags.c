/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stencil_tags.c - a one-dimensional stencil whose tasks are ordered by tags alone:
 * the data have no sequential consistency. */
#include "expect.h"

#include <starpu.h>

#define CELLS 32
#define STEPS 50

#define TAG(step, i) ((starpu_tag_t)(step)*CELLS + (starpu_tag_t)(i) + 1)

static void step(void *buffers[], void *arg)
{
    long *to = (long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    const long *from = (const long *)STARPU_VARIABLE_GET_PTR(buffers[1]);
    const long *left = (const long *)STARPU_VARIABLE_GET_PTR(buffers[2]);
    const long *right = (const long *)STARPU_VARIABLE_GET_PTR(buffers[3]);

    (void)arg;
    *to = (*from + 2 * *left + 3 * *right) % 1000003;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "step"};
static struct starpu_codelet cl = {
    .cpu_funcs = {step},
    .cuda_funcs = {step},
    .nbuffers = 4,
    .modes = {STARPU_W, STARPU_R, STARPU_R, STARPU_R},
    .model = &model,
    .name = "step",
};

static int left_of(int i)
{
    return (i + CELLS - 1) % CELLS;
}

static int right_of(int i)
{
    return (i + 1) % CELLS;
}

static void submit(starpu_data_handle_t (*cell)[CELLS], int t, int i)
{
    starpu_data_handle_t *from = cell[t % 2], *to = cell[1 - t % 2];
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl;
    task->use_tag = 1;
    task->tag_id = TAG(t, i);
    task->handles[0] = to[i];
    task->handles[1] = from[i];
    task->handles[2] = from[left_of(i)];
    task->handles[3] = from[right_of(i)];
    /* It also overwrites what these three have read a step ago. */
    if (t > 0)
        starpu_tag_declare_deps(TAG(t, i), 3, TAG(t - 1, i),
                                TAG(t - 1, left_of(i)),
                                TAG(t - 1, right_of(i)));
    EXPECT(starpu_task_submit(task) == 0);
}

static void oracle(long value[CELLS])
{
    for (int t = 0; t < STEPS; t++) {
        long old[CELLS];

        for (int i = 0; i < CELLS; i++)
            old[i] = value[i];
        for (int i = 0; i < CELLS; i++)
            value[i] =
                (old[i] + 2 * old[left_of(i)] + 3 * old[right_of(i)]) % 1000003;
    }
}

int main(void)
{
    static long value[2][CELLS], right[CELLS];
    starpu_data_handle_t cell[2][CELLS];
    starpu_tag_t last[CELLS];
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    for (int i = 0; i < CELLS; i++)
        value[0][i] = right[i] = i * i;
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < CELLS; i++) {
            starpu_variable_data_register(&cell[t][i], STARPU_MAIN_RAM,
                                          (uintptr_t)&value[t][i],
                                          sizeof(long));
            starpu_data_set_sequential_consistency_flag(cell[t][i], 0);
        }
    /* The first step last: a tag may be waited for before it has a task. */
    for (int t = STEPS - 1; t >= 0; t--)
        for (int i = 0; i < CELLS; i++)
            submit(cell, t, i);
    for (int i = 0; i < CELLS; i++)
        last[i] = TAG(STEPS - 1, i);
    EXPECT(starpu_tag_wait_array(CELLS, last) == 0);
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < CELLS; i++)
            starpu_data_unregister(cell[t][i]);
    oracle(right);
    for (int i = 0; i < CELLS; i++)
        EXPECT_RESULT(value[STEPS % 2][i] == right[i]);
    starpu_shutdown();
    return 0;
}
