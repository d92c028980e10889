/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cluster-memory.c - without memory a network between nodes is not made, and
 * a message does not start; those that have started arrive as if there were no other. Each
 * allocation fails in turn.
 */
#include "sim/cluster/messages.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { NMESSAGES = 12 };

static bool failing;            /* one will */
static unsigned before_failure; /* allocations until then */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool fails(void)
{
    if (!failing || before_failure-- > 0)
        return false;
    failing = false; /* this one alone */
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

/* All to node 0, 8,000 bytes each; returns how many have started. Asserts nothing, since
 * Check allocates, too. */
static unsigned start_messages(struct orr_network *network, unsigned *cookies)
{
    unsigned nstarted = 0;
    struct orr_error err;

    for (unsigned i = 1; i <= NMESSAGES; i++)
        if (network->ops->start(network, i, 0, 8000, &cookies[nstarted], 0,
                                &err) == 0)
            nstarted++;
    return nstarted;
}

/* They share the NIC, and end together. */
static void check_ends(struct orr_network *network, unsigned nstarted,
                       const unsigned *cookies)
{
    unsigned *cookie, nended = 0;

    ck_assert_double_eq_tol(network->ops->next_us(network), 8. * nstarted,
                            2e-3);
    network->ops->advance(network);
    while ((cookie = network->ops->take_ended(network)))
        ck_assert_ptr_eq(cookie, &cookies[nended++]);
    ck_assert_uint_eq(nended, nstarted);
    ck_assert(isinf(network->ops->next_us(network)));
}

START_TEST(each_allocation_that_fails_costs_one_message_or_the_network)
{
    static unsigned cookies[NMESSAGES];
    struct orr_fabric fabric;
    struct orr_error err;
    bool all = false;

    ck_assert_int_eq(
        orr_fabric_parse("8Gb/s fat-tree:8,3:1 latency=0 hop=0", &fabric, &err),
        0);
    for (unsigned i = 0; !all; i++) {
        struct orr_network *network = NULL;
        unsigned nstarted = 0;
        int rc;

        before_failure = i;
        failing = true;
        rc = orr_messages_new(&fabric, NMESSAGES + 1, 0, &network, &err);
        if (rc == 0)
            nstarted = start_messages(network, cookies);
        all = failing; /* none has */
        failing = false;
        if (rc < 0) {
            ck_assert_int_eq(rc, -ENOMEM);
            ck_assert_ptr_null(network);
            continue;
        }
        ck_assert_uint_ge(nstarted, all ? NMESSAGES : NMESSAGES - 1);
        check_ends(network, nstarted, cookies);
        network->ops->free(network);
    }
}
END_TEST

SUITE_MAIN(cluster_memory)
{
    Suite *suite = suite_create("cluster-memory");
    TCase *tests = tcase_create("cluster-memory");

    tcase_add_test(tests,
                   each_allocation_that_fails_costs_one_message_or_the_network);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
