/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster_events.c - see cluster_events.h and core/base/cluster.h. */
#include "sim/cluster_events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "sim/cluster/messages.h"
#include "sim/exec.h"
#include "sim/watchdog.h"

struct orr_cluster {
    struct orr_sim_events events; /* first */
    struct orr_sim_exec *exec;
    bool owns_exec;
    struct orr_watchdog *watchdog; /* of the engine that it owns; NULL: switched off */
    struct orr_network *network;
    size_t eager;
    struct orr_cluster_post *first, **last; /* that have not started */
};

static void arm(struct orr_cluster *c)
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
    struct orr_error err = {""};

    if (post->from == post->to) {
        post->arrived(post);
        return;
    }
    if (c->network->ops->start(c->network, post->from, post->to, post->bytes, post,
                               c->exec->now, &err) == 0)
        return;
    /* Nothing could end who waits for it. */
    orr_log_error("the simulation cannot go on: %s", err.text);
    abort();
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
    while ((post = c->network->ops->take_ended(c->network)))
        post->arrived(post);
    arm(c);
}

static void cluster_send(struct orr_cluster *c, struct orr_cluster_post *post)
{
    post->next = NULL;
    *c->last = post;
    c->last = &post->next;
    arm(c);
}

static size_t cluster_eager(const struct orr_cluster *c)
{
    return c->eager;
}

static void close_engine(struct orr_cluster *c)
{
    orr_watchdog_stop(c->watchdog);
    if (c->owns_exec)
        orr_sim_exec_free(c->exec);
}

static void cluster_close(struct orr_cluster *c)
{
    orr_sim_exec_remove_events(c->exec, &c->events);
    c->network->ops->free(c->network);
    close_engine(c);
    free(c);
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

static int cluster_open(const char *text, unsigned nnodes, struct orr_cluster **ret,
                        struct orr_error *err)
{
    struct orr_cluster *c;
    struct orr_fabric fabric;
    int rc = orr_fabric_parse(text, &fabric, err);

    if (rc < 0)
        return rc;
    c = calloc(1, sizeof(*c));
    if (!c)
        return orr_fail(err, -ENOMEM, "no memory for the network");
    c->last = &c->first;
    c->eager = fabric.eager < (double)SIZE_MAX ? (size_t)fabric.eager : SIZE_MAX;
    fabric.eager = INFINITY;
    rc = open_engine(c, err);
    if (rc == 0)
        rc = orr_messages_new(&fabric, nnodes, 0, &c->network, err);
    if (rc < 0) {
        close_engine(c);
        free(c);
        return rc;
    }
    c->events.run = run_events;
    orr_sim_exec_add_events(c->exec, &c->events);
    arm(c);
    *ret = c;
    return 0;
}

const struct orr_cluster_ops orr_sim_cluster_ops = {
    .read = orr_sim_cluster_read,
    .forget = orr_sim_cluster_forget,
    .open = cluster_open,
    .eager = cluster_eager,
    .send = cluster_send,
    .close = cluster_close,
};
