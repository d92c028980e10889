/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/advise/advise.h - inside `orrery advise`: programs on machines, each simulated in
 * draws of what is not known exactly, and which machine to choose. One thread.
 *
 * A candidate is a machine at a point of the edits' values, with the policy that has the
 * least median there for each workload.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tools/advise/value.h"
#include "tools/common/comparison.h"
#include "tools/common/costs.h"

/* Whether the choice that comes first in so many draws is one. */
#define ADVISE_SURE 0.9

enum advise_by { BY_TIME, BY_PRICE, BY_ENERGY, BY_VALUE };

/* A program, or a record, and how often it runs. */
struct workload {
    char **argv; /* of a record: owned, two words; of a program: borrowed */
    double weight;
    bool is_owned;
    struct compare_options options;
    struct comparison comparison; /* machine by machine, point by point, as all others */
};

struct advise_options {
    const char *machines, *schedulers, *edits, *assume; /* NULL: not given */
    const char *costs, *budget, *power, *time;
    unsigned jobs, draws;
    bool json;
    enum advise_by by;
    bool has_by;
    bool hourly_budget; /* the price of an hour is limited, not that of a run */
    double budget_price, power_w, time_us; /* NaN: no limit */
};

struct candidate_of {
    char *name; /* owned: "moon, cuda.count = 4" */
    struct orr_machine_desc *desc; /* owned; NULL: a cluster */
    struct cost cost;
    double *us, *joules;   /* owned: in each draw; NaN: not known */
    double *losses;        /* lent by the advice: by what is ranked; NaN: it is out */
    char *out;             /* owned: why it is no candidate; NULL: it is one */
    double within;         /* share of draws within the limit of time; NaN: there is none */
    const struct cell *cell; /* of the first workload; NULL: none is good */
};

/* A figure that is not known exactly, by its factor in each draw. */
struct figure {
    char *name;      /* owned: "chol_model_gemm on NVIDIA H100 PCIe 80GB" */
    bool is_kernel;
    bool *of; /* owned: whether runs of that candidate have it */
    double *logs;    /* owned: the logarithm of its factor; 0 where it was not used */
    unsigned *nlogs; /* owned: of how many values each is the mean */
    double value;    /* what knowing it is worth: choices_figure_value */
};

struct advice {
    const struct advise_options *options; /* borrowed */
    struct workload *workloads; /* owned */
    size_t nworkloads;
    struct costs costs;
    struct candidate_of *candidates; /* owned */
    size_t n;
    size_t *order; /* owned: the candidates, the least mean loss first, then those out */
    double *losses; /* owned */
    struct choices choices;
    struct figure *figures; /* owned: the most valuable first */
    size_t nfigures;
};

/* Makes candidates of the machines and values, with what they cost (candidates.c). Returns an
 * exit code, with a message. */
int advice_make_candidates(struct advice *advice);

/* After the runs: times, energies, losses, shares (candidates.c). -1 without memory. */
int advice_judge(struct advice *advice);

/* The figures that were drawn, and what each is worth (figures.c). -1 without memory. */
int advice_value_figures(struct advice *advice);

/* What limits a candidate: the figures on which its time depends most, as
 * "chol_model_gemm 62 %, pcie bandwidth 54.2 GB/s 11 %"; owned. "" if nothing was drawn. */
char *advice_limits(const struct advice *advice, size_t c);

void advice_done(struct advice *advice);

/* What is said of it (print.c). -1 without memory. */
int advice_print(const struct advice *advice);
int advice_print_json(const struct advice *advice);

/* What the candidate costs: to be bought or, where prices are those of an hour, a run of so
 * many µs. NaN: not known. */
double advice_run_price(const struct advice *advice, const struct candidate_of *candidate,
                        double us);

/* Of figures in each draw: the median, and between which nine of ten lie. */
struct spread advice_spread(const struct advice *advice, const double *values);
