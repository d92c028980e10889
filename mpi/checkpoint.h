/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/checkpoint.h - checkpoints: the values of data and of variables of the application, as
 * of one point of submission, are copied to other ranks, and from there to files, from
 * which a later run of the same program goes on.
 *
 * What a checkpoint has is a template. Each value has a rank that keeps it, its backup;
 * its owner sends it there, in its turn among the tasks, or says that it is that of the
 * checkpoint before. When a rank has got all that it is to keep it tells rank 0, which tells
 * all ranks when all have; then the checkpoint is complete, and what is older is dropped.
 *
 *     owner ── PART, SAME ──→ backup ── STORED ──→ rank 0 ── COMPLETE ──→ all
 *
 * Of the thread that submits; all ranks make these calls alike. What comes is the
 * carrier's business.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "mpi/rank.h"

/* One value, or one of each rank. */
struct orr_checkpoint_entry {
    struct orr_handle *handle; /* NULL: a variable of the application's, and … */
    void *value;
    size_t size;
    int64_t tag; /* the application's own */
    int (*backup_of)(int rank);

    int backup; /* of a handle: the rank that keeps it */

    /* As of the last checkpoint of a handle. */
    int owner; /* ORR_NO_RANK: there was none */
    unsigned long version;
};

/* What this rank keeps in a checkpoint: values by entry, and of variables by rank. */
struct orr_checkpoint_slot {
    unsigned entry;
    int source; /* ORR_NO_RANK: whoever owns it */
    struct orr_checkpoint_copy *newest; /* [carrier] of the last checkpoint with all parts */
};

struct orr_checkpoint_template {
    struct orr_rank *rank;
    int id, domain;
    struct orr_list link; /* [submitter] of all */

    /* [submitter], and constant once it is frozen. */
    struct orr_checkpoint_entry *entries;
    size_t nentries, room;
    bool frozen; /* no entry is added from the call on: `first` is not NULL */
    struct orr_checkpoint_slot *slots; /* in the order of entries */
    unsigned nslots;
    unsigned *first; /* of each entry, the first of its slots; one more at the end */

    uint64_t number; /* [submitter] of the last checkpoint */
    bool submitted;  /* [submitter] there was one in this run */

    struct orr_list known;     /* [carrier] among those for which messages may come */
    struct orr_list under_way; /* [carrier] struct checkpoint, the first one first */
};

/* Checkpoints can be made, until they are shut down, which waits for all tasks and messages
 * of this rank, and frees all templates. Errors, after a message: -EALREADY, -ENOMEM,
 * -EDEADLK, and of the folder ORRERY_MPI_CHECKPOINT_DIR. */
int orr_checkpoints_init(struct orr_rank *rank, const char *call);
int orr_checkpoints_shutdown(struct orr_rank *rank, const char *call);

/* An empty one. Errors, after a message: -EINVAL: checkpoints were not initialised;
 * -EEXIST, -ENOMEM. */
int orr_checkpoint_create(struct orr_rank *rank, int id, int domain,
                          struct orr_checkpoint_template **ret, const char *call);
/* Adds copies of entries, whose first fields are filled. Errors, after a message: -EINVAL,
 * -EBUSY: it is frozen; -ENOMEM. */
int orr_checkpoint_add(struct orr_checkpoint_template *t,
                       const struct orr_checkpoint_entry *entry, const char *call);
/* No more entries; ranks wait for each other. Errors, after a message: -EINVAL: ranks have
 * different templates; -EBUSY, -ENOMEM, -EDEADLK. */
int orr_checkpoint_freeze(struct orr_checkpoint_template *t, const char *call);
/* Frees one that is not frozen. */
void orr_checkpoint_discard(struct orr_checkpoint_template *t);

/* A checkpoint. Errors, after a message: -EINVAL: it is not frozen. */
int orr_checkpoint_submit(struct orr_checkpoint_template *t, int priority,
                          const char *call);

void orr_checkpoint_print(const struct orr_checkpoint_template *t);

/* mpi/restore.c: the values of the newest complete checkpoint in the folder become those
 * of the template's entries; *number is its number. Errors: -ENOENT: there is none, or no
 * folder; after a message -EINVAL: it is one of other ranks, or of another template, or
 * this one is not frozen; -EIO, -ENOMEM, -EDEADLK. Then nothing has changed. */
int orr_checkpoint_restore(struct orr_checkpoint_template *t, int *number,
                           const char *call);
