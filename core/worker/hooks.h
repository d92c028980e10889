/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/hooks.h - functions of others that workers call when they have nothing to
 * do. Any context registers, workers call; there is no lock between. A function is not
 * called any more when its removal has returned: that waits for calls that are under
 * way, but the caller's own.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu_config.h>

enum { ORR_NHOOKS = 16, ORR_HOOK_WORDS = (STARPU_NMAXWORKERS + 63) / 64 };

/* Whether the worker may sleep afterwards: progression; it may not: idle. */
enum orr_hook_kind { ORR_HOOK_PROGRESSION, ORR_HOOK_IDLE, ORR_NHOOK_KINDS };

struct orr_hook {
    _Atomic(unsigned (*)(void *)) func; /* NULL: free */
    _Atomic(void *) arg;                /* published by `func` */
    atomic_bool taken;
    _Atomic uint64_t calls[ORR_HOOK_WORDS]; /* workers that are in it */
};

struct orr_hooks {
    struct orr_hook hooks[ORR_NHOOK_KINDS][ORR_NHOOKS];
    atomic_uint n; /* registered, of all kinds */
    /* Called when the worker of that number gives its processor up, and when it has one
     * anew; NULL: there is no such function. */
    _Atomic(void (*)(unsigned)) sleeps, wakes;
};

/* The place that the function got, or -1 when there is none. */
int orr_hook_add(struct orr_hooks *hooks, enum orr_hook_kind kind,
                 unsigned (*func)(void *), void *arg);
/* False if there is no such function. Spins while other workers are in it. */
bool orr_hook_remove(struct orr_hooks *hooks, enum orr_hook_kind kind, int id);

/* Whether any is registered. */
static inline bool orr_hooks_are_there(struct orr_hooks *hooks)
{
    return atomic_load_explicit(&hooks->n, memory_order_relaxed) != 0;
}

/* The calling worker, of that number, calls them all, in order of their places. Returns
 * whether the worker is to look once more after some microseconds. No lock held; the
 * functions do not block. */
bool orr_hooks_call(struct orr_hooks *hooks, unsigned worker);

/* Calls the functions for this event of the calling worker (`sleeps` or `wakes`),
 * likewise. */
void orr_hooks_tell(_Atomic(void (*)(unsigned)) *told, unsigned worker);
