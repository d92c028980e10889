/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/validate/drift.h - whether performance models still match what is
 * measured now, on machines with other load. Pure functions of arrays.
 *
 * For each kernel and repetition there is the ratio of the measured time to the
 * model's. Its logarithm is a sum: the slowdown of all kernels of the
 * repetition (the machine), the error of this kernel's model (its drift), and
 * noise. The machine's part is the median over the kernels, so that one that
 * drifts does not move it; the drift is the median over the repetitions of what
 * remains. It raises an alarm when it is more than 5 % and more than noise
 * exceeds once in a hundred validations, in most of the repetitions.
 */
#pragma once

#include <stdbool.h>

#define DRIFT_LEAST     0.05 /* drifts of less are no alarm, as a logarithm */
#define DRIFT_REPEATS   4    /* repetitions below which nothing is checked */
#define DRIFT_FAMILY    0.01 /* false alarms per validation, by noise alone */
#define DRIFT_PRIOR_DOF 4    /* weight of the other kernels' noise */
#define DRIFT_END       0.1  /* errors from end to end of less are no alarm */
/* Limits above this say nothing, as a logarithm: a factor of 1.5. What is beyond
 * it is no measure of the same kernel to models (perfmodel/METHODS.md), so an
 * error of as much must not pass for one. */
#define DRIFT_MOST 0.405

/* What is said of a kernel's model. */
enum drift_verdict {
    DRIFT_NO_MODEL,
    DRIFT_NOT_CHECKED, /* too few repetitions */
    DRIFT_FITS,        /* its error is below the threshold */
    DRIFT_CANNOT_TELL, /* the same, but noise makes that more than DRIFT_MOST */
    DRIFT_SHIFTED,     /* it is not, but all kernels of the type share that */
    DRIFT_DISTURBED,   /* it is not, but in too few repetitions, or only in the
                        * slow runs of each */
    DRIFT_LEVELS, /* it takes two times, of which the model knows one: set by
                   * the caller (levels.h) */
    DRIFT_DRIFTED,
};

/* A kernel of one size on one architecture. */
struct drift_item {
    /* Filled in by the caller; borrowed. */
    const char *kernel;  /* items of one kernel count once for the machine */
    const char *type;    /* machine's part apart for each: "cpu", "cuda" */
    double estimate;     /* the estimate of the model, µs; NaN: none */
    double error;        /* relative standard error of that, 0: not known */
    const double *times; /* one per repetition, µs; NaN: did not run */
    /* The same from the fast runs of each repetition (their lower quartile),
     * scaled so that the model's own fast runs would give its estimate. NULL:
     * not known. Other programs make the slow runs of a kernel slower, a slower
     * kernel makes all of them slower: both must show it. */
    const double *fast_times;
    /* Filled in by drift_check; logarithms of ratios, NaN: not checked. */
    double shift;     /* measured over predicted */
    double excess;    /* the same beyond the machine's part: its drift */
    double usual;     /* excess without what fast_times say */
    double noise;     /* standard deviation of excess between repetitions */
    double threshold; /* |excess| above which it is an alarm */
    unsigned nabove;  /* repetitions that lie beyond it on the same side */
    unsigned nreps;   /* repetitions in which it ran */
    bool drifted;
};

/* The machine's part for one device type. */
struct drift_type {
    const char *name;  /* borrowed from the items */
    unsigned nkernels; /* different ones; a single one is not enough */
    double shift;      /* median over repetitions, a logarithm; NaN */
    double threshold;  /* |shift| above which it is worth mentioning */
    bool shifted;
};

#define DRIFT_TYPES 8

struct drift {
    unsigned nchecked, ndrifted;
    unsigned ntypes;
    struct drift_type types[DRIFT_TYPES];
};

/* Checks n items of `nreps` repetitions each. Types beyond DRIFT_TYPES are
 * checked without a machine's part. Errors: -ENOMEM. */
int drift_check(struct drift_item *items, unsigned n, unsigned nreps,
                struct drift *ret);

/* The verdict on an item that drift_check has seen. `shift` is the logarithm of
 * measured over predicted as it is printed beside the verdict: nothing fits
 * whose error is outside of its threshold, or whose threshold says nothing. */
enum drift_verdict drift_verdict(const struct drift_item *item, double shift);

/* The verdict on a whole program: DRIFT_NOT_CHECKED for a shift of NaN,
 * DRIFT_DRIFTED beyond the threshold, else DRIFT_FITS or DRIFT_CANNOT_TELL. */
enum drift_verdict drift_end_verdict(double shift, double threshold);

/* "fits", "DRIFT" in tables, "fits", "drift" in JSON. */
const char *drift_verdict_name(enum drift_verdict verdict, bool loud);

/* The |ln(measured / predicted)| of a whole program above which it is an alarm:
 * DRIFT_END, or what the noise of n repetitions exceeds in DRIFT_FAMILY of
 * validations if that is more. `measured` may have NaN and is sorted; `nends`
 * programs share the false alarms. */
double drift_end_threshold(double *measured, unsigned n, unsigned nends);

/* The median of those of n values that are no NaN; NaN without. Sorts them. */
double drift_median(double *values, unsigned n);
