/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/spans.c - spans of time, from steps of two counts.
 */
#include "tools/explain/spans.h"

#include <stdlib.h>

void span_steps_init(struct span_steps *ret, size_t nspans)
{
    ret->items = malloc((2 * nspans + 1) * sizeof(*ret->items));
    ret->n = 0;
}

void span_steps_change(struct span_steps *steps, double time, long change,
                       bool hides)
{
    steps->items[steps->n++] = (struct span_step){time, change, hides};
}

void span_steps_add(struct span_steps *steps, double start, double end,
                    bool hides)
{
    span_steps_change(steps, start, 1, hides);
    span_steps_change(steps, end, -1, hides);
}

static int compare_steps(const void *a, const void *b)
{
    const struct span_step *x = a, *y = b;

    return (x->time > y->time) - (x->time < y->time);
}

/* Steps of one moment are one: what ends as the next one begins goes on. */
static void count_spans(const struct span_steps *steps,
                        struct explain_spans *spans)
{
    long found = 0, hidden = 0;
    bool was = false;
    double sum = 0;

    for (size_t i = 0; i < steps->n; i++) {
        const struct span_step *step = &steps->items[i];
        bool is;

        *(step->hides ? &hidden : &found) += step->change;
        if (i + 1 < steps->n && step[1].time == step->time)
            continue;
        is = found > 0 && hidden <= 0;
        if (is == was)
            continue;
        if (was)
            sum += step->time - spans->at[spans->n - 1];
        spans->at[spans->n] = step->time;
        spans->sum[spans->n++] = sum;
        was = is;
    }
}

bool span_steps_make(struct span_steps *steps, struct explain_spans *ret)
{
    bool good;

    ret->at = malloc((steps->n + 1) * sizeof(*ret->at));
    ret->sum = malloc((steps->n + 1) * sizeof(*ret->sum));
    ret->n = 0;
    good = steps->items && ret->at && ret->sum;
    if (good && steps->n) {
        qsort(steps->items, steps->n, sizeof(*steps->items), compare_steps);
        count_spans(steps, ret);
    }
    free(steps->items);
    steps->items = NULL;
    return good;
}

/* The sum up to `time`. */
static double sum_to(const struct explain_spans *spans, double time)
{
    size_t low = 0, high = spans->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (spans->at[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    return spans->sum[low - 1] + (low % 2 ? time - spans->at[low - 1] : 0);
}

double explain_spans_within(const struct explain_spans *spans, double a,
                            double b)
{
    return b > a ? sum_to(spans, b) - sum_to(spans, a) : 0;
}

void explain_spans_done(struct explain_spans *spans)
{
    free(spans->at);
    free(spans->sum);
}
