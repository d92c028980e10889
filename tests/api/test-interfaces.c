/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-interfaces.c - interfaces of the application with few methods,
 * which loop over all memory nodes that there can be; data whose value was
 * dropped; hints about data in pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "../loopback/use.h"
#include "machines.h"

/* A number, and a list that its handle owns on each node. */
struct listed {
    int *number;
    int *list;
};

static int nlists;

static void listed_register(starpu_data_handle_t handle, int home,
                            void *data_interface)
{
    const struct listed *given = data_interface;

    for (int node = 0; node < STARPU_MAXNODES; node++) {
        struct listed *own =
            starpu_data_get_interface_on_node(handle, (unsigned)node);

        own->number = node == home ? given->number : NULL;
        own->list = malloc(sizeof(int));
        *own->list = node;
        nlists++;
    }
}

static void listed_unregister(starpu_data_handle_t handle)
{
    for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
        struct listed *own = starpu_data_get_interface_on_node(handle, node);

        ck_assert_int_eq(*own->list, (int)node);
        free(own->list);
        nlists--;
    }
}

static uint32_t listed_footprint(starpu_data_handle_t handle)
{
    (void)handle;
    return 17;
}

/* For order only: no memory but the application's, no copies, no size. */
static struct starpu_data_interface_ops listed_ops = {
    .register_data_handle = listed_register,
    .unregister_data_handle = listed_unregister,
    .footprint = listed_footprint,
    .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
    .interface_size = sizeof(struct listed),
    .name = (char[]){"listed"},
};

static void add_1(void *buffers[], void *arg)
{
    (void)arg;
    ++*((struct listed *)buffers[0])->number;
}

static struct starpu_codelet adds = {
    .cpu_funcs = {add_1}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "k"};

START_TEST(an_interface_needs_no_memory_of_its_own)
{
    int number = 5;
    struct listed given = {&number, NULL};
    starpu_data_handle_t handle;

    machine_open(_i);
    starpu_data_register(&handle, STARPU_MAIN_RAM, &given, &listed_ops);
    ck_assert_int_eq(nlists, STARPU_MAXNODES);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(starpu_task_insert(&adds, STARPU_RW, handle, 0), 0);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_R), 0);
    ck_assert_int_eq(number, 15);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    ck_assert_int_eq(nlists, 0);
    starpu_shutdown();
}
END_TEST

static void register_nothing(starpu_data_handle_t handle, int home, void *given)
{
    (void)handle, (void)home, (void)given;
}

/* Data that order tasks, and are nothing else. */
START_TEST(an_interface_needs_no_structure)
{
    struct starpu_data_interface_ops ops = {
        .register_data_handle = register_nothing,
        .footprint = listed_footprint,
        .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
    };
    static struct starpu_codelet nowhere = {
        .where = STARPU_NOWHERE, .nbuffers = 1, .modes = {STARPU_RW}};
    starpu_data_handle_t handle, same;

    machine_open(_i);
    starpu_data_register(&handle, STARPU_MAIN_RAM, NULL, &ops);
    starpu_data_register_same(&same, handle);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(starpu_task_insert(&nowhere, STARPU_RW, handle, 0), 0);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    starpu_data_release(handle);
    starpu_data_unregister(same);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* Elsewhere it does. */
START_TEST(memory_that_cannot_be_made_is_said)
{
    int number = 5;
    struct listed given = {&number, NULL};
    starpu_data_handle_t handle;

    machine_open(FIRST_SIMULATED);
    starpu_data_register(&handle, STARPU_MAIN_RAM, &given, &listed_ops);
    starpu_data_prefetch_on_node(handle, 1, 0);
}
END_TEST

START_TEST(nodes_that_the_machine_lacks_have_no_kind)
{
    unsigned n;

    machine_open(_i);
    n = starpu_memory_nodes_get_count();
    ck_assert_int_eq(starpu_node_get_kind(0), STARPU_CPU_RAM);
    for (unsigned node = n; node < STARPU_MAXNODES; node++)
        ck_assert_int_eq(starpu_node_get_kind(node), STARPU_UNUSED);
    starpu_shutdown();
}
END_TEST

/* Shapes are there all the same, and no memory. */
START_TEST(nodes_that_the_machine_lacks_have_shapes)
{
    int x[12] = {0};
    uint32_t columns[4] = {0, 1, 2, 3}, starts[5] = {0, 1, 2, 3, 4},
             nn[3] = {2, 3, 2}, ldn[3] = {1, 2, 6};
    starpu_data_handle_t vector, csr, ndim;

    machine_open(_i);
    starpu_vector_data_register(&vector, 0, (uintptr_t)x, 12, sizeof(int));
    starpu_csr_data_register(&csr, 0, 4, 4, (uintptr_t)x, columns, starts, 0,
                             sizeof(int));
    starpu_ndim_data_register(&ndim, 0, (uintptr_t)x, ldn, nn, 3, sizeof(int));
    for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
        struct starpu_vector_interface *v =
            starpu_data_get_interface_on_node(vector, node);
        struct starpu_csr_interface *c =
            starpu_data_get_interface_on_node(csr, node);
        struct starpu_ndim_interface *n =
            starpu_data_get_interface_on_node(ndim, node);

        ck_assert_uint_eq(v->nx, 12);
        ck_assert_int_eq(v->ptr && v->dev_handle, node == STARPU_MAIN_RAM);
        ck_assert_uint_eq(c->nnz + c->nrow, 8);
        ck_assert_int_eq(c->nzval && c->colind, node == STARPU_MAIN_RAM);
        ck_assert_uint_eq(n->nn[1], 3);
        ck_assert_int_eq(n->ptr != 0, node == STARPU_MAIN_RAM);
    }
    starpu_data_unregister(vector);
    starpu_data_unregister(csr);
    starpu_data_unregister(ndim);
    starpu_shutdown();
}
END_TEST

/* Nothing is there to be brought home. */
START_TEST(data_whose_value_was_dropped_are_unregistered)
{
    int x[4] = {1, 2, 3, 4};
    starpu_data_handle_t home, nowhere;

    machine_open(_i);
    starpu_vector_data_register(&home, 0, (uintptr_t)x, 4, sizeof(int));
    starpu_vector_data_register(&nowhere, -1, 0, 4, sizeof(int));
    starpu_data_invalidate(home);
    starpu_data_unregister(home);
    starpu_data_unregister(nowhere);
    starpu_vector_data_register(&home, 0, (uintptr_t)x, 4, sizeof(int));
    starpu_data_invalidate_submit(home);
    starpu_data_unregister(home);
    starpu_shutdown();
}
END_TEST

START_TEST(data_in_pieces_are_not_wanted_any_more)
{
    static struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    int x[4] = {1, 2, 3, 4};
    starpu_data_handle_t handle;

    machine_open(_i);
    starpu_vector_data_register(&handle, 0, (uintptr_t)x, 4, sizeof(int));
    starpu_data_map_filters(handle, 2, &halves, &halves);
    starpu_data_wont_use(handle);
    starpu_data_unpartition(handle, 0);
    starpu_data_unregister(handle);
    ck_assert_int_eq(x[3], 4);
    starpu_shutdown();
}
END_TEST

/* --- an interface that does not copy between devices --- */

static struct starpu_data_copy_methods patched;
static int (*copy_vector)(void *, unsigned, void *, unsigned, void *);
static int nbetween, nasked; /* copies between devices, questions */

static int is_main(unsigned node)
{
    return starpu_node_get_kind(node) == STARPU_CPU_RAM;
}

static int count_and_copy(void *src, unsigned src_node, void *dst,
                          unsigned dst_node, void *async)
{
    nbetween += !is_main(src_node) && !is_main(dst_node);
    return copy_vector(src, src_node, dst, dst_node, async);
}

static int refuse_devices(void *src, unsigned src_node, void *dst,
                          unsigned dst_node, unsigned handling)
{
    ck_assert_uint_eq(STARPU_VECTOR_GET_NX(src), STARPU_VECTOR_GET_NX(dst));
    ck_assert(handling == src_node || handling == dst_node);
    nasked++;
    return is_main(src_node) || is_main(dst_node);
}

static void increment(void *buffers[], void *arg)
{
    (void)arg;
    ((int *)STARPU_VECTOR_GET_PTR(buffers[0]))[0]++;
}

static struct starpu_codelet increments = {.cpu_funcs = {increment},
                                           .cuda_funcs = {increment},
                                           .nbuffers = 1,
                                           .modes = {STARPU_RW},
                                           .name = "k"};

/* The workers of the first two devices. */
static void find_devices(int *ret)
{
    int n = 0;

    for (unsigned w = 0; w < starpu_worker_get_count() && n < 2; w++)
        if (!is_main(starpu_worker_get_memory_node(w)))
            ret[n++] = (int)w;
    ck_assert_int_eq(n, 2);
}

static void go_to_and_fro(struct starpu_data_interface_ops *ops)
{
    int x[4] = {0}, workers[2];
    struct starpu_vector_interface given = {
        .id = STARPU_VECTOR_INTERFACE_ID,
        .ptr = (uintptr_t)x,
        .dev_handle = (uintptr_t)x,
        .nx = 4,
        .elemsize = sizeof(int),
        .allocsize = sizeof(x),
    };
    starpu_data_handle_t handle;

    find_devices(workers);
    starpu_data_register(&handle, STARPU_MAIN_RAM, &given, ops);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(starpu_task_insert(&increments, STARPU_RW, handle,
                                            STARPU_EXECUTE_ON_WORKER,
                                            workers[i % 2], 0),
                         0);
    starpu_data_unregister(handle);
    ck_assert_int_eq(x[0], 10);
}

/* Devices of the machine copy to each other. */
START_TEST(what_can_copy_refuses_goes_through_main_memory)
{
    struct starpu_data_interface_ops ops = starpu_interface_vector_ops;

    loopback_use("2 peers");
    machine_open(_i);
    patched = *ops.copy_methods;
    copy_vector = patched.any_to_any;
    patched.any_to_any = count_and_copy;
    ops.copy_methods = &patched;
    go_to_and_fro(&ops);
    ck_assert_int_eq(nbetween, 9);
    patched.can_copy = refuse_devices;
    nbetween = 0;
    go_to_and_fro(&ops);
    ck_assert_int_eq(nbetween, 0);
    ck_assert_int_gt(nasked, 0);
    starpu_shutdown();
}
END_TEST

/* A processor's kernel copies it by what packs it. */
START_TEST(data_that_can_only_be_packed_are_copied)
{
    static const struct starpu_data_copy_methods none = {.ram_to_ram = NULL};
    int x[2][4] = {{1, 2, 3, 4}, {0}};

    machine_choose(_i);
    setenv("ORRERY_ASSUME", "kernel[starpu_data_cpy] = 20us", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    for (int k = 0; k < 2; k++) {
        struct starpu_data_interface_ops ops = starpu_interface_vector_ops;
        starpu_data_handle_t handles[3];

        ops.copy_methods = k ? &none : NULL;
        ops.interfaceid = starpu_data_interface_get_next_id();
        for (int h = 0; h < 2; h++) {
            struct starpu_vector_interface given = {
                .id = STARPU_VECTOR_INTERFACE_ID,
                .ptr = (uintptr_t)x[h],
                .dev_handle = (uintptr_t)x[h],
                .nx = 4,
                .elemsize = sizeof(int),
                .allocsize = sizeof(x[h]),
            };

            starpu_data_register(&handles[h], STARPU_MAIN_RAM, &given, &ops);
        }
        ck_assert_int_eq(
            starpu_data_cpy(handles[1], handles[0], k, NULL, NULL), 0);
        ck_assert_int_eq(starpu_data_dup_ro(&handles[2], handles[1], 1), 0);
        starpu_data_acquire(handles[2], STARPU_R);
        ck_assert_mem_eq(starpu_data_get_local_ptr(handles[2]), x[0],
                         sizeof(x[0]));
        starpu_data_release(handles[2]);
        for (int h = 0; h < 3; h++)
            starpu_data_unregister(handles[h]);
        ck_assert_mem_eq(x[1], x[0], sizeof(x[0]));
        memset(x[1], 0, sizeof(x[1]));
    }
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(interfaces)
{
    Suite *suite = suite_create("interfaces");
    TCase *each = tcase_create("on each machine");
    TCase *once = tcase_create("once");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, once);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(an_interface_needs_no_structure);
    EACH(an_interface_needs_no_memory_of_its_own);
    EACH(nodes_that_the_machine_lacks_have_no_kind);
    EACH(nodes_that_the_machine_lacks_have_shapes);
    EACH(data_that_can_only_be_packed_are_copied);
    EACH(data_whose_value_was_dropped_are_unregistered);
    EACH(data_in_pieces_are_not_wanted_any_more);
    EACH(what_can_copy_refuses_goes_through_main_memory);
    tcase_add_exit_test(once, memory_that_cannot_be_made_is_said, 1);
    return suite_main(suite);
}
