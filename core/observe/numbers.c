/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/numbers.c - see numbers.h: open addressing, half full at most. */
#include "core/observe/numbers.h"

#include <stdlib.h>

static struct orr_number *numbers_slot(const struct orr_numbers_of *numbers,
                                       const void *key)
{
    /* Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4). */
    uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 32) & (numbers->room - 1);

    while (numbers->places[i].key && numbers->places[i].key != key)
        i = (i + 1) & (numbers->room - 1);
    return &numbers->places[i];
}

static int numbers_grow(struct orr_numbers_of *numbers)
{
    struct orr_numbers_of larger = {
        .n = numbers->n, .room = numbers->room ? 2 * numbers->room : 64};

    larger.places = calloc(larger.room, sizeof(*larger.places));
    if (!larger.places)
        return -1;
    for (size_t i = 0; i < numbers->room; i++)
        if (numbers->places[i].key)
            *numbers_slot(&larger, numbers->places[i].key) = numbers->places[i];
    free(numbers->places);
    *numbers = larger;
    return 0;
}

struct orr_number *orr_numbers_get(struct orr_numbers_of *numbers,
                                   const void *key)
{
    struct orr_number *place;

    if (2 * numbers->n >= numbers->room && numbers_grow(numbers) != 0)
        return NULL;
    place = numbers_slot(numbers, key);
    if (!place->key) {
        place->key = key;
        numbers->n++;
    }
    return place;
}

void orr_numbers_free(struct orr_numbers_of *numbers)
{
    free(numbers->places);
}
