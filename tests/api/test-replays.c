/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-replays.c - orrery_replay: records played in this process, again and
 * again, and what ends such a run without ending the process.
 */
#include <errno.h>
#include <orrery.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machines.h"

static char record[] = "/tmp/orrery-replays-XXXXXX";

/* The calls between `run' and `end'. */
static const char good[] = "data 1 kind=\"variable\" shape=8 home=0\n"
                           "model 1 kind=\"per-arch\" symbol=\"k\" flags=4\n"
                           "codelet 1 name=\"k\" cpu=1 buffers=-1 model=1\n"
                           "submit 1 codelet=1 data=1:rw times=100 name=\"a\"\n"
                           "submit 2 codelet=1 data=1:rw times=200 kept=1\n"
                           "wait-all\n"
                           "unregister 1\n";

/* What a run loses that is left is said in orrery.h. The address sanitizer asks, when
 * the process ends. */
static bool is_left;
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return is_left;
}

static void write_record(const char *lines)
{
    FILE *file = fopen(record, "w");
    unsigned n = 1;

    ck_assert_ptr_nonnull(file);
    for (const char *at = lines; *at; at++)
        n += *at == '\n';
    fprintf(file, "orrery-record 1\nrun\n%send value=%u\n", lines, n);
    ck_assert_int_eq(fclose(file), 0);
}

static void set_up(void)
{
    int fd;

    strcpy(record, "/tmp/orrery-replays-XXXXXX");
    fd = mkstemp(record);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void tear_down(void)
{
    unlink(record);
}

static const struct orrery_replay_settings gpus = {
    .machine = TEST_MACHINE,
    .scheduler = "eager",
};

static int replay(const char *lines)
{
    write_record(lines);
    return orrery_replay(record, &gpus);
}

/* That nothing is left behind: the next one is played, and programs can begin. */
static void check_free(void)
{
    ck_assert(!starpu_is_initialized());
    ck_assert_int_eq(replay(good), 0);
    ck_assert(!starpu_is_initialized());
    machine_open(0);
    starpu_shutdown();
}

/* Bytes of the file. */
static long size_of(const char *path)
{
    FILE *file = fopen(path, "r");
    long size;

    ck_assert_ptr_nonnull(file);
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    fclose(file);
    return size;
}

START_TEST(records_are_played_again_and_again)
{
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(replay(good), 0);
    check_free();
}
END_TEST

/* Who asks for a duplicate again gets the same one, and gives each back. */
START_TEST(duplicates_end_when_each_was_given_back)
{
    setenv("ORRERY_ASSUME", "kernel[starpu_data_cpy] = 1us", 1);
    ck_assert_int_eq(replay("data 1 kind=\"variable\" shape=8 home=0\n"
                            "duplicate 2 of=1\n"
                            "duplicate 2 of=1\n"
                            "duplicate 2 of=2\n"
                            "unregister 2 how=submit\n"
                            "unregister 2\n"
                            "acquire 2 value=1\n"
                            "release 2\n"
                            "unregister 2\n"
                            "duplicate 3 of=1 synchronous=1\n"
                            "unregister 3 how=drop\n"
                            "unregister 1\n"),
                     0);
    check_free();
}
END_TEST

START_TEST(settings_go_before_the_environment)
{
    char report[] = "/tmp/orrery-report-XXXXXX";
    struct orrery_replay_settings settings = gpus;
    int fd = mkstemp(report);

    ck_assert_int_ge(fd, 0);
    close(fd);
    write_record(good);
    setenv("ORRERY_MACHINE", "/nowhere", 1);
    setenv("STARPU_SCHED", "nowhere", 1);
    ck_assert_int_eq(orrery_replay(record, &settings), 0);
    settings.machine = NULL;
    ck_assert_int_lt(orrery_replay(record, &settings), 0);
    settings.machine = TEST_MACHINE;
    settings.report = report;
    ck_assert_int_eq(orrery_replay(record, &settings), 0);
    ck_assert_int_gt(size_of(report), 100);
    settings.scheduler = NULL;
    ck_assert_int_lt(orrery_replay(record, &settings), 0);
    settings.scheduler = "";
    ck_assert_int_eq(orrery_replay(record, &settings), 0);
    unlink(report);
}
END_TEST

START_TEST(a_machine_must_be_named)
{
    struct orrery_replay_settings settings = gpus;

    write_record(good);
    unsetenv("ORRERY_MACHINE");
    settings.machine = NULL;
    ck_assert_int_eq(orrery_replay(record, &settings), -EINVAL);
    ck_assert_int_eq(orrery_replay(record, NULL), -EINVAL);
    settings.machine = "";
    ck_assert_int_eq(orrery_replay(record, &settings), -EINVAL);
    check_free();
}
END_TEST

START_TEST(one_at_a_time)
{
    write_record(good);
    machine_open(0);
    ck_assert_int_eq(orrery_replay(record, &gpus), -EBUSY);
    starpu_shutdown();
    check_free();
}
END_TEST

/* How each of them ends is said; the process goes on. */
static const struct {
    const char *what, *lines;
    int rc;
} faults[] = {
    {"a datum that there is not", "unregister 7\n", -ECANCELED},
    {"no such call", "nonsense 7\n", -ECANCELED},
    {"a task that no worker can run",
     "codelet 1 name=\"k\" buffers=0\nsubmit 1 codelet=1\n", -ECANCELED},
    {"a kernel without a time",
     "codelet 1 name=\"k\" cpu=1 buffers=-1\nsubmit 1 codelet=1\n"
     "wait-all\n",
     -ECANCELED},
    {"a tag that nobody has",
     "codelet 1 buffers=0 cpu=1 name=\"k\"\ntag-wait before=5\n", -EDEADLK},
    {"an end that nothing holds back is released, which aborts",
     "model 1 kind=\"per-arch\" symbol=\"k\" flags=4\n"
     "codelet 1 name=\"k\" cpu=1 buffers=0 model=1\n"
     "submit 1 codelet=1 times=100 kept=1\nforget 1\n"
     "codelet 2 name=\"k\" cpu=1 buffers=0 model=1\n"
     "end-release 2\nsubmit 2 codelet=2 times=100 kept=1\n",
     -ECANCELED},
    {"a task that waits for ever",
     "model 1 kind=\"per-arch\" symbol=\"k\" flags=4\n"
     "codelet 1 name=\"k\" cpu=1 buffers=0 model=1\n"
     "depend 1 before=2\nsubmit 1 codelet=1 times=100 kept=1\n"
     "wait-all\n",
     -EDEADLK},
};

START_TEST(faults_end_the_run_alone)
{
    is_left = true;
    ck_assert_int_eq(replay(faults[_i].lines), faults[_i].rc);
    ck_assert_int_eq(replay(faults[_i].lines), faults[_i].rc);
    check_free();
}
END_TEST

START_TEST(a_record_that_is_none)
{
    FILE *file = fopen(record, "w");

    ck_assert_ptr_nonnull(file);
    fputs("no record\n", file);
    fclose(file);
    ck_assert_int_lt(orrery_replay(record, &gpus), 0);
    ck_assert_int_eq(orrery_replay("/nowhere", &gpus), -ENOENT);
    check_free();
}
END_TEST

static void *write_on(void *unused)
{
    FILE *file = fopen(record, "w");
    unsigned long n = 0;

    fputs("orrery-record 1\nrun\n", file);
    while (fputs("schedule\n", file) >= 0 && fflush(file) == 0)
        if (++n >= 1000)
            orrery_replay_stop();
    fclose(file);
    return unused;
}

/* One that never ends. */
START_TEST(a_run_is_stopped_between_calls)
{
    pthread_t writer;

    is_left = true;
    signal(SIGPIPE, SIG_IGN);
    unlink(record);
    ck_assert_int_eq(mkfifo(record, 0600), 0);
    ck_assert_int_eq(pthread_create(&writer, NULL, write_on, NULL), 0);
    ck_assert_int_eq(orrery_replay(record, &gpus), -EINTR);
    pthread_join(writer, NULL);
    unlink(record);
    check_free();
}
END_TEST

static void stop(int number)
{
    (void)number;
    orrery_replay_stop();
}

/* When the first task begins. */
START_TEST(a_run_is_stopped_in_a_wait)
{
    struct sigaction action = {.sa_handler = stop};
    struct orrery_replay_settings settings = gpus;
    char graph[] = "/tmp/orrery-graph-XXXXXX";
    int fd = mkstemp(graph);

    is_left = true;
    ck_assert_int_ge(fd, 0);
    close(fd);
    settings.graph = graph;
    write_record(good);
    sigaction(SIGTRAP, &action, NULL);
    setenv("STARPU_TASK_BREAK_ON_EXEC", "1", 1);
    ck_assert_int_eq(orrery_replay(record, &settings), -EINTR);
    unsetenv("STARPU_TASK_BREAK_ON_EXEC");
    ck_assert_int_gt(size_of(graph), 10); /* of what it had done */
    unlink(graph);
    check_free();
}
END_TEST

/* Outside of a replay, nothing is done. */
START_TEST(stops_do_not_stay)
{
    orrery_replay_stop();
    check_free();
}
END_TEST

/* abort() of the program is its own again. */
START_TEST(aborts_are_the_process_s)
{
    ck_assert_int_eq(replay(good), 0);
    abort();
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("replays");
    TCase *tc = tcase_create("orrery_replay");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, records_are_played_again_and_again);
    tcase_add_test(tc, duplicates_end_when_each_was_given_back);
    tcase_add_test(tc, settings_go_before_the_environment);
    tcase_add_test(tc, a_machine_must_be_named);
    tcase_add_test(tc, one_at_a_time);
    tcase_add_loop_test(tc, faults_end_the_run_alone, 0,
                        sizeof(faults) / sizeof(*faults));
    tcase_add_test(tc, a_record_that_is_none);
    tcase_add_test(tc, a_run_is_stopped_between_calls);
    tcase_add_test(tc, a_run_is_stopped_in_a_wait);
    tcase_add_test(tc, stops_do_not_stay);
    tcase_add_test_raise_signal(tc, aborts_are_the_process_s, SIGABRT);
    suite_add_tcase(s, tc);
    return s;
}

SUITE_MAIN(replays)
{
    return suite_main(suite());
}
