/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster_events.c - see cluster_events.h and core/base/cluster.h. */
#include "sim/cluster_events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "sim/cluster/interconnect.h"
#include "sim/cluster_private.h"
#include "sim/watchdog.h"

/* Processors of a node that contexts share. */
struct orr_seats {
    struct orr_seats *next;
    unsigned node, first;
    struct orr_processors processors;
};

void orr_cluster_arm(struct orr_cluster *c)
{
    orr_sim_exec_set_events(c->exec, &c->events,
                            c->first ? -ORR_FOREVER : c->network->ops->next_us(c->network));
}

static struct orr_cluster_post *pop(struct orr_cluster *c)
{
    struct orr_cluster_post *post = c->first;

    if (post && !(c->first = post->next))
        c->last = &c->first;
    return post;
}

static void start(struct orr_cluster *c, struct orr_cluster_post *post)
{
    struct orr_cluster_message message;
    struct orr_error err;

    if (post->from == post->to && !c->inside_takes_time) {
        post->arrived(post);
        return;
    }
    message = (struct orr_cluster_message){.src = post->from,
                                           .dst = post->to,
                                           .nic = ORR_ANY_NIC,
                                           .src_memory = post->memory,
                                           .dst_memory = post->to_memory,
                                           .bytes = post->bytes,
                                           .delay_us = post->delay_us,
                                           .light = post->light,
                                           .cookie = post};
    if (orr_messages_start(c->network, &message, c->exec->now, NULL, &err) == 0) {
        if (post->from == post->to || post->light)
            return; /* what memory gives to messages is measured with them */
        post->streams_from =
            post->memory == 0 && orr_node_copies_stream(c, post->from, true);
        post->streams_to =
            post->to_memory == 0 && orr_node_copies_stream(c, post->to, true);
        return;
    }
    /* Nothing could end who waits for it. */
    orr_log_error("the simulation cannot go on: %s", err.text);
    abort();
}

static void arrive(struct orr_cluster *c, struct orr_cluster_post *post)
{
    if (post->streams_from)
        orr_node_copies_stream(c, post->from, false);
    if (post->streams_to)
        orr_node_copies_stream(c, post->to, false);
    post->arrived(post);
}

static void end_ended(struct orr_cluster *c)
{
    void *cookie, *copies;

    while ((cookie = orr_messages_take_ended(c->network, &copies))) {
        struct orr_cluster_post *post = cookie;

        if (copies)
            orr_node_copies_ended(copies, cookie);
        else if (!c->closed)
            arrive(c, post);
    }
}

/* Either starts or moves on: the network is never behind the clock when one starts. */
static void run_events(struct orr_sim_events *events)
{
    struct orr_cluster *c = (struct orr_cluster *)events;
    struct orr_cluster_post *post;

    if (c->first)
        while ((post = pop(c)))
            start(c, post);
    else
        c->network->ops->advance(c->network);
    end_ended(c);
    orr_cluster_arm(c);
}

static void cluster_send(struct orr_cluster *c, struct orr_cluster_post *post)
{
    post->next = NULL;
    *c->last = post;
    c->last = &post->next;
    orr_cluster_arm(c);
}

/* Whoever comes last ends the network; its engine goes with the cluster, which is the last
 * where it has one. */
void orr_cluster_leave(struct orr_cluster *c)
{
    if (--c->nusers > 0)
        return;
    orr_sim_exec_remove_events(c->exec, &c->events);
    orr_node_copies_free_all(c);
    c->network->ops->free(c->network);
    orr_watchdog_stop(c->watchdog);
    if (c->owns_exec)
        orr_sim_exec_free(c->exec);
    while (c->seats) {
        struct orr_seats *next = c->seats->next;

        free(c->seats);
        c->seats = next;
    }
    free(c->at);
    free(c);
}

static void cluster_close(struct orr_cluster *c)
{
    c->closed = true;
    c->first = NULL;
    c->last = &c->first;
    orr_cluster_arm(c);
    orr_cluster_leave(c);
}

static struct orr_cluster_costs cluster_costs(const struct orr_cluster *c, bool inside)
{
    return inside ? c->inside : c->costs;
}

static int open_engine(struct orr_cluster *c, struct orr_error *err)
{
    int rc;

    c->exec = orr_sim_exec_current();
    if (c->exec)
        return 0;
    if (orr_self)
        return orr_fail(err, -EINVAL, "this thread runs on a machine that is real");
    rc = orr_sim_exec_new(NULL, &c->exec);
    if (rc < 0)
        return orr_fail(err, rc, "the simulation could not be started: error %d", rc);
    c->owns_exec = true;
    return orr_watchdog_start(c->exec, &c->watchdog, err);
}

static int cluster_seat(struct orr_cluster *c, unsigned node,
                        const struct orr_cluster_processors *wanted)
{
    struct orr_seats *seats = c->seats;

    orr_self->processors = NULL;
    if (wanted->n == 0)
        return 0;
    while (seats && (seats->node != node || seats->first != wanted->first))
        seats = seats->next;
    if (!seats) {
        seats = malloc(sizeof(*seats));
        if (!seats)
            return -ENOMEM;
        *seats = (struct orr_seats){.next = c->seats, .node = node, .first = wanted->first};
        orr_processors_init(&seats->processors, wanted->n);
        c->seats = seats;
    }
    orr_self->processors = &seats->processors;
    return 0;
}

static bool cluster_passes(const struct orr_cluster *c, unsigned node, unsigned memory,
                           bool leaves)
{
    return c->gpudirect && orr_messages_pass(c->network, node, memory, leaves);
}

static size_t whole_bytes(double bytes)
{
    return bytes < (double)SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

static void take_costs(struct orr_cluster *c, const struct orr_fabric *fabric)
{
    const struct orr_fabric_node *node = &fabric->node;

    c->inside_takes_time = node->takes_time;
    c->costs = (struct orr_cluster_costs){whole_bytes(fabric->eager), fabric->send_us,
                                          fabric->match_us, fabric->look_us,
                                          fabric->copy > 0 ? 1 / fabric->copy : 0};
    c->inside = (struct orr_cluster_costs){whole_bytes(node->eager), node->send_us,
                                           node->match_us, fabric->look_us,
                                           node->copy > 0 ? 1 / node->copy : 0};
}

/* Without its engine and network. NULL: no memory. */
static struct orr_cluster *cluster_new(const struct orr_fabric *fabric, unsigned nnodes)
{
    struct orr_cluster *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->at = calloc(nnodes, sizeof(struct orr_node_copies *));
    if (!c->at) {
        free(c);
        return NULL;
    }
    c->events.run = run_events;
    c->nnodes = nnodes;
    c->nusers = 1;
    c->last = &c->first;
    orr_list_init(&c->attached);
    take_costs(c, fabric);
    c->gpudirect = fabric->gpudirect;
    c->bandwidth = fabric->bandwidth;
    return c;
}

static int cluster_open(const char *text, unsigned nnodes, struct orr_cluster **ret,
                        struct orr_error *err)
{
    struct orr_cluster *c;
    struct orr_fabric fabric;
    int rc = orr_fabric_parse(text, &fabric, err);

    if (rc < 0)
        return rc;
    c = cluster_new(&fabric, nnodes);
    if (!c)
        return orr_fail(err, -ENOMEM, "no memory for the network");
    fabric.eager = fabric.node.eager = INFINITY; /* ranks ask by themselves */
    rc = open_engine(c, err);
    if (rc == 0)
        rc = orr_messages_new(&fabric, nnodes, 0, &c->network, err);
    if (rc < 0) {
        orr_watchdog_stop(c->watchdog);
        if (c->owns_exec)
            orr_sim_exec_free(c->exec);
        free(c->at);
        free(c);
        return rc;
    }
    orr_sim_exec_add_events(c->exec, &c->events);
    orr_cluster_arm(c);
    *ret = c;
    return 0;
}

const struct orr_cluster_ops orr_sim_cluster_ops = {
    .read = orr_sim_cluster_read,
    .forget = orr_sim_cluster_forget,
    .open = cluster_open,
    .attach = orr_cluster_attach,
    .seat = cluster_seat,
    .costs = cluster_costs,
    .passes = cluster_passes,
    .send = cluster_send,
    .close = cluster_close,
};
