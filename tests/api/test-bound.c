/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-bound.c - lower bounds through the public interface, on each
 * machine. The model's figures are known: a CPU takes 100 ± 20 µs, the first
 * two GPUs 20 µs, the third is not calibrated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machines.h"

#define KNOWN   0x1234u /* the footprint that has figures */
#define UNKNOWN 0x5678u

static char folder[64];

static uint32_t footprint_of(struct starpu_task *task)
{
    return task->cl_arg ? UNKNOWN : KNOWN;
}

static struct starpu_perfmodel model = {
    .type = STARPU_HISTORY_BASED,
    .symbol = "bounded",
    .footprint = footprint_of,
};

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {nothing},
    .model = &model,
    .name = "bounded",
};

/* Has no model: k is what machines.c assumes a time for. */
static struct starpu_codelet cl_other = {.cpu_funcs = {nothing}, .name = "k"};

/* --- figures on disk --- */

static void write_comb(FILE *f, int type, int devid, double mean, double dev)
{
    fprintf(f, "1\n%d\n%d\n1\n1\n1\n", type, devid);
    fprintf(f, "0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n");
    fprintf(f, "%08x 8 0 %g %g %g %g 10\n", KNOWN, mean, dev, 10 * mean,
            10 * (mean * mean + dev * dev));
}

static void write_model(const char *host)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/codelets/45/bounded.%s", folder, host);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "45\n3\n");
    write_comb(f, 0, 0, 100, 20);
    write_comb(f, 1, 0, 20, 0);
    write_comb(f, 1, 1, 20, 0);
    ck_assert_int_eq(fclose(f), 0);
}

static void make_folder(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s%s", folder, name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void setup(void)
{
    strcpy(folder, "/tmp/orrery-bound-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    make_folder("/codelets");
    make_folder("/codelets/45");
    write_model("toy");
}

static void teardown(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static void start(int i)
{
    machine_choose(i);
    setenv("STARPU_HOSTNAME", "toy", 1);
    setenv("STARPU_PERF_MODEL_DIR", folder, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

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

    start(_i);
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
    ck_assert_double_eq(whole, -1); /* was not asked for */
    starpu_shutdown();
}
END_TEST

START_TEST(no_simulated_schedule_beats_the_bound)
{
    double relaxed = 0, begin, length;

    start(_i);
    if (!machine_simulated(_i)) {
        starpu_shutdown();
        return; /* empty kernels are faster than their model */
    }
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

    start(_i);
    starpu_bound_compute(&relaxed, &whole, 1);
    ck_assert(relaxed == 0 && whole == 0); /* nothing yet */
    record(7);
    submit(5);
    starpu_bound_compute(&one, NULL, 0);
    record(2); /* the others are forgotten */
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

START_TEST(tasks_without_figures_give_no_bound)
{
    double relaxed = -1, whole = -1;
    int mark;

    if (machine_simulated(_i))
        return; /* they cannot be simulated either */
    start(_i);
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

START_TEST(an_assumed_time_counts_where_there_are_no_figures)
{
    double relaxed = -1;
    int mark;

    if (!machine_simulated(_i))
        return;
    start(_i);
    starpu_shutdown();
    setenv("ORRERY_ASSUME", "kernel[bounded] = 40us", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_bound_start(0, 0);
    submit_of(&cl, 10, &mark);
    starpu_bound_stop();
    starpu_bound_compute(&relaxed, NULL, 0);
    check_ms(relaxed, 10 * 0.040); /* it has a function for CPUs only */
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
    start(_i);
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
    starpu_bound_print_dot(f);
    read_text(f);
    ck_assert_str_eq(text, "");
    fclose(f);
    starpu_shutdown();
}
END_TEST

START_TEST(dependencies_are_left_out_with_a_word_on_stderr)
{
    double relaxed = -1;
    FILE *f = tmpfile();
    int before = dup(STDERR_FILENO);

    ck_assert_ptr_nonnull(f);
    start(_i);
    unsetenv("STARPU_SILENT");
    dup2(fileno(f), STDERR_FILENO);
    starpu_bound_start(1, 1);
    dup2(before, STDERR_FILENO);
    read_text(f);
    check_text("starpu_bound_start: dependencies are not recorded yet");
    submit(8);
    starpu_bound_stop();
    starpu_bound_compute(&relaxed, NULL, 0);
    ck_assert_double_gt(relaxed, 0);
    starpu_task_wait_for_all();
    starpu_shutdown();
    close(before);
    fclose(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bound");
    TCase *tc = tcase_create("machines");
    int n = NMACHINES;

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, the_bound_is_what_all_workers_can_do_together, 0,
                        n);
    tcase_add_loop_test(tc, no_simulated_schedule_beats_the_bound, 0, n);
    tcase_add_loop_test(
        tc, only_tasks_submitted_in_between_with_a_history_model_count, 0, n);
    tcase_add_loop_test(tc, tasks_without_figures_give_no_bound, 0, n);
    tcase_add_loop_test(tc, an_assumed_time_counts_where_there_are_no_figures,
                        0, n);
    tcase_add_loop_test(tc, the_program_and_its_solution_can_be_read, 0, n);
    tcase_add_loop_test(tc, dependencies_are_left_out_with_a_word_on_stderr, 0,
                        n);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
