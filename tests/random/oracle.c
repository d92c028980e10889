/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/oracle.c - see oracle.h. Knows nothing of nodes and copies. */
#include "oracle.h"

#include <errno.h>
#include <stdlib.h>

struct oracle {
    const struct graph *graph;
    const struct machine *machine;
    struct answers *answers;
    uint64_t *words[MAX_DATA]; /* pieces: within their parent's */
    bool valued[MAX_DATA], cut[MAX_DATA];
};

static const struct data *data_of(const struct oracle *o, unsigned d)
{
    return &o->graph->data[d];
}

bool oracle_looks(const struct graph *graph, const struct machine *machine,
                  const struct call *call, unsigned k)
{
    bool task = call->kind == CALL_TASK;
    unsigned d = task ? call->buffers[k].data : call->data;
    unsigned mode = task ? call->buffers[k].mode : call->mode;
    enum use use = use_of(&graph->data[d], mode);

    if (call->kind == CALL_ACQUIRE && !is_main(machine, call->node))
        return false;
    return use == READ || use == UPDATE;
}

uint64_t oracle_number(const struct graph *graph, const struct call *call,
                       const uint64_t *hashes)
{
    unsigned n = call->kind == CALL_TASK ? call->nbuffers : 1;
    uint64_t x = call->salt;

    for (unsigned k = 0; k < n; k++) {
        unsigned d =
            call->kind == CALL_TASK ? call->buffers[k].data : call->data;
        unsigned mode =
            call->kind == CALL_TASK ? call->buffers[k].mode : call->mode;
        enum use use = use_of(&graph->data[d], mode);

        if (use == READ || use == UPDATE)
            x = bytes_mix(x + hashes[k]);
    }
    return x;
}

static void do_task(struct oracle *o, const struct call *call, uint64_t *hash)
{
    uint64_t x;

    for (unsigned k = 0; k < call->nbuffers; k++) {
        unsigned d = call->buffers[k].data;

        if (oracle_looks(o->graph, o->machine, call, k))
            hash[k] = bytes_hash(o->words[d], data_of(o, d)->n);
    }
    x = oracle_number(o->graph, call, hash);
    for (unsigned k = 0; k < call->nbuffers; k++) {
        const struct access *access = &call->buffers[k];
        const struct data *data = data_of(o, access->data);

        bytes_write(o->words[access->data], data->n, use_of(data, access->mode),
                    x);
        if (access->mode & (STARPU_W | STARPU_REDUX))
            o->valued[access->data] = true;
    }
}

static void do_acquire(struct oracle *o, const struct call *call,
                       uint64_t *hash)
{
    const struct data *data = data_of(o, call->data);

    if (!is_main(o->machine, call->node))
        return;
    if (oracle_looks(o->graph, o->machine, call, 0))
        hash[0] = bytes_hash(o->words[call->data], data->n);
    bytes_write(o->words[call->data], data->n, use_of(data, call->mode),
                oracle_number(o->graph, call, hash));
    if (call->mode & STARPU_W)
        o->valued[call->data] = true;
}

static void set_pieces(struct oracle *o, unsigned parent)
{
    o->cut[parent] = true;
    for (unsigned d = 0; d < o->graph->ndata; d++)
        if (data_of(o, d)->parent == (int8_t)parent)
            o->valued[d] = o->valued[parent];
}

static void ask_pieces(struct oracle *o, unsigned parent)
{
    o->cut[parent] = false;
    o->valued[parent] = true;
    for (unsigned d = 0; d < o->graph->ndata; d++) {
        if (data_of(o, d)->parent != (int8_t)parent)
            continue;
        if (o->cut[d])
            ask_pieces(o, d);
        o->valued[parent] &= o->valued[d];
    }
}

static void do_call(struct oracle *o, const struct call *call, uint64_t *hash)
{
    const struct data *data = data_of(o, call->data);

    switch ((enum call_kind)call->kind) {
    case CALL_REGISTER:
        bytes_fill(o->words[call->data], data->n, call->salt);
        o->valued[call->data] = data->home >= 0;
        break;
    case CALL_TASK:
        do_task(o, call, hash);
        break;
    case CALL_ACQUIRE:
        do_acquire(o, call, hash);
        break;
    case CALL_INVALIDATE:
        o->valued[call->data] = false;
        break;
    case CALL_PARTITION:
        set_pieces(o, call->data);
        break;
    case CALL_UNPARTITION:
        ask_pieces(o, call->data);
        break;
    case CALL_UNREGISTER:
        /* 0: nothing is to be found there. */
        if (call->how == HOW_WAIT && o->valued[call->data] && data->home >= 0)
            hash[0] = bytes_hash(o->words[call->data], data->n);
        break;
    default:
        break;
    }
}

static int allocate(struct oracle *o)
{
    for (unsigned d = 0; d < o->graph->ndata; d++) {
        const struct data *data = data_of(o, d);

        if (data->parent >= 0)
            o->words[d] = o->words[data->parent] + data->part * data->n;
        else
            o->words[d] = calloc(data->n, sizeof(uint64_t));
        if (!o->words[d])
            return -ENOMEM;
    }
    return 0;
}

int oracle_ask(const struct graph *graph, const struct machine *machine,
               struct answers *ret)
{
    struct oracle o = {.graph = graph, .machine = machine, .answers = ret};
    int err = allocate(&o);

    for (unsigned i = 0; i < graph->ncalls; i++) {
        for (unsigned k = 0; k < MAX_BUFFERS; k++)
            ret->hash[i][k] = 0;
        if (!err)
            do_call(&o, &graph->calls[i], ret->hash[i]);
    }
    for (unsigned d = 0; d < graph->ndata; d++)
        if (graph->data[d].parent < 0)
            free(o.words[d]);
    return err;
}
