/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-mistakes.c - calls about data that make no sense: each is refused, or
 * ends the program, with a message that names the call and the data, and spoils
 * nothing.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "machines.h"

enum { N = 64, PARTS = 4 };

static double memory[N * N], other_memory[N * N];

/* --- what the calls are about --- */

static void nothing(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

#define CODELET(name_, mode)                                                   \
    static struct starpu_codelet name_ = {.cpu_funcs = {nothing},              \
                                          .cuda_funcs = {nothing},             \
                                          .nbuffers = 1,                       \
                                          .modes = {mode},                     \
                                          .name = "k"}
CODELET(cl_r, STARPU_R);
CODELET(cl_w, STARPU_W);
CODELET(cl_rw, STARPU_RW);
CODELET(cl_redux, STARPU_REDUX);
CODELET(cl_none, STARPU_NONE);

static starpu_data_handle_t named(starpu_data_handle_t handle)
{
    starpu_data_set_name(handle, "mine");
    return handle;
}

static starpu_data_handle_t vector(void)
{
    starpu_data_handle_t handle;

    starpu_vector_data_register(&handle, 0, (uintptr_t)memory, N, 8);
    return named(handle);
}

static starpu_data_handle_t matrix(void)
{
    starpu_data_handle_t handle;

    starpu_matrix_data_register(&handle, 0, (uintptr_t)memory, N, N, N, 8);
    return named(handle);
}

static starpu_data_handle_t temporary(void)
{
    starpu_data_handle_t handle;

    starpu_vector_data_register(&handle, -1, 0, N, 8);
    return named(handle);
}

/* Of data that are for estimates; where there is no other memory, by hand. */
static void copy_nothing(int sparse)
{
    starpu_data_handle_t handle;

    if (sparse)
        starpu_csr_data_register(&handle, 0, N, N, 0, NULL, NULL, 0, 8);
    else
        starpu_vector_data_register(&handle, 0, 0, N, 8);
    if (starpu_memory_nodes_get_count() > 1)
        starpu_data_fetch_on_node(handle, 1, 0);
    else
        starpu_interface_copy(sparse ? (uintptr_t)memory : 0, 0, 0,
                              sparse ? 0 : (uintptr_t)memory, 0, 0, 8, NULL);
}

static void never(void *arg)
{
    (void)arg;
    abort();
}

static struct starpu_data_filter by_block = {
    .filter_func = starpu_vector_filter_block, .nchildren = PARTS};

static starpu_data_handle_t cut(void)
{
    starpu_data_handle_t handle = vector();

    starpu_data_partition(handle, &by_block);
    return handle;
}

static starpu_data_handle_t parts[N];

static starpu_data_handle_t planned(void)
{
    starpu_data_handle_t handle = vector();

    starpu_data_partition_plan(handle, &by_block, parts);
    return handle;
}

/* With this filter, in the blocking way, or by a plan. */
static void cut_by(starpu_data_handle_t handle,
                   void (*filter_func)(void *, void *,
                                       struct starpu_data_filter *, unsigned,
                                       unsigned),
                   unsigned n, unsigned arg, void *arg_ptr)
{
    struct starpu_data_filter filter = {.filter_func = filter_func,
                                        .nchildren = n,
                                        .filter_arg = arg,
                                        .filter_arg_ptr = arg_ptr};

    starpu_data_partition(handle, &filter);
}

/* Ends the program as it should if the call was refused. */
static void expect(int rc, int wanted)
{
    if (rc == wanted)
        return;
    fprintf(stderr, "the call returns %d, not %d\n", rc, wanted);
    exit(9);
}

static int submit(struct starpu_codelet *cl, starpu_data_handle_t handle)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->handles[0] = handle;
    return starpu_task_submit(task);
}

/* A task that has been submitted ends, or the program does. */
static void run(struct starpu_codelet *cl, starpu_data_handle_t handle)
{
    expect(submit(cl, handle), 0);
    starpu_task_wait_for_all();
}

static void acquire_in_callback(void *arg)
{
    expect(starpu_data_acquire(arg, STARPU_R), -EDEADLK);
}

static void call_back(void)
{
    starpu_data_handle_t handle = vector();
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl_rw;
    task->handles[0] = handle;
    task->callback_func = acquire_in_callback;
    task->callback_arg = handle;
    expect(starpu_task_submit(task), 0);
    starpu_task_wait_for_all();
}

static void register_dense(int ndim)
{
    uint32_t nn[] = {8, 4, 4}, ldn[] = {1, 8, 16};
    starpu_data_handle_t handle;
    uintptr_t at = (uintptr_t)memory;

    if (ndim == 2)
        starpu_matrix_data_register(&handle, 0, at, 8, 16, 4, 8);
    else if (ndim == 3)
        starpu_block_data_register(&handle, 0, at, 4, 16, 4, 5, 4, 8);
    else if (ndim == 4)
        starpu_tensor_data_register(&handle, 0, at, 4, 16, 10, 4, 4, 4, 4, 8);
    else
        starpu_ndim_data_register(&handle, 0, at, ldn, nn, 3, 8);
}

static void register_own(int what)
{
    static struct starpu_data_interface_ops ops;
    struct starpu_vector_interface v = {
        .nx = 4, .elemsize = 8, .allocsize = 32};
    starpu_data_handle_t handle;

    ops = starpu_interface_vector_ops;
    ops.interfaceid = STARPU_UNKNOWN_INTERFACE_ID;
    if (what == 0)
        ops.register_data_handle = NULL;
    else if (what == 1)
        ops.footprint = NULL;
    else
        ops.allocate_data_on_node = NULL;
    starpu_data_register(&handle, -1, &v, &ops);
    run(&cl_w, handle);
}

static void copy_to_less(void)
{
    starpu_data_handle_t less;

    starpu_vector_data_register(&less, 0, (uintptr_t)other_memory, N / 2, 8);
    starpu_data_cpy(less, vector(), 0, NULL, NULL);
}

static void pack(int what)
{
    static struct starpu_data_interface_ops ops;
    struct starpu_vector_interface v = {.nx = 4, .elemsize = 8};
    starpu_data_handle_t handle;
    starpu_ssize_t n = 0;
    void *bytes = NULL;

    if (what == 0) {
        handle = vector();
        starpu_data_acquire(handle, STARPU_RW);
        starpu_data_pack(handle, &bytes, &n);
        expect(starpu_data_unpack(handle, bytes, (size_t)n - 1), -EINVAL);
        return;
    }
    if (what == 1) {
        starpu_data_pack(temporary(), &bytes, &n);
        return;
    }
    if (what == 2) {
        starpu_data_pack(vector(), &bytes, NULL);
        return;
    }
    if (what == 3) {
        starpu_data_unpack(vector(), NULL, N * 8);
        return;
    }
    ops = starpu_interface_vector_ops;
    ops.interfaceid = STARPU_UNKNOWN_INTERFACE_ID;
    ops.pack_data = NULL;
    starpu_data_register(&handle, -1, &v, &ops);
    starpu_data_pack(handle, &bytes, &n);
}

/* More bytes than there are addresses; their number modulo 2^64 is small. */
static void register_huge(int what)
{
    static struct starpu_multiformat_data_interface_ops forms = {
        .cpu_elemsize = (size_t)1 << 63};
    uint32_t nn[] = {1u << 31, 1u << 31, 1u << 31};
    starpu_data_handle_t h;

    if (what == 0)
        starpu_vector_data_register(&h, -1, 0, 1u << 31, (size_t)1 << 33);
    else if (what == 1)
        starpu_block_data_register(&h, -1, 0, 1, 1, 1u << 16, 1u << 31,
                                   1u << 16, 1u << 16);
    else if (what == 2)
        starpu_ndim_data_register(&h, -1, 0, NULL, nn, 3, 8);
    else if (what == 3)
        starpu_coo_data_register(&h, -1, 9, 9, 1u << 31, NULL, NULL, 0,
                                 (size_t)1 << 33);
    else if (what == 4)
        starpu_bcsr_data_register(&h, -1, 1u << 31, 9, 0, NULL, NULL, 0,
                                  1u << 31, 1u << 31, 8);
    else
        starpu_multiformat_data_register(&h, -1, NULL, 2, &forms);
}

static void give_back_too_much(void)
{
    size_t used = starpu_memory_get_used(STARPU_MAIN_RAM);
    void *p;

    expect(starpu_malloc_flags(&p, 1000, STARPU_MALLOC_COUNT), 0);
    starpu_free_flags(p, 1 << 20, STARPU_MALLOC_COUNT);
    starpu_memory_deallocate(STARPU_MAIN_RAM, 1000);
    expect(starpu_memory_get_used(STARPU_MAIN_RAM) == used, 1);
}

static void after_shutdown(void)
{
    starpu_data_handle_t h = vector();

    starpu_shutdown();
    starpu_data_unregister(h);
}

static void switch_other(void)
{
    starpu_data_handle_t other = matrix(), others[PARTS];
    struct starpu_data_filter by_row = {
        .filter_func = starpu_matrix_filter_block, .nchildren = PARTS};

    starpu_data_partition_plan(other, &by_row, others);
    starpu_data_partition_submit(planned(), PARTS, others);
}

static void whole_and_part(void)
{
    struct starpu_codelet both = {.cpu_funcs = {nothing},
                                  .nbuffers = 2,
                                  .modes = {STARPU_RW, STARPU_R},
                                  .name = "k"};

    starpu_data_handle_t whole = planned();

    starpu_task_insert(&both, STARPU_RW, whole, STARPU_R, parts[0], 0);
}

static void too_large(void)
{
    starpu_data_handle_t handle;

    starpu_vector_data_register(&handle, -1, 0, UINT32_C(1) << 31, 1 << 20);
    run(&cl_w, named(handle));
}

/* --- the calls --- */

/* mistakes.h says what each line is. */
#define MISTAKES(X)                                                            \
    X(ABORTS, "starpu_data_unregister:", {                                     \
        starpu_data_handle_t h = vector();                                     \
        starpu_data_unregister(h);                                             \
        starpu_data_unregister(h);                                             \
    })                                                                         \
    X(ABORTS, "handle is NULL", starpu_data_unregister(NULL))                  \
    X(ABORTS, "starpu_data_unregister of mine: the data are partitioned",      \
      starpu_data_unregister(cut()))                                           \
    X(ABORTS, "starpu_data_unregister of mine: the data have planned",         \
      starpu_data_unregister(planned()))                                       \
    X(ABORTS, "starpu_data_unregister_submit of mine",                         \
      starpu_data_unregister_submit(planned()))                                \
    X(ABORTS, "a piece of mine",                                               \
      starpu_data_unregister(starpu_data_get_child(cut(), 0)))                 \
    X(ABORTS, "part of a planned partition", {                                 \
        planned();                                                             \
        starpu_data_unregister(parts[1]);                                      \
    })                                                                         \
    X(EXITS, "acquisition of data `mine'", {                                   \
        starpu_data_handle_t h = vector();                                     \
        starpu_data_acquire(h, STARPU_RW);                                     \
        starpu_data_unregister(h);                                             \
    })                                                                         \
    X(REFUSED, "buffer 0 of task `k'", {                                       \
        starpu_data_handle_t h = vector();                                     \
        starpu_data_unregister(h);                                             \
        expect(submit(&cl_rw, h), -EINVAL);                                    \
        expect(starpu_data_acquire(h, STARPU_R), -EINVAL);                     \
    })                                                                         \
    X(REFUSED, "no data handle", expect(submit(&cl_rw, NULL), -EINVAL))        \
    X(REFUSED, "STARPU_NONE", expect(submit(&cl_none, vector()), -EINVAL))     \
    X(REFUSED, "(mine)", expect(submit(&cl_redux, vector()), -EINVAL))         \
    X(REFUSED, "is partitioned", expect(submit(&cl_rw, cut()), -EINVAL))       \
    X(REFUSED, "starpu_data_acquire of mine: the data are partitioned",        \
      expect(starpu_data_acquire(cut(), STARPU_R), -EINVAL))                   \
    X(REFUSED, "starpu_data_acquire: the data handle is NULL",                 \
      expect(starpu_data_acquire(NULL, STARPU_R), -EINVAL))                    \
    X(REFUSED, "of mine: the mode must be",                                    \
      expect(starpu_data_acquire(vector(), STARPU_NONE), -EINVAL))             \
    X(REFUSED, "are for tasks only",                                           \
      expect(starpu_data_acquire(vector(), STARPU_SCRATCH), -EINVAL))          \
    X(REFUSED, "are for tasks only",                                           \
      expect(starpu_data_acquire(vector(), STARPU_REDUX), -EINVAL))            \
    X(REFUSED,                                                                 \
      "starpu_data_acquire_on_node of mine: there is no memory node 60",       \
      expect(starpu_data_acquire_on_node(vector(), 60, STARPU_R), -EINVAL))    \
    X(REFUSED,                                                                 \
      "starpu_data_acquire_on_node of mine: there is no memory node -7",       \
      expect(starpu_data_acquire_on_node(vector(), -7, STARPU_R), -EINVAL))    \
    X(REFUSED, "from a callback", call_back())                                 \
    X(EXITS, "starpu_data_acquire of mine: the data have no value",            \
      starpu_data_acquire(temporary(), STARPU_R))                              \
    X(EXITS, "starpu_data_acquire_on_node of mine: the data have no value",    \
      starpu_data_acquire_on_node(temporary(), 0, STARPU_R))                   \
    X(EXITS, "starpu_data_prefetch_on_node of mine: the data have no value",   \
      starpu_data_prefetch_on_node(temporary(), 0, 0))                         \
    X(EXITS, "starpu_data_acquire_cb of mine: the data have no value",         \
      (starpu_data_acquire_cb(temporary(), STARPU_R, never, NULL),             \
       starpu_task_wait_for_all()))                                            \
    X(EXITS, "`k' reads buffer 0 (mine)", run(&cl_r, temporary()))             \
    X(EXITS, "`k' reads buffer 0 (mine)", {                                    \
        starpu_data_handle_t h = vector();                                     \
        starpu_data_invalidate(h);                                             \
        run(&cl_r, h);                                                         \
    })                                                                         \
    X(EXITS, "have no value",                                                  \
      starpu_data_fetch_on_node(temporary(), STARPU_MAIN_RAM, 0))              \
    X(REFUSED,                                                                 \
      "starpu_data_prefetch_on_node of mine: there is no memory node -1",      \
      expect(starpu_data_prefetch_on_node(vector(), (unsigned)-1, 1),          \
             -EINVAL))                                                         \
    X(REFUSED,                                                                 \
      "starpu_data_fetch_on_node of mine: there is no memory node -2",         \
      expect(starpu_data_fetch_on_node(vector(), (unsigned)-2, 0), -EINVAL))   \
    X(REFUSED, "starpu_data_release of mine: the data are not acquired", {     \
        starpu_data_handle_t h = vector();                                     \
        starpu_data_acquire(h, STARPU_R);                                      \
        starpu_data_release(h);                                                \
        starpu_data_release(h);                                                \
        expect(starpu_data_acquire(h, STARPU_RW), 0);                          \
        starpu_data_release(h);                                                \
        starpu_data_unregister(h);                                             \
    })                                                                         \
    X(ABORTS, "starpu_data_release_to of mine", {                              \
        starpu_data_handle_t h = vector();                                     \
        starpu_data_acquire(h, STARPU_R);                                      \
        starpu_data_release_to(h, STARPU_RW);                                  \
    })                                                                         \
    X(ABORTS, "starpu_data_evict_from_node: there is no memory node -5",       \
      starpu_data_evict_from_node(vector(), (unsigned)-5))                     \
    X(ABORTS, "starpu_data_get_interface_on_node: there is no memory node -5", \
      starpu_data_get_interface_on_node(vector(), (unsigned)-5))               \
    X(ABORTS, "starpu_data_test_if_allocated_on_node: there is no memory",     \
      starpu_data_test_if_allocated_on_node(vector(), (unsigned)-5))           \
    X(ABORTS, "starpu_data_query_status: there is no memory node -5",          \
      starpu_data_query_status(vector(), -5, NULL, NULL, NULL))                \
    X(ABORTS, "starpu_vector_ptr_register: there is no memory node -5",        \
      starpu_vector_ptr_register(vector(), (unsigned)-5, 0, 0, 0))             \
    X(ABORTS, "starpu_memory_get_available: there is no memory node -5",       \
      starpu_memory_get_available((unsigned)-5))                               \
    X(ABORTS, "starpu_memory_wait_available: there is no memory node -5",      \
      starpu_memory_wait_available((unsigned)-5, 1))                           \
    X(ABORTS, "starpu_data_unregister_no_coherency of mine",                   \
      starpu_data_unregister_no_coherency(cut()))                              \
    X(REFUSED, "starpu_data_deinitialize of mine",                             \
      starpu_data_deinitialize(cut()))                                         \
    X(REFUSED, "starpu_data_deinitialize_submit of mine",                      \
      starpu_data_deinitialize_submit(cut()))                                  \
    X(REFUSED, "starpu_data_acquire_try of mine: the data are partitioned",    \
      expect(starpu_data_acquire_try(cut(), STARPU_R), -EINVAL))               \
    X(REFUSED, "starpu_data_acquire_on_node_cb of mine: the data are part",    \
      expect(starpu_data_acquire_on_node_cb(cut(), 0, STARPU_R, never, NULL),  \
             -EINVAL))                                                         \
    X(REFUSED, "starpu_data_fetch_on_node of mine: the data are partitioned",  \
      expect(starpu_data_fetch_on_node(cut(), 0, 0), -EINVAL))                 \
    X(REFUSED, "starpu_data_idle_prefetch_on_node of mine: the data are part", \
      expect(starpu_data_idle_prefetch_on_node(cut(), 0, 1), -EINVAL))         \
    X(REFUSED, "starpu_data_idle_prefetch_on_node_prio of mine: there is no",  \
      expect(starpu_data_idle_prefetch_on_node_prio(vector(), 99, 1, 1),       \
             -EINVAL))                                                         \
    X(REFUSED, "starpu_data_release_on_node of mine: the data are not",        \
      starpu_data_release_on_node(vector(), 0))                                \
    X(REFUSED, "starpu_data_release_to of mine: the data are not acquired",    \
      starpu_data_release_to(vector(), STARPU_NONE))                           \
    X(ABORTS, "starpu_data_unpartition_submit: there is no memory node -5",    \
      starpu_data_unpartition_submit(planned(), PARTS, parts, -5))             \
    X(ABORTS, "starpu_data_partition_clean_node: there is no memory node 99",  \
      starpu_data_partition_clean_node(planned(), PARTS, parts, 99))           \
    X(ABORTS, "starpu_data_partition of mine: the data are partitioned",       \
      starpu_data_partition(cut(), &by_block))                                 \
    X(ABORTS, "starpu_data_partition of mine: plans partition",                \
      starpu_data_partition(planned(), &by_block))                             \
    X(ABORTS, "starpu_data_partition_plan of mine: the data are",              \
      starpu_data_partition_plan(cut(), &by_block, parts))                     \
    X(ABORTS, "starpu_data_partition of mine: the filter has no",              \
      starpu_data_partition(vector(), NULL))                                   \
    X(ABORTS, "starpu_data_partition_plan of mine: the filter has no",         \
      starpu_data_partition_plan(vector(), NULL, parts))                       \
    X(ABORTS, "starpu_data_partition of mine: the filter makes 0",             \
      cut_by(vector(), starpu_vector_filter_block, 0, 0, NULL))                \
    X(ABORTS, "of mine: 64 elements with a shadow of 0 cannot be cut into 65", \
      cut_by(vector(), starpu_vector_filter_block, N + 1, 0, NULL))            \
    X(ABORTS, "starpu_vector_filter_block_shadow of mine",                     \
      cut_by(vector(), starpu_vector_filter_block_shadow, 4, 0, (void *)40))   \
    X(ABORTS, "starpu_matrix_filter_block of mine: the data has interface 2",  \
      cut_by(vector(), starpu_matrix_filter_block, 4, 0, NULL))                \
    X(ABORTS, "starpu_vector_filter_block of mine: the data has interface 0",  \
      cut_by(matrix(), starpu_vector_filter_block, 4, 0, NULL))                \
    X(ABORTS, "of mine: a vector of 64 cannot be cut after 64",                \
      cut_by(vector(), starpu_vector_filter_divide_in_2, 2, N, NULL))          \
    X(ABORTS, "is outside of the vector of 64",                                \
      cut_by(vector(), starpu_vector_filter_list, 2, 0,                        \
             (uint32_t[]){N - 4, N - 4}))                                      \
    X(ABORTS, "starpu_vector_filter_list of mine: filter_arg_ptr is NULL",     \
      cut_by(vector(), starpu_vector_filter_list, 2, 0, NULL))                 \
    X(ABORTS,                                                                  \
      "starpu_vector_filter_list_long of mine: filter_arg_ptr is NULL",        \
      cut_by(vector(), starpu_vector_filter_list_long, 2, 0, NULL))            \
    X(ABORTS,                                                                  \
      "starpu_vector_filter_divide_in_2 of mine: 1 parts are asked for",       \
      cut_by(vector(), starpu_vector_filter_divide_in_2, 1, 9, NULL))          \
    X(ABORTS, "partition of mine: the filter makes parts of interface 5 of",   \
      cut_by(vector(), starpu_vector_filter_pick_variable, 4, 0, NULL))        \
    X(ABORTS, "partition of mine: the filter makes parts of interface 2 of",   \
      cut_by(matrix(), starpu_matrix_filter_pick_vector_y, 4, 0, NULL))        \
    X(ABORTS, "of mine: element 64 was requested",                             \
      cut_by(vector(), starpu_vector_filter_pick_variable, 4, 0,               \
             (void *)(uintptr_t)N))                                            \
    X(ABORTS, "have no sequential consistency", {                              \
        starpu_data_handle_t h = vector();                                     \
        starpu_data_set_sequential_consistency_flag(h, 0);                     \
        starpu_data_partition_plan(h, &by_block, parts);                       \
    })                                                                         \
    X(REFUSED, "starpu_data_unpartition of mine: the data are not",            \
      starpu_data_unpartition(vector(), STARPU_MAIN_RAM))                      \
    X(ABORTS, "starpu_data_unpartition: there is no memory node 60",           \
      starpu_data_unpartition(cut(), 60))                                      \
    X(ABORTS, "starpu_data_get_child of mine: there is no child 4",            \
      starpu_data_get_child(cut(), PARTS))                                     \
    X(ABORTS, "starpu_data_get_child of mine: there is no child 0",            \
      starpu_data_get_child(vector(), 0))                                      \
    X(ABORTS, "starpu_data_get_sub_data of mine[0]",                           \
      starpu_data_get_sub_data(cut(), 2, 0, 0))                                \
    X(ABORTS, "starpu_data_partition_submit of mine: the data are", {          \
        starpu_data_handle_t h = planned();                                    \
        starpu_data_partition_submit(h, PARTS, parts);                         \
        starpu_data_partition_submit(h, PARTS, parts);                         \
    })                                                                         \
    X(ABORTS, "starpu_data_unpartition_submit of mine",                        \
      starpu_data_unpartition_submit(planned(), PARTS, parts, -1))             \
    X(ABORTS, "starpu_data_partition_readwrite_upgrade_submit of mine",        \
      starpu_data_partition_readwrite_upgrade_submit(planned(), PARTS, parts)) \
    X(ABORTS, "starpu_data_partition_readonly_downgrade_submit of mine",       \
      starpu_data_partition_readonly_downgrade_submit(planned(), PARTS,        \
                                                      parts))                  \
    X(ABORTS, "not those of a plan of these data", switch_other())             \
    X(ABORTS, "starpu_data_partition_submit of mine: there is no array of",    \
      starpu_data_partition_submit(planned(), PARTS, NULL))                    \
    X(ABORTS, "starpu_data_partition_clean of mine: there is no array of",     \
      starpu_data_partition_clean(planned(), PARTS, NULL))                     \
    X(ABORTS, "starpu_data_partition_clean: the data handle is none, or", {    \
        starpu_data_handle_t h = planned();                                    \
        starpu_data_partition_clean(h, PARTS, parts);                          \
        starpu_data_partition_clean(h, PARTS, parts);                          \
    })                                                                         \
    X(REFUSED, "starpu_data_acquire: the data handle is none, or", {           \
        starpu_data_partition_clean(planned(), PARTS, parts);                  \
        expect(starpu_data_acquire(parts[1], STARPU_R), -EINVAL);              \
        expect(submit(&cl_rw, parts[2]), -EINVAL);                             \
    })                                                                         \
    X(REFUSED, "starpu_data_acquire: the data handle is none, or", {           \
        starpu_data_handle_t h = cut();                                        \
        starpu_data_handle_t part = starpu_data_get_child(h, 1);               \
        starpu_data_unpartition(h, STARPU_MAIN_RAM);                           \
        expect(starpu_data_acquire(part, STARPU_R), -EINVAL);                  \
        expect(submit(&cl_rw, part), -EINVAL);                                 \
    })                                                                         \
    X(ABORTS, "starpu_data_unpartition_submit of mine: the data are put", {    \
        starpu_data_handle_t h = planned();                                    \
        starpu_data_partition_submit(h, PARTS, parts);                         \
        starpu_data_unpartition_submit(h, PARTS, parts, 60);                   \
    })                                                                         \
    X(ABORTS, "the plan has another number of children",                       \
      starpu_data_partition_submit(planned(), PARTS - 1, parts))               \
    X(ABORTS, "uses data and a part of them", whole_and_part())                \
    X(ABORTS, "columns would overlap", register_dense(2))                      \
    X(ABORTS, "planes would overlap", register_dense(3))                       \
    X(ABORTS, "blocks would overlap", register_dense(4))                       \
    X(ABORTS, "elements would overlap", register_dense(5))                     \
    X(ABORTS, "starpu_vector_data_register: there is no memory node 55", {     \
        starpu_data_handle_t h;                                                \
        starpu_vector_data_register(&h, 55, (uintptr_t)memory, N, 8);          \
    })                                                                         \
    X(ABORTS, "starpu_vector_data_register: there is no memory node", {        \
        starpu_data_handle_t h;                                                \
        starpu_vector_data_register(&h, -2, (uintptr_t)memory, N, 8);          \
    })                                                                         \
    X(ABORTS, "starpu_vector_ptr_register of mine: the data have memory", {    \
        starpu_data_handle_t h = temporary();                                  \
        starpu_vector_ptr_register(h, 0, (uintptr_t)memory, 0, 0);             \
        starpu_vector_ptr_register(h, 0, (uintptr_t)memory, 0, 0);             \
    })                                                                         \
    X(ABORTS, "starpu_data_register: the table", register_own(0))              \
    X(ABORTS, "starpu_data_register: the table", register_own(1))              \
    X(EXITS, "no allocate_data_on_node", register_own(2))                      \
    X(ABORTS, "no memory on node 0", starpu_vector_get_local_ptr(temporary())) \
    X(EXITS, "estimates only", copy_nothing(0))                                \
    X(EXITS, "estimates only", copy_nothing(1))                                \
    X(REFUSED, "starpu_data_unpack: got 511", pack(0))                         \
    X(ABORTS, "starpu_data_pack: the data have no memory", pack(1))            \
    X(ABORTS, "starpu_data_pack: the address of the count", pack(2))           \
    X(ABORTS, "starpu_data_unpack: the address of the bytes", pack(3))         \
    X(ABORTS, "lacks pack_data", pack(4))                                      \
    X(ABORTS, "a vector of so many elements", register_huge(0))                \
    X(ABORTS, "a block of so many elements", register_huge(1))                 \
    X(ABORTS, "a ndim of so many elements", register_huge(2))                  \
    X(ABORTS, "are more than any memory has", register_huge(3))                \
    X(ABORTS, "are more than any memory has", register_huge(4))                \
    X(ABORTS, "are more than any memory has", register_huge(5))                \
    X(REFUSED, "of which 1000 were taken", give_back_too_much())               \
    X(ABORTS, "starpu_data_unregister: called before starpu_init or after",    \
      after_shutdown())                                                        \
    X(ABORTS, "starpu_vector_data_register: the address for the handle is",    \
      starpu_vector_data_register(NULL, -1, 0, N, 8))                          \
    X(ABORTS, "starpu_vector_data_register_allocsize: the address for",        \
      starpu_vector_data_register_allocsize(NULL, -1, 0, N, 8, 8 * N))         \
    X(ABORTS, "starpu_matrix_data_register: the address for the handle is",    \
      starpu_matrix_data_register(NULL, -1, 0, N, N, N, 8))                    \
    X(ABORTS, "starpu_csr_data_register: the address for the handle is",       \
      starpu_csr_data_register(NULL, -1, N, N, 0, NULL, NULL, 0, 8))           \
    X(ABORTS, "starpu_void_data_register: the address for the handle is",      \
      starpu_void_data_register(NULL))                                         \
    X(ABORTS, "starpu_matrix_ptr_register of mine: the data have memory",      \
      starpu_matrix_ptr_register(matrix(), 0, (uintptr_t)memory, 0, 0, N))     \
    X(ABORTS, "starpu_data_pack: the data have no memory on node 0", {         \
        starpu_ssize_t size;                                                   \
        starpu_data_pack(temporary(), NULL, &size);                            \
    })                                                                         \
    X(ABORTS, "starpu_data_map_filters of mine: the filter makes 0", {         \
        struct starpu_data_filter none = {.filter_func =                       \
                                              starpu_vector_filter_block};     \
        starpu_data_map_filters(vector(), 1, &none);                           \
    })                                                                         \
    X(REFUSED, "starpu_data_acquire_try: the data handle is NULL",             \
      expect(starpu_data_acquire_try(NULL, STARPU_R), -EINVAL))                \
    X(ABORTS, "starpu_data_register: the structure that describes", {          \
        starpu_data_handle_t h;                                                \
        starpu_data_register(&h, -1, NULL, &starpu_interface_vector_ops);      \
    })                                                                         \
    X(ABORTS, "starpu_vector_get_nx: the data have interface 0",               \
      starpu_vector_get_nx(matrix()))                                          \
    X(ABORTS, "starpu_csr_get_nnz: the data have interface 2",                 \
      starpu_csr_get_nnz(vector()))                                            \
    X(ABORTS, "starpu_bcsr_get_local_nzval: the data have interface 2",        \
      starpu_bcsr_get_local_nzval(vector()))                                   \
    X(ABORTS, "starpu_matrix_get_local_ld: the data have interface 2",         \
      starpu_matrix_get_local_ld(vector()))                                    \
    X(ABORTS, "starpu_data_cpy: the two data are of different",                \
      starpu_data_cpy(matrix(), vector(), 0, NULL, NULL))                      \
    X(ABORTS, "starpu_data_cpy: mine has another shape", copy_to_less())       \
    X(ABORTS, "starpu_data_assign_arbiter of mine: the data are in use", {     \
        starpu_data_handle_t h = vector();                                     \
        run(&cl_rw, h);                                                        \
        starpu_data_acquire(h, STARPU_R);                                      \
        starpu_data_assign_arbiter(h, starpu_arbiter_create());                \
    })                                                                         \
    X(REFUSED, "has no LevelDB: use starpu_disk_unistd_ops",                   \
      expect(starpu_disk_register(&starpu_disk_leveldb_ops, (char[]){"/tmp"},  \
                                  -1),                                         \
             -ENOENT))                                                         \
    X(REFUSED, "STARPU_DISK_SIZE_MIN",                                         \
      expect(starpu_disk_register(&starpu_disk_stdio_ops, (char[]){"/tmp"},    \
                                  1024),                                       \
             -EINVAL))                                                         \
    X(EXITS, "no memory for buffer 0", too_large())

#include "mistakes.h"

SUITE_MAIN(mistakes)
{
    return suite_main(mistakes_suite("mistakes"));
}
