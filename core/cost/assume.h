/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/assume.h - times that the user gives for kernels without figures:
 * ORRERY_ASSUME, whose grammar docs/ASSUME.md has. Constant after it was read, but
 * for the marks of what was used.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"
#include "perfmodel/origin.h"

enum orr_assumed_law {
    ORR_ASSUMED_SUM,      /* Σ us·n^exponent */
    ORR_ASSUMED_RATIO,    /* times what another architecture takes */
    ORR_ASSUMED_ROOFLINE, /* the slower of arithmetic and memory */
};

#define ORR_ASSUMED_TERMS 4

/* What messages and reports call a codelet with neither name nor model. */
#define ORR_UNNAMED_CODELET "unnamed codelet"

/* The devices of a type (-1: of any), with that number (-1: all of them). */
struct orr_assumed_arch {
    int type, devid;
};

/* Kernels of one size, on devices of any kind. */
struct orr_overruled {
    unsigned n;
    const void *last;       /* the row counted last */
    enum orr_origin origin; /* of the first */
    double us, by_us;       /* µs of the first figure, and of what was taken */
    double least_us, most_us;
};

struct orr_assumption {
    char *machine; /* the one that it is for; owned, NULL: all */
    char *name; /* of a codelet or of a model, or a pattern with * or ?, or a
                 * name in quotation marks; owned */
    char *text; /* as the user wrote it, blanks made one; owned */
    struct orr_assumed_arch arch;
    enum orr_assumed_law law;
    unsigned nterms; /* of a sum */
    struct {
        double us, exponent;
    } terms[ORR_ASSUMED_TERMS];
    struct orr_assumed_arch of; /* of a ratio, and its factor */
    double factor;
    /* Of a roofline: per µs what the device does, per byte what is needed. */
    double flops_per_byte, flops, bytes;
    bool elsewhere; /* for another machine: orr_assumptions_find does not find it */
    bool used;      /* [atomic] a task took this time */
    /* Figures of models that it took the place of, and times that count before it. */
    struct orr_overruled replaced, behind;
};

struct orr_assumptions {
    struct orr_assumption *all; /* owned */
    unsigned n;
};

/* Reads "kernel[init] = 50us; moon:kernel[heat] on cuda = 20us + 2ns * n; @FILE". The
 * text may
 * be NULL. Errors: -EINVAL, with the part that is wrong and what it should be;
 * -ENOMEM; *ret is untouched then. The caller ends it with
 * orr_assumptions_done. */
int orr_assumptions_read(const char *text, struct orr_assumptions *ret,
                         struct orr_error *err);
void orr_assumptions_done(struct orr_assumptions *a);

/* Marks those that are for other machines than `machine`. */
void orr_assumptions_set_machine(struct orr_assumptions *a, const char *machine);

/* Counts a figure of the row, once, in *overruled. */
void orr_overruled_add(struct orr_overruled *overruled, const void *row,
                       enum orr_origin origin, double us, double by_us);

/* Whether what the user says counts before a figure of that origin: not before
 * measures. */
static inline bool orr_assumption_wins(enum orr_origin origin)
{
    return origin == ORR_ORIGIN_INTERPOLATED || origin == ORR_ORIGIN_DERIVED;
}

/* Whether some time is given for one of the names, which may be NULL. */
bool orr_assumptions_any(const struct orr_assumptions *a, const char *name,
                         const char *symbol);

/* The one for a kernel of one of these names on that device: a name before a
 * pattern, then the one that says most about the architecture, of several the
 * last. Without either name it is ORR_UNNAMED_CODELET. NULL without. Lent. */
struct orr_assumption *orr_assumptions_find(const struct orr_assumptions *a,
                                            const char *name,
                                            const char *symbol, int type,
                                            int devid);

/* µs of a task of size n (0: not known): bytes of its data, or what the model's
 * size_base says. `other_us`: what it takes on the architecture that a ratio is
 * of; NaN: not known. NaN: the law needs what is not known. */
double orr_assumption_us(const struct orr_assumption *assumption, double n,
                         double other_us);
