/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-plan-switch.c - tests of core/data/plan_switch.c: a switch of a
 * planned partition beside copies that are under way. Node 0 is main memory, where
 * whole and parts share theirs; 1 is a device.
 */
#include <starpu_data_filters.h>

#include "core/data/plan.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

enum { PARTS = 2 };

static struct orr_handle *h; /* written on node 1 */
static starpu_data_handle_t children[PARTS];
static struct orr_handle *part;
static struct orr_plan *plan;
static unsigned nswitched;

static void note_switched(void *arg)
{
    (void)arg;
    nswitched++;
}

static void open_plan(void)
{
    const struct fake_spec spec = {.ndevices = 1};
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = PARTS};

    fake_open(&spec);
    fake.meanwhile = fake_settle;
    h = fake_only_on(1, 10);
    ck_assert_int_eq(orr_plan_new(&fake.rt, h, &filter, children), 0);
    fake_settle();
    part = orr_handle_of(children[0]);
    plan = orr_handle_plan(part);
    nswitched = 0;
}

static void ask(enum orr_switch what)
{
    const struct orr_switch_options options = {.callback = note_switched};

    orr_plan_switch(&fake.rt, plan, what, &options);
}

/* A prefetch of the datum to main memory is under way, and brings an old value if
 * a task has `written` the datum on the device meanwhile. */
static void begin_copy(struct orr_handle *handle, bool written)
{
    ck_assert_int_eq(fake_need(handle, 0, true, ORR_PREFETCH, NULL), 0);
    fake_progress(1);
    ck_assert_uint_eq(fake.ncopies, 1);
    if (written)
        fake_task(handle, STARPU_RW, 1, 20);
    ck_assert_uint_eq(fake.ncopies, 1);
}

static void close_plan(enum orr_switch last)
{
    fake_settle();
    ask(last);
    fake_settle();
    ck_assert_uint_eq(nswitched, 2);
    orr_plan_clean(&fake.rt, plan);
    fake_settle();
    fake_close();
}

/* Else it would end after that of a part that is read then, in the same memory. */
START_TEST(readers_wait_for_an_old_copy_of_the_whole)
{
    open_plan();
    begin_copy(h, true);
    ask(ORR_SWITCH_TO_READERS);
    ck_assert_uint_eq(nswitched, 0);
    fake_end_copy(0);
    fake_settle();
    ck_assert_uint_eq(nswitched, 1);
    close_plan(ORR_SWITCH_END_READERS);
}
END_TEST

START_TEST(readers_of_the_whole_wait_for_an_old_copy_of_a_part)
{
    open_plan();
    ask(ORR_SWITCH_TO_PARTS);
    fake_settle();
    fake_task(part, STARPU_RW, 1, 15);
    nswitched = 0;
    begin_copy(part, true);
    ask(ORR_SWITCH_DOWNGRADE);
    ck_assert_uint_eq(nswitched, 0);
    fake_end_copy(0);
    fake_settle();
    ck_assert_uint_eq(nswitched, 1);
    close_plan(ORR_SWITCH_END_READERS);
}
END_TEST

/* It brings what is there anyhow. */
START_TEST(readers_do_not_wait_for_a_copy_of_the_value)
{
    open_plan();
    begin_copy(h, false);
    ask(ORR_SWITCH_TO_READERS);
    ck_assert_uint_eq(nswitched, 1);
    close_plan(ORR_SWITCH_END_READERS);
}
END_TEST

SUITE_MAIN(plan_switch)
{
    Suite *suite = suite_create("plan-switch");
    TCase *tc = tcase_create("plan-switch");

    tcase_add_test(tc, readers_wait_for_an_old_copy_of_the_whole);
    tcase_add_test(tc, readers_of_the_whole_wait_for_an_old_copy_of_a_part);
    tcase_add_test(tc, readers_do_not_wait_for_a_copy_of_the_value);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
