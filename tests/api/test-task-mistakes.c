/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-task-mistakes.c - calls about tasks, workers, contexts and counters
 * that make no sense: each is refused, or ends the program, with a message that names
 * the call.
 */
#define STARPU_DEBUG 1
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "machines.h"

static void nothing(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {nothing}, .cuda_funcs = {nothing}, .name = "k"};

static struct starpu_task *task(void)
{
    struct starpu_task *result = starpu_task_create();

    result->cl = &cl;
    return result;
}

/* It has not ended as long as workers are paused. */
static struct starpu_task *submitted(void)
{
    struct starpu_task *result = task();

    starpu_pause();
    result->destroy = 0;
    if (starpu_task_submit(result) != 0)
        exit(9);
    return result;
}

static void expect(int rc, int wanted)
{
    if (rc == wanted)
        return;
    fprintf(stderr, "the call returns %d, not %d\n", rc, wanted);
    exit(9);
}

/* Each of `before` is released once more than it was held. */
static void release_too_often(int nheld)
{
    struct starpu_task *t = task();

    starpu_task_end_dep_add(t, nheld);
    for (int i = 0; i <= nheld; i++)
        starpu_task_end_dep_release(t);
}

static void release_after_the_end(void)
{
    struct starpu_task *t = task();

    t->destroy = 0;
    expect(starpu_task_submit(t), 0);
    starpu_task_wait_for_all();
    starpu_task_end_dep_release(t);
}

/* What is as it should be stays so: of an empty task its own end has come first. */
static void release_an_empty_task(void)
{
    struct starpu_task *t = starpu_task_create();

    t->detach = 0;
    starpu_task_end_dep_add(t, 1);
    expect(starpu_task_submit(t), 0);
    starpu_task_end_dep_release(t);
    expect(starpu_task_wait(t), 0);
    fprintf(stderr, "all is well\n");
}

static void listener(struct starpu_perf_counter_listener *l,
                     struct starpu_perf_counter_sample *sample, void *context)
{
    (void)l, (void)sample, (void)context;
}

/* With STARPU_DEBUG all calls that take a mutex look whether it is one of these. */
static starpu_pthread_mutex_t *sched_mutex(int worker)
{
    starpu_pthread_mutex_t *mutex;
    starpu_pthread_cond_t *cond;

    starpu_worker_get_sched_condition(worker, &mutex, &cond);
    return mutex;
}

static char here[] = "here.c";

/* One on the stack, which nobody has made. */
static void submit_what_was_not_made(void)
{
    struct starpu_task t;

    memset(&t, 7, sizeof(t));
    expect(starpu_task_submit(&t), -EINVAL);
}

static void destroy_twice(void)
{
    struct starpu_task *t = task();

    starpu_task_destroy(t);
    starpu_task_destroy(t);
}

/* What starpu_task_create makes goes with its end. */
static struct starpu_task *ended(void)
{
    struct starpu_task *t = task();

    expect(starpu_task_submit(t), 0);
    starpu_task_wait_for_all();
    return t;
}

static void clean_itself(void *arg)
{
    (void)arg;
    starpu_task_clean(starpu_task_get_current());
}

static void lock_as_is_right(void)
{
    starpu_pthread_mutex_t own;

    STARPU_PTHREAD_MUTEX_INIT(&own, NULL);
    STARPU_PTHREAD_MUTEX_LOCK_SCHED(sched_mutex(0));
    STARPU_PTHREAD_MUTEX_LOCK(&own);
    STARPU_PTHREAD_MUTEX_UNLOCK(&own);
    STARPU_PTHREAD_MUTEX_UNLOCK_SCHED(sched_mutex(0));
    STARPU_PTHREAD_MUTEX_DESTROY(&own);
    fprintf(stderr, "all is well\n");
}

static starpu_task_bundle_t no_bundle;
static struct starpu_task **no_tasks;
static starpu_tag_t *no_tags;

#define SCOPE starpu_perf_counter_scope_global

static void shut(void *parallel_workers)
{
    starpu_parallel_worker_shutdown(parallel_workers);
}

static void shut_in_a_callback(void)
{
    struct starpu_task *t = task();

    t->callback_func = shut;
    t->callback_arg = starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, 0);
    if (!t->callback_arg) { /* without processors there are none */
        fprintf(stderr,
                "starpu_parallel_worker_shutdown: it waits for tasks\n");
        abort();
    }
    expect(starpu_task_submit(t), 0);
    starpu_task_wait_for_all();
}

/* mistakes.h says what each line is. */
#define MISTAKES(X)                                                            \
    X(REFUSED, "all is well", release_an_empty_task())                         \
    X(ABORTS, "starpu_task_end_dep_release: task `k' is not held back",        \
      release_too_often(0))                                                    \
    X(ABORTS, "starpu_task_end_dep_release: task `k' is not held back",        \
      release_too_often(2))                                                    \
    X(ABORTS, "starpu_task_end_dep_release: task `k' has ended",               \
      release_after_the_end())                                                 \
    X(ABORTS, "starpu_task_ft_success: task `k' is not held back",             \
      starpu_task_ft_success(task()))                                          \
    X(ABORTS, "starpu_parallel_worker_shutdown: it waits for tasks",           \
      shut_in_a_callback())                                                    \
    X(ABORTS, "starpu_perf_counter_unset_all_per_worker_listeners: there is",  \
      starpu_perf_counter_unset_all_per_worker_listeners())                    \
    X(ABORTS, "a task cannot end after itself", {                              \
        struct starpu_task *t = task();                                        \
        starpu_task_declare_end_deps_array(t, 1, &t);                          \
    })                                                                         \
    X(ABORTS, "starpu_tag_declare_deps: tag 0x7 cannot wait for itself",       \
      starpu_tag_declare_deps(7, 2, (starpu_tag_t)8, (starpu_tag_t)7))         \
    X(ABORTS, "starpu_task_clean: task `k' was submitted and has not",         \
      starpu_task_clean(submitted()))                                          \
    X(ABORTS, "starpu_task_destroy: the task at ", destroy_twice())            \
    X(ABORTS, "starpu_task_destroy: the task at ",                             \
      starpu_task_destroy(ended()))                                            \
    X(REFUSED, "starpu_task_submit: the task at ",                             \
      expect(starpu_task_submit(ended()), -EINVAL))                            \
    X(ABORTS, "starpu_task_destroy: task `k' was submitted and has not",       \
      starpu_task_destroy(submitted()))                                        \
    X(REFUSED, "starpu_task_submit: task `k' was submitted and has not",       \
      expect(starpu_task_submit(submitted()), -EINVAL))                        \
    X(REFUSED, "starpu_task_submit: the task was not made by",                 \
      submit_what_was_not_made())                                              \
    X(REFUSED, "starpu_task_submit: task `k' has workerids_len = 2 and no", {  \
        struct starpu_task *t = task();                                        \
        t->workerids_len = 2;                                                  \
        expect(starpu_task_submit(t), -EINVAL);                                \
    })                                                                         \
    X(ABORTS, "starpu_task_clean: task `k' is in its callback", {              \
        struct starpu_task *t = task();                                        \
        t->destroy = 0;                                                        \
        t->callback_func = clean_itself;                                       \
        expect(starpu_task_submit(t), 0);                                      \
        starpu_task_wait_for_all();                                            \
    })                                                                         \
    X(ABORTS, "starpu_task_declare_deps_array: the array of tasks is NULL",    \
      starpu_task_declare_deps_array(task(), 1, no_tasks))                     \
    X(ABORTS,                                                                  \
      "starpu_task_declare_end_deps_array: the array of tasks is NULL",        \
      starpu_task_declare_end_deps_array(task(), 1, no_tasks))                 \
    X(ABORTS, "starpu_task_wait_array: the array of tasks is NULL",            \
      expect(starpu_task_wait_array(no_tasks, 1), 0))                          \
    X(ABORTS, "starpu_task_get_task_succs: the array of tasks is NULL",        \
      (void)starpu_task_get_task_succs(task(), 1, no_tasks))                   \
    X(ABORTS, "starpu_tag_declare_deps_array: the array of tags is NULL",      \
      starpu_tag_declare_deps_array(7, 1, no_tags))                            \
    X(ABORTS, "starpu_tag_wait_array: the array of tags is NULL",              \
      (void)starpu_tag_wait_array(1, no_tags))                                 \
    X(REFUSED, "no array, no tasks", {                                         \
        struct starpu_task *t = task();                                        \
        starpu_task_declare_deps_array(t, 0, no_tasks);                        \
        starpu_task_declare_end_deps_array(t, 0, no_tasks);                    \
        starpu_tag_declare_deps_array(7, 0, no_tags);                          \
        expect(starpu_task_wait_array(no_tasks, 0), 0);                        \
        expect(starpu_tag_wait_array(0, no_tags), 0);                          \
        expect(starpu_task_get_task_succs(t, 0, no_tasks), 0);                 \
        fprintf(stderr, "no array, no tasks\n");                               \
    })                                                                         \
    X(ABORTS, "starpu_task_bundle_insert: the bundle is NULL",                 \
      (void)starpu_task_bundle_insert(no_bundle, task()))                      \
    X(ABORTS, "starpu_task_bundle_insert: the task is NULL", {                 \
        starpu_task_bundle_t bundle;                                           \
        starpu_task_bundle_create(&bundle);                                    \
        (void)starpu_task_bundle_insert(bundle, NULL);                         \
    })                                                                         \
    X(ABORTS, "starpu_task_bundle_remove: the bundle is NULL",                 \
      (void)starpu_task_bundle_remove(no_bundle, task()))                      \
    X(ABORTS, "starpu_task_bundle_close: the bundle is NULL",                  \
      starpu_task_bundle_close(no_bundle))                                     \
    X(ABORTS, "starpu_sched_ctx_exec_parallel_code: the function is NULL",     \
      (void)starpu_sched_ctx_exec_parallel_code(NULL, NULL, 0))                \
    X(EXITS, "starpu_task_submit: task `k' has regenerate = 1: that needs", {  \
        struct starpu_task *t = task();                                        \
        t->regenerate = 1;                                                     \
        expect(starpu_task_submit(t), 0);                                      \
        starpu_task_wait_for_all();                                            \
    })                                                                         \
    X(REFUSED, "starpu_task_wait: the task is NULL",                           \
      expect(starpu_task_wait(NULL), -EINVAL))                                 \
    X(REFUSED, "starpu_task_wait: the task is synchronous", {                  \
        struct starpu_task *t = task();                                        \
        t->synchronous = 1;                                                    \
        t->destroy = 0;                                                        \
        expect(starpu_task_submit(t), 0);                                      \
        expect(starpu_task_wait(t), -EINVAL);                                  \
    })                                                                         \
    X(ABORTS, "starpu_task_ft_failed: the task is NULL",                       \
      starpu_task_ft_failed(NULL))                                             \
    X(ABORTS, "starpu_codelet_unpack_args: the task has no cl_arg", {          \
        int x;                                                                 \
        starpu_codelet_unpack_args(NULL, &x);                                  \
    })                                                                         \
    X(ABORTS, "the function is NULL",                                          \
      starpu_execute_on_each_worker(NULL, NULL, STARPU_CPU))                   \
    X(ABORTS, "starpu_transaction_close: the transaction is NULL",             \
      starpu_transaction_close(NULL))                                          \
    X(ABORTS, "starpu_transaction_next_epoch: the transaction is NULL",        \
      starpu_transaction_next_epoch(NULL, NULL))                               \
    X(ABORTS, "starpu_perf_counter_set_global_listener: the listener is NULL", \
      starpu_perf_counter_set_global_listener(NULL))                           \
    X(ABORTS, "starpu_perf_counter_listener_init: the set is NULL",            \
      starpu_perf_counter_listener_init(NULL, listener, NULL))                 \
    X(ABORTS, "starpu_perf_counter_listener_init: the callback is NULL",       \
      starpu_perf_counter_listener_init(starpu_perf_counter_set_alloc(SCOPE),  \
                                        NULL, NULL))                           \
    X(ABORTS, "here.c:7: the lock of worker 1, which starpu_worker_get_sched", \
      starpu_pthread_mutex_check_sched(sched_mutex(1), here, 7))               \
    X(REFUSED, "all is well", lock_as_is_right())                              \
    X(ABORTS, "mistakes.h:", STARPU_PTHREAD_MUTEX_LOCK(sched_mutex(0)))        \
    X(ABORTS, "lock of worker 0", STARPU_PTHREAD_MUTEX_UNLOCK(sched_mutex(0))) \
    X(ABORTS, "lock it by starpu_pthread_mutex_lock_sched",                    \
      (void)STARPU_PTHREAD_MUTEX_TRYLOCK(sched_mutex(0)))                      \
    X(ABORTS, "ORRERY_TEST_LESS='-3' is negative", {                           \
        setenv("ORRERY_TEST_LESS", "-3", 1);                                   \
        starpu_get_env_number("ORRERY_TEST_LESS");                             \
    })

#include "mistakes.h"

SUITE_MAIN(task_mistakes)
{
    return suite_main(mistakes_suite("task-mistakes"));
}
