/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/steps/explore.h - contexts on stacks of their own that one OS thread
 * switches between, and which of them goes on at each step: every way of small
 * programs up to a number of pre-emptions, random ways beyond. Memory is
 * sequentially consistent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/exec.h"
#include "tests/steps/points.h"

enum { STEP_CONTEXTS = 8, STEP_TRACE = 4096 };

/* Where a schedule leaves the one that runs everybody as long as possible, by
 * the lowest number first. */
struct step_turn {
    uint32_t at;     /* number of the choice */
    uint32_t chosen; /* context, or what step_choose returns */
};

/* What the process that explores leaves to the one that reports. */
struct step_report {
    uint64_t nschedules[8]; /* at each number of pre-emptions */
    uint64_t nrandom;
    uint64_t longest; /* steps of a schedule */
    double seconds;
    unsigned nbounds;
    bool stopped; /* at the limit of schedules */
    unsigned nturns;
    struct step_turn turns[STEP_TRACE]; /* of the present schedule */
    uint64_t seed;                      /* of the present one, 0: not random */
    char failure[400];
};

/* What is explored. All entries but `begin` and `end` are called as a context
 * of its own. */
struct step_program {
    void (*begin)(void); /* makes the contexts; no steps */
    void (*end)(void);   /* all have ended: checks, frees; no steps */
    void (*look)(void);  /* at each switch: checks; no steps; or NULL */
};

struct step_limits {
    unsigned nbounds;    /* explores 0, 1 … nbounds - 1 pre-emptions */
    uint64_t nschedules; /* at most so many of each */
    uint64_t nrandom;    /* random ones afterwards */
    uint64_t first_seed;
    const struct step_turn *replay; /* only this one, and says its steps */
    unsigned nreplay;
    bool replays;
};

extern const struct orr_exec_ops step_exec_ops;
extern struct step_report *step_report;

/* A context that will call body(arg). `daemon`: the program ends without it.
 * From `begin` only. `name` is borrowed. */
struct orr_context *step_spawn(const struct orr_context *init, bool daemon,
                               void (*body)(void *), void *arg);

/* One of the numbers below n; all are tried. */
unsigned step_choose(unsigned n);

/* The schedule is wrong. Ends the process. */
_Noreturn void step_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#define STEP_ASSERT(condition)                                                 \
    ((condition) ? (void)0                                                     \
                 : step_fail("%s:%d: %s", __FILE__, __LINE__, #condition))

/* Whether all but daemons have ended: a daemon's body returns. */
bool step_is_ending(void);

/* The program does not end while the calling daemon is busy. */
void step_be_busy(bool busy);

/* Whether the program runs: calls of the library are steps. */
bool step_is_running(void);

/* Explores the program; returns when all of it is right. */
void step_explore(const struct step_program *program,
                  const struct step_limits *limits);
