/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-bound-limits.c - bounds of graphs that are large, long, wide,
 * empty of work or full of very different numbers: each method answers with a
 * proved value or its reason, and no value is above what a list schedule
 * reaches. One thread.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bound/methods.h"
#include "bound/search.h"
#include "tests/rng.h"
#include "tests/suite.h"
#include "tests/unit/bound_graphs.h"

enum { MOST_WORKERS = 64, MOST_TYPES = 40 };

/* A graph by numbers. Edges: from each task to the one `step` later. */
struct form {
    const char *name;
    unsigned nworkers, ntypes, ntasks, step; /* step 0: no edges */
    double (*ms)(uint64_t *rng, unsigned type, unsigned worker);
    double optimum; /* where it is known, else 0 */
};

static double alike(uint64_t *rng, unsigned type, unsigned worker)
{
    (void)rng;
    (void)type;
    (void)worker;
    return 2;
}

static double nothing(uint64_t *rng, unsigned type, unsigned worker)
{
    (void)rng;
    (void)type;
    (void)worker;
    return 0;
}

static double far_apart(uint64_t *rng, unsigned type, unsigned worker)
{
    (void)type;
    (void)worker;
    return pow(10, 18 * rng_uniform(rng) - 9);
}

static double unlike(uint64_t *rng, unsigned type, unsigned worker)
{
    (void)type;
    return worker ? 1 + 9 * rng_uniform(rng) : 10;
}

static double mostly_nothing(uint64_t *rng, unsigned type, unsigned worker)
{
    (void)rng;
    return type ? 0 : 1 + worker;
}

static const struct form forms[] = {
    {"one task", 3, 1, 1, 0, alike, 2},
    {"far apart", 6, 20, 20, 3, far_apart, 0},
    {"far apart, many", 6, 40, 300, 7, far_apart, 0},
    {"no time", 4, 3, 3000, 1, nothing, 0},
    {"mostly no time", 4, 3, 3000, 2, mostly_nothing, 0},
    {"no time, few", 4, 3, 12, 2, nothing, 0},
    {"a long chain", 4, 2, 100000, 1, alike, 200000},
    {"wide", 8, 1, 8000, 0, alike, 2000},
    {"kinds alike", 4, 40, 400, 0, alike, 200},
    {"64 classes", 64, 40, 200, 5, unlike, 0},
    {"64 classes, few tasks", 64, 8, 16, 5, unlike, 0},
};

static struct orr_graph *graph_of(const struct form *f)
{
    static char names[MOST_WORKERS][16];
    static const char *worker_names[MOST_WORKERS];
    static unsigned nodes[MOST_WORKERS];
    static double ms[MOST_TYPES * MOST_WORKERS];
    uint64_t rng = rng_of(f->ntasks);
    unsigned *types = calloc(f->ntasks, sizeof(*types));
    unsigned(*edges)[2] = calloc(f->ntasks, sizeof(*edges));
    struct bound_small small = {f->nworkers, f->ntypes,    f->ntasks,
                                0,           worker_names, nodes,
                                ms,          types,        NULL};
    struct orr_graph *graph;

    ck_assert(types && edges);
    for (unsigned w = 0; w < f->nworkers; w++) {
        snprintf(names[w], sizeof(names[w]), "CPU %u", w);
        worker_names[w] = names[w];
    }
    for (unsigned k = 0; k < f->ntypes; k++)
        for (unsigned w = 0; w < f->nworkers; w++)
            ms[k * f->nworkers + w] = f->ms(&rng, k, w);
    for (unsigned t = 0; t < f->ntasks; t++) {
        types[t] = t % f->ntypes;
        if (f->step && t >= f->step) {
            edges[small.nedges][0] = t - f->step;
            edges[small.nedges++][1] = t;
        }
    }
    small.edges = (const unsigned(*)[2])edges;
    graph = bound_small(&small);
    free(types);
    free(edges);
    return graph;
}

START_TEST(each_method_answers_and_no_value_is_too_high)
{
    const struct form *f = &forms[_i];
    const struct orr_bound_instance_options how = {.across_nodes = true};
    const struct orr_bound_options options = {.seconds = 0.3};
    struct orr_graph *graph = graph_of(f);
    double reached = f->optimum > 0 ? f->optimum : bound_list_schedule(graph);
    struct orr_bound_instance *in;
    struct orr_error err = {""};

    ck_assert_msg(orr_bound_instance_new(graph, &how, &in, NULL, &err) == 0,
                  "%s", err.text);
    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++) {
        const char *name = orr_bound_method_name((enum orr_bound_method)m);
        struct orr_bound_result r;

        ck_assert_int_eq(
            orr_bound_compute(in, (enum orr_bound_method)m, &options, &r), 0);
        if (isnan(r.ms))
            ck_assert_msg(r.why && r.why[0] && r.outcome != ORR_BOUND_OPTIMAL,
                          "%s: %s has no value and no reason", f->name, name);
        else
            ck_assert_msg(r.proved && r.ms >= 0 && r.ms <= reached * (1 + 1e-9),
                          "%s: %s says %.17g of %.17g", f->name, name, r.ms,
                          reached);
        ck_assert_int_ne(r.outcome, ORR_BOUND_INFEASIBLE);
        orr_bound_result_done(&r);
    }
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

static struct orr_bound_instance *
random_instance(uint64_t seed, unsigned ntasks, struct orr_graph **ret_graph)
{
    const struct bound_random what = {.ntasks = ntasks,
                                      .ntypes = 6,
                                      .cores = 3,
                                      .devices = 2,
                                      .edges = 0.1,
                                      .equal = true};
    const struct orr_bound_instance_options how = {.across_nodes = true};
    struct orr_bound_instance *in;
    struct orr_error err = {""};

    *ret_graph = bound_random(seed, &what);
    ck_assert_msg(orr_bound_instance_new(*ret_graph, &how, &in, NULL, &err) ==
                      0,
                  "%s", err.text);
    return in;
}

START_TEST(a_search_ends_when_it_should_with_what_is_proved)
{
    struct orr_search_result last = {.lower_ms = 0};
    struct orr_graph *graph;
    struct orr_bound_instance *in =
        random_instance((uint64_t)_i, ORR_SEARCH_MOST, &graph);

    for (unsigned long nodes = 1; nodes <= 100000; nodes *= 10) {
        struct orr_search_options options = {
            .seconds = 600, .nodes = nodes, .bytes = 1 << 20, .no_edges = true};
        struct orr_search_result r;

        ck_assert_int_eq(orr_search(in, &options, &r), 0);
        ck_assert_uint_le(r.nodes, nodes + ORR_SEARCH_MOST);
        ck_assert(r.lower_ms > 0 && r.lower_ms <= r.upper_ms);
        /* What one search proves is below what another finds. */
        if (nodes > 1)
            ck_assert(r.lower_ms <= last.upper_ms &&
                      last.lower_ms <= r.upper_ms);
        last = r;
    }
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

/* Without edges the search finds what must not be below branch and bound. */
START_TEST(bounds_of_middling_graphs_are_below_list_schedules)
{
    const struct orr_bound_options options = {.seconds = 0.3};
    struct orr_graph *graph;
    struct orr_bound_instance *in =
        random_instance((uint64_t)_i, 12 + 6 * (unsigned)_i, &graph);
    double reached = bound_list_schedule(graph);

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++) {
        struct orr_bound_result r;

        ck_assert_int_eq(
            orr_bound_compute(in, (enum orr_bound_method)m, &options, &r), 0);
        ck_assert_msg(
            isnan(r.ms) || r.ms <= reached * (1 + 1e-9), "%s says %g of %g",
            orr_bound_method_name((enum orr_bound_method)m), r.ms, reached);
        orr_bound_result_done(&r);
    }
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

/* Graphs have none yet; what reads them may have. */
START_TEST(a_variant_that_is_too_wide_is_none)
{
    struct orr_graph *graph;
    struct orr_bound_instance *in = random_instance(1, 6, &graph);

    for (unsigned w = 0; w < in->nvariants; w++)
        in->variants[w].width = 99;
    for (unsigned m = ORR_BOUND_INTEGER_AREA; m <= ORR_BOUND_EXACT; m++) {
        struct orr_bound_result r;

        ck_assert_int_eq(
            orr_bound_compute(in, (enum orr_bound_method)m, NULL, &r), 0);
        ck_assert_int_eq(r.outcome, ORR_BOUND_INFEASIBLE);
        ck_assert(r.why && isnan(r.ms));
        orr_bound_result_done(&r);
    }
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}
END_TEST

SUITE_MAIN(bound_limits)
{
    Suite *suite = suite_create("bound-limits");
    TCase *tc = tcase_create("limits");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, each_method_answers_and_no_value_is_too_high, 0,
                        (int)(sizeof(forms) / sizeof(forms[0])));
    tcase_add_loop_test(tc, a_search_ends_when_it_should_with_what_is_proved, 1,
                        4);
    tcase_add_loop_test(tc, bounds_of_middling_graphs_are_below_list_schedules,
                        0, 12);
    tcase_add_test(tc, a_variant_that_is_too_wide_is_none);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
