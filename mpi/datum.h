/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/datum.h - what a datum is for several ranks: its tag, the rank that owns it, which
 * ranks have its present value. A handle leads to it by its `remote`.
 *
 * All of it but the table of tags is of the thread that submits: programs that register,
 * insert and flush in several threads must keep those of one datum apart, as they do with
 * its tasks.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/list.h"
#include "core/remote.h"
#include "mpi/members.h"

struct orr_bag;
struct orr_comm;
struct orr_rank;

enum { ORR_NO_RANK = -1, ORR_EVERY_RANK = -2 /* STARPU_MPI_PER_NODE */ };

struct orr_datum {
    struct orr_rank *rank; /* [const] */
    struct orr_handle *handle;
    const struct orr_comm *comm;
    int owner;   /* in the communicator, or one of the two above */
    int64_t tag; /* -1: none */
    struct orr_datum *next; /* [rank's lock] in the table, by tag */
    struct orr_list all;    /* [rank's lock] among those of the rank */
    atomic_ulong version;   /* how many that write it were submitted on this rank */

    /* The cache. */
    bool received;       /* this rank has the owner's present value */
    bool leftover;       /* this rank, which is not the owner, may have some value */
    uint64_t *sent;      /* a bit per rank of the communicator: it has it; owned, or NULL */
    unsigned sent_words; /* in use; of other ranks nothing was sent */
    struct orr_list cached; /* [rank's lock] among those with any of this */

    /* Of a reduction that is under way, redux.h: a char per rank of the communicator, 1: it
     * has contributed; owned, NULL: none is. */
    char *contributors;
    struct orr_list reduced; /* [rank's lock] among those with one */

    /* [rank's lock] Of sends, coop.h. */
    struct orr_bag *bag; /* that takes more; NULL: none */
    int nsends;          /* that the next one will have, 0: it is not known */
};

static inline struct orr_datum *orr_datum_of(const struct orr_handle *handle)
{
    return handle->remote;
}

/* The handle's datum, made if there is none; NULL without memory, after a message. */
struct orr_datum *orr_datum_need(struct orr_rank *rank, struct orr_handle *handle,
                                 const char *call);

/* The tag and the owner; -1 leaves a field as it is. Errors, after a message that names
 * `call`: -EEXIST, another datum of this rank has the tag; -EINVAL, no such rank; -ENOMEM. */
int orr_datum_set(struct orr_rank *rank, struct orr_handle *handle, int64_t tag, int owner,
                  const struct orr_comm *comm, const char *call);

/* The datum with that tag; NULL: none. Any context. */
struct orr_datum *orr_datum_find(struct orr_rank *rank, int64_t tag);

/* Forgets which ranks have its value, without a word to that: its owner has changed, or its
 * handle ends. */
void orr_datum_forget(struct orr_datum *datum);

/* It leaves the list of those with flags of the cache, if it has none. */
void orr_datum_unlist(struct orr_datum *datum);

/* The application names it no more: its tag is free, nothing is remembered of it, and no
 * list but that of all data has it. By the thread that submits its tasks. */
void orr_datum_leave(struct orr_datum *datum);

/* The datum's handle ends. */
void orr_datum_end(struct orr_datum *datum);

/* Takes all data of the rank from their handles, which stay. */
void orr_data_table_done(struct orr_rank *rank);
