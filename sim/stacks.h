/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/stacks.h - stacks that are switched elsewhere, in the place of fibers
 * (core/device/switch.h): SimGrid's actors (simgrid_actors.cpp). Which context
 * goes on, and when, is decided by exec.c with either. One OS thread.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct orr_stack;
struct orr_stacks;

/* A stack is NULL where it is that of the thread that made the table: main's. */
struct orr_stacks_ops {
    /* Makes a stack on which body(arg), which must not return, begins when it is
     * first gone to. `name` is for messages, read during the call. Errors:
     * -ENOMEM. */
    int (*make)(struct orr_stacks *stacks, const char *name,
                void (*body)(void *), void *arg, struct orr_stack **ret);
    /* Leaves `from`, which runs, for `to`; returns when another stack goes back
     * to it. */
    void (*go)(struct orr_stacks *stacks, struct orr_stack *from,
               struct orr_stack *to);
    /* Calls function(arg) on main's stack, which does not run; it leaves no stack. */
    void (*call_on_main)(struct orr_stacks *stacks, void (*function)(void *), void *arg);
    /* Ends a stack that does not run, wherever it is; main's is left alone. */
    void (*end)(struct orr_stacks *stacks, struct orr_stack *stack);
    /* On main's stack, when all others have ended. */
    void (*free)(struct orr_stacks *stacks);
};

struct orr_stacks {
    const struct orr_stacks_ops *ops;
};

#ifdef __cplusplus
}
#endif
