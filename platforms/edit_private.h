/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_private.h - what the files edit*.c share: an edit as it was
 * read, and the description while it is applied. One thread.
 */
#pragma once

#include "platforms/edit.h"

/* What stands left of the operator. */
enum orr_edit_class {
    ORR_EDIT_CPU, /* the first three are worker types */
    ORR_EDIT_CUDA,
    ORR_EDIT_OPENCL,
    ORR_EDIT_KERNEL,
    ORR_EDIT_LINK,
    ORR_EDIT_COST, /* of the runtime, its times are "latencies" */
    ORR_EDIT_PCIE, /* from here on: whole routes */
    ORR_EDIT_NVLINK,
    ORR_EDIT_PEER,
    ORR_EDIT_RAM, /* and, for its memory, hosts RAM0… */
    ORR_EDIT_MEMBUS,
    ORR_EDIT_DISK,
    ORR_EDIT_BUS,
    ORR_EDIT_NETWORK, /* these are of clusters (edit_cluster.c) */
    ORR_EDIT_NIC,
    ORR_EDIT_NODE, /* stands before an edit of a machine: node[3].cuda.count */
    ORR_EDIT_NCLASSES,
};

enum orr_edit_prop {
    ORR_EDIT_COUNT,
    ORR_EDIT_MEMORY,
    ORR_EDIT_SPEED,
    ORR_EDIT_TIME,
    ORR_EDIT_BANDWIDTH,
    ORR_EDIT_LATENCY,
    ORR_EDIT_SWITCH, /* nvlink = on */
    ORR_EDIT_HOP,    /* a latency, that of each further switch */
    ORR_EDIT_WORDS,  /* network = dragonfly g=8 */
    ORR_EDIT_NPROPS,
};

enum orr_edit_op {
    ORR_EDIT_SET,
    ORR_EDIT_TIMES,
    ORR_EDIT_OVER,
    ORR_EDIT_PLUS,
    ORR_EDIT_MINUS,
};

#define ORR_EDIT_MAX_RANGES 16
#define ORR_EDIT_ANYWHERE   ORR_EDIT_NCLASSES

struct orr_edit_range {
    unsigned first, last;
};

struct orr_edit {
    char *text; /* as written, without blanks around it; owned */
    enum orr_edit_class class;
    enum orr_edit_prop prop;
    enum orr_edit_op op;
    char *name; /* of a link or a cost, unquoted, a kernel's pattern as
                 * written, or words of a network; NULL: all costs */
    enum orr_edit_class on; /* a kernel's worker type, or ANYWHERE */
    /* Numbers in brackets, behind the class or behind `on`; none: all. */
    struct orr_edit_range ranges[ORR_EDIT_MAX_RANGES];
    unsigned nranges;
    /* Numbers of nodes, and where in `text` the edit of their machines begins; none: it
     * is of all nodes. */
    struct orr_edit_range nodes[ORR_EDIT_MAX_RANGES];
    unsigned nnodes, at_machine;
    double value; /* flops… in bytes, bytes per second, seconds, or a factor */
    bool on_off;  /* of ORR_EDIT_SWITCH */
    /* Columns (from 1) of what errors are about. */
    unsigned at_target, at_range, at_value;
};

struct orr_edit_list {
    struct orr_edit *items; /* owned */
    unsigned n;
};

/* Reads all edits of a text. Errors: -EINVAL naming the edit, the place and
 * what could stand there; -ENOMEM. */
int orr_edit_parse(const char *text, struct orr_edit_list *ret,
                   struct orr_error *err);
void orr_edit_list_done(struct orr_edit_list *list);

/* The hosts' prefix of the first three and of ram, "CUDA". */
const char *orr_edit_class_host(enum orr_edit_class class);

/* One edit being applied. */
struct orr_edit_work {
    struct orr_machine_desc *desc;
    const struct orr_edit *edit;
    struct orr_edit_echo *echo;
    struct orr_error *err;
    bool changed; /* a value, a host or a route has changed */
};

/* Fails with -EINVAL and a message after the edit and the column. */
int orr_edit_wrong(const struct orr_edit_work *work, unsigned column,
                   const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int orr_edit_no_memory(const struct orr_edit_work *work);

/* The result of the edit on the value `old`. *ret is finite and above 0, or 0
 * when `zero` allows it. */
int orr_edit_compute(const struct orr_edit_work *work, double old, bool zero,
                     double *ret);

/* -- which hosts, links, routes (edit_select.c) -- */

/* Whether number k is among those in brackets. */
bool orr_edit_has_number(const struct orr_edit *edit, unsigned k);

/* How many hosts of a type there are, by the counts of the description. */
unsigned orr_edit_count_of(const struct orr_machine_desc *desc,
                           enum orr_edit_class kind);

/* Fails if a number in brackets has no device of the type. */
int orr_edit_check_numbers(const struct orr_edit_work *work,
                           enum orr_edit_class kind);

bool orr_edit_is_main_memory(const struct orr_host_desc *host);
bool orr_edit_is_device(const struct orr_host_desc *host);
bool orr_edit_is_membus(const struct orr_link_desc *link);

/* Whether the link is named after NVLink or NVSwitch, or has the property
 * orrery-class "nvlink". */
bool orr_edit_is_nvlink(const struct orr_link_desc *link);

/* For each route whether it is one of NVLink: between devices, over such a
 * link or, as StarPU writes them, over one link that only these two use.
 * Owned by the caller, NULL when out of memory. */
bool *orr_edit_nvlink_routes(const struct orr_machine_desc *desc);

/* For each link whether the edit applies to it: it is of the class, or the one
 * named. Errors: -EINVAL with the existing names; -ENOMEM. */
int orr_edit_select_links(const struct orr_edit_work *work, bool *links);

/* -- changes; each fills work->echo -- */

int orr_edit_change_count(struct orr_edit_work *work);
int orr_edit_change_hosts(struct orr_edit_work *work); /* memory, speed */
int orr_edit_change_kernel(struct orr_edit_work *work);
int orr_edit_change_links(struct orr_edit_work *work);
int orr_edit_change_costs(struct orr_edit_work *work);
int orr_edit_switch_nvlink(struct orr_edit_work *work);

/* Appends hosts `prefix`<n>… up to `wanted`, host k as host like[k - n] (NULL:
 * k mod n), with its properties, its routes and the links that are its own. */
int orr_edit_add_hosts(struct orr_edit_work *work, const char *prefix,
                       unsigned n, unsigned wanted, const unsigned *like);

/* Removes hosts `prefix`<k> with gone[k], their routes, and the links that no
 * others use; the numbers of the others close up. */
int orr_edit_remove_hosts(struct orr_edit_work *work, const char *prefix,
                          const bool *gone);

/* -- cores and the NUMA nodes they are in (edit_cpus.c) -- */

struct orr_edit_cores {
    unsigned n;       /* nodes with cores */
    unsigned *numa;   /* what they are called, ascending */
    unsigned *have;   /* cores in each */
    unsigned *wanted; /* what each is to have, 0 to begin with */
    unsigned *place;  /* of each core, by number: its node, as an index */
};

/* What the description has. Fails without memory only. */
int orr_edit_cores_init(const struct orr_machine_desc *desc,
                        struct orr_edit_cores *ret);
void orr_edit_cores_done(struct orr_edit_cores *cores);

/* Adds `each` to what a node is to have for each device next to it that is in
 * use; -1 takes back. */
void orr_edit_cores_count_drivers(const struct orr_machine_desc *desc,
                                  struct orr_edit_cores *cores, int each);

/* Adds n cores to what the nodes are to have, evenly. */
void orr_edit_cores_spread(struct orr_edit_cores *cores, unsigned n);

/* Gives the nodes what they are to have, `total` cores together. The machine
 * has a core, or total is 0. */
int orr_edit_cores_apply(struct orr_edit_work *work,
                         struct orr_edit_cores *cores, unsigned total);

/* -- bus parameters (edit_bus.c) -- */

/* Values before an edit; all zero: none. */
struct orr_edit_bus {
    unsigned ncuda, nopencl, nnodes;
    double *bandwidth, *latency;             /* measured */
    double *route_bandwidth, *route_latency; /* those of the routes */
};

/* Keeps the measured values. Errors: -ENOMEM. */
int orr_edit_bus_begin(struct orr_machine_desc *desc, struct orr_edit_bus *bus);

/* Completes the edited description, and scales the measured values by the
 * change of those of the routes. Errors as orr_machine_desc_finish. */
int orr_edit_bus_end(struct orr_machine_desc *desc, struct orr_edit_bus *bus,
                     struct orr_error *err);
void orr_edit_bus_done(struct orr_edit_bus *bus);

/* -- the echo (edit_echo.c); they fail with -ENOMEM -- */

int orr_edit_echo_device(struct orr_edit_echo *echo, const char *name,
                         double before, double after);
int orr_edit_echo_link(struct orr_edit_echo *echo, const char *name,
                       double before, double after);
int orr_edit_echo_cost(struct orr_edit_echo *echo, const char *name,
                       double before, double after);
int orr_edit_echo_route(struct orr_edit_echo *echo, const char *src,
                        const char *dst);

/* Replaces the sentence, or continues it. */
int orr_edit_echo_say(struct orr_edit_echo *echo, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends the items: `"Host" 6.52 -> 13 GB/s, … and 3 more`. */
int orr_edit_echo_items(struct orr_edit_echo *echo,
                        const struct orr_edit_item *items, unsigned n);
