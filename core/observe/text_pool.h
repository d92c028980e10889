/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/text_pool.h - texts kept once each: the names that events of one
 * buffer point to. One thread at a time; a text, once added, stays where it is
 * until orr_texts_done, so that others may read it meanwhile.
 */
#pragma once

#include <stddef.h>

struct orr_text;

/* Zero is an empty one. */
struct orr_texts {
    struct orr_text **buckets; /* owned */
    size_t nbuckets, n;        /* nbuckets: 0 or a power of 2 */
};

/* A copy of `text`, lent; NULL without memory. */
const char *orr_texts_add(struct orr_texts *texts, const char *text);

/* The texts that were added last, by the addresses from which they were copied. All
 * zero: none. */
enum { ORR_TEXTS_RECENT = 16 };
struct orr_texts_recent {
    struct {
        const char *text, *kept;
    } items[ORR_TEXTS_RECENT];
};

/* As orr_texts_add, for texts that are mostly the same few: those are found by address,
 * without a hash. */
const char *orr_texts_keep(struct orr_texts *texts,
                           struct orr_texts_recent *recent, const char *text);

void orr_texts_done(struct orr_texts *texts);
