/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-advice.c - what the application says of data and memory: where
 * values are kept, what leaves first, what is counted; acquisitions that say
 * more. On each machine; the simulated ones have three GPUs of 64 MiB.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "machines.h"

enum { MIB = 1 << 20 };

static int last_node(void)
{
    return (int)starpu_memory_nodes_get_count() - 1;
}

static int is_valid(starpu_data_handle_t h, int node)
{
    int valid;

    starpu_data_query_status2(h, node, NULL, &valid, NULL, NULL);
    return valid;
}

static int is_allocated(starpu_data_handle_t h, int node)
{
    return (int)starpu_data_test_if_allocated_on_node(h, (unsigned)node);
}

static void increase(void *buffers[], void *arg)
{
    (void)arg;
    ++*(int *)STARPU_VECTOR_GET_PTR(buffers[0]);
}

static struct starpu_codelet cl_rw = {
    .cpu_funcs = {increase},
    .cuda_funcs = {increase},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static void set(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VECTOR_GET_PTR(buffers[0]) = 1;
}

static struct starpu_codelet cl_set = {
    .cpu_funcs = {set},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .name = "k",
};

static int *register_one(starpu_data_handle_t *h, size_t bytes)
{
    int *memory = calloc(1, bytes);

    starpu_vector_data_register(h, STARPU_MAIN_RAM, (uintptr_t)memory,
                                (uint32_t)(bytes / sizeof(int)), sizeof(int));
    return memory;
}

/* --- prefetches --- */

enum { NPREFETCHES = 6 };

/* The first ones keep the link busy, the others wait for it by priority. 10 MiB need
 * about 1.05 ms each, two prefetches or one when the machine is idle go on at once. */
START_TEST(prefetches_come_by_priority)
{
    static const int priorities[NPREFETCHES] = {0, 0, 0, 0, 3, 0};
    starpu_data_handle_t h[NPREFETCHES];
    int *memory[NPREFETCHES], node, nfirst = 0;

    setenv("ORRERY_EVICTION", _i / 2 ? "nextuse" : "lru", 1);
    machine_open(FIRST_SIMULATED);
    node = (int)starpu_worker_get_memory_node(starpu_worker_get_count() - 1);
    for (int d = 0; d < NPREFETCHES; d++) {
        memory[d] = register_one(&h[d], 10 * MIB);
        if (_i % 2)
            starpu_data_idle_prefetch_on_node_prio(h[d], (unsigned)node, 1,
                                                   priorities[d]);
        else
            starpu_data_prefetch_on_node_prio(h[d], (unsigned)node, 1,
                                              priorities[d]);
    }
    while (!is_valid(h[4], node))
        starpu_usleep(50);
    for (int d = 0; d < NPREFETCHES; d++)
        nfirst += d != 4 && is_valid(h[d], node);
    /* Those that had begun. */
    ck_assert_int_le(nfirst, _i % 2 ? 1 : 3);
    ck_assert_int_eq(is_valid(h[3], node), 0);
    for (int d = 0; d < NPREFETCHES; d++) {
        starpu_data_unregister(h[d]);
        free(memory[d]);
    }
    starpu_shutdown();
}
END_TEST

/* --- write-through --- */

static void wait_until_valid(starpu_data_handle_t h, int node)
{
    for (unsigned i = 0; i < 100000 && !is_valid(h, node); i++)
        starpu_usleep(100);
    ck_assert(is_valid(h, node));
}

/* shows starpu_data_set_wt_mask */
START_TEST(what_is_written_through_is_on_all_nodes)
{
    starpu_data_handle_t h;
    int *value;

    machine_open(_i);
    value = register_one(&h, 4096);
    starpu_data_set_wt_mask(h, ~UINT32_C(0));
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(starpu_task_insert(&cl_rw, STARPU_RW, h, 0), 0);
        starpu_task_wait_for_all();
        for (int node = 0; node <= last_node(); node++)
            wait_until_valid(h, node);
    }
    ck_assert_int_eq(*value, 10);
    /* The application's writes, too. */
    ck_assert_int_eq(starpu_data_acquire(h, STARPU_RW), 0);
    ++*value;
    starpu_data_release(h);
    for (int node = 0; node <= last_node(); node++)
        wait_until_valid(h, node);
    /* And where no mask is any more, not. */
    starpu_data_set_wt_mask(h, 0);
    ck_assert_int_eq(starpu_data_acquire(h, STARPU_RW), 0);
    ++*value;
    starpu_data_release(h);
    starpu_sleep(0.01f);
    for (int node = 1; node <= last_node(); node++)
        ck_assert(!is_valid(h, node));
    starpu_data_unregister(h);
    ck_assert_int_eq(*value, 12);
    free(value);
    starpu_shutdown();
}
END_TEST

/* It stays while others come and go; pieces have the mask of the whole. */
START_TEST(what_is_written_through_does_not_leave)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t h, others[6];
    int *value, *memory[6], gpu;

    if (!machine_simulated(_i))
        SKIP_TEST("no memory with a limit");
    machine_open(_i);
    gpu = last_node();
    value = register_one(&h, 16 * MIB);
    starpu_data_set_wt_mask(h, UINT32_C(1) << gpu);
    ck_assert_int_eq(starpu_data_acquire(h, STARPU_RW), 0);
    starpu_data_release(h);
    wait_until_valid(h, gpu);
    ck_assert(!starpu_data_can_evict(h, (unsigned)gpu, STARPU_FETCH));
    ck_assert_int_lt(starpu_data_evict_from_node(h, (unsigned)gpu), 0);
    for (unsigned i = 0; i < 6; i++) {
        memory[i] = register_one(&others[i], 20 * MIB);
        ck_assert_int_eq(starpu_data_fetch_on_node(others[i], (unsigned)gpu, 0),
                         0);
    }
    ck_assert(is_valid(h, gpu));
    ck_assert(!is_valid(others[0], gpu));
    for (unsigned i = 0; i < 6; i++) {
        starpu_data_unregister(others[i]);
        free(memory[i]);
    }
    starpu_data_partition(h, &filter);
    ck_assert_int_eq(
        starpu_task_insert(&cl_rw, STARPU_RW, starpu_data_get_child(h, 0), 0),
        0);
    starpu_task_wait_for_all();
    wait_until_valid(starpu_data_get_child(h, 0), gpu);
    starpu_data_unpartition(h, STARPU_MAIN_RAM);
    starpu_data_unregister(h);
    ck_assert_int_eq(*value, 1);
    free(value);
    starpu_shutdown();
}
END_TEST

/* --- what leaves first --- */

/* The youngest of three leaves a full GPU, since it is not important.
 * shows starpu_data_advise_as_important */
START_TEST(what_is_not_important_leaves_first)
{
    starpu_data_handle_t data[4];
    int *memory[4], gpu;

    if (!machine_simulated(_i))
        SKIP_TEST("no memory with a limit");
    machine_open(_i);
    gpu = last_node();
    for (unsigned i = 0; i < 4; i++)
        memory[i] = register_one(&data[i], 20 * MIB);
    starpu_data_advise_as_important(data[2], 0);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_int_eq(starpu_data_fetch_on_node(data[i], (unsigned)gpu, 0),
                         0);
    ck_assert(is_valid(data[0], gpu));
    ck_assert(!is_valid(data[2], gpu));
    /* Important again, it is like the others: the oldest leaves. */
    starpu_data_advise_as_important(data[2], 1);
    ck_assert_int_eq(starpu_data_fetch_on_node(data[2], (unsigned)gpu, 0), 0);
    ck_assert(is_valid(data[2], gpu));
    ck_assert(!is_valid(data[0], gpu));
    for (unsigned i = 0; i < 4; i++) {
        starpu_data_unregister(data[i]);
        free(memory[i]);
    }
    starpu_shutdown();
}
END_TEST

/* shows starpu_data_set_ooc_flag, starpu_data_get_ooc_flag */
START_TEST(the_disk_flag_is_kept_and_inherited)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t h;
    int *value;

    machine_open(_i);
    value = register_one(&h, 4096);
    ck_assert_uint_eq(starpu_data_get_ooc_flag(h), 1);
    starpu_data_set_ooc_flag(h, 0);
    ck_assert_uint_eq(starpu_data_get_ooc_flag(h), 0);
    starpu_data_partition(h, &filter);
    ck_assert_uint_eq(starpu_data_get_ooc_flag(starpu_data_get_child(h, 1)), 0);
    starpu_data_unpartition(h, STARPU_MAIN_RAM);
    starpu_data_unregister(h);
    free(value);
    starpu_shutdown();
}
END_TEST

/* shows starpu_data_request_allocation */
START_TEST(memory_without_a_value)
{
    starpu_data_handle_t h;

    machine_open(_i);
    starpu_vector_data_register(&h, -1, 0, 1024, sizeof(int));
    ck_assert(!is_allocated(h, last_node()));
    ck_assert_int_eq(starpu_data_request_allocation(h, (unsigned)last_node()),
                     0);
    for (unsigned i = 0; i < 100000 && !is_allocated(h, last_node()); i++)
        starpu_usleep(100);
    ck_assert(is_allocated(h, last_node()));
    ck_assert(!is_valid(h, last_node()));
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* --- acquisitions that say more --- */

struct call {
    starpu_data_handle_t handle;
    int to, acquired, called;
};

static void choose(void *arg, int *node, enum starpu_data_access_mode mode)
{
    struct call *call = arg;

    ck_assert_int_eq((int)mode, STARPU_RW);
    ck_assert(!call->called);
    call->acquired++;
    *node = call->to;
}

static void got(void *arg)
{
    struct call *call = arg;

    ck_assert_int_eq(call->acquired, 1);
    ck_assert(is_valid(call->handle, call->to));
    starpu_data_release_on_node(call->handle, call->to);
    call->called++;
}

/* shows starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids */
START_TEST(an_acquisition_chooses_its_node_late)
{
    struct call call = {0};
    long before = 0, after = 0, none = 0;
    int *value;

    machine_open(_i);
    value = register_one(&call.handle, 4096);
    call.to = last_node();
    ck_assert_int_eq(starpu_task_insert(&cl_rw, STARPU_RW, call.handle, 0), 0);
    ck_assert_int_eq(
        starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
            call.handle, STARPU_MAIN_RAM, STARPU_RW, choose, got, &call, 1, 0,
            &before, &after, 3),
        0);
    ck_assert_int_gt(before, 0);
    ck_assert_int_ge(after, before);
    ck_assert_int_eq(starpu_task_insert(&cl_rw, STARPU_RW, call.handle, 0), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(call.called, 1);
    call = (struct call){.handle = call.handle, .to = STARPU_MAIN_RAM};
    ck_assert_int_eq(
        starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
            call.handle, last_node(), STARPU_RW, choose, got, &call, 0, 1,
            &none, NULL, 0),
        0);
    ck_assert_int_eq(none, -1);
    starpu_data_unregister(call.handle);
    ck_assert_int_eq(call.called, 1);
    ck_assert_int_eq(*value, 2);
    free(value);
    starpu_shutdown();
}
END_TEST

/* It waits its turn and holds the data, which stay where they are. */
START_TEST(an_acquisition_without_a_node_moves_nothing)
{
    starpu_data_handle_t h, empty;
    struct starpu_codelet cl = cl_rw;
    int *value;

    machine_open(_i);
    value = register_one(&h, 4096);
    starpu_vector_data_register(&empty, -1, 0, 1024, sizeof(int));
    if (machine_simulated(_i))
        cl.where = STARPU_CUDA;
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, h, 0), 0);
    ck_assert_int_eq(
        starpu_data_acquire_on_node(h, STARPU_ACQUIRE_NO_NODE, STARPU_RW), 0);
    if (machine_simulated(_i))
        ck_assert(!is_valid(h, STARPU_MAIN_RAM));
    ck_assert_int_eq(
        starpu_data_acquire_on_node_try(h, STARPU_MAIN_RAM, STARPU_R), -EAGAIN);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, h, 0), 0);
    starpu_data_release_on_node(h, STARPU_ACQUIRE_NO_NODE);
    ck_assert_int_eq(starpu_data_acquire_on_node(
                         h, STARPU_ACQUIRE_NO_NODE_LOCK_ALL, STARPU_R),
                     0);
    starpu_data_release_on_node(h, STARPU_ACQUIRE_NO_NODE_LOCK_ALL);
    ck_assert_int_eq(
        starpu_data_acquire_on_node(empty, STARPU_ACQUIRE_NO_NODE, STARPU_W),
        0);
    starpu_data_release_on_node(empty, STARPU_ACQUIRE_NO_NODE);
    ck_assert(!is_allocated(empty, STARPU_MAIN_RAM));
    starpu_data_unregister(empty);
    starpu_data_unregister(h);
    ck_assert_int_eq(*value, 2);
    free(value);
    starpu_shutdown();
}
END_TEST

#ifdef STARPU_DATA_ACQUIRE_CB
/* Not optimized, the address of a function within a function needs code on the stack. */
#    pragma GCC push_options
#    pragma GCC optimize("O1")
static int *seen, found;

START_TEST(code_runs_when_the_data_are_there)
{
    starpu_data_handle_t h;

    machine_open(_i);
    seen = register_one(&h, 4096);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(starpu_task_insert(&cl_rw, STARPU_RW, h, 0), 0);
    STARPU_DATA_ACQUIRE_CB(h, STARPU_R, found = *seen);
    ck_assert_int_eq(starpu_task_insert(&cl_rw, STARPU_RW, h, 0), 0);
    starpu_data_unregister(h);
    starpu_shutdown();
    ck_assert_int_eq(found, 3);
    free(seen);
}
END_TEST
#    pragma GCC pop_options
#endif

/* --- copies that are only read --- */

static void see(void *buffers[], void *arg)
{
    *(int *)arg = *(const int *)STARPU_VECTOR_GET_PTR(buffers[0]);
}

static struct starpu_codelet cl_r = {
    .cpu_funcs = {see},
    .cuda_funcs = {see},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "k",
};

/* The copies are tasks, whose times are not known. */
static void open_for_copies(int machine)
{
    machine_choose(machine);
    if (machine_simulated(machine))
        setenv("ORRERY_ASSUME", "kernel[*] = 50us", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static void insert_see(starpu_data_handle_t h, int *to)
{
    ck_assert_int_eq(starpu_task_insert(&cl_r, STARPU_R, h,
                                        STARPU_CL_ARGS_NFREE, to, sizeof(*to),
                                        0),
                     0);
}

static void fill(void *buffers[], void *arg)
{
    const struct starpu_ndim_interface *d = buffers[0];
    int *to = (int *)d->ptr;

    (void)arg;
    for (size_t i = 0; i < d->allocsize / sizeof(int); i++)
        to[i] = 7;
}

static struct starpu_codelet cl_fill = {
    .cpu_funcs = {fill},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .name = "k",
};

/* Data of that layout get memory from a worker while the application asks how large
 * they are, and makes data alike: the thread sanitizer sees whether it may. */
static void ask_while_memory_is_made(int copies)
{
    uint32_t nn[] = {2, 3, 4}, ldn[] = {1, 2, 6};
    starpu_data_handle_t h, other;

    starpu_ndim_data_register(&h, -1, 0, ldn, nn, 3, sizeof(int));
    ck_assert_int_eq(starpu_task_insert(&cl_fill, STARPU_W, h, 0), 0);
    if (copies)
        ck_assert_int_eq(starpu_data_dup_ro(&other, h, 1), 0);
    else
        starpu_data_register_same(&other, h);
    ck_assert_uint_eq(starpu_data_get_size(h), 24 * sizeof(int));
    ck_assert_uint_eq(starpu_data_get_size(other), 24 * sizeof(int));
    ck_assert_uint_eq(starpu_ndim_get_ni(h, 2), 4);
    if (!copies)
        ck_assert_int_eq(starpu_data_cpy(other, h, 1, NULL, NULL), 0);
    ck_assert_int_eq(starpu_data_acquire(other, STARPU_R), 0);
    ck_assert_uint_eq(starpu_ndim_get_local_ldi(other, 2), 6);
    ck_assert_int_eq(((int *)starpu_ndim_get_local_ptr(other))[23], 7);
    starpu_data_release(other);
    starpu_data_unregister(other);
    starpu_data_unregister_no_coherency(h);
}

/* shows starpu_data_register_same */
START_TEST(layouts_are_asked_for_while_memory_is_made)
{
    open_for_copies(_i);
    for (int round = 0; round < 20; round++)
        ask_while_memory_is_made(round % 2);
    starpu_shutdown();
}
END_TEST

START_TEST(the_length_of_a_vector_is_asked_for_while_memory_is_made)
{
    starpu_data_handle_t h;

    open_for_copies(_i);
    for (int round = 0; round < 20; round++) {
        starpu_vector_data_register(&h, -1, 0, 10, sizeof(int));
        ck_assert_int_eq(starpu_task_insert(&cl_set, STARPU_W, h, 0), 0);
        ck_assert_uint_eq(starpu_vector_get_nx(h), 10);
        starpu_data_unregister_submit(h);
    }
    starpu_shutdown();
}
END_TEST

/* shows starpu_data_dup_ro */
START_TEST(a_copy_is_shared_until_the_original_is_written)
{
    starpu_data_handle_t h, a, b, c, d;
    int *value, old = -1, new = -1, *before;

    open_for_copies(_i);
    value = register_one(&h, 4096);
    ck_assert_int_eq(starpu_task_insert(&cl_rw, STARPU_RW, h, 0), 0);
    ck_assert_int_eq(starpu_data_dup_ro(&a, h, 1), 0);
    ck_assert_int_eq(starpu_data_dup_ro(&b, h, 1), 0);
    ck_assert_int_eq(starpu_data_dup_ro(&c, a, 0), 0);
    ck_assert_ptr_eq(a, b);
    ck_assert_ptr_eq(a, c);
    ck_assert_int_eq(starpu_task_insert(&cl_rw, STARPU_RW, h, 0), 0);
    ck_assert_int_eq(starpu_data_dup_ro(&d, h, 1), 0);
    ck_assert_ptr_ne(a, d);
    insert_see(a, &old);
    insert_see(d, &new);
    starpu_data_unregister(a);
    starpu_data_unregister_submit(b);
    /* Its third owner has it still. */
    ck_assert_int_eq(starpu_data_acquire(c, STARPU_R), 0);
    before = (int *)starpu_vector_get_local_ptr(c);
    ck_assert_int_eq(*before, 1);
    starpu_data_release(c);
    ck_assert_int_lt(starpu_data_acquire(c, STARPU_RW), 0);
    ck_assert_int_lt(starpu_task_insert(&cl_rw, STARPU_RW, c, 0), 0);
    starpu_data_unregister(c);
    /* The original may end first. */
    starpu_data_unregister(h);
    ck_assert_int_eq(starpu_data_acquire(d, STARPU_R), 0);
    starpu_data_release(d);
    starpu_data_unregister(d);
    starpu_shutdown();
    ck_assert_int_eq(old, 1);
    ck_assert_int_eq(new, 2);
    ck_assert_int_eq(*value, 2);
    free(value);
}
END_TEST

/* Writes of the application end it as those of tasks do; what has ended is not
 * given again. */
START_TEST(a_copy_that_has_ended_is_made_anew)
{
    starpu_data_handle_t h, a, b;
    int *value;

    open_for_copies(_i);
    value = register_one(&h, 4096);
    ck_assert_int_eq(starpu_data_dup_ro(&a, h, 0), 0);
    starpu_data_unregister(a);
    ck_assert_int_eq(starpu_data_dup_ro(&a, h, 0), 0);
    ck_assert_int_eq(starpu_data_acquire(h, STARPU_RW), 0);
    *value = 5;
    starpu_data_release(h);
    ck_assert_int_eq(starpu_data_dup_ro(&b, h, 0), 0);
    ck_assert_ptr_ne(a, b);
    ck_assert_int_eq(starpu_data_acquire(b, STARPU_R), 0);
    ck_assert_int_eq(*(int *)starpu_vector_get_local_ptr(b), 5);
    starpu_data_release(b);
    ck_assert_int_eq(starpu_data_acquire(a, STARPU_R), 0);
    ck_assert_int_eq(*(int *)starpu_vector_get_local_ptr(a), 0);
    starpu_data_release(a);
    starpu_data_unregister(a);
    starpu_data_unregister(b);
    starpu_data_unregister(h);
    starpu_shutdown();
    free(value);
}
END_TEST

/* Pieces write the value of the whole. */
/* shows starpu_data_dup_ro */
START_TEST(a_copy_of_before_a_partition_is_old_after_it)
{
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t h, a, b;
    int *value;

    open_for_copies(_i);
    value = register_one(&h, 4096);
    ck_assert_int_eq(starpu_data_dup_ro(&a, h, 1), 0);
    starpu_data_partition(h, &halves);
    ck_assert_int_eq(starpu_task_insert(&cl_rw, STARPU_RW,
                                        starpu_data_get_sub_data(h, 1, 0), 0),
                     0);
    starpu_data_unpartition(h, STARPU_MAIN_RAM);
    ck_assert_int_eq(starpu_data_dup_ro(&b, h, 1), 0);
    ck_assert_ptr_ne(a, b);
    ck_assert_int_eq(starpu_data_acquire(b, STARPU_R), 0);
    ck_assert_int_eq(*(int *)starpu_vector_get_local_ptr(b), 1);
    starpu_data_release(b);
    starpu_data_unregister(a);
    starpu_data_unregister(b);
    starpu_data_unregister(h);
    starpu_shutdown();
    free(value);
}
END_TEST

/* --- structures --- */

static void check_all(void *buffers[], void *arg)
{
    (void)arg;
    STARPU_VECTOR_CHECK(buffers[0]);
    STARPU_MATRIX_CHECK(buffers[1]);
    STARPU_BLOCK_CHECK(buffers[2]);
    STARPU_TENSOR_CHECK(buffers[3]);
    STARPU_NDIM_CHECK(buffers[4]);
    STARPU_VARIABLE_CHECK(buffers[5]);
}

START_TEST(structures_are_what_they_say)
{
    struct starpu_codelet cl = {
        .cpu_funcs = {check_all},
        .cuda_funcs = {check_all},
        .nbuffers = 6,
        .modes = {STARPU_W, STARPU_W, STARPU_W, STARPU_W, STARPU_W, STARPU_W},
        .name = "k"};
    unsigned nn[2] = {2, 3}, ldn[2] = {1, 2};
    starpu_data_handle_t h[6];

    machine_open(_i);
    starpu_vector_data_register(&h[0], -1, 0, 8, 4);
    starpu_matrix_data_register(&h[1], -1, 0, 2, 2, 3, 4);
    starpu_block_data_register(&h[2], -1, 0, 2, 6, 2, 3, 4, 4);
    starpu_tensor_data_register(&h[3], -1, 0, 2, 6, 24, 2, 3, 4, 5, 4);
    starpu_ndim_data_register(&h[4], -1, 0, ldn, nn, 2, 4);
    starpu_variable_data_register(&h[5], -1, 0, 4);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_W, h[0], STARPU_W, h[1],
                                        STARPU_W, h[2], STARPU_W, h[3],
                                        STARPU_W, h[4], STARPU_W, h[5], 0),
                     0);
    for (unsigned i = 0; i < 6; i++)
        starpu_data_unregister(h[i]);
    starpu_shutdown();
}
END_TEST

/* shows starpu_data_get_max_size */
START_TEST(data_grow_as_far_as_their_interface_says)
{
    starpu_data_handle_t h;

    machine_open(_i);
    starpu_vector_data_register_allocsize(&h, -1, 0, 8, 4, 100);
    ck_assert_int_eq((int)starpu_data_get_max_size(h), 100);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* --- memory --- */

/* shows starpu_malloc_on_node_set_default_flags */
START_TEST(memory_is_counted_as_the_flags_say)
{
    unsigned node;
    uintptr_t memory;
    size_t before;

    machine_open(_i);
    node = (unsigned)last_node();
    before = starpu_memory_get_used(node);
    memory = starpu_malloc_on_node(node, MIB);
    ck_assert(memory);
    ck_assert_uint_eq(starpu_memory_get_used(node), before + MIB);
    starpu_free_on_node(node, memory, MIB);
    starpu_malloc_on_node_set_default_flags(node, STARPU_MALLOC_PINNED);
    memory = starpu_malloc_on_node(node, MIB);
    ck_assert(memory);
    ck_assert_uint_eq(starpu_memory_get_used(node), before);
    starpu_free_on_node(node, memory, MIB);
    ck_assert_uint_eq(starpu_memory_get_used(node), before);
    memory = starpu_malloc_on_node_flags(node, MIB, STARPU_MALLOC_COUNT);
    ck_assert(memory);
    ck_assert_uint_eq(starpu_memory_get_used(node), before + MIB);
    starpu_free_on_node_flags(node, memory, MIB, STARPU_MALLOC_COUNT);
    ck_assert_uint_eq(starpu_memory_get_used(node), before);
    starpu_shutdown();
}
END_TEST

/* Main memory of 64 MiB; a GPU has what leaves it. */
START_TEST(counted_memory_makes_data_leave)
{
    const int count = (int)STARPU_MALLOC_COUNT,
              anyway = (int)(STARPU_MALLOC_COUNT | STARPU_MALLOC_NORECLAIM),
              over = (int)(STARPU_MALLOC_COUNT | STARPU_MEMORY_OVERFLOW);
    starpu_data_handle_t data[3];
    void *half, *other, *more;

    setenv("STARPU_LIMIT_CPU_MEM", "64", 1);
    machine_open(_i);
    /* Half and half and a byte. */
    ck_assert_int_eq(starpu_malloc_flags(&half, 32 * MIB, count), 0);
    ck_assert_int_eq(starpu_malloc_flags(&other, 32 * MIB, count), 0);
    more = &more;
    ck_assert_int_eq(starpu_malloc_flags(&more, 1, count), -ENOMEM);
    ck_assert_ptr_null(more);
    ck_assert_int_eq(starpu_malloc_flags(&more, 1, 0), 0);
    starpu_free_flags(more, 1, 0);
    ck_assert_int_eq(starpu_malloc_flags(&more, 1, anyway), 0);
    ck_assert_int_eq((int)starpu_memory_get_available(STARPU_MAIN_RAM), -1);
    starpu_free_flags(more, 1, anyway);
    ck_assert_int_eq(starpu_malloc_flags(&more, 5, over), 0);
    ck_assert_int_eq((int)starpu_memory_get_available(STARPU_MAIN_RAM), -5);
    starpu_free_flags(more, 5, over);
    for (unsigned i = 0; i < 2; i++) {
        int flags = i ? over : anyway;
        uintptr_t memory;

        ck_assert(!starpu_malloc_on_node_flags(STARPU_MAIN_RAM, MIB, count));
        memory = starpu_malloc_on_node_flags(STARPU_MAIN_RAM, MIB, flags);
        ck_assert(memory);
        ck_assert_int_eq((int)starpu_memory_get_available(STARPU_MAIN_RAM),
                         -(int)MIB);
        starpu_free_on_node_flags(STARPU_MAIN_RAM, memory, MIB, flags);
    }
    starpu_free_flags(half, 32 * MIB, count);
    starpu_free_flags(other, 32 * MIB, count);
    ck_assert_int_eq((int)starpu_memory_get_available(STARPU_MAIN_RAM),
                     64 * MIB);
    for (unsigned i = 0; machine_simulated(_i) && i < 3; i++) {
        starpu_vector_data_register(&data[i], -1, 0, 5 * MIB, sizeof(int));
        ck_assert_int_eq(starpu_data_acquire(data[i], STARPU_W), 0);
        starpu_data_release(data[i]);
        ck_assert_int_eq(starpu_data_fetch_on_node(data[i], 1 + i, 0), 0);
    }
    if (machine_simulated(_i)) {
        ck_assert(is_allocated(data[0], STARPU_MAIN_RAM));
        ck_assert_int_eq(starpu_malloc_flags(&half, 32 * MIB, count), 0);
        ck_assert(!is_allocated(data[0], STARPU_MAIN_RAM));
        starpu_free_flags(half, 32 * MIB, count);
    }
    for (unsigned i = 0; machine_simulated(_i) && i < 3; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
}
END_TEST

/* Without processors nobody looks after main memory but who asks for it.
 * shows starpu_memchunk_tidy */
START_TEST(memory_is_made_free_on_demand)
{
    starpu_data_handle_t data[6];

    if (!machine_simulated(_i))
        SKIP_TEST("no memory with a limit");
    machine_choose(_i);
    setenv("STARPU_NCPU", "0", 1);
    setenv("STARPU_LIMIT_CPU_MEM", "64", 1);
    setenv("STARPU_MINIMUM_AVAILABLE_MEM", "20", 1);
    setenv("STARPU_TARGET_AVAILABLE_MEM", "40", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    for (unsigned i = 0; i < 6; i++) {
        starpu_vector_data_register(&data[i], -1, 0, 10 * MIB, 1);
        ck_assert_int_eq(starpu_data_acquire(data[i], STARPU_W), 0);
        starpu_data_release(data[i]);
        ck_assert_int_eq(starpu_data_fetch_on_node(data[i], 1 + i % 3, 0), 0);
    }
    ck_assert_int_eq((int)starpu_memory_get_available(STARPU_MAIN_RAM),
                     4 * MIB);
    starpu_memchunk_tidy(STARPU_MAIN_RAM);
    ck_assert_int_ge((int)starpu_memory_get_available(STARPU_MAIN_RAM),
                     64 * MIB / 100 * 40);
    for (unsigned i = 0; i < 6; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
}
END_TEST

/* A part of each GPU is free again when all is brought that there is. */
START_TEST(memory_is_free_ahead_of_need)
{
    starpu_data_handle_t data[6];
    unsigned gpu, valid = 0;
    int *memory[6];

    if (!machine_simulated(_i))
        SKIP_TEST("no memory with a limit");
    setenv("STARPU_MINIMUM_AVAILABLE_MEM", "15", 1);
    setenv("STARPU_TARGET_AVAILABLE_MEM", "30", 1);
    machine_open(_i);
    gpu = (unsigned)last_node();
    for (unsigned i = 0; i < 6; i++) {
        memory[i] = register_one(&data[i], 10 * MIB);
        ck_assert_int_eq(starpu_data_fetch_on_node(data[i], gpu, 0), 0);
    }
    ck_assert_int_ge((int)(100 * starpu_memory_get_available(gpu) /
                           starpu_memory_get_total(gpu)),
                     15);
    for (unsigned i = 0; i < 6; i++)
        valid += is_valid(data[i], (int)gpu) != 0;
    ck_assert_uint_ge(valid, 3);
    for (unsigned i = 0; i < 6; i++) {
        starpu_data_unregister(data[i]);
        free(memory[i]);
    }
    starpu_shutdown();
}
END_TEST

/* A terabyte of 65,536 tiles, of which some are used, takes the memory of its
 * handles and one piece that stands behind all. */
START_TEST(a_terabyte_is_simulated_in_megabytes)
{
    enum { SIDE = 1 << 19, TILES = 256, MOST_MIB = 400 };
    struct starpu_data_filter columns = {
        .filter_func = starpu_matrix_filter_block, .nchildren = TILES};
    struct starpu_data_filter rows = {
        .filter_func = starpu_matrix_filter_vertical_block, .nchildren = TILES};
    const int folded = (int)STARPU_MALLOC_SIMULATION_FOLDED;
    const size_t bytes = (size_t)SIDE * SIDE * sizeof(float);
    starpu_data_handle_t h;
    struct rusage usage;
    void *memory;

    if (!machine_simulated(_i) || _i > FIRST_SIMULATED)
        SKIP_TEST("one simulated machine shows it");
#ifdef __SANITIZE_THREAD__
    SKIP_TEST("the sanitizer has memory of its own for each byte");
#endif
    machine_choose(_i);
    unsetenv("ORRERY_SIM_KERNELS");
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(starpu_malloc_flags(&memory, bytes, folded), 0);
    starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)memory, SIDE,
                                SIDE, SIDE, sizeof(float));
    ck_assert_uint_eq(starpu_data_get_size(h), (size_t)1 << 40);
    starpu_data_map_filters(h, 2, &columns, &rows);
    for (unsigned i = 0; i < TILES; i++) {
        ck_assert_int_eq(
            starpu_task_insert(&cl_rw, STARPU_RW,
                               starpu_data_get_sub_data(h, 2, i, i), 0),
            0);
        ck_assert_int_eq(
            starpu_task_insert(&cl_rw, STARPU_RW,
                               starpu_data_get_sub_data(h, 2, i, 0), 0),
            0);
    }
    starpu_data_unpartition(h, STARPU_MAIN_RAM);
    starpu_data_unregister(h);
    starpu_free_flags(memory, bytes, folded);
    ck_assert_double_gt(starpu_timing_now(), 512 * 50.0 / 5);
    starpu_shutdown();
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    ck_assert_int_lt((int)(usage.ru_maxrss / 1024), MOST_MIB);
}
END_TEST

SUITE_MAIN(advice)
{
    Suite *suite = suite_create("advice");
    TCase *tc = tcase_create("advice");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, prefetches_come_by_priority, 0, 4);
    tcase_add_loop_test(tc, what_is_written_through_is_on_all_nodes, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, what_is_written_through_does_not_leave, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, what_is_not_important_leaves_first, 0, NMACHINES);
    tcase_add_loop_test(tc, the_disk_flag_is_kept_and_inherited, 0, NMACHINES);
    tcase_add_loop_test(tc, memory_without_a_value, 0, NMACHINES);
    tcase_add_loop_test(tc, an_acquisition_chooses_its_node_late, 0, NMACHINES);
    tcase_add_loop_test(tc, an_acquisition_without_a_node_moves_nothing, 0,
                        NMACHINES);
#ifdef STARPU_DATA_ACQUIRE_CB
    tcase_add_loop_test(tc, code_runs_when_the_data_are_there, 0, NMACHINES);
#endif
    tcase_add_loop_test(tc, layouts_are_asked_for_while_memory_is_made, 0,
                        NMACHINES);
    tcase_add_loop_test(
        tc, the_length_of_a_vector_is_asked_for_while_memory_is_made, 0,
        NMACHINES);
    tcase_add_loop_test(tc, a_copy_is_shared_until_the_original_is_written, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_copy_of_before_a_partition_is_old_after_it, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_copy_that_has_ended_is_made_anew, 0, NMACHINES);
    tcase_add_loop_test(tc, memory_is_made_free_on_demand, 0, NMACHINES);
    tcase_add_loop_test(tc, memory_is_free_ahead_of_need, 0, NMACHINES);
    tcase_add_loop_test(tc, a_terabyte_is_simulated_in_megabytes, 0, NMACHINES);
    tcase_add_loop_test(tc, structures_are_what_they_say, 0, NMACHINES);
    tcase_add_loop_test(tc, data_grow_as_far_as_their_interface_says, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, memory_is_counted_as_the_flags_say, 0, NMACHINES);
    tcase_add_loop_test(tc, counted_memory_makes_data_leave, 0, NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
