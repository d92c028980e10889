/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-task-calls.c - what is asked about tasks, lists of tasks, the
 * steps of task insertion, ends that wait, tags that are used again, iterations,
 * threads.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <orrery.h>

#include "machines.h"

static atomic_int nruns;

static void run(void *buffers[], void *arg)
{
    (void)buffers;
    atomic_fetch_add(&nruns, 1);
    if (arg)
        *(int *)arg = 1;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {run, run}, .cuda_funcs = {run, run}, .name = "k"};

static struct starpu_task *new_task(void)
{
    struct starpu_task *task = starpu_task_create();

    ck_assert_ptr_nonnull(task);
    task->cl = &cl;
    task->detach = 0;
    task->destroy = 0;
    return task;
}

static void submit(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static void wait_and_destroy(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_wait(task), 0);
    starpu_task_destroy(task);
}

/* --- questions --- */

static struct starpu_task *current;
static int current_node, twin_node, no_node;

static void look(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    current = starpu_task_get_current();
    current_node = starpu_task_get_current_data_node(0);
    twin_node = starpu_task_get_current_data_node(1);
    no_node = starpu_task_get_current_data_node(2);
}

START_TEST(tasks_have_names_and_implementations)
{
    static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                            .symbol = "a k model"};
    static struct starpu_codelet named = {.cpu_funcs = {look},
                                          .cuda_funcs = {look},
                                          .model = &model,
                                          .nbuffers = 2,
                                          .modes = {STARPU_RW, STARPU_R},
                                          .name = "k"};
    struct starpu_task *task;
    starpu_data_handle_t handle;
    int x = 0, last;

    machine_open(_i);
    last = (int)starpu_worker_get_count() - 1;
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    task = new_task();
    task->cl = &named;
    task->handles[0] = task->handles[1] = handle;
    task->execute_on_a_specific_worker = 1;
    task->workerid = (unsigned)last;
    ck_assert_str_eq(starpu_task_get_model_name(task), "a k model");
    ck_assert_str_eq(starpu_task_get_name(task), "k");
    task->name = "mine";
    ck_assert_str_eq(starpu_task_get_name(task), "mine");
    starpu_task_set_implementation(task, 2);
    ck_assert_uint_eq(starpu_task_get_implementation(task), 2);
    starpu_task_set_implementation(task, 0);
    ck_assert_ptr_null(starpu_task_get_current());
    ck_assert_int_eq(starpu_task_get_current_data_node(0), -1);
    submit(task);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_ptr_eq(current, task);
    ck_assert_int_eq(current_node,
                     (int)starpu_worker_get_memory_node((unsigned)last));
    ck_assert_int_eq(twin_node, current_node);
    ck_assert_int_eq(no_node, -1);
    starpu_task_destroy(task);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(a_duplicate_is_a_task_of_its_own)
{
    struct starpu_task *task, *dup;
    int ran[2] = {0};

    machine_open(_i);
    task = new_task();
    task->cl_arg = &ran[0];
    dup = starpu_task_dup(task);
    dup->cl_arg = &ran[1];
    ck_assert_int_eq(dup->destroy, task->destroy);
    submit(task);
    submit(dup);
    wait_and_destroy(task);
    wait_and_destroy(dup);
    ck_assert_int_eq(ran[0] + ran[1], 2);
    starpu_shutdown();
}
END_TEST

START_TEST(a_cleaned_task_can_be_made_anew)
{
    struct starpu_task task;

    machine_open(_i);
    for (int i = 1; i <= 3; i++) {
        starpu_task_init(&task);
        task.cl = &cl;
        task.detach = 0;
        submit(&task);
        ck_assert_int_eq(starpu_task_wait(&task), 0);
        starpu_task_clean(&task);
        ck_assert_ptr_null(task.starpu_private);
        ck_assert_int_eq(nruns, i);
    }
    starpu_shutdown();
}
END_TEST

/* --- submission and waiting --- */

START_TEST(tasks_are_submitted_in_other_ways)
{
    struct starpu_task *task[3];
    starpu_data_handle_t handle;
    int x = 0;

    machine_open(_i);
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    ck_assert_int_eq(starpu_insert_task(&cl, STARPU_TASK_SYNCHRONOUS, 1, 0), 0);
    ck_assert_int_eq(nruns, 1);
    for (int i = 0; i < 2; i++)
        task[i] = new_task();
    ck_assert_int_eq(starpu_task_submit_to_ctx(task[0], 0), 0);
    ck_assert_int_eq(starpu_task_submit_nodeps(task[1]), 0);
    task[2] = starpu_task_create_sync(handle, STARPU_RW);
    task[2]->detach = 0;
    task[2]->destroy = 0;
    starpu_pause();
    submit(task[2]);
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_array(task, 3), 0);
    for (int i = 0; i < 3; i++)
        starpu_task_destroy(task[i]);
    ck_assert_int_eq(nruns, 3);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(a_sync_task_waits_for_its_place_among_the_accesses)
{
    starpu_data_handle_t handle;
    struct starpu_task *task;
    int x = 0;

    machine_open(_i);
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_W), 0);
    task = starpu_task_create_sync(handle, STARPU_R);
    task->detach = 0;
    task->destroy = 0;
    submit(task);
    starpu_usleep(500);
    ck_assert_int_eq(starpu_task_finished(task), 0);
    starpu_data_release(handle);
    wait_and_destroy(task);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

static int nseen;

static void note_runs(void *arg)
{
    (void)arg;
    nseen = atomic_load(&nruns);
}

START_TEST(data_without_codelet_have_their_place_among_the_accesses)
{
    static struct starpu_codelet writes = {.cpu_funcs = {run},
                                           .cuda_funcs = {run},
                                           .nbuffers = 1,
                                           .modes = {STARPU_RW},
                                           .name = "k"};
    struct starpu_data_descr descr = {NULL, STARPU_RW};
    starpu_data_handle_t handle;
    struct starpu_task *task;
    int x = 0;

    machine_open(_i);
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    descr.handle = handle;
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_W), 0);
    task = starpu_task_build(NULL, STARPU_R, handle, 0);
    task->detach = 0;
    task->destroy = 0;
    submit(task);
    starpu_usleep(500);
    ck_assert_int_eq(starpu_task_finished(task), 0);
    starpu_data_release(handle);
    wait_and_destroy(task);
    /* Behind one write, and before the next. */
    ck_assert_int_eq(starpu_task_insert(&writes, STARPU_RW, handle, 0), 0);
    ck_assert_int_eq(starpu_task_insert(NULL, STARPU_DATA_MODE_ARRAY, &descr, 1,
                                        STARPU_EPILOGUE_CALLBACK, note_runs, 0),
                     0);
    ck_assert_int_eq(starpu_task_insert(&writes, STARPU_RW, handle, 0), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nseen, 1);
    ck_assert_int_eq(atomic_load(&nruns), 2);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(unfinished_tasks_are_counted)
{
    machine_open(_i);
    starpu_pause();
    for (int i = 0; i < 5; i++)
        starpu_task_insert(&cl, 0);
    ck_assert_int_eq(starpu_task_nsubmitted(), 5);
    ck_assert_int_eq(starpu_task_nready(), 5);
    ck_assert_int_eq(starpu_task_wait_for_n_submitted(5), 0);
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_n_submitted(2), 0);
    ck_assert_int_le(starpu_task_nsubmitted(), 2);
    starpu_task_wait_for_all();
    ck_assert_int_eq(starpu_task_nready(), 0);
    ck_assert_int_eq(nruns, 5);
    starpu_shutdown();
}
END_TEST

static int named_after_destroy;

static void destroy_own(void *arg)
{
    struct starpu_task *task = starpu_task_get_current();

    if (!task)
        task = *(struct starpu_task **)arg;
    starpu_task_destroy(task);
    named_after_destroy = task->name && !strcmp(task->name, "mine");
}

START_TEST(a_task_destroyed_in_its_callback_goes_after_it)
{
    struct starpu_task *task;

    machine_open(_i);
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    task = starpu_task_create();
    task->cl = &cl;
    task->name = "mine";
    task->destroy = 0;
    task->callback_func = destroy_own;
    task->callback_arg = &task;
    submit(task);
    starpu_task_wait_for_all();
    ck_assert_int_eq(named_after_destroy, 1);
    starpu_shutdown();
}
END_TEST

/* --- dependencies --- */

START_TEST(a_task_ends_after_others_and_after_releases)
{
    struct starpu_task *task, *other;

    machine_open(_i);
    task = new_task();
    other = new_task();
    starpu_task_declare_end_deps(task, 1, other);
    starpu_task_end_dep_add(task, 1);
    submit(task);
    while (atomic_load(&nruns) < 1)
        starpu_usleep(50);
    submit(other);
    ck_assert_int_eq(starpu_task_wait(other), 0);
    starpu_usleep(500);
    ck_assert_int_eq(starpu_task_finished(task), 0);
    starpu_task_end_dep_release(task);
    wait_and_destroy(task);
    starpu_task_destroy(other);
    starpu_shutdown();
}
END_TEST

static void refuse_to_wait(void *arg)
{
    ck_assert_int_eq(orrery_task_await(arg), -EDEADLK);
}

/* Detached as it is, and as often as one likes; threads of a real run, too. */
START_TEST(a_task_that_stays_is_awaited)
{
    struct starpu_task *task, *other;

    machine_open(_i);
    task = new_task();
    other = new_task();
    task->detach = other->detach = 1;
    ck_assert_int_eq(orrery_task_await(task), -EINVAL);
    ck_assert_int_eq(orrery_task_await(NULL), -EINVAL);
    starpu_task_end_dep_add(task, 1);
    submit(task);
    other->callback_func = refuse_to_wait;
    other->callback_arg = task;
    submit(other);
    ck_assert_int_eq(orrery_task_await(other), 0);
    starpu_task_end_dep_release(task);
    ck_assert_int_eq(orrery_task_await(task), 0);
    ck_assert_int_eq(task->status, STARPU_TASK_FINISHED);
    (void)orrery_task_await(task);
    starpu_task_destroy(task);
    starpu_task_destroy(other);
    starpu_shutdown();
}
END_TEST

static void *end_own_wait(void *arg)
{
    orrery_own_wait_end(&nruns);
    return arg;
}

/* A signal's handler in Python, a waker's thread in Rust. */
START_TEST(a_thread_of_nobodys_may_end_a_wait)
{
    pthread_t thread;

    machine_open(_i);
    orrery_own_wait_begin(&nruns);
    ck_assert_int_eq(pthread_create(&thread, NULL, end_own_wait, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    orrery_own_wait_end(&nruns);
    starpu_shutdown();
    orrery_own_wait_begin(&nruns);
    orrery_own_wait_end(&nruns);
}
END_TEST

START_TEST(successors_are_listed)
{
    struct starpu_task *first, *second, *found[4] = {NULL};

    machine_open(_i);
    first = new_task();
    second = new_task();
    starpu_task_declare_deps(second, 1, first);
    ck_assert_int_eq(starpu_task_get_task_succs(first, 4, found), 1);
    ck_assert_ptr_eq(found[0], second);
    ck_assert_int_eq(starpu_task_get_task_succs(second, 4, found), 0);
    ck_assert_int_eq(starpu_task_get_task_scheduled_succs(first, 4, found), 1);
    second->execute_on_a_specific_worker = 1; /* no policy gets it */
    ck_assert_int_eq(starpu_task_get_task_scheduled_succs(first, 4, found), 0);
    ck_assert_int_eq(starpu_task_get_task_succs(first, 4, found), 1);
    submit(second);
    submit(first);
    wait_and_destroy(first);
    wait_and_destroy(second);
    starpu_shutdown();
}
END_TEST

/* A writer that waits for the application, two readers, and who writes then. */
START_TEST(successors_by_data_are_listed)
{
    struct starpu_task *tasks[4], *found[4] = {NULL};
    starpu_data_handle_t handle;
    int value = 0;

    machine_open(_i);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    for (int i = 0; i < 4; i++) {
        tasks[i] =
            starpu_task_create_sync(handle, i % 3 ? STARPU_R : STARPU_RW);
        tasks[i]->destroy = tasks[i]->detach = 0;
        submit(tasks[i]);
    }
    ck_assert_int_eq(starpu_task_get_task_succs(tasks[0], 4, found), 2);
    ck_assert_ptr_eq(found[0], tasks[1]);
    ck_assert_ptr_eq(found[1], tasks[2]);
    ck_assert_int_eq(starpu_task_get_task_succs(tasks[2], 4, found), 1);
    ck_assert_ptr_eq(found[0], tasks[3]);
    ck_assert_int_eq(starpu_task_get_task_scheduled_succs(tasks[0], 4, found),
                     0);
    starpu_data_release(handle);
    for (int i = 0; i < 4; i++)
        wait_and_destroy(tasks[i]);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

static void note(void *arg)
{
    *(int *)arg = 1;
}

START_TEST(a_sync_task_of_tags_calls_back_after_all)
{
    starpu_tag_t tags[] = {1, 2}, both[] = {1, 3};
    int done = 0;

    machine_open(_i);
    starpu_create_sync_task(3, 2, tags, note, &done);
    starpu_tag_notify_from_apps(1);
    starpu_usleep(200);
    ck_assert_int_eq(done, 0);
    starpu_tag_notify_from_apps(2);
    ck_assert_int_eq(starpu_tag_wait_array(2, both), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(done, 1);
    starpu_shutdown();
}
END_TEST

/* A task with a tag that waits for tag 1; whether it has run after a while. */
static struct starpu_task *waiting(starpu_tag_t tag)
{
    struct starpu_task *task = new_task();

    starpu_tag_declare_deps(tag, 1, (starpu_tag_t)1);
    task->use_tag = 1;
    task->tag_id = tag;
    submit(task);
    starpu_usleep(500);
    return task;
}

START_TEST(a_restarted_tag_holds_back_again)
{
    struct starpu_task *task;

    machine_open(_i);
    ck_assert_ptr_null(starpu_tag_get_task((starpu_tag_t)2));
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    starpu_tag_restart((starpu_tag_t)1);
    task = waiting((starpu_tag_t)2);
    ck_assert_int_eq(starpu_task_finished(task), 0);
    ck_assert_ptr_eq(starpu_tag_get_task((starpu_tag_t)2), task);
    starpu_tag_notify_restart_from_apps((starpu_tag_t)1);
    wait_and_destroy(task);
    task = waiting((starpu_tag_t)3);
    ck_assert_int_eq(starpu_task_finished(task), 0);
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    wait_and_destroy(task);
    starpu_shutdown();
}
END_TEST

/* --- lists --- */

START_TEST(lists_keep_tasks_in_order)
{
    struct starpu_task t[4];
    struct starpu_task_list list, other;
    int n = 0;

    for (int i = 0; i < 4; i++)
        starpu_task_init(&t[i]);
    starpu_task_list_init(&list);
    memset(&other, 0xaa, sizeof(other)); /* it is written before it is read */
    ck_assert_int_eq(starpu_task_list_empty(&list), 1);
    ck_assert_ptr_null(starpu_task_list_front(&list));
    ck_assert_ptr_null(starpu_task_list_back(&list));
    starpu_task_list_push_back(&list, &t[1]);
    starpu_task_list_push_back(&list, &t[2]);
    starpu_task_list_push_front(&list, &t[0]);
    starpu_task_list_push_back(&list, &t[3]);
    ck_assert_int_eq(starpu_task_list_empty(&list), 0);
    ck_assert_ptr_eq(starpu_task_list_front(&list), &t[0]);
    ck_assert_ptr_eq(starpu_task_list_back(&list), &t[3]);
    for (struct starpu_task *at = starpu_task_list_begin(&list);
         at != starpu_task_list_end(&list); at = starpu_task_list_next(at))
        ck_assert_ptr_eq(at, &t[n++]);
    ck_assert_int_eq(n, 4);
    ck_assert_int_eq(starpu_task_list_ismember(&list, &t[2]), 1);
    starpu_task_list_erase(&list, &t[2]);
    ck_assert_int_eq(starpu_task_list_ismember(&list, &t[2]), 0);
    starpu_task_list_move(&other, &list);
    ck_assert_int_eq(starpu_task_list_empty(&list), 1);
    ck_assert_ptr_eq(starpu_task_list_pop_front(&other), &t[0]);
    ck_assert_ptr_eq(starpu_task_list_pop_back(&other), &t[3]);
    ck_assert_ptr_eq(starpu_task_list_pop_back(&other), &t[1]);
    ck_assert_int_eq(starpu_task_list_empty(&other), 1);
    memset(&other, 0xaa, sizeof(other));
    starpu_task_list_move(&other, &list);
    ck_assert_int_eq(starpu_task_list_empty(&other), 1);
}
END_TEST

/* --- the steps of insertion --- */

static void sum(void *buffers[], void *arg)
{
    int *total = arg;

    for (int i = 0; i < 12; i++)
        *total += *(int *)STARPU_VARIABLE_GET_PTR(buffers[i]);
}

START_TEST(a_task_of_many_buffers_is_built_step_by_step)
{
    static struct starpu_codelet many = {.cpu_funcs = {sum},
                                         .cuda_funcs = {sum},
                                         .nbuffers = STARPU_VARIABLE_NBUFFERS,
                                         .name = "k"};
    starpu_data_handle_t handles[12];
    struct starpu_data_descr descrs[4];
    struct starpu_task *task;
    int x[12], allocated = 0, n = 0, total = 0;

    machine_open(_i);
    for (int i = 0; i < 12; i++) {
        x[i] = 1 << i;
        starpu_variable_data_register(&handles[i], 0, (uintptr_t)&x[i],
                                      sizeof(x[i]));
    }
    task = new_task();
    task->cl = &many;
    task->cl_arg = &total;
    starpu_task_insert_data_process_arg(&many, task, &allocated, &n, STARPU_R,
                                        handles[0]);
    ck_assert_int_eq(n, 1);
    starpu_task_insert_data_make_room(&many, task, &allocated, n, 11);
    ck_assert_int_ge(allocated, 12);
    for (int i = 1; i < 8; i++)
        starpu_task_insert_data_process_arg(&many, task, &allocated, &n,
                                            STARPU_R, handles[i]);
    for (int i = 0; i < 4; i++)
        descrs[i] = (struct starpu_data_descr){handles[8 + i], STARPU_R};
    starpu_task_insert_data_process_mode_array_arg(&many, task, &allocated, &n,
                                                   4, descrs);
    ck_assert_int_eq(n, 12);
    task->nbuffers = n;
    submit(task);
    wait_and_destroy(task);
    ck_assert_int_eq(total, (1 << 12) - 1);
    for (int i = 0; i < 12; i++)
        starpu_data_unregister(handles[i]);
    starpu_shutdown();
}
END_TEST

START_TEST(an_array_of_handles_has_the_codelets_modes)
{
    static struct starpu_codelet two = {
        .cpu_funcs = {run}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}};
    starpu_data_handle_t handles[2];
    struct starpu_task *task;
    int x[2] = {0}, allocated = 0, n = 0;

    machine_open(_i);
    for (int i = 0; i < 2; i++)
        starpu_variable_data_register(&handles[i], 0, (uintptr_t)&x[i],
                                      sizeof(x[i]));
    task = new_task();
    task->cl = &two;
    starpu_task_insert_data_process_array_arg(&two, task, &allocated, &n, 2,
                                              handles);
    ck_assert_int_eq(n, 2);
    ck_assert_ptr_eq(STARPU_TASK_GET_HANDLE(task, 1), handles[1]);
    starpu_task_destroy(task);
    for (int i = 0; i < 2; i++)
        starpu_data_unregister(handles[i]);
    starpu_shutdown();
}
END_TEST

/* --- data --- */

/* shows starpu_vector_get_nx */
START_TEST(data_are_registered_like_others_and_with_memory_on_a_node)
{
    int x[4] = {1, 2, 3, 4};
    starpu_data_handle_t handle, same;
    unsigned last;
    uintptr_t memory;
    void *counted = NULL;
    size_t used;

    machine_open(_i);
    last = starpu_memory_nodes_get_count() - 1;
    starpu_vector_data_register(&handle, 0, (uintptr_t)x, 4, sizeof(int));
    starpu_data_register_same(&same, handle);
    ck_assert_uint_eq(starpu_vector_get_nx(same), 4);
    ck_assert_uint_eq(starpu_vector_get_elemsize(same), sizeof(int));
    ck_assert_int_eq(starpu_data_get_home_node(same), -1);
    if (last > 0) {
        memory = starpu_malloc_on_node(last, sizeof(x));
        ck_assert_uint_ne(memory, 0);
        starpu_data_ptr_register(handle, last);
        ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(handle, last),
                          1);
        starpu_free_on_node(last, memory, sizeof(x));
    }
    used = starpu_memory_get_used(0);
    ck_assert_int_eq(starpu_malloc_flags(&counted, 4096, STARPU_MALLOC_COUNT),
                     0);
    ck_assert_uint_eq(starpu_memory_get_used(0), used + 4096);
    ck_assert_int_eq(starpu_free_flags(counted, 4096, STARPU_MALLOC_COUNT), 0);
    ck_assert_uint_eq(starpu_memory_get_used(0), used);
    starpu_data_unregister(same);
    starpu_data_unregister_no_coherency(handle);
    starpu_shutdown();
}
END_TEST

/* --- small things --- */

START_TEST(times_add_up)
{
    struct timespec a = {1, 900000000}, b = {0, 200000000}, c = {9, 9};

    starpu_timespec_clear(&c);
    ck_assert_int_eq(c.tv_sec + c.tv_nsec, 0);
    starpu_timespec_add(&a, &b, &c);
    ck_assert_int_eq(c.tv_sec, 2);
    ck_assert_int_eq(c.tv_nsec, 100000000);
    starpu_timespec_accumulate(&c, &b);
    ck_assert_int_eq(c.tv_nsec, 300000000);
    starpu_timespec_sub(&c, &a, &c);
    ck_assert_int_eq(c.tv_sec, 0);
    ck_assert_int_eq(c.tv_nsec, 400000000);
    ck_assert(starpu_timespec_cmp(&b, &a, <));
}
END_TEST

START_TEST(variables_have_defaults)
{
    setenv("ORRERY_TEST_VALUE", "2.5", 1);
    ck_assert_double_eq(
        (double)starpu_get_env_float_default("ORRERY_TEST_VALUE", 1), 2.5);
    ck_assert_double_eq(
        (double)starpu_get_env_float_default("ORRERY_TEST_NONE", 1), 1);
    setenv("ORRERY_TEST_VALUE", "-4", 1);
    ck_assert_int_eq(starpu_get_env_number_default("ORRERY_TEST_VALUE", 7), -4);
    ck_assert_int_eq(starpu_get_env_number_default("ORRERY_TEST_NONE", 7), 7);
}
END_TEST

static starpu_pthread_mutex_t mutex;
static starpu_pthread_cond_t cond;
static int go, ngone;

static void *wait_for_go(void *arg)
{
    (void)arg;
    STARPU_PTHREAD_MUTEX_LOCK(&mutex);
    while (!go)
        STARPU_PTHREAD_COND_WAIT(&cond, &mutex);
    ngone++;
    STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
    return NULL;
}

START_TEST(threads_wait_for_a_broadcast)
{
    starpu_pthread_t threads[3];
    starpu_pthread_rwlock_t rwlock;
    starpu_pthread_spinlock_t spin;

    machine_open(_i);
    STARPU_PTHREAD_MUTEX_INIT(&mutex, NULL);
    STARPU_PTHREAD_COND_INIT(&cond, NULL);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(starpu_pthread_create_on("t", &threads[i], NULL,
                                                  wait_for_go, NULL, NULL),
                         0);
    starpu_usleep(200);
    STARPU_PTHREAD_MUTEX_LOCK(&mutex);
    go = 1;
    ck_assert_int_eq(starpu_pthread_cond_broadcast(&cond), 0);
    STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
    for (int i = 0; i < 3; i++)
        STARPU_PTHREAD_JOIN(threads[i], NULL);
    ck_assert_int_eq(ngone, 3);
    ck_assert_int_eq(starpu_pthread_rwlock_init(&rwlock, NULL), 0);
    STARPU_PTHREAD_RWLOCK_RDLOCK(&rwlock);
    ck_assert_int_eq(starpu_pthread_rwlock_trywrlock(&rwlock), EBUSY);
    STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
    starpu_pthread_spin_init(&spin, 0);
    ck_assert_int_eq(starpu_pthread_spin_trylock(&spin), 0);
    ck_assert_int_eq(starpu_pthread_spin_trylock(&spin), EBUSY);
    starpu_pthread_spin_unlock(&spin);
    starpu_shutdown();
}
END_TEST

/* shows starpu_pthread_wait_reset */
START_TEST(waiting_for_queues_ends_at_a_time)
{
    starpu_pthread_queue_t queue;
    starpu_pthread_wait_t wait;
    struct timespec past = {0, 0}, far = {1 << 30, 0};

    machine_open(_i);
    starpu_pthread_queue_init(&queue);
    starpu_pthread_wait_init(&wait);
    starpu_pthread_queue_register(&wait, &queue);
    ck_assert_int_eq(starpu_pthread_wait_reset(&wait), 0);
    ck_assert_int_eq(starpu_pthread_wait_timedwait(&wait, &past), ETIMEDOUT);
    starpu_pthread_queue_signal(&queue);
    ck_assert_int_eq(starpu_pthread_wait_timedwait(&wait, &far), 0);
    /* Signals of before are forgotten. */
    ck_assert_int_eq(starpu_pthread_wait_reset(&wait), 0);
    ck_assert_int_eq(starpu_pthread_wait_timedwait(&wait, &past), ETIMEDOUT);
    starpu_pthread_queue_unregister(&wait, &queue);
    starpu_pthread_wait_destroy(&wait);
    starpu_pthread_queue_destroy(&queue);
    starpu_shutdown();
}
END_TEST

/* Opens a machine with a second scheduling context, which becomes the caller's. */
static void begin_iteration_in_first_context(int i)
{
    int worker = 0;
    unsigned ctx;

    machine_open(i);
    starpu_iteration_push(3);
    starpu_iteration_push(4);
    starpu_iteration_pop();
    ctx = starpu_sched_ctx_create(&worker, 1, "other",
                                  STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
    starpu_sched_ctx_set_context(&ctx);
}

START_TEST(each_context_has_loops_of_its_own)
{
    unsigned first = 0;

    begin_iteration_in_first_context(_i);
    starpu_iteration_push(5);
    starpu_iteration_pop();
    starpu_sched_ctx_set_context(&first);
    starpu_iteration_pop();
    starpu_shutdown();
}
END_TEST

START_TEST(an_iteration_that_has_not_begun_does_not_end)
{
    begin_iteration_in_first_context(_i);
    starpu_iteration_pop();
}
END_TEST

SUITE_MAIN(task_calls)
{
    Suite *suite = suite_create("task calls");
    TCase *each = tcase_create("on each machine");
    TCase *once = tcase_create("once");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, once);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(tasks_have_names_and_implementations);
    EACH(a_duplicate_is_a_task_of_its_own);
    EACH(a_cleaned_task_can_be_made_anew);
    EACH(tasks_are_submitted_in_other_ways);
    EACH(a_sync_task_waits_for_its_place_among_the_accesses);
    EACH(data_without_codelet_have_their_place_among_the_accesses);
    EACH(a_task_destroyed_in_its_callback_goes_after_it);
    EACH(unfinished_tasks_are_counted);
    EACH(a_task_ends_after_others_and_after_releases);
    EACH(a_task_that_stays_is_awaited);
    EACH(a_thread_of_nobodys_may_end_a_wait);
    EACH(successors_are_listed);
    EACH(successors_by_data_are_listed);
    EACH(a_sync_task_of_tags_calls_back_after_all);
    EACH(a_restarted_tag_holds_back_again);
    EACH(a_task_of_many_buffers_is_built_step_by_step);
    EACH(an_array_of_handles_has_the_codelets_modes);
    EACH(data_are_registered_like_others_and_with_memory_on_a_node);
    EACH(threads_wait_for_a_broadcast);
    EACH(waiting_for_queues_ends_at_a_time);
    EACH(each_context_has_loops_of_its_own);
    tcase_add_loop_test_raise_signal(
        each, an_iteration_that_has_not_begun_does_not_end, SIGABRT, 0,
        NMACHINES);
    tcase_add_test(once, lists_keep_tasks_in_order);
    tcase_add_test(once, times_add_up);
    tcase_add_test(once, variables_have_defaults);
    return suite_main(suite);
}
