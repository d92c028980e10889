/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/relocation.c - see relocation.h. Filters make a part's structure on every
 * node, from that of the whole, whose addresses are NULL where it has no memory. So a
 * word of the whole that is 0 there and not in the base is an address; a word of the
 * part that lies at most the whole's bytes behind one in the base, and on the other
 * node is 0, or that far behind 0, was made of it. A number that looks like that by
 * chance would have to be one of the whole's addresses.
 *
 * What differs in another way is memory of the application's for each node, or what
 * the whole once had on the other node: nothing is said of such data.
 */
#include "core/data/relocation.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ADDRESSES = 8 };

typedef uintptr_t word_t;

struct address {
    uint32_t at;   /* word of the part … */
    uint32_t of;   /* … that lies behind this one of the whole … */
    size_t offset; /* … by so many bytes */
};

struct orr_relocation {
    struct address addresses[MOST_ADDRESSES];
    unsigned n;
    size_t size;  /* of the structure */
    char bytes[]; /* the structure in the base, as it was found */
};

/* Two structures of a handle. */
struct views {
    const char *base;
    char *other; /* owned */
    size_t size;
};

static word_t word_at(const char *structure, size_t i)
{
    word_t word;

    memcpy(&word, structure + i * sizeof(word), sizeof(word));
    return word;
}

static size_t views_words(const struct views *views)
{
    return views->size / sizeof(word_t);
}

/* A node of which the handle has no memory; false: there is none. */
static bool find_empty_node(struct orr_handle *handle, unsigned *ret)
{
    bool found = false;

    orr_lock(&handle->lock);
    for (unsigned node = handle->nnodes; node-- > 0 && !found;) {
        found = !handle->replicates[node].allocated;
        *ret = node;
    }
    orr_unlock(&handle->lock);
    return found;
}

static bool is_address(const struct views *whole, size_t i)
{
    return word_at(whole->base, i) && !word_at(whole->other, i);
}

/* All words of the whole are addresses, or the same on both nodes. */
static bool is_understood(const struct views *whole)
{
    for (size_t i = 0; i < views_words(whole); i++)
        if (word_at(whole->base, i) != word_at(whole->other, i) &&
            !is_address(whole, i))
            return false;
    return true;
}

/* The nearest address of the whole before that one, at most `size` bytes: false if
 * there is none. */
static bool find_address(const struct views *whole, size_t size, word_t word,
                         struct address *ret)
{
    bool found = false;

    for (size_t i = 0; i < views_words(whole); i++) {
        word_t start = word_at(whole->base, i);

        if (!is_address(whole, i) || word < start || word - start > size ||
            (found && word - start >= ret->offset))
            continue;
        found = true;
        ret->of = (uint32_t)i;
        ret->offset = word - start;
    }
    return found;
}

/* False if there may be an address of which that is not sure. */
static bool find_addresses(const struct views *whole, size_t size,
                           const struct views *part,
                           struct orr_relocation *relocation)
{
    for (size_t i = 0; i < views_words(part); i++) {
        word_t word = word_at(part->base, i), other = word_at(part->other, i);
        struct address address = {.at = (uint32_t)i};

        if (word == other || !find_address(whole, size, word, &address))
            continue;
        if ((other && other != address.offset) ||
            relocation->n == MOST_ADDRESSES)
            return false;
        relocation->addresses[relocation->n++] = address;
    }
    return relocation->n > 0;
}

static struct orr_relocation *relocation_find(const struct views *whole,
                                              size_t size,
                                              const struct views *part)
{
    struct orr_relocation *relocation;

    if (!whole->other || !part->other || !is_understood(whole))
        return NULL;
    relocation = malloc(sizeof(*relocation) + part->size);
    if (!relocation)
        return NULL;
    relocation->n = 0;
    relocation->size = part->size;
    memcpy(relocation->bytes, part->base, part->size);
    if (!find_addresses(whole, size, part, relocation)) {
        free(relocation);
        return NULL;
    }
    return relocation;
}

static struct views views_look(struct orr_handle *handle, unsigned base,
                               unsigned other)
{
    struct views views = {
        .base = handle->replicates[base].interface,
        .other = malloc(handle->ops->interface_size + 1),
        .size = handle->ops->interface_size,
    };

    if (views.other)
        orr_handle_read_layout(handle, other, views.other);
    return views;
}

struct orr_relocation *orr_relocation_find(struct orr_handle *whole,
                                           struct orr_handle *part)
{
    struct orr_relocation *relocation = NULL;
    unsigned base = orr_handle_base(whole), other;
    struct views outer, inner;

    if (whole->ops->is_multiformat || part->ops->is_multiformat ||
        !find_empty_node(whole, &other))
        return NULL;
    outer = views_look(whole, base, other);
    inner = views_look(part, base, other);
    relocation = relocation_find(&outer, whole->size, &inner);
    free(outer.other);
    free(inner.other);
    return relocation;
}

void orr_relocation_apply(const struct orr_relocation *relocation,
                          const void *from, void *to)
{
    memcpy(to, relocation->bytes, relocation->size);
    for (unsigned i = 0; i < relocation->n; i++) {
        const struct address *address = &relocation->addresses[i];
        word_t word = word_at(from, address->of) + address->offset;

        memcpy((char *)to + address->at * sizeof(word), &word, sizeof(word));
    }
}
