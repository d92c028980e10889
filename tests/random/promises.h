/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/promises.h - the order in which each policy promises to take ready
 * tasks, and a look at simulated runs whether it does.
 *
 * What is looked at is which ready task a worker takes, not when its data are there
 * or its kernel starts: in the callback of a task that was taken the others that the
 * policy has are known exactly, since nothing else runs between its decision and
 * the callback on the one thread of a simulation. `push_end_time` in a task's
 * profile says that the policy has it, and since when.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "program.h"

/* Among which tasks that are ready at a moment. */
enum scope {
    NOBODY,    /* the policy promises no order */
    EVERYBODY, /* all that the worker can execute */
    RELEASED, /* … and that one worker has made ready: they are in its deque, from
               * which it takes, and others steal */
    MINE, /* those that this worker executes in the end: they are in its queue */
    NODE, /* … that a worker of its memory node executes */
};

/* A task is passed by one of lower priority, or of equal one that came later, when
 * that is taken while it is ready, in the scope. Different contexts are not
 * compared, nor are tasks that name a worker: these are first in their worker's own
 * list, by priority, then age, under any policy. */
struct promise {
    const char *policy;
    uint8_t scope;
    bool priority; /* no task is passed by one of lower priority … */
    bool positive; /* … all that are not positive counting as 0 */
    bool age;      /* of equal priority none is passed by a later one */
    bool least;    /* the oldest of all is passed by none of lower priority */
    bool later;    /* all of this for those tasks alone that came later and can be
                    * executed by the same workers … */
    uint8_t most;  /* … or by so many such tasks at most: they are in the queue below
                    * already (machine.queued, if that is not 0) … */
    bool doubled;  /* … or in a list between that and the queue above */
    bool alone;    /* of a single worker a queue stands above in the place of a
                    * decision: a fifo, as with `positive`, from which tasks come
                    * when one was taken, so that one may be passed by */
    bool listed;   /* its queues are the workers' own lists: tasks that name a
                    * worker are among the others */
};

/* NULL: the policy is none of the built-in ones. */
const struct promise *promise_of(const char *policy);

/* What was seen of one graph. */
struct seen;
struct watched {
    struct seen *seen;
    const struct call *call;
};
struct seen {
    uint64_t ready; /* watched and not taken yet */
    unsigned ntaken;
    struct taken {
        uint8_t task;
        uint8_t worker;
        uint64_t ready; /* others, with the policy */
    } taken[2 * MAX_TASKS];
    uint64_t often; /* taken more than once: what a worker gave back */
    struct {
        struct timespec pushed;
        uint16_t able; /* workers, when it became ready */
        int8_t by;     /* who made it ready, -1: no worker */
        uint8_t worker;
    } of_task[MAX_TASKS];
    struct watched watched[MAX_TASKS];
    struct starpu_task *const *tasks; /* borrowed */
    const struct machine *machine;
    bool away;   /* a worker left the second context */
    bool hidden; /* there are tasks of the library's own */
};

void seen_begin(struct seen *seen, const struct machine *machine,
                const struct graph *graph, struct starpu_task *const *tasks);

/* Before the task is submitted. It is watched from then on. */
void seen_watch(struct seen *seen, const struct call *call,
                struct starpu_task *task);

/* When all have ended: how many times a task was taken before one that it comes
 * before by the promise; *ret_failure is empty, or says where one was passed. */
unsigned seen_judge(const struct seen *seen, const struct promise *promise,
                    char *ret_failure, size_t size);
