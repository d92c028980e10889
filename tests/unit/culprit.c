/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/culprit.c - runs that take long for one known reason, drawn by a
 * seed, for test-explain.py. One thread.
 *
 * usage: culprit SHAPE SEED
 *   streams   independent tasks, each with data of its own
 *   reuse     tasks that use a set of data again and again
 *   tiny      very many short tasks
 *   inverted  a chain of low priority beside tasks of high priority
 *   mixed     independent tasks for any worker
 *   chain     a chain, and few tasks beside it
 *   urgent    a chain of high priority beside many more tasks of another kernel
 *   commuting  tasks that write one datum in any order, and few tasks beside them
 *   phases    few tasks, and the application waits for them, again and again:
 *             for all, one, a tag or their data
 *   pauses    independent tasks, before each of which the application names the datum
 *             and sleeps
 *   sums      rounds of tasks that contribute to a sum, for which it waits
 *   uneven    independent tasks of one kernel, of which one is much longer
 *   pingpong  a chain of which every other task is on another device
 *   bound     independent tasks that are all for worker 1
 *   parts     a datum as a whole on processors and in planned parts on devices, in turn
 *   unparts   a datum in parts on devices, gathered by the application, again and again
 *   reads     tasks on a device, and the application reads what each has written
 *   rounds    independent tasks on large data, in rounds
 *   waits     ten kernels on worker 0 that each wait for a task on worker 1
 *   models    for a real run: kernels of one length, of which one has a wrong model
 *
 * CULPRIT_CPU and CULPRIT_CUDA are how long a task takes there, µs. With CULPRIT_PROMPT
 * the application neither waits nor sleeps before it has submitted all.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <starpu.h>

enum { MAX_DATA = 512 };

static starpu_data_handle_t handles[MAX_DATA];
static uint32_t state;
static bool prompt;

static void compute(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static double cost(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
                   unsigned nimpl)
{
    const char *us =
        getenv(arch->devices[0].type == STARPU_CPU_WORKER ? "CULPRIT_CPU"
                                                          : "CULPRIT_CUDA");

    (void)nimpl;
    return (us ? atof(us) : 100) *
           (task->cl_arg ? *(const double *)task->cl_arg : 1);
}

static struct starpu_perfmodel model = {
    .type = STARPU_PER_ARCH, .arch_cost_function = cost, .symbol = "culprit"};

static struct starpu_codelet any = {.cpu_funcs = {compute},
                                    .cuda_funcs = {compute},
                                    .nbuffers = 1,
                                    .modes = {STARPU_RW},
                                    .model = &model,
                                    .name = "any"};
static struct starpu_perfmodel beside_model = {
    .type = STARPU_PER_ARCH, .arch_cost_function = cost, .symbol = "beside"};

static struct starpu_codelet beside = {.cpu_funcs = {compute},
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .model = &beside_model,
                                       .name = "beside"};
static struct starpu_codelet commutes = {.cpu_funcs = {compute},
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW | STARPU_COMMUTE},
                                         .model = &model,
                                         .name = "commutes"};
static struct starpu_codelet gpu = {.cuda_funcs = {compute},
                                    .nbuffers = 1,
                                    .modes = {STARPU_RW},
                                    .model = &model,
                                    .name = "gpu"};
static struct starpu_codelet reads = {.cuda_funcs = {compute},
                                      .nbuffers = 2,
                                      .modes = {STARPU_R, STARPU_RW},
                                      .model = &model,
                                      .name = "gpu"};

static struct starpu_codelet adds = {.cpu_funcs = {compute},
                                     .nbuffers = 1,
                                     .modes = {STARPU_REDUX},
                                     .model = &model,
                                     .name = "adds"};
static struct starpu_codelet zero = {.cpu_funcs = {compute},
                                     .nbuffers = 1,
                                     .modes = {STARPU_W},
                                     .model = &model,
                                     .name = "zero"};
static struct starpu_codelet sum = {
    .cpu_funcs = {compute},
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
    .model = &model,
    .name = "sum"};

/* From least to most; the same everywhere. */
static unsigned draw(unsigned least, unsigned most)
{
    state = state * 1664525u + 1013904223u;
    return least + (state >> 8) % (most - least + 1);
}

/* Few runs touch them: memory of malloc, which tests have it fill, would take longer than the
 * runs. */
static void make_data(unsigned n, size_t bytes)
{
    char *memory = mmap(NULL, n * bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        exit(EXIT_FAILURE);
    for (unsigned i = 0; i < n; i++)
        starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
                                    (uintptr_t)(memory + i * bytes),
                                    (uint32_t)bytes, 1);
}

static void insert(struct starpu_codelet *cl, unsigned datum, int priority)
{
    if (starpu_task_insert(cl, STARPU_RW, handles[datum], STARPU_PRIORITY,
                           priority, 0) != 0)
        exit(EXIT_FAILURE);
}

/* The application waits for what it has submitted last, in one way or another. */
static void wait_somehow(unsigned way, unsigned datum, struct starpu_task *last)
{
    int rc;

    if (prompt)
        return;
    if (way == 0)
        rc = starpu_task_wait_for_all();
    else if (way == 1)
        rc = starpu_task_wait(last);
    else if (way == 2)
        rc = starpu_tag_wait(datum);
    else
        rc = starpu_data_acquire(handles[datum], STARPU_R);
    if (rc != 0)
        exit(EXIT_FAILURE);
    if (way == 3)
        starpu_data_release(handles[datum]);
}

static void insert_phase(unsigned way, unsigned first, unsigned n)
{
    struct starpu_task *task = NULL;

    for (unsigned i = 0; i < n; i++) {
        task = starpu_task_create();
        task->cl = &any;
        task->handles[0] = handles[first + i];
        task->detach = prompt || way != 1 || i + 1 < n;
        task->use_tag = 1;
        task->tag_id = first + i;
        if (starpu_task_submit(task) != 0)
            exit(EXIT_FAILURE);
    }
    wait_somehow(way, first + n - 1, task);
}

static void insert_round(unsigned tasks)
{
    for (unsigned i = 0; i < tasks; i++)
        if (starpu_task_insert(&adds, STARPU_REDUX, handles[0], 0) != 0)
            exit(EXIT_FAILURE);
    if (starpu_data_acquire(handles[0], STARPU_R) != 0)
        exit(EXIT_FAILURE);
    starpu_data_release(handles[0]);
}

static void wait_for_another(void *buffers[], void *arg)
{
    struct starpu_task *task = starpu_task_create();

    (void)buffers, (void)arg;
    task->cl = &any;
    task->handles[0] = handles[1];
    task->detach = 0;
    task->execute_on_a_specific_worker = 1;
    task->workerid = 1;
    if (starpu_task_submit(task) != 0 || starpu_task_wait(task) != 0)
        exit(EXIT_FAILURE);
}

static struct starpu_codelet waits = {.cpu_funcs = {wait_for_another},
                                      .nbuffers = 1,
                                      .modes = {STARPU_RW},
                                      .name = "waits",
                                      .flags = STARPU_CODELET_SIMGRID_EXECUTE};

enum { SPIN_US = 200 };

static double wrong_times; /* as long as it takes, or as short */

static void spin(void *buffers[], void *arg)
{
    double end = starpu_timing_now() + SPIN_US;

    (void)buffers, (void)arg;
    while (starpu_timing_now() < end)
        ;
}

static double right_cost(struct starpu_task *task,
                         struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
    (void)task, (void)arch, (void)nimpl;
    return SPIN_US;
}

static double wrong_cost(struct starpu_task *task,
                         struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
    return right_cost(task, arch, nimpl) * wrong_times;
}

static struct starpu_perfmodel right_model = {.type = STARPU_PER_ARCH,
                                              .arch_cost_function = right_cost,
                                              .symbol = "right"};
static struct starpu_perfmodel wrong_model = {.type = STARPU_PER_ARCH,
                                              .arch_cost_function = wrong_cost,
                                              .symbol = "wrong"};
static struct starpu_codelet right = {.cpu_funcs = {spin},
                                      .nbuffers = 1,
                                      .modes = {STARPU_RW},
                                      .model = &right_model,
                                      .name = "right"};
static struct starpu_codelet wrong = {.cpu_funcs = {spin},
                                      .nbuffers = 1,
                                      .modes = {STARPU_RW},
                                      .model = &wrong_model,
                                      .name = "wrong"};

/* Both as often, in any order. */
static unsigned insert_models(void)
{
    unsigned n = draw(20, 40), left[2] = {n, n};

    wrong_times = draw(10, 100);
    if (draw(0, 1023) < 512)
        wrong_times = 1 / wrong_times;
    make_data(2 * n, 64);
    for (unsigned i = 0; i < 2 * n; i++) {
        unsigned k = draw(1, left[0] + left[1]) > left[0];

        left[k]--;
        insert(k ? &wrong : &right, i, 0);
    }
    return 2 * n;
}

static unsigned insert_uneven(void)
{
    static const double length = 100;
    unsigned n = draw(20, 40);

    make_data(n, 64);
    for (unsigned i = 1; i < n; i++)
        insert(&any, i, 0);
    if (starpu_task_insert(&any, STARPU_RW, handles[0], STARPU_CL_ARGS_NFREE,
                           &length, sizeof(length), 0) != 0)
        exit(EXIT_FAILURE);
    return n;
}

static unsigned insert_pingpong(void)
{
    int devices[2];

    if (starpu_worker_get_ids_by_type(STARPU_CUDA_WORKER, devices, 2) == 0)
        exit(EXIT_FAILURE);
    make_data(1, (size_t)8 << 20);
    for (unsigned i = 0, tasks = draw(20, 40); i < tasks; i++)
        if (starpu_task_insert(&gpu, STARPU_RW, handles[0],
                               STARPU_EXECUTE_ON_WORKER, devices[i % 2],
                               0) != 0)
            exit(EXIT_FAILURE);
    return 1;
}

enum { NPARTS = 8 };

static unsigned insert_parts(bool planned)
{
    struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
                                   .nchildren = NPARTS};
    starpu_data_handle_t parts[NPARTS];

    make_data(1, (size_t)64 << 20);
    if (planned)
        starpu_data_partition_plan(handles[0], &f, parts);
    for (unsigned rounds = draw(5, 10); rounds > 0; rounds--) {
        if (planned)
            insert(&beside, 0, 0);
        else
            starpu_data_partition(handles[0], &f);
        for (unsigned i = 0; i < NPARTS; i++)
            if (starpu_task_insert(
                    &gpu, STARPU_RW,
                    planned ? parts[i]
                            : starpu_data_get_child(handles[0], (int)i),
                    0) != 0)
                exit(EXIT_FAILURE);
        if (!planned)
            starpu_data_unpartition(handles[0], STARPU_MAIN_RAM);
    }
    if (planned) {
        starpu_task_wait_for_all();
        starpu_data_partition_clean(handles[0], NPARTS, parts);
    }
    return 1;
}

static unsigned run(const char *shape)
{
    unsigned n = 0;

    if (!strcmp(shape, "streams")) {
        n = draw(60, 160);
        make_data(n, (size_t)draw(2, 4) << 20);
        for (unsigned i = 0; i < n; i++)
            insert(&gpu, i, 0);
    } else if (!strcmp(shape, "reuse")) {
        n = draw(24, 40);
        make_data(n + 4, (size_t)4 << 20);
        for (unsigned i = 0; i < 8 * n; i++)
            starpu_task_insert(&reads, STARPU_R, handles[draw(0, n - 1)],
                               STARPU_RW, handles[n + i % 4], 0);
        n += 4;
    } else if (!strcmp(shape, "tiny")) {
        n = 64;
        make_data(n, 64);
        for (unsigned i = 0, tasks = draw(2000, 4000); i < tasks; i++)
            insert(&any, i % n, 0);
    } else if (!strcmp(shape, "inverted")) {
        unsigned length = draw(20, 40), others = draw(60, 120);

        n = others + 1;
        make_data(n, 64);
        for (unsigned i = 0; i < length; i++)
            insert(&any, 0, STARPU_MIN_PRIO);
        for (unsigned i = 0; i < others; i++)
            insert(&any, 1 + i, STARPU_MAX_PRIO);
    } else if (!strcmp(shape, "mixed")) {
        n = draw(100, 200);
        make_data(n, 4096);
        for (unsigned i = 0; i < n; i++)
            insert(&any, i, 0);
    } else if (!strcmp(shape, "chain")) {
        unsigned length = draw(60, 120);

        n = draw(10, 30);
        make_data(n, 4096);
        for (unsigned i = 0; i < length; i++)
            insert(&any, 0, 0);
        for (unsigned i = 1; i < n; i++)
            insert(&any, i, 0);
    } else if (!strcmp(shape, "urgent")) {
        unsigned length = draw(60, 120);

        n = 3 * length;
        make_data(n, 64);
        for (unsigned i = 0; i < length; i++)
            insert(&any, 0, STARPU_MAX_PRIO);
        for (unsigned i = 1; i < n; i++)
            insert(&beside, i, STARPU_MIN_PRIO);
    } else if (!strcmp(shape, "commuting")) {
        unsigned tasks = draw(60, 120);

        n = draw(10, 30);
        make_data(n, 4096);
        for (unsigned i = 0; i < tasks; i++)
            if (starpu_task_insert(&commutes, STARPU_RW | STARPU_COMMUTE,
                                   handles[0], 0) != 0)
                exit(EXIT_FAILURE);
        for (unsigned i = 1; i < n; i++)
            insert(&any, i, 0);
    } else if (!strcmp(shape, "phases")) {
        unsigned tasks = draw(2, 5), phases = draw(10, 40);
        unsigned way = draw(0, 1023) / 256;

        n = tasks * phases;
        make_data(n, 4096);
        for (unsigned i = 0; i < phases; i++)
            insert_phase(way, i * tasks, tasks);
    } else if (!strcmp(shape, "pauses")) {
        unsigned us = draw(20, 200);

        n = draw(60, 120);
        make_data(n, 4096);
        for (unsigned i = 0; i < n; i++) {
            float pause = (float)draw(us / 2, 2 * us);

            starpu_data_set_name(handles[i], "paused");
            if (!prompt)
                starpu_usleep(pause);
            insert(&any, i, 0);
        }
    } else if (!strcmp(shape, "sums")) {
        n = 1;
        make_data(n, 4096);
        starpu_data_set_reduction_methods(handles[0], &sum, &zero);
        for (unsigned i = draw(5, 10); i > 0; i--)
            insert_round(100);
    } else if (!strcmp(shape, "models")) {
        n = insert_models();
    } else if (!strcmp(shape, "bound")) {
        n = draw(20, 40);
        make_data(n, 64);
        for (unsigned i = 0; i < n; i++)
            if (starpu_task_insert(&any, STARPU_RW, handles[i],
                                   STARPU_EXECUTE_ON_WORKER, 1, 0) != 0)
                exit(EXIT_FAILURE);
    } else if (!strcmp(shape, "parts") || !strcmp(shape, "unparts")) {
        n = insert_parts(*shape == 'p');
    } else if (!strcmp(shape, "reads")) {
        n = draw(20, 40);
        make_data(n, (size_t)4 << 20);
        for (unsigned i = 0; i < n; i++) {
            insert(&gpu, i, 0);
            wait_somehow(3, i, NULL);
        }
    } else if (!strcmp(shape, "rounds")) {
        n = draw(150, 200);
        make_data(n, (size_t)16 << 20);
        for (unsigned i = 0; i < 4 * n; i++)
            insert(&gpu, i % n, 0);
    } else if (!strcmp(shape, "uneven")) {
        n = insert_uneven();
    } else if (!strcmp(shape, "pingpong")) {
        n = insert_pingpong();
    } else if (!strcmp(shape, "waits")) {
        n = 2;
        make_data(n, 64);
        for (unsigned i = 0; i < 10; i++)
            if (starpu_task_insert(&waits, STARPU_RW, handles[0],
                                   STARPU_EXECUTE_ON_WORKER, 0, 0) != 0)
                exit(EXIT_FAILURE);
    }
    return n;
}

int main(int argc, char **argv)
{
    unsigned n;

    if (argc != 3 || starpu_init(NULL) != 0)
        return EXIT_FAILURE;
    state = (uint32_t)strtoul(argv[2], NULL, 10) * 2654435761u + 1;
    prompt = getenv("CULPRIT_PROMPT") != NULL;
    n = run(argv[1]);
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < n; i++)
        starpu_data_unregister(handles[i]);
    starpu_shutdown();
    return EXIT_SUCCESS;
}
