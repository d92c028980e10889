/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/measure_runtime.c - a program in which the runtime's own costs
 * show: tasks of 20 µs or more, with and without buffers, as an application has them:
 * on all CPU workers at once, behind kernels that have taken the first two caches. Prints a
 * line per cost, its name and a sample in microseconds per round. Run by `orrery
 * calibrate runtime`. Main and the workers.
 *
 * Main submits while the workers pause, so that what each does is timed alone:
 *   submit            making and submitting a task that waits for another
 *   submit-per-buffer what a buffer adds
 *   push              what it costs more if the task is ready
 *   progress          between two kernels without buffers on a worker, which has
 *                     ended the first and taken the second
 *   fetch             what each buffer adds, less the pushes of tasks that only
 *                     become ready then
 *   first-use-per-mib what a copy into memory takes more that was not used before
 *   wake              from before a task is submitted, whose worker has slept for 2 ms,
 *                     until it begins, less submit and push
 *   wake-soon         the same where all workers have been at work some 50 µs ago
 */
#include <starpu.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20, WARM_UP = 4, PER_WORKER = 200, MOST = 4096, MIB = 1 << 20 };
enum { BUFFERS = 3, VARIABLES = 64 }; /* of a task; in turns */
enum { LINE = 64, LEAST_CACHE = 256 << 10, MOST_CACHE = 4 << 20 };
#define KERNEL_US 20.
/* How long workers have had nothing to do: long, and for a moment, to which comes what main takes
 * to notice that they have ended. */
enum { LATE_US = 2000, SOON_US = 30 };

static double runtime_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* What a worker notes in a lap. */
struct diary {
    double ended; /* when its last kernel did, 0: none has */
    unsigned n;
    double gaps[MOST]; /* µs between two kernels */
    char *cache;       /* what a kernel walks through */
};

static double last_began; /* µs, of the last kernel that did */

static long ncache; /* bytes of it: the second-level cache */

static struct diary *diaries[STARPU_NMAXWORKERS];

static void kernel(void *buffers[], void *arg)
{
    struct diary *diary = diaries[starpu_worker_get_id_check()];
    double began = runtime_now_us();

    (void)buffers;
    (void)arg;
    last_began = began;
    if (diary->ended > 0 && diary->n < MOST)
        diary->gaps[diary->n++] = began - diary->ended;
    for (long i = 0; i < ncache; i += LINE)
        diary->cache[i]++;
    while (runtime_now_us() - began < KERNEL_US)
        ;
    diary->ended = runtime_now_us();
}

static struct starpu_codelet plain = {.cpu_funcs = {kernel}, .name = "plain"};
static struct starpu_codelet worked = {.cpu_funcs = {kernel},
                                       .nbuffers = BUFFERS,
                                       .modes = {STARPU_R, STARPU_R, STARPU_RW},
                                       .name = "worked"};

static void find_cache(void)
{
    ncache = sysconf(_SC_LEVEL2_CACHE_SIZE); /* 0, -1: unknown */
    ncache = ncache < LEAST_CACHE  ? LEAST_CACHE
             : ncache > MOST_CACHE ? MOST_CACHE
                                   : ncache;
}

static void must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "measure-runtime: %s failed\n", what);
    exit(1);
}

static struct starpu_task *make_measured_task(struct starpu_codelet *cl,
                                              unsigned number,
                                              starpu_data_handle_t *handles)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    for (int i = 0; i < cl->nbuffers; i++)
        task->handles[i] = handles[(number * BUFFERS + i * 17) % VARIABLES];
    return task;
}

/* µs per task that main took to make and to submit it, between two kernels of a
 * worker, and the share of the tasks that were ready when they were submitted. */
struct lap {
    double submit, gap, ready;
};

static int cost_sample_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of all workers' gaps, which begin anew. */
static double take_gaps(void)
{
    static double all[STARPU_NMAXWORKERS * PER_WORKER];
    unsigned n = 0;

    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        struct diary *diary = diaries[w];

        for (unsigned i = 0; i < diary->n && n < sizeof(all) / sizeof(*all);
             i++)
            all[n++] = diary->gaps[i];
        diary->n = 0;
        diary->ended = 0;
    }
    qsort(all, n, sizeof(*all), cost_sample_compare);
    return n > 0 ? all[n / 2] : 0;
}

/* `waiting`: the tasks wait for one that main ends once they are submitted. */
static struct lap run_lap(struct starpu_codelet *cl,
                          starpu_data_handle_t *handles, bool waiting)
{
    unsigned ntasks = PER_WORKER * starpu_worker_get_count();
    struct starpu_task *task, *first = NULL;
    struct lap lap;
    double begin;

    starpu_pause();
    if (waiting) {
        first = make_measured_task(&plain, 0, NULL);
        first->destroy = 0;
        must(starpu_task_submit(first), "starpu_task_submit");
    }
    begin = runtime_now_us();
    for (unsigned i = 0; i < ntasks; i++) {
        task = make_measured_task(cl, i, handles);
        if (waiting)
            starpu_task_declare_deps_array(task, 1, &first);
        must(starpu_task_submit(task), "starpu_task_submit");
    }
    lap.submit = (runtime_now_us() - begin) / ntasks;
    lap.ready = (double)starpu_task_nready() / ntasks;
    starpu_resume();
    must(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    lap.gap = take_gaps();
    if (first)
        starpu_task_destroy(first);
    return lap;
}

static double time_malloc(void)
{
    double begin = runtime_now_us();
    void *address;

    must(starpu_malloc(&address, MIB), "starpu_malloc");
    must(starpu_free_noflag(address, MIB), "starpu_free");
    return runtime_now_us() - begin;
}

/* As large allocations are: from the system, and given back to it. */
static double time_first_use(void)
{
    enum { BYTES = 8 * MIB }; /* more than caches have */
    static char from[BYTES] = {1};
    double begin, middle, end;
    char *to = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    must(to == MAP_FAILED ? -1 : 0, "mmap");
    begin = runtime_now_us();
    memcpy(to, from, BYTES);
    middle = runtime_now_us();
    memcpy(to, from, BYTES);
    end = runtime_now_us();
    must(munmap(to, BYTES), "munmap");
    return (middle - begin - (end - middle)) * MIB / BYTES;
}

static void run_tasks(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        must(starpu_task_submit(make_measured_task(&plain, 0, NULL)),
             "starpu_task_submit");
    must(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    (void)take_gaps();
}

/* From before a task is submitted, whose worker sleeps, until its kernel begins. */
static double time_start(void)
{
    double begin = runtime_now_us();

    run_tasks(1);
    return last_began - begin;
}

static double time_late_start(void)
{
    usleep(LATE_US);
    return time_start();
}

/* All workers have just been at work, and any of them may be the one. */
static double time_soon_start(void)
{
    double begin;

    run_tasks(4 * starpu_worker_get_count());
    begin = runtime_now_us();
    while (runtime_now_us() - begin < SOON_US)
        ;
    return time_start();
}

enum {
    SUBMIT,
    SUBMIT_BUFFER,
    PUSH,
    PROGRESS,
    FETCH,
    WAKE,
    WAKE_SOON,
    FIRST_USE,
    MALLOC,
    NCOSTS
};

static const char *const names[NCOSTS] = {
    "submit",    "submit-per-buffer", "push",       "progress", "fetch", "wake",
    "wake-soon", "first-use-per-mib", "malloc-1MiB"};

static void round_of(starpu_data_handle_t *handles, double *ret)
{
    struct lap waiting = run_lap(&plain, NULL, true);
    struct lap ready = run_lap(&plain, NULL, false);
    struct lap working = run_lap(&worked, handles, false);
    double push = ready.submit - waiting.submit;

    ret[SUBMIT] = waiting.submit;
    ret[PUSH] = push;
    ret[SUBMIT_BUFFER] =
        (working.submit - waiting.submit - working.ready * push) / BUFFERS;
    ret[PROGRESS] = ready.gap;
    ret[FETCH] =
        (working.gap - ready.gap - (1 - working.ready) * push) / BUFFERS;
    ret[WAKE] = time_late_start() - waiting.submit - push;
    ret[WAKE_SOON] = time_soon_start() - waiting.submit - push;
    ret[FIRST_USE] = time_first_use();
    ret[MALLOC] = time_malloc();
}

static void print_cost_samples(double samples[ROUNDS][NCOSTS])
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
    static int variables[VARIABLES];
    starpu_data_handle_t handles[VARIABLES];

    if (starpu_init(NULL) != 0)
        return 1;
    find_cache();
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        diaries[w] = calloc(1, sizeof(**diaries));
        must(diaries[w] ? 0 : -1, "calloc");
        diaries[w]->cache = calloc(1, (size_t)ncache);
        must(diaries[w]->cache ? 0 : -1, "calloc");
    }
    for (int i = 0; i < VARIABLES; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&variables[i],
                                      sizeof(variables[i]));
    for (int r = 0; r < ROUNDS; r++)
        round_of(handles, samples[r]);
    for (int i = 0; i < VARIABLES; i++)
        starpu_data_unregister(handles[i]);
    print_cost_samples(samples);
    starpu_shutdown();
    return fflush(stdout) != 0;
}
