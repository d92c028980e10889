/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/names.c - see names.h. A hash table with linear probing. */
#include "platforms/names.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a. */
static uint32_t name_hash(const char *id)
{
    uint32_t value = 2166136261u;

    for (; *id; id++)
        value = (value ^ (unsigned char)*id) * 16777619u;
    return value;
}

/* The slot that has the id, or the free one where it belongs. */
static struct orr_name *slot_of(struct orr_name *slots, unsigned nslots,
                                const char *id)
{
    unsigned at = name_hash(id) & (nslots - 1);

    while (slots[at].id && strcmp(slots[at].id, id) != 0)
        at = (at + 1) & (nslots - 1);
    return &slots[at];
}

static int names_grow(struct orr_names *names)
{
    unsigned nslots = names->nslots ? 2 * names->nslots : 64;
    struct orr_name *slots = calloc(nslots, sizeof(*slots));

    if (!slots)
        return -ENOMEM;
    for (unsigned i = 0; i < names->nslots; i++)
        if (names->slots[i].id)
            *slot_of(slots, nslots, names->slots[i].id) = names->slots[i];
    free(names->slots);
    names->slots = slots;
    names->nslots = nslots;
    return 0;
}

int orr_names_add(struct orr_names *names, const char *id, unsigned index)
{
    struct orr_name *slot;

    if (2 * (names->n + 1) > names->nslots && names_grow(names))
        return -ENOMEM;
    slot = slot_of(names->slots, names->nslots, id);
    if (slot->id)
        return -EEXIST;
    *slot = (struct orr_name){id, index};
    names->n++;
    return 0;
}

bool orr_names_find(const struct orr_names *names, const char *id,
                    unsigned *ret)
{
    const struct orr_name *slot;

    if (!names->nslots)
        return false;
    slot = slot_of(names->slots, names->nslots, id);
    if (!slot->id)
        return false;
    *ret = slot->index;
    return true;
}

void orr_names_done(struct orr_names *names)
{
    free(names->slots);
    *names = (struct orr_names){NULL, 0, 0};
}
