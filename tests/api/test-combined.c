/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-combined.c - combined workers and the tasks that they execute: who
 * runs the kernel, what it learns, hooks of policies, gangs beside gangs and single
 * tasks with priorities. Four processors, real and simulated.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

enum { NCPUS = 4 };

static atomic_int ncalls, ranks, ids[STARPU_NMAXWORKERS], wrong;
static int expected_id, expected_size;

static void note(void *buffers[], void *arg)
{
    int rank = starpu_combined_worker_get_rank();

    (void)arg;
    ncalls++;
    ranks |= 1 << rank;
    ids[starpu_worker_get_id()]++;
    wrong += starpu_combined_worker_get_id() != expected_id;
    wrong += starpu_combined_worker_get_size() != expected_size;
    wrong += starpu_task_get_current()->cl->cpu_funcs[0] != note;
    if (buffers && rank == 0)
        ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static double length_of(struct starpu_task *task,
                        struct starpu_perfmodel_arch *arch, unsigned impl)
{
    (void)task;
    (void)impl;
    return 120.0 / arch->devices[0].ncores;
}

static struct starpu_perfmodel scales = {.type = STARPU_PER_ARCH,
                                         .arch_cost_function = length_of};

static struct starpu_codelet spmd = {.cpu_funcs = {note},
                                     .type = STARPU_SPMD,
                                     .max_parallelism = NCPUS,
                                     .model = &scales,
                                     .nbuffers = 1,
                                     .modes = {STARPU_RW},
                                     .name = "spmd"};
static struct starpu_codelet forkjoin = {.cpu_funcs = {note},
                                         .type = STARPU_FORKJOIN,
                                         .max_parallelism = NCPUS,
                                         .model = &scales,
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .name = "forkjoin"};
static struct starpu_codelet sequential = {.cpu_funcs = {note},
                                           .model = &scales,
                                           .nbuffers = 1,
                                           .modes = {STARPU_RW},
                                           .name = "sequential"};

static int value;
static starpu_data_handle_t handle;

static void open_with(int machine, const char *policy)
{
    machine_choose(machine);
    setenv("STARPU_NCPU", "4", 1);
    setenv("STARPU_NCUDA", "0", 1);
    if (policy)
        setenv("STARPU_SCHED", policy, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    value = 0;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
}

static void close_all(void)
{
    starpu_data_unregister(handle);
    starpu_shutdown();
    ck_assert_int_eq(wrong, 0);
}

/* What the next tasks see. */
static void expect(int id, int size)
{
    ncalls = ranks = 0;
    memset(ids, 0, sizeof(ids));
    expected_id = id;
    expected_size = size;
}

static int make(int n, int a, int b, int c)
{
    int members[] = {a, b, c};

    return starpu_combined_worker_assign_workerid(n, members);
}

static int submit_to(struct starpu_codelet *cl, int worker)
{
    return starpu_task_insert(cl, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
                              worker, 0);
}

START_TEST(combined_workers_are_described)
{
    int size, *members, empty[1] = {0}, id;

    open_with(_i, NULL);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 0);
    ck_assert_int_eq(make(3, 3, 0, 2), (int)starpu_worker_get_count());
    id = make(2, 1, 2, 0);
    ck_assert_int_eq(id, (int)starpu_worker_get_count() + 1);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 2);
    ck_assert_uint_eq(starpu_worker_is_combined_worker(id), 1);
    ck_assert_uint_eq(starpu_worker_is_combined_worker(id + 1), 0);
    ck_assert_uint_eq(starpu_worker_is_combined_worker(0), 0);
    ck_assert_int_eq(
        starpu_combined_worker_get_description(id - 1, &size, &members), 0);
    ck_assert_int_eq(size, 3);
    ck_assert_int_eq(members[0], 0);
    ck_assert_int_eq(members[1], 2);
    ck_assert_int_eq(members[2], 3);
    ck_assert_int_eq(starpu_combined_worker_get_description(id, NULL, NULL), 0);
    ck_assert_uint_eq(starpu_worker_get_memory_node((unsigned)id), 0);
    ck_assert_int_eq(
        starpu_worker_get_perf_archtype(id, 0)->devices[0].ncores, 2);
    ck_assert_int_eq(make(2, 1, 1, 0), -EINVAL);
    ck_assert_int_eq(make(2, 1, NCPUS, 0), -EINVAL);
    ck_assert_int_eq(make(2, -1, 1, 0), -EINVAL);
    ck_assert_int_eq(starpu_combined_worker_assign_workerid(0, empty), -EINVAL);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 2);
    close_all();
}
END_TEST

START_TEST(who_can_execute_what_is_known)
{
    struct starpu_task *task;
    int two, three;

    open_with(_i, NULL);
    two = make(2, 0, 1, 0);
    three = make(3, 0, 1, 2);
    task = starpu_task_create();
    task->cl = &spmd;
    task->handles[0] = handle;
    spmd.max_parallelism = 2;
    ck_assert(starpu_combined_worker_can_execute_task((unsigned)two, task, 0));
    ck_assert(!starpu_combined_worker_can_execute_task((unsigned)two, task, 1));
    ck_assert(
        !starpu_combined_worker_can_execute_task((unsigned)three, task, 0));
    ck_assert(starpu_combined_worker_can_execute_task(0, task, 0));
    ck_assert(!starpu_worker_can_execute_task((unsigned)two, task, 0));
    task->cl = &sequential;
    ck_assert(!starpu_combined_worker_can_execute_task((unsigned)two, task, 0));
    starpu_task_destroy(task);
    ck_assert_int_eq(submit_to(&sequential, two), -ENODEV);
    ck_assert_int_eq(submit_to(&spmd, three), -ENODEV);
    ck_assert_int_eq(submit_to(&spmd, three + 1), -ENODEV);
    expect(two, 2);
    ck_assert_int_eq(submit_to(&spmd, two), 0);
    close_all();
    ck_assert_int_eq(ncalls, 2);
    ck_assert_int_eq(value, 1);
}
END_TEST

START_TEST(each_member_runs_an_spmd_kernel)
{
    int id;

    open_with(_i, NULL);
    id = make(3, 3, 0, 2);
    expect(id, 3);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(submit_to(&spmd, id), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(ncalls, 60);
    ck_assert_int_eq(ranks, 7);
    ck_assert_int_eq(ids[0], 20);
    ck_assert_int_eq(ids[1], 0);
    ck_assert_int_eq(ids[2], 20);
    ck_assert_int_eq(ids[3], 20);
    close_all();
    ck_assert_int_eq(value, 20);
}
END_TEST

START_TEST(the_first_member_runs_a_forkjoin_kernel)
{
    int id;

    open_with(_i, NULL);
    id = make(3, 3, 1, 2);
    expect(id, 3);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(submit_to(&forkjoin, id), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(ncalls, 20);
    ck_assert_int_eq(ranks, 1);
    ck_assert_int_eq(ids[1], 20);
    close_all();
    ck_assert_int_eq(value, 20);
}
END_TEST

START_TEST(a_bit_of_workerids_names_a_combined_worker)
{
    uint32_t bits[STARPU_NMAXWORKERS / 32] = {0};
    int id;

    open_with(_i, NULL);
    (void)make(2, 0, 1, 0);
    id = make(2, 2, 3, 0);
    bits[id / 32] = 1U << id % 32;
    expect(id, 2);
    ck_assert_int_eq(
        starpu_task_insert(&spmd, STARPU_RW, handle, STARPU_TASK_WORKERIDS,
                           (unsigned)(sizeof(bits) / sizeof(*bits)), bits, 0),
        0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(ncalls, 2);
    ck_assert_int_eq(ids[2], 1);
    ck_assert_int_eq(ids[3], 1);
    close_all();
}
END_TEST

static void note_alone(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ncalls++;
    wrong += starpu_combined_worker_get_id() != starpu_worker_get_id();
    wrong += starpu_combined_worker_get_size() != 1;
    wrong += starpu_combined_worker_get_rank() != 0;
}

static struct starpu_codelet alone = {.cpu_funcs = {note_alone},
                                      .type = STARPU_SPMD,
                                      .max_parallelism = NCPUS,
                                      .model = &scales,
                                      .name = "alone"};

START_TEST(other_policies_give_a_parallel_task_to_one_worker)
{
    open_with(_i, NULL);
    (void)make(2, 0, 1, 0);
    expect(0, 0);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(starpu_task_insert(&alone, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(ncalls, 20);
    close_all();
}
END_TEST

/* --- a task that is submitted again, callbacks, profiling --- */

static atomic_int nbefore, nafter;

static void before(void *arg)
{
    (void)arg;
    nbefore++;
}

static void after(void *arg)
{
    (void)arg;
    nafter++;
    wrong += starpu_task_get_current()->workerid != (unsigned)expected_id;
}

START_TEST(a_parallel_task_ends_once_and_runs_again)
{
    struct starpu_task *task;
    int id;

    open_with(_i, NULL);
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    id = make(3, 1, 2, 3);
    expect(id, 3);
    nbefore = nafter = 0;
    task = starpu_task_create();
    task->cl = &spmd;
    task->handles[0] = handle;
    task->execute_on_a_specific_worker = 1;
    task->workerid = (unsigned)id;
    task->prologue_callback_pop_func = before;
    task->callback_func = after;
    task->detach = 0;
    task->destroy = 0;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(starpu_task_submit(task), 0);
        ck_assert_int_eq(starpu_task_wait(task), 0);
        ck_assert_int_eq(task->profiling_info->workerid, 1);
    }
    starpu_task_destroy(task);
    close_all();
    ck_assert_int_eq(ncalls, 9);
    ck_assert_int_eq(nbefore, 3);
    ck_assert_int_eq(nafter, 3);
    ck_assert_int_eq(value, 3);
}
END_TEST

/* --- gangs beside gangs, single tasks, priorities --- */

static int combined[4];

static void count(void *buffers[], void *arg)
{
    (void)arg;
    ncalls++;
    if (buffers && starpu_combined_worker_get_rank() == 0)
        ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet some[] = {
    {.cpu_funcs = {count},
     .type = STARPU_SPMD,
     .max_parallelism = NCPUS,
     .model = &scales,
     .nbuffers = 1,
     .modes = {STARPU_RW}},
    {.cpu_funcs = {count},
     .type = STARPU_FORKJOIN,
     .max_parallelism = NCPUS,
     .model = &scales,
     .nbuffers = 1,
     .modes = {STARPU_RW}},
    {.cpu_funcs = {count},
     .model = &scales,
     .nbuffers = 1,
     .modes = {STARPU_RW}},
};

enum { NVALUES = 6 };

START_TEST(gangs_that_overlap_do_not_wait_for_each_other)
{
    int values[NVALUES] = {0}, done[NVALUES] = {0}, ntasks = 600;
    starpu_data_handle_t handles[NVALUES];
    unsigned seed = 7;

    open_with(_i, NULL);
    combined[0] = make(2, 0, 1, 0);
    combined[1] = make(2, 1, 2, 0);
    combined[2] = make(3, 0, 2, 3);
    combined[3] = make(3, 1, 2, 3);
    for (int i = 0; i < NVALUES; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&values[i], sizeof(int));
    for (int i = 0; i < ntasks; i++) {
        int which = (int)(seed = seed * 1103515245 + 12345, seed >> 16) % 3;
        int h = (int)(seed >> 8) % NVALUES, c = (int)(seed >> 20) % 4;

        done[h]++;
        ck_assert_int_eq(
            starpu_task_insert(
                &some[which], STARPU_RW, handles[h], STARPU_EXECUTE_ON_WORKER,
                which == 2 ? c : combined[c], STARPU_PRIORITY,
                (int)(seed >> 24) % 3, 0),
            0);
    }
    for (int i = 0; i < NVALUES; i++) {
        starpu_data_unregister(handles[i]);
        ck_assert_int_eq(values[i], done[i]);
    }
    close_all();
}
END_TEST

/* --- a policy of the application that makes gangs --- */

static struct starpu_task_list waiting;
static starpu_pthread_mutex_t mutex;
static atomic_int npre, npost, nnotified;

static void policy_init(unsigned ctx)
{
    (void)ctx;
    starpu_task_list_init(&waiting);
    starpu_pthread_mutex_init(&mutex, NULL);
}

static void policy_deinit(unsigned ctx)
{
    (void)ctx;
    starpu_pthread_mutex_destroy(&mutex);
}

/* By the number of a combined worker, or by the number of workers. */
static int policy_push(struct starpu_task *task)
{
    int size = 2, *members = NULL, two[] = {1, 2};
    struct starpu_task *aliases[NCPUS];

    if (task->priority) {
        starpu_parallel_task_barrier_init(task, expected_id);
        starpu_combined_worker_get_description(expected_id, &size, &members);
    } else {
        starpu_parallel_task_barrier_init_n(task, size);
        members = two;
    }
    for (int i = 0; i < size; i++) {
        aliases[i] = starpu_task_dup(task);
        wrong += aliases[i] == task || aliases[i]->cl != task->cl;
    }
    wrong += starpu_task_dup(task) != NULL;
    /* When all have been pushed the task may be gone. */
    starpu_pthread_mutex_lock(&mutex);
    for (int i = 0; i < size; i++)
        wrong += starpu_push_local_task(members[i], aliases[i], 0) != 0;
    starpu_pthread_mutex_unlock(&mutex);
    return 0;
}

static struct starpu_task *policy_pop(unsigned ctx)
{
    (void)ctx;
    return NULL;
}

static void policy_pre(struct starpu_task *task, unsigned ctx)
{
    (void)ctx;
    npre++;
    wrong += task->cl != &spmd;
}

static void policy_post(struct starpu_task *task, unsigned ctx)
{
    (void)ctx;
    npost++;
    wrong += task->cl != &spmd;
}

static void policy_notify(struct starpu_task *task, int worker, int perf,
                          unsigned ctx)
{
    (void)task;
    (void)ctx;
    nnotified++;
    wrong += perf != expected_id || worker >= NCPUS;
}

static struct starpu_sched_policy gangs = {
    .init_sched = policy_init,
    .deinit_sched = policy_deinit,
    .push_task = policy_push,
    .pop_task = policy_pop,
    .pre_exec_hook = policy_pre,
    .post_exec_hook = policy_post,
    .push_task_notify = policy_notify,
    .policy_name = "gangs",
};

static void open_gangs(int machine)
{
    struct starpu_conf conf;

    machine_choose(machine);
    setenv("STARPU_NCPU", "4", 1);
    setenv("STARPU_NCUDA", "0", 1);
    unsetenv("STARPU_SCHED");
    starpu_conf_init(&conf);
    conf.sched_policy = &gangs;
    ck_assert_int_eq(starpu_init(&conf), 0);
    value = 0;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
}

static int insert(int priority)
{
    return starpu_task_insert(&spmd, STARPU_RW, handle, STARPU_PRIORITY,
                              priority, 0);
}

START_TEST(a_policy_of_the_application_makes_gangs)
{
    open_gangs(_i);
    expect(make(3, 0, 1, 3), 3);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(insert(1), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(ncalls, 30);
    ck_assert_int_eq(ranks, 7);
    ck_assert_int_eq(ids[3], 10);
    ck_assert_int_eq(npre, 30);
    ck_assert_int_eq(npost, 30);
    ck_assert_int_eq(nnotified, 0);
    /* One that names its worker goes past the policy. */
    ck_assert_int_eq(submit_to(&spmd, expected_id), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(nnotified, 3);
    ck_assert_int_eq(npost, 33);
    ck_assert_int_eq(wrong, 0);
    /* So many workers, no combined one: each has its own number. */
    expect(-2, 2);
    ck_assert_int_eq(insert(0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(ncalls, 2);
    ck_assert_int_eq(ranks, 3);
    ck_assert_int_eq(wrong, 2);
    wrong = 0;
    close_all();
    ck_assert_int_eq(value, 12);
}
END_TEST

/* --- contexts without policy whose workers are awake --- */

static unsigned awake_ctx;
static atomic_int positions;

static void note_awake(void *buffers[], void *arg)
{
    (void)arg;
    ncalls++;
    ranks |= 1 << starpu_combined_worker_get_rank();
    positions |= 1 << starpu_sched_ctx_get_worker_rank(awake_ctx);
    ids[starpu_worker_get_id()]++;
    wrong += starpu_combined_worker_get_id() != starpu_worker_get_id();
    wrong += starpu_combined_worker_get_size() != 1;
    if (starpu_combined_worker_get_rank() == 0)
        ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet awake_seq = {.cpu_funcs = {note_awake},
                                          .model = &scales,
                                          .nbuffers = 1,
                                          .modes = {STARPU_RW},
                                          .name = "awake"};

START_TEST(awake_workers_execute_each_task_together)
{
    int members[] = {0, 2, 3};
    unsigned awake;

    open_with(_i, NULL);
    expect(0, 0);
    positions = 0;
    awake_ctx = starpu_sched_ctx_create(members, 3, "awake",
                                        STARPU_SCHED_CTX_AWAKE_WORKERS, 0);
    ck_assert_uint_eq(starpu_sched_ctx_has_starpu_scheduler(awake_ctx, &awake),
                      0);
    ck_assert_uint_eq(awake, 1);
    ck_assert_uint_eq(starpu_worker_is_blocked_in_parallel(2), 0);
    ck_assert_int_eq(starpu_sched_ctx_get_worker_rank(awake_ctx), -1);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(starpu_task_insert(&awake_seq, STARPU_RW, handle,
                                            STARPU_SCHED_CTX, awake_ctx, 0),
                         0);
        ck_assert_int_eq(starpu_task_insert(&alone, 0), 0);
    }
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(ncalls, 40);
    ck_assert_int_eq(ranks, 7);
    ck_assert_int_eq(positions, 7);
    ck_assert_int_eq(ids[0], 10);
    ck_assert_int_eq(ids[1], 0);
    ck_assert_int_eq(ids[3], 10);
    /* One that joins executes those that come then. */
    members[0] = 1;
    starpu_sched_ctx_add_workers(members, 1, awake_ctx);
    ck_assert_int_eq(starpu_task_insert(&awake_seq, STARPU_RW, handle,
                                        STARPU_SCHED_CTX, awake_ctx, 0),
                     0);
    starpu_sched_ctx_delete(awake_ctx);
    ck_assert_int_eq(ids[1], 1);
    close_all();
    ck_assert_int_eq(value, 11);
}
END_TEST

/* --- all at once --- */

static pthread_barrier_t meeting;

static void meet(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    pthread_barrier_wait(&meeting);
    ncalls++;
}

static struct starpu_codelet meets = {.cpu_funcs = {meet},
                                      .type = STARPU_SPMD,
                                      .max_parallelism = NCPUS,
                                      .name = "meets"};

START_TEST(spmd_kernels_run_at_the_same_time)
{
    int id;

    open_with(_i, NULL);
    expect(0, 0);
    pthread_barrier_init(&meeting, NULL, 3);
    id = make(3, 0, 1, 3);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(
            starpu_task_insert(&meets, STARPU_EXECUTE_ON_WORKER, id, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(ncalls, 60);
    close_all();
}
END_TEST

/* The processors that the kernel may use. */
static cpu_set_t seen;

static void look(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    if (sched_getaffinity(0, sizeof(seen), &seen) != 0)
        wrong++;
}

static struct starpu_codelet looks_wide = {.cpu_funcs = {look},
                                           .type = STARPU_FORKJOIN,
                                           .max_parallelism = NCPUS,
                                           .name = "wide"};
static struct starpu_codelet looks_alone = {.cpu_funcs = {look}};

/* Where workers are bound, and there are two processors. */
START_TEST(a_forkjoin_kernel_may_use_all_processors_of_its_workers)
{
    int id, a, b;

    open_with(_i, NULL);
    a = starpu_cpu_os_index(starpu_worker_get_bindid(0));
    b = starpu_cpu_os_index(starpu_worker_get_bindid(1));
    if (a < 0 || b < 0 || a == b) {
        close_all();
        return;
    }
    id = make(2, 0, 1, 0);
    ck_assert_int_eq(
        starpu_task_insert(&looks_wide, STARPU_EXECUTE_ON_WORKER, id, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(CPU_COUNT(&seen), 2);
    ck_assert(CPU_ISSET(a, &seen) && CPU_ISSET(b, &seen));
    ck_assert_int_eq(
        starpu_task_insert(&looks_alone, STARPU_EXECUTE_ON_WORKER, 0, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(CPU_COUNT(&seen), 1);
    ck_assert(CPU_ISSET(a, &seen));
    starpu_bind_thread_on_worker(0);
    ck_assert_int_eq(sched_getaffinity(0, sizeof(seen), &seen), 0);
    ck_assert_int_eq(CPU_COUNT(&seen), 1);
    starpu_bind_thread_on_worker((unsigned)id);
    ck_assert_int_eq(sched_getaffinity(0, sizeof(seen), &seen), 0);
    ck_assert(CPU_COUNT(&seen) == 2 && CPU_ISSET(a, &seen));
    close_all();
}
END_TEST

/* --- what is expected of them --- */

START_TEST(expectations_know_how_many_there_are)
{
    struct starpu_perfmodel_arch *arch;
    struct starpu_task *task;
    int id;

    open_with(_i, NULL);
    id = make(3, 0, 1, 2);
    arch = starpu_worker_get_perf_archtype(id, 0);
    task = starpu_task_create();
    task->cl = &spmd;
    task->handles[0] = handle;
    ck_assert_double_eq(starpu_task_expected_length(task, arch, 0), 40);
    ck_assert_double_eq(
        starpu_task_worker_expected_length(task, (unsigned)id, 0, 0), 40);
    ck_assert_double_eq(starpu_task_worker_expected_length(task, 0, 0, 0), 120);
    ck_assert_double_eq(starpu_worker_get_relative_speedup(arch), 1.5);
    starpu_task_destroy(task);
    close_all();
}
END_TEST

static void count_only(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&ncalls, 1);
}

/* A tree of components asks its parents while it looks for a worker's task: they may give
 * that worker its share of a gang, and then say that there is no task. */
START_TEST(trees_of_components_lose_no_member_of_a_gang)
{
    enum { NPOLICIES = 3, NDATA = 20, NTASKS = 200 };
    static const char *const policies[NPOLICIES] = {
        "modular-prandom", "modular-prandom-prio", "modular-pheft"};
    static struct starpu_codelet kinds[] = {
        {.cpu_funcs = {count_only}, .type = STARPU_SPMD},
        {.cpu_funcs = {count_only}, .type = STARPU_FORKJOIN},
        {.cpu_funcs = {count_only}},
        {.cpu_funcs = {count_only}}};
    starpu_data_handle_t data[NDATA];
    unsigned state = (unsigned)_i + 1;
    int values[NDATA] = {0};

    open_with(_i % 2 ? 0 : FIRST_SIMULATED, policies[_i % NPOLICIES]);
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        kinds[i].max_parallelism = NCPUS;
        kinds[i].model = &scales;
        kinds[i].nbuffers = 1;
        kinds[i].modes[0] = STARPU_RW;
        kinds[i].name = "k";
    }
    for (unsigned i = 0; i < NDATA; i++)
        starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&values[i], sizeof(int));
    for (unsigned t = 0; t < NTASKS; t++) {
        unsigned any = (state = state * 1103515245U + 12345U) >> 16;

        ck_assert_int_eq(starpu_task_insert(&kinds[any % 4], STARPU_RW,
                                            data[any / 4 % NDATA],
                                            STARPU_PRIORITY, (int)(any % 3), 0),
                         0);
        if (any % 40 == 0)
            starpu_task_wait_for_all();
    }
    starpu_task_wait_for_all();
    ck_assert_int_ge(ncalls, NTASKS);
    for (unsigned i = 0; i < NDATA; i++)
        starpu_data_unregister(data[i]);
    close_all();
}
END_TEST

SUITE_MAIN(combined)
{
    Suite *suite = suite_create("combined workers");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(combined_workers_are_described);
    EACH(who_can_execute_what_is_known);
    EACH(each_member_runs_an_spmd_kernel);
    EACH(the_first_member_runs_a_forkjoin_kernel);
    EACH(a_bit_of_workerids_names_a_combined_worker);
    EACH(other_policies_give_a_parallel_task_to_one_worker);
    EACH(a_parallel_task_ends_once_and_runs_again);
    EACH(gangs_that_overlap_do_not_wait_for_each_other);
    EACH(a_policy_of_the_application_makes_gangs);
    EACH(awake_workers_execute_each_task_together);
    EACH(expectations_know_how_many_there_are);
    tcase_add_loop_test(each, trees_of_components_lose_no_member_of_a_gang, 0,
                        18);
    tcase_add_loop_test(each, spmd_kernels_run_at_the_same_time, 0,
                        FIRST_SIMULATED);
    tcase_add_loop_test(each,
                        a_forkjoin_kernel_may_use_all_processors_of_its_workers,
                        0, FIRST_SIMULATED);
    return suite_main(suite);
}
