/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/launch.h - programs run under Orrery: sets the environment, runs them,
 * collects what the library reports. A record of a run (docs/RECORD.md) may stand
 * in the place of a program: an application that replays it runs then; a file of
 * another program (docs/IMPORT.md) is made a record before. One thread.
 */
#pragma once

#include "tools/common/process.h"
#include "tools/common/report.h"

struct powers; /* energy.h */

#define LAUNCH_MORE 12
#define LAUNCH_OWN  20 /* those that launch.c adds */

struct launch {
    /* Filled in by the caller; borrowed. NULL leaves the environment alone. */
    const char *machine, *edits, *scheduler, *trace, *assume, *break_at,
        *progress;
    /* "virtual": the program's clocks are the simulation's; "count": whether it asks them
     * is in the report. Of simulated programs, not of records. */
    const char *clock;
    /* Where a program that uses OpenMP, and not the library, leaves what it does
     * (record/openmp): processes append a point and their number. NULL: nowhere. Of programs. */
    const char *openmp_log;
    bool openmp_cpu_time; /* … by the processor's time */
    const struct powers *powers; /* of its machine, for the energy in its report; NULL: none */
    bool openmp_sizes;    /* … with what is known of its memory */
    /* More settings, NULL-terminated, at most LAUNCH_MORE; or NULL.
     * "NAME=value" sets, "NAME" unsets. They come first: those above have
     * precedence. */
    const char *const *more;
    char *const *argv;
    /* Of a program of several ranks, each of which leaves a report: how many, 0: it is none.
     * The command line that starts them as processes, ranks.h; NULL: one process has all,
     * by argv, as on a cluster, or of a record. */
    unsigned nranks;
    bool hosted; /* one process is to have them: launch_place */
    char *const *ranks_argv;
    bool quiet;
    const struct process_meanwhile *meanwhile; /* beside it, if it is the only one; or NULL */
    bool kept; /* the report is there already: nothing is run */
    /* Filled in by launch_all. */
    struct process process;
    struct report report; /* of several ranks, that of all */
    struct report *ranks; /* owned: of each of nranks, without `json` where there is none */
    char *played[3]; /* owned: what runs in the place of a record */
    bool
        imported; /* … which was made for this run, of another program's file */
    char *settings[LAUNCH_MORE + LAUNCH_OWN + 1]; /* NULL-terminated, owned */
    char *report_path;               /* owned */
    char problem[256];               /* one line, "" when all went well */
    bool no_run; /* the problem is that the program ended with 0 without one */
};

/* Runs all, at most `at_once` at a time. `ended` (may be NULL) is called with `arg`
 * and each that has ended, with its report. Returns 0 even when programs failed (see
 * `problem`); the number of the signal that interrupted it; or -1 with a message
 * when nothing could be started. */
int launch_all(struct launch *launches, size_t n, unsigned at_once,
               void (*ended)(void *arg, struct launch *launch), void *arg);

/* Makes what is to be run ready, for a caller that runs it by itself: `process` has its
 * command line and settings. What it needs is in the folder. Errors: negative, with a
 * message. */
int launch_ready(struct launch *launch, const char *folder);

/* Of a folder with records of ranks, or their name without "rank0", the path of rank 0's,
 * owned; NULL: there are none, or it is a file. */
char *launch_rank_record(const char *name);

/* Fills in how many ranks the program has where its machine is a cluster, or a record says
 * so: nranks, hosted. Other launches are left alone; on a cluster, also of one rank, *ret_cluster
 * is true. `command` is for messages. Returns an exit code. */
int launch_place(struct launch *launch, const char *command, bool *ret_cluster);

/* The machine of the first rank that left a report; borrowed. NULL: none did. */
const char *launch_node_machine(const struct launch *launch);

/* launch->progress of a command that runs one program: lines when they are asked for;
 * else, simulated, on a terminal, unless there are several ranks or the environment has
 * ORRERY_PROGRESS. */
void launch_show_progress(struct launch *launch, bool asked);

/* Whether there is a machine, or a policy, of that name: `option` is "machine" or
 * "scheduler", `value` a name, or several with commas. For struct tool_words. */
bool launch_names(const char *option, const char *value);

/* Of commands that take a program or a record. */
extern const struct tool_words launch_words;

/* Whether it ran with another policy than was asked for: the program sets its
 * own (conf.sched_policy). */
bool launch_chose_policy(const struct launch *launch);

/* The policy that ran, else the one that was asked for. */
const char *launch_policy(const struct launch *launch);

/* A warning for such a program. */
void launch_warn_policy(const struct launch *launch, const char *command);

void launch_done(struct launch *launch);
