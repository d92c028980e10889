/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/application.c - where the application's main thread was between its first
 * submission and its last one: it waited, in which calls; it did something of its own;
 * the rest is what submission took.
 */
#include "core/base/grow.h"
#include "tools/explain/explain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int explain_wait_compare_ms(const void *a, const void *b)
{
    const struct explain_waits *x = a, *y = b;

    if (x->ms != y->ms)
        return x->ms < y->ms ? 1 : -1;
    return strcmp(x->call, y->call);
}

/* Calls are few: a name has one place in the run's texts, but texts are compared. */
static bool application_add_wait(struct explain_application *app,
                                 const char *call, double ms)
{
    struct explain_waits *added;
    size_t i = 0;

    while (i < app->nwaits && strcmp(app->waits[i].call, call) != 0)
        i++;
    if (i == app->nwaits) {
        added = orr_array_add(app->waits, app->nwaits);
        if (!added)
            return false;
        added->call = call;
    }
    app->waits[i].n++;
    app->waits[i].ms += ms;
    return true;
}

int explain_application_find(const struct explain_run *run,
                             struct explain_application *ret)
{
    struct explain_application app = {.submission_us = NAN};
    double rest = run->last_submission - run->begin;

    for (size_t i = 0; i < run->ndoings; i++) {
        const struct explain_doing *doing = &run->doings[i];
        double ms = fmin(doing->end, run->last_submission) -
                    fmax(doing->start, run->begin);

        if (!(ms > 0))
            continue;
        rest -= ms;
        if (!doing->waits) {
            app.nown++;
            app.own_ms += ms;
        } else if (!application_add_wait(&app, doing->call, ms)) {
            free(app.waits);
            return -ENOMEM;
        }
    }
    if (app.nwaits)
        qsort(app.waits, app.nwaits, sizeof(*app.waits),
              explain_wait_compare_ms);
    /* What goes on while the last one is submitted is behind it. */
    if (run->nsubmitted > 1 && run->last_by_main)
        app.submission_us = 1000 * rest / (double)(run->nsubmitted - 1);
    *ret = app;
    return 0;
}
