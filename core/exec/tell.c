/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/exec/tell.c - see tell.h. */
#include "core/exec/tell.h"

#include <assert.h>

static_assert(ORR_NTOLD <= 64, "kinds of events are bits of one word");

void orr_observers_add(struct orr_observers *observers,
                       const struct orr_observer *observer)
{
    assert(observers->n < ORR_OBSERVERS);
    observers->list[observers->n++] = observer;
}

void orr_observers_want(struct orr_observers *observers,
                        const struct orr_observer *observer, uint64_t kinds,
                        bool want)
{
    unsigned number = 0;
    uint16_t bit;

    while (observers->list[number] != observer)
        number++;
    bit = (uint16_t)(1U << number);
    for (unsigned kind = 0; kind < ORR_NTOLD; kind++) {
        if (!observer->told[kind] || !(kinds >> kind & 1))
            continue;
        /* The release is for what the observer has made before it wants anything. */
        if (want)
            __atomic_fetch_or(&observers->want[kind], bit, __ATOMIC_RELEASE);
        else
            __atomic_fetch_and(&observers->want[kind], (uint16_t)~bit,
                               __ATOMIC_RELEASE);
    }
}

/* Apart: mostly one is all that there is. */
static __attribute__((noinline)) void
observers_tell_several(const struct orr_observers *observers, unsigned bits,
                       struct orr_runtime *rt, const struct orr_told *told)
{
    for (; bits; bits &= bits - 1)
        observers->list[__builtin_ctz(bits)]->told[told->kind](rt, told);
}

void orr_tell(const struct orr_observers *observers, struct orr_runtime *rt,
              const struct orr_told *told)
{
    enum orr_told_kind kind = told->kind;
    unsigned bits = __atomic_load_n(&observers->want[kind], __ATOMIC_ACQUIRE);

    if (bits & (bits - 1))
        observers_tell_several(observers, bits, rt, told);
    else if (bits)
        observers->list[__builtin_ctz(bits)]->told[kind](rt, told);
}
