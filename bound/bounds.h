/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/bounds.h - the list of bounds, and the result of computing one.
 */
#pragma once

#include <stdbool.h>

#include "bound/instance.h"

enum orr_bound_method {
    ORR_BOUND_CRITICAL_PATH, /* every task on its fastest variant */
    ORR_BOUND_AREA,          /* no dependencies, fractions of tasks */
    ORR_BOUND_PATHS,         /* area and, lazily, violated paths */
    ORR_BOUND_PRECEDENCE,    /* completion times and areas: all paths */
    ORR_BOUND_TRANSFERS,     /* precedence with copies and areas of links */
    ORR_BOUND_RUNTIME,       /* precedence with what the runtime takes */
    ORR_BOUND_MEMORY,        /* area with the copies that small memories cost */
    ORR_BOUND_INTEGER_AREA,  /* area with whole tasks */
    ORR_BOUND_INTEGER,       /* whole tasks, precedence */
    ORR_BOUND_EXACT,         /* the optimal schedule of a small graph */
    ORR_BOUND_NMETHODS,
};

enum orr_bound_outcome {
    ORR_BOUND_OPTIMAL,    /* the bound's own optimum, within its tolerance */
    ORR_BOUND_TIME_LIMIT, /* best proved value when time, or the solver, was
                           * out: `why` */
    ORR_BOUND_SKIPPED,    /* not computed: `why` */
    ORR_BOUND_INFEASIBLE, /* no schedule exists: `why` */
    ORR_BOUND_UNBOUNDED,  /* by the solver; a fault: `why` */
    ORR_BOUND_SUSPICIOUS, /* the check of the dual solution failed: `why` */
};

enum { ORR_BOUND_STEPS = 16 };

/* What was proved when. */
struct orr_bound_step {
    double seconds; /* since the bound was begun */
    double ms;
};

struct orr_bound_result {
    enum orr_bound_method method;
    enum orr_bound_outcome outcome;
    double ms; /* a lower bound on every schedule; NaN: there is none */
    /* The value of the whole schedule or relaxed solution found, if any: the
     * optimum is between `ms` and this. NaN: none. */
    double upper_ms;
    bool proved;    /* checked here, independently of the solver, from a dual
                  * solution or by other means */
    double seconds; /* that it took */
    /* Each better than the one before, the last one with what was proved in the end. Of
     * more than there is room for those that gained most are kept. */
    struct orr_bound_step steps[ORR_BOUND_STEPS];
    unsigned nsteps;
    double began_s; /* of the computation, by orr_bound_clock */
    char *why;      /* owned, or NULL: for outcomes other than optimal */
    char *limit; /* owned, or NULL: the resource or path that limits, as text:
                  * "3 CUDA devices, busy all the time: gemm is 92 % of it" */
};

struct orr_bound_options {
    double seconds;   /* limit for each bound; <= 0: 60 */
    double tolerance; /* relative gap that counts as optimal; <= 0: 1e-4 */
    /* Where nothing was gained for that long, s, and for as long as it took to prove what
     * there is, more is not looked for (orr_bound_goes_on); <= 0: until time is out. */
    double patience;
};

/* "critical path", for tables. */
const char *orr_bound_method_name(enum orr_bound_method method);
/* "transfers, memory, that tasks are whole": what it ignores. */
const char *orr_bound_method_ignores(enum orr_bound_method method);

/* "what …, that … and that …": what each of them ignores beside that. */
const char *orr_bound_all_ignore(void);

void orr_bound_result_done(struct orr_bound_result *result);
