/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/here.c - see here.h. */
#include "tests/mpi/here.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/device/pinned.h"
#include "core/open.h"
#include "mpi/carrier.h"

static struct orr_pinned pinned = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct place {
    struct orr_loopback *net;
    int rank;
};

static struct orr_transport *open_loopback(void *arg, struct orr_error *err)
{
    const struct place *place = arg;
    struct orr_transport *t = orr_loopback_open(place->net, place->rank);

    if (!t)
        (void)orr_fail(err, -ENOMEM, "no memory for rank %d", place->rank);
    return t;
}

static bool is_same(const void *a, const void *b)
{
    return a == b;
}

/* It stays as long as the network. */
static void *keep_native(const void *native)
{
    return (void *)(uintptr_t)native;
}

static void drop_native(void *native)
{
    (void)native;
}

struct orr_rank *here_open(struct orr_loopback *net, int rank,
                           const struct orr_setting *settings)
{
    struct place place = {net, rank};
    struct orr_rank_conf conf = {
        .open = open_loopback,
        .arg = &place,
        .world = orr_loopback_world(net),
        .is_same = is_same,
        .keep = keep_native,
        .drop = drop_native,
        .cpu = -1,
    };

    if (orr_runtime_start(NULL, settings, &pinned) ||
        orr_rank_open(orr_self->runtime, &conf, "test"))
        abort();
    return orr_rank_need("test");
}

void here_close(struct orr_rank *rank)
{
    orr_rank_close(rank, "test");
    orr_runtime_stop(orr_self->runtime);
}
