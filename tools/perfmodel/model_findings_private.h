/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_findings_private.h - what the judges of rows, of curves and of
 * what belongs together share. One thread.
 */
#pragma once

#include "tools/perfmodel/model_findings.h"

/* What is to be thought of one row. */
struct judge_row {
    const struct orr_model_row *row;
    bool sound;        /* its time can be used at all */
    bool calibrated;   /* and rests on enough samples */
    double value;      /* what a simulation takes: µs, or J */
    double half_width; /* of the 95 % interval, relative; NaN: not known */
    bool independent;  /* the interval takes measures for independent */
};

/* One implementation on one architecture of one model. */
struct judge_impl {
    const struct judge_model *model;
    const struct orr_model_comb *comb;
    const struct orr_model_impl *impl;
    unsigned number;
    char arch[JUDGE_ARCH_SIZE];
    char anew[448]; /* the remedy for figures that are wrong: drop them, measure
                     * again */
    unsigned nrows;
    struct judge_row *rows; /* owned; in the order of the file */
};

struct judge {
    const struct judge_options *options;
    struct orr_findings *findings;
    unsigned nimpls, slots;
    struct judge_impl *impls; /* owned; those of a model beside each other */
};

/* Puts figures and their soundness into each row of `impl`, and says what is
 * wrong with single rows. Errors: -ENOMEM. */
int judge_rows(struct judge *judge, struct judge_impl *impl);

/* What is wrong with rows beside each other, and with the formula. Errors:
 * -ENOMEM. */
int judge_curve(struct judge *judge, const struct judge_impl *impl);

/* What is wrong between the architectures of one model, impls[0 … n-1].
 * Needs all models: whether devices differ in general. Errors: -ENOMEM. */
int judge_across(struct judge *judge, const struct judge_impl *impls,
                 unsigned n);

/* Device types that the machine has and no model. */
void judge_types(struct judge *judge);

/* The row of a footprint that can be used, NULL without. Lent. */
const struct judge_row *judge_find_row(const struct judge_impl *impl,
                                       uint32_t hash);

/* The device's type when the implementation runs on a single device of a type
 * that has a name, else -1. */
int judge_type(const struct judge_impl *impl);

struct orr_finding_place judge_place(const struct judge_impl *impl,
                                     const struct orr_model_row *row);

/* The remedy for figures that are too few. */
#define JUDGE_MEASURE_MORE                                                     \
    "measure on: orrery calibrate kernels -- PROGRAM, or run PROGRAM with "    \
    "STARPU_CALIBRATE=1"
