/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/explain.h - what `orrery explain` knows of a run and finds in it.
 * Times are ms since the runtime was started; the run lasts from the first
 * submission to the end of the last kernel. One thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bound/graph.h"
#include "core/base/error.h"
#include "core/observe/text_pool.h"
#include "tools/common/launch.h"
#include "tools/common/rank_bounds.h"
#include "tools/explain/spans.h"

#define EXPLAIN_NONE SIZE_MAX

/* --- the run: read.c --- */

struct explain_task {
    uint64_t job;
    unsigned worker;
    unsigned number;                /* in the graph; UINT_MAX: not there */
    double submitted, ready, taken; /* ≤ start; taken: by its worker */
    double start, end;
    bool by_main; /* the application's main thread has submitted it … */
    unsigned
        by_worker; /* … or that worker, in a task or behind one; UINT_MAX: neither */
    const char *source; /* of the run: where it was submitted, "FILE:LINE"; NULL */
    size_t before; /* the one before it on its worker, or EXPLAIN_NONE */
};

/* A part of a task in which its kernel did not wait. */
struct explain_piece {
    size_t task;
    bool goes_on; /* after a wait */
    double start, end;
};

struct explain_copy {
    unsigned from, to;
    unsigned onto; /* where the job needs the value: `to`, or beyond it */
    uint64_t job, handle; /* job: one that waited for it, 0: none */
    double bytes, start, end;
    bool writeback; /* makes room, or keeps main memory's value up to date */
};

/* What the application's main thread did beside its other calls. */
struct explain_doing {
    const char *call; /* of the run; "": none */
    bool waits;       /* else it did something of its own */
    double start, end;
};

/* A datum that went to another rank, or came from it. */
struct explain_message {
    unsigned peer; /* the other rank */
    double called, start, end; /* asked for; its datum was there; that is free again */
    size_t other; /* of one that came: its place in `sent` of its sender, or EXPLAIN_NONE */
};

struct explain_ranks;
struct trace;

struct explain_run {
    struct orr_graph *graph;
    struct explain_task *tasks; /* in order of their starts */
    size_t ntasks;
    size_t *by_number; /* by number in the graph: its place in tasks, or EXPLAIN_NONE */
    size_t *by_end;    /* places in tasks, in order of their ends */
    struct explain_piece *pieces; /* in order of their starts */
    size_t npieces;
    struct explain_copy *copies; /* in order of their ends */
    size_t ncopies;
    double *empty; /* when no submitted task was left, in order */
    size_t nempty;
    struct explain_doing *doings; /* in order */
    size_t ndoings;
    struct explain_spans ready;  /* some task waits in the scheduler */
    /* Owned, per worker: one that the worker can run does. Of equal workers the first one
     * has it, see explain_ready_for. */
    struct explain_spans *able;
    unsigned *
        like; /* owned, per worker: the first one that can run the same tasks */
    /* Nothing does, and the application waits, or does something of its own. */
    struct explain_spans waits, own;
    /* Per node, one at a time: room is made there, by a write-back or when memory is
     * freed, … */
    struct explain_spans *room;
    struct explain_spans *moves;     /* … or something is copied there, … */
    struct explain_spans *allocates; /* … or memory is allocated; … */
    struct explain_spans *pays; /* … all in which it is allocated, or freed */
    /* For a worker there whose data have come, allocations have precedence over
     * copies. */
    struct explain_spans *other_moves, *own_allocates;
    /* Of one of several ranks: all of them, which one it is, and its messages, those that
     * came in order of their ends; of one process: NULL, 0 and none. */
    const struct explain_ranks *ranks;
    unsigned rank;
    struct explain_message *sent, *received;
    size_t nsent, nreceived;
    /* Of several ranks all have the begin and the end of the program. */
    double begin, end, last_submission;
    double own_end; /* of its last task */
    size_t nsubmitted; /* by the application's main thread */
    size_t nleft;      /* tasks that did not run, since the run ended before */
    bool last_by_main; /* the last submission was its */
    struct orr_texts names;
};

/* The ranks of one program, on one clock. */
struct explain_ranks {
    struct explain_run *of; /* owned: by rank */
    unsigned n;
    size_t npairs; /* messages of which both ends are known */
};

/* When tasks wait in the scheduler that the worker can run. */
const struct explain_spans *explain_ready_for(const struct explain_run *run,
                                              unsigned worker);

/* Reads both files of a run. The caller ends *ret with explain_run_done. Errors
 * with a message: -EINVAL, -ENOMEM, those of the system. */
int explain_run_read(const char *trace, const char *graph,
                     struct explain_run *ret, struct orr_error *err);
/* The same of a trace that was read; of one without tasks the graph may be missing. */
int explain_run_take(const struct trace *trace, const char *name, const char *graph,
                     struct explain_run *ret, struct orr_error *err);
void explain_run_done(struct explain_run *run);

/* The copy that the task waited for last, after `since`: one that says so, else one to its
 * memory that ended when it began; or EXPLAIN_NONE (chain.c). */
size_t explain_copy_before(const struct explain_run *run,
                           const struct explain_task *task, double since);

/* --- findings: idle.c, chain.c, waste.c --- */

enum explain_cause {
    EXPLAIN_DEPENDENCIES, /* no task was ready */
    EXPLAIN_MESSAGES,     /* … since a datum had to come from another rank */
    EXPLAIN_SUBMISSION, /* … because it was not submitted yet: that takes time */
    EXPLAIN_WAITING,    /* … the application waited for others */
    EXPLAIN_OWN,        /* … it did something of its own */
    EXPLAIN_SCHEDULER, /* tasks were ready, and others got them or none */
    EXPLAIN_DATA,      /* its task waited for copies */
    EXPLAIN_MEMORY,    /* … that make room first, or until memory was freed */
    EXPLAIN_ALLOCATION, /* … until memory was allocated, and nothing was copied */
    EXPLAIN_KERNELS,  /* the kernel of its task waited */
    EXPLAIN_OVERHEAD, /* the runtime's own work, and waits of unknown sort */
    EXPLAIN_OTHERS,   /* all tasks of its rank were done, those of others were not */
    EXPLAIN_NCAUSES
};

const char *explain_cause_name(enum explain_cause cause);

struct explain_idle {
    double busy, idle, causes[EXPLAIN_NCAUSES]; /* ms */
};

/* A gap of a worker that a message explains. */
struct explain_gap {
    const struct explain_run *run;
    size_t message;  /* in `received` */
    double start;    /* it ends as the message does */
    double ms;       /* of that time, what was for the message */
};

/* Of each worker, owned by the caller; NULL without memory. `tell` (may be NULL) is called
 * with each gap for a message. */
struct explain_idle *explain_idle_all(const struct explain_run *run,
                                      void (*tell)(void *arg,
                                                   const struct explain_gap *gap),
                                      void *arg);

enum explain_link_type {
    EXPLAIN_RUNS,      /* a task is executed */
    EXPLAIN_COPIES,    /* a copy that a task of the chain waits for */
    EXPLAIN_QUEUES,    /* … waits for another copy */
    EXPLAIN_SUBMITS,   /* the application has not submitted it */
    EXPLAIN_DOES,      /* … since it does something of its own */
    EXPLAIN_SCHEDULES, /* ready, and no worker has taken it */
    EXPLAIN_ALLOCATES, /* memory of its worker is allocated … */
    EXPLAIN_FREES,     /* … or freed, what is there copied elsewhere before */
    EXPLAIN_PREPARES,  /* the runtime, between two of the above */
    EXPLAIN_COMES,     /* a message from another rank is under way */
    EXPLAIN_MEETS,     /* all ranks wait for those that have not come to a barrier */
    EXPLAIN_NTYPES
};

/* What stood in the way from `start` to `end`. */
struct explain_link {
    enum explain_link_type type;
    double start, end;
    size_t what; /* index of the task, copy or message that came, EXPLAIN_NONE */
    const struct explain_run *run; /* whose they are */
};

/* The chain of what each waited for, from the end of the run back to its begin,
 * without holes; owned by the caller. NULL without memory. Of several ranks it goes from
 * one to the other, and begins with the last task of all. */
struct explain_link *explain_chain(const struct explain_run *run,
                                   size_t *ret_n);

/* The part of such a chain that leads to the end of a message, back to `since`. */
struct explain_link *explain_chain_to_message(const struct explain_run *run,
                                              size_t message, double since,
                                              size_t *ret_n);

/* How many things the application did that began before `time`. */
size_t explain_doings_until(const struct explain_run *run, double time);

/* The message for which the application waited there, as far as is known: it came last
 * before the wait ended, during it; or EXPLAIN_NONE. */
size_t explain_message_awaited(const struct explain_run *run,
                               const struct explain_doing *doing);

/* The message that the task waited for last, in *ret_since from when on for nothing else;
 * or EXPLAIN_NONE. */
size_t explain_message_before(const struct explain_run *run,
                              const struct explain_task *task, double *ret_since);

const char *explain_type_name(enum explain_link_type type);

/* A kernel where it is slower than elsewhere. */
struct explain_misplaced {
    const char *kernel, *worker; /* borrowed from the run: the last one */
    bool several;                /* workers */
    unsigned type;
    size_t ntasks;
    double lost; /* ms, against its fastest worker */
};

/* All with a loss, the largest first; owned. NULL without memory. */
struct explain_misplaced *explain_misplaced_all(const struct explain_run *run,
                                                size_t *ret_n);

/* Tasks that no other worker can run: they are for it, or there is no other one for
 * them. */
struct explain_alone {
    size_t ntasks;
    double ms; /* that they took */
};

/* Of each worker; owned. NULL without memory. */
struct explain_alone *explain_alone_all(const struct explain_run *run);

/* The kernels of a run whose median is not about what their model had said, those that
 * were off by most time in all first: the scheduler chose by wrong lengths. Owned,
 * borrowed from the report; NULL without memory. */
const struct report_kernel **explain_wrong_models(const struct report *report,
                                                  size_t *ret_n);

/* How much of the time the link could have been full; of each of the graph's,
 * owned. NULL without memory. */
double *explain_link_use(const struct explain_run *run);

/* Bytes that came to a memory that they had been copied to before. */
double explain_copied_again(const struct explain_run *run);

/* The longest chain of dependencies, each task as long as it took, or takes on a
 * faster worker of the same kind, ms; NaN without memory. */
double explain_longest(const struct explain_run *run);

/* How many times as long as on the fastest worker of its kind its tasks take, on
 * average over kernels; kinds have names that differ in numbers only. */
double explain_slower(const struct explain_run *run, unsigned worker);

/* --- the application: application.c --- */

/* Where its main thread was between its first submission and its last one. */
struct explain_waits {
    const char *call; /* of the run */
    size_t n;
    double ms;
};

struct explain_application {
    struct explain_waits *waits; /* owned; the longest in all first */
    size_t nwaits, nown;
    double own_ms; /* in pieces of some length */
    double
        submission_us; /* per task: the rest; NaN: it submitted one or none */
};

/* Errors: -ENOMEM. */
int explain_application_find(const struct explain_run *run,
                             struct explain_application *ret);

/* --- the run without some of it: without_waits.c --- */

/* Records of the run: as it was; without the application's waits; without what it did
 * of its own. */
struct explain_without {
    char *folder; /* owned, as all */
    char *whole, *unwaited, *prompt;
    bool
        can_wait_less; /* `unwaited` is there: else its waits cannot be left out */
};

/* Runs the program of `base` again for that. False: there are none; it is not recorded, or
 * a replay is not the same run. A signal that stopped it: *ret_stopped. In all
 * cases the caller ends *ret with explain_without_done. */
bool explain_without_make(const struct launch *base,
                          struct explain_without *ret, int *ret_stopped);
void explain_without_done(struct explain_without *without);

/* --- what would help: changes.c --- */

struct explain_change {
    char *what;                  /* for people */
    char *edits;                 /* or NULL; all three owned or constant */
    const char *scheduler, *set; /* another policy; a variable; or NULL */
    const char *left_out;        /* what of the run's record; or NULL */
    char *argv[2];               /* … that record, borrowed */
    struct launch launch;
    bool failed;
    bool asked;  /* told also where it does not help */
    bool ideal;  /* nobody can make it: it says what the rest is for */
    double gain; /* share of the makespan that it saves; negative: it costs */
};

struct explain_changes {
    struct explain_change *items; /* the one that helps most first, ideal ones last */
    size_t n;
    int stopped; /* by that signal, 0 */
    struct explain_without without;
};

/* Simulates the run of `base`, whose critical path is `chain`, with each change that the
 * findings suggest. Errors: -1, with a message. */
int explain_changes_try(const struct explain_run *run,
                        const struct explain_idle *idle,
                        const struct explain_link *chain, size_t nchain,
                        const struct launch *base, struct explain_changes *ret);
void explain_changes_done(struct explain_changes *changes);

/* --- several ranks: ranks.c, print_ranks.c --- */

/* What another rank did while one waited for its message. */
enum explain_why {
    EXPLAIN_PEER_COMPUTES,   /* a kernel */
    EXPLAIN_PEER_WAITS,      /* itself for a message of a third one */
    EXPLAIN_PEER_SUBMITS,    /* it had not submitted yet what the message needs */
    EXPLAIN_PEER_RUNTIME,    /* its scheduler, copies and so on */
    EXPLAIN_UNDER_WAY,       /* it had sent it */
    EXPLAIN_NOT_ASKED,       /* … and the receiver had not asked for it, or had no room */
    EXPLAIN_NWHYS
};

struct explain_wait {
    unsigned rank, peer; /* who waits, for whom */
    enum explain_why why;
    const char *kernel; /* that it computed, or NULL; borrowed from its graph */
    unsigned third;     /* for whom it waited */
    double ms;          /* of all workers */
    size_t n;           /* gaps */
    size_t gap;         /* the number of the last one */
};

struct ranks_explanation {
    const struct explain_ranks *ranks;
    const char *machine;        /* borrowed: the cluster; NULL: as the graphs say */
    struct rank_bounds bounds;  /* without `json` where they are not known */
    struct explain_idle **idle; /* owned, as all: by rank, then worker */
    struct explain_link *chain;
    size_t nchain;
    struct explain_wait *waits; /* the longest first */
    size_t nwaits, ngaps;
    bool lost; /* no memory */
};

/* Explains the run whose traces, one per rank, in any order, these are; the graph of each
 * lies beside it. `machine`: the cluster's name, with edits or NULL; or NULL. Returns an exit
 * code. */
int explain_rank_files(char *const *traces, unsigned n, const char *machine, const char *edits,
                       bool json);

/* Runs the ranks of the launch, and explains that. */
int explain_rank_program(struct launch *launch, bool json);

/* -ENOMEM: not all could be printed. */
int explain_ranks_print(const struct ranks_explanation *e);
json_t *explain_ranks_json(const struct ranks_explanation *e);

/* --- print.c --- */

/* What the link is, for people: "gemm on CPU", of one of several ranks too. */
#define EXPLAIN_NAME_SIZE 160
void explain_name_link(const struct explain_link *link, char *name, size_t size);

/* The chain by what it was spent on, of a run of that length; and link by link. Errors:
 * -ENOMEM, NULL. */
/* … by the lines of the program that have submitted its tasks; nothing where none is known
 * (lines.c). */
int explain_print_lines(const struct explain_link *chain, size_t nchain, double all_ms);
int explain_print_chain(const struct explain_link *chain, size_t n, double all_ms);
json_t *explain_json_chain(const struct explain_link *chain, size_t n);

struct explanation {
    const struct explain_run *run;
    const struct report *report; /* NULL: the run of a trace */
    struct explain_idle *idle;
    struct explain_link *chain;
    struct explain_misplaced *misplaced;
    struct explain_alone *alone;        /* per worker */
    const struct report_kernel **wrong; /* whose models are */
    size_t nchain, nmisplaced, nwrong;
    double *links;
    struct explain_application application;
    struct explain_changes changes;
};

/* -ENOMEM: not all could be printed. */
int explain_print(const struct explanation *e);
/* A new reference, NULL without memory. */
json_t *explain_json(const struct explanation *e);
