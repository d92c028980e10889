/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_findings_private.h - shared by the checks of rows, of
 * curves and across architectures. One thread.
 */
#pragma once

#include "tools/perfmodel/model_findings.h"

/* The state of one row. */
struct check_row {
    const struct orr_model_row *row;
    enum orr_origin origin;
    bool sound;        /* its time can be used at all */
    bool calibrated;   /* and has enough samples */
    double value;      /* what a simulation takes: µs, or J */
    double half_width; /* of the 95 % interval, relative; NaN: not known */
    bool independent;  /* the interval takes measures for independent */
};

/* One implementation on one architecture of one model. */
struct check_impl {
    const struct check_model *model;
    const struct orr_model_comb *comb;
    const struct orr_model_impl *impl;
    unsigned number;
    char arch[CHECK_ARCH_SIZE];
    char anew[448]; /* the remedy for wrong values: drop them, measure again */
    unsigned nrows;
    struct check_row *rows; /* owned; in the order of the file */
};

struct checker {
    const struct check_options *options;
    struct orr_findings *findings;
    unsigned nimpls;
    struct check_impl *impls; /* owned; those of a model beside each other */
};

/* Fills the values of each row of `impl`, and adds findings about single rows.
 * Errors: -ENOMEM. */
int check_rows(struct checker *checker, struct check_impl *impl);

/* Adds findings about rows compared with each other, and about the formula.
 * Errors: -ENOMEM. */
int check_curve(struct checker *checker, const struct check_impl *impl);

/* Adds findings about the architectures of one model, impls[0 … n-1]. Needs all
 * models: whether devices differ in general. Errors: -ENOMEM. */
int check_across(struct checker *checker, const struct check_impl *impls,
                 unsigned n);

/* Adds findings about device types that the machine has and no model. */
void check_types(struct checker *checker);

/* The row of a footprint that can be used, NULL without. Lent. */
const struct check_row *check_find_row(const struct check_impl *impl,
                                       uint32_t hash);

/* The device's type when the implementation runs on a single device of a type
 * that has a name, else -1. */
int check_type(const struct check_impl *impl);

struct orr_finding_place check_place(const struct check_impl *impl,
                                     const struct orr_model_row *row);

/* The remedy for too few samples. */
#define CHECK_MEASURE_MORE                                                     \
    "measure on: orrery calibrate kernels -- PROGRAM, or run PROGRAM with "    \
    "STARPU_CALIBRATE=1"
