/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mpi/parts.h"

#include <stdint.h>
#include <string.h>

size_t orr_part_bytes(const struct orr_part *part)
{
    size_t bytes = part->size;

    for (unsigned i = 0; i < part->levels; i++)
        bytes *= part->n[i];
    return bytes;
}

size_t orr_parts_bytes(const struct orr_part *parts, unsigned n)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < n; i++)
        bytes += orr_part_bytes(&parts[i]);
    return bytes;
}

struct orr_part orr_part_simplified(const struct orr_part *part)
{
    struct orr_part simple = {.address = part->address};

    if (orr_part_bytes(part) == 0)
        return simple;
    simple.size = part->size;
    for (unsigned i = 0; i < part->levels; i++) {
        unsigned last = simple.levels - 1;

        if (part->n[i] == 1)
            continue;
        if (simple.levels == 0 && part->step[i] == simple.size) {
            simple.size *= part->n[i];
        } else if (simple.levels > 0 &&
                   part->step[i] == simple.step[last] * simple.n[last]) {
            simple.n[last] *= part->n[i];
        } else {
            simple.n[simple.levels] = part->n[i];
            simple.step[simple.levels++] = part->step[i];
        }
    }
    return simple;
}

bool orr_parts_contiguous(const struct orr_part *parts, unsigned n, void **ret)
{
    char *end = NULL;

    *ret = NULL;
    for (unsigned i = 0; i < n; i++) {
        struct orr_part simple = orr_part_simplified(&parts[i]);

        if (simple.size == 0)
            continue;
        if (simple.levels > 0 || (end && simple.address != end))
            return false;
        if (!end)
            *ret = simple.address;
        end = (char *)simple.address + simple.size;
    }
    return true;
}

/* --- walking over the pieces without gaps --- */

struct walk {
    const struct orr_part *part, *end;
    size_t at[ORR_PART_LEVELS]; /* which of n */
    char *piece;                /* what is left of it */
    size_t left;
};

/* Begins the first part, from walk->part on, that has bytes. */
static void enter_part(struct walk *walk)
{
    while (walk->part < walk->end && orr_part_bytes(walk->part) == 0)
        walk->part++;
    if (walk->part == walk->end)
        return;
    memset(walk->at, 0, sizeof(walk->at));
    walk->piece = walk->part->address;
    walk->left = walk->part->size;
}

static struct walk begin_walk(const struct orr_part *parts, unsigned n)
{
    struct walk walk = {.part = parts, .end = parts + n};

    enter_part(&walk);
    return walk;
}

/* The piece was used up: goes to the next one, if there is one. */
static void next_piece(struct walk *walk)
{
    const struct orr_part *part = walk->part;
    size_t offset = 0;
    unsigned level = 0;

    while (level < part->levels && ++walk->at[level] == part->n[level])
        walk->at[level++] = 0;
    if (level == part->levels) {
        walk->part++;
        enter_part(walk);
        return;
    }
    for (unsigned i = 0; i < part->levels; i++)
        offset += walk->at[i] * part->step[i];
    walk->piece = (char *)part->address + offset;
    walk->left = part->size;
}

size_t orr_parts_move(const struct orr_part *to, unsigned n_to,
                      const struct orr_part *from, unsigned n_from, size_t bytes)
{
    struct walk in = begin_walk(to, n_to), out = begin_walk(from, n_from);
    size_t copied = 0;

    while (copied < bytes && in.part < in.end && out.part < out.end) {
        size_t size = in.left < out.left ? in.left : out.left;

        if (size > bytes - copied)
            size = bytes - copied;
        memcpy(in.piece, out.piece, size);
        copied += size;
        in.piece += size;
        out.piece += size;
        if ((in.left -= size) == 0)
            next_piece(&in);
        if ((out.left -= size) == 0)
            next_piece(&out);
    }
    return copied;
}

size_t orr_parts_pack(const struct orr_part *parts, unsigned n, void *to, size_t bytes)
{
    struct orr_part packed = {.address = to, .size = bytes};

    return orr_parts_move(&packed, 1, parts, n, bytes);
}

size_t orr_parts_unpack(const struct orr_part *parts, unsigned n, const void *from,
                        size_t bytes)
{
    struct orr_part packed = {.address = (void *)(uintptr_t)from, .size = bytes};

    return orr_parts_move(parts, n, &packed, 1, bytes);
}
