/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/methods.c - texts of methods about their results. No state; any thread.
 */
#include "bound/methods.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/number.h"

double orr_bound_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((format(printf, 2, 0))) static int
say(char **message, const char *format, va_list args)
{
    char *text;

    /* The old text may be among the arguments. */
    if (orr_vasprintf(&text, format, args) < 0)
        return -ENOMEM;
    free(*message);
    *message = text;
    return 0;
}

/* The least part of what was proved that counts as a gain: for steps that are kept, for
 * patience. */
static const double notable = 1e-5, gain = 1e-4;

/* Leaves out the step that gained least, not the first or last. */
static void forget_step(struct orr_bound_result *ret)
{
    unsigned least = 1;

    for (unsigned i = 2; i + 1 < ret->nsteps; i++)
        if (ret->steps[i].ms - ret->steps[i - 1].ms <
            ret->steps[least].ms - ret->steps[least - 1].ms)
            least = i;
    memmove(&ret->steps[least], &ret->steps[least + 1],
            (ret->nsteps - least - 1) * sizeof(*ret->steps));
    ret->nsteps--;
}

void orr_bound_note_step(struct orr_bound_result *ret, double ms)
{
    double last = ret->nsteps ? ret->steps[ret->nsteps - 1].ms : 0;

    if (!(ms > last * (1 + notable)))
        return;
    if (ret->nsteps == ORR_BOUND_STEPS)
        forget_step(ret);
    ret->steps[ret->nsteps++] =
        (struct orr_bound_step){orr_bound_clock() - ret->began_s, ms};
}

bool orr_bound_goes_on(const struct orr_bound_options *options,
                       struct orr_bound_result *ret, int *rc)
{
    double now = orr_bound_clock() - ret->began_s, gained = 0, base = 0;

    for (unsigned i = 0; i < ret->nsteps; i++)
        if (ret->steps[i].ms > base * (1 + gain)) {
            base = ret->steps[i].ms;
            gained = ret->steps[i].seconds;
        }
    if (options->patience <= 0 || base <= 0 ||
        now - gained <= fmax(options->patience, gained))
        return true;
    *rc = orr_bound_give_up(ret, ORR_BOUND_TIME_LIMIT,
                            "%.2g s bought nothing; --time goes on", now - gained);
    return false;
}

int orr_bound_give_up(struct orr_bound_result *ret,
                      enum orr_bound_outcome outcome, const char *format, ...)
{
    va_list args;
    int rc;

    ret->outcome = outcome;
    ret->ms = NAN;
    ret->proved = false;
    if (outcome !=
        ORR_BOUND_TIME_LIMIT) { /* no value, nothing that limits it */
        free(ret->limit);
        ret->limit = NULL;
    }
    va_start(args, format);
    rc = say(&ret->why, format, args);
    va_end(args);
    return rc;
}

int orr_bound_why(struct orr_bound_result *ret, const char *format, ...)
{
    va_list args;
    int rc;

    va_start(args, format);
    rc = say(&ret->why, format, args);
    va_end(args);
    return rc;
}

int orr_bound_limit(struct orr_bound_result *ret, const char *format, ...)
{
    va_list args;
    int rc;

    va_start(args, format);
    rc = say(&ret->limit, format, args);
    va_end(args);
    return rc;
}
