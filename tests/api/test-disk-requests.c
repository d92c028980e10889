/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-disk-requests.c - disks of the application's own whose copies are
 * begun, and end later; and copies from one disk to another. On the real machine,
 * with one worker: who starts copies makes an object on the disk for one only when
 * it has started the one before.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <starpu.h>

#include "../suite.h"

enum { N = 8, NX = 16 * 1024 };

/* -- a disk in memory -- */

static struct {
    atomic_uint nobjects, nmade, nbegun, nended, most, nread, nwritten, ncopied;
    unsigned refuses; /* each n-th beginning; 0: none */
    unsigned gate;    /* the first one waits until so many objects are made */
} disk;

struct request {
    char *to;
    const char *from;
    size_t size;
    bool done;
};

static void *plug(void *parameter, starpu_ssize_t size)
{
    (void)size;
    return parameter;
}

static void unplug(void *base)
{
    (void)base;
}

static void *make(void *base, size_t size)
{
    (void)base;
    disk.nobjects++;
    disk.nmade++;
    return malloc(size);
}

static void unmake(void *base, void *obj, size_t size)
{
    (void)base;
    (void)size;
    disk.nobjects--;
    free(obj);
}

static int read_now(void *base, void *obj, void *buf, off_t offset, size_t size)
{
    (void)base;
    disk.nread++;
    memcpy(buf, (char *)obj + offset, size);
    return 0;
}

static int write_now(void *base, void *obj, const void *buf, off_t offset,
                     size_t size)
{
    (void)base;
    disk.nwritten++;
    memcpy((char *)obj + offset, buf, size);
    return 0;
}

static void *begin(void *to, const void *from, size_t size)
{
    struct request *request;
    unsigned n = ++disk.nbegun, under_way;

    if (disk.refuses && n % disk.refuses == 0) {
        disk.nended++;
        return NULL;
    }
    while (n == 1 && disk.nmade < disk.gate)
        sched_yield();
    under_way = n - disk.nended;
    if (under_way > disk.most)
        disk.most = under_way;
    request = malloc(sizeof(*request));
    *request = (struct request){to, from, size, false};
    return request;
}

static void *begin_read(void *base, void *obj, void *buf, off_t offset,
                        size_t size)
{
    (void)base;
    return begin(buf, (char *)obj + offset, size);
}

static void *begin_write(void *base, void *obj, void *buf, off_t offset,
                         size_t size)
{
    (void)base;
    return begin((char *)obj + offset, buf, size);
}

static void *begin_copy(void *base_src, void *obj_src, off_t off_src,
                        void *base_dst, void *obj_dst, off_t off_dst,
                        size_t size)
{
    (void)base_src;
    (void)base_dst;
    disk.ncopied++;
    return begin((char *)obj_dst + off_dst, (char *)obj_src + off_src, size);
}

/* The bytes move when it is waited for, no sooner. */
static void await(void *channel)
{
    struct request *request = channel;

    memcpy(request->to, request->from, request->size);
    request->done = true;
}

/* Each second one that is asked for has ended: not in the order of beginnings. */
static int test(void *channel)
{
    static unsigned ncalls;

    if (++ncalls % 2 == 0)
        return 0;
    await(channel);
    return 1;
}

static void end(void *channel)
{
    struct request *request = channel;

    ck_assert(request->done);
    disk.nended++;
    free(request);
}

static struct starpu_disk_ops disk_ops;

static void set_up(void)
{
    memset(&disk, 0, sizeof(disk));
    disk_ops = (struct starpu_disk_ops){
        .plug = plug,
        .unplug = unplug,
        .alloc = make,
        .free = unmake,
        .read = read_now,
        .write = write_now,
        .async_read = begin_read,
        .async_write = begin_write,
        .copy = begin_copy,
        .wait_request = await,
        .test_request = test,
        .free_request = end,
    };
    setenv("STARPU_NCPU", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static int add_disk(void)
{
    int node = starpu_disk_register(&disk_ops, &disk, -1);

    ck_assert_int_ge(node, 1);
    return node;
}

/* -- data -- */

static starpu_data_handle_t data[N];

static void register_data(struct starpu_data_interface_ops *ops)
{
    for (unsigned d = 0; d < N; d++) {
        struct starpu_vector_interface vector = {
            .id = STARPU_VECTOR_INTERFACE_ID,
            .nx = NX,
            .elemsize = sizeof(unsigned),
            .allocsize = NX * sizeof(unsigned),
        };
        unsigned *at;

        starpu_data_register(&data[d], -1, &vector, ops);
        ck_assert_int_eq(starpu_data_acquire(data[d], STARPU_W), 0);
        at = (unsigned *)starpu_data_get_local_ptr(data[d]);
        for (unsigned i = 0; i < NX; i++)
            at[i] = d * NX + i;
        starpu_data_release(data[d]);
    }
}

static int to_node;
static atomic_uint nheld; /* by those callbacks */

static void let_go(void *arg)
{
    starpu_data_release_on_node(arg, to_node);
    atomic_fetch_sub(&nheld, 1);
}

/* All of them to the disk at once, and out of main memory and `from`. */
static void bring_all(int node, int from)
{
    to_node = node;
    atomic_store(&nheld, N);
    for (unsigned d = 0; d < N; d++)
        ck_assert_int_eq(starpu_data_acquire_on_node_cb(data[d], node, STARPU_R,
                                                        let_go, data[d]),
                         0);
    while (atomic_load(&nheld) > 0)
        sched_yield();
    for (unsigned d = 0; d < N; d++) {
        ck_assert_int_eq(starpu_data_acquire_on_node(data[d], node, STARPU_R),
                         0);
        starpu_data_release_on_node(data[d], node);
        (void)starpu_data_evict_from_node(data[d], STARPU_MAIN_RAM);
        ck_assert_uint_eq(
            starpu_data_test_if_allocated_on_node(data[d], STARPU_MAIN_RAM), 0);
        if (from > 0)
            ck_assert_int_eq(
                starpu_data_evict_from_node(data[d], (unsigned)from), 0);
    }
}

static void check_data(void)
{
    for (unsigned d = 0; d < N; d++) {
        const unsigned *at;
        unsigned wrong = 0;

        ck_assert_int_eq(starpu_data_acquire(data[d], STARPU_R), 0);
        at = (const unsigned *)starpu_data_get_local_ptr(data[d]);
        for (unsigned i = 0; i < NX; i++)
            wrong += at[i] != d * NX + i;
        ck_assert_uint_eq(wrong, 0);
        starpu_data_release(data[d]);
        starpu_data_unregister(data[d]);
    }
    starpu_shutdown();
    ck_assert_uint_eq(disk.nobjects, 0);
    ck_assert_uint_eq(disk.nbegun, disk.nended);
}

START_TEST(copies_are_under_way_together)
{
    unsigned nprobes;
    int node;

    set_up();
    node = add_disk();
    nprobes = disk.nwritten;
    disk.gate = disk.nmade + 4;
    register_data(&starpu_interface_vector_ops);
    bring_all(node, -1);
    ck_assert_uint_ge(disk.most, 3);
    ck_assert_uint_eq(disk.nbegun, N);
    ck_assert_uint_eq(disk.nwritten, nprobes);
    check_data();
    ck_assert_uint_eq(disk.nbegun, 2 * N);
}
END_TEST

START_TEST(without_test_request_the_oldest_is_waited_for)
{
    int node;

    set_up();
    disk_ops.test_request = NULL;
    node = add_disk();
    disk.gate = disk.nmade + 4;
    register_data(&starpu_interface_vector_ops);
    bring_all(node, -1);
    ck_assert_uint_ge(disk.most, 3);
    check_data();
}
END_TEST

START_TEST(what_is_not_begun_is_made_at_once)
{
    unsigned nwritten, nread;
    int node;

    set_up();
    disk.refuses = 2;
    node = add_disk();
    nwritten = disk.nwritten;
    nread = disk.nread;
    register_data(&starpu_interface_vector_ops);
    bring_all(node, -1);
    check_data();
    ck_assert_uint_eq(disk.nwritten - nwritten, N / 2);
    ck_assert_uint_eq(disk.nread - nread, N / 2);
}
END_TEST

START_TEST(what_cannot_be_waited_for_is_not_begun)
{
    int node;

    set_up();
    disk_ops.free_request = NULL;
    node = add_disk();
    register_data(&starpu_interface_vector_ops);
    bring_all(node, -1);
    check_data();
    ck_assert_uint_eq(disk.nbegun, 0);
}
END_TEST

/* -- from disk to disk -- */

START_TEST(disks_of_the_same_functions_copy_to_each_other)
{
    int from, to;

    set_up();
    from = add_disk();
    to = add_disk();
    register_data(&starpu_interface_vector_ops);
    bring_all(from, -1);
    bring_all(to, from);
    ck_assert_uint_eq(disk.ncopied, N);
    ck_assert_uint_eq(disk.nbegun, 2 * N);
    check_data();
}
END_TEST

/* The library reads and writes: main memory gets no copy. */
START_TEST(other_disks_are_read_and_written)
{
    struct starpu_disk_ops plain;
    unsigned nwritten;
    int from, to;

    set_up();
    plain = disk_ops;
    plain.async_write = NULL;
    from = add_disk();
    to = starpu_disk_register(&plain, &disk, -1);
    ck_assert_int_gt(to, from);
    nwritten = disk.nwritten;
    register_data(&starpu_interface_vector_ops);
    bring_all(from, -1);
    bring_all(to, from);
    ck_assert_uint_eq(disk.ncopied, 0);
    ck_assert_uint_eq(disk.nwritten - nwritten, N);
    check_data();
}
END_TEST

/* -- data that are packed -- */

static int write_all(void *base, void *obj, void *ptr, size_t size)
{
    return write_now(base, obj, ptr, 0, size);
}

static int read_all(void *base, void *obj, void **ptr, size_t *size,
                    unsigned dst_node)
{
    *size = NX * sizeof(unsigned);
    *ptr = (void *)starpu_malloc_on_node_flags(dst_node, *size, 0);
    return *ptr ? read_now(base, obj, *ptr, 0, *size) : -1;
}

static int copy_in_memory(void *src, unsigned src_node, void *dst,
                          unsigned dst_node)
{
    const struct starpu_vector_interface *from = src, *to = dst;

    (void)src_node;
    (void)dst_node;
    memcpy((void *)to->ptr, (void *)from->ptr, from->nx * from->elemsize);
    return 0;
}

START_TEST(packed_data_go_from_disk_to_disk_as_they_are)
{
    static const struct starpu_data_copy_methods methods = {.ram_to_ram =
                                                                copy_in_memory};
    struct starpu_data_interface_ops packed = starpu_interface_vector_ops;
    int from, to;

    set_up();
    packed.copy_methods = &methods;
    packed.interfaceid = starpu_data_interface_get_next_id();
    disk_ops.full_write = write_all;
    disk_ops.full_read = read_all;
    from = add_disk();
    to = add_disk();
    register_data(&packed);
    bring_all(from, -1);
    bring_all(to, from);
    ck_assert_uint_eq(disk.nbegun, 0);
    check_data();
}
END_TEST

SUITE_MAIN(disk_requests)
{
    Suite *suite = suite_create("requests of disks");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, copies_are_under_way_together);
    tcase_add_test(tcase, without_test_request_the_oldest_is_waited_for);
    tcase_add_test(tcase, what_is_not_begun_is_made_at_once);
    tcase_add_test(tcase, what_cannot_be_waited_for_is_not_begun);
    tcase_add_test(tcase, disks_of_the_same_functions_copy_to_each_other);
    tcase_add_test(tcase, other_disks_are_read_and_written);
    tcase_add_test(tcase, packed_data_go_from_disk_to_disk_as_they_are);
    suite_add_tcase(suite, tcase);
    return suite_main(suite);
}
