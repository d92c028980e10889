/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/copies.h - inside the module: the linear program that bounds with
 * copies share. It grows by rows that its last solution violates. One thread at
 * a time.
 *
 * Memory nodes with equal workers and routes form a group. Each task is divided
 * among options: one of its variants, in a group. Variables:
 *   T            the makespan, in units of unit_ms
 *   flow[r] ≥ 0  bytes copied on route r, in units of unit_bytes
 *   x[i][o]      the share of task i executed as option o; the share of
 *                option 0 is not a variable: it is 1 minus the others, so that
 *                the program has few rows
 * Rows: the work of each resource (equal workers of a group), and the bytes on
 * each link over its bandwidth, are at most T. That the shares of a task do not
 * exceed 1, and that values are copied to where they are read, are added where
 * they are violated:
 *
 * Let S be a set of groups, j the task that wrote a value of b bytes, i one
 * that reads it, a_i(S) the share of i in S. When i runs in S and j does not,
 * a copy of that value enters S at least once. So for each set S
 *   Σ flow over routes that enter S  ≥  Σ_values b·Y,  Y ≥ a_i(S) − a_j(S)
 * for every reader i, Y ≥ 0; the first value of a datum is "done" in its home.
 */
#pragma once

#include "bound/glpk_lp.h"
#include "bound/methods.h"
#include "bound/versions.h"

struct orr_copies_option {
    unsigned resource;
    unsigned group;
    double ms;
    double area; /* worker·ms */
};

struct orr_copies_resource {
    unsigned group;
    double size; /* workers */
    char *name;  /* owned */
};

struct orr_copies_set {
    bool *has;       /* owned, per group */
    unsigned rounds; /* in which it was violated */
    /* Columns Y of all versions, where made; 0: none. */
    unsigned first_copy;
};

enum orr_copies_row_kind {
    ORR_COPIES_OTHER,
    ORR_COPIES_RESOURCE, /* index: of the resource */
    ORR_COPIES_LINK,     /* index: of the link */
    ORR_COPIES_PATH,     /* index: of the path, by the caller */
};

struct orr_copies_row {
    enum orr_copies_row_kind kind;
    unsigned index;
};

struct orr_copies {
    const struct orr_bound_instance *in;
    struct orr_bound_versions versions;
    double unit_ms, unit_bytes;
    unsigned ngroups, nresources, nsets;
    unsigned *group;        /* per memory node */
    unsigned *group_nodes;  /* per group: how many */
    bool *group_is_home;    /* per group: of some datum */
    unsigned *resource;     /* per class */
    unsigned *first_option; /* per type, and the end */
    struct orr_copies_option *options;
    struct orr_copies_resource *resources;
    struct orr_copies_set *sets;

    struct orr_lp lp;
    struct orr_lp_solver *solver;
    unsigned first_flow;          /* columns of routes */
    unsigned *first_x;            /* per task: column of its option 1 */
    struct orr_copies_row *about; /* per row */
    size_t room_about;

    double *share; /* per task and group: of the last solution */
    double *ms;    /* per task: mean duration in it */

    /* The row being made: Σ coef·column + constant. */
    double *coef;
    unsigned *touched, ntouched, room_coef;
    double constant;
};

/* Errors: -ENOMEM; end it with orr_copies_done all the same. */
int orr_copies_init(struct orr_copies *c, const struct orr_bound_instance *in);
void orr_copies_done(struct orr_copies *c);

static inline unsigned orr_copies_noptions(const struct orr_copies *c,
                                           unsigned task)
{
    unsigned k = c->in->type[task];

    return c->first_option[k + 1] - c->first_option[k];
}

static inline const struct orr_copies_option *
orr_copies_option(const struct orr_copies *c, unsigned task, unsigned o)
{
    return &c->options[c->first_option[c->in->type[task]] + o];
}

/* Terms of the row being made. weight[g] times the share of a task in g: */
void orr_copies_add_place(struct orr_copies *c, unsigned task,
                          const double *weight, double factor);
/* the same for the producer of a version: a task, or its home: */
void orr_copies_add_origin(struct orr_copies *c,
                           const struct orr_bound_version *version,
                           const double *weight, double factor);
/* its duration, in units of unit_ms: */
void orr_copies_add_duration(struct orr_copies *c, unsigned task);
void orr_copies_add_column(struct orr_copies *c, unsigned column, double value);
/* Ends it: the sum is to be ≤ 0, or ≥ 0. */
void orr_copies_end_row(struct orr_copies *c, bool at_least,
                        enum orr_copies_row_kind kind, unsigned index);

/* The share of a task, or of a version's origin, in a set of groups, in the
 * last solution, weighted. */
double orr_copies_place(const struct orr_copies *c, unsigned task,
                        const double *weight);
double orr_copies_origin(const struct orr_copies *c,
                         const struct orr_bound_version *version,
                         const double *weight);

/* Adds rows that the last solution violates by more than `tolerance`
 * (relative). *ret_need: what T would have to be, by these rows and that
 * solution. Returns how many, or -ENOMEM. */
typedef int (*orr_copies_cut_fn)(struct orr_copies *c, double t,
                                 double tolerance, void *arg, double *ret_need);

/* Solves until no row is violated, or time is out, and fills `ret` but for
 * `seconds`. `path_text`, if any, describes path `index`. */
struct orr_copies_cutter {
    orr_copies_cut_fn cut; /* or NULL */
    void (*path_text)(const struct orr_copies *c, unsigned index, void *arg,
                      char *text, size_t size);
    void *arg;
};
int orr_copies_solve(struct orr_copies *c,
                     const struct orr_bound_options *options,
                     const struct orr_copies_cutter *cutter,
                     struct orr_bound_result *ret);
