/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_findings.h - checks the models of a machine: whether a
 * simulation that takes kernel times from them can be trusted, what is wrong
 * where, and what to measure next. Reads plain data, no files. One thread.
 */
#pragma once

#include "perfmodel/side.h"
#include "perfmodel/store.h"
#include "platforms/findings.h"
#include "tools/perfmodel/perfmodel.h"

/* One model. All borrowed. */
struct check_model {
    const char *symbol;
    const struct orr_model_file *file;
    const struct orr_side *side; /* NULL: there is none that can be read */
    enum orr_origin origin;      /* of rows that do not say it themselves */
};

/* The precision that is requested unless a command line says another. */
#define CHECK_CONFIDENCE 0.02

/* Times the requested half width from which an interval is an error. */
#define CHECK_HOPELESS 5

#define CHECK_NTYPES 8 /* device types that have a name */

struct check_options {
    double confidence;    /* requested half width of 95 % intervals, relative to
                           * the time */
    unsigned minimum;     /* samples from which a row counts as calibrated */
    unsigned homogeneous; /* see perfmodel/arch.h */
    double peak[CHECK_NTYPES]; /* GFlop/s that no kernel on a device of this
                                * type can exceed; 0: not known */
    unsigned ndevices[CHECK_NTYPES]; /* devices of the machine; 0: only those of
                                      * the models */
    uint64_t like[CHECK_NTYPES]; /* bit k: device k uses the models of another */
};

#define CHECK_ARCH_SIZE 64

/* The state of one kernel on one architecture. */
struct check_arch {
    char *kernel; /* owned */
    char arch[CHECK_ARCH_SIZE];
    unsigned nrows;         /* footprints, or 1 for a formula alone */
    unsigned ncalibrated;   /* of these with enough samples and sound */
    uint32_t least_n;       /* samples of the footprint with the fewest */
    uint64_t total_n;       /* samples of all */
    double interval;        /* widest relative half width of those that were
                             * measured; NaN: not known */
    struct perfmodel_origins origins; /* of the footprints, or the formula */
    bool independent;       /* an interval takes measures for independent */
    unsigned nerrors, nwarnings; /* findings about it */
};

struct check_result {
    struct orr_findings findings; /* sorted */
    struct check_arch *archs;     /* owned */
    unsigned narchs;
    unsigned nmodels;
};

/* Checks `n` models. *ret is ended with check_result_done. Errors: -ENOMEM. */
int check_models(const struct check_model *models, unsigned n,
                 const struct check_options *options, struct check_result *ret);
void check_result_done(struct check_result *check_result);

/* The time that a simulation takes for one row and its precision: the half
 * width of its 95 % interval, relative, NaN when unknown. Both NaN for a row
 * that cannot be used. And where it comes from. Errors: -ENOMEM. */
int check_value(const struct check_model *model,
                const struct orr_model_comb *comb, unsigned impl,
                const struct orr_model_row *row, double *ret_value,
                double *ret_half_width, enum orr_origin *ret_origin);

/* Adds to each architecture how many findings are about it; for callers that
 * have added findings of their own. check_models does it once. */
void check_result_count(struct check_result *check_result);
