/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/trial.h - a program run in a process of its own, so that what
 * it does wrong ends only itself. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "program.h"
#include "report.h"

struct trial {
    pid_t pid; /* 0: none under way */
    int log;   /* what it says on stderr */
    struct report *report;
};

struct verdict {
    enum outcome outcome;
    unsigned graph; /* that failed */
    uint64_t digest;
    uint64_t nordered; /* choices that were made as the policy promises */
    char text[400];
    char log[4000]; /* the end of it */
};

/* "wrong bytes" and the like. */
const char *outcome_name(enum outcome outcome);

/* Starts the legal program, which is borrowed during the call only. `limit_s`
 * is for one graph. Errors: -errno. */
int trial_start(const struct program *program, unsigned limit_s,
                struct trial *ret);

/* Waits for any of the trials and returns which of them has ended, after
 * filling *ret; -1: none is under way. */
int trials_wait(struct trial *trials, unsigned n, struct verdict *ret);

/* Runs one and waits for it. Aborts where no process can be started. */
struct verdict trial_run(const struct program *program, unsigned limit_s);
