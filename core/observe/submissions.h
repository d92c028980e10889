/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/submissions.h - in which order tasks were submitted, and with which
 * data: for files that replay them (StarPU's tasks.rec). Kept only where such a file
 * is asked for. Any context; the lock's rank is ORR_RANK_RUNTIME. One thread may read
 * meanwhile (chain.h).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/lock.h"
#include "core/observe/chain.h"
#include "core/observe/text_pool.h"

struct orr_submitted_use {
    uint64_t handle;
    uint32_t mode; /* enum starpu_data_access_mode */
    size_t bytes;
};

struct orr_submitted {
    uint64_t job;      /* 0: advice that its one datum will not be used */
    uint64_t order;    /* 1, 2, … */
    const char *model; /* symbol of its performance model, or NULL; lent */
    double time;       /* µs */
    struct orr_submitted_use *uses; /* lent */
    size_t nuses;
};

struct orr_submitted_datum {
    uint64_t handle;
    const char *name; /* or NULL; lent */
    int home;
    size_t bytes;
    int coordinates[5];
    unsigned ncoordinates;
};

/* Uses lie in blocks that never move. */
struct orr_submitted_block {
    struct orr_submitted_block *next;
    size_t n, room;
    struct orr_submitted_use uses[];
};

struct orr_submissions {
    struct orr_lock lock;
    struct orr_chain entries;           /* [lock] of struct orr_submitted */
    struct orr_chain data;              /* [lock] of struct orr_submitted_datum,
                               * in the order in which they are first used */
    struct orr_submitted_block *blocks; /* [lock] owned, the last one first */
    bool *known;   /* [lock] owned, by the handle's number: it is in data */
    size_t nknown; /* [lock] */
    uint64_t n;    /* [lock] entries */
    struct orr_texts texts;         /* [lock] */
    struct orr_texts_recent recent; /* [lock] models */
    atomic_bool lost;               /* something found no memory */
    atomic_bool said;               /* … which was printed */
};

/* Errors: -ENOMEM. */
int orr_submissions_new(struct orr_submissions **ret);

/* Accepts NULL. */
void orr_submissions_free(struct orr_submissions *submissions);

/* Locks; the entry, which will have `nuses` uses, is valid until orr_submissions_end.
 * NULL without memory, which is noted; orr_submissions_end is to be called all the
 * same. `model` is copied, or NULL. */
struct orr_submitted *orr_submissions_begin(struct orr_submissions *submissions,
                                            double time, uint64_t job,
                                            const char *model, size_t nuses)
    ORR_ACQUIRES(submissions->lock);

/* Whether the datum was described. */
static inline bool
orr_submissions_know(const struct orr_submissions *submissions, uint64_t handle)
    ORR_REQUIRES(submissions->lock)
{
    return handle < submissions->nknown && submissions->known[handle];
}

/* Describes it, when it is first used. */
void orr_submissions_describe(struct orr_submissions *submissions,
                              const struct orr_submitted_datum *datum)
    ORR_REQUIRES(submissions->lock);

/* The entry is whole, and shown. */
void orr_submissions_end(struct orr_submissions *submissions,
                         struct orr_submitted *entry)
    ORR_RELEASES(submissions->lock);

/* The first entry, and datum, for a reader; the next ones that were shown, NULL: none. */
struct orr_chain_place
orr_submissions_first(const struct orr_submissions *submissions);
const struct orr_submitted *orr_submissions_next(struct orr_chain_place *place);
struct orr_chain_place
orr_submissions_first_datum(const struct orr_submissions *submissions);
const struct orr_submitted_datum *
orr_submissions_next_datum(struct orr_chain_place *place);
