/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sched-plan.c - HEFT on graphs by hand and by chance. Workers 0 and 1
 * are of class 0, in memory 0; worker 2 is of class 1, in memory 1.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "core/policies/plan_list.h"
#include "tests/rng.h"
#include "tests/suite.h"

enum { MOST = 60, NWORKERS = 3, NCLASSES = 2, NNODES = 2, US_PER_BYTE = 2 };

static const uint32_t class_of[] = {0, 0, 1}, class_size[] = {2, 1},
                      node_of[] = {0, 1};
static struct orr_graph_ahead graph;
static struct orr_graph_ahead_node nodes[MOST];
static struct orr_graph_ahead_edge edges[MOST * MOST];
static struct orr_plan_task tasks[MOST];
static struct orr_plan_use uses[MOST * MOST];
static double length[MOST][NCLASSES], there[MOST][NNODES];
static struct orr_plan_datum data[MOST];
static struct orr_plan_line lines[NWORKERS], links[2 * NNODES];
static uint32_t nuses;
static struct orr_plan plan;

static double copy(void *arg, unsigned from, unsigned to, uint64_t bytes)
{
    (void)arg;
    ck_assert_uint_ne(from, to);
    return US_PER_BYTE * (double)bytes;
}

static void set_up(void)
{
    graph = (struct orr_graph_ahead){nodes, edges, 0, 0};
    nuses = 0;
    plan = (struct orr_plan){.graph = &graph,
                             .tasks = tasks,
                             .data = data,
                             .nworkers = NWORKERS,
                             .nclasses = NCLASSES,
                             .nnodes = NNODES,
                             .class_of = class_of,
                             .class_size = class_size,
                             .node_of = node_of,
                             .lines = lines,
                             .links = links,
                             .copy = copy};
    for (unsigned w = 0; w < NWORKERS; w++)
        lines[w].n = 0;
    for (unsigned l = 0; l < 2 * NNODES; l++)
        links[l].n = 0;
}

static void tear_down(void)
{
    for (unsigned w = 0; w < NWORKERS; w++)
        orr_plan_line_done(&lines[w]);
    for (unsigned l = 0; l < 2 * NNODES; l++)
        orr_plan_line_done(&links[l]);
}

/* A task that takes so long on each class and writes a datum of its own, in memory 0
 * before. Its dependencies come next. */
static uint32_t task(double on_cpu, double on_gpu, uint64_t bytes)
{
    uint32_t i = graph.nnodes++;

    nodes[i] = (struct orr_graph_ahead_node){i + 1, graph.nedges, 0};
    length[i][0] = on_cpu;
    length[i][1] = on_gpu;
    there[i][0] = 0;
    there[i][1] = INFINITY;
    data[i] = (struct orr_plan_datum){bytes, there[i]};
    uses[nuses] = (struct orr_plan_use){i, false, true};
    tasks[i] = (struct orr_plan_task){.length = length[i],
                                      .uses = &uses[nuses++],
                                      .nuses = 1,
                                      .only = ORR_PLAN_NONE,
                                      .worker = ORR_PLAN_NONE};
    return i;
}

/* The last task reads what `before` writes. */
static void reads(uint32_t before)
{
    uint32_t i = graph.nnodes - 1;

    edges[graph.nedges++] = (struct orr_graph_ahead_edge){before, data[before].bytes};
    nodes[i].n++;
    uses[nuses++] = (struct orr_plan_use){before, true, false};
    tasks[i].nuses++;
}

static void make(void)
{
    ck_assert_int_eq(orr_plan_make(&plan), 0);
}

START_TEST(a_gap_is_taken_if_it_is_long_enough)
{
    struct orr_plan_line *line = &lines[0];

    ck_assert_int_eq(orr_plan_line_add(line, 20, 10), 0);
    ck_assert_int_eq(orr_plan_line_add(line, 0, 10), 0);
    ck_assert(orr_plan_line_find(line, 0, 10) == 10);
    ck_assert(orr_plan_line_find(line, 12, 8) == 12);
    ck_assert(orr_plan_line_find(line, 12, 9) == 30);
    ck_assert(orr_plan_line_find(line, 50, 9) == 50);
    ck_assert_int_eq(orr_plan_line_add(line, 10, 10), 0);
    ck_assert(orr_plan_line_find(line, 0, 1) == 30);
}
END_TEST

START_TEST(ranks_are_the_longest_way_to_the_end)
{
    task(4, 2, 5);
    task(8, 8, 0);
    reads(0);
    task(6, 3, 0);
    reads(0);
    make();
    ck_assert(tasks[1].rank == 8);
    ck_assert(tasks[2].rank == 3);
    /* Of 9 pairs of workers 4 are of different memories. */
    ck_assert_double_eq_tol(tasks[0].rank, 2 + 10.0 * 4 / 9 + 8, 1e-9);
}
END_TEST

START_TEST(who_is_faster_gets_it_unless_the_copy_takes_longer)
{
    task(10, 10, 0);
    task(10, 4, 0);
    task(10, 4, 6); /* 12 µs to copy */
    task(10, 4, 0);
    reads(2);
    make();
    ck_assert_uint_eq(tasks[2].worker, 2);
    ck_assert_uint_eq(tasks[3].worker, 2);
    ck_assert_uint_eq(tasks[0].worker, 0);
    ck_assert_uint_eq(tasks[1].worker, 2);
    ck_assert(tasks[1].end == 8 && tasks[3].end == 12);
}
END_TEST

START_TEST(a_later_task_fills_a_gap)
{
    uint32_t first = task(INFINITY, 4, 6), filler;

    task(10, INFINITY, 0); /* waits for 12 µs of copy */
    reads(first);
    tasks[1].only = 0;
    filler = task(5, INFINITY, 0);
    tasks[filler].only = 0;
    make();
    ck_assert(tasks[1].start == 16 && tasks[1].end == 26);
    ck_assert(tasks[filler].start == 0 && tasks[filler].end == 5);
    ck_assert_uint_eq(lines[0].n, 2);
}
END_TEST

START_TEST(data_that_were_brought_stay)
{
    uint32_t source = task(1, INFINITY, 10);

    task(INFINITY, 3, 0);
    reads(source);
    task(INFINITY, 2, 0);
    reads(source);
    make();
    ck_assert(tasks[1].start == 21 && tasks[2].start == 24);
    ck_assert_uint_eq(links[2].n, 1);
}
END_TEST

START_TEST(tasks_that_have_begun_keep_their_place)
{
    task(10, 10, 3);
    tasks[0].length = NULL;
    tasks[0].placed = true;
    tasks[0].worker = 2;
    tasks[0].node = 1;
    tasks[0].end = 7;
    ck_assert_int_eq(orr_plan_line_add(&lines[2], 0, 7), 0);
    task(4, 4, 0);
    reads(0);
    make();
    ck_assert_uint_eq(tasks[1].worker, 2);
    ck_assert(tasks[1].start == 7);
}
END_TEST

/* Its scheduling context has lost the worker: the value is there all the same. */
START_TEST(what_runs_on_a_worker_that_takes_nothing_any_more_is_copied_from_there)
{
    const uint32_t who[] = {0, 0, ORR_PLAN_NONE}, sizes[] = {2, 0};

    plan.class_of = who;
    plan.class_size = sizes;
    task(10, 10, 3);
    tasks[0].length = NULL;
    tasks[0].placed = true;
    tasks[0].worker = 2;
    tasks[0].node = 1;
    tasks[0].end = 7;
    task(4, 4, 0);
    reads(0);
    make();
    ck_assert_uint_eq(tasks[1].worker, 0);
    ck_assert(tasks[1].start == 7 + 3 * US_PER_BYTE);
}
END_TEST

START_TEST(what_nobody_can_run_passes_dependencies_on)
{
    uint32_t a = task(4, INFINITY, 0), pass;

    pass = task(INFINITY, INFINITY, 0);
    reads(a);
    task(1, INFINITY, 0);
    reads(pass);
    make();
    ck_assert_uint_eq(tasks[pass].worker, ORR_PLAN_NONE);
    ck_assert(tasks[2].start == 4);
}
END_TEST

/* --- by chance --- */

static uint64_t below(uint64_t *rng, uint64_t n)
{
    return rng_next(rng) % n;
}

static void make_graph(uint64_t *rng)
{
    unsigned n = 1 + (unsigned)below(rng, MOST - 1);

    for (unsigned i = 0; i < n; i++) {
        bool cpu = below(rng, 5) > 0, gpu = !cpu || below(rng, 5) > 0;

        task(cpu ? 1 + (double)below(rng, 20) : (double)INFINITY,
             gpu ? 1 + (double)below(rng, 20) : (double)INFINITY,
             below(rng, 8));
        for (unsigned before = 0; before < i; before++)
            if (below(rng, 6) == 0)
                reads(before);
    }
}

/* Each where it can, for as long as it takes there, after what it reads. */
static void check_task(uint32_t i)
{
    const struct orr_plan_task *t = &tasks[i];
    double took;

    ck_assert_uint_lt(t->worker, NWORKERS);
    took = length[i][class_of[t->worker]];
    ck_assert(isfinite(took) && fabs(t->end - t->start - took) < 1e-9);
    for (uint32_t e = nodes[i].first; e < nodes[i].first + nodes[i].n; e++) {
        const struct orr_plan_task *before = &tasks[edges[e].before];

        ck_assert(before->rank > t->rank);
        ck_assert(before->end <= t->start + 1e-9);
    }
}

START_TEST(plans_of_graphs_by_chance_can_be_followed)
{
    uint64_t rng = rng_of((uint64_t)_i);
    uint32_t nspans = 0;

    make_graph(&rng);
    make();
    for (uint32_t i = 0; i < graph.nnodes; i++)
        check_task(i);
    for (unsigned w = 0; w < NWORKERS; w++) {
        for (uint32_t s = 1; s < lines[w].n; s++)
            ck_assert(lines[w].spans[s - 1].end <=
                      lines[w].spans[s].start + 1e-9);
        nspans += lines[w].n;
    }
    ck_assert_uint_eq(nspans, graph.nnodes);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("sched-plan");
    TCase *tcase = tcase_create("plan");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_gap_is_taken_if_it_is_long_enough);
    tcase_add_test(tcase, ranks_are_the_longest_way_to_the_end);
    tcase_add_test(tcase, who_is_faster_gets_it_unless_the_copy_takes_longer);
    tcase_add_test(tcase, a_later_task_fills_a_gap);
    tcase_add_test(tcase, data_that_were_brought_stay);
    tcase_add_test(tcase, tasks_that_have_begun_keep_their_place);
    tcase_add_test(
        tcase,
        what_runs_on_a_worker_that_takes_nothing_any_more_is_copied_from_there);
    tcase_add_test(tcase, what_nobody_can_run_passes_dependencies_on);
    tcase_add_loop_test(tcase, plans_of_graphs_by_chance_can_be_followed, 0,
                        100);
    suite_add_tcase(suite, tcase);
    return suite;
}

SUITE_MAIN(sched_plan)
{
    return suite_main(make_suite());
}
