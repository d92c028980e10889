/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/suite.h - the end of main() in programs of tests. */
#pragma once

#include <check.h>

/* Runs a suite as TAP, and frees it; 0 iff all passed. */
static inline int suite_main(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
