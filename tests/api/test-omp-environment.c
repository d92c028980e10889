/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-omp-environment.c - the variables OMP_*, and what a program asks and
 * sets.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "omp.h"

static void get_schedule(enum starpu_omp_sched_value kind, int chunk)
{
    enum starpu_omp_sched_value kind_now;
    int chunk_now;

    starpu_omp_get_schedule(&kind_now, &chunk_now);
    ck_assert_int_eq((int)kind_now, (int)kind);
    ck_assert_int_eq(chunk_now, chunk);
}

static void expect_defaults(void)
{
    int ids[1] = {-7};

    ck_assert_int_eq(starpu_omp_get_num_threads(), 1);
    ck_assert_int_eq(starpu_omp_get_thread_num(), 0);
    ck_assert_int_eq(starpu_omp_in_parallel(), 0);
    ck_assert_int_eq(starpu_omp_get_level(), 0);
    ck_assert_int_eq(starpu_omp_get_active_level(), 0);
    ck_assert_int_eq(starpu_omp_get_ancestor_thread_num(1), -1);
    ck_assert_int_eq(starpu_omp_get_team_size(1), -1);
    ck_assert_int_eq(starpu_omp_get_dynamic(), 0);
    ck_assert_int_eq(starpu_omp_get_nested(), 0);
    ck_assert_int_eq(starpu_omp_get_cancellation(), 0);
    ck_assert_int_eq(starpu_omp_get_max_active_levels(), 1);
    ck_assert_int_eq(starpu_omp_in_final(), 0);
    ck_assert_int_eq((int)starpu_omp_get_proc_bind(),
                     starpu_omp_proc_bind_false);
    ck_assert_int_eq(starpu_omp_get_num_places(), 0);
    ck_assert_int_eq(starpu_omp_get_place_num_procs(0), 0);
    ck_assert_int_eq(starpu_omp_get_place_num(), -1);
    ck_assert_int_eq(starpu_omp_get_partition_num_places(), 0);
    starpu_omp_get_place_proc_ids(0, ids);
    starpu_omp_get_partition_place_nums(ids);
    ck_assert_int_eq(ids[0], -7);
    ck_assert_int_eq(starpu_omp_get_default_device(), 0);
    ck_assert_int_eq(starpu_omp_get_num_devices(), 1);
    ck_assert_int_eq(starpu_omp_get_num_teams(), 1);
    ck_assert_int_eq(starpu_omp_get_team_num(), 0);
    ck_assert_int_eq(starpu_omp_get_initial_device(), 0);
    ck_assert_int_eq(starpu_omp_get_max_task_priority(), 0);
}

/* shows starpu_omp_shutdown */
START_TEST(without_variables_there_are_defaults)
{
    expect_defaults(); /* before it starts, too */
    ck_assert_int_eq(starpu_omp_is_initial_device(), 0);
    omp_open(_i);
    expect_defaults();
    ck_assert_int_eq(starpu_omp_is_initial_device(), 1);
    ck_assert_int_eq(starpu_omp_get_num_procs(), 2);
    ck_assert_int_eq(starpu_omp_get_max_threads(), 2);
    ck_assert_int_eq(starpu_omp_get_thread_limit(), INT_MAX);
    get_schedule(starpu_omp_sched_static, 0);
    starpu_omp_shutdown();
    ck_assert(!starpu_is_initialized());
    ck_assert_int_eq(starpu_omp_is_initial_device(), 0);
}
END_TEST

/* A bit per thread number, 8 of a final task. */
struct inside {
    atomic_int n, who;
};

static void look_at_final(void *buffers[], void *arg)
{
    (void)buffers;
    if (starpu_omp_in_final())
        atomic_fetch_or(&((struct inside *)arg)->who, 8);
}

static void look_inside(void *buffers[], void *arg)
{
    struct inside *inside = arg;
    struct starpu_omp_task_region_attr attr = omp_task(look_at_final, inside);

    (void)buffers;
    attr.final_clause = 1;
    starpu_omp_task_region(&attr);
    atomic_fetch_or(&inside->who, 1 << starpu_omp_get_thread_num());
    ck_assert_int_eq(starpu_omp_in_parallel(), 1);
    ck_assert_int_eq(starpu_omp_get_level(), 1);
    ck_assert_int_eq(starpu_omp_get_active_level(), 1);
    ck_assert_int_eq(starpu_omp_get_max_threads(), 1);
    ck_assert_int_eq(starpu_omp_get_thread_limit(), INT_MAX);
    get_schedule(starpu_omp_sched_guided, 4);
    starpu_omp_set_schedule(starpu_omp_sched_static, 9); /* here only */
    get_schedule(starpu_omp_sched_static, 9);
    atomic_fetch_add(&inside->n, 1);
}

START_TEST(what_a_program_sets_holds)
{
    struct inside inside = {0};

    omp_open(_i);
    starpu_omp_set_num_threads(7);
    ck_assert_int_eq(starpu_omp_get_max_threads(), 7);
    starpu_omp_set_schedule(starpu_omp_sched_guided, 4);
    starpu_omp_set_default_device(3);
    ck_assert_int_eq(starpu_omp_get_default_device(), 3);
    omp_parallel(3, look_inside, &inside);
    ck_assert_int_eq(inside.n, 3);
    ck_assert_int_eq(inside.who, 8 + 7);
    get_schedule(starpu_omp_sched_guided, 4);
    starpu_omp_shutdown();
}
END_TEST

struct level {
    atomic_int threads[3];
};

static void count_level(void *buffers[], void *arg)
{
    struct level *level = arg;
    int depth = starpu_omp_get_level();

    (void)buffers;
    atomic_fetch_add(&level->threads[depth - 1], 1);
    if (depth < 3)
        omp_parallel(0, count_level, arg);
}

START_TEST(variables_are_read)
{
    struct level level = {0};

    setenv("OMP_NUM_THREADS", " 3, 2", 1);
    setenv("OMP_SCHEDULE", " Dynamic , 12 ", 1);
    setenv("OMP_MAX_ACTIVE_LEVELS", "2", 1);
    setenv("OMP_THREAD_LIMIT", "20", 1);
    setenv("OMP_CANCELLATION", "TRUE", 1);
    setenv("OMP_DEFAULT_DEVICE", "4", 1);
    setenv("OMP_MAX_TASK_PRIORITY", "11", 1);
    setenv("OMP_PROC_BIND", "spread, close", 1);
    setenv("OMP_PLACES", "{0,1},!{2},{3}", 1);
    setenv("OMP_STACKSIZE", "64 K", 1);
    setenv("OMP_WAIT_POLICY", "passive", 1);
    omp_open(_i);
    ck_assert_int_eq(starpu_omp_get_max_threads(), 3);
    ck_assert_int_eq(starpu_omp_get_max_active_levels(), 2);
    ck_assert_int_eq(starpu_omp_get_thread_limit(), 20);
    ck_assert_int_eq(starpu_omp_get_cancellation(), 1);
    ck_assert_int_eq(starpu_omp_get_default_device(), 4);
    ck_assert_int_eq(starpu_omp_get_max_task_priority(), 11);
    ck_assert_int_eq((int)starpu_omp_get_proc_bind(),
                     starpu_omp_proc_bind_spread);
    ck_assert_int_eq(starpu_omp_get_num_places(), 3);
    get_schedule(starpu_omp_sched_dynamic, 12);
    omp_parallel(0, count_level, &level);
    ck_assert_int_eq(level.threads[0], 3);
    ck_assert_int_eq(level.threads[1], 3 * 2);
    ck_assert_int_eq(level.threads[2], 3 * 2);
    ck_assert_str_eq(getenv("OMP_NUM_THREADS"), " 3, 2"); /* as it was */
    starpu_omp_shutdown();
    setenv("OMP_THREAD_LIMIT", "2", 1);
    setenv("OMP_SCHEDULE", "static", 1);
    omp_open(_i);
    level = (struct level){0};
    omp_parallel(5, count_level, &level);
    ck_assert_int_eq(level.threads[0], 2);
    get_schedule(starpu_omp_sched_static, 0); /* a block for each thread */
    starpu_omp_shutdown();
    setenv("OMP_SCHEDULE", "NonMonotonic : guided,5", 1);
    omp_open(_i);
    get_schedule(starpu_omp_sched_guided, 5);
    starpu_omp_shutdown();
    setenv("OMP_SCHEDULE", "monotonic:auto", 1);
    omp_open(_i);
    get_schedule(starpu_omp_sched_auto, 1);
    starpu_omp_shutdown();
    unsetenv("OMP_MAX_ACTIVE_LEVELS");
    setenv("OMP_NESTED", "true", 1);
    omp_open(_i);
    ck_assert_int_eq(starpu_omp_get_nested(), 1);
    starpu_omp_shutdown();
}
END_TEST

/* Of a region in a region of 2: what the outer threads leave it. */
static void count_inner(void *buffers[], void *arg)
{
    (void)buffers;
    starpu_omp_barrier();
    if (starpu_omp_get_thread_num() == 0)
        omp_parallel(5, count_level, arg);
    starpu_omp_barrier();
}

/* Machines have 2 processors. */
START_TEST(dynamic_regions_have_no_more_threads_than_processors)
{
    struct level level = {0};

    setenv("OMP_DYNAMIC", "true", 1);
    setenv("OMP_MAX_ACTIVE_LEVELS", "2", 1);
    omp_open(_i);
    ck_assert_int_eq(starpu_omp_get_dynamic(), 1);
    omp_parallel(5, count_level, &level);
    ck_assert_int_eq(level.threads[0], 2);
    ck_assert_int_eq(level.threads[1],
                     2); /* one each: both processors are busy */
    starpu_omp_set_dynamic(0);
    ck_assert_int_eq(starpu_omp_get_dynamic(), 0);
    level = (struct level){0};
    omp_parallel(5, count_level, &level);
    ck_assert_int_eq(level.threads[0], 5);
    starpu_omp_shutdown();
}
END_TEST

START_TEST(the_limit_is_of_the_threads_of_all_regions)
{
    struct level level = {0};

    setenv("OMP_THREAD_LIMIT", "4", 1);
    setenv("OMP_MAX_ACTIVE_LEVELS", "2", 1);
    omp_open(_i);
    for (int i = 0; i < 2;
         i++) { /* threads of regions that have ended do not count */
        level = (struct level){0};
        omp_parallel(2, count_inner, &level);
        ck_assert_int_eq(level.threads[1],
                         3); /* itself, and the 2 that are left */
    }
    starpu_omp_shutdown();
}
END_TEST

/* Of a list the part before the mistake holds. */
START_TEST(what_follows_a_mistake_in_a_list_is_ignored)
{
    setenv("OMP_NUM_THREADS", "4,x,2", 1);
    setenv("OMP_PROC_BIND", "master,nowhere", 1);
    omp_open(_i);
    ck_assert_int_eq(starpu_omp_get_max_threads(), 4);
    ck_assert_int_eq((int)starpu_omp_get_proc_bind(),
                     starpu_omp_proc_bind_master);
    starpu_omp_shutdown();
    setenv("OMP_NUM_THREADS", "0", 1); /* as if it were not there */
    omp_open(_i);
    ck_assert_int_eq(starpu_omp_get_max_threads(), 2);
    starpu_omp_shutdown();
}
END_TEST

static const struct {
    const char *name, *value;
} wrong[] = {
    {"OMP_SCHEDULE", "fast"},        {"OMP_SCHEDULE", "static,-1"},
    {"OMP_SCHEDULE", "monotonic"},   {"OMP_SCHEDULE", "static:dynamic"},
    {"OMP_SCHEDULE", "dynamic,2,3"}, {"OMP_MAX_ACTIVE_LEVELS", "0"},
    {"OMP_CANCELLATION", "maybe"},   {"OMP_STACKSIZE", "4 x"},
    {"OMP_STACKSIZE", "m"},          {"OMP_PLACES", "{0:4}"},
    {"OMP_PLACES", "rooms"},         {"OMP_WAIT_POLICY", "patient"},
    {"OMP_DISPLAY_ENV", "often"},    {"OMP_THREAD_LIMIT", "2 3"},
    {"OMP_DEFAULT_DEVICE", "-1"},    {"OMP_NESTED", "falsely"},
};
enum { NWRONG = sizeof(wrong) / sizeof(wrong[0]) };

START_TEST(a_wrong_value_ends_the_program)
{
    setenv(wrong[_i].name, wrong[_i].value, 1);
    omp_open(0);
}
END_TEST

/* -- what is printed -- */

static char printed[4096];

static void open_and_read(void)
{
    int saved = dup(STDOUT_FILENO), ends[2];
    ssize_t n;

    ck_assert_int_eq(pipe(ends), 0);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    omp_open(0);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(ends[1]);
    n = read(ends[0], printed, sizeof(printed) - 1);
    printed[n < 0 ? 0 : n] = '\0';
    close(ends[0]);
    close(saved);
}

START_TEST(the_environment_is_printed_on_request)
{
    static const char *const lines[] = {
        "OPENMP DISPLAY ENVIRONMENT BEGIN\n",
        "  _OPENMP = '201107'\n",
        "  [host] OMP_SCHEDULE = 'GUIDED, 3'\n",
        "  [host] OMP_NUM_THREADS = '5, 2'\n",
        "  [host] OMP_STACKSIZE = '65536'\n",
        "  [host] OMP_PROC_BIND = 'CLOSE, FALSE'\n",
        "  [host] OMP_PLACES = 'cores(2)'\n",
        "  [host] OMP_WAIT_POLICY = 'PASSIVE'\n",
        "OPENMP DISPLAY ENVIRONMENT END\n",
    };

    setenv("OMP_DISPLAY_ENV", "true", 1);
    setenv("OMP_SCHEDULE", "guided,3", 1);
    setenv("OMP_NUM_THREADS", "5,2", 1);
    setenv("OMP_STACKSIZE", "64", 1);
    setenv("OMP_PROC_BIND", "close,false", 1);
    setenv("OMP_PLACES", "cores(2)", 1);
    open_and_read();
    for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        ck_assert_msg(strstr(printed, lines[i]) != NULL, "no \"%s\" in \"%s\"",
                      lines[i], printed);
    starpu_omp_shutdown();
}
END_TEST

/* -- stacks -- */

enum { STACK = 40 << 20, NEED = 32 << 20 };

/* Writes to each of its pages, from the top; returns how many. */
static __attribute__((noinline)) size_t use_stack(void)
{
    volatile char bytes[NEED];
    size_t n = 0;

    for (size_t i = NEED; i > 0; i -= 4096) {
        bytes[i - 1] = 1;
        n += (size_t)bytes[i - 1];
    }
    return n;
}

static void need_stack(void *buffers[], void *arg)
{
    (void)buffers;
    atomic_fetch_add((atomic_size_t *)arg, use_stack());
}

/* More threads than processors: some are on stacks of those that wait. */
static void need_stacks(void *buffers[], void *arg)
{
    need_stack(buffers, arg);
    starpu_omp_barrier();
    omp_spawn(need_stack, arg);
    starpu_omp_taskwait();
    need_stack(buffers, arg);
}

/* As `ulimit -s`: thread 0 of a region is the thread that begins it, whose stack is the
 * system's. Linux reads the limit each time that this stack grows. */
static void allow_own_stack(rlim_t bytes)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_STACK, &limit), 0);
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes)
        return;
    limit.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_STACK, &limit), 0);
}

START_TEST(stacks_are_as_large_as_was_asked)
{
    char text[32];
    atomic_size_t used = 0;

    allow_own_stack(2 * STACK);
    snprintf(text, sizeof(text), "%d b", STACK);
    setenv("OMP_STACKSIZE", text, 1);
    omp_open(_i);
    omp_parallel(MANY, need_stacks, &used);
    ck_assert_uint_eq(used, (size_t)3 * MANY * NEED / 4096);
    starpu_omp_shutdown();
}
END_TEST

START_TEST(tasks_of_other_programs_have_such_stacks)
{
    struct starpu_codelet cl = {.cpu_funcs = {need_stack}, .name = "k"};
    struct starpu_task *task;
    atomic_size_t used = 0;
    char text[32];

    snprintf(text, sizeof(text), "%d b", STACK);
    setenv("OMP_STACKSIZE", text, 1);
    machine_open(_i);
    task = starpu_task_create();
    task->cl = &cl;
    task->cl_arg = &used;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_uint_eq(used, NEED / 4096);
    starpu_shutdown();
}
END_TEST

/* No address space has that: as little where threads cannot be made. */
START_TEST(without_stacks_it_does_not_start)
{
    setenv("OMP_STACKSIZE", "4000000 G", 1);
    machine_choose(_i);
    ck_assert_int_lt(starpu_omp_init(), 0);
    ck_assert_int_eq(starpu_is_initialized(), 0);
    unsetenv("OMP_STACKSIZE");
    omp_open(_i);
    starpu_omp_shutdown();
}
END_TEST

/* -- mistakes -- */

START_TEST(without_processors_it_does_not_start)
{
    machine_choose(FIRST_SIMULATED);
    setenv("STARPU_NCPU", "0", 1);
    ck_assert_int_eq(starpu_omp_init(), -EINVAL);
    ck_assert_int_eq(starpu_is_initialized(), 0);
    starpu_omp_shutdown(); /* nothing */
}
END_TEST

static void barrier_in_task(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    starpu_omp_barrier();
}

static void unset_free_lock(void)
{
    starpu_omp_lock_t lock;

    starpu_omp_init_lock(&lock);
    starpu_omp_unset_lock(&lock);
}

static void set_lost_lock(void)
{
    starpu_omp_lock_t lock;

    starpu_omp_init_lock(&lock);
    starpu_omp_destroy_lock(&lock);
    starpu_omp_set_lock(&lock);
}

static void critical_twice(void)
{
    starpu_omp_critical_inline_begin("x");
    starpu_omp_critical_inline_begin("x");
}

static void no_threads(void)
{
    starpu_omp_set_num_threads(0);
}

static void no_schedule(void)
{
    starpu_omp_set_schedule(starpu_omp_sched_runtime, 1);
}

static void barrier_in_a_task(void)
{
    omp_spawn(barrier_in_task, NULL);
}

static void ordered_alone(void)
{
    starpu_omp_ordered_inline_begin();
}

static void region_without_body(void)
{
    omp_parallel(2, NULL, NULL);
}

static void group_not_begun(void)
{
    starpu_omp_taskgroup_inline_end();
}

static void (*const mistakes[])(void) = {
    unset_free_lock,     set_lost_lock,   critical_twice,
    no_threads,          no_schedule,     ordered_alone,
    region_without_body, group_not_begun, barrier_in_a_task,
};
enum { NMISTAKES = sizeof(mistakes) / sizeof(mistakes[0]) };

START_TEST(a_mistake_ends_the_program)
{
    omp_open(0);
    mistakes[_i]();
}
END_TEST

START_TEST(a_region_needs_openmp)
{
    machine_open(0);
    omp_parallel(2, barrier_in_task, NULL);
}
END_TEST

SUITE_MAIN(omp_environment)
{
    Suite *suite = suite_create("the environment of OpenMP");
    TCase *each = tcase_create("on each machine");
    TCase *once = tcase_create("once");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, once);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(without_variables_there_are_defaults);
    EACH(what_a_program_sets_holds);
    EACH(variables_are_read);
    EACH(what_follows_a_mistake_in_a_list_is_ignored);
    EACH(stacks_are_as_large_as_was_asked);
    EACH(tasks_of_other_programs_have_such_stacks);
    EACH(without_stacks_it_does_not_start);
    EACH(dynamic_regions_have_no_more_threads_than_processors);
    EACH(the_limit_is_of_the_threads_of_all_regions);
    tcase_add_test(once, the_environment_is_printed_on_request);
    tcase_add_test(once, without_processors_it_does_not_start);
    tcase_add_loop_test_raise_signal(once, a_wrong_value_ends_the_program,
                                     SIGABRT, 0, NWRONG);
    tcase_add_loop_test_raise_signal(once, a_mistake_ends_the_program, SIGABRT,
                                     0, NMISTAKES);
    tcase_add_test_raise_signal(once, a_region_needs_openmp, SIGABRT);
    return suite_main(suite);
}
