/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-bound-transfers.c - bounds with transfers and with small
 * memories, against hand-made cases, exhaustive search and simulated memories;
 * the linear programs below them. One thread.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/glpk_lp.h"
#include "bound/methods.h"
#include "tests/suite.h"
#include "tests/unit/bound_graphs.h"

static struct orr_bound_result bound_of(const struct orr_graph *graph,
                                        enum orr_bound_method method)
{
    const struct orr_bound_instance_options options = {0};
    const struct orr_bound_options limits = {.seconds = 20, .tolerance = 1e-5};
    struct orr_bound_instance *in;
    struct orr_bound_result result;
    struct orr_error err = {""};

    ck_assert_msg(orr_graph_check(graph, &err) == 0, "%s", err.text);
    ck_assert_int_eq(orr_bound_instance_new(graph, &options, &in, NULL, &err),
                     0);
    ck_assert_int_eq(orr_bound_compute(in, method, &limits, &result), 0);
    ck_assert_msg(result.outcome == ORR_BOUND_OPTIMAL && result.proved,
                  "outcome %d: %s", result.outcome,
                  result.why ? result.why : "");
    ck_assert(result.ms <= result.upper_ms);
    orr_bound_instance_free(in);
    return result;
}

static double ms_of(const struct orr_graph *graph, enum orr_bound_method method)
{
    struct orr_bound_result result = bound_of(graph, method);

    orr_bound_result_done(&result);
    return result.ms;
}

/* -- linear programs -- */

/* min −x − y, x + 2y ≤ 4, 3x + y ≤ 6: −2.8 at (1.6, 1.2). */
static void small_program(struct orr_lp *lp, bool integer, double upper)
{
    orr_lp_begin(lp, "small");
    orr_lp_column(lp, -1, 0, upper, integer, "x");
    orr_lp_column(lp, -1, 0, upper, integer, "y");
    orr_lp_row(lp, -(double)INFINITY, 4, "a");
    orr_lp_coef(lp, 0, 1);
    orr_lp_coef(lp, 1, 2);
    orr_lp_row(lp, -(double)INFINITY, 6, "b");
    orr_lp_coef(lp, 0, 3);
    orr_lp_coef(lp, 1, 1);
}

START_TEST(an_optimum_is_proved_by_its_duals)
{
    const struct orr_lp_solve_options options = {0};
    struct orr_lp_solution solution;
    struct orr_lp lp;

    small_program(&lp, false, 10);
    ck_assert_int_eq(orr_lp_solve(&lp, &options, &solution), 0);
    ck_assert_int_eq(solution.outcome, ORR_LP_OPTIMAL);
    ck_assert_double_eq_tol(solution.objective, -2.8, 1e-9);
    ck_assert(solution.bound <= -2.8);
    ck_assert_double_eq_tol(solution.bound, -2.8, 1e-9);
    orr_lp_solution_done(&solution);
    orr_lp_free(&lp);
}
END_TEST

START_TEST(any_duals_prove_something_true)
{
    static const double duals[][2] = {
        {0, 0}, {1, 1}, {-1, -1}, {-0.4, -0.2}, {-5, 3}, {0, -1e9},
    };

    for (unsigned i = 0; i < sizeof(duals) / sizeof(duals[0]); i++) {
        struct orr_lp lp;
        double bound;

        small_program(&lp, false, 10);
        ck_assert_int_eq(orr_lp_dual_bound(&lp, duals[i], &bound), 0);
        ck_assert(bound <= -2.8);
        orr_lp_free(&lp);
    }
}
END_TEST

START_TEST(outcomes_are_distinguished)
{
    const struct orr_lp_solve_options options = {0};
    struct orr_lp_solution solution;
    struct orr_lp lp;

    small_program(&lp, false, 10);
    orr_lp_row(&lp, 100, INFINITY, "c");
    orr_lp_coef(&lp, 0, 1);
    ck_assert_int_eq(orr_lp_solve(&lp, &options, &solution), 0);
    ck_assert_int_eq(solution.outcome, ORR_LP_INFEASIBLE);
    orr_lp_solution_done(&solution);
    orr_lp_free(&lp);

    orr_lp_begin(&lp, "unbounded");
    orr_lp_column(&lp, -1, 0, INFINITY, false, "x");
    orr_lp_row(&lp, 0, INFINITY, "a");
    orr_lp_coef(&lp, 0, 1);
    ck_assert_int_eq(orr_lp_solve(&lp, &options, &solution), 0);
    ck_assert_int_eq(solution.outcome, ORR_LP_UNBOUNDED);
    ck_assert(isinf(solution.bound));
    orr_lp_solution_done(&solution);
    orr_lp_free(&lp);
}
END_TEST

START_TEST(a_row_added_later_is_obeyed)
{
    const struct orr_lp_solve_options options = {0};
    struct orr_lp_solver *solver;
    struct orr_lp_solution solution;
    struct orr_lp lp;

    small_program(&lp, false, 10);
    ck_assert_int_eq(orr_lp_solver_new(&solver), 0);
    ck_assert_int_eq(orr_lp_solver_run(solver, &lp, &options, &solution), 0);
    orr_lp_solution_done(&solution);
    orr_lp_row(&lp, -(double)INFINITY, 2, "c");
    orr_lp_coef(&lp, 0, 1);
    orr_lp_coef(&lp, 1, 1);
    ck_assert_int_eq(orr_lp_solver_run(solver, &lp, &options, &solution), 0);
    ck_assert_int_eq(solution.outcome, ORR_LP_OPTIMAL);
    ck_assert_double_eq_tol(solution.objective, -2, 1e-9);
    orr_lp_solution_done(&solution);
    orr_lp_solver_free(solver);
    orr_lp_free(&lp);
}
END_TEST

/* -- graphs by hand: one CPU worker, one device behind a link each variant
 * -- */

/* Random graphs have the machine; the tasks are replaced by ours. */
static struct orr_graph *two_nodes(unsigned ntasks, unsigned ndata)
{
    const struct bound_random what = {
        .ntasks = 1, .ntypes = 2, .cores = 1, .devices = 1};
    struct orr_graph *graph = bound_random(1, &what);

    free(graph->tasks);
    free(graph->deps);
    free(graph->accesses);
    for (unsigned d = 0; d < graph->ndata; d++)
        free(graph->data[d].name);
    free(graph->data);
    graph->ntasks = ntasks;
    graph->ndata = ndata;
    graph->ndeps = graph->naccesses = 0;
    graph->tasks = calloc(ntasks, sizeof(*graph->tasks));
    graph->deps = calloc(4 * (size_t)ntasks, sizeof(*graph->deps));
    graph->accesses = calloc(4 * (size_t)ntasks, sizeof(*graph->accesses));
    graph->data = calloc(ndata, sizeof(*graph->data));
    for (unsigned i = 0; i < ntasks; i++)
        graph->tasks[i] = (struct orr_graph_task){.id = i + 1,
                                                  .worker = ORR_GRAPH_NOT_RUN,
                                                  .start_ms = NAN,
                                                  .end_ms = NAN};
    for (unsigned d = 0; d < ndata; d++)
        graph->data[d] = (struct orr_graph_datum){NULL, 1000, 0, true};
    /* Type 0 for the CPU, type 1 for the device. */
    for (unsigned k = 0; k < 2; k++)
        for (unsigned w = 0; w < 2; w++)
            graph->types[k].mean_ms[w] = k == w ? 1 : (double)INFINITY;
    for (unsigned l = 0; l < 2; l++)
        graph->links[l].bandwidth = 200;
    return graph;
}

static void access_add(struct orr_graph *graph, unsigned task, unsigned datum,
                       unsigned mode)
{
    struct orr_graph_task *t = &graph->tasks[task];

    if (t->naccesses++ == 0)
        t->first_access = graph->naccesses;
    graph->accesses[graph->naccesses++] =
        (struct orr_graph_access){datum, mode};
}

static void dep_add(struct orr_graph *graph, unsigned earlier, unsigned later)
{
    struct orr_graph_task *t = &graph->tasks[later];

    if (t->ndeps++ == 0)
        t->first_dep = graph->ndeps;
    graph->deps[graph->ndeps++] = (struct orr_graph_dep){earlier, 1000, false};
}

START_TEST(a_value_read_elsewhere_waits_for_its_copy)
{
    struct orr_graph *graph = two_nodes(2, 1);

    graph->data[0].valued = false;
    graph->tasks[1].type = 1;
    access_add(graph, 0, 0, ORR_GRAPH_WRITE);
    access_add(graph, 1, 0, ORR_GRAPH_READ);
    dep_add(graph, 0, 1);
    graph->routes[0].latency_ms = 0.5;
    /* 1 ms, 0.5 ms + 1000/200 ms, 1 ms */
    ck_assert_double_eq_tol(ms_of(graph, ORR_BOUND_TRANSFERS), 7.5, 1e-3);
    /* An order that nothing enforces is not used. */
    graph->tasks[1].ndeps = 0;
    ck_assert_double_eq_tol(ms_of(graph, ORR_BOUND_TRANSFERS), 1, 1e-3);
    orr_graph_free(graph);
}
END_TEST

START_TEST(copies_share_a_link_and_equal_ones_are_one)
{
    struct orr_graph *graph = two_nodes(8, 4);
    struct orr_bound_result result;

    for (unsigned i = 0; i < 8; i++) {
        graph->tasks[i].type = 1;
        access_add(graph, i, i / 2, ORR_GRAPH_READ);
    }
    result = bound_of(graph, ORR_BOUND_TRANSFERS);
    ck_assert_double_eq_tol(result.ms, 4 * 5, 1e-2);
    ck_assert_str_eq(result.limit,
                     "link to 1: 4 KB of copies take all the time");
    orr_bound_result_done(&result);
    orr_graph_free(graph);
}
END_TEST

/* -- random graphs, all schedules -- */

enum { MOST = 6 };

struct search {
    const struct orr_graph *graph;
    unsigned worker[MOST];
    double end[MOST], best;
};

static double copy_ms(const struct orr_graph *graph, unsigned datum,
                      unsigned from, unsigned to)
{
    /* One hop to or from main memory, two between devices. */
    unsigned hops = from == to ? 0 : from && to ? 2 : 1;

    return hops * graph->data[datum].bytes / graph->links[0].bandwidth;
}

static unsigned node_of(const struct search *s, unsigned task)
{
    return s->graph->workers[s->worker[task]].node;
}

/* Datum d of random graphs is written by task d, and by no other. Copies wait
 * for no other copy. */
static double ready(const struct search *s, unsigned task)
{
    const struct orr_graph_task *t = &s->graph->tasks[task];
    double at = 0;

    for (unsigned a = 0; a < t->naccesses; a++) {
        const struct orr_graph_access *access =
            &s->graph->accesses[t->first_access + a];

        if (access->mode == ORR_GRAPH_READ)
            at = fmax(at,
                      s->end[access->datum] + copy_ms(s->graph, access->datum,
                                                      node_of(s, access->datum),
                                                      node_of(s, task)));
    }
    return at;
}

/* All orders of the tasks, given their workers. */
static void search_orders(struct search *s, unsigned done,
                          const double *free_at, double makespan)
{
    unsigned n = s->graph->ntasks;

    if (makespan >= s->best)
        return;
    if (done == (1U << n) - 1) {
        s->best = makespan;
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        const struct orr_graph_task *t = &s->graph->tasks[i];
        double next[MOST], ms;
        bool able = !(done >> i & 1);

        for (unsigned d = 0; d < t->ndeps; d++)
            able = able && (done >> s->graph->deps[t->first_dep + d].task & 1);
        if (!able)
            continue;
        memcpy(next, free_at, s->graph->nworkers * sizeof(*next));
        ms = s->graph->types[t->type].mean_ms[s->worker[i]];
        s->end[i] = fmax(free_at[s->worker[i]], ready(s, i)) + ms;
        next[s->worker[i]] = s->end[i];
        search_orders(s, done | 1U << i, next, fmax(makespan, s->end[i]));
    }
}

/* The busiest link, given the workers: each value goes once to each node that
 * reads it. Link 2(n − 1) leads to node n, the next one from it. */
static double links_ms(const struct search *s)
{
    const struct orr_graph *graph = s->graph;
    bool copied[MOST][MOST] = {{false}};
    double busy[2 * MOST] = {0}, most = 0;

    for (unsigned i = 0; i < graph->ntasks; i++) {
        const struct orr_graph_task *t = &graph->tasks[i];

        for (unsigned a = 0; a < t->naccesses; a++) {
            unsigned d = graph->accesses[t->first_access + a].datum;
            unsigned from = node_of(s, d), to = node_of(s, i);

            if (from == to || copied[d][to])
                continue;
            copied[d][to] = true;
            if (to)
                busy[2 * (to - 1)] += copy_ms(graph, d, 0, to);
            if (from && !copied[d][MOST - 1]) {
                copied[d][MOST - 1] = true;
                busy[2 * (from - 1) + 1] += copy_ms(graph, d, from, 0);
            }
        }
    }
    for (unsigned l = 0; l < graph->nlinks; l++)
        most = fmax(most, busy[l]);
    return most;
}

static void search_workers(struct search *s, unsigned task)
{
    const struct orr_graph *graph = s->graph;
    double free_at[MOST] = {0};

    if (task == graph->ntasks) {
        search_orders(s, 0, free_at, links_ms(s));
        return;
    }
    for (unsigned w = 0; w < graph->nworkers; w++) {
        s->worker[task] = w;
        if (isfinite(graph->types[graph->tasks[task].type].mean_ms[w]))
            search_workers(s, task + 1);
    }
}

START_TEST(no_schedule_of_a_random_graph_is_shorter)
{
    unsigned tight = 0, moved = 0;

    for (unsigned seed = 1; seed <= 300; seed++) {
        const struct bound_random what = {.ntasks = 2 + seed % 4,
                                          .ntypes = 3,
                                          .cores = 1 + seed % 2,
                                          .devices = 1 + seed / 2 % 2,
                                          .edges = 0.6,
                                          .unable = true,
                                          .equal = seed % 3 == 0};
        struct orr_graph *graph = bound_random(seed, &what);
        struct search s = {.graph = graph, .best = INFINITY};
        double transfers, memory, slow[] = {1e5, 1e6, 12e6};

        for (unsigned l = 0; l < graph->nlinks; l++)
            graph->links[l].bandwidth = slow[seed % 3];
        transfers = ms_of(graph, ORR_BOUND_TRANSFERS);
        memory = ms_of(graph, ORR_BOUND_MEMORY);
        search_workers(&s, 0);
        ck_assert_msg(transfers <= s.best * (1 + 1e-9), "seed %u: %g > %g",
                      seed, transfers, s.best);
        ck_assert_msg(memory <= s.best * (1 + 1e-9), "seed %u: %g > %g", seed,
                      memory, s.best);
        tight += transfers >= s.best * 0.999;
        for (unsigned l = 0; l < graph->nlinks; l++)
            graph->links[l].bandwidth = INFINITY;
        moved += ms_of(graph, ORR_BOUND_TRANSFERS) < transfers * 0.999;
        orr_graph_free(graph);
    }
    /* The bound is worth something, and so are the copies in it. */
    ck_assert_uint_ge(tight, 60);
    ck_assert_uint_ge(moved, 30);
}
END_TEST

/* -- memories -- */

/* C[i][j] += A[i][k]·B[k][j] for n × n × n tiles of 1000 bytes on the device
 * alone, at 1 ms and `bandwidth`. */
static struct orr_graph *product(unsigned n, double capacity, double bandwidth)
{
    struct orr_graph *graph = two_nodes(n * n * n, 3 * n * n);

    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            for (unsigned k = 0; k < n; k++) {
                unsigned task = (i * n + j) * n + k;

                graph->tasks[task].type = 1;
                access_add(graph, task, i * n + k, ORR_GRAPH_READ);
                access_add(graph, task, n * n + k * n + j, ORR_GRAPH_READ);
                access_add(graph, task, 2 * n * n + i * n + j,
                           ORR_GRAPH_READ | ORR_GRAPH_WRITE);
                if (k)
                    dep_add(graph, task - 1, task);
            }
    graph->nodes[1].capacity = capacity;
    for (unsigned l = 0; l < graph->nlinks; l++)
        graph->links[l].bandwidth = bandwidth;
    return graph;
}

START_TEST(a_small_memory_makes_the_bound_grow)
{
    static const double capacities[] = {INFINITY, 64e3, 16e3, 8e3, 4e3};
    double area = 0, before = 0;

    for (unsigned i = 0; i < 5; i++) {
        struct orr_graph *graph = product(8, capacities[i], 500);
        double ms = ms_of(graph, ORR_BOUND_MEMORY);

        if (i == 0)
            area = ms;
        ck_assert(ms >= before * (1 - 1e-4));
        before = ms;
        orr_graph_free(graph);
    }
    /* 512 tasks of 1 ms: without limit the 192 tiles come meanwhile, 2 ms
     * each. With room for 4, at most 8 tasks follow 8 tiles that come. */
    ck_assert_double_eq_tol(area, 512, 0.01);
    ck_assert(before > 1000);
}
END_TEST

/* Bytes that come into a memory of the least recently used data when tasks run
 * in this order there. */
static double lru_bytes(const struct orr_graph *graph, const unsigned *order)
{
    double *last = calloc(graph->ndata, sizeof(*last)); /* 0: not there */
    double used = 0, came = 0, now = 0;

    for (unsigned k = 0; k < graph->ntasks; k++) {
        const struct orr_graph_task *t = &graph->tasks[order[k]];

        now++;
        for (unsigned a = 0; a < t->naccesses; a++) {
            unsigned d = graph->accesses[t->first_access + a].datum;
            double bytes = graph->data[d].bytes;

            if (last[d] > 0) {
                last[d] = now;
                continue;
            }
            while (used + bytes > graph->nodes[1].capacity) {
                unsigned oldest = graph->ndata;

                for (unsigned e = 0; e < graph->ndata; e++)
                    if (last[e] > 0 && last[e] < now &&
                        (oldest == graph->ndata || last[e] < last[oldest]))
                        oldest = e;
                ck_assert_uint_lt(oldest, graph->ndata);
                last[oldest] = 0;
                used -= graph->data[oldest].bytes;
            }
            last[d] = now;
            used += bytes;
            came += bytes;
        }
    }
    free(last);
    return came;
}

/* Blocks of b × b × b tiles, one after the other. */
static void blocked_order(unsigned n, unsigned b, unsigned *order)
{
    unsigned m = 0;

    for (unsigned block = 0; block < n * n * n; block++)
        for (unsigned inner = 0; inner < b * b * b; inner++) {
            unsigned i = block / (n * n) * b + inner / (b * b);
            unsigned j = block / n % n * b + inner / b % b;
            unsigned k = block % n * b + inner % b;

            if (i < n && j < n && k < n && m < n * n * n)
                order[m++] = (i * n + j) * n + k;
        }
    ck_assert_uint_eq(m, n * n * n);
}

/* Tasks take almost no time, so that the bound is the time of copies. */
static double bytes_bound(struct orr_graph *graph)
{
    for (unsigned k = 0; k < graph->ntypes; k++)
        for (unsigned w = 0; w < graph->nworkers; w++)
            graph->types[k].mean_ms[w] =
                graph->workers[w].node ? 1e-6 : (double)INFINITY;
    return ms_of(graph, ORR_BOUND_MEMORY) * graph->links[0].bandwidth;
}

START_TEST(no_order_of_a_product_needs_fewer_bytes)
{
    enum { N = 6, TASKS = N * N * N };

    for (unsigned tiles = 3; tiles <= 48; tiles *= 2) {
        struct orr_graph *graph = product(N, tiles * 1e3, 1000);
        double bound = bytes_bound(graph), best = INFINITY;
        unsigned order[TASKS], seed = tiles;

        for (unsigned b = 1; b <= N; b++) {
            blocked_order(N, b, order);
            best = fmin(best, lru_bytes(graph, order));
        }
        for (unsigned round = 0; round < 20; round++) {
            for (unsigned i = TASKS; i-- > 1;) {
                unsigned j, swapped = order[i];

                seed = seed * 1664525 + 1013904223;
                j = (seed >> 8) % (i + 1);
                order[i] = order[j];
                order[j] = swapped;
            }
            best = fmin(best, lru_bytes(graph, order));
        }
        ck_assert_msg(bound <= best * (1 + 1e-9), "%u tiles: %g > %g", tiles,
                      bound, best);
        /* All data once; more where they do not fit. */
        ck_assert(bound >= 3e3 * N * N * (1 - 1e-4));
        if (tiles <= 6)
            ck_assert(bound >= 1.5 * 3e3 * N * N);
        orr_graph_free(graph);
    }
}
END_TEST

START_TEST(no_order_of_cholesky_needs_fewer_bytes)
{
    static const struct bound_kernels kernels = {
        2, {{1, 1}, {1, 1}, {1, 1}, {1, 1}}};

    for (unsigned tiles = 3; tiles <= 24; tiles *= 2) {
        unsigned n = tiles == 3 ? 24 : 12, data = n * (n + 1) / 2;
        struct orr_graph *graph = bound_cholesky(n, 1, &kernels);
        unsigned *order = calloc(graph->ntasks, sizeof(*order));
        double bound;

        for (unsigned i = 0; i < graph->ntasks; i++)
            order[i] = i;
        graph->nodes[1].capacity = tiles * graph->data[0].bytes;
        bound = bytes_bound(graph);
        ck_assert(bound <= lru_bytes(graph, order) * (1 + 1e-9));
        /* All data once; more where many tasks have little memory. */
        ck_assert(bound >= data * graph->data[0].bytes * (1 - 1e-4));
        if (n == 24)
            ck_assert(bound >= 1.4 * data * graph->data[0].bytes);
        free(order);
        orr_graph_free(graph);
    }
}
END_TEST

SUITE_MAIN(bound_transfers)
{
    Suite *suite = suite_create("bound-transfers");
    TCase *tests = tcase_create("bounds with transfers");

    tcase_set_timeout(tests, 100);
    tcase_add_test(tests, an_optimum_is_proved_by_its_duals);
    tcase_add_test(tests, any_duals_prove_something_true);
    tcase_add_test(tests, outcomes_are_distinguished);
    tcase_add_test(tests, a_row_added_later_is_obeyed);
    tcase_add_test(tests, a_value_read_elsewhere_waits_for_its_copy);
    tcase_add_test(tests, copies_share_a_link_and_equal_ones_are_one);
    tcase_add_test(tests, no_schedule_of_a_random_graph_is_shorter);
    tcase_add_test(tests, a_small_memory_makes_the_bound_grow);
    tcase_add_test(tests, no_order_of_a_product_needs_fewer_bytes);
    tcase_add_test(tests, no_order_of_cholesky_needs_fewer_bytes);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
