/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/stopped.c - a program for a debugger to stop in the middle: `middle`
 * is called by the kernel of the first task, when five others wait for its datum,
 * one for a tag, one, of nine buffers, for a tag and its data, and one without data
 * for a task. The first thread sleeps in a call that waits then.
 */
#include <starpu.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MANY = 9 };

void middle(struct starpu_task *task, starpu_data_handle_t handle);

__attribute__((noinline)) void middle(struct starpu_task *task,
                                      starpu_data_handle_t handle)
{
    __asm__ volatile("" : : "r"(task), "r"(handle));
}

/* Whether the process's first thread sleeps, by the third field of proc(5)'s stat. */
static bool first_thread_sleeps(void)
{
    char path[64], state = 'S';
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
    file = fopen(path, "r");
    if (!file)
        return true;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 'S';
    fclose(file);
    return state == 'S';
}

/* A thread may sleep on a lock for a moment: it has to be found asleep a hundred
 * times. A simulated kernel runs on the first thread itself, which waits already. */
static void let_first_thread_wait(void)
{
    if (gettid() == getpid())
        return;
    for (int asleep = 0; asleep < 100; usleep(100))
        asleep = first_thread_sleeps() ? asleep + 1 : 0;
}

static void work(void *buffers[], void *arg)
{
    struct starpu_task *task = starpu_task_get_current();

    (void)buffers;
    (void)arg;
    if (!task->name || !task->handles[0])
        return;
    let_first_thread_wait();
    middle(task, task->handles[0]);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {work},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "step",
};

static struct starpu_codelet many = {
    .cpu_funcs = {work},
    .nbuffers = STARPU_VARIABLE_NBUFFERS,
    .name = "many",
};

/* Nothing but the memory of jobs leads to it. */
static void submit_lone(struct starpu_task *gate)
{
    struct starpu_task *lone = starpu_task_create();

    lone->name = "lone";
    starpu_task_declare_deps(lone, 1, gate);
    if (starpu_task_submit(lone) != 0)
        abort();
}

static void submit(starpu_data_handle_t vector, const starpu_data_handle_t *all,
                   struct starpu_task *gate)
{
    struct starpu_data_descr descrs[MANY];

    for (int i = 0; i < MANY; i++)
        descrs[i] = (struct starpu_data_descr){all[i], STARPU_R};
    starpu_pause();
    starpu_task_insert(&cl, STARPU_RW, vector, STARPU_NAME, "first", 0);
    for (int i = 0; i < 5; i++)
        starpu_task_insert(&cl, STARPU_RW, vector, 0);
    starpu_tag_declare_deps(7, 1, (starpu_tag_t)8);
    starpu_task_insert(&cl, STARPU_RW, all[0], STARPU_TAG, (starpu_tag_t)7, 0);
    starpu_task_insert(&many, STARPU_DATA_MODE_ARRAY, descrs, MANY, 0);
    submit_lone(gate);
    starpu_resume();
}

int main(void)
{
    static float values[1000];
    static int numbers[MANY];
    starpu_data_handle_t vector, all[MANY];
    struct starpu_task *gate;
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.ncpus = 1;
    if (starpu_init(&conf) != 0)
        return 77;
    starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t)values,
                                1000, sizeof(values[0]));
    starpu_data_set_name(vector, "values");
    starpu_data_set_coordinates(vector, 2, 3, 4);
    for (int i = 0; i < MANY; i++)
        starpu_variable_data_register(&all[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&numbers[i],
                                      sizeof(numbers[i]));
    gate = starpu_task_create();
    submit(vector, all, gate);
    starpu_task_wait_for_n_submitted(3);
    if (starpu_task_submit(gate) != 0)
        abort();
    starpu_tag_notify_from_apps(8);
    starpu_task_wait_for_all();
    starpu_data_unregister(vector);
    for (int i = 0; i < MANY; i++)
        starpu_data_unregister(all[i]);
    starpu_shutdown();
    return EXIT_SUCCESS;
}
