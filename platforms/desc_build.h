/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/desc_build.h - making and completing machine descriptions, for code
 * that reads, discovers, edits or generates them. One thread per description.
 */
#pragma once

#include "platforms/machine_desc.h"

/* Limits of a description, so that a wrong file cannot exhaust the memory of
 * the reader. */
#define ORR_DESC_MAX_HOSTS  16384
#define ORR_DESC_MAX_LINKS  262144
#define ORR_DESC_MAX_ROUTES 2097152
#define ORR_DESC_MAX_HOPS   256  /* of one route */
#define ORR_DESC_MAX_PROPS  256  /* of one owner */
#define ORR_DESC_MAX_NODES  1024 /* RAM and devices; matrices are its square */

/* A runtime cost: MAIN's property and where its value is. */
struct orr_cost_field {
    const char *prop; /* "orrery-cost-submit" */
    const char *name; /* "submit" */
    size_t offset;    /* in struct orr_machine_desc, a double */
    double usual;     /* µs, where it is not given: StarPU's simulation's */
};

extern const struct orr_cost_field orr_cost_fields[ORR_NCOSTS];

/* Whether only a machine with devices has that cost. */
bool orr_cost_is_of_devices(unsigned cost);

double *orr_machine_desc_cost(struct orr_machine_desc *desc, unsigned cost);
double orr_machine_desc_get_cost(const struct orr_machine_desc *desc,
                                 unsigned cost);

/* Which figures of a machine that counts as measured, or partly so, are not: links
 * whose property orrery-provenance is not "measured", and costs of the runtime that
 * are the usual ones. Owned by the caller, NULL: none. Fails with -ENOMEM only. */
int orr_machine_desc_not_measured(const struct orr_machine_desc *desc, char **ret);

/* An empty description: no host, costs not given, name and host `name`. Owned
 * by the caller. Fails with -ENOMEM only. */
int orr_machine_desc_new(const char *name, struct orr_machine_desc **ret);

/* Append one item. The id is copied. They return the index of the new item,
 * -ENOMEM, or -E2BIG over the limits above. Pointers into the arrays do not
 * survive an append. */
int orr_machine_desc_add_host(struct orr_machine_desc *desc, const char *id,
                              double speed);
int orr_machine_desc_add_link(struct orr_machine_desc *desc, const char *id,
                              double bandwidth, double latency,
                              enum orr_link_sharing sharing);
int orr_machine_desc_add_route(struct orr_machine_desc *desc, unsigned src,
                               unsigned dst);
int orr_route_desc_add_hop(struct orr_route_desc *route, unsigned link,
                           enum orr_hop_direction direction);

/* Appends the reverse of route `route`: its hops reversed, up and down
 * exchanged. Same results. */
int orr_machine_desc_add_reverse(struct orr_machine_desc *desc, unsigned route);

/* Appends a property, or replaces the value of the one named `id`; both are
 * copied. 0, -ENOMEM or -E2BIG. */
int orr_props_set(struct orr_prop_desc **props, unsigned *nprops,
                  const char *id, const char *value);

/* Replaces a string of a description, freeing the old one. -ENOMEM leaves it
 * as it was. `value` may be NULL. */
int orr_desc_set_text(char **text, const char *value);

/* Adds the missing ones of the SimGrid options that StarPU writes: a plain
 * max-min fluid model. Without them SimGrid uses another model, of wide-area
 * networks. And network/optim Full, since the selective updating that SimGrid
 * does by default errs when transfers begin at one date, see make_hops in
 * sim/simgrid_platform.cpp. -ENOMEM or -E2BIG. */
int orr_machine_desc_add_fluid_config(struct orr_machine_desc *desc);

/* The fault of a SimGrid option (static), NULL: none. */
const char *orr_option_problem(const char *id, const char *value);

/* Checks names, numbers and routes. Errors: -EINVAL with path:line (where
 * known), element, reason and remedy; -ENOMEM. */
int orr_machine_desc_check(const struct orr_machine_desc *desc,
                           struct orr_error *err);

/* As orr_machine_desc_write, without bus parameters: for a description that has
 * its own bus files beside it. */
int orr_machine_desc_write_alone(const struct orr_machine_desc *desc,
                                 const char *path, struct orr_error *err);

/* Adds missing options, checks, counts CPUs and devices, and derives the bus
 * parameters from the routes. To be called when hosts, links or routes have
 * changed. Errors as above. */
int orr_machine_desc_finish(struct orr_machine_desc *desc,
                            struct orr_error *err);
