/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-gpu-clock.c - the GPU driver on the stand-in, both on a virtual
 * clock: what streams do at the same time is an exact schedule (pipeline.h), and an
 * order in which operations of streams may happen is drawn by a seed. RUNS says how
 * many orders.
 */
#include <stdio.h>
#include <stdlib.h>

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
    tcase_add_loop_test(tc, no_order_of_streams_changes_a_value, 0, NWAYS);
    return suite_main(suite);
}
