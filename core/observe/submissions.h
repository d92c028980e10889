/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/submissions.h - in which order tasks were submitted, and with which
 * data: for files that replay them (StarPU's tasks.rec). Kept only where such a file
 * is asked for. Any context; the lock's rank is ORR_RANK_RUNTIME.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/lock.h"
#include "core/observe/texts.h"

struct orr_submitted_use {
    uint64_t handle;
    uint32_t mode; /* enum starpu_data_access_mode */
    size_t bytes;
};

struct orr_submitted {
    uint64_t job;      /* 0: advice that its one datum will not be used */
    const char *model; /* symbol of its performance model, or NULL */
    double time;       /* µs */
    size_t first_use, nuses;
};

struct orr_submitted_datum {
    uint64_t handle;  /* 0: not used */
    const char *name; /* or NULL */
    int home;
    size_t bytes;
    int coordinates[5];
    unsigned ncoordinates;
};

/* All but `lock`: [lock]. A writer of files may look when the run has ended. */
struct orr_submissions {
    struct orr_lock lock;
    struct orr_submitted *all; /* in order */
    struct orr_submitted_use *uses;
    struct orr_submitted_datum *data; /* by the handle's number */
    size_t n, room, nuses, room_uses, ndata;
    struct orr_texts texts;
    bool lost; /* something found no memory */
};

/* Errors: -ENOMEM. */
int orr_submissions_new(struct orr_submissions **ret);

/* Accepts NULL. */
void orr_submissions_free(struct orr_submissions *submissions);

/* Locks; the entry is valid until orr_submissions_end. NULL without memory, which is
 * noted; the end follows all the same. */
struct orr_submitted *orr_submissions_begin(struct orr_submissions *submissions,
                                            double time)
    ORR_ACQUIRES(submissions->lock);

/* A copy of the model's symbol for the entry; NULL stays so. */
const char *orr_submissions_text(struct orr_submissions *submissions,
                                 const char *text)
    ORR_REQUIRES(submissions->lock);

/* The entry, which may be NULL, uses the datum in that mode; it is described by its
 * first use. */
void orr_submissions_use(struct orr_submissions *submissions,
                         struct orr_submitted *entry,
                         const struct orr_submitted_datum *datum, uint32_t mode)
    ORR_REQUIRES(submissions->lock);
void orr_submissions_end(struct orr_submissions *submissions)
    ORR_RELEASES(submissions->lock);
