/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_plot.h - a picture of one kernel's model for gnuplot:
 * time, or GFlop/s, over size, for each architecture. One thread.
 */
#pragma once

#include "perfmodel/origin.h"
#include "tools/perfmodel/model_findings.h"

#include <stdio.h>

/* What to draw; all borrowed. */
struct model_plot_choice {
    const char *host;
    const char *arch; /* as perfmodel_arch_wanted; NULL: all */
    bool gflops;      /* else times */
    bool energy;      /* the model's values are joules, not microseconds */
    bool linear;      /* axes, else logarithmic ones, but for GFlop/s */
    bool logarithmic; /* GFlop/s as well */
};

/* A point or a place on a curve. Times in µs (or J), as measured. */
struct model_plot_point {
    double x;         /* size */
    double y, lo, hi; /* NaN: not known */
    double flops;     /* 0: not known */
    double n;         /* samples; 0 on curves */
    enum orr_origin origin; /* of a point */
};

struct model_plot_line {
    unsigned n;
    struct model_plot_point *at; /* owned, by increasing x */
};

/* One implementation on one architecture. */
struct model_plot_series {
    char label[CHECK_ARCH_SIZE];
    struct model_plot_line points;     /* measured, with 95 % intervals */
    struct model_plot_line computed;   /* points that were not measured */
    struct model_plot_line curve;      /* interpolated, with expected errors */
    struct model_plot_line regression; /* the formula in the file, or a power
                                  * regression through two sizes */
};

struct model_plot {
    const struct check_model *model; /* borrowed */
    struct model_plot_choice choice;
    unsigned nseries;
    struct model_plot_series *series; /* owned */
    unsigned nmissing;                /* series left out for want of flops */
};

/* Gathers what is to be drawn. *ret is ended with model_plot_done. Series
 * without anything to show are left out, so that there may be none. Errors:
 * -ENOMEM. */
int model_plot_build(const struct check_model *model,
                     const struct model_plot_choice *choice,
                     struct model_plot *ret);
void model_plot_done(struct model_plot *plot);

/* Writes all series as blocks for gnuplot's `index`: size, value, low, high,
 * samples. A comment above each describes it. */
void model_plot_write_data(const struct model_plot *plot, FILE *file);

/* Writes gnuplot's commands from the title to `plot`, after terminal and output
 * have been set. `source` is where the data are: "$data", a block of gnuplot's,
 * or the name of a file. */
void model_plot_write_script(const struct model_plot *plot, FILE *file,
                             const char *source);
