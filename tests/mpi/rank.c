/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rank.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/splitmix.h"

bool rank_expect(struct rank *rank, int holds, const char *what, const char *file,
                 int line)
{
    if (!holds) {
        rank->failures++;
        fprintf(stderr, "# rank %d of %d, seed %llu: %s:%d: not so: %s\n",
                rank->world.rank, rank->world.size, (unsigned long long)rank->seed, file,
                line, what);
    }
    return holds;
}

void rank_begin(struct rank *rank, const void *native, uint64_t seed)
{
    struct orr_error err = {""};

    orr_list_init(&rank->headers);
    orr_list_init(&rank->ended);
    orr_list_init(&rank->met);
    if (!EXPECT(rank, rank->t->ops->comm_add(rank->t, native, &rank->world, &err) == 0))
        exit(1);
    rank->seed = seed;
    rank->random = seed * 1000 + (uint64_t)rank->world.rank;
}

void rank_end(struct rank *rank)
{
    struct orr_list *link;

    EXPECT(rank, orr_list_empty(&rank->headers));
    EXPECT(rank, orr_list_empty(&rank->ended));
    EXPECT(rank, orr_list_empty(&rank->met));
    while ((link = orr_list_pop(&rank->headers)))
        free_taken(orr_container(link, struct taken, link));
}

void free_taken(struct taken *taken)
{
    free(taken->inside);
    free(taken);
}

void take_all(struct rank *rank)
{
    const struct orr_transport_ops *ops = rank->t->ops;
    struct orr_packet *message;
    struct orr_meeting *meeting;
    struct orr_header header;
    const void *inside;

    while (ops->take_header(rank->t, &header, &inside)) {
        struct taken *taken = calloc(1, sizeof(*taken));

        taken->header = header;
        EXPECT(rank, (header.data == 0) ==
                         (header.bytes <= rank->t->caps.inside_bytes));
        EXPECT(rank, (inside != NULL) == (header.bytes > 0 && header.data == 0));
        if (inside) {
            taken->inside = malloc(header.bytes);
            memcpy(taken->inside, inside, header.bytes);
        }
        orr_list_append(&rank->headers, &taken->link);
    }
    while ((message = ops->take_ended(rank->t)))
        orr_list_append(&rank->ended, &message->link);
    while ((meeting = ops->take_met(rank->t)))
        orr_list_append(&rank->met, &meeting->link);
}

bool has_ended(struct rank *rank, struct orr_packet *message)
{
    orr_list_foreach(link, &rank->ended)
        if (link == &message->link) {
            orr_list_remove(link);
            return true;
        }
    return false;
}

void await_message(struct rank *rank, struct orr_packet *message)
{
    for (;;) {
        take_all(rank);
        if (has_ended(rank, message))
            return;
        rank->t->ops->wait(rank->t, false, (struct orr_patience){0}, 0);
    }
}

void await_meeting(struct rank *rank, struct orr_meeting *meeting)
{
    for (;;) {
        take_all(rank);
        orr_list_foreach(link, &rank->met)
            if (link == &meeting->link) {
                orr_list_remove(link);
                return;
            }
        rank->t->ops->wait(rank->t, false, (struct orr_patience){0}, 0);
    }
}

struct taken *await_header(struct rank *rank, unsigned comm, int peer)
{
    for (;;) {
        take_all(rank);
        orr_list_foreach(link, &rank->headers)
        {
            struct taken *taken = orr_container(link, struct taken, link);

            if (taken->header.comm == comm &&
                (peer < 0 || taken->header.peer == peer)) {
                orr_list_remove(link);
                return taken;
            }
        }
        rank->t->ops->wait(rank->t, true, (struct orr_patience){0}, 0);
    }
}

/* --- memory --- */

enum { UNTOUCHED = 0xa5 };

unsigned char byte_of(uint64_t id, size_t at)
{
    return (unsigned char)(id * 37 + at + (at >> 8) * 11 + (at >> 16));
}

/* A part of at least one byte and at most `bytes`, with gaps, and room for it behind
 * *used. */
static struct orr_part part_by_chance(size_t *used, size_t bytes, uint64_t *random)
{
    struct orr_part part = {0};
    size_t block, extent;

    part.size = block = 1 + orr_splitmix(random) % bytes;
    extent = block;
    part.levels = (unsigned)(orr_splitmix(random) % (ORR_PART_LEVELS + 1));
    for (unsigned i = 0; i < part.levels; i++) {
        size_t most = bytes / block;

        part.n[i] = 1 + orr_splitmix(random) % (most > 5 ? 5 : most);
        part.step[i] = extent + orr_splitmix(random) % 4 * (extent < 64 ? 3 : 1);
        extent += (part.n[i] - 1) * part.step[i];
        block *= part.n[i];
    }
    *used += extent + orr_splitmix(random) % 5;
    return part;
}

void area_make(struct area *area, size_t bytes, bool plain, uint64_t *random)
{
    size_t used = 0, left = bytes, offsets[4];

    area->nparts = 0;
    while (!plain && left > 0 && area->nparts < 3) {
        offsets[area->nparts] = used;
        area->parts[area->nparts] = part_by_chance(&used, left, random);
        left -= orr_part_bytes(&area->parts[area->nparts++]);
    }
    if (left > 0) {
        offsets[area->nparts] = used;
        area->parts[area->nparts++] = (struct orr_part){.size = left};
        used += left;
    }
    area->size = used + 1;
    area->memory = malloc(area->size);
    memset(area->memory, UNTOUCHED, area->size);
    for (unsigned i = 0; i < area->nparts; i++)
        area->parts[i].address = area->memory + offsets[i];
}

/* Address of byte `at` of the message, the plain way. */
static char *address_of(const struct area *area, size_t at)
{
    for (unsigned p = 0; p < area->nparts; p++) {
        const struct orr_part *part = &area->parts[p];
        size_t bytes = orr_part_bytes(part), piece, offset;

        if (at >= bytes) {
            at -= bytes;
            continue;
        }
        piece = at / part->size;
        offset = at % part->size;
        for (unsigned i = 0; i < part->levels; i++) {
            offset += piece % part->n[i] * part->step[i];
            piece /= part->n[i];
        }
        return (char *)part->address + offset;
    }
    return NULL;
}

void area_fill(struct area *area, uint64_t id)
{
    size_t bytes = orr_parts_bytes(area->parts, area->nparts);

    for (size_t i = 0; i < bytes; i++)
        *(unsigned char *)address_of(area, i) = byte_of(id, i);
}

bool area_is(const struct area *area, uint64_t id, size_t bytes)
{
    unsigned char *want = malloc(area->size);
    bool same;

    memset(want, UNTOUCHED, area->size);
    for (size_t i = 0; i < bytes; i++)
        want[address_of(area, i) - area->memory] = byte_of(id, i);
    same = memcmp(want, area->memory, area->size) == 0;
    free(want);
    return same;
}

void area_free(struct area *area)
{
    free(area->memory);
    area->memory = NULL;
}
