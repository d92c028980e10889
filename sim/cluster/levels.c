/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/levels.c - see levels.h. When a level changes, it may change others: those of
 * ports that share a flow with it and give that flow less now, or more. A port's level
 * depends on lower ones only, since flows that could have more than it elsewhere count
 * alike, whatever that is. So levels are corrected from the lowest one up, as Dijkstra's
 * algorithm does with distances, and what is corrected seldom changes again.
 *
 * Capacities, levels and rates are multiples of a unit, of which a double holds 2^53: their
 * sums are exact, and so do not depend on the order of flows.
 */
#include "sim/cluster/levels.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/heap.h"

/* Exact settling ends by itself, but for levels that are equal and differ by rounding;
 * with an epsilon a level that was left where it is may come back to those that it was
 * left for. A port that is corrected more often than that in a settling is given more
 * tolerance each time. Seen were four times at most, after 200 changes at once. */
enum { PATIENCE = 16 };
#define IMPATIENCE 0x1p-40

struct port {
    struct orr_heap_link link; /* among those to be corrected */
    struct orr_share **shares; /* in no order */
    unsigned n, booked; /* shares; places of those here and of those to come */
    unsigned room;
    double capacity;
    double found; /* the level that it should have, as of the last look */
    /* How much what its flows can have elsewhere may change before `found` may be
     * wrong. Of a port that is not full that is what is left of it. */
    double spare;
    double key; /* in the heap: `found` or its level, whichever is lower */
    bool full;
    bool touched, due, corrected; /* in these lists */
    unsigned corrections;         /* in this settling */
};

struct orr_levels {
    double epsilon;
    unsigned nports;
    struct port *ports;
    double *level;  /* of each port, apart, since they are read most */
    double *others; /* of one port: what its flows can have elsewhere */
    size_t nothers;
    unsigned *touched, *corrected; /* ports */
    unsigned ntouched, ncorrected;
    struct orr_heap due;
    struct orr_list fresh; /* shares that have just entered */
    unsigned long looks;
};

/* The multiple of the unit below. */
static double whole_units(double rate)
{
    const double per_unit = 1 << 30;

    return floor(rate * per_unit) / per_unit;
}

static double lower(double a, double b)
{
    return a < b ? a : b;
}

/* ---- one port ---- */

/* What a share could have, were it not for that port. */
static double share_elsewhere(const struct orr_levels *levels,
                              const struct orr_share *share, unsigned port)
{
    double least = share->limit;

    for (unsigned i = 0; i < share->nports; i++)
        if (share->hops[i].port != port)
            least = lower(least, levels->level[share->hops[i].port]);
    return least;
}

/* What its shares can have elsewhere, at most its capacity; returns the sum. */
static double find_others(struct orr_levels *levels, unsigned number)
{
    const struct port *port = &levels->ports[number];
    double sum = 0;

    for (unsigned i = 0; i < port->n; i++) {
        levels->others[i] = lower(
            share_elsewhere(levels, port->shares[i], number), port->capacity);
        sum += levels->others[i];
    }
    return sum;
}

/* The level at which shares that can have `others` elsewhere, together more than the
 * capacity, fill it. *ret_open: how many get the level. */
static double fill(double capacity, double *others, unsigned n,
                   unsigned *ret_open)
{
    double left = capacity, level;
    unsigned open = n, kept = 0;

    for (;;) {
        level = whole_units(left / open);
        for (unsigned i = 0; i < open; i++) {
            if (others[i] < level)
                left -= others[i];
            else
                others[kept++] = others[i];
        }
        if (kept == open)
            break;
        open = kept;
        kept = 0;
    }
    *ret_open = open;
    return level > 0 ? level : 0x1p-30;
}

/* Finds its level anew. */
static void port_look(struct orr_levels *levels, unsigned number)
{
    struct port *port = &levels->ports[number];
    double sum = find_others(levels, number);
    unsigned open;

    levels->looks++;
    port->full = sum > port->capacity;
    if (port->full) {
        port->found = fill(port->capacity, levels->others, port->n, &open);
        port->spare = whole_units(levels->epsilon / 2 * port->found * open);
    } else {
        port->found = port->capacity;
        port->spare = port->capacity - sum;
    }
}

/* One of its flows could have `before` elsewhere, and now `after`; 0 is none. */
static void port_hear(struct orr_levels *levels, unsigned number, double before,
                      double after)
{
    struct port *port = &levels->ports[number];
    double change = lower(after, port->found) - lower(before, port->found);

    port->spare -= port->full ? fabs(change) : change;
    if (port->spare >= 0 || port->touched)
        return;
    port->touched = true;
    levels->touched[levels->ntouched++] = number;
}

/* ---- shares come and go ---- */

void orr_levels_unreserve(struct orr_levels *levels,
                          const struct orr_share *share)
{
    for (unsigned i = 0; i < share->nports; i++)
        levels->ports[share->hops[i].port].booked--;
}

/* Ports are many and have few shares each: less at once than orr_grow makes. */
static int port_book(struct port *port)
{
    unsigned room = port->room ? 2 * port->room : 4;
    struct orr_share **shares;

    port->booked++;
    if (port->booked <= port->room)
        return 0;
    shares = realloc(port->shares, room * sizeof(struct orr_share *));
    if (!shares)
        return -ENOMEM;
    port->shares = shares;
    port->room = room;
    return 0;
}

int orr_levels_reserve(struct orr_levels *levels, const struct orr_share *share)
{
    int rc = 0;

    for (unsigned i = 0; i < share->nports; i++) {
        struct port *port = &levels->ports[share->hops[i].port];

        if (port_book(port) < 0 || orr_grow(&levels->others, &levels->nothers,
                                            port->booked, sizeof(double)) < 0)
            rc = -ENOMEM;
    }
    if (rc < 0)
        orr_levels_unreserve(levels, share);
    return rc;
}

void orr_levels_enter(struct orr_levels *levels, struct orr_share *share)
{
    orr_list_append(&levels->fresh, &share->link);
    share->limit = whole_units(share->limit);
    for (unsigned i = 0; i < share->nports; i++) {
        unsigned number = share->hops[i].port;
        struct port *port = &levels->ports[number];

        share->hops[i].at = port->n;
        port->shares[port->n++] = share;
        port_hear(levels, number, 0, share_elsewhere(levels, share, number));
    }
}

static void port_remove(struct orr_levels *levels, unsigned number, unsigned at)
{
    struct port *port = &levels->ports[number];
    struct orr_share *last = port->shares[--port->n];
    unsigned i = 0;

    port->booked--;
    port->shares[at] = last;
    while (last->hops[i].port != number)
        i++;
    last->hops[i].at = at;
}

void orr_levels_leave(struct orr_levels *levels, struct orr_share *share)
{
    if (!orr_link_free(&share->link))
        orr_list_remove(&share->link);
    for (unsigned i = 0; i < share->nports; i++) {
        unsigned number = share->hops[i].port;

        port_remove(levels, number, share->hops[i].at);
        port_hear(levels, number, share_elsewhere(levels, share, number), 0);
    }
}

/* ---- settling ---- */

static struct port *port_of_link(struct orr_heap_link *link)
{
    return orr_container(link, struct port, link);
}

/* Of equal keys the first port, which lies lower in memory. */
static bool port_precedes(struct orr_heap_link *a, struct orr_heap_link *b)
{
    const struct port *p = port_of_link(a), *q = port_of_link(b);

    return p->key < q->key || (p->key == q->key && p < q);
}

static double tolerance(const struct orr_levels *levels,
                        const struct port *port)
{
    if (port->corrections <= PATIENCE)
        return levels->epsilon;
    return levels->epsilon +
           ldexp(IMPATIENCE, (int)(port->corrections - PATIENCE));
}

/* After a look: whether its level is to be corrected, and when. */
static void port_set_due(struct orr_levels *levels, unsigned number)
{
    struct port *port = &levels->ports[number];
    double level = levels->level[number];

    if (port->due)
        orr_heap_remove(&levels->due, &port->link, port_precedes);
    port->key = lower(level, port->found);
    port->due = fabs(port->found - level) > tolerance(levels, port) * level;
    if (port->due)
        orr_heap_insert(&levels->due, &port->link, port_precedes);
}

static void look_at_touched(struct orr_levels *levels)
{
    for (unsigned i = 0; i < levels->ntouched; i++) {
        unsigned number = levels->touched[i];

        levels->ports[number].touched = false;
        port_look(levels, number);
        port_set_due(levels, number);
    }
    levels->ntouched = 0;
}

/* Tells the other ports of a share that one of them had the level `before`, and has
 * `after` now: to each of them the lowest level of the rest counts. */
static void share_tell(struct orr_levels *levels, const struct orr_share *share,
                       unsigned port, double before, double after)
{
    double least = share->limit, second = INFINITY;
    unsigned narrowest = port;

    for (unsigned i = 0; i < share->nports; i++) {
        unsigned other = share->hops[i].port;

        if (other == port)
            continue;
        if (levels->level[other] < least) {
            second = least;
            least = levels->level[other];
            narrowest = other;
        } else {
            second = lower(second, levels->level[other]);
        }
    }
    for (unsigned i = 0; i < share->nports; i++) {
        unsigned other = share->hops[i].port;
        double rest = other == narrowest ? second : least;

        if (other != port && rest > lower(before, after))
            port_hear(levels, other, lower(before, rest), lower(after, rest));
    }
}

static void port_correct(struct orr_levels *levels, struct port *port)
{
    unsigned number = (unsigned)(port - levels->ports);
    double before = levels->level[number], after = port->found;

    levels->level[number] = after;
    port->corrections++;
    if (!port->corrected)
        levels->corrected[levels->ncorrected++] = number;
    port->corrected = true;
    for (unsigned i = 0; i < port->n; i++)
        share_tell(levels, port->shares[i], number, before, after);
}

static void correct_levels(struct orr_levels *levels)
{
    look_at_touched(levels);
    while (levels->due.first) {
        struct port *port = port_of_link(levels->due.first);

        orr_heap_remove(&levels->due, &port->link, port_precedes);
        port->due = false;
        port_correct(levels, port);
        look_at_touched(levels);
    }
}

typedef void (*rated_fn)(void *arg, struct orr_share *share, double rate);

static void share_rate(const struct orr_levels *levels, struct orr_share *share,
                       rated_fn rated, void *arg)
{
    double rate = share->limit;

    for (unsigned i = 0; i < share->nports; i++)
        rate = lower(rate, levels->level[share->hops[i].port]);
    if (rate == share->rate)
        return;
    rated(arg, share, rate);
    share->rate = rate;
}

void orr_levels_settle(struct orr_levels *levels, rated_fn rated, void *arg)
{
    correct_levels(levels);
    for (unsigned i = 0; i < levels->ncorrected; i++) {
        struct port *port = &levels->ports[levels->corrected[i]];

        port->corrected = false;
        port->corrections = 0;
        for (unsigned k = 0; k < port->n; k++)
            share_rate(levels, port->shares[k], rated, arg);
    }
    levels->ncorrected = 0;
    while (!orr_list_empty(&levels->fresh)) {
        struct orr_share *share =
            orr_container(levels->fresh.next, struct orr_share, link);

        orr_list_remove(&share->link);
        share_rate(levels, share, rated, arg);
    }
}

double orr_levels_offer(const struct orr_levels *levels, const unsigned *ports,
                        unsigned nports, double limit)
{
    double least = whole_units(limit);

    for (unsigned i = 0; i < nports; i++)
        least = lower(least, levels->level[ports[i]]);
    return least;
}

/* ---- all of them ---- */

/* Makes the array longer; what is new is zero. */
static bool lengthen(void *array, unsigned from, unsigned to, size_t size)
{
    char **at = array, *longer = realloc(*at, (to + 1U) * size);

    if (!longer)
        return false;
    memset(longer + from * size, 0, (to + 1U - from) * size);
    *at = longer;
    return true;
}

int orr_levels_add_ports(struct orr_levels *levels, const double *capacities,
                         unsigned nports)
{
    unsigned before = levels->nports, n = before + nports;

    if (!lengthen(&levels->ports, before, n, sizeof(*levels->ports)) ||
        !lengthen(&levels->level, before, n, sizeof(*levels->level)) ||
        !lengthen(&levels->touched, levels->ntouched, n, sizeof(*levels->touched)) ||
        !lengthen(&levels->corrected, 0, n, sizeof(*levels->corrected)))
        return -ENOMEM;
    for (unsigned i = before; i < n; i++) {
        struct port *port = &levels->ports[i];

        port->capacity = whole_units(capacities[i - before]);
        port->found = port->spare = levels->level[i] = port->capacity;
    }
    levels->nports = n;
    return 0;
}

int orr_levels_new(const double *capacities, unsigned nports, double epsilon,
                   struct orr_levels **ret)
{
    struct orr_levels *levels = calloc(1, sizeof(*levels));

    if (!levels)
        return -ENOMEM;
    orr_list_init(&levels->fresh);
    levels->epsilon = epsilon;
    if (orr_levels_add_ports(levels, capacities, nports) < 0) {
        orr_levels_free(levels);
        return -ENOMEM;
    }
    *ret = levels;
    return 0;
}

void orr_levels_free(struct orr_levels *levels)
{
    if (!levels)
        return;
    for (unsigned i = 0; levels->ports && i < levels->nports; i++)
        free(levels->ports[i].shares);
    free(levels->ports);
    free(levels->level);
    free(levels->others);
    free(levels->touched);
    free(levels->corrected);
    free(levels);
}

unsigned long orr_levels_looks(const struct orr_levels *levels)
{
    return levels->looks;
}

size_t orr_levels_bytes(const struct orr_levels *levels)
{
    size_t each = sizeof(struct port) + sizeof(*levels->level) +
                  sizeof(*levels->touched) + sizeof(*levels->corrected);
    size_t bytes = sizeof(*levels) + levels->nports * each +
                   levels->nothers * sizeof(*levels->others);

    for (unsigned i = 0; i < levels->nports; i++)
        bytes += levels->ports[i].room * sizeof(struct orr_share *);
    return bytes;
}
