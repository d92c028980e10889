/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-bound.c - lower bounds through the public interface, on each
 * machine, with the model of bounded.h.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bounded.h"
#include "machines.h"
#include "tools/trace/paje_read.h"

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {nothing},
    .model = &bounded_model,
    .name = "bounded",
};

/* Has no model: k is what machines.c assumes a time for. */
static struct starpu_codelet cl_other = {.cpu_funcs = {nothing}, .name = "k"};

/* --- tasks --- */

static void submit_of(struct starpu_codelet *codelet, unsigned n, void *arg)
{
    while (n-- > 0) {
        struct starpu_task *task = starpu_task_create();

        ck_assert_ptr_nonnull(task);
        task->cl = codelet;
        task->cl_arg = arg;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
}

static void submit(unsigned n)
{
    submit_of(&cl, n, NULL);
}

static void record(unsigned n)
{
    starpu_bound_start(0, 0);
    submit(n);
    starpu_bound_stop();
}

static void check_ms(double value, double expected)
{
    ck_assert_double_eq_tol(value, expected, 1e-6 * expected);
}

/* Two CPUs at 80 µs; simulated, two GPUs at 20 µs beside one of them, for the
 * others drive the GPUs. */
START_TEST(the_bound_is_what_all_workers_can_do_together)
{
    double relaxed = -1, whole = -1;

    bounded_start(_i);
    record(101);
    starpu_task_wait_for_all();
    starpu_bound_compute(&relaxed, &whole, 1);
    if (machine_simulated(_i)) {
        ck_assert_uint_eq(starpu_cpu_worker_get_count(), 1);
        check_ms(relaxed, 101 / (1 / 0.080 + 2 / 0.020));
        check_ms(whole, 0.900); /* 2 × 45 and 11 */
    } else {
        check_ms(relaxed, 101 * 0.080 / 2);
        check_ms(whole, 51 * 0.080);
    }
    whole = -1;
    starpu_bound_compute(&relaxed, &whole, 0);
    ck_assert_double_eq(whole, -1); /* was not requested */
    starpu_shutdown();
}
END_TEST

/* On the real machine empty kernels are faster than their model. */
START_TEST(no_simulated_schedule_beats_the_bound)
{
    double relaxed = 0, begin, length;

    bounded_start(_i);
    begin = starpu_timing_now();
    record(500);
    starpu_task_wait_for_all();
    length = (starpu_timing_now() - begin) / 1e3;
    starpu_bound_compute(&relaxed, NULL, 0);
    check_ms(relaxed, 500 / (1 / 0.080 + 2 / 0.020));
    ck_assert_double_le(relaxed, length);
    starpu_shutdown();
}
END_TEST

START_TEST(only_tasks_submitted_in_between_with_a_history_model_count)
{
    double one = -1, relaxed = -1, whole = -1;

    bounded_start(_i);
    starpu_bound_compute(&relaxed, &whole, 1);
    ck_assert(relaxed == 0 && whole == 0); /* nothing yet */
    record(7);
    submit(5);
    starpu_bound_compute(&one, NULL, 0);
    record(2); /* the others are dropped */
    submit(4);
    starpu_bound_compute(&relaxed, NULL, 0);
    check_ms(relaxed, one * 2 / 7);
    starpu_bound_start(0, 0);
    submit_of(&cl_other, 3, NULL);
    ck_assert_int_eq(starpu_task_insert(NULL, 0), 0);
    starpu_bound_stop();
    starpu_bound_compute(&relaxed, NULL, 0);
    ck_assert(relaxed == 0);
    starpu_task_wait_for_all();
    starpu_shutdown();
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_bound_compute(&relaxed, NULL, 0);
    ck_assert(relaxed == 0);
    starpu_shutdown();
}
END_TEST

/* On the real machine: elsewhere they cannot be simulated either. */
START_TEST(tasks_without_estimates_give_no_bound)
{
    double relaxed = -1, whole = -1;
    int mark;

    bounded_start(_i);
    starpu_bound_start(0, 0);
    submit(1);
    submit_of(&cl, 1, &mark);
    starpu_bound_stop();
    starpu_bound_compute(&relaxed, &whole, 1);
    ck_assert(relaxed == 0 && whole == 0);
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

START_TEST(an_assumed_time_counts_where_there_are_no_estimates)
{
    double relaxed = -1;
    int mark;

    bounded_start(_i);
    starpu_shutdown();
    setenv("ORRERY_ASSUME", "kernel[bounded] = 40us", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_bound_start(0, 0);
    submit_of(&cl, 10, &mark);
    starpu_bound_stop();
    starpu_bound_compute(&relaxed, NULL, 0);
    /* Its model has times on all three: there are kernels. */
    check_ms(relaxed, 10 * 0.040 / 3);
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

/* --- text --- */

static char text[1 << 16];

static void read_text(FILE *f)
{
    size_t n;

    rewind(f);
    n = fread(text, 1, sizeof(text) - 1, f);
    text[n] = '\0';
    ck_assert_int_eq(ftruncate(fileno(f), 0), 0);
    rewind(f);
}

static void check_text(const char *part)
{
    ck_assert_msg(strstr(text, part), "no `%s' in\n%s", part, text);
}

START_TEST(the_program_and_its_solution_can_be_read)
{
    FILE *f = tmpfile();

    ck_assert_ptr_nonnull(f);
    bounded_start(_i);
    record(3);
    starpu_task_wait_for_all();
    starpu_bound_print_lp(f);
    read_text(f);
    check_text("min: tmax;");
    check_text("\t+0.080000 * w");
    check_text("bounded key 1234");
    check_text(" = 3;");
    starpu_bound_print_mps(f);
    read_text(f);
    check_text("NAME           StarPU theoretical bound\n");
    check_text("ENDATA\n");
    starpu_bound_print(f, 0);
    read_text(f);
    check_text(machine_simulated(_i)
                   ? "Theoretical minimum execution time: 0.026667 ms\n"
                   : "Theoretical minimum execution time: 0.120000 ms\n");
    check_text("bounded key 1234\n\tw0t0n ");
    starpu_bound_print(f, 1);
    read_text(f);
    check_text(machine_simulated(_i)
                   ? "Theoretical minimum execution time: 0.040000 ms\n"
                   : "Theoretical minimum execution time: 0.160000 ms\n");
    starpu_bound_print_dot(f); /* was not recorded */
    read_text(f);
    ck_assert_str_eq(text, "");
    fclose(f);
    starpu_shutdown();
}
END_TEST

/* --- with dependencies --- */

static void four(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

/* A writes x, B and C read it and write y and z, which D reads. */
static struct starpu_codelet diamond_cls[4] = {
    {.cpu_funcs = {four},
     .model = &bounded_model,
     .nbuffers = 1,
     .modes = {STARPU_W}},
    {.cpu_funcs = {four},
     .model = &bounded_model,
     .nbuffers = 2,
     .modes = {STARPU_R, STARPU_W}},
    {.cpu_funcs = {four},
     .model = &bounded_model,
     .nbuffers = 2,
     .modes = {STARPU_R, STARPU_W}},
    {.cpu_funcs = {four},
     .model = &bounded_model,
     .nbuffers = 2,
     .modes = {STARPU_R, STARPU_R}},
};
static const int diamond_data[4][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 2}};

static float values[3];
static starpu_data_handle_t handles[3];

static void register_data(void)
{
    for (int i = 0; i < 3; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&values[i], sizeof(values[i]));
}

static void unregister_data(void)
{
    for (int i = 0; i < 3; i++)
        starpu_data_unregister(handles[i]);
}

/* The diamond; each task is waited for when `wait`, so that all dependencies
 * are fulfilled before they are found. */
static void submit_diamond(bool wait)
{
    for (int i = 0; i < 4; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &diamond_cls[i];
        task->handles[0] = handles[diamond_data[i][0]];
        if (i > 0)
            task->handles[1] = handles[diamond_data[i][1]];
        task->priority = i == 2;
        task->use_tag = i == 3;
        task->tag_id = 77;
        ck_assert_int_eq(starpu_task_submit(task), 0);
        if (wait)
            starpu_task_wait_for_all();
    }
}

static void record_diamond(bool wait, int prio)
{
    starpu_bound_start(1, prio);
    submit_diamond(wait);
    starpu_bound_stop();
    starpu_task_wait_for_all();
}

static const char *const edges[] = {
    "\"t1\" -> \"t2\"\n",
    "\"t1\" -> \"t3\"\n",
    "\"t2\" -> \"t4\"\n",
    "\"t3\" -> \"t4\"\n",
};

START_TEST(the_graph_has_all_dependencies_also_fulfilled_ones)
{
    for (int wait = 0; wait < 2; wait++) {
        FILE *f = tmpfile();
        unsigned arrows = 0;

        bounded_start(_i);
        register_data();
        record_diamond(wait, 0);
        starpu_bound_print_dot(f);
        read_text(f);
        check_text("strict digraph bounddeps {\n");
        check_text("\"t1\" [label=\"1: bounded\"]\n");
        for (unsigned e = 0; e < 4; e++)
            check_text(edges[e]);
        for (const char *c = text; (c = strstr(c, "->")); c++)
            arrows++;
        ck_assert_uint_eq(arrows, 4);
        unregister_data();
        starpu_shutdown();
        fclose(f);
    }
}
END_TEST

START_TEST(declared_dependencies_tags_and_what_joins_are_in_the_graph)
{
    struct starpu_task *tasks[4];
    FILE *f = tmpfile();

    bounded_start(_i);
    starpu_bound_start(1, 0);
    starpu_tag_declare_deps(9, 1, (starpu_tag_t)8);
    for (int i = 0; i < 4; i++) {
        tasks[i] = starpu_task_create();
        if (i != 1) /* an empty one between the first and the third */
            tasks[i]->cl = &cl;
        tasks[i]->use_tag = i >= 2;
        tasks[i]->tag_id = (starpu_tag_t)(i == 2 ? 8 : 9);
    }
    starpu_task_declare_deps(tasks[1], 1, tasks[0]);
    starpu_task_declare_deps(tasks[2], 1, tasks[1]);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(starpu_task_submit(tasks[i]), 0);
    starpu_bound_stop();
    starpu_task_wait_for_all();
    starpu_bound_print_dot(f);
    read_text(f);
    check_text("\"t1\" -> \"t3\"\n");
    ck_assert_ptr_null(strstr(text, "t2"));
    check_text("\"tag8\" -> \"tag9\";\n");
    starpu_bound_print_lp(f);
    read_text(f);
    check_text("tag9 >= tag8;\n");
    check_text("c4 = tag9;\n");
    check_text("nt = 3;\n");
    starpu_shutdown();
    fclose(f);
}
END_TEST

/* Three tasks in a row: at 80 µs; simulated at 20 µs. */
START_TEST(the_bound_obeys_dependencies)
{
    double relaxed = -1, whole = -1, area;

    bounded_start(_i);
    register_data();
    record_diamond(false, 1);
    starpu_bound_compute(&relaxed, &whole, 1);
    area = machine_simulated(_i) ? 4 / (1 / 0.080 + 2 / 0.020) : 4 * 0.080 / 2;
    ck_assert_double_ge(relaxed, area * (1 - 1e-6));
    ck_assert_double_le(relaxed,
                        (machine_simulated(_i) ? 0.060 : 0.240) * (1 + 1e-6));
    ck_assert_double_ge(whole, relaxed * (1 - 1e-6));
    unregister_data();
    starpu_shutdown();
}
END_TEST

START_TEST(a_bound_without_dependencies_reports_it)
{
    FILE *f = tmpfile();

    bounded_start(_i);
    register_data();
    record_diamond(false, 0);
    starpu_bound_print(f, 0);
    read_text(f);
    check_text("Dependencies are not supported here");
    starpu_bound_print_mps(f);
    read_text(f);
    check_text("* Dependencies are not supported here");
    unregister_data();
    starpu_shutdown();
    fclose(f);
}
END_TEST

/* --- lp_solve and starpu_lp2paje --- */

/* Of all schedules of the diamond: all on one fastest worker, or B and C beside
 * each other, with two copies to wait for when memories are apart. */
static double best_diamond(int i)
{
    double copy;

    if (!machine_simulated(i))
        return 3 * 0.080;
    copy = starpu_transfer_predict(1, 2, sizeof(float)) / 1e3;
    return 0.060 + (2 * copy < 0.020 ? 2 * copy : 0.020);
}

static void check_chart(const char *path, double best)
{
    struct paje_chart chart;
    struct orr_error err = {""};

    ck_assert_msg(paje_chart_read(path, &chart, &err) == 0, "%s", err.text);
    ck_assert_uint_eq(chart.nrows, starpu_worker_get_count());
    ck_assert_uint_eq(chart.nboxes, 4);
    ck_assert_uint_eq(chart.nkernels, 4);
    ck_assert_double_eq_tol(chart.end, best, 1e-6);
    paje_chart_done(&chart);
}

START_TEST(lp_solve_finds_the_best_schedule_and_it_becomes_a_trace)
{
    char lp[96], answer[96], trace[96], command[512];
    double best, found = -1;
    FILE *f;

    if (system("lp_solve -S1 /dev/null >/dev/null 2>&1") == 127 << 8)
        SKIP_TEST("lp_solve is not installed");
    bounded_start(_i);
    register_data();
    record_diamond(false, _i % 2);
    best = best_diamond(_i);
    f = fopen(bounded_path_of(lp, "d.lp"), "w");
    starpu_bound_print_lp(f);
    fclose(f);
    snprintf(command, sizeof(command),
             "lp_solve -e 1e-9 -timeout 50 '%s' >'%s' && '" LP2PAJE
             "' <'%s' >'%s'",
             lp, bounded_path_of(answer, "answer"), answer,
             bounded_path_of(trace, "d.paje"));
    ck_assert_msg(system(command) == 0, "%s", command);
    f = fopen(answer, "r");
    while (fgets(text, sizeof(text), f))
        (void)sscanf(text, "Value of objective function: %lf", &found);
    fclose(f);
    ck_assert_double_eq_tol(found, best, 1e-6);
    check_chart(trace, best);
    unregister_data();
    starpu_shutdown();
}
END_TEST

#define ANSWER                                                                 \
    "\nValue of objective function: 2\n\nActual values of the variables:\n"
#define COUNTS ANSWER "tmax 2\nnt 2\nnw 2\n"
#define DATES  COUNTS "c2 2\nc1 1\n"

static const struct {
    const char *answer, *message; /* "": it is good */
} answers[] = {
    {DATES "t2w0 0\nt2w1 1\nt1w0 1\nt1w1 0\ns2 1\ns1 0\n", ""},
    {DATES "t2w1 1\nt1w0 1\ns2 1\ns1 0\nd_x 5\n", ""}, /* unknown places */
    {"", "<stdin>:1: expected \"Value of objective function"},
    {"This problem is infeasible\n", "<stdin>:1: lp_solve found no schedule"},
    {"This problem is unbounded\n", "<stdin>:1: This problem is unbounded"},
    {"\nValue of objective function: 2\n", "expected \"Actual"},
    {ANSWER, "<stdin>:5: expected tmax, found the end"},
    {ANSWER "w0t0n 2\n", "<stdin>:5: expected tmax, found w0t0n:"},
    {ANSWER "tmax 2\nnt 0\n", "<stdin>:6: nt = 0: a number from 1"},
    {ANSWER "tmax 2\nnt 1e9\n", "<stdin>:6: nt = 1e+09: a number from 1"},
    {ANSWER "tmax 2\nnt nan\n", "<stdin>:6: expected nt, found \"nt nan\":"},
    {COUNTS "c1 1\nt1w0 1\n", "number 2 of 2, found t1w0:"},
    {COUNTS "c1 1\nc 1\n", "<stdin>:9: expected c<task>"},
    {DATES "t1w0 1\n", "<stdin>:10: places of another task"},
    {DATES "t2w2 1\n", "<stdin>:10: this worker is not next"},
    {DATES "t2w1 1\nt2w0 0\n", "<stdin>:11: this worker is not next"},
    {DATES "t2w0 0.5\n", "<stdin>:10: neither 0 nor 1"},
    {DATES "t2w0 1\nt2w1 1\n", "<stdin>:11: the task runs on two workers"},
    {DATES "t2w0 0\nt2w1 0\nt1w0 1\n", "<stdin>:12: places of another task"},
    {DATES "t2w0 1\nt1w0 1\ns1 0\n", "<stdin>:12: tasks start in another"},
    {DATES "t2w0 1\nt1w0 1\ns2 1\n", "<stdin>:13: expected s<task"},
};

START_TEST(a_wrong_answer_is_refused_with_its_line)
{
    char answer[96], said[96], trace[96], command[512];
    FILE *f = fopen(bounded_path_of(answer, "answer"), "w");
    bool good = answers[_i].message[0] == '\0';
    int status;
    size_t n;

    fputs(answers[_i].answer, f);
    fclose(f);
    snprintf(command, sizeof(command), "'" LP2PAJE "' <'%s' >'%s' 2>'%s'",
             answer, bounded_path_of(trace, "trace"),
             bounded_path_of(said, "said"));
    status = system(command);
    f = fopen(said, "r");
    n = fread(text, 1, sizeof(text) - 1, f);
    text[n] = '\0';
    fclose(f);
    ck_assert_msg(status == (good ? 0 : 1 << 8), "status %x: %s", status, text);
    if (good)
        ck_assert_str_eq(text, "");
    else
        check_text(answers[_i].message);
}
END_TEST

START_TEST(a_recording_that_was_not_started_or_is_empty_is_reported)
{
    static void (*const prints[])(FILE *) = {
        starpu_bound_print_lp, starpu_bound_print_dot, starpu_bound_print_mps};
    int before = dup(STDERR_FILENO);
    FILE *f = tmpfile(), *out = tmpfile();

    bounded_start(_i);
    dup2(fileno(f), STDERR_FILENO);
    for (int started = 0; started < 2; started++) {
        if (started)
            starpu_bound_start(1, 1);
        for (unsigned p = 0; p < 3; p++) {
            prints[p](out);
            fflush(stderr);
            read_text(f);
            check_text(started ? "no task was recorded"
                               : "no recording was started");
        }
    }
    /* And no lock stays behind. */
    starpu_bound_start(1, 0);
    submit(1);
    starpu_bound_stop();
    starpu_task_wait_for_all();
    starpu_bound_print_lp(out);
    dup2(before, STDERR_FILENO);
    read_text(out);
    check_text("nt = 1;\n");
    starpu_shutdown();
    close(before);
    fclose(f);
    fclose(out);
}
END_TEST

/* --- ORRERY_GRAPH --- */

START_TEST(a_run_leaves_its_graph)
{
    char path[96];
    FILE *f;
    size_t n;

    setenv("ORRERY_GRAPH", bounded_path_of(path, "graph"), 1);
    bounded_start(_i);
    register_data();
    submit_diamond(false);
    starpu_task_wait_for_all();
    unregister_data();
    starpu_shutdown();
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    n = fread(text, 1, sizeof(text) - 1, f);
    text[n] = '\0';
    fclose(f);
    check_text("orrery-graph 1\n");
    check_text(machine_simulated(_i) ? "run simulated " : "run real ");
    check_text("kind \"bounded\" 1234 0 ");
    check_text("\nafter 1 4\nafter 2 4\nuses 1 r\nuses 2 r\nend\n");
    if (machine_simulated(_i)) {
        check_text("link ");
        /* one CPU, two GPUs, and one whose times are not known: it has no
         * function, so it cannot run them */
        check_text("kind \"bounded\" 1234 0 1 0.10000000000000001 "
                   "0.02 2 0.02 0 1 inf 0\n");
    }
    unsetenv("ORRERY_GRAPH");
}
END_TEST

static unsigned count_text(const char *part)
{
    unsigned n = 0;

    for (const char *c = text; (c = strstr(c, part)); c++)
        n++;
    return n;
}

/* n tasks, an event, n tasks. */
static void submit_around_event(unsigned n)
{
    struct starpu_task *tasks[301];

    ck_assert_uint_lt(2 * n, 301);
    for (unsigned i = 0; i < 2 * n + 1; i++) {
        tasks[i] = starpu_task_create();
        if (i != n)
            tasks[i]->cl = &cl;
        tasks[i]->destroy = 0;
    }
    starpu_task_declare_deps_array(tasks[n], n, tasks);
    for (unsigned i = n + 1; i < 2 * n + 1; i++)
        starpu_task_declare_deps(tasks[i], 1, tasks[n]);
    for (unsigned i = 0; i < 2 * n + 1; i++)
        ck_assert_int_eq(starpu_task_submit(tasks[i]), 0);
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < 2 * n + 1; i++)
        starpu_task_destroy(tasks[i]);
}

START_TEST(an_event_is_taken_out_unless_that_makes_many_pairs)
{
    static const struct {
        unsigned n, tasks, deps, joins;
    } cases[] = {{3, 6, 9, 0}, {140, 281, 280, 1}};
    char path[96];

    setenv("ORRERY_GRAPH", bounded_path_of(path, "graph"), 1);
    for (unsigned c = 0; c < 2; c++) {
        FILE *f;
        size_t n;

        bounded_start(_i);
        submit_around_event(cases[c].n);
        starpu_shutdown();
        f = fopen(path, "r");
        n = fread(text, 1, sizeof(text) - 1, f);
        text[n] = '\0';
        fclose(f);
        ck_assert_uint_eq(count_text("\ntask "), cases[c].tasks);
        ck_assert_uint_eq(count_text("\nafter "), cases[c].deps);
        ck_assert_uint_eq(count_text("\nkind \"(join)\""), cases[c].joins);
    }
    unsetenv("ORRERY_GRAPH");
}
END_TEST

/* --- ORRERY_CHECK_BOUNDS --- */

/* A folder of modules whose solver gives wrong bounds. */
static void take_liar(char *path)
{
    char from[256], to[128];

    bounded_make_folder("/modules");
    snprintf(from, sizeof(from), "%s/sim.so", getenv("ORRERY_MODULE_DIR"));
    snprintf(to, sizeof(to), "%s/modules/sim.so", bounded_folder);
    ck_assert_int_eq(symlink(from, to), 0);
    snprintf(to, sizeof(to), "%s/modules/bound.so", bounded_folder);
    ck_assert_int_eq(symlink(LIAR, to), 0);
    setenv("ORRERY_MODULE_DIR", bounded_path_of(path, "modules"), 1);
}

START_TEST(a_simulated_run_that_beats_a_bound_aborts)
{
    char path[96];

    take_liar(path);
    setenv("ORRERY_CHECK_BOUNDS", "1", 1);
    bounded_start(2 + _i);
    submit(3);
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

START_TEST(no_run_is_checked_unless_requested)
{
    char path[96];

    take_liar(path);
    unsetenv("ORRERY_CHECK_BOUNDS");
    bounded_start(2 + _i);
    submit(3);
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bound");
    TCase *tc = tcase_create("machines");
    int n = NMACHINES;

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, bounded_setup, bounded_teardown);
    tcase_add_loop_test(tc, the_bound_is_what_all_workers_can_do_together, 0,
                        n);
    tcase_add_loop_test(tc, no_simulated_schedule_beats_the_bound,
                        FIRST_SIMULATED, n);
    tcase_add_loop_test(
        tc, only_tasks_submitted_in_between_with_a_history_model_count, 0, n);
    tcase_add_loop_test(tc, tasks_without_estimates_give_no_bound, 0,
                        FIRST_SIMULATED);
    tcase_add_loop_test(tc, an_assumed_time_counts_where_there_are_no_estimates,
                        FIRST_SIMULATED, n);
    tcase_add_loop_test(tc, the_program_and_its_solution_can_be_read, 0, n);
    tcase_add_loop_test(tc, the_graph_has_all_dependencies_also_fulfilled_ones,
                        0, n);
    tcase_add_loop_test(
        tc, declared_dependencies_tags_and_what_joins_are_in_the_graph, 0, n);
    tcase_add_loop_test(tc, the_bound_obeys_dependencies, 0, n);
    tcase_add_loop_test(tc, a_bound_without_dependencies_reports_it, 0, n);
    tcase_add_loop_test(
        tc, lp_solve_finds_the_best_schedule_and_it_becomes_a_trace, 0, n);
    tcase_add_loop_test(tc, a_wrong_answer_is_refused_with_its_line, 0,
                        sizeof(answers) / sizeof(*answers));
    tcase_add_loop_test(
        tc, a_recording_that_was_not_started_or_is_empty_is_reported, 0, n);
    tcase_add_loop_test(tc, a_run_leaves_its_graph, 0, n);
    tcase_add_loop_test(tc, an_event_is_taken_out_unless_that_makes_many_pairs,
                        0, n);
    tcase_add_loop_test_raise_signal(
        tc, a_simulated_run_that_beats_a_bound_aborts, SIGABRT, 0, n - 2);
    tcase_add_loop_test(tc, no_run_is_checked_unless_requested, 0, n - 2);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
