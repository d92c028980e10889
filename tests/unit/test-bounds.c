/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-bounds.c - instances, and the bounds from fractions of tasks:
 * critical path, area, paths, precedence. One thread.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound/area.h"
#include "bound/flow.h"
#include "bound/glpk_lp.h"
#include "bound/methods.h"
#include "bound/programs.h"
#include "bound/whole.h"
#include "tests/unit/bound_graphs.h"
#include "tests/unit/perfmodel_util.h"

#define NO      ((double)INFINITY)
#define UNKNOWN ((double)NAN)

static const struct orr_bound_instance_options means = {0, 0, true};

static struct orr_bound_instance *
instance_of(const struct orr_graph *graph,
            const struct orr_bound_instance_options *options)
{
    struct orr_bound_instance *in;
    struct orr_error err = {""};

    ck_assert_msg(orr_graph_check(graph, &err) == 0, "%s", err.text);
    ck_assert_msg(orr_bound_instance_new(graph, options, &in, NULL, &err) == 0,
                  "%s", err.text);
    return in;
}

static double bound_of(const struct orr_bound_instance *in,
                       enum orr_bound_method method)
{
    struct orr_bound_result result;
    double ms;

    ck_assert_int_eq(orr_bound_compute(in, method, NULL, &result), 0);
    ck_assert_msg(result.outcome == ORR_BOUND_OPTIMAL && result.proved,
                  "%s: outcome %d: %s", orr_bound_method_name(method),
                  result.outcome, result.why ? result.why : "");
    ck_assert_ptr_nonnull(result.limit);
    ck_assert_double_le(result.ms, result.upper_ms * (1 + 1e-9) + 1e-9);
    ms = result.ms;
    orr_bound_result_done(&result);
    return ms;
}

/* -- instances -- */

static const char *const names[] = {"CPU 0", "CPU 1", "CUDA 0", "CUDA 1"};
static const unsigned nodes[] = {0, 0, 1, 2};

START_TEST(equal_workers_are_a_class)
{
    static const double ms[] = {10, 10, 2, 2, /**/ 5, 5, 5, 5};
    static const unsigned types[] = {0, 1};
    struct bound_small what = {4, 2, 2, 0, names, nodes, ms, types, NULL};
    struct orr_graph *graph = bound_small(&what);
    struct orr_bound_instance_options apart = {0, 0, false};
    struct orr_bound_instance *in = instance_of(graph, &means);

    ck_assert_uint_eq(in->nclasses, 2);
    ck_assert_str_eq(in->classes[0].name, "2 CPU cores");
    ck_assert_str_eq(in->classes[1].name, "2 CUDA devices");
    ck_assert_uint_eq(in->classes[1].nodes, 2);
    ck_assert(!in->merged);
    orr_bound_instance_free(in);
    in = instance_of(graph, &apart);
    ck_assert_uint_eq(in->nclasses, 3);
    ck_assert_str_eq(in->classes[1].name, "CUDA 0");
    ck_assert_uint_eq(in->class_of[3], 2);
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

START_TEST(a_class_of_several_types_names_them_all)
{
    static const double ms[] = {5, 5, 5, 5};
    static const unsigned types[] = {0};
    struct bound_small what = {4, 1, 1, 0, names, nodes, ms, types, NULL};
    struct orr_graph *graph = bound_small(&what);
    struct orr_bound_instance *in = instance_of(graph, &means);

    ck_assert_uint_eq(in->nclasses, 1);
    ck_assert_str_eq(in->classes[0].name, "2 CPU cores and 2 CUDA devices");
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

START_TEST(merged_devices_count_as_the_fastest)
{
    static const double ms[] = {10, 10, 2.02, 2, /**/ 5, 5, 4, 4.04};
    static const unsigned types[] = {0, 1};
    struct bound_small what = {4, 2, 2, 0, names, nodes, ms, types, NULL};
    struct orr_graph *graph = bound_small(&what);
    struct orr_bound_instance_options merge = {0, 0.02, true};
    struct orr_bound_instance *in = instance_of(graph, &means);

    ck_assert_uint_eq(in->nclasses, 3);
    orr_bound_instance_free(in);
    in = instance_of(graph, &merge);
    ck_assert_uint_eq(in->nclasses, 2);
    ck_assert(in->merged);
    ck_assert_double_eq(in->types[0].best_ms, 2);
    ck_assert_double_eq(in->types[1].best_ms, 4);
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

START_TEST(optimism_takes_deviations_off_but_no_time_below_zero)
{
    static const double ms[] = {10, 10, 2, 2};
    static const unsigned types[] = {0};
    struct bound_small what = {4, 1, 1, 0, names, nodes, ms, types, NULL};
    struct orr_graph *graph = bound_small(&what);
    struct orr_bound_instance_options options = {1, 0, true};
    struct orr_bound_instance *in;

    graph->types[0].deviation_ms[0] = graph->types[0].deviation_ms[1] = 1;
    graph->types[0].deviation_ms[2] = graph->types[0].deviation_ms[3] = 3;
    in = instance_of(graph, &options);
    ck_assert_double_eq(in->variants[0].ms, 9);
    ck_assert_double_eq(in->variants[1].ms, 0);
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

START_TEST(tasks_come_in_order_and_edges_once)
{
    /* 3 is submitted last and first in order; its edge to 0 is given twice. */
    static const double ms[] = {1, 1, 1, 1};
    static const unsigned types[] = {0, 0, 0, 0};
    static const unsigned edges[][2] = {{3, 0}, {0, 1}, {0, 1}, {1, 2}, {3, 0}};
    struct bound_small what = {4, 1, 4, 4, names, nodes, ms, types, edges};
    struct orr_graph *graph = bound_small(&what);
    struct orr_bound_instance *in = instance_of(graph, &means);
    static const unsigned order[] = {3, 0, 1, 2};

    ck_assert_uint_eq(in->nedges, 3);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(in->order[i], order[i]);
    ck_assert_uint_eq(in->succs[in->first_succ[3]], 0);
    ck_assert_uint_eq(in->preds[in->first_pred[0]], 3);
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

static int refused(const double *ms, unsigned ntasks, struct orr_error *err)
{
    static const unsigned types[] = {0, 1};
    struct bound_small what = {4, 2, ntasks, 0, names, nodes, ms, types, NULL};
    struct orr_graph *graph = bound_small(&what);
    struct orr_bound_instance *in = NULL;
    int rc = orr_bound_instance_new(graph, &means, &in, NULL, err);

    ck_assert_ptr_null(in);
    orr_graph_free(graph);
    return rc;
}

START_TEST(problems_without_an_answer_are_refused_by_name)
{
    static const double unknown[] = {UNKNOWN, UNKNOWN, UNKNOWN, NO,
                                     UNKNOWN, UNKNOWN, NO,      NO};
    static const double unable[] = {1, 1, 1, 1, NO, NO, NO, NO};
    struct orr_error err = {""};

    ck_assert_int_eq(refused(unknown, 2, &err), -ENODATA);
    ck_assert_ptr_nonnull(strstr(err.text, "a (footprint c0ffee00), b ("));
    ck_assert_int_eq(refused(unable, 2, &err), -ENODEV);
    ck_assert_ptr_nonnull(strstr(err.text, "b (footprint c0ffee01)"));
    ck_assert_ptr_null(strstr(err.text, "a ("));
    ck_assert_int_eq(refused(unable, 0, &err), -ENODATA);
}
END_TEST

START_TEST(unknown_pairs_are_counted_and_left_out)
{
    static const double ms[] = {UNKNOWN, UNKNOWN, 2, NO};
    static const unsigned types[] = {0};
    struct bound_small what = {4, 1, 1, 0, names, nodes, ms, types, NULL};
    struct orr_graph *graph = bound_small(&what);
    struct orr_bound_instance *in;
    struct orr_error err = {""};
    unsigned unknown = 99;

    ck_assert_int_eq(orr_bound_instance_new(graph, &means, &in, &unknown, &err),
                     0);
    ck_assert_uint_eq(unknown, 2);
    ck_assert_uint_eq(in->nvariants, 1);
    ck_assert_double_eq(bound_of(in, ORR_BOUND_PATHS), 2);
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

/* -- bounds by hand, on 2 cores and 2 equal devices -- */

static const struct {
    const char *what;
    unsigned ntasks, nedges;
    unsigned types[6];
    unsigned edges[6][2];
    double path, area, precedence;
} by_hand[] = {
    /* Type a: 10 and 2 ms; b: 6 ms on cores only; c: nothing to do. */
    {"one task", 1, 0, {0}, {{0}}, 2, 1 / (2 / 10.0 + 2 / 2.0), 2},
    {"a chain", 3, 2, {0, 1, 0}, {{0, 1}, {1, 2}}, 10, 3, 10},
    /* rates 1/5 + 1 per ms for six */
    {"six alone", 6, 0, {0, 0, 0, 0, 0, 0}, {{0}}, 2, 5, 5},
    {"four of b", 4, 0, {1, 1, 1, 1}, {{0}}, 6, 12, 12},
    {"no time", 2, 1, {2, 2}, {{0, 1}}, 0, 0, 0},
    {"no time between", 3, 2, {0, 2, 0}, {{0, 1}, {1, 2}}, 4, 5 / 3.0, 4},
    /* Two chains of three on devices: 6 ms, and both areas agree. */
    {"two chains",
     6,
     4,
     {0, 0, 0, 0, 0, 0},
     {{0, 1}, {1, 2}, {3, 4}, {4, 5}},
     6,
     5,
     6},
};

static struct orr_graph *by_hand_graph(unsigned i)
{
    static const double ms[] = {10, 10, 2, 2, 6, 6, NO, NO, 0, 0, 0, 0};
    struct bound_small what = {
        4,     3,  by_hand[i].ntasks, by_hand[i].nedges, names,
        nodes, ms, by_hand[i].types,  by_hand[i].edges};

    return bound_small(&what);
}

START_TEST(bounds_by_hand)
{
    struct orr_graph *graph = by_hand_graph((unsigned)_i);
    struct orr_bound_instance *in = instance_of(graph, &means);
    static const enum orr_bound_method methods[] = {
        ORR_BOUND_CRITICAL_PATH, ORR_BOUND_AREA, ORR_BOUND_PATHS,
        ORR_BOUND_PRECEDENCE};
    double expected[] = {by_hand[_i].path, by_hand[_i].area,
                         by_hand[_i].precedence, by_hand[_i].precedence};

    for (unsigned m = 0; m < 4; m++)
        ck_assert_double_eq_tol(bound_of(in, methods[m]), expected[m],
                                1e-4 * expected[m] + 1e-12);
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

/* One task may be done by one worker in 9 ms or by both together in 5. */
START_TEST(parallel_tasks_pay_with_all_their_workers)
{
    static const double ms[] = {9, 9};
    static const unsigned types[] = {0, 0};
    static const unsigned edges[][2] = {{0, 1}};
    struct bound_small what = {2, 1, 2, 0, names, nodes, ms, types, edges};
    struct orr_bound_variant variants[] = {{0, 1, 9}, {0, 2, 5}};
    struct orr_graph *graph = bound_small(&what);
    struct orr_bound_instance *in = instance_of(graph, &means);
    struct orr_bound_variant *kept = in->variants;

    in->variants = variants;
    in->nvariants = in->types[0].nvariants = 2;
    in->types[0].best_ms = 5;
    ck_assert_double_eq_tol(bound_of(in, ORR_BOUND_CRITICAL_PATH), 5, 1e-9);
    ck_assert_double_eq_tol(bound_of(in, ORR_BOUND_AREA), 9, 1e-6);
    ck_assert_double_eq_tol(bound_of(in, ORR_BOUND_PATHS), 9, 1e-3);
    in->variants = kept;
    in->nvariants = 1;
    orr_bound_instance_free(in);
    orr_graph_free(graph);
    /* In a chain both are done together: 10 ms. */
    what.nedges = 1;
    graph = bound_small(&what);
    in = instance_of(graph, &means);
    kept = in->variants;
    in->variants = variants;
    in->nvariants = in->types[0].nvariants = 2;
    in->types[0].best_ms = 5;
    ck_assert_double_eq_tol(bound_of(in, ORR_BOUND_PATHS), 10, 1e-3);
    in->variants = kept;
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

/* -- random graphs -- */

static const struct bound_random shapes[] = {
    {30, 5, 2, 2, 0.2, true, true},   {60, 8, 3, 2, 0.4, true, false},
    {40, 3, 1, 4, 0.1, false, false}, {80, 20, 4, 3, 0.6, true, false},
    {50, 4, 6, 1, 0.0, false, true},
};
enum { NSHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* The plain program's optimum: completion times, solved by GLPK. */
static double plain_optimum(const struct orr_bound_instance *in)
{
    struct orr_lp_solve_options options = {.seconds = 60};
    struct orr_lp_solution solution;
    struct orr_lp lp;
    double ms;

    ck_assert_int_eq(orr_bound_precedence_program(in, false, &lp), 0);
    ck_assert_int_eq(orr_lp_solve(&lp, &options, &solution), 0);
    ms = solution.objective;
    orr_lp_solution_done(&solution);
    orr_lp_free(&lp);
    return ms;
}

START_TEST(paths_are_the_optimum_of_the_program_as_written)
{
    for (unsigned seed = 0; seed < 12; seed++) {
        struct orr_graph *graph = bound_random(seed, &shapes[_i]);
        struct orr_bound_instance *in = instance_of(graph, &means);
        double paths = bound_of(in, ORR_BOUND_PATHS);
        double plain = plain_optimum(in);

        ck_assert_msg(paths <= plain * (1 + 1e-7) &&
                          paths >= plain * (1 - 1e-4),
                      "seed %u: %.9g, as written %.9g", seed, paths, plain);
        orr_bound_instance_free(in);
        orr_graph_free(graph);
    }
}
END_TEST

START_TEST(bounds_are_in_order_and_below_a_schedule)
{
    for (unsigned seed = 100; seed < 140; seed++) {
        struct orr_graph *graph = bound_random(seed, &shapes[_i]);
        struct orr_bound_instance *in = instance_of(graph, &means);
        double path = bound_of(in, ORR_BOUND_CRITICAL_PATH);
        double area = bound_of(in, ORR_BOUND_AREA);
        double all = bound_of(in, ORR_BOUND_PRECEDENCE);
        double schedule = bound_list_schedule(graph);

        ck_assert_double_ge(all, fmax(path, area) * (1 - 1e-12));
        ck_assert_double_le(all, schedule * (1 + 1e-12));
        orr_bound_instance_free(in);
        orr_graph_free(graph);
    }
}
END_TEST

/* Parts of three tasks keep a worker busy that takes 10 ms for a whole one; the other one
 * has done all three in 3. */
START_TEST(whole_tasks_have_no_variant_that_is_longer_than_the_schedule)
{
    static const char *const own[] = {"CPU 0", "CUDA 0.0 (A100)"};
    static const unsigned places[] = {0, 1}, types[] = {0, 0, 0};
    static const double ms[] = {10, 1};
    struct bound_small what = {2, 1, 3, 0, own, places, ms, types, NULL};
    struct orr_graph *graph = bound_small(&what);
    struct orr_bound_instance *in = instance_of(graph, &means);
    struct orr_bound_options options = {.seconds = 60, .tolerance = 1e-6};
    struct orr_bound_result result = {.began_s = orr_bound_clock()};
    double lower = bound_of(in, ORR_BOUND_PATHS);

    ck_assert_double_eq_tol(lower, 30 / 11.0, 1e-3);
    ck_assert_int_eq(orr_bound_raise_whole(in, &options, &lower, &result), 0);
    ck_assert_double_eq_tol(lower, 3, 1e-3);
    ck_assert_double_le(lower, 3);
    ck_assert_uint_gt(result.nsteps, 0);
    ck_assert_ptr_nonnull(strstr(result.limit, "whole tasks"));
    orr_bound_result_done(&result);
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

START_TEST(whole_tasks_are_not_above_a_schedule)
{
    unsigned raised = 0;

    for (unsigned seed = 200; seed < 230; seed++) {
        struct orr_graph *graph = bound_random(seed, &shapes[_i]);
        struct orr_bound_instance *in = instance_of(graph, &means);
        struct orr_bound_options options = {.seconds = 60, .tolerance = 1e-4};
        struct orr_bound_result result = {.began_s = orr_bound_clock()};
        double paths = bound_of(in, ORR_BOUND_PATHS), lower = paths;

        ck_assert_int_eq(orr_bound_raise_whole(in, &options, &lower, &result), 0);
        ck_assert_double_ge(lower, paths);
        ck_assert_double_le(lower, bound_list_schedule(graph) * (1 + 1e-12));
        raised += lower > paths * (1 + 1e-4);
        orr_bound_result_done(&result);
        orr_bound_instance_free(in);
        orr_graph_free(graph);
    }
    if (_i == 0 || _i == 2) /* graphs of other shapes have no such variants */
        ck_assert_uint_gt(raised, 0);
}
END_TEST

/* Begun 10 s ago. */
static bool goes_on(double patience, unsigned n, const struct orr_bound_step *steps)
{
    struct orr_bound_options options = {.patience = patience};
    struct orr_bound_result result = {.began_s = orr_bound_clock() - 10,
                                      .nsteps = n};
    int rc = 0;
    bool on;

    memcpy(result.steps, steps, n * sizeof(*steps));
    on = orr_bound_goes_on(&options, &result, &rc);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(result.outcome,
                     on ? ORR_BOUND_OPTIMAL : ORR_BOUND_TIME_LIMIT);
    ck_assert(on == !result.why);
    if (!on)
        ck_assert_ptr_nonnull(strstr(result.why, "bought nothing"));
    orr_bound_result_done(&result);
    return on;
}

START_TEST(a_method_ends_when_half_of_its_time_has_bought_nothing)
{
    static const struct orr_bound_step early[] = {{1, 5}},
                                       late[] = {{1, 5}, {7, 6}},
                                       little[] = {{1, 5}, {9, 5.0002}},
                                       bit_by_bit[] = {
                                           {1, 5}, {7, 5.0004}, {9, 5.0008}};

    ck_assert(!goes_on(2, 1, early));
    ck_assert(goes_on(20, 1, early)); /* patience */
    ck_assert(goes_on(0, 1, early));  /* there is no such rule */
    ck_assert(goes_on(2, 2, late));   /* 3 s without gain, after 7 */
    ck_assert(!goes_on(2, 2, little));
    ck_assert(goes_on(2, 3, bit_by_bit));
    ck_assert(goes_on(2, 0, early)); /* nothing is proved yet */
}
END_TEST

START_TEST(steps_say_what_was_proved_when)
{
    struct orr_graph *graph = bound_cholesky(8, 9, &bound_mirage);
    struct orr_bound_instance *in = instance_of(graph, &means);
    struct orr_bound_options options = {.seconds = 0.5};

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++) {
        struct orr_bound_result result;

        ck_assert_int_eq(orr_bound_compute(in, m, &options, &result), 0);
        ck_assert((result.nsteps > 0) == (result.proved && result.ms > 0));
        ck_assert_uint_le(result.nsteps, ORR_BOUND_STEPS);
        for (unsigned i = 1; i < result.nsteps; i++) {
            ck_assert_double_gt(result.steps[i].ms, result.steps[i - 1].ms);
            ck_assert_double_ge(result.steps[i].seconds,
                                result.steps[i - 1].seconds);
        }
        if (result.nsteps)
            ck_assert_double_eq_tol(result.steps[result.nsteps - 1].ms, result.ms,
                                    2e-5 * result.ms);
        orr_bound_result_done(&result);
    }
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

/* Whatever flow.c does when prices change, a solution from scratch proves the
 * same. */
START_TEST(a_changed_price_gives_what_a_fresh_start_gives)
{
    struct orr_graph *graph = bound_random(7, &shapes[_i]);
    struct orr_bound_instance *in = instance_of(graph, &means);
    struct orr_flow *warm, *cold;
    double price[8], area[8];
    struct orr_flow_answer a = {.area = area}, b = {.area = area};
    unsigned state = 1;

    ck_assert_uint_le(in->nclasses, 8);
    a.done = b.done = calloc(in->nvariants, sizeof(double));
    a.ms = b.ms = calloc(in->ntasks, sizeof(double));
    ck_assert_int_eq(orr_flow_new(in, &warm), 0);
    for (unsigned n = 0; n < 40; n++) {
        double share = n % 8 ? 0.01 * (n % 8) : 1e-9;

        for (unsigned c = 0; c < in->nclasses; c++) {
            state = state * 1664525 + 1013904223;
            price[c] = n % 5 ? (state >> 16) / 65536.0 / in->nclasses : 0.1;
        }
        ck_assert_int_eq(orr_flow_new(in, &cold), 0);
        ck_assert_int_eq(orr_flow_solve(warm, price, share, INFINITY, &a), 0);
        ck_assert_int_eq(orr_flow_solve(cold, price, share, INFINITY, &b), 0);
        ck_assert_double_eq_tol(a.bound, b.bound, 1e-7 * b.bound);
        orr_flow_free(cold);
    }
    orr_flow_free(warm);
    free(a.done);
    free(a.ms);
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

START_TEST(no_time_still_proves_something)
{
    struct orr_graph *graph = bound_cholesky(20, 9, &bound_mirage);
    struct orr_bound_instance *in = instance_of(graph, &means);
    struct orr_bound_options options = {.seconds = 1e-9};
    struct orr_bound_result result;

    ck_assert_int_eq(orr_bound_compute(in, ORR_BOUND_PATHS, &options, &result),
                     0);
    ck_assert_int_eq(result.outcome, ORR_BOUND_TIME_LIMIT);
    ck_assert(result.proved);
    ck_assert_double_ge(result.ms, 255.46);
    ck_assert_double_le(result.ms, 1152.1);
    ck_assert_ptr_nonnull(result.why);
    orr_bound_result_done(&result);
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

/* -- the area's own solver -- */

START_TEST(area_solver_proves_random_problems)
{
    enum { TYPES = 150, MOST = 12 };
    unsigned classes = 1 + (unsigned)_i % MOST;
    static double size[MOST], count[TYPES], use[TYPES * MOST];
    static double x[TYPES * MOST], price[MOST];
    static unsigned first_variant[TYPES + 1], first_use[TYPES * MOST + 1];
    static unsigned resource[TYPES * MOST];
    struct orr_area area = {classes,       TYPES,     size,     count,
                            first_variant, first_use, resource, use};
    struct orr_area_solution solution = {.x = x, .price = price};
    unsigned n = 0, state = 17 + (unsigned)_i;

    for (unsigned k = 0; k < TYPES; k++) {
        count[k] = k % 7;
        for (unsigned c = 0; c < classes; c++) {
            size[c] = 1 + c;
            state = state * 1664525 + 1013904223;
            if (state >> 30 == 0 && c + 1 < classes)
                continue;
            resource[n] = c;
            /* few values, so that many are equal; some take no time */
            use[n] = _i % 2 ? (state >> 16) % 4 : 1 + (state >> 8) / 1e6;
            n++;
            first_use[n] = n;
        }
        first_variant[k + 1] = n;
    }
    ck_assert_int_eq(orr_area_solve(&area, 1e-9, INFINITY, &solution), 0);
    ck_assert_double_eq_tol(orr_area_bound(&area, price), solution.bound,
                            1e-9 * solution.bound);
    for (unsigned k = 0; k < TYPES; k++) {
        double sum = 0;

        for (unsigned w = first_variant[k]; w < first_variant[k + 1]; w++)
            sum += x[w];
        ck_assert_double_eq_tol(sum, count[k], 1e-9);
    }
}
END_TEST

/* -- the reference -- */

struct reference {
    unsigned tiles, tasks;
    double area4, area2, path, precedence2;
};

static void check_reference(const struct reference *r)
{
    static const struct orr_bound_instance_options merge = {0, 0.05, true};
    struct orr_graph *graph = bound_cholesky(r->tiles, 9, &bound_mirage);
    struct orr_bound_instance *four = instance_of(graph, &means);
    struct orr_bound_instance *two = instance_of(graph, &merge);

    ck_assert_uint_eq(graph->ntasks, r->tasks);
    ck_assert_uint_eq(four->nclasses, 4);
    ck_assert_uint_eq(two->nclasses, 2);
    ck_assert_double_eq_tol(bound_of(four, ORR_BOUND_AREA), r->area4,
                            1e-3 * r->area4);
    ck_assert_double_eq_tol(bound_of(two, ORR_BOUND_AREA), r->area2,
                            1e-3 * r->area2);
    ck_assert_double_eq_tol(bound_of(two, ORR_BOUND_CRITICAL_PATH), r->path,
                            1e-3 * r->path);
    ck_assert_double_ge(bound_of(two, ORR_BOUND_PRECEDENCE),
                        r->precedence2 * (1 - 1e-3));
    ck_assert_double_le(bound_of(two, ORR_BOUND_PRECEDENCE),
                        r->precedence2 * (1 + 1e-3));
    ck_assert_double_ge(bound_of(four, ORR_BOUND_PATHS),
                        r->precedence2 * (1 - 1e-3));
    orr_bound_instance_free(four);
    orr_bound_instance_free(two);
    orr_graph_free(graph);
}

START_TEST(reference_is_met)
{
    const char *path = suite_shared("reference/bounds.tsv");
    char line[600];
    unsigned n = 0;
    FILE *f;

    if (!path)
        SKIP_TEST("no reference/bounds.tsv in ORRERY_SHARED");
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        struct reference r;

        if (sscanf(line, "%u %u %lf %lf %lf %lf", &r.tiles, &r.tasks, &r.area4,
                   &r.area2, &r.path, &r.precedence2) != 6)
            continue;
        check_reference(&r);
        n++;
    }
    fclose(f);
    ck_assert_uint_eq(n, 7);
}
END_TEST

SUITE_MAIN(bounds)
{
    Suite *suite = suite_create("bounds");
    TCase *instances = tcase_create("instances");
    TCase *values = tcase_create("values");

    tcase_set_timeout(values, 60);
    tcase_add_test(instances, equal_workers_are_a_class);
    tcase_add_test(instances, a_class_of_several_types_names_them_all);
    tcase_add_test(instances, merged_devices_count_as_the_fastest);
    tcase_add_test(instances,
                   optimism_takes_deviations_off_but_no_time_below_zero);
    tcase_add_test(instances, tasks_come_in_order_and_edges_once);
    tcase_add_test(instances, problems_without_an_answer_are_refused_by_name);
    tcase_add_test(instances, unknown_pairs_are_counted_and_left_out);
    tcase_add_loop_test(values, bounds_by_hand, 0,
                        sizeof(by_hand) / sizeof(by_hand[0]));
    tcase_add_test(values, parallel_tasks_pay_with_all_their_workers);
    tcase_add_loop_test(values, paths_are_the_optimum_of_the_program_as_written,
                        0, NSHAPES);
    tcase_add_loop_test(values, bounds_are_in_order_and_below_a_schedule, 0,
                        NSHAPES);
    tcase_add_loop_test(values, a_changed_price_gives_what_a_fresh_start_gives,
                        0, NSHAPES);
    tcase_add_test(values,
                   whole_tasks_have_no_variant_that_is_longer_than_the_schedule);
    tcase_add_loop_test(values, whole_tasks_are_not_above_a_schedule, 0, NSHAPES);
    tcase_add_test(values, a_method_ends_when_half_of_its_time_has_bought_nothing);
    tcase_add_test(values, steps_say_what_was_proved_when);
    tcase_add_test(values, no_time_still_proves_something);
    tcase_add_loop_test(values, area_solver_proves_random_problems, 0, 48);
    tcase_add_test(values, reference_is_met);
    suite_add_tcase(suite, instances);
    suite_add_tcase(suite, values);
    return suite_main(suite);
}
