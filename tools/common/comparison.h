/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/comparison.h - runs of a program on every combination of machines, values of
 * edits and schedulers, each several times, and what they gave: what `orrery compare` and
 * `orrery advise` are made of. One thread.
 *
 * A cell is one combination: machine by machine, point by point (sweep.h),
 * scheduler by scheduler. The runs of all cells come one after the other before
 * any of them is repeated, so that what disturbs a while of real runs disturbs
 * all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tools/common/energy.h"
#include "tools/common/launch.h"
#include "tools/common/rank_bounds.h"
#include "tools/common/statistics.h"
#include "tools/common/sweep.h"

/* The name of the machine that the command runs on. */
#define COMPARE_REAL "real"

/* What the command line asks for; borrowed, NULL: not given. */
struct compare_options {
    const char *command; /* whose messages these are: "compare" */
    const char *machines, *schedulers, *edits, *assume, *noise;
    const char *plot, *pareto, *runs;
    const struct costs *costs; /* powers that the user gives */
    unsigned jobs, repeat;
    bool draws; /* each repetition has models that are off otherwise, alike for all */
    bool bound, across, json, csv, markdown;
    bool keeps_reports; /* of all repetitions, not of the first ones only */
    char *const *argv; /* the program, or a record */
};

struct cell {
    const char *machine, *scheduler; /* borrowed: as asked for */
    size_t point;                    /* of the sweep */
    struct launch
        *launch; /* the first run: borrowed, its report says the most */
    double *us;  /* owned: makespans of the runs that went well … */
    size_t n;    /* … and how many these are */
    double *of_repetition; /* owned: that of each repetition, NaN: it did not */
    double *joules; /* owned: the energy of the runs that went well, as us; NaN: not known */
    double energy_j; /* the median of these, NaN: one is not known */
    /* Borrowed: the first run that failed; NULL: none did, though some may have been
     * interrupted. */
    const struct launch *failed;
    struct spread spread; /* of us */
    double bound_us;      /* makespans that no scheduler can go below; NaN */
    /* Of a program on a cluster, lent by the comparison, or NULL: of what that is the highest. */
    const struct rank_bounds *bounds;
};

struct comparison {
    const struct compare_options *options; /* borrowed */
    char **machines, **schedulers;         /* owned, NULL-terminated */
    size_t nmachines, nschedulers;
    unsigned *nodes; /* owned: of each cluster; NULL: they do not differ, or not all are one */
    const char *noise; /* of simulated machines; borrowed, NULL: none */
    struct sweep sweep;
    char **edits;       /* owned: of each point */
    struct cell *cells; /* owned */
    size_t ncells;
    struct launch *launches; /* owned: all first runs, all second ones, … */
    char **settings;         /* owned: what is set for each repetition */
    struct powers **powers;  /* owned: by machine and point; NULL: none are known of it */
    const char **more; /* owned: for each launch, LAUNCH_MORE + 1 of these */
    size_t n, nended;  /* launches, and those that have ended */
    struct rank_bounds *bounds; /* owned: by machine and point; NULL: none was asked for */
};

/* Says what is wrong; returns an exit code, TOOL_OK for none. *comparison is to be
 * ended in any case. */
int comparison_init(struct comparison *comparison,
                    const struct compare_options *options);
void comparison_done(struct comparison *comparison);

/* Which of a cell's launches it is, from 0. */
size_t comparison_repetition(const struct comparison *comparison,
                             const struct launch *launch);

struct cell *comparison_cell(const struct comparison *comparison,
                             size_t machine, size_t point, size_t scheduler);

/* The cell that a launch is of. */
struct cell *comparison_cell_of(const struct comparison *comparison,
                                const struct launch *launch);

/* Whether all its runs that ended went well, and there is one. */
bool cell_is_good(const struct cell *cell);

/* The policy that ran, else the one that was asked for. */
const char *cell_policy(const struct cell *cell);

/* The unit of the table's times. */
struct report_unit comparison_unit(const struct comparison *comparison);

/* Of the schedulers on one machine at one point, the one with the least median;
 * NULL: none is good. */
const struct cell *comparison_best(const struct comparison *comparison,
                                   size_t machine, size_t point);

/* Those with which a cell is compared: at its point the schedulers of its machine, of
 * all machines where the command line asks for that (`across`). */
struct rivals {
    const struct cell *best; /* with the least median; NULL: none is good */
    unsigned nran, nfailed;  /* good cells, and those with a failed run */
};
struct rivals comparison_rivals(const struct comparison *comparison,
                                const struct cell *cell);

/* The share of repetitions, which have the same luck for all, in which a cell takes
 * longer than another, ties counting half; and in which it takes the least of its
 * rivals. NaN: no repetition of both went well. */
double cell_behind_share(const struct comparison *comparison,
                         const struct cell *cell, const struct cell *other);
double cell_first_share(const struct comparison *comparison,
                        const struct cell *cell);

/* "moon", or "moon, cuda.count = 4" where there is more than one point; owned. NULL
 * without memory. */
char *comparison_where(const struct comparison *comparison, size_t machine,
                       size_t point);

/* How many times as fast it is as on the first cluster, with the same settings and scheduler;
 * and that over what the number of nodes would make it, in *ret_efficiency. NaN: not known, or
 * the machines are not clusters of several sizes. */
double cell_speedup(const struct comparison *comparison, const struct cell *cell,
                    double *ret_efficiency);

/* Whether no rival takes both less time and less energy, or one of them where the other is
 * equal. False where its energy is not known. */
bool cell_is_pareto(const struct comparison *comparison, const struct cell *cell);

/* What one run costs, its median, where prices are those of an hour; NaN: not known. */
double comparison_run_price(const struct comparison *comparison,
                            const struct cell *cell);

/* Whether any cell has such a price. */
bool comparison_has_prices(const struct comparison *comparison);

/* Whether the energy of any cell is known. */
bool comparison_has_energy(const struct comparison *comparison);

/* Share of the time of all workers in which none had a task; NaN: not known. */
double cell_idle(const struct cell *cell);

/* GFlop/s in the median time, 0 where no operations are counted; NaN if no time passed. */
double cell_gflops(const struct cell *cell);
