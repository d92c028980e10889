/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-own-time.c - what the application does of its own is in the trace and
 * in the record whichever call it made before, also one that was refused: a table of
 * calls, before and after each of which it sleeps. No durations are compared but
 * that of a sleep, which is a lower bound.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"
#include "silence.h"

enum { SLEEP_US = 200, NPARTS = 2, FIRST_TAG = 1000, OTHER_TAG = 50 };

/* --- what calls are about --- */

static void nothing(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static struct starpu_codelet cl_k = {
    .cpu_funcs = {nothing}, .cuda_funcs = {nothing}, .name = "k"};
static struct starpu_codelet cl_one = {.cpu_funcs = {nothing},
                                       .cuda_funcs = {nothing},
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .name = "k"};
static struct starpu_codelet cl_init = {
    .cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_W}, .name = "k"};
static struct starpu_codelet cl_sum = {.cpu_funcs = {nothing},
                                       .nbuffers = 2,
                                       .modes = {STARPU_RW | STARPU_COMMUTE,
                                                 STARPU_R},
                                       .name = "k"};
/* Of a kind of device that neither machine has. */
static struct starpu_codelet cl_nowhere = {.opencl_funcs = {nothing},
                                           .name = "k"};

static struct starpu_data_filter halves = {
    .filter_func = starpu_vector_filter_block, .nchildren = NPARTS};

static int values[16], others[16];
static starpu_data_handle_t data, other, copy, parts[NPARTS];
static starpu_arbiter_t arbiter;
static struct starpu_task *kept;

static void register_ints(starpu_data_handle_t *handle, int *at)
{
    starpu_vector_data_register(handle, STARPU_MAIN_RAM, (uintptr_t)at, 16,
                                sizeof(int));
}

static struct starpu_task *task_of(struct starpu_codelet *cl)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->destroy = 0;
    task->detach = 0;
    return task;
}

/* Submits a task that is refused. */
static void refuse(struct starpu_task *task, int error)
{
    ck_assert_int_eq(starpu_task_submit(task), error);
    starpu_task_destroy(task);
}

static void set_up(void)
{
    register_ints(&data, values);
    register_ints(&other, others);
    kept = task_of(&cl_k);
    arbiter = starpu_arbiter_create();
}

static void tear_down(void)
{
    starpu_task_wait_for_all();
    starpu_data_unregister(data);
    starpu_data_unregister(other);
    starpu_task_destroy(kept);
    starpu_arbiter_destroy(arbiter);
}

/* --- the calls --- */

static void set_name(void)
{
    starpu_data_set_name(data, "a");
}

static void set_coordinates(void)
{
    starpu_data_set_coordinates(data, 2, 1, 2);
}

static void set_coordinates_array(void)
{
    int at[] = {1, 2};

    starpu_data_set_coordinates_array(data, 2, at);
}

static void set_sequential(void)
{
    starpu_data_set_sequential_consistency_flag(data, 1);
}

static void set_default_sequential(void)
{
    starpu_data_set_default_sequential_consistency_flag(1);
}

static void set_ooc(void)
{
    starpu_data_set_ooc_flag(data, 1);
}

static void set_wt_mask(void)
{
    starpu_data_set_wt_mask(data, 0);
}

static void advise(void)
{
    starpu_data_advise_as_important(data, 1);
}

static void assign_arbiter(void)
{
    starpu_data_assign_arbiter(other, arbiter);
}

static void set_reduction(void)
{
    starpu_data_set_reduction_methods(data, &cl_sum, &cl_init);
}

static void tag_declare(void)
{
    starpu_tag_declare_deps(OTHER_TAG, 1, (starpu_tag_t)(OTHER_TAG + 1));
}

static void tag_notify(void)
{
    starpu_tag_notify_from_apps(OTHER_TAG + 1);
}

static void tag_wait(void)
{
    ck_assert_int_eq(starpu_tag_wait(OTHER_TAG + 1), 0);
}

static void tag_wait_for_none(void)
{
    ck_assert_int_eq(starpu_tag_wait_array(0, NULL), 0);
}

static void tag_restart(void)
{
    starpu_tag_restart(OTHER_TAG);
}

static void tag_notify_restart(void)
{
    starpu_tag_notify_restart_from_apps(OTHER_TAG + 1);
}

static void tag_remove(void)
{
    starpu_tag_remove(OTHER_TAG);
}

static void set_limits(void)
{
    starpu_set_limit_min_submitted_tasks(10);
    starpu_set_limit_max_submitted_tasks(20);
}

static void push_iteration(void)
{
    starpu_iteration_push(1);
}

static void pop_iteration(void)
{
    starpu_iteration_pop();
}

static void schedule(void)
{
    starpu_do_schedule();
}

static void pause_all(void)
{
    starpu_pause();
}

static void resume_all(void)
{
    starpu_resume();
}

static void resume_in_vain(void)
{
    starpu_resume();
}

static void set_priorities(void)
{
    starpu_sched_set_min_priority(-1);
    starpu_sched_set_max_priority(1);
}

static void get_priorities(void)
{
    (void)starpu_sched_get_min_priority();
    (void)starpu_sched_get_max_priority();
}

static void declare_deps(void)
{
    struct starpu_task *task = task_of(&cl_k);

    starpu_task_declare_deps(task, 1, kept);
    starpu_task_declare_end_deps(task, 1, kept);
    starpu_task_destroy(task);
}

static void hold_end(void)
{
    struct starpu_task *task = task_of(&cl_k);

    starpu_task_end_dep_add(task, 1);
    ck_assert_int_eq(starpu_task_submit(task), 0);
    starpu_task_end_dep_release(task);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    starpu_task_destroy(task);
}

static void submit(void)
{
    ck_assert_int_eq(starpu_task_submit(kept), 0);
}

static void wait_for_task(void)
{
    ck_assert_int_eq(starpu_task_wait(kept), 0);
}

static void insert(void)
{
    ck_assert_int_eq(starpu_task_insert(&cl_one, STARPU_RW, data, 0), 0);
}

static void insert_nodeps(void)
{
    ck_assert_int_eq(starpu_task_submit_nodeps(kept), 0);
    ck_assert_int_eq(starpu_task_wait(kept), 0);
}

static void insert_synchronous(void)
{
    ck_assert_int_eq(
        starpu_task_insert(&cl_k, STARPU_TASK_SYNCHRONOUS, 1, 0), 0);
}

static void insert_refused(void)
{
    ck_assert_int_eq(starpu_task_insert(&cl_nowhere, 0), -ENODEV);
}

static void submit_null(void)
{
    ck_assert_int_eq(starpu_task_submit(NULL), -EINVAL);
}

static void submit_not_initialised(void)
{
    struct starpu_task task;

    memset(&task, 0, sizeof(task));
    ck_assert_int_eq(starpu_task_submit(&task), -EINVAL);
}

static void submit_without_data(void)
{
    refuse(task_of(&cl_one), -EINVAL);
}

static void submit_without_worker(void)
{
    refuse(task_of(&cl_nowhere), -ENODEV);
}

static void submit_to_no_context(void)
{
    struct starpu_task *task = task_of(&cl_k);

    ck_assert_int_eq(starpu_task_submit_to_ctx(task, 5), -EINVAL);
    starpu_task_destroy(task);
}

/* Its codelet has no place for the buffer more that it would need. */
static void submit_to_transaction(void)
{
    struct starpu_transaction *transaction =
        starpu_transaction_open(NULL, NULL);
    struct starpu_task *task = task_of(&cl_k);

    task->transaction = transaction;
    refuse(task, -EINVAL);
    starpu_transaction_close(transaction);
}

static void wait_for_null(void)
{
    ck_assert_int_eq(starpu_task_wait(NULL), -EINVAL);
}

static void wait_for_new(void)
{
    struct starpu_task *task = task_of(&cl_k);

    ck_assert_int_eq(starpu_task_wait(task), -EINVAL);
    starpu_task_destroy(task);
}

static void wait_for_detached(void)
{
    struct starpu_task task;

    starpu_task_init(&task);
    ck_assert_int_eq(starpu_task_wait(&task), -EINVAL);
    starpu_task_clean(&task);
}

static void wait_for_all(void)
{
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
}

static void wait_for_n(void)
{
    ck_assert_int_eq(starpu_task_wait_for_n_submitted(1), 0);
}

static void wait_in_context(void)
{
    ck_assert_int_eq(starpu_task_wait_for_all_in_ctx(0), 0);
}

static void wait_for_no_ready(void)
{
    ck_assert_int_eq(starpu_task_wait_for_no_ready(), 0);
}

static void execute_on_workers(void)
{
    starpu_execute_on_each_worker((void (*)(void *))free, NULL, STARPU_CPU);
}

static void wait_for_workers(void)
{
    starpu_worker_wait_for_initialisation();
}

static void acquire(void)
{
    ck_assert_int_eq(starpu_data_acquire(data, STARPU_R), 0);
}

static void try_in_vain(void)
{
    ck_assert_int_ne(starpu_data_acquire_try(data, STARPU_RW), 0);
}

static void release(void)
{
    starpu_data_release(data);
}

static void release_in_vain(void)
{
    starpu_data_release(data);
}

static void release_to(void)
{
    ck_assert_int_eq(starpu_data_acquire(data, STARPU_RW), 0);
    starpu_data_release_to(data, STARPU_R);
    starpu_data_release_to(data, STARPU_NONE);
}

static void release_later(void *handle)
{
    starpu_data_release(handle);
}

static void acquire_by_callback(void)
{
    ck_assert_int_eq(
        starpu_data_acquire_cb(data, STARPU_R, release_later, data), 0);
}

static void acquire_with_jobs(void)
{
    long before, after;

    ck_assert_int_eq(
        starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
            data, STARPU_MAIN_RAM, STARPU_R, NULL, release_later, data, 1, 0,
            &before, &after, 0),
        0);
}

static void acquire_null(void)
{
    ck_assert_int_eq(starpu_data_acquire(NULL, STARPU_R), -EINVAL);
}

static void acquire_on_no_node(void)
{
    ck_assert_int_eq(starpu_data_acquire_on_node(data, 60, STARPU_R), -EINVAL);
}

static void acquire_scratch(void)
{
    ck_assert_int_eq(starpu_data_acquire(data, STARPU_SCRATCH), -EINVAL);
}

static void fetch(void)
{
    ck_assert_int_eq(starpu_data_fetch_on_node(data, STARPU_MAIN_RAM, 0), 0);
    ck_assert_int_eq(starpu_data_prefetch_on_node(data, STARPU_MAIN_RAM, 1), 0);
}

static void fetch_on_no_node(void)
{
    ck_assert_int_eq(starpu_data_fetch_on_node(data, 60, 0), -EINVAL);
}

static void request_allocation(void)
{
    ck_assert_int_eq(starpu_data_request_allocation(data, STARPU_MAIN_RAM), 0);
}

static void wont_use(void)
{
    starpu_data_wont_use(data);
}

static void evict(void)
{
    ck_assert_int_ne(starpu_data_evict_from_node(data, STARPU_MAIN_RAM), 0);
}

static void invalidate(void)
{
    starpu_data_invalidate(data);
    starpu_data_invalidate_submit(data);
    starpu_data_deinitialize(data);
    starpu_data_deinitialize_submit(data);
}

/* Its value is used again by the calls that follow. */
static void write_value(void)
{
    ck_assert_int_eq(starpu_data_acquire(data, STARPU_W), 0);
    starpu_data_release(data);
}

static void copy_value(void)
{
    ck_assert_int_eq(starpu_data_cpy(other, data, 0, NULL, NULL), 0);
}

static void duplicate(void)
{
    ck_assert_int_eq(starpu_data_dup_ro(&copy, data, 0), 0);
}

static void register_and_drop(void)
{
    static int more[16];
    starpu_data_handle_t handle;

    register_ints(&handle, more);
    starpu_data_unregister_no_coherency(handle);
    register_ints(&handle, more);
    starpu_data_unregister_submit(handle);
}

static void unregister(void)
{
    starpu_data_unregister(copy);
}

static void partition(void)
{
    starpu_data_partition(data, &halves);
}

static void unpartition(void)
{
    starpu_data_unpartition(data, STARPU_MAIN_RAM);
}

static void plan(void)
{
    starpu_data_partition_plan(data, &halves, parts);
}

static void plan_submit(void)
{
    starpu_data_partition_submit(data, NPARTS, parts);
}

static void downgrade_plan(void)
{
    starpu_data_partition_readonly_downgrade_submit(data, NPARTS, parts);
}

static void plan_upgrade(void)
{
    starpu_data_partition_readwrite_upgrade_submit(data, NPARTS, parts);
}

static void plan_read_whole(void)
{
    starpu_data_unpartition_readonly_submit(data, NPARTS, parts, -1);
}

static void plan_end(void)
{
    starpu_data_unpartition_submit(data, NPARTS, parts, -1);
}

static void plan_read(void)
{
    starpu_data_partition_readonly_submit(data, NPARTS, parts);
}

static void plan_clean(void)
{
    starpu_data_partition_clean(data, NPARTS, parts);
}

static void allocate(void)
{
    void *memory;

    ck_assert_int_eq(starpu_malloc(&memory, 1 << 16), 0);
    starpu_free_noflag(memory, 1 << 16);
}

static void pin(void)
{
    ck_assert_int_eq(starpu_memory_pin(values, sizeof(values)), 0);
    ck_assert_int_eq(starpu_memory_unpin(values, sizeof(values)), 0);
}

static void wait_for_memory(void)
{
    starpu_memory_wait_available(STARPU_MAIN_RAM, 1);
}

static void register_no_disk(void)
{
    ck_assert_int_eq(starpu_disk_register(NULL, NULL, -1), -EINVAL);
}

static void make_context(void)
{
    int worker = 0;
    unsigned id = starpu_sched_ctx_create(&worker, 1, "a",
                                          STARPU_SCHED_CTX_POLICY_NAME,
                                          "eager", 0);

    starpu_sched_ctx_delete(id);
}

static void destroy_task(void)
{
    starpu_task_destroy(kept);
    kept = task_of(&cl_k);
}

static void destroy_null(void)
{
    starpu_task_destroy(NULL);
}

/* In this order: each finds what those before it have left. */
#define CALL(name) {#name, name}
static const struct {
    const char *name;
    void (*make)(void);
} calls[] = {
    CALL(set_name), CALL(set_coordinates), CALL(set_coordinates_array),
    CALL(set_sequential), CALL(set_default_sequential), CALL(set_ooc),
    CALL(set_wt_mask), CALL(advise), CALL(assign_arbiter), CALL(set_reduction),
    CALL(tag_declare), CALL(tag_notify), CALL(tag_wait),
    CALL(tag_wait_for_none), CALL(tag_restart), CALL(tag_notify_restart),
    CALL(tag_remove), CALL(set_limits), CALL(push_iteration),
    CALL(pop_iteration), CALL(schedule), CALL(pause_all), CALL(resume_all),
    CALL(resume_in_vain), CALL(set_priorities), CALL(get_priorities),
    CALL(declare_deps), CALL(hold_end), CALL(submit), CALL(wait_for_task),
    CALL(insert), CALL(insert_nodeps), CALL(insert_synchronous),
    CALL(insert_refused), CALL(submit_null), CALL(submit_not_initialised),
    CALL(submit_without_data), CALL(submit_without_worker),
    CALL(submit_to_no_context), CALL(submit_to_transaction),
    CALL(wait_for_null), CALL(wait_for_new), CALL(wait_for_detached),
    CALL(wait_for_all), CALL(wait_for_n), CALL(wait_in_context),
    CALL(wait_for_no_ready), CALL(execute_on_workers), CALL(wait_for_workers),
    CALL(acquire), CALL(try_in_vain), CALL(release), CALL(release_in_vain),
    CALL(release_to), CALL(acquire_by_callback), CALL(acquire_with_jobs),
    CALL(acquire_null), CALL(acquire_on_no_node), CALL(acquire_scratch),
    CALL(fetch), CALL(fetch_on_no_node), CALL(request_allocation),
    CALL(wont_use), CALL(evict), CALL(invalidate), CALL(write_value),
    CALL(copy_value), CALL(duplicate), CALL(unregister),
    CALL(register_and_drop), CALL(partition), CALL(unpartition), CALL(plan),
    CALL(plan_submit), CALL(downgrade_plan), CALL(plan_upgrade),
    CALL(plan_read_whole), CALL(plan_end), CALL(plan_read), CALL(plan_clean),
    CALL(allocate), CALL(pin), CALL(wait_for_memory),
    CALL(register_no_disk), CALL(make_context), CALL(destroy_task),
    CALL(destroy_null),
};
enum { NCALLS = sizeof(calls) / sizeof(*calls) };

/* --- the program --- */

static char folder[] = "/tmp/orrery-own-XXXXXX", trace[64], record[64];

/* What the application does between the two marks is its own. */
static void sleep_marked(const char *when, unsigned call, bool simulated)
{
    char text[32];

    snprintf(text, sizeof(text), "%s %u begin", when, call);
    starpu_fxt_trace_user_event_string(text);
    if (simulated)
        starpu_usleep(SLEEP_US);
    else
        usleep(SLEEP_US);
    snprintf(text, sizeof(text), "%s %u end", when, call);
    starpu_fxt_trace_user_event_string(text);
}

/* The call after each is one that is known to be heard, with a number of its own. */
static void run_all(int machine)
{
    strcpy(folder, "/tmp/orrery-own-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(trace, sizeof(trace), "%s/run.csv", folder);
    snprintf(record, sizeof(record), "%s/run.rec", folder);
    machine_choose(machine);
    if (machine_simulated(machine))
        setenv("ORRERY_ASSUME",
               "kernel[k] = 50us; kernel[starpu_data_cpy] = 20us", 1);
    setenv("ORRERY_TRACE", trace, 1);
    setenv("ORRERY_RECORD", record, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    set_up();
    for (unsigned i = 0; i < NCALLS; i++) {
        sleep_marked("before", i, machine_simulated(machine));
        silence_begin();
        calls[i].make();
        (void)silence_end();
        sleep_marked("after", i, machine_simulated(machine));
        starpu_tag_remove(FIRST_TAG + i);
    }
    tear_down();
    starpu_shutdown();
}

/* --- what it has left --- */

static FILE *file_of(const char *path)
{
    FILE *file = fopen(path, "r");

    ck_assert_ptr_nonnull(file);
    return file;
}

static void remove_files(void)
{
    unlink(trace);
    unlink(record);
    rmdir(folder);
}

/* In ms of the trace. */
struct span {
    double start, end;
};

struct seen {
    struct span marks[NCALLS][2]; /* before each call, and after it */
    struct span *own;
    unsigned n;
};

static void read_mark(struct seen *seen, double time, const char *text)
{
    char when[8], what[8];
    unsigned call;
    struct span *span;

    ck_assert_int_eq(sscanf(text, "%7s %u %7[a-z]", when, &call, what), 3);
    ck_assert_uint_lt(call, NCALLS);
    span = &seen->marks[call][!strcmp(when, "after")];
    *(!strcmp(what, "end") ? &span->end : &span->start) = time;
}

static void read_trace(struct seen *seen)
{
    FILE *file = file_of(trace);
    char line[512], text[256];
    struct span span;

    memset(seen, 0, sizeof(*seen));
    seen->own = calloc(1 << 16, sizeof(*seen->own));
    ck_assert_ptr_nonnull(seen->own);
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "mark,%lf,%*[^,],,,\"%255[^\"]", &span.start, text) ==
            2)
            read_mark(seen, span.start, text);
        else if (sscanf(line, "application,%lf,%lf", &span.start, &span.end) ==
                     2 &&
                 strstr(line, ",own,") && seen->n < 1 << 16)
            seen->own[seen->n++] = span;
    }
    fclose(file);
}

/* The end of the application's own time that contains the span, or -1. */
static double end_of_own(const struct seen *seen, const struct span *span)
{
    for (unsigned i = 0; i < seen->n; i++)
        if (seen->own[i].start <= span->start && span->end <= seen->own[i].end)
            return seen->own[i].end;
    return -1;
}

/* The names of calls of which something is missing, for one message. */
static char lacking[4096];

static void note_lacking(const char *what, unsigned call)
{
    size_t n = strlen(lacking);

    snprintf(lacking + n, sizeof(lacking) - n, " %s %s;", what,
             calls[call].name);
}

START_TEST(it_is_in_the_trace_after_each_call_and_ends_with_the_next)
{
    struct seen seen;

    run_all(_i);
    read_trace(&seen);
    remove_files();
    for (unsigned i = 0; i < NCALLS; i++) {
        double end = end_of_own(&seen, &seen.marks[i][0]);

        if (end < 0)
            note_lacking("before", i);
        if (end > seen.marks[i][1].start)
            note_lacking("during", i);
        if (end_of_own(&seen, &seen.marks[i][1]) < 0)
            note_lacking("after", i);
    }
    ck_assert_msg(!*lacking, "%s", lacking);
    free(seen.own);
}
END_TEST

/* Simulated, it sleeps by a call that has a line of its own. A call that has none
 * leaves its time to the next one. */
START_TEST(it_is_in_the_record_after_each_call)
{
    double own[NCALLS] = {0}, sum = 0;
    unsigned long long tag;
    char line[512];
    FILE *file;

    run_all(_i);
    file = file_of(record);
    while (fgets(line, sizeof(line), file)) {
        const char *at = strstr(line, " after=");

        sum += at ? atof(at + strlen(" after=")) : 0;
        if (!strncmp(line, "sleep us=", 9))
            sum += atof(line + 9);
        if (sscanf(line, "tag-remove %llu", &tag) == 1 && tag >= FIRST_TAG) {
            own[tag - FIRST_TAG] = sum;
            sum = 0;
        }
    }
    fclose(file);
    remove_files();
    for (unsigned i = 0; i < NCALLS; i++)
        if (own[i] < 2 * SLEEP_US)
            note_lacking("around", i);
    ck_assert_msg(!*lacking, "%s", lacking);
}
END_TEST

SUITE_MAIN(own_time)
{
    Suite *suite = suite_create("own-time");
    TCase *tcase = tcase_create("calls");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(
        tcase, it_is_in_the_trace_after_each_call_and_ends_with_the_next, 0,
        FIRST_SIMULATED + 1);
    tcase_add_loop_test(tcase, it_is_in_the_record_after_each_call, 0,
                        FIRST_SIMULATED + 1);
    suite_add_tcase(suite, tcase);
    return suite_main(suite);
}
