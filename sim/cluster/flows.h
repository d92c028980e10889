/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/flows.h - bytes that pass ports, in virtual time. A flow waits for its
 * delay, enters its ports, has the rate that levels.h gives it among the others there,
 * and ends when its bytes have passed. Ports are but numbers here: those of a network
 * (interconnect.h), and any others that flows pass. Times are microseconds. One thread;
 * switches no contexts.
 *
 * Rates are found when the next date is asked for, for all changes until then.
 *
 * The caller moves it: to the date of the next event, or to that of a start or a
 * cancellation, which no event may precede.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct orr_flows;
struct orr_flow;

struct orr_flow_desc {
    double bytes;
    const unsigned *ports; /* that it passes, each once; lent for the call */
    unsigned nports;       /* without any it has its limit for a rate */
    double limit;          /* bytes per µs that it never exceeds; 0: none */
    double delay_us;       /* from the start until it enters its ports */
    bool light; /* it takes nothing of its ports: it passes them at the rate that they give at
                 * its start, and slows nobody down */
    void *cookie;          /* what its end gives back, not NULL */
    void *owner;           /* who is to have that: of the caller, or NULL */
};

/* `capacities` of ports in bytes per µs; `epsilon` as of orr_levels_new. Errors:
 * -ENOMEM. The caller owns *ret, and ends it with all of its flows. */
int orr_flows_new(const double *capacities, unsigned nports, double epsilon,
                  struct orr_flows **ret);
void orr_flows_free(struct orr_flows *flows);

/* Adds ports, whose numbers go on. Errors: -ENOMEM. */
int orr_flows_add_ports(struct orr_flows *flows, const double *capacities,
                        unsigned nports);

/* Starts a flow at that date. *ret may be given to orr_flow_cancel until the flow has
 * ended; NULL is allowed. Errors: -ENOMEM, and nothing has happened. */
int orr_flow_start(struct orr_flows *flows, const struct orr_flow_desc *desc,
                   double now_us, struct orr_flow **ret);

/* Takes it out at that date; its cookie is not given back. */
void orr_flow_cancel(struct orr_flows *flows, struct orr_flow *flow,
                     double now_us);

/* The date of the next event, infinity when nothing is in flight. An event is not always
 * the end of a flow. */
double orr_flows_next_us(struct orr_flows *flows);

/* Moves to the next event. All ends of the one before have been taken. */
void orr_flows_advance(struct orr_flows *flows);

/* The cookie of a flow that has ended, in the order of their starts; NULL when there is
 * none. */
void *orr_flows_take_ended(struct orr_flows *flows);

/* The owner of the flow whose cookie that takes next; NULL without one. */
void *orr_flows_ended_owner(const struct orr_flows *flows);

/* How often a level has been computed; bytes of memory without its flows. For tests and
 * benchmarks. */
unsigned long orr_flows_looks(const struct orr_flows *flows);
size_t orr_flows_bytes(const struct orr_flows *flows);
