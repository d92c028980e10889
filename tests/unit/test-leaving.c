/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-leaving.c - a worker leaves a scheduling context only once nobody
 * gives it tasks there any more: what it is given afterwards it never asks for.
 */
#include <stdlib.h>

#include <starpu.h>

#include "core/exec/runtime.h"
#include "core/sched/ctx.h"
#include "core/worker/workers.h"
#include "tests/suite.h"

enum { NCPUS = 2, LAST = NCPUS - 1 };

static unsigned nleft, ngiven;

/* Here the policy forgets the worker. */
static void leave(unsigned ctx, int *ids, unsigned n)
{
    struct orr_runtime *rt = orr_runtime_current("test");

    for (unsigned i = 0; i < n; i++) {
        nleft++;
        ngiven += orr_members_has(&rt->workers->members[ctx], (unsigned)ids[i]);
    }
}

static int push(struct starpu_task *task)
{
    (void)task;
    return -ENODEV;
}

static struct starpu_task *pop(unsigned ctx)
{
    (void)ctx;
    return NULL;
}

START_TEST(who_leaves_is_given_no_tasks)
{
    static struct starpu_sched_policy policy = {
        .policy_name = "observer",
        .push_task = push,
        .pop_task = pop,
        .remove_workers = leave,
    };
    int ids[NCPUS] = {0, LAST}, last = LAST;
    struct starpu_conf conf;
    unsigned ctx;

    starpu_conf_init(&conf);
    conf.ncpus = NCPUS;
    ck_assert_int_eq(starpu_init(&conf), 0);
    ctx = starpu_sched_ctx_create(ids, NCPUS, "inner",
                                  STARPU_SCHED_CTX_POLICY_STRUCT, &policy, 0);
    /* So that it leaves at once. */
    starpu_sched_ctx_worker_shares_tasks_lists(last, (int)ctx);
    starpu_sched_ctx_remove_workers(&last, 1, ctx);
    ck_assert_uint_eq(nleft, 1);
    ck_assert_uint_eq(ngiven, 0);
    starpu_sched_ctx_delete(ctx);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(leaving)
{
    Suite *suite = suite_create("leaving");
    TCase *tc = tcase_create("members");

    tcase_add_test(tc, who_leaves_is_given_no_tasks);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
