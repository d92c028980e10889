/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/bound/messages.c - what the ranks of a run have sent each other, by their graphs. */
#include <errno.h>
#include <stdlib.h>

#include "tools/bound/cluster.h"
#include "tools/common/pair_messages.h"

struct pairing {
    struct orr_graph *const *graphs;
    const unsigned *first; /* by rank, of its messages among all */
    struct bound_messages *to;
};

static const struct orr_graph_message *end_of(const struct pairing *p, unsigned rank,
                                              size_t number)
{
    return &p->graphs[rank]->messages[number - p->first[rank]];
}

static void add_pair(void *arg, const struct message_end *sent,
                     const struct message_end *received)
{
    struct pairing *p = arg;
    const struct orr_graph_message *from = end_of(p, sent->from, sent->index);
    const struct orr_graph_message *to = end_of(p, received->to, received->index);

    p->to->all[p->to->n++] = (struct orr_bound_message){
        .from = sent->from,
        .sent = from->task,
        .to = received->to,
        .received = to->task,
        .bytes = (double)(from->bytes < to->bytes ? from->bytes : to->bytes),
        .early = from->early};
}

/* Turns of a datum are in order in its graph, and a tag is one datum's. */
static struct message_end *collect_ends(const struct pairing *p, unsigned n, unsigned nends)
{
    struct message_end *ends = orr_bound_array(nends, sizeof(*ends));
    size_t at = 0;

    for (unsigned r = 0; ends && r < n; r++)
        for (unsigned m = 0; p->graphs[r] && m < p->graphs[r]->nmessages; m++) {
            const struct orr_graph_message *message = &p->graphs[r]->messages[m];

            ends[at] = (struct message_end){.from = message->received ? message->peer : r,
                                            .to = message->received ? r : message->peer,
                                            .received = message->received,
                                            .tag = message->tag,
                                            .number = message->number,
                                            .time = message->task,
                                            .index = at};
            at++;
        }
    return ends;
}

static int compare_receivers(const void *a, const void *b)
{
    const struct orr_bound_message *x = a, *y = b;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->received != y->received)
        return x->received < y->received ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* By the task that receives it. */
static void index_messages(struct orr_graph *const *graphs, unsigned n,
                           struct bound_messages *messages)
{
    unsigned at = 0, task = 0;

    for (unsigned r = 0; r < n; r++)
        for (unsigned t = 0; graphs[r] && t < graphs[r]->ntasks; t++) {
            messages->first[task++] = at;
            while (at < messages->n && messages->all[at].to == r &&
                   messages->all[at].received == t)
                at++;
        }
    messages->first[task] = at;
}

int bound_messages_find(struct orr_graph *const *graphs, unsigned n, struct bound_messages *ret)
{
    unsigned *first = orr_bound_array((size_t)n + 1, sizeof(*first));
    unsigned nends = 0, ntasks = 0;
    struct pairing pairing = {graphs, first, ret};
    struct message_end *ends = NULL;

    *ret = (struct bound_messages){0};
    for (unsigned r = 0; first && r < n; r++) {
        first[r] = nends;
        nends += graphs[r] ? graphs[r]->nmessages : 0;
        ntasks += graphs[r] ? graphs[r]->ntasks : 0;
    }
    ret->all = orr_bound_array(nends, sizeof(*ret->all));
    ret->first = orr_bound_array((size_t)ntasks + 1, sizeof(*ret->first));
    if (first)
        ends = collect_ends(&pairing, n, nends);
    if (ends && ret->all && ret->first) {
        pair_messages(ends, nends, add_pair, &pairing);
        qsort(ret->all, ret->n, sizeof(*ret->all), compare_receivers);
        index_messages(graphs, n, ret);
    }
    free(first);
    if (!ends || !ret->all || !ret->first) {
        free(ends);
        return -ENOMEM;
    }
    free(ends);
    return 0;
}

void bound_messages_done(struct bound_messages *messages)
{
    free(messages->all);
    free(messages->first);
    *messages = (struct bound_messages){0};
}
