/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/oom/test-bound-oom.c - each allocation of a bound fails in turn: the
 * call reports it and nothing leaks. One thread.
 */
#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bound/methods.h"
#include "bound/ranks.h"
#include "tests/oom/wrapped.h"
#include "tests/suite.h"
#include "tests/unit/bound_graphs.h"

static struct orr_graph *graph; /* of the test that runs */

/* An instance and a bound of it. */
static int compute(enum orr_bound_method method)
{
    const struct orr_bound_instance_options how = {.across_nodes = true};
    const struct orr_bound_options options = {.seconds = 600};
    struct orr_bound_instance *in = NULL;
    struct orr_bound_result r;
    struct orr_error err = {""};
    int rc = orr_bound_instance_new(graph, &how, &in, NULL, &err);

    if (rc)
        return rc;
    rc = orr_bound_compute(in, method, &options, &r);
    if (rc == 0) {
        ck_assert(isfinite(r.ms) || r.why);
        orr_bound_result_done(&r);
    }
    orr_bound_instance_free(in);
    return rc;
}

static int compute_with(enum orr_bound_method method, long allocations)
{
    int rc;

    left = allocations;
    rc = compute(method);
    left = -1;
    return rc;
}

static void try_all(enum orr_bound_method method)
{
    long n = 0;

    ck_assert_int_eq(compute(method), 0);
    while (compute_with(method, n) != 0) {
        size_t before = mallinfo2().uordblks;

        ck_assert_int_eq(compute_with(method, n), -ENOMEM);
        ck_assert_uint_eq(mallinfo2().uordblks, before);
        ck_assert_int_lt(++n, 100000);
    }
    ck_assert_int_gt(n, 10); /* something was refused at all */
}

START_TEST(each_allocation_of_a_bound_may_fail)
{
    /* Few tasks for searches, some more for branch and bound. */
    for (unsigned ntasks = 6; ntasks <= 30; ntasks += 24) {
        const struct bound_random what = {.ntasks = ntasks,
                                          .ntypes = 3,
                                          .cores = 2,
                                          .devices = 1,
                                          .edges = 0.3,
                                          .equal = true};

        graph = bound_random(5, &what);
        try_all((enum orr_bound_method)_i);
        orr_graph_free(graph);
    }
}
END_TEST

/* --- several ranks --- */

static double least_ms(void *arg, unsigned from, unsigned to, double bytes)
{
    (void)arg;
    (void)from;
    (void)to;
    return bytes;
}

static double delay_ms(void *arg, double bytes)
{
    (void)arg;
    (void)bytes;
    return 0;
}

/* Of two ranks, of which one sends what all tasks of the other depend on. */
static int compute_ranks(struct orr_graph *const *graphs)
{
    const struct orr_bound_message message = {.from = 0, .sent = graphs[0]->ntasks - 1, .to = 1,
                                              .received = 0, .bytes = 1};
    unsigned part[] = {0, 1};
    double rate[] = {1, 1};
    const struct orr_bound_cut cut = {.nparts = 2, .part = part, .rate = rate};
    const struct orr_bound_ranks problem = {.graphs = graphs, .node = part, .n = 2, .nnodes = 2,
                                            .messages = &message, .nmessages = 1, .cuts = &cut,
                                            .ncuts = 1, .least_ms = least_ms,
                                            .delay_ms = delay_ms};
    struct orr_bound_ranks_result result;
    struct orr_error err = {""};
    int rc = orr_bound_ranks_compute(&problem, &result, &err);

    if (rc == 0)
        ck_assert_double_gt(result.path_ms, 0);
    orr_bound_ranks_done(&result);
    return rc;
}

static int compute_ranks_with(struct orr_graph *const *graphs, long allocations)
{
    int rc;

    left = allocations;
    rc = compute_ranks(graphs);
    left = -1;
    return rc;
}

START_TEST(each_allocation_of_bounds_of_ranks_may_fail)
{
    const struct bound_random what = {.ntasks = 20, .ntypes = 3, .cores = 2, .devices = 1,
                                      .edges = 0.3, .equal = true};
    struct orr_graph *graphs[] = {bound_random(5, &what), bound_random(6, &what)};
    long n = 0;

    ck_assert_int_eq(compute_ranks(graphs), 0);
    while (compute_ranks_with(graphs, n) != 0) {
        size_t before = mallinfo2().uordblks;

        ck_assert_int_eq(compute_ranks_with(graphs, n), -ENOMEM);
        ck_assert_uint_eq(mallinfo2().uordblks, before);
        ck_assert_int_lt(++n, 100000);
    }
    ck_assert_int_gt(n, 20);
    orr_graph_free(graphs[0]);
    orr_graph_free(graphs[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bound-oom");
    TCase *tc = tcase_create("bounds");

    mallopt(M_MXFAST, 0);               /* freed is freed, for mallinfo2 */
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* all of it is counted */
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, each_allocation_of_a_bound_may_fail, 0,
                        ORR_BOUND_NMETHODS);
    tcase_add_test(tc, each_allocation_of_bounds_of_ranks_may_fail);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
