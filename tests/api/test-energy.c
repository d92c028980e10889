/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-energy.c - the joules of a run and of a task, on each machine.
 * Counters of devices are tested by tests/unit/test-energy.c, with fake ones,
 * since few machines let every user read theirs.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "machines.h"

#define NTASKS 10

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static double half(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
                   unsigned nimpl)
{
    (void)task;
    (void)arch;
    (void)nimpl;
    return 0.5;
}

static struct starpu_perfmodel asked = {.type = STARPU_PER_ARCH,
                                        .arch_cost_function = half};
static struct starpu_perfmodel history = {.type = STARPU_HISTORY_BASED,
                                          .symbol = "api_energy"};

static struct starpu_codelet codelet = {
    .cpu_funcs = {nothing},
    .cuda_funcs = {nothing},
    .name = "k",
};

static void run_tasks(void)
{
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(starpu_task_insert(&codelet, 0), 0);
    starpu_task_wait_for_all();
}

START_TEST(a_simulated_run_adds_up_what_models_expect)
{
    double modelled;

    codelet.energy_model = &asked;
    machine_open(_i);
    ck_assert_double_eq(starpu_energy_used(), 0);
    run_tasks();
    /* On the real machine the devices' counters show what they take. */
    modelled = machine_simulated(_i) ? NTASKS * 0.5 : 0;
    ck_assert_double_eq_tol(starpu_energy_used(), modelled, 1e-9);
    starpu_energy_use(2.5F);
    ck_assert_double_eq_tol(starpu_energy_used(), modelled + 2.5, 1e-9);
    starpu_shutdown();
}
END_TEST

START_TEST(profiling_says_who_took_what)
{
    struct starpu_profiling_worker_info info;
    struct starpu_task *task;
    double modelled = machine_simulated(_i) ? 0.5 : 0, all = 0;

    codelet.energy_model = &asked;
    machine_open(_i);
    task = starpu_task_create();
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    run_tasks();
    task->cl = &codelet;
    task->destroy = task->detach = 0;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_double_eq(task->profiling_info->energy_consumed, modelled);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        ck_assert_int_eq(starpu_profiling_worker_get_info((int)w, &info), 0);
        ck_assert_double_eq_tol(info.energy_consumed,
                                info.executed_tasks * modelled, 1e-9);
        all += info.energy_consumed;
    }
    ck_assert_double_eq_tol(all, (NTASKS + 1) * modelled, 1e-9);
    starpu_profiling_worker_get_info(0, &info);
    ck_assert_double_eq(info.energy_consumed, 0);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

START_TEST(an_idle_machine_takes_its_idle_power)
{
    double before, after;

    setenv("STARPU_IDLE_POWER", "1000", 1);
    machine_open(_i);
    before = starpu_energy_used();
    starpu_usleep(1000);
    after = starpu_energy_used();
    ck_assert(after - before >= 1 - 1e-6);
    if (machine_simulated(_i)) /* time passes for nothing else */
        ck_assert_double_eq_tol(after - before, 1, 1e-6);
    starpu_shutdown();
}
END_TEST

static double more_on_gpus(struct starpu_task *task,
                           struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
    (void)task;
    (void)nimpl;
    return arch->devices[0].type == STARPU_CUDA_WORKER ? 0.5 : 0.1;
}

static int ran_on;

static void note(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ran_on = starpu_worker_get_type(starpu_worker_get_id());
}

/* A GPU is 900 us faster and takes 0.4 J more. */
static struct starpu_perfmodel noted_time = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "noted"};
static struct starpu_perfmodel noted_energy = {
    .type = STARPU_PER_ARCH, .arch_cost_function = more_on_gpus};
static struct starpu_codelet noted = {.cpu_funcs = {note},
                                      .cuda_funcs = {note},
                                      .model = &noted_time,
                                      .energy_model = &noted_energy,
                                      .name = "noted"};

static void open_with(const char *policy, const char *gamma)
{
    machine_choose(FIRST_SIMULATED);
    setenv("STARPU_SCHED", policy, 1);
    setenv("ORRERY_ASSUME", "noted on cpu = 1ms; noted on cuda = 100us", 1);
    if (gamma)
        setenv("STARPU_SCHED_GAMMA", gamma, 1);
    else
        unsetenv("STARPU_SCHED_GAMMA");
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static void runs_on(int type)
{
    ck_assert_int_eq(starpu_task_insert(&noted, 0), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(ran_on, type);
}

START_TEST(a_joule_is_worth_what_gamma_says)
{
    static const char *const policies[] = {"dmda", "pheft", "modular-heft"};

    open_with(policies[_i], "0");
    runs_on(STARPU_CUDA_WORKER);
    starpu_shutdown();
    open_with(policies[_i], NULL);
    runs_on(STARPU_CUDA_WORKER);
    starpu_shutdown();
    open_with(policies[_i], "10000");
    runs_on(STARPU_CPU_WORKER);
    starpu_shutdown();
}
END_TEST

START_TEST(gamma_may_change_while_tasks_are_submitted)
{
    static const char *const policies[] = {"dmda", "pheft"};
    int gamma;

    open_with(policies[_i], NULL);
    gamma = starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_scheduler,
                                        "starpu.dmda.s_gamma_knob");
    runs_on(STARPU_CUDA_WORKER);
    starpu_perf_knob_set_per_scheduler_double_value(gamma, policies[_i], 10000);
    ck_assert_double_eq(
        starpu_perf_knob_get_per_scheduler_double_value(gamma, policies[_i]),
        10000);
    runs_on(STARPU_CPU_WORKER);
    starpu_perf_knob_set_per_scheduler_double_value(gamma, policies[_i], 1);
    runs_on(STARPU_CUDA_WORKER);
    starpu_shutdown();
}
END_TEST

START_TEST(counters_are_there_or_the_call_fails)
{
    int rc;

    machine_open(_i);
    rc = starpu_energy_start(-1, STARPU_CPU_WORKER);
    if (machine_simulated(_i))
        ck_assert_int_eq(rc, -ENODEV);
    else
        ck_assert(rc == 0 || rc == -ENODEV || rc == -EACCES || rc == -EIO);
    ck_assert_int_eq(starpu_energy_start(-1, STARPU_MPI_MS_WORKER), -EINVAL);
    starpu_shutdown();
}
END_TEST

static void feed(void)
{
    struct starpu_task *task = starpu_task_create();
    struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(0, 0);

    task->cl = &codelet;
    ck_assert(isnan(starpu_task_expected_energy(task, arch, 0)));
    for (int i = 0; i < 2; i++) /* the first is a warm-up */
        starpu_perfmodel_update_history_n(&history, task, arch, 0, 0, 0.25, 12);
    ck_assert_double_eq_tol(starpu_task_expected_energy(task, arch, 0), 0.25,
                            1e-12);
    ck_assert_double_eq_tol(starpu_task_worker_expected_energy(task, 1, 0, 0),
                            0.25, 1e-12);
    starpu_task_destroy(task);
}

/* On CPUs of machine i, with what was fed on the real one. */
START_TEST(what_was_measured_is_what_a_simulation_takes)
{
    char dir[] = "/tmp/orrery-api-energy-XXXXXX", command[100];

    ck_assert_ptr_nonnull(mkdtemp(dir));
    codelet.energy_model = &history;
    machine_choose(0);
    setenv("STARPU_PERF_MODEL_DIR", dir, 1);
    setenv("STARPU_HOSTNAME", "gpus", 1);
    setenv("STARPU_CALIBRATE", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    feed();
    starpu_shutdown();

    machine_choose(_i);
    setenv("STARPU_PERF_MODEL_DIR", dir, 1);
    setenv("STARPU_CALIBRATE", "0", 1);
    setenv("STARPU_NCUDA", "0", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    run_tasks();
    ck_assert_double_eq_tol(starpu_energy_used(),
                            machine_simulated(_i) ? NTASKS * 0.25 : 0, 1e-9);
    starpu_shutdown();
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("energy");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_simulated_run_adds_up_what_models_expect, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, profiling_says_who_took_what, 0, NMACHINES);
    tcase_add_loop_test(tcase, an_idle_machine_takes_its_idle_power, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, counters_are_there_or_the_call_fails, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, what_was_measured_is_what_a_simulation_takes, 0,
                        NMACHINES);
    if (NMACHINES > FIRST_SIMULATED) {
        tcase_add_loop_test(tcase, a_joule_is_worth_what_gamma_says, 0, 3);
        tcase_add_loop_test(tcase, gamma_may_change_while_tasks_are_submitted,
                            0, 2);
    }
    suite_add_tcase(suite, tcase);
    return suite;
}

SUITE_MAIN(energy)
{
    return suite_main(suite());
}
