/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/validate/validate.h - `orrery validate`: a program run for real and
 * simulated, and the errors between the two. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmodel/origin.h"
#include "tools/common/launch.h"
#include "tools/common/quiet.h"
#include "tools/validate/drift.h"
#include "tools/validate/levels.h"

/* The options; borrowed. */
struct validate_options {
    char *const *argv;   /* the program */
    char *const *sizes;  /* NULL-terminated, maybe empty */
    const char *machine; /* to simulate; NULL: this one */
    const char *edits;   /* what-if edits of it, or NULL */
    const char *sched;   /* or NULL */
    const char *plot;    /* picture to draw, or NULL */
    unsigned nranks;     /* of the program, on this host; 0: it is one process */
    unsigned nreps;
    uint64_t seed;
    bool json;
};

/* The median of several repetitions and their spread. */
struct validate_spread {
    double median, min, max; /* NaN: none */
};

/* A kernel of one size on one architecture; µs. */
struct validate_kernel {
    struct report_kernel kernel; /* texts borrowed from a report */
    char type[16];               /* "cpu" */
    double *times;               /* owned: one per repetition */
    double *fast_times;          /* owned: the same from lower quartiles; NaN */
    struct validate_spread measured; /* of these */
    double predicted;
    enum orr_origin origin; /* of the prediction */
    double error;           /* predicted over measured - 1 */
    double mean_error;      /* of the means, outliers and all */
    bool
        mixed; /* its model is of two populations: all times are means of all runs */
    bool two_levels;        /* in each repetition alike: */
    struct levels levels;
    enum drift_verdict verdict;
};

/* The copies between two nodes, all sizes together. */
struct validate_link {
    const char *from, *to;                      /* borrowed from a report */
    json_int_t measured_count, predicted_count; /* of a repetition */
    /* µs per MiB; NaN: there were none */
    struct validate_spread measured, predicted;
    double error;
};

/* From end to end, at one size; µs. */
struct validate_end {
    const char *size; /* NULL: there is but one */
    struct validate_spread measured, predicted;
    double error;
    /* The ratio of the real kernels' total time and that without the outliers
     * that models set aside, those of a kernel's second level not counted: the
     * load of other programs, if repetitions differ. Median. */
    double disturbance;
    bool steady; /* that is alike in all repetitions */
    double threshold; /* |ln(1 + error)| from which it is an alarm */
    enum drift_verdict verdict; /* DRIFT_DRIFTED: it is off */
    bool modelled; /* compared are only the tasks that have models: others ran
                    * in but one of the two */
};

/* From end to end, µs: all tasks, or those that have models. */
static inline double validate_makespan_us(const struct report *report, bool modelled)
{
    return modelled ? report->modelled_us : report->makespan_us;
}

/* Where the errors come from: of each run, at each size, simulated with the times that
 * its kernels took, with those of the models, and with those of the next run of its size.
 * Relative. */
struct validate_predictions {
    struct validate_error {
        double median, worst; /* of their sizes; NaN: not known */
    } simulator, models, machine;
    unsigned n;        /* runs that could be simulated so */
    char problem[1024]; /* why others could not; "" */
};

struct validation {
    const struct validate_options *options; /* borrowed */
    unsigned nsizes, nreps;
    char ***argvs;       /* owned: a command line for each size */
    struct launch *runs; /* owned: indexed by validation_run */
    char *machine;       /* owned: what was simulated: a machine, or a cluster's line */
    char *folder;        /* owned: temporary, with the description of this machine,
                          * and the calls and the trace of each real run; NULL */
    int stopped;         /* by this signal; 0 */
    /* Kernels' times are not known: the program is run for real only, and simulated from
     * its own times. */
    bool unmodelled;

    /* Results. */
    struct validate_kernel *kernels; /* owned */
    struct drift_item *items;        /* owned, one per kernel */
    size_t nkernels;
    struct validate_link *links; /* owned */
    size_t nlinks;
    struct validate_end *ends; /* owned, nsizes */
    double median_error;       /* of the ends' |error| */
    struct validate_predictions predictions;
    struct quiet quiet; /* when it began */
    struct drift drift;
    unsigned noff, nunclear;              /* ends that are, that cannot be told */
    unsigned verdicts[DRIFT_DRIFTED + 1]; /* kernels with each */
};

/* Whether the models, or what the simulation makes of them, are wrong. */
static inline bool validation_alarm(const struct validation *v)
{
    return v->drift.ndrifted > 0 || v->noff > 0 || v->verdicts[DRIFT_LEVELS] > 0;
}

/* Whether noise hides whether they are. */
static inline bool validation_unclear(const struct validation *v)
{
    return v->nunclear > 0 || v->verdicts[DRIFT_CANNOT_TELL] > 0;
}

/* The run of that size and repetition. */
static inline struct launch *validation_run(const struct validation *v,
                                            unsigned size, unsigned rep,
                                            bool simulated)
{
    return &v->runs[(size * v->nreps + rep) * 2 + simulated];
}

/* Runs everything. Returns 0, or -1 with a message. A signal (v->stopped) ends it
 * early, with 0 if whole repetitions can be compared: v->nreps then.
 * *v is ended with validation_done either way. */
int validation_measure(struct validation *v,
                       const struct validate_options *options);
void validation_done(struct validation *v);

/* The file of a real run in the folder, "calls.rec" or "trace.csv"; owned by the caller.
 * NULL without memory. */
char *validation_path(const struct validation *v, unsigned size, unsigned rep,
                      const char *what);

/* Simulates each real run with the times that its kernels took; v->predictions says how
 * that went. Errors: -1 with a message; interrupted: v->stopped. */
int validation_predict(struct validation *v);

/* Fills in the results. Errors: -1 with a message. */
int validation_compare(struct validation *v);

/* Tables and findings, or JSON, on stdout; or a picture. Errors: -1 with a
 * message. */
int validation_print(const struct validation *v);
int validation_print_json(const struct validation *v);
int validation_plot(const struct validation *v, const char *path);
