/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/stats.c - see stats.h. */
#include "mpi/stats.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/number.h"
#include "mpi/rank.h"

struct count {
    _Atomic size_t bytes, largest, messages;
};

struct orr_stats {
    atomic_bool on;
    double since; /* µs */
    _Atomic size_t by_node[STARPU_MAXNODES];
    struct count to[]; /* each rank of the communicator of all */
};

void orr_stats_set(struct orr_rank *rank, bool on)
{
    struct orr_stats *stats = rank->stats;

    if (!stats && on) {
        stats = calloc(1, sizeof(*stats) + (size_t)rank->size * sizeof(stats->to[0]));
        if (!stats)
            return;
        stats->since = rank->rt->exec->ops->now(rank->rt->exec);
        rank->stats = stats;
    }
    if (stats)
        atomic_store(&stats->on, on);
}

bool orr_stats_get(struct orr_rank *rank, size_t *bytes)
{
    if (!rank->stats)
        return false;
    for (int i = 0; i < rank->size; i++)
        bytes[i] = atomic_load(&rank->stats->to[i].bytes);
    return true;
}

void orr_stats_sent(struct orr_rank *rank, const struct orr_comm *comm, int peer,
                    unsigned node, size_t bytes)
{
    struct orr_stats *stats = rank->stats;
    struct count *count;

    if (!stats || !atomic_load_explicit(&stats->on, memory_order_relaxed))
        return;
    peer = orr_rank_of_world(rank, comm, peer);
    atomic_fetch_add(&stats->by_node[node], bytes);
    if (peer < 0)
        return;
    count = &stats->to[peer];
    atomic_fetch_add(&count->bytes, bytes);
    atomic_fetch_add(&count->messages, 1);
    if (bytes > atomic_load(&count->largest))
        atomic_store(&count->largest, bytes);
}

void orr_stats_end(struct orr_rank *rank)
{
    struct orr_stats *stats = rank->stats;
    double us;
    size_t total = 0, messages = 0;

    if (!stats)
        return;
    us = rank->rt->exec->ops->now(rank->rt->exec) - stats->since;
    for (int i = 0; i < rank->size; i++) {
        const struct count *count = &stats->to[i];
        double mb = (double)count->bytes / 1e6;

        total += count->bytes;
        messages += count->messages;
        if (count->messages)
            orr_fprintf(stderr,
                        "[starpu_comm_stats][%d:%d] %zu messages, %.6f MB, %.3f MB/s, "
                        "largest %zu bytes\n",
                        rank->number, i, count->messages, mb, us > 0 ? mb * 1e6 / us : 0,
                        count->largest);
    }
    for (unsigned n = 0; n < STARPU_MAXNODES; n++)
        if (stats->by_node[n])
            orr_fprintf(stderr, "[starpu_comm_stats][%d] %.6f MB from memory node %u\n",
                        rank->number, (double)stats->by_node[n] / 1e6, n);
    orr_fprintf(stderr, "[starpu_comm_stats][%d] total %zu messages, %.6f MB\n", rank->number,
                messages, (double)total / 1e6);
    free(stats);
    rank->stats = NULL;
}
