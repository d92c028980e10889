/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-policies.c - the list of policies and their names say the same. */
#include <check.h>

#include "core/policies/names.h"
#include "core/sched/sched.h"
#include "tests/suite.h"

#define NAME(name, ops) name,
static const char *const names[] = {ORR_SCHED_NAMES(NAME)};

enum { NNAMES = sizeof(names) / sizeof(*names) };

START_TEST(each_policy_is_called_as_in_the_list)
{
    ck_assert_str_eq(orr_sched_builtin[_i]->name, names[_i]);
    ck_assert_ptr_nonnull(orr_sched_builtin[_i]->help);
}
END_TEST

START_TEST(the_list_ends_behind_the_last_name)
{
    ck_assert_ptr_null(orr_sched_builtin[NNAMES]);
}
END_TEST

SUITE_MAIN(policies)
{
    Suite *suite = suite_create("policies");
    TCase *tc = tcase_create("names");

    tcase_add_loop_test(tc, each_policy_is_called_as_in_the_list, 0, NNAMES);
    tcase_add_test(tc, the_list_ends_behind_the_last_name);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
