/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/try/try.h - what `orrery try` finds out, step by step: runs.c, print.c.
 * One thread.
 */
#pragma once

#include "tools/common/devices.h"
#include "tools/common/launch.h"
#include "tools/common/quiet.h"

/* Three machines that differ in kind: a workstation, a server, and one whose figures
 * were measured. */
#define TRY_MACHINES "rtx4090-2,h100-pcie-4,sirocco-a100"
#define TRY_POLICY   "dmdas"

enum { TRY_DRAWS = 5 };

struct try_options {
    const char *machines, *scheduler, *record; /* borrowed */
    char *const *argv;
    bool json;
};

/* The record, simulated on one machine. */
struct try_machine {
    const char *name;   /* borrowed; of this machine: its host's */
    bool here;          /* this machine */
    bool borrowed;      /* it lacks times: its processors take those measured here, its
                         * devices what is projected from them */
    bool lifted;        /* the second run took all devices, and counts */
    struct launch as_is; /* as the program says */
    struct launch all;   /* on all devices, where that lifts something */
    /* Of the run that counts: where models may be off, from draw to draw; NaN: all
     * draws failed. */
    double least_us, most_us;
};

struct try_result {
    const struct try_options *options;
    struct quiet quiet;    /* this machine, before the runs */
    struct launch real;    /* the program, recorded */
    struct launch measured; /* once more, to measure its kernels */
    struct try_machine *machines; /* owned; the first one is this machine */
    size_t n;
    char **names; /* owned */
    char *folder; /* owned: models of this trial, removed at the end */
    char *here;   /* owned: the description of this machine */
    char *dir, *path; /* owned: settings of all runs; path may be NULL */
};

/* The run of a machine that counts. */
static inline const struct launch *try_run(const struct try_machine *machine)
{
    return machine->lifted ? &machine->all : &machine->as_is;
}

/* Whether it has run, and came to its end. */
static inline bool try_is_good(const struct launch *launch)
{
    return launch->report.json && !*launch->problem;
}

/* Runs the program and simulates it. Returns the exit code of the command, with what
 * there is in *ret, which the caller ends with try_done. */
int try_all(const struct try_options *options, struct try_result *ret);
void try_done(struct try_result *result);

/* Says what came out, each step in a sentence. */
void try_print(const struct try_result *result);
int try_print_json(const struct try_result *result);
