/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-heap.c - what is inserted comes out sorted. */
#include <stdlib.h>

#include "core/base/heap.h"
#include "core/base/list.h"
#include "tests/rng.h"
#include "tests/suite.h"

struct item {
    struct orr_heap_link link;
    unsigned key;
    bool inside;
};

static struct item *item_of(struct orr_heap_link *link)
{
    return orr_container(link, struct item, link);
}

static bool before(struct orr_heap_link *a, struct orr_heap_link *b)
{
    return item_of(a)->key < item_of(b)->key;
}

enum { N = 200 };

/* The least key inside. */
static unsigned least(const struct item *items)
{
    unsigned key = ~0U;

    for (unsigned i = 0; i < N; i++)
        if (items[i].inside && items[i].key < key)
            key = items[i].key;
    return key;
}

START_TEST(the_first_is_the_least_whatever_was_removed_or_moved)
{
    struct orr_heap heap = {NULL};
    struct item items[N] = {0};
    uint64_t seed = (uint64_t)_i + 1;
    unsigned n = 0;

    for (unsigned step = 0; step < 4000; step++) {
        struct item *item = &items[rng_next(&seed) % N];
        unsigned what = (unsigned)(rng_next(&seed) % 4);

        if (item->inside && what < 2)
            item = item_of(heap.first);
        if (item->inside && what == 3) {
            item->key -=
                item->key ? (unsigned)(rng_next(&seed) % item->key) : 0;
            orr_heap_bring_forward(&heap, &item->link, before);
        } else if (item->inside) {
            orr_heap_remove(&heap, &item->link, before);
            item->inside = false;
            n--;
            ck_assert_ptr_null(item->link.child);
            ck_assert_ptr_null(item->link.next);
        } else {
            item->key = (unsigned)(rng_next(&seed) % 50);
            orr_heap_insert(&heap, &item->link, before);
            item->inside = true;
            n++;
        }
        ck_assert_int_eq(heap.first == NULL, n == 0);
        if (n)
            ck_assert_uint_eq(item_of(heap.first)->key, least(items));
    }
    while (heap.first) {
        ck_assert_uint_eq(item_of(heap.first)->key, least(items));
        item_of(heap.first)->inside = false;
        orr_heap_remove(&heap, heap.first, before);
        n--;
    }
    ck_assert_uint_eq(n, 0);
}
END_TEST

/* Pairs are joined in a loop: long lists need no deep stack. */
START_TEST(a_million_come_out_sorted)
{
    enum { MANY = 1000000 };
    struct item *items = calloc(MANY, sizeof(*items));
    struct orr_heap heap = {NULL};

    ck_assert_ptr_nonnull(items);
    for (unsigned i = 0; i < MANY; i++) {
        items[i].key = i % 2 ? i : MANY - i;
        orr_heap_insert(&heap, &items[i].link, before);
    }
    for (unsigned last = 0; heap.first;) {
        ck_assert_uint_ge(item_of(heap.first)->key, last);
        last = item_of(heap.first)->key;
        orr_heap_remove(&heap, heap.first, before);
    }
    free(items);
}
END_TEST

SUITE_MAIN(heap)
{
    Suite *suite = suite_create("heap");
    TCase *tc = tcase_create("heap");

    tcase_add_loop_test(
        tc, the_first_is_the_least_whatever_was_removed_or_moved, 0, 10);
    tcase_add_test(tc, a_million_come_out_sorted);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
