/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/optimise/judge.h - what the simulator says of policies and plans. One
 * thread, several children.
 */
#pragma once

#include <stddef.h>

#include "bound/graph.h"
#include "tools/common/report.h"
#include "tools/optimise/plan.h"

struct judge {
    const char *machine, *edits, *assume; /* borrowed */
    char *const *argv;                    /* borrowed */
    unsigned at_once;
    char *folder;    /* owned, temporary: judge_done removes it */
    struct report report; /* of the last run that was recorded; owned */
    unsigned nasked; /* simulations so far */
};

/* A run under a built-in policy. */
struct trial {
    const char *policy;      /* borrowed */
    double ms;               /* NaN: it failed */
    struct orr_graph *graph; /* owned by the caller, or NULL */
    char problem[256];
};

/* The following print a message when they return -1, and return the number of a
 * signal that has interrupted them. */

int judge_begin(struct judge *judge);
void judge_done(struct judge *judge);

/* Runs the program under each policy; sets ms or problem. */
int judge_policies(struct judge *judge, struct trial *trials, size_t n);

/* Runs it under the policy of the trial again, and sets its graph. */
int judge_record(struct judge *judge, struct trial *trial);

/* Runs it as the plans say; sets their ms, NaN where that fails. */
int judge_plans(struct judge *judge, const struct orr_graph *graph,
                struct plan *plans, size_t n);
