/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/dm_load.c - when the workers of one class will be free.
 * The caller locks.
 */
#include "core/policies/dm_load.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const struct orr_dm_node no_load = {INFINITY, INFINITY, INFINITY};

static double double_min(double a, double b)
{
    return b < a ? b : a;
}

static void update_path(struct orr_dm_load *load, unsigned leaf)
{
    for (unsigned i = leaf / 2; i >= 1; i /= 2) {
        const struct orr_dm_node *a = &load->nodes[2 * i];
        const struct orr_dm_node *b = &load->nodes[2 * i + 1];

        load->nodes[i] = (struct orr_dm_node){
            double_min(a->length, b->length),
            double_min(a->end, b->end),
            double_min(a->start, b->start),
        };
    }
}

int orr_dm_load_init(struct orr_dm_load *load, unsigned nworkers)
{
    unsigned nleaves = 1;
    struct orr_dm_node *nodes;
    double *lengths;

    while (nleaves < nworkers)
        nleaves *= 2;
    /* One block: the lengths lie behind the nodes. */
    nodes = malloc(2 * nleaves * sizeof(*nodes) + nleaves * sizeof(*lengths));
    if (!nodes)
        return -ENOMEM;
    lengths = (double *)(nodes + 2 * nleaves);
    for (unsigned i = 0; i < 2 * nleaves; i++)
        nodes[i] = no_load;
    *load = (struct orr_dm_load){nleaves, nodes, lengths};
    for (unsigned place = 0; place < nworkers; place++)
        orr_dm_load_set(load, place, 0, 0, 0);
    return 0;
}

void orr_dm_load_done(struct orr_dm_load *load)
{
    free(load->nodes);
    *load = (struct orr_dm_load){0};
}

void orr_dm_load_set(struct orr_dm_load *load, unsigned place, double start,
                     double length, double now)
{
    unsigned leaf = load->nleaves + place;
    struct orr_dm_node *node = &load->nodes[leaf];

    load->lengths[place] = length;
    if (start > now)
        *node = (struct orr_dm_node){INFINITY, start + length, start};
    else
        *node = (struct orr_dm_node){length, INFINITY, INFINITY};
    update_path(load, leaf);
}

void orr_dm_load_settle_some(struct orr_dm_load *load, double now)
{
    const struct orr_dm_node *nodes = load->nodes;

    while (nodes[1].start <= now) {
        unsigned i = 1;

        while (i < load->nleaves)
            i = 2 * i + (nodes[2 * i].start > now);
        i -= load->nleaves;
        orr_dm_load_set(load, i, 0, load->lengths[i], now);
    }
}

unsigned orr_dm_load_first(const struct orr_dm_load *load, double now,
                           bool (*fits)(double free_at, const void *arg),
                           const void *arg)
{
    unsigned i = 1;

    while (i < load->nleaves)
        i = 2 * i + !fits(orr_dm_node_free(&load->nodes[2 * i], now), arg);
    return i - load->nleaves;
}
