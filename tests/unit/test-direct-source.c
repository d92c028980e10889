/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-direct-source.c - what idle workers ask for tasks: once it was taken
 * away, none is in it any more, so that what it looks at may be freed.
 */
#include <sched.h>
#include <stdatomic.h>

#include <starpu.h>

#include "core/exec/runtime.h"
#include "core/sched/direct.h"
#include "tests/suite.h"

enum { NCPUS = 2, LONG = 2000, TIMES = 20 };

static atomic_uint ninside, nentered;

static void ask(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ninside, 1);
    atomic_fetch_add(&nentered, 1);
    for (int i = 0; i < LONG; i++)
        sched_yield();
    atomic_fetch_sub(&ninside, 1);
}

START_TEST(who_takes_a_source_away_finds_nobody_in_it)
{
    struct orr_runtime *rt;
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.ncpus = NCPUS;
    ck_assert_int_eq(starpu_init(&conf), 0);
    rt = orr_runtime_current("test");
    ck_assert_int_eq(orr_direct_init(rt), 0);
    for (int i = 0; i < TIMES; i++) {
        atomic_store(&nentered, 0);
        orr_direct_set_source(rt, ask, NULL);
        while (atomic_load(&nentered) == 0) {
            orr_direct_wake(rt);
            sched_yield();
        }
        orr_direct_set_source(rt, NULL, NULL);
        ck_assert_uint_eq(atomic_load(&ninside), 0);
    }
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(direct_source)
{
    Suite *suite = suite_create("direct source");
    TCase *tc = tcase_create("workers");

    tcase_add_test(tc, who_takes_a_source_away_finds_nobody_in_it);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
