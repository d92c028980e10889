/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-gpu-clock.c - the GPU driver on the stand-in, both on a virtual
 * clock: what streams do at the same time is an exact schedule (pipeline.h), which is
 * that of the machine's simulated copy, and an order in which operations of streams may happen is drawn by a seed. RUNS says how
 * many orders.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <check.h>
#include <starpu.h>

#include "../api/gpu-clock.h"
#include "../api/gpu-graph.h"
#include "../api/on-gpu.h"
#include "../suite.h"
#include "pipeline.h"

/* -- schedules -- */

static void open_device(unsigned copy_us, unsigned pipeline)
{
    struct starpu_conf conf;
    char text[80];

    snprintf(text, sizeof(text),
             "devices=1 delay=0 kernel=100 copy=%u bandwidth=100", copy_us);
    setenv("GPU_STANDIN", text, 1);
    snprintf(text, sizeof(text), "%u", pipeline);
    setenv("STARPU_" ON_KIND "_PIPELINE", text, 1);
    setenv("STARPU_NCPU", "0", 1);
    setenv("STARPU_SILENT", "1", 1);
    unsetenv("STARPU_SCHED");
    gpu_clock_set(1);
    starpu_conf_init(&conf);
    conf.sched_policy = &pipeline_policy;
    ck_assert_int_eq(starpu_init(&conf), 0);
}

struct kernel {
    int number;
    char *bytes;
};

static void run(void *arg)
{
    const struct kernel *kernel = arg;

    pipeline_run(kernel->number, kernel->bytes);
    free(arg);
}

static void put(void *buffers[], void *arg)
{
    struct kernel *kernel = malloc(sizeof(*kernel));

    starpu_codelet_unpack_args(arg, &kernel->number);
    kernel->bytes = on_bytes((void *)STARPU_VECTOR_GET_PTR(buffers[0]));
    ck_assert_int_eq(on_launch(run, kernel), 0);
}

static struct starpu_codelet codelet = {
    .on_funcs = {put},
    .on_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static const struct pipeline_device device = {open_device, &codelet};

#ifndef KIND_HIP /* descriptions have CUDA devices */

/* -- the simulated copy -- */

/* The figures of the stand-in: copies of so many us and 1 us per 100 bytes, to and from
 * each device and between them, kernels of 100 us, and nothing else takes time. */
static void write_machine(const char *path, unsigned ndevices, unsigned copy_us)
{
    static const char *const costs[] = {
        "submit",       "submit-per-buffer",    "push",         "fetch",
        "device-alloc", "device-free",          "kernel-queue", "copy-queue",
        "progress",     "pinned-alloc-per-mib",
    };
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs("<?xml version='1.0'?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\"><zone id=\"AS0\" routing=\"Full\">\n"
          "<host id=\"MAIN\" speed=\"1f\">",
          file);
    for (unsigned i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
        fprintf(file, "<prop id=\"orrery-cost-%s\" value=\"0\"/>", costs[i]);
    fputs("</host>\n", file);
    for (unsigned i = 0; i < ndevices; i++)
        fprintf(file,
                "<host id=\"CPU%u\" speed=\"1Gf\"/>\n"
                "<host id=\"CUDA%u\" speed=\"1Gf\">"
                "<prop id=\"memsize\" value=\"67108864\"/>"
                "<prop id=\"memcpy_peer\" value=\"1\"/></host>\n",
                i, i);
    fputs("<host id=\"RAM\" speed=\"1f\"/>\n", file);
    for (unsigned i = 0; i < ndevices; i++)
        fprintf(file,
                "<link id=\"RAM-CUDA%u\" bandwidth=\"100MBps\" "
                "latency=\"%uus\"/>\n"
                "<link id=\"CUDA%u-RAM\" bandwidth=\"100MBps\" "
                "latency=\"%uus\"/>\n",
                i, copy_us, i, copy_us);
    for (unsigned i = 0; i < ndevices; i++)
        for (unsigned j = 0; j < ndevices; j++)
            if (i != j)
                fprintf(file,
                        "<link id=\"CUDA%u-CUDA%u\" bandwidth=\"100MBps\" "
                        "latency=\"%uus\"/>\n",
                        i, j, copy_us);
    for (unsigned i = 0; i < ndevices; i++)
        fprintf(file,
                "<route src=\"RAM\" dst=\"CUDA%u\" symmetrical=\"NO\">"
                "<link_ctn id=\"RAM-CUDA%u\"/></route>\n"
                "<route src=\"CUDA%u\" dst=\"RAM\" symmetrical=\"NO\">"
                "<link_ctn id=\"CUDA%u-RAM\"/></route>\n",
                i, i, i, i);
    for (unsigned i = 0; i < ndevices; i++)
        for (unsigned j = 0; j < ndevices; j++)
            if (i != j)
                fprintf(file,
                        "<route src=\"CUDA%u\" dst=\"CUDA%u\" "
                        "symmetrical=\"NO\">"
                        "<link_ctn id=\"CUDA%u-CUDA%u\"/></route>\n",
                        i, j, i, j);
    fputs("</zone></platform>\n", file);
    ck_assert_int_eq(fclose(file), 0);
}

static double takes_100_us(struct starpu_task *task,
                           struct starpu_perfmodel_arch *arch, unsigned impl)
{
    (void)task;
    (void)arch;
    (void)impl;
    return 100;
}

static void run_nothing(void *arg)
{
    (void)arg;
}

static void put_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ck_assert_int_eq(on_launch(run_nothing, NULL), 0);
}

/* A graph by chance: each task changes one datum, which it may read another one for.
 * What it takes until all have ended, and until the values are back. */
static void run_copy_of_graph(unsigned seed, unsigned nbuffers, double *ends)
{
    enum { NDATA = 6, NTASKS = 40, SIZE = 1000 };
    static struct starpu_perfmodel model = {.type = STARPU_PER_ARCH,
                                            .arch_cost_function = takes_100_us};
    struct starpu_codelet cl = {
        .cuda_funcs = {put_nothing},
        .cuda_flags = {STARPU_CUDA_ASYNC},
        .nbuffers = (int)nbuffers,
        .modes = {STARPU_RW, STARPU_R},
        .model = &model,
        .name = "graph",
    };
    static char v[NDATA][SIZE];
    starpu_data_handle_t handle[NDATA];
    double start;

    ck_assert_int_eq(starpu_init(NULL), 0);
    start = starpu_timing_now();
    for (int i = 0; i < NDATA; i++)
        starpu_vector_data_register(&handle[i], STARPU_MAIN_RAM,
                                    (uintptr_t)v[i], SIZE, 1);
    for (int k = 0; k < NTASKS; k++) {
        struct starpu_task *task = starpu_task_create();
        unsigned to, from;

        seed = seed * 1103515245u + 12345u;
        to = (seed >> 16) % NDATA;
        from = (to + 1 + (seed >> 20) % (NDATA - 1)) % NDATA;
        task->cl = &cl;
        task->handles[0] = handle[to];
        if (nbuffers == 2)
            task->handles[1] = handle[from];
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ends[0] = starpu_timing_now() - start;
    for (int i = 0; i < NDATA; i++)
        starpu_data_unregister(handle[i]);
    ends[1] = starpu_timing_now() - start;
    starpu_shutdown();
}

/* To the microsecond where one copy at a time goes each way. The simulator's share a
 * link, those of a stream come one behind the other: with several at once, and the same
 * end of the last one, some kernels begin earlier, and two devices that are equally far
 * may take each other's task. */
static const struct {
    unsigned copy_us, ndevices, pipeline, nbuffers;
    const char *sched;
    double off_by; /* at most, of the real makespan */
} copies[] = {
    {10, 1, 2, 1, "eager", 0},   {10, 1, 1, 1, "eager", 0},
    {0, 1, 2, 2, "eager", 0},    {0, 1, 4, 2, "lws", 0},
    {10, 2, 2, 1, "eager", 0},   {0, 2, 2, 2, "eager", 0.03},
    {10, 2, 1, 1, "prio", 0.03},
};

START_TEST(a_simulated_copy_takes_as_long)
{
    char path[] = "/tmp/gpu-clock-XXXXXX", text[80];
    double real[2], simulated[2];
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
    write_machine(path, copies[_i].ndevices, copies[_i].copy_us);
    snprintf(text, sizeof(text),
             "devices=%u delay=0 kernel=100 copy=%u bandwidth=100",
             copies[_i].ndevices, copies[_i].copy_us);
    setenv("GPU_STANDIN", text, 1);
    snprintf(text, sizeof(text), "%u", copies[_i].pipeline);
    setenv("STARPU_CUDA_PIPELINE", text, 1);
    setenv("STARPU_SCHED", copies[_i].sched, 1);
    setenv("STARPU_NCPU", "0", 1);
    setenv("STARPU_SILENT", "1", 1);
    for (unsigned seed = 0; seed < 4; seed++) {
        unsetenv("ORRERY_MACHINE");
        gpu_clock_set(seed);
        run_copy_of_graph(seed, copies[_i].nbuffers, real);
        setenv("ORRERY_MACHINE", path, 1);
        run_copy_of_graph(seed, copies[_i].nbuffers, simulated);
        for (int e = 0; e < 2; e++)
            ck_assert_double_eq_tol(simulated[e], real[e],
                                    1e-3 + copies[_i].off_by * real[e]);
    }
    unlink(path);
}
END_TEST

#endif

/* -- kernels that follow others in queues -- */

enum { CHAIN = 1000, KERNEL_US = 5, COPY_US = 1 };

/* Each kernel of the chain finds what the one before has left. */
struct link {
    unsigned number;
    uint64_t *count;
};

static unsigned out_of_order;

static void run_link(void *arg)
{
    const struct link *link = arg;

    out_of_order += *link->count != link->number;
    ++*link->count;
    free(arg);
}

static void launch_link(void *arg, uint64_t *count)
{
    struct link *link = malloc(sizeof(*link));

    starpu_codelet_unpack_args(arg, &link->number);
    link->count = count;
    ck_assert_int_eq(on_launch(run_link, link), 0);
}

static void put_link(void *buffers[], void *arg)
{
    launch_link(arg, on_bytes((void *)STARPU_VARIABLE_GET_PTR(buffers[0])));
}

static struct starpu_codelet link_codelet = {
    .on_funcs = {put_link},
    .on_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "link",
};

/* The same for a count that is no datum of the runtime's. */
static uint64_t declared_count;

static void put_declared(void *buffers[], void *arg)
{
    (void)buffers;
    launch_link(arg, &declared_count);
}

static struct starpu_codelet declared_codelet = {
    .on_funcs = {put_declared},
    .on_flags = {STARPU_CUDA_ASYNC},
    .name = "declared",
};

/* What is a chain: each of its tasks is for one of `nworkers`, in turn, and follows the
 * one before by the datum that both change, or as was declared. */
struct chain {
    const char *standin, *pipeline, *streams;
    unsigned nworkers;
    bool declared;
    const char *placed; /* the policy that places its tasks; NULL: they name workers */
};

/* Workers are -1 where the policy is to choose. */
static double submit_data_chain(const int *workers, unsigned nworkers)
{
    starpu_data_handle_t handle;
    uint64_t count = 0;
    double start, us;

    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&count,
                                  sizeof(count));
    start = starpu_timing_now();
    for (unsigned i = 0; i < CHAIN; i++)
        ck_assert_int_eq(
            starpu_task_insert(&link_codelet, STARPU_RW, handle, STARPU_VALUE,
                               &i, sizeof(i), STARPU_EXECUTE_ON_WORKER,
                               workers[i % nworkers], 0),
            0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    us = starpu_timing_now() - start;
    starpu_data_unregister(handle);
    if (!out_of_order)
        ck_assert_uint_eq(count, CHAIN);
    return us;
}

static double submit_declared_chain(const int *workers, unsigned nworkers)
{
    struct starpu_task *before = NULL, *last = NULL;
    double start = starpu_timing_now();

    declared_count = 0;
    for (unsigned i = 0; i < CHAIN; i++) {
        struct starpu_task *task = starpu_task_build(
            &declared_codelet, STARPU_VALUE, &i, sizeof(i),
            STARPU_EXECUTE_ON_WORKER, workers[i % nworkers], 0);

        ck_assert_ptr_nonnull(task);
        task->detach = i + 1 < CHAIN;
        task->destroy = i + 1 < CHAIN;
        if (before)
            starpu_task_declare_deps_array(task, 1, &before);
        before = last = task;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    ck_assert_int_eq(starpu_task_wait(last), 0);
    starpu_task_destroy(last);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    return starpu_timing_now() - start;
}

/* Returns us until all have ended. */
static double run_chain(const struct chain *chain)
{
    int all[STARPU_NMAXWORKERS], workers[STARPU_NMAXWORKERS];
    unsigned n, step;
    double us;

    setenv("GPU_STANDIN", chain->standin, 1);
    setenv("STARPU_" ON_KIND "_PIPELINE", chain->pipeline, 1);
    setenv("STARPU_NWORKER_PER_" ON_KIND, chain->streams, 1);
    if (chain->placed)
        setenv("STARPU_SCHED", chain->placed, 1);
    else if (!strstr(chain->standin, "devices=1"))
        setenv("ORRERY_FOLLOW_PLACED", "1", 1);
    setenv("STARPU_NCPU", "0", 1);
    setenv("STARPU_SILENT", "1", 1);
    gpu_clock_set(1);
    out_of_order = 0;
    ck_assert_int_eq(starpu_init(NULL), 0);
    n = starpu_worker_get_ids_by_type(ON_WORKER, all, STARPU_NMAXWORKERS);
    ck_assert_uint_ge(n, chain->nworkers);
    step = n / chain->nworkers;
    for (unsigned i = 0; i < chain->nworkers; i++)
        workers[i] = chain->placed ? -1 : all[i * step];
    us = chain->declared ? submit_declared_chain(workers, chain->nworkers)
                         : submit_data_chain(workers, chain->nworkers);
    starpu_shutdown();
    return us;
}

#define LATENCY "delay=0 kernel=5 latency=20 "

/* The host hears of an end 20 us later: four times as long as a kernel takes. The chain
 * stays in one stream, goes to and fro between two of one device, or between two
 * devices, with a copy of 1 us for each task if a datum goes with it. */
static const struct {
    struct chain chain;
    double us; /* of a task */
} chains[] = {
    {{"devices=1 " LATENCY, "2", "1", 1, false, NULL}, KERNEL_US},
    {{"devices=1 " LATENCY, "2", "2", 2, false, NULL}, KERNEL_US},
    {{"devices=2 copy=1 " LATENCY, "2", "1", 2, false, NULL}, KERNEL_US + COPY_US},
    {{"devices=3 copy=1 " LATENCY, "2", "1", 3, false, NULL}, KERNEL_US + COPY_US},
    {{"devices=1 " LATENCY, "2", "1", 1, true, NULL}, KERNEL_US},
    {{"devices=1 " LATENCY, "2", "2", 2, true, NULL}, KERNEL_US},
    {{"devices=2 " LATENCY, "2", "1", 2, true, NULL}, KERNEL_US},
};

START_TEST(a_chain_of_kernels_does_not_wait_for_the_host)
{
    double us = run_chain(&chains[_i].chain);

    ck_assert_uint_eq(out_of_order, 0);
    ck_assert_msg(us <= CHAIN * chains[_i].us * 1.02, "%.1f us", us);
}
END_TEST

/* Where one of these waits is left out a kernel runs before the one that it depends on.
 * Of two devices each kernel waits for the other's and for the copy, which waits for the
 * other's as well. */
static const struct chain faulty[] = {
    {"devices=1 " LATENCY "fault=wait@100", "2", "2", 2, false, NULL},
    {"devices=1 " LATENCY "fault=wait@100", "2", "2", 2, true, NULL},
    {"devices=2 " LATENCY "fault=wait@100", "2", "1", 2, true, NULL},
    {"devices=2 copy=10 " LATENCY "fault=wait@100", "2", "1", 2, false, NULL},
    {"devices=2 copy=1 " LATENCY "fault=copywait@100", "2", "1", 2, false, NULL},
};

static const char *const policies[] = {"eager", "prio",  "lws",
                                       "dmda",  "dmdas", "heteroprio"};
enum { NPOLICIES = sizeof(policies) / sizeof(*policies) };

/* Where tasks may follow that the policy would place, one that is behind another and has
 * nothing beside it does. */
START_TEST(a_chain_that_a_policy_places_does_not_wait_for_the_host)
{
    const struct chain chain = {
        .standin = "devices=2 copy=1 " LATENCY,
        .pipeline = "2",
        .streams = "1",
        .nworkers = 1,
        .placed = policies[_i % NPOLICIES],
    };
    bool follows = _i < NPOLICIES;
    double us;

    setenv("ORRERY_FOLLOW_PLACED", follows ? "1" : "0", 1);
    us = run_chain(&chain);
    ck_assert_uint_eq(out_of_order, 0);
    ck_assert_msg(follows ? us <= CHAIN * KERNEL_US * 1.02
                          : us >= CHAIN * (KERNEL_US + 20),
                  "%.1f us", us);
}
END_TEST

START_TEST(a_wait_that_is_left_out_is_seen)
{
    (void)run_chain(&faulty[_i]);
    ck_assert_uint_gt(out_of_order, 0);
}
END_TEST

/* What kernels behind it in queues have used is not there: the program ends. */
START_TEST(a_copy_that_tasks_follow_must_not_fail)
{
    (void)run_chain(&(struct chain){"devices=2 copy=1 " LATENCY
                                    "fault=peer@100",
                                    "2", "1", 2, false, NULL});
}
END_TEST

/* With one kernel in flight chains wait: the tests above can fail. */
START_TEST(a_pipeline_of_one_waits_for_the_host_after_each_kernel)
{
    double us =
        run_chain(&(struct chain){"devices=1 " LATENCY, "1", "1", 1, false, NULL});

    ck_assert_uint_eq(out_of_order, 0);
    ck_assert_double_ge(us, CHAIN * (KERNEL_US + 20));
}
END_TEST

/* -- orders -- */

static unsigned nruns(void)
{
    const char *text = getenv("RUNS");

    return text ? (unsigned)strtoul(text, NULL, 10) : 200;
}

static const struct {
    const char *standin, *ncpus, *name, *value;
} ways[] = {
    {"delay=1000", "1", "STARPU_SCHED", "eager"},
    {"delay=300", "0", "STARPU_SCHED", "dmdas"},
    {"delay=1000 kernel=50 copy=20", "2", "STARPU_SCHED", "lws"},
    {"delay=1000 peers=none", "0", "STARPU_SCHED", "eager"},
    {"delay=100 kernel=300", "0", "STARPU_NWORKER_PER_" ON_KIND, "3"},
    {"delay=1000 devices=3 mib=1", "0", "STARPU_" ON_KIND "_PIPELINE", "4"},
    {"delay=1000", "1", "STARPU_" ON_KIND "_PIPELINE", "0"},
    {"delay=1000 devices=1", "1", "STARPU_" ON_KIND "_PIPELINE", "4"},
    {"delay=1000", "1", "ORRERY_FOLLOW_PLACED", "1"},
    {"delay=300 devices=1", "0", "ORRERY_FOLLOW_PLACED", "1"},
};

enum { NWAYS = sizeof(ways) / sizeof(ways[0]) };

/* The values of random graphs are those of one task after the other in any of them:
 * no wait is missing. */
START_TEST(no_order_of_streams_changes_a_value)
{
    setenv("GPU_STANDIN", ways[_i].standin, 1);
    setenv(ways[_i].name, ways[_i].value, 1);
    setenv("STARPU_NCPU", ways[_i].ncpus, 1);
    setenv("STARPU_SILENT", "1", 1);
    for (unsigned seed = (unsigned)_i; seed < nruns(); seed += NWAYS) {
        gpu_clock_set(seed);
        ck_assert_int_eq(starpu_init(NULL), 0);
        gpu_run_graph(seed);
        starpu_shutdown();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu-clock");
    TCase *tc = tcase_create("all");

    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 3000);
    pipeline_add_tests(tc, &device);
#ifndef KIND_HIP
    tcase_add_loop_test(tc, a_simulated_copy_takes_as_long, 0,
                        sizeof(copies) / sizeof(*copies));
#endif
    tcase_add_loop_test(tc, a_chain_of_kernels_does_not_wait_for_the_host, 0,
                        sizeof(chains) / sizeof(*chains));
    tcase_add_loop_test(
        tc, a_chain_that_a_policy_places_does_not_wait_for_the_host, 0,
        2 * NPOLICIES);
    tcase_add_loop_test(tc, a_wait_that_is_left_out_is_seen, 0,
                        sizeof(faulty) / sizeof(*faulty));
    tcase_add_exit_test(tc, a_copy_that_tasks_follow_must_not_fail, 1);
    tcase_add_test(tc, a_pipeline_of_one_waits_for_the_host_after_each_kernel);
    tcase_add_loop_test(tc, no_order_of_streams_changes_a_value, 0, NWAYS);
    return suite_main(suite);
}
