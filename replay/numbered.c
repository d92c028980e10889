/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/numbered.c - see numbered.h. Places are looked at one after the other, from that of
 * the number's hash on; a third of them stay free. */
#include "replay/numbered.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FIRST_ROOM = 16 };

/* That of the number, or the free one where it would be. There is a free one. */
static struct datum *place_of(const struct numbered *numbered, uint64_t number)
{
    /* Fibonacci hashing: numbers that differ by the same are spread, too. */
    size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (;; i++) {
        struct datum *datum = &numbered->at[i & (numbered->room - 1)];

        if (datum->number == 0 || datum->number == number + 1)
            return datum;
    }
}

struct datum *numbered_find(const struct numbered *numbered, uint64_t number)
{
    struct datum *datum = numbered->room ? place_of(numbered, number) : NULL;

    return datum && datum->number ? datum : NULL;
}

/* Returns false without memory; then all is as it was. */
static bool widen(struct numbered *numbered)
{
    struct numbered wide = {.n = numbered->n,
                            .room = numbered->room ? 2 * numbered->room
                                                   : FIRST_ROOM};

    wide.at = calloc(wide.room, sizeof(*wide.at));
    if (!wide.at)
        return false;
    for (size_t i = 0; i < numbered->room; i++)
        if (numbered->at[i].number)
            *place_of(&wide, numbered->at[i].number - 1) = numbered->at[i];
    free(numbered->at);
    *numbered = wide;
    return true;
}

struct datum *numbered_make(struct numbered *numbered, uint64_t number)
{
    struct datum *datum = numbered_find(numbered, number);

    if (datum)
        return datum;
    if (3 * (numbered->n + 1) > 2 * numbered->room && !widen(numbered))
        return NULL;
    datum = place_of(numbered, number);
    datum->number = number + 1;
    numbered->n++;
    return datum;
}

void numbered_done(struct numbered *numbered)
{
    for (size_t i = 0; i < numbered->room; i++)
        free(numbered->at[i].memory);
    free(numbered->at);
    *numbered = (struct numbered){0};
}
