/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-bound-ranks.c - bounds of several ranks, against cases that are computed by
 * hand, and a resource's least end against all sets of its pieces. One thread.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound/graph_text.h"
#include "bound/methods.h"
#include "bound/one_machine.h"
#include "bound/producers.h"
#include "bound/ranks.h"
#include "tests/rng.h"
#include "tests/suite.h"

enum { MOST_RANKS = 3, MOST_MESSAGES = 8 };

static struct orr_graph *graphs[MOST_RANKS];
static struct orr_bound_message messages[MOST_MESSAGES];
static struct orr_bound_ranks problem;
static struct orr_bound_ranks_result result;
static struct orr_bound_cut cut;
static unsigned node[MOST_RANKS], part[MOST_RANKS];
static double rate[MOST_RANKS];

/* 1 ms, and 10 bytes per ms. */
static double least_ms(void *arg, unsigned from, unsigned to, double bytes)
{
    ck_assert(!arg);
    ck_assert_uint_ne(from, to);
    return 1 + bytes / 10;
}

static double delay_ms(void *arg, double bytes)
{
    (void)arg;
    (void)bytes;
    return 1;
}

static void setup(void)
{
    memset(graphs, 0, sizeof(graphs));
    for (unsigned r = 0; r < MOST_RANKS; r++) {
        node[r] = part[r] = r;
        rate[r] = 10;
    }
    cut = (struct orr_bound_cut){.nparts = MOST_RANKS, .part = part, .rate = rate};
    problem = (struct orr_bound_ranks){.graphs = graphs, .node = node, .nnodes = MOST_RANKS,
                                       .messages = messages, .cuts = &cut, .ncuts = 1,
                                       .least_ms = least_ms, .delay_ms = delay_ms};
}

static void teardown(void)
{
    orr_bound_ranks_done(&result);
    for (unsigned r = 0; r < MOST_RANKS; r++)
        orr_graph_free(graphs[r]);
}

/* Tasks of type 0 take 4 ms on either of two workers, those of type 1 are turns for messages;
 * datum 0 has 100 bytes. */
static void add_rank(const char *tasks)
{
    char text[2000];
    struct orr_error err = {""};
    FILE *f;

    snprintf(text, sizeof(text),
             "orrery-graph 1\nrun simulated nan\nnode \"RAM\" inf\nworker \"CPU 0\" 0\n"
             "worker \"CPU 1\" 0\nkind \"k\" 0 0 2 4 0\nkind \"(message)\" 0 0 2 0 0\n"
             "datum 0 valued 100\ndatum 0 new 100\n%send\n",
             tasks);
    f = fmemopen(text, strlen(text), "r");
    ck_assert_msg(orr_graph_read(f, "a rank", &graphs[problem.n++], &err) == 0, "%s", err.text);
    fclose(f);
}

static void add_message(unsigned from, unsigned sent, unsigned to, unsigned received)
{
    messages[problem.nmessages++] = (struct orr_bound_message){from, sent, to, received, 100,
                                                               false};
}

static void bound(void)
{
    struct orr_error err = {""};

    ck_assert_msg(orr_bound_ranks_compute(&problem, &result, &err) == 0, "%s", err.text);
}

START_TEST(the_critical_path_goes_through_messages)
{
    add_rank("task 0 1 0\nuses 0 rw\ntask 1 9 0 by -\nafter 0 100\nuses 0 r\n");
    add_rank("task 0 1 0\nafter 1 100\nuses 1 r\ntask 1 9 0 by -\nuses 1 w\n");
    add_message(0, 1, 1, 1);
    bound();
    ck_assert_double_eq_tol(result.path_ms, 4 + 1 + 10 + 4, 1e-9);
    ck_assert_uint_eq(result.path_tasks, 2);
    ck_assert_uint_eq(result.path_messages, 1);
    ck_assert_double_eq_tol(result.path_messages_ms, 11, 1e-9);
    ck_assert(!result.unknown);
    /* Within a node a message takes no time, and passes no NIC. */
    orr_bound_ranks_done(&result);
    node[1] = 0;
    bound();
    ck_assert_double_eq_tol(result.path_ms, 8, 1e-9);
    ck_assert_uint_eq(result.traffic[0][1].nvalues, 0);
}
END_TEST

START_TEST(workers_have_what_is_before_and_behind_their_tasks)
{
    add_rank("task 0 1 0\nuses 0 rw\ntask 1 9 0 by -\nafter 0 100\nuses 0 r\n");
    /* Eight tasks of 4 ms on two workers, behind the message; and one more at once. */
    add_rank("task 0 1 0\nafter 9 100\nuses 1 r\ntask 0 2 0\nafter 9 100\nuses 1 r\n"
             "task 0 3 0\nafter 9 100\nuses 1 r\ntask 0 4 0\nafter 9 100\nuses 1 r\n"
             "task 0 5 0\nafter 9 100\nuses 1 r\ntask 0 6 0\nafter 9 100\nuses 1 r\n"
             "task 0 7 0\nafter 9 100\nuses 1 r\ntask 0 8 0\nafter 9 100\nuses 1 r\n"
             "task 0 9 0\ntask 1 10 0 by -\nuses 1 w\n");
    add_message(0, 1, 1, 9);
    bound();
    ck_assert_double_eq_tol(result.ranks[1].area_ms, 9 * 4 / 2., 1e-6);
    ck_assert_double_eq_tol(result.ranks[1].ms, 15 + 8 * 4 / 2., 1e-6);
    ck_assert_uint_eq(result.ranks[1].ntasks, 9);
    ck_assert_double_eq_tol(result.ranks[0].ms, 2 + 11 + 4, 1e-6);
}
END_TEST

/* Rank 0 makes a value that two ranks need. */
static void send_to_two(void)
{
    static const char *const receiver =
        "task 0 1 0\nafter 1 100\nuses 1 r\ntask 1 9 0 by -\nuses 1 w\n";

    add_rank("task 0 1 0\nuses 0 rw\ntask 1 9 0 by -\nafter 0 100\nuses 0 r\n"
             "task 1 10 0 by -\nafter 0 100\nuses 0 r\n");
    add_rank(receiver);
    add_rank(receiver);
    add_message(0, 1, 1, 1);
    add_message(0, 2, 2, 1);
}

START_TEST(a_value_leaves_its_node_once_and_enters_others_once)
{
    const struct orr_bound_traffic *of;

    send_to_two();
    bound();
    of = result.traffic[0];
    ck_assert_double_eq(of[1].bytes, 100);
    ck_assert_double_eq(of[2].bytes, 100);
    ck_assert_double_eq(of[4].bytes, 100);
    ck_assert_double_eq(of[0].bytes, 0);
    ck_assert_double_eq_tol(of[1].ms, 4 + 1 + 10 + 4, 1e-9);
    /* On one node the two ranks share it. */
    orr_bound_ranks_done(&result);
    node[2] = 1;
    bound();
    of = result.traffic[0];
    ck_assert_double_eq(of[2].bytes, 100);
    ck_assert_uint_eq(of[2].nvalues, 1);
}
END_TEST

START_TEST(half_duplex_links_carry_both_directions_one_after_the_other)
{
    /* Ranks 0 and 1 exchange values that they have made. */
    static const char *const tasks =
        "task 0 1 0\nuses 0 rw\ntask 0 2 0\nafter 3 100\nuses 1 r\n"
        "task 1 9 0 by -\nafter 0 100\nuses 0 r\ntask 1 10 0 by -\nuses 1 w\n";

    add_rank(tasks);
    add_rank(tasks);
    add_message(0, 2, 1, 3);
    add_message(1, 2, 0, 3);
    bound();
    ck_assert_double_eq_tol(result.traffic[0][0].ms, 4 + 1 + 10 + 4, 1e-9);
    orr_bound_ranks_done(&result);
    cut.shared = true;
    bound();
    ck_assert_double_eq_tol(result.traffic[0][0].ms, 4 + 1 + 20 + 4, 1e-9);
    ck_assert_double_eq_tol(result.traffic[0][1].ms, 4 + 1 + 20 + 4, 1e-9);
}
END_TEST

START_TEST(what_may_have_come_before_the_first_submission_takes_nothing)
{
    add_rank("task 1 9 0 by -\nuses 0 r\ntask 0 10 0\n");
    add_rank("task 0 1 0\nafter 1 100\nuses 1 r\ntask 1 9 0 by -\nuses 1 w\n");
    add_message(0, 0, 1, 1);
    bound();
    ck_assert_double_eq_tol(result.path_ms, 15, 1e-9);
    ck_assert_double_eq(result.traffic[0][1].bytes, 100);
    orr_bound_ranks_done(&result);
    messages[0].early = true;
    bound();
    ck_assert_double_eq_tol(result.path_ms, 4, 1e-9);
    ck_assert_double_eq(result.traffic[0][1].bytes, 0);
    ck_assert_double_eq(result.traffic[0][1].ms, 0);
}
END_TEST

START_TEST(what_no_task_waits_for_may_come_after_the_end)
{
    add_rank("task 0 1 0\nuses 0 rw\ntask 1 9 0 by -\nafter 0 100\nuses 0 r\n");
    add_rank("task 0 1 0\ntask 1 9 0 by -\nuses 1 w\n");
    add_message(0, 1, 1, 1);
    bound();
    ck_assert_double_eq_tol(result.path_ms, 4, 1e-9);
    ck_assert_double_eq(result.traffic[0][1].bytes, 0);
}
END_TEST

START_TEST(a_value_that_is_passed_on_is_the_same_one)
{
    add_rank("task 0 1 0\nuses 0 rw\ntask 1 9 0 by -\nafter 0 100\nuses 0 r\n");
    add_rank("task 1 9 0 by -\nuses 1 w\ntask 1 10 0 by -\nafter 0 100\nuses 1 r\n");
    add_rank("task 0 1 0\nafter 1 100\nuses 1 r\ntask 1 9 0 by -\nuses 1 w\n");
    add_message(0, 1, 1, 0);
    add_message(1, 1, 2, 1);
    bound();
    ck_assert_double_eq_tol(result.path_ms, 4 + 11 + 11 + 4, 1e-9);
    ck_assert_uint_eq(result.ranks[1].ntasks, 0);
    ck_assert_double_eq(result.traffic[0][1].bytes, 100);
    ck_assert_double_eq(result.traffic[0][3].bytes, 0); /* rank 1 has made none */
    ck_assert_double_eq(result.traffic[0][4].bytes, 100);
}
END_TEST

START_TEST(ranks_that_wait_for_each_other_are_refused)
{
    struct orr_error err = {""};

    add_rank("task 1 1 0 by -\nafter 1 0\nuses 0 r\ntask 1 2 0 by -\nuses 1 w\n");
    add_rank("task 1 1 0 by -\nafter 1 0\nuses 0 r\ntask 1 2 0 by -\nuses 1 w\n");
    add_message(0, 0, 1, 1);
    add_message(1, 0, 0, 1);
    ck_assert_int_eq(orr_bound_ranks_compute(&problem, &result, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "cycle"));
}
END_TEST

START_TEST(a_task_finds_the_value_of_the_last_writer_before_it)
{
    unsigned *order, *producer;

    add_rank("task 0 1 0\nuses 0 rw\ntask 0 2 0\nafter 0 100\nuses 0 r\n"
             "task 0 3 0\nafter 1 100\nuses 0 rw\ntask 0 4 0\nafter 2 100\nafter 0 0\nuses 0 r\n");
    ck_assert_int_eq(orr_bound_producers(graphs[0], &order, &producer), 0);
    ck_assert_uint_eq(producer[0], ORR_BOUND_NOBODY);
    ck_assert_uint_eq(producer[1], 0);
    ck_assert_uint_eq(producer[2], 0); /* by way of a reader */
    ck_assert_uint_eq(producer[3], 2);
    free(order);
    free(producer);
}
END_TEST

/* The bound with what the runtime takes, of a processor and a device. */
static double runtime_ms(const char *tasks)
{
    char text[1000];
    struct orr_bound_instance *in;
    struct orr_bound_result ret;
    struct orr_graph *graph;
    struct orr_error err = {""};
    FILE *f;

    snprintf(text, sizeof(text),
             "orrery-graph 1\nrun simulated nan\ncosts 1 0 1 1 1 1 10\nnode \"RAM\" inf\n"
             "worker \"CPU 0\" 0 blocking\nworker \"CUDA 0\" 0\nkind \"k\" 0 0 2 4 0\n"
             "kind \"(message)\" 0 0 2 0 0\nkind \"(join)\" 0 0 2 0 0\n"
             "datum 0 valued 100\n%send\n",
             tasks);
    f = fmemopen(text, strlen(text), "r");
    ck_assert_msg(orr_graph_read(f, "a rank", &graph, &err) == 0, "%s", err.text);
    fclose(f);
    ck_assert_int_eq(orr_bound_instance_new(graph, &(struct orr_bound_instance_options){0}, &in,
                                            NULL, &err), 0);
    ck_assert_int_eq(orr_bound_compute(in, ORR_BOUND_RUNTIME, NULL, &ret), 0);
    orr_bound_instance_free(in);
    orr_bound_result_done(&ret);
    orr_graph_free(graph);
    return ret.ms;
}

START_TEST(no_worker_asks_for_what_is_no_task)
{
    static const char tasks[] = "task 0 1 0\nuses 0 rw\ntask 0 2 0\nafter 0 100\nuses 0 rw\n";
    char more[800];
    double ms = runtime_ms(tasks);

    snprintf(more, sizeof(more), "%s", tasks);
    for (unsigned i = 0; i < 12; i++)
        snprintf(more + strlen(more), sizeof(more) - strlen(more),
                 "task %u %u 0 by -\nafter 1 100\nuses 0 r\n", 1 + i % 2, 3 + i);
    ck_assert_double_gt(ms, 8);
    ck_assert_double_eq_tol(runtime_ms(more), ms, 1e-9);
}
END_TEST

/* The largest least head + work + least tail of all sets of pieces. */
static double worst_set(const struct orr_bound_piece *pieces, unsigned n)
{
    double worst = 0;

    for (unsigned set = 1; set < 1U << n; set++) {
        double head = INFINITY, work = 0, tail = INFINITY;

        for (unsigned i = 0; i < n; i++)
            if (set >> i & 1) {
                head = fmin(head, pieces[i].head);
                tail = fmin(tail, pieces[i].tail);
                work += pieces[i].work;
            }
        worst = fmax(worst, head + work + tail);
    }
    return worst;
}

START_TEST(one_machine_ends_when_its_worst_set_does)
{
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct orr_bound_piece pieces[10];
        uint64_t rng = rng_of(seed);
        unsigned n = 1 + (unsigned)(rng_next(&rng) % 10);
        double worst, end;

        for (unsigned i = 0; i < n; i++)
            pieces[i] = (struct orr_bound_piece){.head = (double)(rng_next(&rng) % 20),
                                                 .work = (double)(rng_next(&rng) % 6),
                                                 .tail = (double)(rng_next(&rng) % 20)};
        worst = worst_set(pieces, n);
        ck_assert_int_eq(orr_bound_one_machine(pieces, n, &end), 0);
        ck_assert_double_eq_tol(end, worst, 1e-9);
    }
}
END_TEST

SUITE_MAIN(bound_ranks)
{
    Suite *suite = suite_create("bound-ranks");
    TCase *tests = tcase_create("bounds of several ranks");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_critical_path_goes_through_messages);
    tcase_add_test(tests, workers_have_what_is_before_and_behind_their_tasks);
    tcase_add_test(tests, a_value_leaves_its_node_once_and_enters_others_once);
    tcase_add_test(tests, half_duplex_links_carry_both_directions_one_after_the_other);
    tcase_add_test(tests, what_may_have_come_before_the_first_submission_takes_nothing);
    tcase_add_test(tests, what_no_task_waits_for_may_come_after_the_end);
    tcase_add_test(tests, a_value_that_is_passed_on_is_the_same_one);
    tcase_add_test(tests, ranks_that_wait_for_each_other_are_refused);
    tcase_add_test(tests, a_task_finds_the_value_of_the_last_writer_before_it);
    tcase_add_test(tests, no_worker_asks_for_what_is_no_task);
    tcase_add_test(tests, one_machine_ends_when_its_worst_set_does);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
