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
#include <time.h>

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
    if (vasprintf(&text, format, args) < 0)
        return -ENOMEM;
    free(*message);
    *message = text;
    return 0;
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
