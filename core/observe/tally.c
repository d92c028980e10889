/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/tally.c - see tally.h. A table per worker, which only that
 * worker changes; a row of links, each changed under its progress node's lock.
 */
#include "core/observe/tally.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/device/machine.h"

enum { FIRST_SLOTS = 64, FIRST_SAMPLES = 16 };

/* The default tolerance of models around the median. */
static const double keep_ratio = 1.5;

struct orr_tally_item {
    struct orr_tally_item *next; /* of its worker, the newest first */
    const void *key;
    struct orr_tally_kernel kernel; /* its name is owned */
    uint64_t count;
    double sum;
    uint64_t npredicted;
    double predicted; /* Σ */
    uint64_t stride;  /* every how many-th duration is kept */
    unsigned n, room;
    double *samples; /* owned */
};

struct table {
    size_t nslots, nitems; /* nslots is a power of two */
    struct orr_tally_item **slots;
    struct orr_tally_item *first;
    double last_end; /* of a kernel that has a model */
    unsigned long lost;
    char pad[64];
};

struct orr_tally {
    unsigned nworkers, nnodes;
    struct table *tables;         /* one for each worker */
    struct orr_tally_link *links; /* nnodes × nnodes, source first */
    struct orr_tally_peer *peers; /* each rank, up to the last one with messages */
    size_t npeers, peers_room;
    atomic_bool submitted;
    double first_submit; /* written by the thread that set `submitted` */
};

int orr_tally_new(const struct orr_machine *machine, struct orr_tally **ret)
{
    struct orr_tally *tally = calloc(1, sizeof(*tally));
    unsigned n = machine->row; /* nodes may come */

    if (!tally)
        return -ENOMEM;
    tally->nworkers = machine->nworkers;
    tally->nnodes = n;
    tally->tables = calloc(machine->nworkers + 1, sizeof(*tally->tables));
    tally->links = calloc((size_t)n * n + 1, sizeof(*tally->links));
    if (!tally->tables || !tally->links) {
        orr_tally_free(tally);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < n * n; i++) {
        tally->links[i].src = i / n;
        tally->links[i].dst = i % n;
    }
    *ret = tally;
    return 0;
}

static void item_free(struct orr_tally_item *item)
{
    free((char *)(uintptr_t)item->kernel.name);
    free(item->samples);
    free(item);
}

void orr_tally_free(struct orr_tally *tally)
{
    if (!tally)
        return;
    for (unsigned w = 0; tally->tables && w < tally->nworkers; w++) {
        struct orr_tally_item *item = tally->tables[w].first, *next;

        for (; item; item = next) {
            next = item->next;
            item_free(item);
        }
        free(tally->tables[w].slots);
    }
    free(tally->tables);
    free(tally->links);
    free(tally->peers);
    free(tally);
}

void orr_tally_message(struct orr_tally *tally, unsigned peer, bool received, size_t bytes)
{
    struct orr_tally_peer *counts;

    if (peer >= tally->npeers) {
        if (orr_grow(&tally->peers, &tally->peers_room, (size_t)peer + 1,
                     sizeof(*tally->peers)) < 0)
            return;
        tally->npeers = (size_t)peer + 1;
    }
    counts = &tally->peers[peer];
    *(received ? &counts->received : &counts->sent) += 1;
    *(received ? &counts->received_bytes : &counts->sent_bytes) += bytes;
}

const struct orr_tally_peer *orr_tally_peers(const struct orr_tally *tally, size_t *ret_n)
{
    *ret_n = tally->npeers;
    return tally->peers;
}

void orr_tally_submit(struct orr_tally *tally, double now)
{
    if (atomic_load_explicit(&tally->submitted, memory_order_relaxed) ||
        atomic_exchange(&tally->submitted, true))
        return;
    tally->first_submit = now;
}

/* --- the worker's table --- */

static struct orr_tally_item **tally_find_slot(struct orr_tally_item **slots,
                                               size_t nslots, const void *key,
                                               unsigned impl, unsigned ncores)
{
    size_t i =
        (size_t)((uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15) + impl;

    for (;; i++) {
        struct orr_tally_item **slot = &slots[i & (nslots - 1)];

        if (!*slot || ((*slot)->key == key && (*slot)->kernel.impl == impl &&
                       (*slot)->kernel.ncores == ncores))
            return slot;
    }
}

static int tally_grow_table(struct table *table)
{
    size_t nslots = table->nslots ? 2 * table->nslots : FIRST_SLOTS;
    struct orr_tally_item **slots;

    if (table->nitems < table->nslots / 2)
        return 0;
    slots = calloc(nslots, sizeof(struct orr_tally_item *));
    if (!slots)
        return -ENOMEM;
    for (struct orr_tally_item *item = table->first; item; item = item->next)
        *tally_find_slot(slots, nslots, item->key, item->kernel.impl,
                         item->kernel.ncores) = item;
    free(table->slots);
    table->slots = slots;
    table->nslots = nslots;
    return 0;
}

struct orr_tally_item *orr_tally_find(struct orr_tally *tally, unsigned worker,
                                      const void *key, unsigned impl,
                                      unsigned ncores)
{
    struct table *table = &tally->tables[worker];

    if (!table->nslots)
        return NULL;
    return *tally_find_slot(table->slots, table->nslots, key, impl, ncores);
}

static struct orr_tally_item *item_new(const void *key,
                                       const struct orr_tally_kernel *kernel)
{
    struct orr_tally_item *item = calloc(1, sizeof(*item));

    if (!item)
        return NULL;
    item->key = key;
    item->kernel = *kernel;
    item->stride = 1;
    item->kernel.name = strdup(kernel->name);
    if (item->kernel.name)
        return item;
    free(item);
    return NULL;
}

struct orr_tally_item *orr_tally_add(struct orr_tally *tally, unsigned worker,
                                     const void *key,
                                     const struct orr_tally_kernel *kernel)
{
    struct table *table = &tally->tables[worker];
    struct orr_tally_item *item = NULL;

    if (tally_grow_table(table) == 0)
        item = item_new(key, kernel);
    if (!item) {
        table->lost++;
        return NULL;
    }
    *tally_find_slot(table->slots, table->nslots, key, kernel->impl,
                     kernel->ncores) = item;
    item->next = table->first;
    table->first = item;
    table->nitems++;
    return item;
}

/* Keeps every second sample: the array is full. */
static void thin(struct orr_tally_item *item)
{
    item->n /= 2;
    for (unsigned i = 0; i < item->n; i++)
        item->samples[i] = item->samples[2 * i];
    item->stride *= 2;
}

/* A sample that finds no memory is in the mean only. */
static void tally_keep_sample(struct orr_tally_item *item, double us)
{
    if (item->n == ORR_TALLY_SAMPLES)
        thin(item);
    if (item->n == item->room) {
        unsigned room = item->room ? 2 * item->room : FIRST_SAMPLES;
        double *samples = realloc(item->samples, room * sizeof(*samples));

        if (!samples)
            return;
        item->samples = samples;
        item->room = room;
    }
    item->samples[item->n++] = us;
}

void orr_tally_kernel(struct orr_tally *tally, unsigned worker,
                      struct orr_tally_item *item, double start, double end,
                      double predicted)
{
    struct table *table = &tally->tables[worker];
    double us = end - start;

    if (item->count % item->stride == 0)
        tally_keep_sample(item, us);
    item->count++;
    item->sum += us;
    if (predicted > 0) {
        item->npredicted++;
        item->predicted += predicted;
    }
    if (item->kernel.modelled && end > table->last_end)
        table->last_end = end;
}

void orr_tally_copy(struct orr_tally *tally, const struct orr_tally_link *copy)
{
    struct orr_tally_link *link =
        &tally->links[copy->src * tally->nnodes + copy->dst];

    link->count += copy->count;
    link->bytes += copy->bytes;
    link->total += copy->total;
    link->predicted += copy->predicted;
    link->alone += copy->alone;
}

/* --- the report --- */

double orr_tally_modelled_span(const struct orr_tally *tally)
{
    double last = 0;

    for (unsigned w = 0; w < tally->nworkers; w++)
        last = fmax(last, tally->tables[w].last_end);
    if (!atomic_load(&tally->submitted) || last <= tally->first_submit)
        return 0;
    return last - tally->first_submit;
}

unsigned long orr_tally_lost(const struct orr_tally *tally)
{
    unsigned long lost = 0;

    for (unsigned w = 0; w < tally->nworkers; w++)
        lost += tally->tables[w].lost;
    return lost;
}

static int compare_items(const void *left, const void *right)
{
    const struct orr_tally_kernel *a =
        &(*(struct orr_tally_item *const *)left)->kernel;
    const struct orr_tally_kernel *b =
        &(*(struct orr_tally_item *const *)right)->kernel;
    int order = strcmp(a->name, b->name);

    if (!order)
        order = strcmp(a->arch, b->arch);
    if (!order)
        order = (a->impl > b->impl) - (a->impl < b->impl);
    if (!order)
        order = (a->footprint > b->footprint) - (a->footprint < b->footprint);
    return order;
}

/* All items of all workers in order; owned by the caller, not the items. */
static int tally_gather_items(const struct orr_tally *tally,
                              struct orr_tally_item ***ret, size_t *ret_n)
{
    struct orr_tally_item **items;
    size_t n = 0;

    for (unsigned w = 0; w < tally->nworkers; w++)
        n += tally->tables[w].nitems;
    items = calloc(n + 1, sizeof(struct orr_tally_item *));
    if (!items)
        return -ENOMEM;
    *ret_n = n;
    n = 0;
    for (unsigned w = 0; w < tally->nworkers; w++)
        for (struct orr_tally_item *item = tally->tables[w].first;
             item && n < *ret_n; item = item->next)
            items[n++] = item;
    *ret_n = n;
    qsort(items, n, sizeof(struct orr_tally_item *), compare_items);
    *ret = items;
    return 0;
}

/* A duration that stands for `weight` of them. */
struct weighted {
    double us, weight;
};

static int compare_weighted(const void *left, const void *right)
{
    const struct weighted *a = left, *b = right;

    return (a->us > b->us) - (a->us < b->us);
}

/* The smallest duration that has at least the share q of the weight below or
 * at it; the mean of the two when q falls between them. */
static double quantile(const struct weighted *list, size_t n, double total,
                       double q)
{
    double below = 0;

    for (size_t i = 0; i < n; i++) {
        below += list[i].weight;
        if (below > q * total)
            return list[i].us;
        if (below == q * total && i + 1 < n)
            return (list[i].us + list[i + 1].us) / 2;
    }
    return n ? list[n - 1].us : (double)NAN;
}

static bool is_near(double us, double middle)
{
    return us <= middle * keep_ratio && us >= middle / keep_ratio;
}

/* The runs that are no measure of the usual time, and whether these have a level of
 * their own. The list is not valid afterwards. */
static void fill_other(struct weighted *list, size_t n, double total,
                       struct orr_tally_summary *summary)
{
    double aside = 0, near = 0;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_near(list[i].us, summary->median))
            continue;
        aside += list[i].weight;
        list[kept++] = list[i];
    }
    summary->other = quantile(list, kept, aside, 0.5);
    for (size_t i = 0; i < kept; i++)
        if (is_near(list[i].us, summary->other))
            near += list[i].weight;
    summary->aside = total > 0 ? aside / total : 0;
    summary->other_share = total > 0 ? near / total : 0;
}

static void fill_quantiles(struct weighted *list, size_t n,
                           struct orr_tally_summary *summary)
{
    double total = 0, kept = 0, weight = 0;

    for (size_t i = 0; i < n; i++)
        total += list[i].weight;
    summary->p05 = quantile(list, n, total, 0.05);
    summary->p25 = quantile(list, n, total, 0.25);
    summary->median = quantile(list, n, total, 0.5);
    summary->p75 = quantile(list, n, total, 0.75);
    summary->p95 = quantile(list, n, total, 0.95);
    for (size_t i = 0; i < n; i++) {
        if (!is_near(list[i].us, summary->median))
            continue;
        kept += list[i].us * list[i].weight;
        weight += list[i].weight;
    }
    summary->typical = weight > 0 ? kept / weight : summary->median;
    fill_other(list, n, total, summary);
}

/* n items of the same kernel. */
static int tally_summarise_items(struct orr_tally_item *const *items, size_t n,
                                 struct orr_tally_summary *summary)
{
    size_t nsamples = 0, filled = 0;
    struct weighted *list;
    uint64_t npredicted = 0;
    double sum = 0, predicted = 0;

    *summary = (struct orr_tally_summary){.kernel = items[0]->kernel};
    for (size_t i = 0; i < n; i++)
        nsamples += items[i]->n;
    list = calloc(nsamples + 1, sizeof(*list));
    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct orr_tally_item *item = items[i];

        for (unsigned s = 0; s < item->n && filled < nsamples; s++)
            list[filled++] =
                (struct weighted){item->samples[s], (double)item->stride};
        summary->count += item->count;
        sum += item->sum;
        npredicted += item->npredicted;
        predicted += item->predicted;
    }
    qsort(list, filled, sizeof(*list), compare_weighted);
    fill_quantiles(list, filled, summary);
    summary->mean = summary->count ? sum / (double)summary->count : (double)NAN;
    summary->predicted =
        npredicted ? predicted / (double)npredicted : (double)NAN;
    free(list);
    return 0;
}

int orr_tally_each_kernel(const struct orr_tally *tally,
                          void (*visit)(const struct orr_tally_summary *,
                                        void *),
                          void *arg)
{
    struct orr_tally_item **items;
    size_t n, last;
    int rc = tally_gather_items(tally, &items, &n);

    if (rc)
        return rc;
    for (size_t first = 0; !rc && first < n; first = last) {
        struct orr_tally_summary summary;

        for (last = first + 1; last < n; last++)
            if (compare_items(&items[first], &items[last]) != 0)
                break;
        rc = tally_summarise_items(&items[first], last - first, &summary);
        if (!rc)
            visit(&summary, arg);
    }
    free(items);
    return rc;
}

void orr_tally_each_link(const struct orr_tally *tally,
                         void (*visit)(const struct orr_tally_link *, void *),
                         void *arg)
{
    for (unsigned i = 0; i < tally->nnodes * tally->nnodes; i++)
        if (tally->links[i].count)
            visit(&tally->links[i], arg);
}
