/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/callers.c - see callers.h. A way up is a list of return addresses of ours and how
 * far above our frame they lie. A function's frame is as large at a call as it was before, so
 * that where the first return address is the same, the second one lies where it lay, and so on:
 * comparing them says whether this is that way. At its end is the call that is asked for; that
 * counts only if it was met there by walking, too, for what our functions in headers were
 * compiled into may have frames of any size.
 *
 * The unwinder of the compiler's library says where return addresses lie. It is opened as
 * backtrace() opens it: who asks for no sources does not need it. Where return addresses are
 * not the last word of a frame (not on x86) every way is walked each time.
 */
#include "core/observe/callers.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unwind.h>

enum { FRAMES = 24, WAYS = 64, CALLS = 256 };

struct frame {
    uintptr_t call; /* the address behind it */
    size_t above;   /* where it lies: bytes above our frame */
};

struct way {
    unsigned n;                  /* frames of ours, and the one above them */
    struct frame frames[FRAMES]; /* of the last one `call` is not used */
};

/* A call that was met at the end of a way. */
struct met {
    struct met *next; /* [const] in its bucket */
    uintptr_t call;
    const struct way *way; /* borrowed */
};

struct orr_callers {
    struct orr_callers_ops ops;
    _Atomic(struct way *) ways[WAYS];   /* owned; the first NULL ends them */
    _Atomic(struct met *) calls[CALLS]; /* owned */
    void *library;
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    _Unwind_Word (*get_ip)(struct _Unwind_Context *);
    _Unwind_Word (*get_cfa)(struct _Unwind_Context *);
};

int orr_callers_new(const struct orr_callers_ops *ops, struct orr_callers **ret)
{
    struct orr_callers *callers = calloc(1, sizeof(*callers));

    if (!callers)
        return -ENOMEM;
    callers->ops = *ops;
    callers->library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (callers->library) {
        *(void **)&callers->backtrace =
            dlsym(callers->library, "_Unwind_Backtrace");
        *(void **)&callers->get_ip = dlsym(callers->library, "_Unwind_GetIP");
        *(void **)&callers->get_cfa = dlsym(callers->library, "_Unwind_GetCFA");
    }
    *ret = callers;
    return 0;
}

void orr_callers_free(struct orr_callers *callers)
{
    struct met *next;

    if (!callers)
        return;
    for (unsigned i = 0; i < WAYS; i++)
        free(atomic_load(&callers->ways[i]));
    for (unsigned i = 0; i < CALLS; i++)
        for (struct met *met = atomic_load(&callers->calls[i]); met;
             met = next) {
            next = met->next;
            free(met);
        }
    if (callers->library)
        dlclose(callers->library);
    free(callers);
}

/* --- what is known --- */

static _Atomic(struct met *) *bucket_of_call(struct orr_callers *callers,
                                             uintptr_t call)
{
    return &callers->calls[call * 2654435761u >> 7 & (CALLS - 1)];
}

static bool was_met(struct orr_callers *callers, const struct way *way,
                    uintptr_t call)
{
    const struct met *met = atomic_load_explicit(bucket_of_call(callers, call),
                                                 memory_order_acquire);

    while (met && (met->call != call || met->way != way))
        met = met->next;
    return met != NULL;
}

static uintptr_t word_above(uintptr_t base, const struct frame *frame)
{
    return *(const uintptr_t *)(base + frame->above);
}

/* Each word is looked at only when those below it are what they were: then it is in the
 * stack. */
static bool is_way(const struct way *way, uintptr_t base)
{
    for (unsigned i = 0; i + 1 < way->n; i++)
        if (word_above(base, &way->frames[i]) != way->frames[i].call)
            return false;
    return true;
}

/* 0: it is not known. */
static uintptr_t recognise(struct orr_callers *callers, uintptr_t base)
{
    for (unsigned i = 0; i < WAYS; i++) {
        const struct way *way =
            atomic_load_explicit(&callers->ways[i], memory_order_acquire);
        uintptr_t call;

        if (!way)
            return 0;
        call =
            is_way(way, base) ? word_above(base, &way->frames[way->n - 1]) : 0;
        if (call && was_met(callers, way, call))
            return call;
    }
    return 0;
}

/* --- what is learned --- */

struct walk {
    struct orr_callers *callers;
    uintptr_t base; /* our frame */
    bool is_above;  /* frames of the walk itself are behind */
    bool is_plain;  /* return addresses lie where they are looked for */
    uintptr_t found;
    struct way way;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    struct walk *walk = arg;
    uintptr_t call = walk->callers->get_ip(context);
    uintptr_t place = walk->callers->get_cfa(context) - sizeof(uintptr_t);

    walk->is_above |= place > walk->base;
    if (!walk->is_above)
        return _URC_NO_REASON;
    if (!call || walk->way.n == FRAMES)
        return _URC_END_OF_STACK;
    if (place <= walk->base || *(const uintptr_t *)place != call)
        walk->is_plain = false;
    walk->way.frames[walk->way.n++] = (struct frame){call, place - walk->base};
    if (walk->callers->ops.is_ours(walk->callers->ops.arg, call))
        return _URC_NO_REASON;
    walk->found = call;
    return _URC_END_OF_STACK;
}

/* The way that is kept, of all that are alike; NULL: there is no room, or no memory. */
static const struct way *keep_way(struct orr_callers *callers,
                                  const struct walk *walk)
{
    struct way *way;

    for (unsigned i = 0; i < WAYS; i++) {
        struct way *there =
            atomic_load_explicit(&callers->ways[i], memory_order_acquire);

        if (there && there->n == walk->way.n && is_way(there, walk->base))
            return there;
        if (there)
            continue;
        way = malloc(sizeof(*way));
        if (!way)
            return NULL;
        *way = walk->way;
        if (atomic_compare_exchange_strong(&callers->ways[i], &there, way))
            return way;
        free(way);
        i--; /* somebody else was faster: is it this one? */
    }
    return NULL;
}

static void keep_call(struct orr_callers *callers, const struct way *way,
                      uintptr_t call)
{
    _Atomic(struct met *) *bucket = bucket_of_call(callers, call);
    struct met *met = malloc(sizeof(*met));

    if (!met)
        return;
    *met = (struct met){atomic_load_explicit(bucket, memory_order_relaxed),
                        call, way};
    while (!atomic_compare_exchange_weak_explicit(
        bucket, &met->next, met, memory_order_release, memory_order_relaxed))
        ;
}

static uintptr_t walk_up(struct orr_callers *callers, uintptr_t base)
{
    struct walk walk = {.callers = callers, .base = base, .is_plain = true};
    const struct way *way;

    if (!callers->backtrace || !callers->get_ip || !callers->get_cfa)
        return 0;
    callers->backtrace(step, &walk);
    way = walk.found && walk.is_plain ? keep_way(callers, &walk) : NULL;
    if (way)
        keep_call(callers, way, walk.found);
    return walk.found;
}

/* Not inline: what is above its frame begins with the return address of who asks. */
__attribute__((noinline)) uintptr_t
orr_callers_find(struct orr_callers *callers)
{
    uintptr_t base = (uintptr_t)__builtin_frame_address(0);
    uintptr_t call = recognise(callers, base);

    return call ? call : walk_up(callers, base);
}
