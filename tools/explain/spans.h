/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/spans.h - for how long something was the case, and nothing that
 * hides it, from the moments at which there was more or less of both. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How long something was the case: cumulated over time. */
struct explain_spans {
    double *at, *sum; /* the sum grows from at[2i] to at[2i + 1] */
    size_t n;
};

/* Of the time from a to b, that in which it was the case. */
double explain_spans_within(const struct explain_spans *spans, double a,
                            double b);
void explain_spans_done(struct explain_spans *spans);

/* More, or less, from `time` on: of what is sought, or of what hides it. */
struct span_step {
    double time;
    long change;
    bool hides;
};

struct span_steps {
    struct span_step *items; /* NULL: no memory, and nothing may be added */
    size_t n;
};

/* With room for so many spans, or twice as many changes. */
void span_steps_init(struct span_steps *ret, size_t nspans);
void span_steps_change(struct span_steps *steps, double time, long change,
                       bool hides);
void span_steps_add(struct span_steps *steps, double start, double end,
                    bool hides);

/* The spans; ends the steps. False: no memory, and *ret is empty. In both cases the
 * caller ends *ret. */
bool span_steps_make(struct span_steps *steps, struct explain_spans *ret);
