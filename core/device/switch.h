/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/switch.h - fibers: stacks that one OS thread switches between.
 * A fiber and everything that switches to it belong to one OS thread. No
 * system call in a switch; the signal mask is shared.
 */
#pragma once

#include <stddef.h>

/* The C++ state of exceptions in flight: two machine words per thread,
 * exchanged with every switch, else a rethrow finds another fiber's
 * exception. */
struct orr_fiber_exceptions {
    void *caught;
    unsigned uncaught;
};

struct orr_fiber {
    void *sp;    /* where it was left; NULL while it runs */
    char *stack; /* lowest usable address, NULL: not ours (main) */
    size_t size; /* usable bytes */
    struct orr_fiber_exceptions *live; /* [const] the thread's own state; its
                                        * own `none` in a process without C++ */
    struct orr_fiber_exceptions saved, none;
    void (*entry)(void *);
    void *arg;
    struct orr_fiber *came_from; /* the fiber that switched here last */
    void *fake_stack;            /* AddressSanitizer's, and the bounds of a */
    const void *bottom;          /* stack that is not ours */
    size_t bottom_size;
    void *thread_sanitizer; /* its name for the stack */
    unsigned valgrind_id;
};

/* Makes a fiber that will call entry(arg) when first switched to; the entry
 * must not return but end in orr_fiber_leave(). `size` is rounded up to pages
 * and a guard page is put below. Errors: -ENOMEM, -EAGAIN (no more maps). */
int orr_fiber_init(struct orr_fiber *fiber, size_t size, void (*entry)(void *),
                   void *arg);

/* Makes the fiber stand for the stack that the caller runs on. */
void orr_fiber_init_running(struct orr_fiber *fiber);

/* From now on it runs on the calling OS thread: for each fiber of one that has ended. The
 * one that stood for that thread's own stack stands for this one's. */
void orr_fiber_move(struct orr_fiber *fiber);

/* Leaves `from`, which must be running, for `to`; returns when another fiber
 * switches back. */
void orr_fiber_switch(struct orr_fiber *from, struct orr_fiber *to);

/* As orr_fiber_switch for the last time: `from` never runs again and may be
 * ended with orr_fiber_done() by another. */
_Noreturn void orr_fiber_leave(struct orr_fiber *from, struct orr_fiber *to);

/* Calls function(arg) for the fiber that runs on the stack of another one of its thread,
 * `host`, beneath where that was left. Nothing may switch before it returns, so that
 * calls lie on that stack as if the host had made them. */
void orr_fiber_call(struct orr_fiber *running, const struct orr_fiber *host,
                    void (*function)(void *), void *arg);

/* Frees the stack of a fiber that is not running. */
void orr_fiber_done(struct orr_fiber *fiber);

/* The size of stack that user code may expect: RLIMIT_STACK, at most 8 MiB,
 * at least 256 KiB. */
size_t orr_fiber_default_size(void);
