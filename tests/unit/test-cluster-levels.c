/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cluster-levels.c - rates that are kept up as shares come and go are those
 * that progressive filling finds from the beginning, after every change of thousands.
 */
#include "sim/cluster/levels.h"
#include "tests/rng.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PORTS = 40, MAX_HOPS = 6, MAX_SHARES = 200, NCHANGES = 150 };

static double capacities[MAX_PORTS];
static unsigned nports;
static struct orr_levels *levels;
static struct orr_share *shares[MAX_SHARES]; /* NULL: none */
static double expected[MAX_SHARES];

/* ---- progressive filling ---- */

static bool passes(const struct orr_share *share, unsigned port)
{
    for (unsigned i = 0; i < share->nports; i++)
        if (share->hops[i].port == port)
            return true;
    return false;
}

/* The level at which the first of the shares without a rate stops. */
static double lowest_level(void)
{
    double lowest = INFINITY;

    for (unsigned i = 0; i < MAX_SHARES; i++)
        if (shares[i] && isnan(expected[i]))
            lowest = fmin(lowest, shares[i]->limit);
    for (unsigned port = 0; port < nports; port++) {
        double left = capacities[port];
        unsigned open = 0;

        for (unsigned i = 0; i < MAX_SHARES; i++) {
            if (!shares[i] || !passes(shares[i], port))
                continue;
            if (isnan(expected[i]))
                open++;
            else
                left -= expected[i];
        }
        if (open)
            lowest = fmin(lowest, left / open);
    }
    return lowest;
}

static bool is_stopped(unsigned number, double level)
{
    if (shares[number]->limit <= level * (1 + 1e-12))
        return true;
    for (unsigned h = 0; h < shares[number]->nports; h++) {
        unsigned port = shares[number]->hops[h].port, open = 0;
        double left = capacities[port];

        for (unsigned i = 0; i < MAX_SHARES; i++) {
            if (!shares[i] || !passes(shares[i], port))
                continue;
            if (isnan(expected[i]))
                open++;
            else
                left -= expected[i];
        }
        if (left / open <= level * (1 + 1e-12))
            return true;
    }
    return false;
}

static void find_expected(void)
{
    bool stopped[MAX_SHARES];
    double level;

    for (unsigned i = 0; i < MAX_SHARES; i++)
        expected[i] = (double)NAN;
    while (isfinite(level = lowest_level())) {
        for (unsigned i = 0; i < MAX_SHARES; i++)
            stopped[i] =
                shares[i] && isnan(expected[i]) && is_stopped(i, level);
        for (unsigned i = 0; i < MAX_SHARES; i++)
            if (stopped[i])
                expected[i] = level;
    }
}

/* ---- shares ---- */

static void note_rate(void *arg, struct orr_share *share, double rate)
{
    ck_assert_ptr_eq(arg, levels);
    ck_assert_double_gt(rate, 0);
    ck_assert_double_ne(rate, share->rate);
}

static void settle(void)
{
    orr_levels_settle(levels, note_rate, levels);
}

static void add_share(unsigned number, const unsigned *ports, unsigned n,
                      double limit)
{
    struct orr_share *share =
        calloc(1, sizeof(*share) + n * sizeof(struct orr_hop));

    share->nports = n;
    share->limit = limit;
    for (unsigned i = 0; i < n; i++)
        share->hops[i].port = ports[i];
    ck_assert_int_eq(orr_levels_reserve(levels, share), 0);
    orr_levels_enter(levels, share);
    shares[number] = share;
}

static void remove_share(unsigned number)
{
    orr_levels_leave(levels, shares[number]);
    free(shares[number]);
    shares[number] = NULL;
}

static void add_random_share(unsigned number, uint64_t *state)
{
    unsigned ports[MAX_HOPS], n = 0;
    unsigned most = 1 + (unsigned)(rng_next(state) % MAX_HOPS);
    double limit =
        rng_next(state) % 4 ? (double)INFINITY : 1 + 20 * rng_uniform(state);

    for (unsigned tries = 0; tries < 20 && n < most; tries++) {
        unsigned port = (unsigned)(rng_next(state) % nports);
        bool there = false;

        for (unsigned i = 0; i < n; i++)
            there |= ports[i] == port;
        if (!there)
            ports[n++] = port;
    }
    add_share(number, ports, n, limit);
}

static void open_levels(double epsilon, uint64_t *state)
{
    nports = 1 + (unsigned)(rng_next(state) % MAX_PORTS);
    for (unsigned i = 0; i < nports; i++)
        capacities[i] =
            rng_next(state) % 2 ? 100 : 1 + 200 * rng_uniform(state);
    ck_assert_int_eq(orr_levels_new(capacities, nports, epsilon, &levels), 0);
    memset(shares, 0, sizeof(shares));
}

static void close_levels(void)
{
    for (unsigned i = 0; i < MAX_SHARES; i++)
        free(shares[i]);
    orr_levels_free(levels);
}

/* Some changes, then one settling. */
static void change(uint64_t *state, unsigned most)
{
    unsigned n = 1 + (unsigned)(rng_next(state) % 3);

    while (n-- > 0) {
        unsigned number = (unsigned)(rng_next(state) % most);

        if (shares[number])
            remove_share(number);
        else
            add_random_share(number, state);
    }
    settle();
}

static double worst_error(void)
{
    double worst = 0;

    find_expected();
    for (unsigned i = 0; i < MAX_SHARES; i++)
        if (shares[i])
            worst = fmax(worst, fabs(shares[i]->rate / expected[i] - 1));
    return worst;
}

/* ---- tests ---- */

START_TEST(rates_are_max_min_after_every_change)
{
    uint64_t state = rng_of((uint64_t)_i);
    unsigned most = 2 + (unsigned)(rng_next(&state) % (MAX_SHARES - 1));

    open_levels(0, &state);
    for (unsigned i = 0; i < NCHANGES; i++) {
        change(&state, most);
        ck_assert_msg(worst_error() < 1e-7, "after change %u: %g", i,
                      worst_error());
    }
    close_levels();
}
END_TEST

START_TEST(with_an_epsilon_rates_are_near_and_ports_not_far_over)
{
    const double epsilon = 0.001 * pow(10, _i % 3);
    uint64_t state = rng_of((uint64_t)_i + 1000);

    open_levels(epsilon, &state);
    for (unsigned i = 0; i < NCHANGES; i++) {
        change(&state, MAX_SHARES);
        for (unsigned port = 0; port < nports; port++) {
            double sum = 0;

            for (unsigned k = 0; k < MAX_SHARES; k++)
                if (shares[k] && passes(shares[k], port))
                    sum += shares[k]->rate;
            ck_assert_double_le(sum, capacities[port] * (1 + 3 * epsilon));
        }
    }
    close_levels();
}
END_TEST

START_TEST(the_order_of_changes_decides_nothing)
{
    double rates[MAX_SHARES];
    unsigned ports[2] = {0, 1};

    for (unsigned turn = 0; turn < 2; turn++) {
        uint64_t state = rng_of((uint64_t)_i + 2000);

        open_levels(_i % 2 ? 0.01 : 0, &state);
        for (unsigned k = 0; k < MAX_SHARES; k++) {
            unsigned i = turn ? MAX_SHARES - 1 - k : k;
            uint64_t own = rng_of(i);

            add_random_share(i, &own);
        }
        for (unsigned k = 0; k < 20; k++)
            remove_share(turn ? 19 - k : k);
        settle();
        for (unsigned i = 20; i < MAX_SHARES; i++) {
            if (turn)
                ck_assert_double_eq(shares[i]->rate, rates[i]);
            rates[i] = shares[i]->rate;
        }
        /* Nothing has happened, nothing changes. */
        add_share(0, ports, nports > 1 ? 2 : 1, INFINITY);
        remove_share(0);
        settle();
        close_levels();
    }
}
END_TEST

START_TEST(a_port_that_is_left_by_all_gives_all_to_the_next)
{
    const unsigned ports[] = {0};

    capacities[0] = 100;
    nports = 1;
    ck_assert_int_eq(orr_levels_new(capacities, nports, _i ? 0.05 : 0, &levels),
                     0);
    memset(shares, 0, sizeof(shares));
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < MAX_SHARES; i++)
            add_share(i, ports, 1, INFINITY);
        settle();
        ck_assert_double_eq_tol(shares[0]->rate, 100. / MAX_SHARES, 0.05);
        for (unsigned i = 1; i < MAX_SHARES; i++) {
            remove_share(i);
            settle();
        }
        ck_assert_double_eq(shares[0]->rate, 100);
        remove_share(0);
        settle();
    }
    close_levels();
}
END_TEST

START_TEST(ports_that_a_change_does_not_reach_are_not_looked_at)
{
    const unsigned busy[] = {0, 1}, idle[] = {2, 3};
    unsigned long looks;

    nports = 4;
    for (unsigned i = 0; i < nports; i++)
        capacities[i] = 100;
    ck_assert_int_eq(orr_levels_new(capacities, nports, 0, &levels), 0);
    memset(shares, 0, sizeof(shares));
    for (unsigned i = 0; i < 10; i++)
        add_share(i, busy, 2, INFINITY);
    settle();
    looks = orr_levels_looks(levels);
    /* Both are far from full. */
    for (unsigned i = 10; i < 20; i++) {
        add_share(i, idle, 2, 5);
        settle();
    }
    ck_assert_uint_eq(orr_levels_looks(levels), looks);
    ck_assert_double_lt(worst_error(), 1e-7);
    close_levels();
}
END_TEST

SUITE_MAIN(cluster_levels)
{
    Suite *suite = suite_create("cluster-levels");
    TCase *tests = tcase_create("cluster-levels");

    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, rates_are_max_min_after_every_change, 0, 16);
    tcase_add_loop_test(
        tests, with_an_epsilon_rates_are_near_and_ports_not_far_over, 0, 20);
    tcase_add_loop_test(tests, the_order_of_changes_decides_nothing, 0, 20);
    tcase_add_loop_test(tests, a_port_that_is_left_by_all_gives_all_to_the_next,
                        0, 2);
    tcase_add_test(tests, ports_that_a_change_does_not_reach_are_not_looked_at);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
