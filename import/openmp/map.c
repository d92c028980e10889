/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/openmp/map.c - see map.h: open addressing; places of what ended are free for other
 * numbers when the table is made anew. */
#include "import/openmp/map.h"

#include <errno.h>
#include <stdlib.h>

struct omp_map_entry {
    uint64_t number; /* 0: never used */
    void *value;
};

static struct omp_map_entry *place(struct omp_map_entry *entries, size_t room, uint64_t number)
{
    size_t i = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (room - 1);

    while (entries[i].number && entries[i].number != number)
        i = (i + 1) & (room - 1);
    return &entries[i];
}

void *omp_map_find(const struct omp_map *map, uint64_t number)
{
    return map->room && number ? place(map->entries, map->room, number)->value : NULL;
}

/* Twice as much as what stands for something needs. */
static int rebuild(struct omp_map *map)
{
    struct omp_map_entry *entries;
    size_t live = 0, room = 64;

    for (size_t i = 0; i < map->room; i++)
        live += map->entries[i].value != NULL;
    while (room < 4 * (live + 1))
        room *= 2;
    entries = calloc(room, sizeof(*entries));
    if (!entries)
        return -ENOMEM;
    for (size_t i = 0; i < map->room; i++)
        if (map->entries[i].value)
            *place(entries, room, map->entries[i].number) = map->entries[i];
    free(map->entries);
    *map = (struct omp_map){entries, room, live};
    return 0;
}

int omp_map_set(struct omp_map *map, uint64_t number, void *value)
{
    struct omp_map_entry *entry;

    if (!number)
        return 0;
    if (2 * (map->used + 1) > map->room && rebuild(map))
        return -ENOMEM;
    entry = place(map->entries, map->room, number);
    map->used += !entry->number;
    entry->number = number;
    entry->value = value;
    return 0;
}

void omp_map_forget(struct omp_map *map, uint64_t number)
{
    if (map->room && number)
        place(map->entries, map->room, number)->value = NULL;
}

void omp_map_done(struct omp_map *map)
{
    free(map->entries);
}
