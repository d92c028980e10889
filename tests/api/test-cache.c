/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-cache.c - memory that is kept on devices for data to come: the
 * methods of an interface that counts, and those of the library's own.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../loopback/use.h"
#include "machines.h"

enum { MIB = 1 << 20, ROUNDS = 20 };

/* --- an interface that counts --- */

struct counted {
    size_t bytes;
    uintptr_t at;
    int kind; /* of memory: what may be exchanged */
};

static int nallocated, ncached, nreused, nfreed;
static size_t live[STARPU_MAXNODES], most[STARPU_MAXNODES];
static size_t room = SIZE_MAX; /* on a device, as the interface has it */

static void register_counted(starpu_data_handle_t handle, int home, void *given)
{
    for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
        struct counted *c = starpu_data_get_interface_on_node(handle, node);

        *c = *(struct counted *)given;
        if ((int)node != home)
            c->at = 0;
    }
}

static starpu_ssize_t allocate(void *data_interface, unsigned node)
{
    struct counted *c = data_interface;

    if (node && live[node] + c->bytes > room)
        return -ENOMEM;
    c->at = starpu_malloc_on_node(node, c->bytes);
    if (!c->at)
        return -ENOMEM;
    nallocated++;
    live[node] += c->bytes;
    if (live[node] > most[node])
        most[node] = live[node];
    return (starpu_ssize_t)c->bytes;
}

static void release(void *data_interface, unsigned node)
{
    struct counted *c = data_interface;

    ck_assert_uint_ne(c->at, 0);
    starpu_free_on_node(node, c->at, c->bytes);
    nfreed++;
    live[node] -= c->bytes;
}

static void cache(void *kept, void *data_interface, unsigned node)
{
    struct counted *to = kept, *from = data_interface;

    (void)node;
    ncached++;
    *to = *from;
    from->at = 0;
}

static void reuse(void *data_interface, const void *kept, unsigned node)
{
    struct counted *to = data_interface;
    const struct counted *from = kept;

    (void)node;
    nreused++;
    ck_assert_uint_ne(from->at, 0);
    ck_assert_uint_eq(to->at, 0);
    to->at = from->at;
}

static int copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
                void *async_data)
{
    return starpu_interface_copy(((struct counted *)src)->at, 0, src_node,
                                 ((struct counted *)dst)->at, 0, dst_node,
                                 ((struct counted *)src)->bytes, async_data);
}

static const struct starpu_data_copy_methods copy_methods = {.any_to_any =
                                                                 copy};

static size_t get_size(starpu_data_handle_t handle)
{
    return ((struct counted *)starpu_data_get_interface_on_node(handle, 0))
        ->bytes;
}

/* It says nothing, so that compare decides. */
static uint32_t footprint(starpu_data_handle_t handle)
{
    (void)handle;
    return 0;
}

static int compare(void *a, void *b)
{
    return ((struct counted *)a)->bytes == ((struct counted *)b)->bytes;
}

static int compare_kinds(void *a, void *b)
{
    return compare(a, b) &&
           ((struct counted *)a)->kind == ((struct counted *)b)->kind;
}

static const struct starpu_data_interface_ops counted_ops = {
    .register_data_handle = register_counted,
    .allocate_data_on_node = allocate,
    .free_data_on_node = release,
    .cache_data_on_node = cache,
    .reuse_data_on_node = reuse,
    .copy_methods = &copy_methods,
    .get_size = get_size,
    .footprint = footprint,
    .compare = compare,
    .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
    .interface_size = sizeof(struct counted),
};

/* Data with memory on the last node, which end. */
static void use_once(struct starpu_data_interface_ops *ops, size_t bytes,
                     int kind)
{
    struct counted c = {.bytes = bytes, .kind = kind};
    int last = (int)starpu_memory_nodes_get_count() - 1;
    starpu_data_handle_t handle;

    starpu_data_register(&handle, -1, &c, ops);
    ck_assert_int_eq(starpu_data_acquire_on_node(handle, last, STARPU_W), 0);
    starpu_data_release_on_node(handle, last);
    starpu_data_unregister(handle);
}

/* Devices of 8 MiB. */
static void open_small(int machine)
{
    setenv("STARPU_LIMIT_CUDA_MEM", "8", 1);
    if (getenv("ORRERY_DRIVERS"))
        loopback_use("2 seed=3 mib=8");
    machine_open(machine);
}

static int has_device(void)
{
    return starpu_memory_nodes_get_count() > 1;
}

START_TEST(memory_of_data_that_end_is_used_again)
{
    struct starpu_data_interface_ops ops = counted_ops, kinds = counted_ops,
                                     own = counted_ops, plain = counted_ops,
                                     mute = counted_ops;
    unsigned last;
    int n;

    machine_open(_i);
    last = starpu_memory_nodes_get_count() - 1;
    n = has_device();
    for (int i = 0; i < ROUNDS; i++)
        use_once(&ops, 1000, 0);
    ck_assert_int_eq(nallocated, n ? 1 : ROUNDS);
    ck_assert_int_eq(ncached, n ? ROUNDS : 0);
    ck_assert_int_eq(nreused, n ? ROUNDS - 1 : 0);
    ck_assert_uint_eq(starpu_memory_get_used(last), 0);

    kinds.alloc_compare = compare_kinds;
    nallocated = nreused = 0;
    for (int i = 0; i < ROUNDS; i++)
        use_once(&kinds, 1000, i & 1);
    ck_assert_int_eq(nallocated + nreused, ROUNDS);
    ck_assert_int_le(nreused, n ? ROUNDS - 2 : 0);

    own.dontcache = 1;
    nallocated = nreused = ncached = 0;
    for (int i = 0; i < ROUNDS; i++)
        use_once(&own, 1000, 0);
    ck_assert_int_eq(nallocated, ROUNDS);
    ck_assert_int_eq(nreused + ncached, 0);

    mute.compare = NULL;
    nallocated = 0;
    for (int i = 0; i < ROUNDS; i++)
        use_once(&mute, 1000, 0);
    ck_assert_int_eq(nallocated, ROUNDS);

    /* Without methods of its own the structure moves as it is. */
    plain.cache_data_on_node = NULL;
    plain.reuse_data_on_node = NULL;
    nallocated = 0;
    for (int i = 0; i < ROUNDS; i++)
        use_once(&plain, 1000, 0);
    ck_assert_int_eq(nallocated, n ? 1 : ROUNDS);
    starpu_shutdown();
    for (unsigned node = 0; node < STARPU_MAXNODES; node++)
        ck_assert_uint_eq(live[node], 0);
}
END_TEST

/* The node never holds more than it may, whatever is kept. */
START_TEST(kept_memory_gives_way)
{
    struct starpu_data_interface_ops ops = counted_ops;
    unsigned last;

    open_small(_i);
    last = starpu_memory_nodes_get_count() - 1;
    for (size_t i = 0; has_device() && i < 2 * ROUNDS; i++) {
        use_once(&ops, (1 + i % 3) * MIB, 0);
        ck_assert_uint_eq(starpu_memory_get_used(last), 0);
        ck_assert_uint_le(live[last], 8 * MIB);
    }
    if (has_device()) {
        ck_assert_int_gt(nreused, 0);
        ck_assert_uint_gt(live[last], 0);
        use_once(&ops, 5 * MIB, 0); /* some of what is kept has to go */
        ck_assert_uint_le(most[last], 8 * MIB);
        ck_assert_int_gt(nfreed, 0);
    }
    starpu_shutdown();
    ck_assert_uint_eq(live[last], 0);
}
END_TEST

/* Where the device refuses what it should have room for, as loopback devices do with the
 * last of as many bytes as they have, one datum leaves for another, and its memory is
 * used again. */
START_TEST(data_stay_on_a_device_that_has_less_than_it_says)
{
    enum { NDATA = 24, MOST = 8, LEAST = 6 };
    static char bytes[NDATA][MIB];
    starpu_data_handle_t data[NDATA];
    int last, nthere = 0;

    open_small(_i);
    last = (int)starpu_memory_nodes_get_count() - 1;
    for (int i = 0; i < NDATA; i++) {
        starpu_vector_data_register(&data[i], 0, (uintptr_t)bytes[i], MIB, 1);
        starpu_data_fetch_on_node(data[i], (unsigned)last, 0);
        nthere = 0;
        for (int j = 0; j <= i; j++)
            nthere += starpu_data_is_on_node(data[j], (unsigned)last);
        ck_assert_int_ge(nthere, i < LEAST ? i + 1 : LEAST);
        ck_assert(!has_device() || nthere <= MOST);
    }
    for (int i = 0; i < NDATA; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
}
END_TEST

/* An interface may have less memory to give than the node has: data leave for others. */
START_TEST(data_leave_where_an_interface_has_no_more)
{
    enum { NDATA = 10, BYTES = 1000 };
    static char bytes[NDATA][BYTES];
    struct starpu_data_interface_ops ops = counted_ops;
    starpu_data_handle_t data[NDATA];
    unsigned last;

    machine_open(_i);
    last = starpu_memory_nodes_get_count() - 1;
    ops.dontcache = 1;
    room = 3 * BYTES;
    for (int i = 0; i < NDATA; i++) {
        struct counted c = {.bytes = BYTES, .at = (uintptr_t)bytes[i]};

        starpu_data_register(&data[i], 0, &c, &ops);
        ck_assert_int_eq(
            starpu_data_acquire_on_node(data[i], (int)last, STARPU_RW), 0);
        starpu_data_release_on_node(data[i], (int)last);
    }
    ck_assert_int_eq(nallocated, has_device() ? NDATA : 0);
    ck_assert_uint_le(most[last], room);
    for (int i = 0; i < NDATA; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
    ck_assert_uint_eq(live[last], 0);
    room = SIZE_MAX;
}
END_TEST

/* --- interfaces of the library --- */

enum { WORDS = 24, NSHAPES = 9 };

static void fill(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static struct starpu_codelet cl_use = {.cpu_funcs = {fill},
                                       .cuda_funcs = {fill},
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .name = "k"};

/* Two shapes of as many bytes, in turns. */
static void register_shape(starpu_data_handle_t *handle, int which, bool other,
                           int64_t *words, uint32_t indices[2][WORDS + 1])
{
    uint32_t nn[3] = {other ? 2 : 4, other ? 4 : 2, 3}, ldn[3] = {1, nn[0], 8};
    uintptr_t at = (uintptr_t)words;

    switch (which) {
    case 0:
        starpu_vector_data_register(handle, 0, at, other ? WORDS : WORDS * 2,
                                    other ? 8 : 4);
        break;
    case 1:
        starpu_variable_data_register(handle, 0, at, 8 * WORDS);
        break;
    case 2:
        starpu_matrix_data_register(handle, 0, at, nn[0] * 3, nn[0] * 3, nn[1],
                                    8);
        break;
    case 3:
        starpu_block_data_register(handle, 0, at, nn[0], 8, nn[0], nn[1], 3, 8);
        break;
    case 4:
        starpu_tensor_data_register(handle, 0, at, nn[0], 8, 8, nn[0], nn[1], 1,
                                    3, 8);
        break;
    case 5:
        starpu_ndim_data_register(handle, 0, at, ldn, nn, 3, 8);
        break;
    case 6:
        starpu_csr_data_register(handle, 0, WORDS, WORDS, at, indices[0],
                                 indices[1], other, 8);
        break;
    case 7:
        starpu_bcsr_data_register(handle, 0, WORDS / 4, 6, at, indices[0],
                                  indices[1], other, 2, 2, 8);
        break;
    default:
        starpu_coo_data_register(handle, 0, WORDS, 1, WORDS, indices[0],
                                 indices[1], at, 8);
        break;
    }
}

START_TEST(each_interface_has_its_values_in_kept_memory)
{
    int64_t words[WORDS], before[WORDS];
    uint32_t indices[2][WORDS + 1];
    unsigned nodes;

    machine_open(_i);
    nodes = starpu_memory_nodes_get_count();
    for (int round = 0; round < 4 * NSHAPES; round++) {
        starpu_data_handle_t handle;

        for (int k = 0; k < WORDS; k++)
            before[k] = words[k] = 1000 * round + k;
        for (uint32_t k = 0; k <= WORDS; k++)
            indices[0][k] = indices[1][k] = k;
        register_shape(&handle, round % NSHAPES, round / NSHAPES % 2, words,
                       indices);
        for (unsigned node = nodes; node-- > 0;) {
            ck_assert_int_eq(
                starpu_data_acquire_on_node(handle, (int)node, STARPU_RW), 0);
            starpu_data_release_on_node(handle, (int)node);
        }
        for (int w = 0; w < (int)starpu_worker_get_count(); w++)
            ck_assert_int_eq(starpu_task_insert(&cl_use, STARPU_RW, handle,
                                                STARPU_EXECUTE_ON_WORKER, w, 0),
                             0);
        starpu_data_unregister(handle);
        ck_assert_mem_eq(words, before, sizeof(words));
        for (uint32_t k = 0; k < WORDS; k++)
            ck_assert_uint_eq(indices[0][k], k);
    }
    for (unsigned node = 1; node < nodes; node++)
        ck_assert_uint_eq(starpu_memory_get_used(node), 0);
    starpu_shutdown();
}
END_TEST

static Suite *cache_suite(void)
{
    Suite *suite = suite_create("cache");
    TCase *tc = tcase_create("all");

    tcase_add_loop_test(tc, memory_of_data_that_end_is_used_again, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, kept_memory_gives_way, 0, NMACHINES);
    tcase_add_loop_test(tc, data_stay_on_a_device_that_has_less_than_it_says, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, data_leave_where_an_interface_has_no_more, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, each_interface_has_its_values_in_kept_memory, 0,
                        NMACHINES);
    suite_add_tcase(suite, tc);
    return suite;
}

SUITE_MAIN(cache)
{
    return suite_main(cache_suite());
}
