/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-deadlock.c - the explanation of a run that stands still tells tasks that wait
 * for each other from one that the library itself has forgotten.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu.h>

#include "core/data/release.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/observe/deadlock.h"
#include "tests/suite.h"

static void nothing(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static struct starpu_codelet cl = {.cpu_funcs = {nothing}, .name = "k"};

static struct starpu_task *named(const char *name)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl;
    task->name = name;
    return task;
}

static void explain(char *text, size_t size)
{
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);

    ck_assert_ptr_nonnull(file);
    fflush(stderr);
    ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
    orr_deadlock_explain(orr_runtime_current("test"));
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

START_TEST(a_task_that_is_held_back_by_nothing_is_no_circle)
{
    struct starpu_task *lost = named("lost"), *behind = named("behind"), *last = named("last");
    struct starpu_conf conf;
    struct orr_job *job;
    char text[4096];

    unsetenv("STARPU_SILENT");
    starpu_conf_init(&conf);
    conf.ncpus = 1;
    ck_assert_int_eq(starpu_init(&conf), 0);
    starpu_task_declare_deps(behind, 1, lost);
    starpu_task_declare_deps(last, 1, behind);
    job = orr_job_of(lost);
    atomic_fetch_add(&job->waiting, 1); /* nobody will end that */
    ck_assert_int_eq(starpu_task_submit(last), 0);
    ck_assert_int_eq(starpu_task_submit(behind), 0);
    ck_assert_int_eq(starpu_task_submit(lost), 0);
    explain(text, sizeof(text));
    ck_assert_msg(strstr(text, "task `behind' (number 2) waits for task `lost' (number 3)"), "%s",
                  text);
    ck_assert_msg(strstr(text, "task `lost' (number 3) is held back by nothing that there is: "
                               "that is a fault of Orrery's"),
                  "%s", text);
    ck_assert_msg(!strstr(text, "circle"), "%s", text);
    orr_job_release(orr_runtime_current("test"), job);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(deadlock)
{
    Suite *suite = suite_create("deadlock");
    TCase *tc = tcase_create("deadlock");

    tcase_add_test(tc, a_task_that_is_held_back_by_nothing_is_no_circle);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
