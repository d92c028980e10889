/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/submissions.c - see submissions.h. */
#include "core/observe/submissions.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/grow.h"
#include "core/base/log.h"

enum { BLOCK = 4096 }; /* uses */

int orr_submissions_new(struct orr_submissions **ret)
{
    struct orr_submissions *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    orr_lock_init(&s->lock, ORR_RANK_RUNTIME);
    if (orr_chain_init(&s->entries, sizeof(struct orr_submitted)) < 0 ||
        orr_chain_init(&s->data, sizeof(struct orr_submitted_datum)) < 0) {
        orr_submissions_free(s);
        return -ENOMEM;
    }
    *ret = s;
    return 0;
}

void orr_submissions_free(struct orr_submissions *s)
{
    if (!s)
        return;
    orr_chain_done(&s->entries);
    orr_chain_done(&s->data);
    while (s->blocks) {
        struct orr_submitted_block *next = s->blocks->next;

        free(s->blocks);
        s->blocks = next;
    }
    free(s->known);
    orr_texts_done(&s->texts);
    free(s);
}

static void submissions_lose(struct orr_submissions *s)
{
    atomic_store_explicit(&s->lost, true, memory_order_relaxed);
}

/* Room for so many, one behind the other; NULL without memory. */
static struct orr_submitted_use *add_uses(struct orr_submissions *s, size_t n)
    ORR_REQUIRES(s->lock)
{
    struct orr_submitted_block *block = s->blocks;
    size_t room = n > BLOCK ? n : BLOCK;

    if (!block || block->room - block->n < n) {
        block = malloc(sizeof(*block) + room * sizeof(*block->uses));
        if (!block)
            return NULL;
        block->next = s->blocks;
        block->n = 0;
        block->room = room;
        s->blocks = block;
    }
    block->n += n;
    return &block->uses[block->n - n];
}

void orr_submissions_describe(struct orr_submissions *s,
                              const struct orr_submitted_datum *datum)
{
    struct orr_submitted_datum *added = NULL;

    if (orr_grow(&s->known, &s->nknown, datum->handle + 1, sizeof(*s->known)) ==
        0)
        added = orr_chain_add(&s->data, sizeof(*added));
    if (!added) {
        submissions_lose(s);
        return;
    }
    *added = *datum;
    if (datum->name && !(added->name = orr_texts_add(&s->texts, datum->name)))
        submissions_lose(s);
    s->known[datum->handle] = true;
    orr_chain_publish(&s->data);
}

struct orr_submitted *orr_submissions_begin(struct orr_submissions *s,
                                            double time, uint64_t job,
                                            const char *model, size_t nuses)
{
    struct orr_submitted_use *uses;
    struct orr_submitted *entry;

    orr_lock(&s->lock);
    uses = add_uses(s, nuses);
    entry = uses ? orr_chain_add(&s->entries, sizeof(*entry)) : NULL;
    if (!entry) {
        submissions_lose(s);
        return NULL;
    }
    if (model && !(model = orr_texts_keep(&s->texts, &s->recent, model)))
        submissions_lose(s);
    *entry = (struct orr_submitted){job, ++s->n, model, time, uses, nuses};
    return entry;
}

void orr_submissions_end(struct orr_submissions *s, struct orr_submitted *entry)
{
    bool lost;

    if (entry)
        orr_chain_publish(&s->entries);
    lost = atomic_load_explicit(&s->lost, memory_order_relaxed);
    orr_unlock(&s->lock);
    if (lost && !atomic_exchange(&s->said, true))
        orr_log_warning("no memory to note what is submitted: the trace will "
                        "lack some of it");
}

struct orr_chain_place orr_submissions_first(const struct orr_submissions *s)
{
    return (struct orr_chain_place){s->entries.first, 0};
}

const struct orr_submitted *orr_submissions_next(struct orr_chain_place *place)
{
    return orr_chain_next(place, sizeof(struct orr_submitted));
}

struct orr_chain_place
orr_submissions_first_datum(const struct orr_submissions *s)
{
    return (struct orr_chain_place){s->data.first, 0};
}

const struct orr_submitted_datum *
orr_submissions_next_datum(struct orr_chain_place *place)
{
    return orr_chain_next(place, sizeof(struct orr_submitted_datum));
}
