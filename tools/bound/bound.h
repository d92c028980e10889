/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/bound.h - inside `orrery bound`: options and results. One thread.
 */
#pragma once

#include <stdbool.h>

#include "bound/bounds.h"
#include "bound/graph.h"
#include "tools/common/launch.h"
#include "tools/common/report.h"

struct powers; /* tools/common/energy.h */

struct bound_options {
    /* All borrowed; NULL: not requested. */
    const char *machine, *edits, *scheduler, *assume, *devices, *save_graph, *lp,
        *lp_solve, *mps, *plot;
    const struct powers *powers; /* of the machine; NULL: none are known */
    bool json;
    bool wanted[ORR_BOUND_NMETHODS];
    double optimism, merge; /* of struct orr_bound_instance_options */
    double seconds;         /* limit for all bounds; <= 0: the command's own */
    /* What to run, or the recorded graph, or those of nfiles ranks; the others are NULL. */
    char *const *argv;
    const char *file;
    char *const *files;
    unsigned nfiles;
};

/* The results of a run and its bounds; zeroed to begin with. */
struct bounds {
    const struct bound_options *options; /* borrowed */
    int stopped;                         /* signal that ended the command, 0:
                                          * none */
    char *what;                          /* owned: the program, or the file */
    struct report report;                /* of the run; json is NULL without */
    struct orr_graph *graph;             /* owned */
    double makespan_ms;                  /* NaN: not known */
    unsigned left;    /* tasks that had not run when the run ended early */
    unsigned filled;  /* pairs whose duration is this run's own */
    unsigned unknown; /* pairs of kernel and worker left out */
    struct orr_bound_instance *in /* owned: classes across memory nodes */,
        *in_nodes; /* owned: classes within one */
    struct orr_bound_result results[ORR_BOUND_NMETHODS]; /* of those wanted */
};

/* The unit of the times of its table and picture: of the makespan, or of what the tasks
 * take where that is not known. */
struct report_unit bounds_unit(const struct bounds *b);

/* Where the machine's figures come from, NULL: not known. */
const char *bounds_figures(const struct bounds *b);

/* The policy of the run, NULL: not known. */
const char *bounds_scheduler(const struct bounds *b);

/* Both in a line, with where the tasks' times come from, for a picture; owned.
 * NULL without memory. */
char *bounds_caption(const struct bounds *b);

/* "79.1 % measured, 20.9 % derived": the share of the time of tasks that comes
 * from where, as the graph says; "" where it says nothing. The same as JSON, and
 * the times of each task type with theirs: NULL without memory. */
void bounds_times(const struct bounds *b, char *text, size_t size);
json_t *bounds_json_times(const struct bounds *b);
json_t *bounds_json_types(const struct bounds *b);

/* "critical-path": what --kind takes. */
const char *bounds_key(enum orr_bound_method method);

/* The following print a message and return -1 on failure. */

/* Runs the program or opens the file. */
int bounds_get_graph(struct bounds *b);

/* Makes the instances. */
int bounds_make_instances(struct bounds *b);

/* Writes the files of --lp, --lp-solve and --mps. */
int bounds_export(const struct bounds *b);

/* Which bound is exported; ORR_BOUND_NMETHODS: none of those wanted can be. */
enum orr_bound_method bounds_exported(const bool wanted[ORR_BOUND_NMETHODS]);

/* Computes the requested bounds, the cheap ones first, and calls `known`, unless
 * NULL, for each as soon as it is a result. A bound that cannot be computed is
 * a result as well, and so is one that a signal or the time limit has ended. */
int bounds_compute(struct bounds *b,
                   void (*known)(const struct bounds *, enum orr_bound_method));

/* The text output: what is known before any bound is; the row of a bound; what
 * all of them say. */
int bounds_print_head(const struct bounds *b);
void bounds_print_row(const struct bounds *b, enum orr_bound_method method);
int bounds_print_end(const struct bounds *b);
int bounds_print_json(const struct bounds *b);
int bounds_plot(const struct bounds *b);

/* The limit for all bounds together of so many tasks, where none is given. */
double bounds_usual_seconds(unsigned ntasks);

/* Verified, and no pair that might be faster was left out. */
bool bounds_is_proved(const struct bounds *b, enum orr_bound_method method);

/* The highest verified one; ORR_BOUND_NMETHODS: there is none. */
enum orr_bound_method bounds_best(const struct bounds *b);

/* Share by which the makespan lies above the best bound; NaN: not known. */
double bounds_distance(const struct bounds *b);

/* What no schedule can take less than (energy.c); `joules` is NaN without powers. */
struct bound_energy {
    double joules, idle_j, tasks_j;
};
struct bound_energy bounds_energy(const struct bounds *b);
void bounds_print_energy(const struct bounds *b);
json_t *bounds_json_energy(const struct bounds *b);

/* "optimal", "time-limit", …: of JSON. */
const char *bounds_outcome_name(enum orr_bound_outcome outcome);

/* Calls `say` for each note that belongs to the results; `arg` is passed on.
 * -ENOMEM or what `say` returned, if not 0. */
int bounds_notes(const struct bounds *b, int (*say)(const char *, void *),
                 void *arg);

/* The same for the note on a run that was faster than its bound, once bounds
 * are computed. */
int bounds_below_note(const struct bounds *b, int (*say)(const char *, void *),
                      void *arg);

void bounds_done(struct bounds *b);

/* --- several ranks: cluster.h --- */

/* Runs the ranks of the launch (launch_place) and prints bounds of each and of all. Returns
 * an exit code; the launch is for launch_done. */
int bound_ranks(const struct bound_options *options, struct launch *launch);

/* The same of the graphs that the ranks of a run have left, options->files. */
int bound_rank_files(const struct bound_options *options);
