/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cost.c - cost rows: which classes can run a codelet, for how
 * long, and when that is evaluated anew. The models are the test's own; a CPU
 * class and a GPU class twice as fast as its model says.
 */
#include <dlfcn.h>
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cost/ask.h"
#include "core/cost/assume.h"
#include "core/cost/cost.h"
#include "core/cost/noise.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/job/job.h"
#include "core/runtime_members.h"
#include "perfmodel/model.h"
#include "tests/suite.h"

/* --- models --- */

static double lengths[2][STARPU_MAXIMPLEMENTATIONS]; /* by comb */
static _Atomic uint32_t version;
static unsigned nasked;
static struct orr_measure measured;
static bool broken, benchmarking;
static char reason[256]; /* why the model began to be measured */
static double now;

struct orr_model *orr_models_get(struct orr_models *models, const char *symbol,
                                 enum orr_model_kind kind,
                                 struct orr_error *err)
{
    (void)models;
    (void)kind;
    if (!broken)
        return (struct orr_model *)(void *)&lengths;
    orr_fail(err, -1, "%s.host:3: bad number (said once)", symbol);
    return NULL;
}

const _Atomic uint32_t *orr_model_version_at(const struct orr_model *model)
{
    (void)model;
    return &version;
}

double orr_model_expected(struct orr_model *model, unsigned comb, unsigned impl,
                          uint32_t footprint)
{
    (void)model;
    (void)footprint;
    nasked++;
    return lengths[comb][impl];
}

bool orr_model_benchmarking(const struct orr_model *model)
{
    (void)model;
    return benchmarking;
}

void orr_model_begin_benchmarking(struct orr_model *model, const char *why)
{
    (void)model;
    benchmarking = true;
    snprintf(reason, sizeof(reason), "%s", why);
}

int orr_model_measure(struct orr_model *model, const struct orr_measure *m)
{
    (void)model;
    measured = *m;
    return 0;
}

static enum orr_answer_source answer_source = ORR_ANSWER_EXACT;

void orr_model_answer(struct orr_model *regression,
                      const struct orr_question *q, struct orr_answer *ret)
{
    (void)regression;
    *ret = (struct orr_answer){lengths[q->comb][q->impl], NAN, answer_source};
}

/* The model has rows of other sizes for that comb, -1: for none. */
static int other_sizes = -1;

enum orr_origin orr_model_least_origin(struct orr_model *model, unsigned comb,
                                       unsigned impl, bool *ret_ranged)
{
    (void)model;
    *ret_ranged = true;
    return lengths[comb][impl] > 0 || (impl == 0 && other_sizes == (int)comb)
               ? ORR_ORIGIN_MEASURED
               : ORR_ORIGIN_UNKNOWN;
}

/* No draws. */
double orr_noise_draw(const struct orr_noise *noise, const char *kernel,
                      const char *device, uint32_t footprint,
                      enum orr_origin origin, double error)
{
    (void)noise;
    (void)kernel;
    (void)device;
    (void)footprint;
    (void)origin;
    (void)error;
    return 1;
}

static enum orr_origin row_origin = ORR_ORIGIN_MEASURED;

enum orr_origin orr_model_origin(const struct orr_model *model, unsigned comb,
                                 unsigned impl, uint32_t footprint,
                                 double *ret_off_by)
{
    (void)model;
    (void)comb;
    (void)impl;
    (void)footprint;
    *ret_off_by = NAN;
    return row_origin;
}

int orr_model_variation(struct orr_model *model, unsigned comb, unsigned impl,
                        uint32_t footprint, struct orr_variation *ret)
{
    (void)model;
    (void)footprint;
    *ret = (struct orr_variation){.deviation = comb + 0.1 * impl};
    return 0;
}

void orr_variation_done(struct orr_variation *variation)
{
    (void)variation;
}

int orr_model_set_terms(struct orr_model *regression,
                        const struct orr_terms *terms, const char *const *names)
{
    (void)regression;
    (void)terms;
    (void)names;
    return 0;
}

const struct orr_entry *orr_model_find(const struct orr_model *model,
                                       unsigned comb, unsigned impl,
                                       uint32_t footprint)
{
    (void)model;
    (void)footprint;
    return isnan(lengths[comb][impl])
               ? NULL
               : (const struct orr_entry *)(void *)&lengths[comb][impl];
}

int orr_models_new(const struct orr_models_options *options,
                   struct orr_models **ret)
{
    (void)options;
    *ret = (struct orr_models *)(void *)&nasked;
    return 0;
}

void orr_models_free(struct orr_models *models)
{
    (void)models;
}

struct orr_combs *orr_models_combs(struct orr_models *models)
{
    static struct orr_combs *combs; /* of home */

    (void)models;
    if (!combs)
        ck_assert_int_eq(orr_combs_new(ORR_HOMOGENEOUS_DEFAULT, &combs), 0);
    return combs;
}

int orr_models_calibrate(const struct orr_models *models)
{
    (void)models;
    return 0;
}

const char *orr_model_symbol(const struct orr_model *model)
{
    (void)model;
    return "sym";
}

/* Nothing was measured of codelets without model. */
bool orr_model_is_empty(const struct orr_model *model)
{
    (void)model;
    return true;
}

int orr_model_teach(struct orr_model *model, unsigned comb, unsigned impl,
                    const struct orr_model_row *row)
{
    (void)model;
    (void)comb;
    (void)impl;
    (void)row;
    return 0;
}

int orr_model_default_symbol(const char *name, char **ret)
{
    *ret = strdup(name);
    return *ret ? 0 : -ENOMEM;
}

int orr_host_name(const struct orr_host_options *options, char **ret,
                  struct orr_error *err)
{
    (void)options;
    (void)err;
    *ret = strdup("home");
    return 0;
}

/* Deviates by a quarter of the mean. */
void orr_entry_read(const struct orr_entry *entry, struct orr_model_row *ret)
{
    double mean = *(const double *)(const void *)entry;

    *ret = (struct orr_model_row){.n = 1, .mean = mean, .dev = mean / 4};
}

const char *orr_job_name(const struct orr_job *job)
{
    return job->task->cl->name;
}

/* --- a runtime --- */

static const unsigned ids[] = {0, 1};
static struct orr_worker_class classes[2];
static struct orr_worker workers[2];
static struct orr_machine machine;
static struct orr_runtime rt;
static struct orr_runtime_members members;
static struct orr_exec_ops exec_ops;
static struct orr_exec exec = {
    .ops = &exec_ops, .one_thread = true, .virtual_time = true};
static struct orr_context context = {.exec = &exec};
static struct starpu_perfmodel model;
static struct starpu_codelet cl;
static struct starpu_task task;
static struct orr_job *jobs[600];
static unsigned njobs;

static double now_of(struct orr_exec *self)
{
    (void)self;
    return now;
}

static void start(bool simulated, const char *assume)
{
    clearenv();
    if (assume)
        setenv("ORRERY_ASSUME", assume, 1);
    ck_assert_int_eq(orr_config_read(&rt.config, NULL), 0);
    machine.kernels_take_their_length = simulated;
    machine.models_energy = simulated;
    ck_assert_int_eq(orr_costs_table_new(&rt, &rt.estimates->costs, NULL), 0);
}

static void setup(void)
{
    orr_self = &context;
    exec_ops.now = now_of;
    for (unsigned k = 0; k < 2; k++) {
        classes[k] = (struct orr_worker_class){.type = k ? STARPU_CUDA_WORKER
                                                         : STARPU_CPU_WORKER,
                                               .ncores = 1,
                                               .comb = k,
                                               .node = k,
                                               .speed = k + 1,
                                               .relative_speedup = k ? 10 : 0.5,
                                               .nworkers = 1,
                                               .members = &ids[k]};
        workers[k] = (struct orr_worker){.id = k, .class_id = k};
        for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
            lengths[k][i] = NAN;
    }
    rt = (struct orr_runtime){.machine = &machine, .exec = &exec};
    members = (struct orr_runtime_members){.workers = {.classes = classes,
                                                       .at = workers,
                                                       .nclasses = 2,
                                                       .n = 2}};
    orr_runtime_set_members(&rt, &members);
    model = (struct starpu_perfmodel){.type = STARPU_HISTORY_BASED,
                                      .symbol = "sym"};
    cl = (struct starpu_codelet){.name = "kern", .model = &model};
    task = (struct starpu_task){.cl = &cl, .where = -1};
    version = 1;
    nasked = 0;
    broken = false;
    benchmarking = true;
    *reason = '\0';
    now = 0;
}

static void teardown(void)
{
    orr_costs_table_free(rt.estimates->costs);
    orr_config_done(&rt.config);
    while (njobs)
        free(jobs[--njobs]);
}

static void function(void **buffers, void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct orr_job *job_of(uint32_t footprint)
{
    struct orr_job *job = calloc(1, sizeof(*job));

    ck_assert_ptr_nonnull(job);
    jobs[njobs++] = job;
    job->task = &task;
    job->footprint = footprint;
    job->has_footprint = 1;
    return job;
}

static const struct orr_cost_row *row_of(uint32_t footprint)
{
    return orr_job_costs(&rt, job_of(footprint));
}

/* --- able classes --- */

/* --- without memory --- */

static bool refuse;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    return refuse ? NULL : __real_malloc(size);
}

START_TEST(a_submission_without_memory_for_costs_is_refused)
{
    struct orr_job *job;
    int err;

    start(false, NULL);
    cl.cpu_funcs[0] = function;
    job = job_of(1);
    refuse = true;
    err = orr_job_make_costs(&rt, job);
    refuse = false;
    ck_assert_int_eq(err, -ENOMEM);
    ck_assert_ptr_null(job->costs);
    ck_assert_int_eq(orr_job_make_costs(&rt, job), 0);
    ck_assert_ptr_nonnull(job->costs);
}
END_TEST

START_TEST(functions_decide_which_classes_can_run_a_codelet)
{
    start(false, NULL);
    lengths[1][0] = 5; /* without a function that means nothing here */
    cl.cpu_funcs[0] = cl.cpu_funcs[2] = function;
    ck_assert_uint_eq(row_of(1)->able[0], 5);
    ck_assert_uint_eq(row_of(1)->able[1], 0);
    ck_assert_uint_eq(row_of(1)->able_classes, 1);
    cl.cuda_func = function; /* as old programs write it */
    ck_assert_uint_eq(row_of(1)->able[1], 1);
    cl.cuda_func = STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS;
    ck_assert_uint_eq(row_of(1)->able[1], 0);
}
END_TEST

START_TEST(simulated_lengths_are_as_good_as_a_function)
{
    start(true, NULL);
    lengths[1][1] = 5;
    cl.cpu_funcs[0] = function;
    ck_assert_uint_eq(row_of(1)->able[0], 1);
    ck_assert_uint_eq(row_of(1)->able[1], 2);
    /* A length that is not known is none that there is not. */
    other_sizes = 1;
    ck_assert_uint_eq(row_of(2)->able[1], 3);
    cl.where = STARPU_CPU;
    ck_assert_uint_eq(row_of(1)->able[1], 0);
    cl.where = STARPU_NOWHERE;
    ck_assert_uint_eq(row_of(1)->able_classes, 0);
}
END_TEST

static int refuse_impl_0(unsigned worker, struct starpu_task *t, unsigned impl)
{
    (void)worker;
    (void)t;
    ck_assert_uint_eq(orr_self->frozen, 1);
    return impl != 0;
}

START_TEST(the_task_and_can_execute_narrow_it_down)
{
    uint32_t words[2] = {0, 1};
    const struct orr_cost_row *row;
    struct orr_job *job = job_of(1);
    bool uniform;

    start(false, NULL);
    cl.cpu_funcs[0] = cl.cpu_funcs[1] = cl.cuda_funcs[0] = function;
    row = orr_job_costs(&rt, job);
    ck_assert_uint_eq(orr_job_able_class(&rt, job, row, 0, &uniform), 3);
    ck_assert(uniform);
    task.where = (int32_t)STARPU_CUDA;
    ck_assert_uint_eq(orr_job_able(&rt, job, row, 0), 0);
    ck_assert_uint_eq(orr_job_able(&rt, job, row, 1), 1);
    task.where = -1;
    task.workerids = words;
    task.workerids_len = 2; /* worker 32 alone */
    ck_assert_uint_eq(orr_job_able(&rt, job, row, 0), 0);
    ck_assert_uint_eq(orr_job_able_class(&rt, job, row, 0, &uniform), 0);
    ck_assert(!uniform);
    words[0] = 1;
    ck_assert_uint_eq(orr_job_able(&rt, job, row, 0), 3);
    task.workerids_len = 0;
    task.execute_on_a_specific_worker = 1;
    task.workerid = 1;
    ck_assert_uint_eq(orr_job_able(&rt, job, row, 0), 0);
    task.execute_on_a_specific_worker = 0;

    cl.can_execute = refuse_impl_0;
    job = job_of(1);
    row = orr_job_costs(&rt, job);
    ck_assert_uint_eq(orr_job_able(&rt, job, row, 0), 2);
    ck_assert_uint_eq(orr_job_able(&rt, job, row, 1), 0);
}
END_TEST

/* --- how long it takes --- */

START_TEST(lengths_are_divided_by_speed_and_read_again_when_they_change)
{
    struct orr_job *job = job_of(1);
    const struct orr_cost_row *row;
    unsigned before;

    start(false, NULL);
    cl.cpu_funcs[0] = cl.cuda_funcs[0] = function;
    lengths[0][0] = 30;
    lengths[1][0] = 10;
    row = orr_job_costs(&rt, job);
    ck_assert_double_eq(orr_cost_length(row, 0, 0), 30);
    ck_assert_double_eq(orr_cost_length(row, 1, 0), 5);
    ck_assert(isnan(orr_cost_length(row, 0, 1)));
    before = nasked;
    lengths[0][0] = 40;
    ck_assert_double_eq(orr_cost_length(orr_job_costs(&rt, job), 0, 0), 30);
    ck_assert_ptr_eq(row_of(1), row);
    ck_assert_uint_eq(nasked, before);
    version++;
    ck_assert_double_eq(orr_cost_length(orr_job_costs(&rt, job), 0, 0), 40);
}
END_TEST

START_TEST(without_a_model_the_length_is_zero_and_of_a_broken_one_unknown)
{
    start(false, NULL);
    cl.cpu_funcs[0] = function;
    broken = true;
    ck_assert(isnan(orr_cost_length(row_of(1), 0, 0)));
    ck_assert(isnan(orr_cost_length(row_of(2), 0, 0)));
    cl.model = NULL;
    ck_assert(orr_cost_length(row_of(1), 0, 0) == 0);
}
END_TEST

START_TEST(another_codelet_at_the_same_address_has_its_own_row)
{
    const struct orr_cost_row *row;

    start(false, NULL);
    cl.cpu_funcs[0] = function;
    row = row_of(1);
    cl.cuda_funcs[0] = function;
    ck_assert_ptr_ne(row_of(1), row);
    cl.cuda_funcs[0] = NULL;
    ck_assert_ptr_eq(row_of(1), row);
}
END_TEST

static double cost_of_flops(struct starpu_task *t, unsigned impl)
{
    (void)impl;
    return t->flops;
}

START_TEST(cost_functions_are_called_for_every_task)
{
    start(true, NULL);
    cl.cpu_funcs[0] = cl.cuda_funcs[0] = function;
    model = (struct starpu_perfmodel){.type = STARPU_COMMON,
                                      .cost_function = cost_of_flops};
    task.flops = 100;
    ck_assert_double_eq(orr_cost_length(row_of(1), 0, 0), 200); /* ÷ 0.5 */
    ck_assert_double_eq(orr_cost_length(row_of(1), 1, 0), 5);   /* ÷ 10 ÷ 2 */
    task.flops = 50;
    ck_assert_double_eq(orr_cost_length(row_of(1), 0, 0), 100);
}
END_TEST

static double fast(struct starpu_task *t, struct starpu_perfmodel_arch *arch,
                   unsigned impl)
{
    ck_assert_uint_eq(orr_self->frozen, 1);
    ck_assert_int_eq(arch->ndevices, 1);
    ck_assert_int_eq(arch->devices->type, STARPU_CUDA_WORKER);
    return t->flops + impl;
}

/* A function of the model for CUDA device `devid`, on `ncores`. */
static void set_function(struct orr_per_devices *entry, int devid, int ncores)
{
    *entry = (struct orr_per_devices){.ndevices = 1, .pub.cost_function = fast};
    entry->devices[0] =
        (struct starpu_perfmodel_device){STARPU_CUDA_WORKER, devid, ncores};
}

START_TEST(a_function_per_device_counts_for_that_device_alone)
{
    char memory[2][sizeof(struct orr_per_devices) +
                   2 * sizeof(struct starpu_perfmodel_device)]
        __attribute__((aligned(8))); /* 24 bytes for 12: both are */
    struct orr_per_devices *other = (void *)memory[0],
                           *entry = (void *)memory[1];
    struct _starpu_perfmodel_state state = {.per_devices = other};

    start(false, NULL);
    cl.cpu_funcs[0] = cl.cuda_funcs[0] = function;
    model = (struct starpu_perfmodel){.type = STARPU_PER_ARCH};
    task.flops = 100;
    ck_assert(isnan(orr_cost_length(row_of(1), 1, 0)));
    model.state = &state;
    set_function(other, 3, 1);
    ck_assert(isnan(orr_cost_length(row_of(1), 1, 0)));
    other->next = entry;
    set_function(entry, 0, 1);
    ck_assert_double_eq(orr_cost_length(row_of(1), 1, 0), 50); /* speed 2 */
    ck_assert(isnan(orr_cost_length(row_of(1), 0, 0)));
    entry->devices[0].ncores = 2;
    ck_assert(isnan(orr_cost_length(row_of(1), 1, 0)));
    rt.estimates->homogeneous = 1U << STARPU_CUDA_WORKER; /* then any device will do */
    ck_assert_double_eq(orr_cost_length(row_of(1), 1, 0), 50);
}
END_TEST

START_TEST(a_quantile_lies_above_the_mean_by_the_deviation)
{
    const struct orr_cost_row *row;

    start(true, NULL);
    cl.cpu_funcs[0] = function;
    cl.where = STARPU_CPU | STARPU_CUDA;
    lengths[0][0] = 40; /* the deviation is 10 */
    row = row_of(1);
    ck_assert_double_eq_tol(orr_cost_quantile(&rt, row, 0, 0, 0.5), 40, 1e-9);
    ck_assert_double_eq_tol(orr_cost_quantile(&rt, row, 0, 0, 0.9), 52.8155,
                            1e-3);
    /* Not less than nothing. */
    ck_assert_double_eq(orr_cost_quantile(&rt, row, 0, 0, 1e-9), 40);
    ck_assert(isnan(orr_cost_quantile(&rt, row, 1, 0, 0.9)));
}
END_TEST

START_TEST(the_best_time_is_the_mean_less_the_deviation)
{
    const struct orr_cost_row *row;

    start(true, "kernel[kern] = 2ms");
    cl.cpu_funcs[0] = function;
    cl.where = STARPU_CPU | STARPU_CUDA;
    lengths[0][0] = 40;
    lengths[1][1] = 8; /* of another implementation: not looked at */
    row = row_of(1);
    ck_assert_double_eq(orr_cost_at_best(&rt, row, 0), 30);
    ck_assert_double_eq(orr_cost_at_best(&rt, row, 1), 2000);
    lengths[1][0] = 8;
    ck_assert_double_eq(orr_cost_at_best(&rt, row, 1), 3); /* speed 2 */
    cl.where = STARPU_CPU;
    ck_assert(isnan(orr_cost_at_best(&rt, row_of(1), 1)));
}
END_TEST

START_TEST(assumed_times_fill_what_is_not_known_in_simulation)
{
    start(true, "kernel[kern] = 2ms; other=0");
    cl.cpu_funcs[0] = cl.cuda_funcs[0] = function;
    lengths[0][0] = 30;
    ck_assert_double_eq(orr_cost_length(row_of(1), 0, 0), 30);
    ck_assert_double_eq(orr_cost_length(row_of(1), 1, 0), 1000); /* speed 2 */
    cl.name = "other";
    cl.model = NULL;
    ck_assert(row_of(2)->assumed);
    ck_assert(orr_cost_length(row_of(2), 0, 0) == 0);
    cl.name = "third";
    ck_assert(!row_of(3)->assumed);
}
END_TEST

/* Of a codelet without a name and a model: cpu_funcs_name, or a symbol. */
START_TEST(a_function_lends_its_name)
{
    start(true, "abort = 3us; my_kernel = 4us; function = 5us");
    cl.name = NULL;
    cl.model = NULL;
    cl.cpu_funcs[0] = function;
    ck_assert_str_eq(orr_cost_symbol(row_of(1)), "function");
    ck_assert_double_eq(orr_cost_length(row_of(1), 0, 0), 5);
    cl.cpu_funcs_name[0] = "my_kernel";
    ck_assert_str_eq(orr_cost_symbol(row_of(2)), "my_kernel");
    ck_assert_double_eq(orr_cost_length(row_of(2), 0, 0), 4);
    cl.cpu_funcs_name[0] = NULL;
    cl.cpu_funcs[0] = (starpu_cpu_func_t)(uintptr_t)dlsym(RTLD_DEFAULT, "abort");
    ck_assert_str_eq(orr_cost_symbol(row_of(3)), "abort");
    ck_assert_double_eq(orr_cost_length(row_of(3), 0, 0), 3);
    cl.name = "named";
    ck_assert_str_eq(orr_cost_symbol(row_of(4)), "named");
}
END_TEST

START_TEST(an_assumption_for_an_architecture_says_that_there_is_a_kernel)
{
    start(true, "kernel[kern] on cuda = 5us; sym on cpu3 = 1us");
    cl.cpu_funcs[0] = function;
    lengths[0][0] = 30;
    ck_assert_double_eq(orr_cost_length(row_of(1), 0, 0), 30);
    ck_assert_uint_eq(row_of(1)->able[1], 1);
    ck_assert_double_eq(orr_cost_length(row_of(1), 1, 0), 2.5); /* speed 2 */
    ck_assert_int_eq(orr_cost_origin(row_of(1), 1, 0), ORR_ORIGIN_ASSUMED);
    ck_assert_int_eq(orr_cost_origin(row_of(1), 0, 0), ORR_ORIGIN_MEASURED);
    ck_assert(orr_costs_assumptions(rt.estimates->costs)->all[0].used);
    ck_assert(!orr_costs_assumptions(rt.estimates->costs)->all[1].used);
    cl.where = STARPU_CPU;
    ck_assert_uint_eq(row_of(2)->able[1], 0);
}
END_TEST

START_TEST(an_assumption_counts_before_what_was_not_measured)
{
    const struct orr_assumption *a;

    start(true, "kernel[kern] on cuda = 5us");
    cl.cpu_funcs[0] = function;
    lengths[0][0] = lengths[1][0] = 30;
    ck_assert_double_eq(orr_cost_length(row_of(1), 1, 0), 15); /* speed 2 */
    row_origin = ORR_ORIGIN_DERIVED;
    ck_assert_double_eq(orr_cost_length(row_of(2), 1, 0), 2.5);
    ck_assert_int_eq(orr_cost_origin(row_of(2), 1, 0), ORR_ORIGIN_ASSUMED);
    ck_assert_double_eq(orr_cost_length(row_of(2), 0, 0), 30);
    a = &orr_costs_assumptions(rt.estimates->costs)->all[0];
    ck_assert_uint_eq(a->replaced.n, 1);
    ck_assert_double_eq(a->replaced.us, 15);
    ck_assert_double_eq(a->replaced.by_us, 2.5);
    ck_assert_int_eq(a->replaced.origin, ORR_ORIGIN_DERIVED);
    ck_assert_uint_eq(a->behind.n, 1);
    ck_assert_int_eq(a->behind.origin, ORR_ORIGIN_MEASURED);
    row_origin = ORR_ORIGIN_IMPORTED;
    ck_assert_double_eq(orr_cost_length(row_of(3), 1, 0), 15);
    row_origin = ORR_ORIGIN_MEASURED;
}
END_TEST

START_TEST(an_assumption_counts_before_a_regression_and_not_before_a_function)
{
    struct starpu_perfmodel regression = {.type = STARPU_NL_REGRESSION_BASED,
                                          .symbol = "curve"};
    struct starpu_perfmodel asked = {.type = STARPU_COMMON,
                                     .cost_function = cost_of_flops};
    const struct orr_assumption *a;

    start(true, "curve = 5us; kern on cpu = 7us");
    cl.cpu_funcs[0] = function;
    cl.model = &regression;
    lengths[0][0] = 30;
    answer_source = ORR_ANSWER_REGRESSION;
    ck_assert_double_eq(orr_cost_length(row_of(1), 0, 0), 7);
    cl.name = "other";
    ck_assert_double_eq(orr_cost_length(row_of(2), 0, 0), 5);
    a = orr_costs_assumptions(rt.estimates->costs)->all;
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(a[i].replaced.n, 1);
        ck_assert_double_eq(a[i].replaced.us, 30);
        ck_assert_int_eq(a[i].replaced.origin, ORR_ORIGIN_INTERPOLATED);
    }
    answer_source = ORR_ANSWER_EXACT;
    cl.name = "kern";
    cl.model = &asked;
    task.flops = 100;
    ck_assert_double_eq(orr_cost_length(row_of(3), 0, 0), 200); /* ÷ 0.5 */
    ck_assert_int_eq(a[1].behind.origin, ORR_ORIGIN_FUNCTION);
    ck_assert_uint_eq(a[1].behind.n, 1);
}
END_TEST

START_TEST(an_assumption_for_any_architecture_gives_no_kernel)
{
    start(true, "kernel[kern] = 5us");
    cl.cpu_funcs[0] = function;
    ck_assert_double_eq(orr_cost_length(row_of(1), 0, 0), 5);
    ck_assert_uint_eq(row_of(1)->able[1], 0);
}
END_TEST

START_TEST(a_ratio_is_of_the_model_not_of_the_simulated_speed)
{
    start(true, "kern on cuda = cpu / 20");
    cl.cpu_funcs[0] = function;
    classes[0].speed = 3;
    lengths[0][0] = 30;
    ck_assert_double_eq(orr_cost_length(row_of(1), 0, 0), 10);
    ck_assert_double_eq(orr_cost_length(row_of(1), 1, 0), 0.75); /* speed 2 */
}
END_TEST

START_TEST(a_ratio_may_be_of_an_assumed_time_and_of_no_other_ratio)
{
    start(true, "kern on cuda = cpu / 2; kern on cpu = 8us;"
                "loop on cpu = cuda; loop on cuda = cpu");
    cl.cpu_funcs[0] = cl.cuda_funcs[0] = function;
    ck_assert_double_eq(orr_cost_length(row_of(1), 1, 0), 2); /* speed 2 */
    cl.name = "loop";
    ck_assert(isnan(orr_cost_length(row_of(2), 1, 0)));
}
END_TEST

START_TEST(a_real_machine_assumes_nothing)
{
    start(false, "kernel[kern] on cuda = 5us");
    cl.cpu_funcs[0] = function;
    ck_assert_uint_eq(row_of(1)->able[1], 0);
    ck_assert(isnan(orr_cost_length(row_of(1), 0, 0)));
}
END_TEST

/* --- the table --- */

static void count_rows(const struct orr_cost_row *row, void *arg)
{
    unsigned *n = arg;

    ck_assert_uint_eq(row->footprint, *n);
    ++*n;
}

START_TEST(rows_stay_where_they_are_when_the_table_grows)
{
    const struct orr_cost_row *rows[500];
    unsigned n = 0;

    start(true, NULL);
    cl.cpu_funcs[0] = function;
    for (unsigned i = 0; i < 500; i++)
        rows[i] = row_of(i);
    for (unsigned i = 0; i < 500; i++)
        ck_assert_ptr_eq(orr_job_costs(&rt, jobs[i]), rows[i]);
    for (unsigned i = 0; i < 50; i++)
        ck_assert_ptr_eq(row_of(i * 9), rows[i * 9]);
    orr_costs_each(rt.estimates->costs, count_rows, &n);
    ck_assert_uint_eq(n, 500);
}
END_TEST

/* A footprint function may give tasks of several sizes the same one. */
START_TEST(whether_data_fit_a_memory_is_decided_for_each_task)
{
    static const size_t sizes[] = {10, 100, 60, 51, 50};
    struct orr_node_desc nodes[2] = {{.capacity = 0}, {.capacity = 100}};
    struct orr_handle small = {.size = 1}, large = {.size = 1};

    machine.nodes = nodes;
    machine.nnodes = rt.nodes->n = 2;
    rt.nodes->nram = 1;
    start(false, NULL);
    cl.cpu_funcs[0] = cl.cuda_funcs[0] = function;
    cl.nbuffers = 3;
    task.handles[0] = task.handles[1] = orr_handle_public(&large);
    task.handles[2] = orr_handle_public(&small);
    for (unsigned i = 0; i < 5; i++) {
        const struct orr_cost_row *row;
        bool fits;

        large.size = sizes[(i + (unsigned)_i) % 5];
        fits = large.size + small.size <= 100;
        row = row_of(1);
        ck_assert_uint_eq(row->able_classes, fits ? 3 : 1);
        ck_assert_uint_eq(row->too_small, fits ? 0 : 2);
    }
    machine.nodes = NULL;
}
END_TEST

START_TEST(a_measure_goes_to_the_model_of_the_workers_architecture)
{
    struct orr_job *job = job_of(77);

    start(false, NULL);
    cl.cuda_funcs[2] = function;
    job->implementation = 2;
    orr_cost_measure(&rt, &workers[1], job, 12.5, false);
    ck_assert_uint_eq(measured.comb, 1);
    ck_assert_uint_eq(measured.impl, 2);
    ck_assert_uint_eq(measured.footprint, 77);
    ck_assert_double_eq(measured.duration, 12.5);
}
END_TEST

/* A conversion is no job: its model is fed and asked all the same. */
START_TEST(a_task_without_a_job_has_a_row_and_feeds_its_model)
{
    struct starpu_task alone = {.cl = &cl};
    const struct orr_cost_row *row;

    start(false, NULL);
    cl.cuda_funcs[0] = function;
    lengths[1][0] = 8;
    row = orr_task_costs(&rt, &alone);
    ck_assert_ptr_nonnull(row);
    ck_assert_ptr_eq(orr_task_costs(&rt, &alone), row);
    orr_cost_measure_task(&rt, &workers[1], &alone, 12.5);
    ck_assert_uint_eq(measured.comb, 1);
    ck_assert_uint_eq(measured.impl, 0);
    ck_assert_double_eq(measured.duration, 12.5);
}
END_TEST

/* --- recalibration --- */

/* Both classes are CUDA devices of one speed; times are used as they are. */
static struct orr_job *job_on_siblings(double first, double second)
{
    for (unsigned k = 0; k < 2; k++) {
        classes[k].type = STARPU_CUDA_WORKER;
        classes[k].devid = (int)k;
        classes[k].speed = 1;
    }
    cl.cuda_funcs[0] = function;
    lengths[0][0] = first;
    lengths[1][0] = second;
    return job_of(1);
}

START_TEST(missing_lengths_are_uncalibrated_where_they_can_be_measured)
{
    start(false, NULL);
    cl.cuda_funcs[0] = function;
    ck_assert_uint_eq(orr_recal_uncalibrated(row_of(1)->recal, 1), 1);
    ck_assert_uint_eq(orr_recal_uncalibrated(row_of(1)->recal, 0), 0);
    broken = true;
    ck_assert_ptr_null(row_of(2)->recal);
    cl.model = NULL;
    ck_assert_ptr_null(row_of(1)->recal);
    machine.kernels_take_their_length = true;
    machine.models_energy = true;
    broken = false;
    cl.model = &model;
    ck_assert_ptr_null(row_of(3)->recal);
}
END_TEST

START_TEST(a_suspicious_length_of_few_measures_is_measured_from_now_on)
{
    struct orr_job *job;

    start(false, NULL);
    benchmarking = false;
    job = job_on_siblings(190, 70000);
    ck_assert_uint_eq(orr_recal_uncalibrated(orr_job_costs(&rt, job)->recal, 1),
                      1);
    ck_assert(benchmarking);
    ck_assert_ptr_nonnull(strstr(reason, "70000 us on CUDA 1"));
}
END_TEST

START_TEST(lengths_of_siblings_that_differ_little_are_used)
{
    struct orr_job *job;

    start(false, NULL);
    benchmarking = false;
    job = job_on_siblings(190, 560);
    ck_assert_uint_eq(orr_recal_uncalibrated(orr_job_costs(&rt, job)->recal, 1),
                      0);
    ck_assert(!benchmarking);
}
END_TEST

START_TEST(a_run_that_contradicts_a_length_has_its_model_measured)
{
    struct orr_kernel kernel = {0};
    struct orr_job *job;

    start(false, NULL);
    job = job_on_siblings(190, 70000);
    job->kernel = &kernel;
    (void)orr_job_costs(&rt, job);
    benchmarking = false;
    orr_cost_ran(&rt, &workers[1], job, 69000);
    orr_cost_ran(&rt, &workers[1], job, NAN);
    ck_assert(!benchmarking);
    orr_cost_ran(&rt, &workers[1], job, 190);
    ck_assert(benchmarking);
    ck_assert_ptr_nonnull(strstr(reason, "190 us"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cost");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_submission_without_memory_for_costs_is_refused);
    tcase_add_test(tc, functions_decide_which_classes_can_run_a_codelet);
    tcase_add_test(tc, simulated_lengths_are_as_good_as_a_function);
    tcase_add_test(tc, the_task_and_can_execute_narrow_it_down);
    tcase_add_test(
        tc, lengths_are_divided_by_speed_and_read_again_when_they_change);
    tcase_add_test(
        tc, without_a_model_the_length_is_zero_and_of_a_broken_one_unknown);
    tcase_add_test(tc, another_codelet_at_the_same_address_has_its_own_row);
    tcase_add_test(tc, cost_functions_are_called_for_every_task);
    tcase_add_test(tc, a_function_per_device_counts_for_that_device_alone);
    tcase_add_test(tc, a_quantile_lies_above_the_mean_by_the_deviation);
    tcase_add_test(tc, the_best_time_is_the_mean_less_the_deviation);
    tcase_add_test(tc, assumed_times_fill_what_is_not_known_in_simulation);
    tcase_add_test(
        tc, an_assumption_for_an_architecture_says_that_there_is_a_kernel);
    tcase_add_test(tc, an_assumption_counts_before_what_was_not_measured);
    tcase_add_test(
        tc, an_assumption_counts_before_a_regression_and_not_before_a_function);
    tcase_add_test(tc, an_assumption_for_any_architecture_gives_no_kernel);
    tcase_add_test(tc, a_ratio_is_of_the_model_not_of_the_simulated_speed);
    tcase_add_test(tc, a_ratio_may_be_of_an_assumed_time_and_of_no_other_ratio);
    tcase_add_test(tc, a_real_machine_assumes_nothing);
    tcase_add_test(tc, rows_stay_where_they_are_when_the_table_grows);
    tcase_add_loop_test(tc, whether_data_fit_a_memory_is_decided_for_each_task,
                        0, 5);
    tcase_add_test(tc, a_measure_goes_to_the_model_of_the_workers_architecture);
    tcase_add_test(tc, a_task_without_a_job_has_a_row_and_feeds_its_model);
    tcase_add_test(tc,
                   missing_lengths_are_uncalibrated_where_they_can_be_measured);
    tcase_add_test(tc,
                   a_suspicious_length_of_few_measures_is_measured_from_now_on);
    tcase_add_test(tc, a_function_lends_its_name);
    tcase_add_test(tc, lengths_of_siblings_that_differ_little_are_used);
    tcase_add_test(tc, a_run_that_contradicts_a_length_has_its_model_measured);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
