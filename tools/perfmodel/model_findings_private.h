/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_findings_private.h - what the judges of rows, of curves
 * and of what belongs together share. One thread.
 */
#pragma once

#include "tools/perfmodel/model_findings.h"

/* What is to be thought of one row. */
struct check_row {
    const struct orr_model_row *row;
    bool sound;        /* its time can be used at all */
    bool calibrated;   /* and rests on enough samples */
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
    char anew[448]; /* the remedy for figures that are wrong: drop them, measure
                     * again */
    unsigned nrows;
    struct check_row *rows; /* owned; in the order of the file */
};

struct checker {
    const struct check_options *options;
    struct orr_findings *findings;
    unsigned nimpls, slots;
    struct check_impl *impls; /* owned; those of a model beside each other */
};

/* Puts figures and their soundness into each row of `impl`, and says what is
 * wrong with single rows. Errors: -ENOMEM. */
int check_rows(struct checker *checker, struct check_impl *impl);

/* What is wrong with rows beside each other, and with the formula. Errors:
 * -ENOMEM. */
int check_curve(struct checker *checker, const struct check_impl *impl);

/* What is wrong between the architectures of one model, impls[0 … n-1].
 * Needs all models: whether devices differ in general. Errors: -ENOMEM. */
int check_across(struct checker *checker, const struct check_impl *impls,
                 unsigned n);

/* Device types that the machine has and no model. */
void check_types(struct checker *checker);

/* The row of a footprint that can be used, NULL without. Lent. */
const struct check_row *check_find_row(const struct check_impl *impl,
                                       uint32_t hash);

/* The device's type when the implementation runs on a single device of a type
 * that has a name, else -1. */
int check_type(const struct check_impl *impl);

struct orr_finding_place check_place(const struct check_impl *impl,
                                     const struct orr_model_row *row);

/* The remedy for figures that are too few. */
#define CHECK_MEASURE_MORE                                                     \
    "measure on: orrery calibrate kernels -- PROGRAM, or run PROGRAM with "    \
    "STARPU_CALIBRATE=1"
