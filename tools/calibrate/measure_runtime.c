/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/measure_runtime.c - a program whose only cost is that of the
 * runtime itself: empty tasks, with and without buffers, blocked and released.
 * Prints a line per cost, its name and a sample in microseconds per round. Run
 * by `orrery calibrate runtime`, with one CPU worker. Main and the worker.
 *
 * A blocker keeps the worker while main submits, so that what each does is
 * timed alone:
 *   submit   making and submitting a task that waits for another
 *   push     what it costs more if the task is ready
 *   progress what the worker takes per task without buffers, in all
 *   fetch    what it takes more for each buffer
 */
#include <starpu.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 30, WARM_UP = 5, TASKS = 500, BUFFERS = 8, MIB = 1 << 20 };

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* What main and the worker share in one round. */
struct stage {
    atomic_bool running, release; /* the blocker */
    double released, over;        /* when it ended, and the last task */
    unsigned n;                   /* tasks that have run */
};

static void block(void *buffers[], void *arg)
{
    struct stage *stage = arg;

    (void)buffers;
    atomic_store(&stage->running, true);
    while (!atomic_load(&stage->release))
        sched_yield();
    stage->released = now_us();
}

static void count(void *buffers[], void *arg)
{
    struct stage *stage = arg;

    (void)buffers;
    if (++stage->n == TASKS)
        stage->over = now_us();
}

static struct starpu_codelet blocker = {.cpu_funcs = {block},
                                        .name = "blocker"};
static struct starpu_codelet plain = {.cpu_funcs = {count}, .name = "plain"};
static struct starpu_codelet reader = {.cpu_funcs = {count},
                                       .nbuffers = BUFFERS,
                                       .modes = {STARPU_R, STARPU_R, STARPU_R,
                                                 STARPU_R, STARPU_R, STARPU_R,
                                                 STARPU_R, STARPU_R},
                                       .name = "reader"};

static void must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "measure-runtime: %s failed\n", what);
    exit(1);
}

static struct starpu_task *start_blocker(struct stage *stage)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &blocker;
    task->cl_arg = stage;
    task->cl_arg_size = 0;
    task->destroy = 0;
    must(starpu_task_submit(task), "starpu_task_submit");
    while (!atomic_load(&stage->running))
        sched_yield();
    return task;
}

static struct starpu_task *make(struct stage *stage, struct starpu_codelet *cl,
                                starpu_data_handle_t *handles)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->cl_arg = stage;
    task->cl_arg_size = 0;
    for (int i = 0; i < cl->nbuffers; i++)
        task->handles[i] = handles[i];
    return task;
}

/* µs per task that main took to make and to submit it, and the worker. */
struct lap {
    double make, submit, run;
};

static struct lap run_lap(struct starpu_codelet *cl,
                          starpu_data_handle_t *handles, bool ready)
{
    struct stage stage = {0};
    struct starpu_task *first = start_blocker(&stage), *tasks[TASKS];
    double begin = now_us();
    struct lap lap;

    for (int i = 0; i < TASKS; i++)
        tasks[i] = make(&stage, cl, handles);
    lap.make = (now_us() - begin) / TASKS;
    for (int i = 0; i < TASKS && !ready; i++)
        starpu_task_declare_deps_array(tasks[i], 1, &first);
    begin = now_us();
    for (int i = 0; i < TASKS; i++)
        must(starpu_task_submit(tasks[i]), "starpu_task_submit");
    lap.submit = (now_us() - begin) / TASKS;
    atomic_store(&stage.release, true);
    must(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    lap.run = (stage.over - stage.released) / TASKS;
    starpu_task_destroy(first);
    return lap;
}

static double time_malloc(void)
{
    double begin = now_us();
    void *address;

    must(starpu_malloc(&address, MIB), "starpu_malloc");
    must(starpu_free_noflag(address, MIB), "starpu_free");
    return now_us() - begin;
}

enum { SUBMIT, SUBMIT_BUFFER, PUSH, PROGRESS, FETCH, MALLOC, NCOSTS };

static const char *const names[NCOSTS] = {
    "submit", "submit-per-buffer", "push", "progress", "fetch", "malloc-1MiB"};

static void round_of(starpu_data_handle_t *handles, double *ret)
{
    struct lap waiting = run_lap(&plain, NULL, false);
    struct lap ready = run_lap(&plain, NULL, true);
    struct lap reading = run_lap(&reader, handles, true);

    ret[SUBMIT] = waiting.make + waiting.submit;
    ret[PUSH] = ready.submit - waiting.submit;
    ret[SUBMIT_BUFFER] =
        (reading.make + reading.submit - ready.make - ready.submit) / BUFFERS;
    ret[PROGRESS] = ready.run;
    ret[FETCH] = (reading.run - ready.run) / BUFFERS;
    ret[MALLOC] = time_malloc();
}

static void print(double samples[ROUNDS][NCOSTS])
{
    for (int f = 0; f < NCOSTS; f++) {
        fputs(names[f], stdout);
        for (int r = WARM_UP; r < ROUNDS; r++)
            printf(" %.6g", samples[r][f]);
        putchar('\n');
    }
    printf("devices %u\n", starpu_cuda_worker_get_count() +
                               starpu_opencl_worker_get_count() +
                               starpu_hip_worker_get_count());
}

int main(void)
{
    static double samples[ROUNDS][NCOSTS];
    static int variables[BUFFERS];
    starpu_data_handle_t handles[BUFFERS];

    if (starpu_init(NULL) != 0)
        return 1;
    for (int i = 0; i < BUFFERS; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&variables[i],
                                      sizeof(variables[i]));
    for (int r = 0; r < ROUNDS; r++)
        round_of(handles, samples[r]);
    for (int i = 0; i < BUFFERS; i++)
        starpu_data_unregister(handles[i]);
    print(samples);
    starpu_shutdown();
    return fflush(stdout) != 0;
}
