/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-slab.c - a slab knows whether some object is in use. */
#include <stdlib.h>
#include <string.h>

#include "core/base/exec.h"
#include "core/base/lock.h"
#include "core/base/slab.h"
#include "tests/suite.h"

enum { SIZE = 96, WORKERS = 2, MANY = 1000 };

static struct orr_slab *slab;
static struct orr_context self, *before;
static struct orr_exec exec;

static void begin(void)
{
    orr_lock_outside(&self, &exec);
    before = orr_self;
    orr_self = &self;
    ck_assert_int_eq(orr_slab_new(SIZE, WORKERS, &slab), 0);
}

static void end(void)
{
    orr_slab_free(slab);
    orr_self = before;
}

/* The n objects are taken by one worker, put by the other one, or by no worker. */
static void take(void **objects, unsigned n, unsigned cache)
{
    self.cache = cache;
    for (unsigned i = 0; i < n; i++)
        ck_assert_ptr_nonnull(objects[i] = orr_slab_get(slab));
}

static void put(void **objects, unsigned n, unsigned cache)
{
    self.cache = cache;
    for (unsigned i = 0; i < n; i++)
        orr_slab_put(slab, objects[i]);
}

START_TEST(it_is_used_until_the_last_object_is_back)
{
    static const unsigned counts[] = {1, 63, 64, 65, 128, 129, MANY};
    void *objects[MANY];

    ck_assert(orr_slab_is_unused(slab));
    for (unsigned i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        unsigned n = counts[i];

        take(objects, n, i % 3);
        ck_assert(!orr_slab_is_unused(slab));
        put(objects, n - 1, (i + 1) % 3);
        ck_assert(!orr_slab_is_unused(slab));
        put(objects + n - 1, 1, (i + 2) % 3);
        ck_assert(orr_slab_is_unused(slab));
    }
}
END_TEST

START_TEST(memory_stays_while_an_object_is_used)
{
    void *objects[MANY];

    take(objects, MANY, 1);
    put(objects + 1, MANY - 1, 2);
    orr_slab_trim(slab);
    ck_assert(orr_slab_made(slab, objects[0]));
    *(unsigned *)objects[0] = 1;
    put(objects, 1, 0);
    orr_slab_trim(slab);
    ck_assert(!orr_slab_made(slab, objects[0]));
    take(objects, MANY, 1);
    put(objects, MANY, 1);
    ck_assert(orr_slab_is_unused(slab));
}
END_TEST

/* As many as are in use: only their number tells them from those. */
START_TEST(what_malloc_has_made_does_not_stand_for_what_is_used)
{
    void *objects[MANY], *adopted[3];

    take(objects, MANY, 1);
    put(objects + 3, MANY - 3, 1);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_ptr_nonnull(adopted[i] = malloc(SIZE));
        orr_slab_adopt(slab, adopted[i]);
    }
    ck_assert(!orr_slab_is_unused(slab));
    orr_slab_trim(slab);
    ck_assert(orr_slab_made(slab, objects[0]));
    ck_assert(!orr_slab_made(slab, adopted[0]));
    put(objects, 3, 2);
    ck_assert(orr_slab_is_unused(slab));
    orr_slab_trim(slab); /* which frees what it has adopted, too: sanitizers */
    ck_assert(orr_slab_is_unused(slab));
}
END_TEST

static void count_zeroed(void *object, void *arg)
{
    const unsigned char *bytes = object;
    unsigned *n = arg;

    for (unsigned i = 16; i < SIZE; i++)
        ck_assert_uint_eq(bytes[i], 0);
    (*n)++;
}

/* Whatever memory was before: a block takes the place of what malloc had there. */
START_TEST(what_was_never_taken_is_zero)
{
    size_t sizes[] = {(size_t)16 << 10, (size_t)32 << 10, (size_t)64 << 10, (size_t)128 << 10};
    unsigned n = 0;
    void *barrier;

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        void *memory = malloc(sizes[i]);

        barrier = malloc(1);
        ck_assert(memory && barrier);
        memset(memory, 0xa5, sizes[i]);
        __asm__ volatile("" : : "r"(memory) : "memory");
        free(memory);
        free(barrier);
    }
    self.cache = 1;
    for (unsigned i = 1; i <= 4 * MANY; i++) {
        memset(orr_slab_get(slab), 0, SIZE);
        if (i % 50)
            continue;
        n = 0;
        orr_slab_each(slab, count_zeroed, &n);
        ck_assert_uint_ge(n, i);
    }
}
END_TEST

static void take_zeroed(void **objects, unsigned n, unsigned cache)
{
    static const unsigned char zero[SIZE];

    self.cache = cache;
    for (unsigned i = 0; i < n; i++) {
        objects[i] = orr_slab_get_zeroed(slab);
        ck_assert_ptr_nonnull(objects[i]);
        ck_assert_mem_eq(objects[i], zero, SIZE);
        memset(objects[i], 0xa5, SIZE);
    }
}

/* Fresh ones and used ones mixed, in each cache and the depot. */
START_TEST(what_is_asked_for_zeroed_is_zero)
{
    static const unsigned counts[] = {1, 63, 64, 65, 130, 700, MANY};
    void *objects[MANY], *others[MANY];

    for (unsigned i = 0; i < 3 * sizeof(counts) / sizeof(*counts); i++) {
        unsigned n = counts[i % (sizeof(counts) / sizeof(*counts))];

        take_zeroed(objects, n, i % 3);
        take(others, n / 2, i % 3);
        put(objects, n, (i + 1) % 3);
        take_zeroed(objects, n / 3, (i + 1) % 3);
        put(objects, n / 3, i % 3);
        put(others, n / 2, i % 3);
        if (i % 7 == 6)
            orr_slab_trim(slab);
    }
}
END_TEST

SUITE_MAIN(slab)
{
    Suite *suite = suite_create("slab");
    TCase *tc = tcase_create("use");

    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, it_is_used_until_the_last_object_is_back);
    tcase_add_test(tc, memory_stays_while_an_object_is_used);
    tcase_add_test(tc, what_malloc_has_made_does_not_stand_for_what_is_used);
    tcase_add_test(tc, what_was_never_taken_is_zero);
    tcase_add_test(tc, what_is_asked_for_zeroed_is_zero);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
