/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-stalls.c - real programs in which nothing goes on: each says what
 * waits for what, and goes on where somebody ends that. Each runs in a process of its
 * own, which is ended when it has said so.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machines.h"

static int told[2]; /* a pipe: the test has read what was said */

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

static void submit(struct starpu_task *task)
{
    if (starpu_task_submit(task) != 0)
        _exit(11);
}

/* --- what stalls --- */

static void circle(void)
{
    struct starpu_task *a = named("first"), *b = named("second");

    starpu_task_declare_deps(a, 1, b);
    starpu_task_declare_deps(b, 1, a);
    submit(a);
    submit(b);
}

static void wait_for_tag(void)
{
    struct starpu_task *task = named("tagged");

    starpu_tag_declare_deps(1, 1, (starpu_tag_t)42);
    task->use_tag = 1;
    task->tag_id = 1;
    submit(task);
}

/* Nobody has number 2. */
static void miss_order(void)
{
    for (unsigned order = 1; order <= 3; order += 2) {
        struct starpu_task *task = named("ordered");

        task->execute_on_a_specific_worker = 1;
        task->workerid = 0;
        task->workerorder = order;
        submit(task);
    }
}

static void wait_for_unsubmitted(void)
{
    struct starpu_task *task = named("waiting"), *other = named("forgotten");

    starpu_task_declare_deps(task, 1, other);
    submit(task);
}

/* Both have run once, in order; the second alone is submitted once more. */
static void forget_to_run_again(void)
{
    struct starpu_task *first = named("first"), *second = named("second");

    first->destroy = second->destroy = 0;
    starpu_task_declare_deps(second, 1, first);
    submit(first);
    submit(second);
    if (starpu_task_wait_for_all() != 0)
        _exit(13);
    submit(second);
}

/* The first one regenerates, but its successor does not end. */
static void outrun_a_successor(void)
{
    struct starpu_task *first = named("first"), *second = named("second");

    first->destroy = second->destroy = 0;
    first->regenerate = 1;
    starpu_task_declare_deps(second, 1, first);
    starpu_task_end_dep_add(second, 1);
    submit(second);
    submit(first);
}

/* --- calls that wait for ever, for what is named --- */

static void never(struct starpu_task *task)
{
    starpu_task_declare_deps(task, 1, named("forgotten"));
    submit(task);
}

static void wait_for_one_tag(void)
{
    starpu_tag_wait(17);
}

static void wait_for_tags(void)
{
    starpu_tag_t tags[] = {21, 22, 23, 24, 25};

    starpu_tag_notify_from_apps(21);
    starpu_tag_notify_from_apps(22);
    starpu_tag_wait_array(5, tags);
}

static void *wait_beside(void *arg)
{
    starpu_tag_wait(5);
    return arg;
}

static void wait_for_tags_in_threads(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, wait_beside, NULL) != 0)
        _exit(13);
    starpu_tag_wait(17);
}

static void wait_for_task(void)
{
    struct starpu_task *task = named("stuck");

    task->detach = 0;
    never(task);
    if (starpu_task_wait(task) != 0)
        _exit(14);
}

static void wait_for_all(void)
{
    never(named("stuck"));
    starpu_task_wait_for_all();
}

static void wait_for_few(void)
{
    never(named("stuck"));
    never(named("stuck"));
    starpu_task_wait_for_n_submitted(1);
}

static void wait_in_context(void)
{
    int worker = 0;
    unsigned ctx = starpu_sched_ctx_create(
        &worker, 1, "c", STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
    struct starpu_task *task = named("stuck");

    task->sched_ctx = ctx;
    never(task);
    starpu_sched_ctx_delete(ctx);
}

static int values[4];

static starpu_data_handle_t acquired(void)
{
    starpu_data_handle_t handle;

    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, 4,
                                sizeof(*values));
    starpu_data_set_name(handle, "A");
    if (starpu_data_acquire(handle, STARPU_RW) != 0)
        _exit(14);
    return handle;
}

static void acquire_twice(void)
{
    if (starpu_data_acquire(acquired(), STARPU_R) != 0)
        _exit(14);
}

static void unregister_acquired(void)
{
    starpu_data_unregister(acquired());
}

static void drop_acquired(void)
{
    starpu_data_unregister_no_coherency(acquired());
}

/* Simulated alone: real ones are POSIX's. */

static void cond(void)
{
    starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
    starpu_pthread_cond_t never_signalled = STARPU_PTHREAD_COND_INITIALIZER;

    starpu_pthread_mutex_lock(&mutex);
    starpu_pthread_cond_wait(&never_signalled, &mutex);
}

static void barrier(void)
{
    starpu_pthread_barrier_t of_two;

    starpu_pthread_barrier_init(&of_two, NULL, 2);
    starpu_pthread_barrier_wait(&of_two);
}

static void rwlock(void)
{
    starpu_pthread_rwlock_t lock = STARPU_PTHREAD_RWLOCK_INITIALIZER;

    starpu_pthread_rwlock_rdlock(&lock);
    starpu_pthread_rwlock_wrlock(&lock);
}

static starpu_sem_t sem;

static void *take(void *arg)
{
    starpu_sem_init(&sem, 0, 0);
    starpu_sem_wait(&sem);
    return arg;
}

static void semaphore(void)
{
    (void)take(NULL);
}

static void join(void)
{
    starpu_pthread_t thread;

    starpu_pthread_create(&thread, NULL, take, NULL);
    starpu_pthread_join(thread, NULL);
}

/* --- who else is there --- */

static void *pause_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

/* One that the library knows. */
static void *call_and_pause(void *arg)
{
    (void)starpu_task_insert(&cl, 0);
    (void)starpu_task_nsubmitted();
    return pause_for_ever(arg);
}

static void *notify_when_told(void *arg)
{
    char byte;

    if (read(told[0], &byte, 1) != 1)
        _exit(12);
    starpu_tag_notify_from_apps(42);
    return arg;
}

static void start(void *(*body)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, NULL) != 0)
        _exit(13);
    pthread_detach(thread);
}

/* --- programs --- */

struct stall {
    const char *timeout;
    void (*make)(void);
    void *(*other)(void *); /* a thread beside, or NULL */
    const char *words[3];
};

static const struct stall stalls[] = {
    {"0.01",
     circle,
     NULL,
     {"task `first' (number 1) waits for task `second' (number 2)",
      "task `second' (number 2) waits for task `first' (number 1)",
      "in a circle"}},
    {"0.01",
     wait_for_tag,
     NULL,
     {"`tagged'", "tag 42", "starpu_tag_notify_from_apps"}},
    {"0.01",
     miss_order,
     NULL,
     {"task `ordered'", "has workerorder 3 on CPU 0", "the turn of 2"}},
    {"0.01",
     wait_for_unsubmitted,
     NULL,
     {"`waiting'", "`forgotten'", "never submitted"}},
    {"0.01",
     forget_to_run_again,
     NULL,
     {"task `second'", "waits for one more run of task `first'",
      "which was not submitted again"}},
    {"0.01",
     outrun_a_successor,
     NULL,
     {"task `first'", "which regenerates, waits for task `second'",
      "has run, but what its end depends on"}},
    {"0.01",
     circle,
     pause_for_ever,
     {"nothing has gone on for", "in a circle",
      "threads that the library does not know may change that"}},
    {"0.01",
     circle,
     call_and_pause,
     {"nothing has gone on for", "submitted tasks have not ended",
      "threads of the application that are under way may change that. "
      "What waits for what: orrery debug --attach "}},
    {"0.01",
     wait_for_one_tag,
     pause_for_ever,
     {"nothing has gone on for", "main waits for tag 17",
      "threads that the library does not know may change that"}},
    {"0.01",
     wait_for_one_tag,
     call_and_pause,
     {"nothing has gone on for", "main waits for tag 17",
      "threads of the application that are under way may change that. "
      "What waits for what: orrery debug --attach "}},
};

/* Calls of main on both machines … */
static const struct wait {
    void (*make)(void);
    const char *what; /* it waits for */
} waits[] = {
    {wait_for_one_tag, "tag 17\n"},
    {wait_for_tags, "tag 23 and 2 more of 5\n"},
    {wait_for_task, "task `stuck' (number 1)\n"},
    {wait_for_all, "1 submitted task\n"},
    {wait_for_few, "at most 1 of 2 unfinished tasks\n"},
    {wait_in_context, "1 submitted task of scheduling context 1\n"},
    {acquire_twice,
     "data `A' in R (starpu_data_acquire), which the application has acquired "
     "and not released (starpu_data_release)\n"},
    {unregister_acquired, "data `A' in R (starpu_data_unregister), which"},
    {drop_acquired, "the tasks that use data `A' "
                    "(starpu_data_unregister_no_coherency), which"},
    /* … and simulated. */
    {cond, "the condition at 0x"},
    {barrier, "the barrier at 0x"},
    {rwlock, "the reader-writer lock at 0x"},
    {semaphore, "the semaphore at 0x"},
    {join, "the end of a thread of the application\n"},
};
enum { NBOTH = 9, NWAITS = sizeof(waits) / sizeof(waits[0]) };

enum { NSTALLS = sizeof(stalls) / sizeof(stalls[0]) };

static _Noreturn void run(const struct stall *stall, int machine)
{
    machine_choose(machine);
    setenv("ORRERY_STALL_TIMEOUT", stall->timeout, 1);
    if (starpu_init(NULL) != 0)
        _exit(10);
    if (stall->other)
        start(stall->other);
    stall->make();
    starpu_task_wait_for_all();
    starpu_shutdown();
    _exit(0);
}

/* A process that runs it; *ret_said: where to read what it says. */
static pid_t begin(const struct stall *stall, int machine, int *ret_said)
{
    int said[2];
    pid_t pid;

    ck_assert_int_eq(pipe(said), 0);
    ck_assert_int_eq(pipe(told), 0);
    pid = fork();
    if (pid == 0) {
        dup2(said[1], 2);
        close(said[0]);
        close(said[1]);
        close(told[1]);
        run(stall, machine);
    }
    close(said[1]);
    close(told[0]);
    *ret_said = said[0];
    return pid;
}

static bool has_all(const char *text, const char *const words[3])
{
    for (int i = 0; i < 3; i++)
        if (!strstr(text, words[i]))
            return false;
    return true;
}

/* Reads until all of the words have come, or the end. */
static bool hears(int said, const char *const words[3], char *text, size_t size)
{
    size_t n = 0;
    ssize_t got;

    text[0] = '\0';
    while (!has_all(text, words) &&
           (got = read(said, text + n, size - 1 - n)) > 0) {
        n += (size_t)got;
        text[n] = '\0';
    }
    return has_all(text, words);
}

static char text[65536];

START_TEST(what_waits_for_what_is_said)
{
    const struct stall *stall = &stalls[_i];
    int said, status;
    pid_t pid = begin(stall, 0, &said);
    bool heard = hears(said, stall->words, text, sizeof(text));

    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(heard, "status 0x%x, and only:\n%s", (unsigned)status, text);
    /* It was still waiting. */
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(said);
    close(told[1]);
}
END_TEST

static void check_wait(const struct wait *wait, int machine)
{
    char what[200];
    const struct stall stall = {
        "0.01", wait->make, NULL, {"deadlock", "main waits for ", what}};
    int said;
    pid_t pid;
    bool heard;

    snprintf(what, sizeof(what), "  main waits for %s", wait->what);
    pid = begin(&stall, machine, &said);
    heard = hears(said, stall.words, text, sizeof(text));
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_msg(heard, "%s is not in:\n%s", what, text);
    close(said);
    close(told[1]);
}

START_TEST(each_wait_says_for_what_and_for_which)
{
    if (_i < NBOTH)
        check_wait(&waits[_i], 0);
    check_wait(&waits[_i], FIRST_SIMULATED);
}
END_TEST

START_TEST(other_threads_of_the_application_say_so_too)
{
    static const struct stall stall = {
        "60", /* without others in the process it is said at once */
        wait_for_tags_in_threads,
        NULL,
        {"deadlock", "  main waits for tag 17\n",
         "  a thread of the application waits for tag 5\n"}};
    int said;
    pid_t pid = begin(&stall, 0, &said);
    bool heard = hears(said, stall.words, text, sizeof(text));

    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_msg(heard, "%s", text);
    close(said);
    close(told[1]);
}
END_TEST

START_TEST(the_watchdog_says_what_main_waits_for_without_tasks)
{
    static const struct stall stall = {"0",
                                       wait_for_one_tag,
                                       pause_for_ever,
                                       {"no task has ended for",
                                        "none is submitted",
                                        "main waits for tag 17"}};
    int said;
    pid_t pid;

    setenv("STARPU_WATCHDOG_TIMEOUT", "10000", 1);
    pid = begin(&stall, 0, &said);
    ck_assert_msg(hears(said, stall.words, text, sizeof(text)), "%s", text);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    close(said);
    close(told[1]);
}
END_TEST

START_TEST(a_circle_that_nobody_can_end_aborts_on_request)
{
    static const char *const end[3] = {"\1", "\1", "\1"};
    static const struct stall stall = {"60", circle, NULL, {"", "", ""}};
    int said, status;
    pid_t pid;

    setenv("STARPU_WATCHDOG_CRASH", "1", 1);
    pid = begin(&stall, 0, &said);
    (void)hears(said, end, text, sizeof(text));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_ptr_nonnull(strstr(text, "in a circle"));
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "0x%x",
                  (unsigned)status);
    close(said);
    close(told[1]);
}
END_TEST

/* And said once. */
START_TEST(the_run_goes_on_when_somebody_ends_that)
{
    static const struct stall stall = {
        "0.01",
        wait_for_tag,
        notify_when_told,
        {"`tagged'", "tag 42", "does not know may change that"}};
    static const char *const none[3] = {"\1", "\1", "\1"};
    int said, status;
    pid_t pid = begin(&stall, 0, &said);

    ck_assert_msg(hears(said, stall.words, text, sizeof(text)), "%s", text);
    ck_assert_int_eq(write(told[1], "x", 1), 1);
    (void)hears(said, none, text, sizeof(text));
    ck_assert_ptr_null(strstr(text, "nothing has gone on"));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "0x%x",
                  (unsigned)status);
    close(said);
    close(told[1]);
}
END_TEST

/* Who has told the thread before has nothing to wait for. */
START_TEST(nothing_is_said_on_request)
{
    static const struct stall stall = {
        "0", wait_for_tag, notify_when_told, {"\1", "\1", "\1"}};
    int said, status;
    pid_t pid = begin(&stall, 0, &said);

    usleep(50000);
    ck_assert_int_eq(write(told[1], "x", 1), 1);
    (void)hears(said, stall.words, text, sizeof(text));
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(said);
    close(told[1]);
}
END_TEST

SUITE_MAIN(stalls)
{
    Suite *suite = suite_create("stalls");
    TCase *tc = tcase_create("real");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, what_waits_for_what_is_said, 0, NSTALLS);
    tcase_add_loop_test(tc, each_wait_says_for_what_and_for_which, 0, NWAITS);
    tcase_add_test(tc, other_threads_of_the_application_say_so_too);
    tcase_add_test(tc, the_watchdog_says_what_main_waits_for_without_tasks);
    tcase_add_test(tc, a_circle_that_nobody_can_end_aborts_on_request);
    tcase_add_test(tc, the_run_goes_on_when_somebody_ends_that);
    tcase_add_test(tc, nothing_is_said_on_request);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
