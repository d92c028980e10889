/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/oracle.c - see oracle.h. Knows nothing of nodes and copies. */
#include "oracle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct oracle {
    const struct graph *graph;
    const struct machine *machine;
    struct answers *answers;
    struct view views[MAX_DATA]; /* pieces: within their parent's words */
    struct view marks[MAX_DATA]; /* of each word whether it has a value */
};

/* What the datum holds. */
static uint64_t hash_of(const struct oracle *o, unsigned d)
{
    const struct view *v = &o->views[d];
    uint64_t *words = view_open(v);
    uint64_t hash = bytes_hash(words, view_words(v));

    view_close(v, words, false);
    return hash;
}

static void write_with(struct oracle *o, unsigned d, enum use use, uint64_t x)
{
    const struct view *v = &o->views[d];
    uint64_t *words = view_open(v);

    bytes_write(words, view_words(v), use, x);
    view_close(v, words, true);
}

static void set_valued(struct oracle *o, unsigned d, bool valued)
{
    const struct view *v = &o->marks[d];
    uint64_t *marks = view_open(v);

    for (size_t i = 0; i < view_words(v); i++)
        marks[i] = valued;
    view_close(v, marks, true);
}

static bool is_valued(const struct oracle *o, unsigned d)
{
    const struct view *v = &o->marks[d];
    uint64_t *marks = view_open(v);
    bool all = true;

    for (size_t i = 0; i < view_words(v); i++)
        all &= marks[i] != 0;
    view_close(v, marks, false);
    return all;
}

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
            hash[k] = hash_of(o, d);
    }
    x = oracle_number(o->graph, call, hash);
    for (unsigned k = 0; k < call->nbuffers; k++) {
        const struct access *access = &call->buffers[k];
        const struct data *data = data_of(o, access->data);

        write_with(o, access->data, use_of(data, access->mode), x);
        if (access->mode & (STARPU_W | STARPU_REDUX))
            set_valued(o, access->data, true);
    }
}

static void do_acquire(struct oracle *o, const struct call *call,
                       uint64_t *hash)
{
    const struct data *data = data_of(o, call->data);

    if (!is_main(o->machine, call->node))
        return;
    if (oracle_looks(o->graph, o->machine, call, 0))
        hash[0] = hash_of(o, call->data);
    write_with(o, call->data, use_of(data, call->mode),
               oracle_number(o->graph, call, hash));
    if (call->mode & STARPU_W)
        set_valued(o, call->data, true);
}

static void do_copy(struct oracle *o, const struct call *call)
{
    const struct view *from = &o->views[call->from];
    const struct view *to = &o->views[call->data];
    uint64_t *words = view_open(from), *copies = view_open(to);

    memcpy(copies, words, view_words(to) * sizeof(*words));
    view_close(to, copies, true);
    view_close(from, words, false);
    set_valued(o, call->data, true);
}

/* What is found there until it is written. */
static void begin(struct oracle *o, const struct call *call)
{
    const struct data *data = data_of(o, call->data);

    if (data_makes_first(data))
        memset(o->views[call->data].at, 0,
               data_words(data) * sizeof(uint64_t));
    else if (call->kind == CALL_REGISTER)
        bytes_fill(o->views[call->data].at, data_words(data), call->salt);
    set_valued(o, call->data, call->kind == CALL_REGISTER && data->home >= 0);
}

static void do_call(struct oracle *o, const struct call *call, uint64_t *hash)
{
    const struct data *data = data_of(o, call->data);

    switch ((enum call_kind)call->kind) {
    case CALL_REGISTER:
    case CALL_INVALIDATE:
        begin(o, call);
        break;
    case CALL_TASK:
        do_task(o, call, hash);
        break;
    case CALL_ACQUIRE:
        do_acquire(o, call, hash);
        break;
    case CALL_COPY:
        do_copy(o, call);
        break;
    case CALL_UNREGISTER:
        /* 0: nothing is to be found there. */
        if (call->how == HOW_WAIT && data->home >= 0 &&
            is_valued(o, call->data))
            hash[0] = hash_of(o, call->data);
        break;
    default:
        break;
    }
}

static int allocate(struct oracle *o)
{
    for (unsigned d = 0; d < o->graph->ndata; d++) {
        const struct data *data = data_of(o, d);

        if (data->parent >= 0) {
            const struct cut *cut =
                &data_of(o, (unsigned)data->parent)->cuts[data->plan];

            o->views[d] = cut_view(&o->views[data->parent], cut, data->part);
            o->marks[d] = cut_view(&o->marks[data->parent], cut, data->part);
            continue;
        }
        o->views[d] = view_dense(
            &data->shape, calloc(data_words(data) + 1, sizeof(uint64_t)));
        o->marks[d] = view_dense(
            &data->shape, calloc(data_words(data) + 1, sizeof(uint64_t)));
        if (!o->views[d].at || !o->marks[d].at)
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
        if (graph->data[d].parent < 0) {
            free(o.views[d].at);
            free(o.marks[d].at);
        }
    return err;
}
