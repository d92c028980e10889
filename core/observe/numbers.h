/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/numbers.h - numbers instead of addresses, which a file should not
 * contain: a number for each object, and two words more. A hash table of addresses; its
 * order decides nothing. The caller serialises.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct orr_number {
    const void *key;
    uint64_t number, state, digest; /* the owner's; 0 at the beginning */
};

/* All zero at the beginning. */
struct orr_numbers_of {
    struct orr_number *places; /* owned; a power of two of them */
    size_t n, room;
};

/* The place of the address, a new one if it had none; NULL without memory. Valid
 * until the next call. */
struct orr_number *orr_numbers_get(struct orr_numbers_of *numbers,
                                   const void *key);

void orr_numbers_free(struct orr_numbers_of *numbers);
