/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/parts.h - where the bytes of a message lie: a list of parts, each with gaps at up
 * to a few levels. The bytes of the message are those of the first part, then those of
 * the second … Two lists of equal size may differ in everything else. Any thread; nothing
 * is allocated.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `size` bytes without gaps, and that n[0] times, the starts step[0] bytes apart, and
 * all that n[1] times … for each of `levels`, as a raw copy of core/device/driver.h.
 * What is deeper is a list of several. No two bytes of a part that is received into are
 * the same. */
enum { ORR_PART_LEVELS = 3 };
struct orr_part {
    void *address; /* not written to by those that send */
    size_t size;
    unsigned levels;
    size_t n[ORR_PART_LEVELS];
    size_t step[ORR_PART_LEVELS]; /* bytes */
};

/* The bytes of a part, and of n of them. */
size_t orr_part_bytes(const struct orr_part *part);
size_t orr_parts_bytes(const struct orr_part *parts, unsigned n);

/* The same bytes in the same order, in as few levels as can be: levels that repeat
 * nothing, or leave no gaps, are gone, and nothing is left of one without bytes but its
 * address. Equal shapes have equal fields then; those of levels that are not there are
 * 0. */
struct orr_part orr_part_simplified(const struct orr_part *part);

/* Whether n parts are one piece of memory, whose start is *ret then; that of none is
 * NULL. */
bool orr_parts_contiguous(const struct orr_part *parts, unsigned n, void **ret);

/* Copies the first `bytes` bytes, at most all that there are, and returns how many these
 * were: out of the parts, into them, from those to these. Memory may not overlap. */
size_t orr_parts_pack(const struct orr_part *parts, unsigned n, void *to, size_t bytes);
size_t orr_parts_unpack(const struct orr_part *parts, unsigned n, const void *from,
                        size_t bytes);
size_t orr_parts_move(const struct orr_part *to, unsigned n_to,
                      const struct orr_part *from, unsigned n_from, size_t bytes);
