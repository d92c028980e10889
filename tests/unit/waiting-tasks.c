/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/waiting-tasks.c - a program whose tasks wait for each other in all ways,
 * by chance, for test-trace-formats.py. Half of them in ways of which is known what a
 * task waits for when it is submitted; then, by KIND:
 *   plain  the same
 *   tags   also by tags
 *   late   also for tasks that are submitted later
 *   joins  also for many by way of one that has no kernel, so that many wait for it
 *   wide   more of both
 * At the end it says on stderr how many threads there are.
 *
 * usage: waiting-tasks KIND SEED BATCHES
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "tests/rng.h"

enum { NDATA = 12, BATCH = 9, LENGTH = 64 };

static float data[NDATA][LENGTH];
static starpu_data_handle_t handles[NDATA];
static uint64_t rng;

static void compute(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static struct starpu_codelet codelets[] = {
    {.cpu_funcs = {compute},
     .cuda_funcs = {compute},
     .nbuffers = 1,
     .modes = {STARPU_RW},
     .name = "writes"},
    {.cpu_funcs = {compute},
     .cuda_funcs = {compute},
     .nbuffers = 3,
     .modes = {STARPU_R, STARPU_R, STARPU_RW},
     .name = "reads"},
    {.cpu_funcs = {compute},
     .cuda_funcs = {compute},
     .nbuffers = 1,
     .modes = {STARPU_RW | STARPU_COMMUTE},
     .name = "commutes"},
    {.cpu_funcs = {compute}, .name = "\"has\\no data\""},
};

static unsigned chance(unsigned n)
{
    return (unsigned)(rng_next(&rng) % n);
}

/* Every so often one without a kernel. */
static struct starpu_task *make(void)
{
    struct starpu_task *task = starpu_task_create();
    unsigned first = chance(NDATA);

    if (chance(8) == 0)
        return task;
    task->cl = &codelets[chance(4)];
    for (int b = 0; b < task->cl->nbuffers; b++)
        task->handles[b] = handles[(first + 5 * (unsigned)b) % NDATA];
    return task;
}

static void submit(struct starpu_task *task)
{
    if (starpu_task_submit(task) != 0)
        exit(EXIT_FAILURE);
}

static void released(void *arg)
{
    starpu_data_release(*(starpu_data_handle_t *)arg);
}

/* Declared among themselves, each for earlier ones; `late`: and one, without data, for
 * the last, which comes after it. */
static void submit_batch(bool late)
{
    struct starpu_task *tasks[BATCH], *early = starpu_task_create();

    early->cl = &codelets[3];

    for (unsigned i = 0; i < BATCH; i++) {
        tasks[i] = make();
        for (unsigned d = i ? chance(3) : 0; d > 0; d--)
            starpu_task_declare_deps_array(tasks[i], 1, &tasks[chance(i)]);
    }
    if (late)
        starpu_task_declare_deps_array(early, 1, &tasks[BATCH - 1]);
    submit(early);
    for (unsigned i = 0; i < BATCH; i++)
        submit(tasks[i]);
    if (chance(5) == 0) {
        starpu_data_handle_t *handle = &handles[chance(NDATA)];

        if (starpu_data_acquire_cb(*handle, chance(2) ? STARPU_R : STARPU_RW,
                                   released, handle) != 0)
            exit(EXIT_FAILURE);
    }
}

static void submit_tagged(starpu_tag_t tag)
{
    struct starpu_task *task = make();

    task->use_tag = 1;
    task->tag_id = tag;
    if (tag > 2) {
        starpu_tag_t before[] = {tag - 1, tag - 2};

        starpu_tag_declare_deps_array(tag, 2, before);
    }
    submit(task);
}

/* `n` tasks, one that waits for them, `n` that wait for that one. */
static void submit_join(unsigned n)
{
    struct starpu_task *join = starpu_task_create();
    struct starpu_task **tasks = calloc(n, sizeof(struct starpu_task *));

    for (unsigned i = 0; i < n; i++) {
        tasks[i] = starpu_task_create();
        tasks[i]->cl = &codelets[3];
        starpu_task_declare_deps_array(join, 1, &tasks[i]);
    }
    for (unsigned i = 0; i < n; i++) {
        struct starpu_task *after = starpu_task_create();
        struct starpu_task *before = tasks[i];

        after->cl = &codelets[3];
        starpu_task_declare_deps_array(after, 1, &join);
        tasks[i] = after;
        submit(before);
    }
    submit(join);
    for (unsigned i = 0; i < n; i++)
        submit(tasks[i]);
    free(tasks);
}

static void submit_kind(const char *kind, unsigned batch)
{
    submit_batch(!strcmp(kind, "late"));
    if (!strcmp(kind, "tags"))
        for (unsigned i = 1; i <= 3; i++)
            submit_tagged(3 * batch + i);
    if (!strcmp(kind, "joins") || !strcmp(kind, "wide"))
        submit_join(*kind == 'j' ? 80 : 180);
}

static unsigned count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    unsigned n = 0;

    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n > 2 ? n - 2 : 0; /* "." and ".." */
}

int main(int argc, char **argv)
{
    unsigned batches = argc > 3 ? (unsigned)atoi(argv[3]) : 0;

    if (argc < 4)
        return 2;
    rng = rng_of((uint64_t)atoll(argv[2]));
    if (starpu_init(NULL) != 0)
        return 77;
    for (unsigned d = 0; d < NDATA; d++)
        starpu_vector_data_register(&handles[d], STARPU_MAIN_RAM,
                                    (uintptr_t)data[d], LENGTH, sizeof(**data));
    for (unsigned i = 0; i < batches; i++)
        submit_batch(false);
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < 5; i++)
        submit_kind(argv[1], i);
    starpu_task_wait_for_all();
    fprintf(stderr, "%u\n", count_threads());
    for (unsigned d = 0; d < NDATA; d++)
        starpu_data_unregister(handles[d]);
    starpu_shutdown();
    return EXIT_SUCCESS;
}
