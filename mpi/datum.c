/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/datum.c - see datum.h. */
#include "mpi/datum.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/splitmix.h"
#include "mpi/rank.h"

enum { FEWEST_BUCKETS = 256 };

/* --- by tag --- */

static struct orr_datum **bucket_of(const struct orr_data_table *table, int64_t tag)
{
    uint64_t seed = (uint64_t)tag;

    return &table->buckets[orr_splitmix(&seed) & (table->nbuckets - 1)];
}

static bool grow_table(struct orr_data_table *table)
{
    struct orr_data_table old = *table;
    size_t n = old.nbuckets ? 2 * old.nbuckets : FEWEST_BUCKETS;
    struct orr_datum **buckets = calloc(n, sizeof(struct orr_datum *));

    if (!buckets)
        return old.nbuckets > 0;
    table->buckets = buckets;
    table->nbuckets = n;
    for (size_t i = 0; i < old.nbuckets; i++)
        while (old.buckets[i]) {
            struct orr_datum *datum = old.buckets[i];
            struct orr_datum **to = bucket_of(table, datum->tag);

            old.buckets[i] = datum->next;
            datum->next = *to;
            *to = datum;
        }
    free(old.buckets);
    return true;
}

static struct orr_datum *find_locked(struct orr_rank *rank, int64_t tag)
    ORR_REQUIRES(rank->lock)
{
    struct orr_datum *datum = NULL;

    if (rank->data.nbuckets)
        datum = *bucket_of(&rank->data, tag);
    while (datum && datum->tag != tag)
        datum = datum->next;
    return datum;
}

struct orr_datum *orr_datum_find(struct orr_rank *rank, int64_t tag)
{
    struct orr_datum *datum;

    orr_lock(&rank->lock);
    datum = find_locked(rank, tag);
    orr_unlock(&rank->lock);
    return datum;
}

static void forget_tag_locked(struct orr_rank *rank, struct orr_datum *datum)
    ORR_REQUIRES(rank->lock)
{
    struct orr_datum **link;

    if (datum->tag == -1)
        return;
    link = bucket_of(&rank->data, datum->tag);
    while (*link != datum)
        link = &(*link)->next;
    *link = datum->next;
    rank->data.n--;
    datum->tag = -1;
}

static int set_tag(struct orr_rank *rank, struct orr_datum *datum, int64_t tag,
                   const char *call)
{
    struct orr_data_table *table = &rank->data;
    struct orr_datum *other;
    int rc = 0;

    orr_lock(&rank->lock);
    other = find_locked(rank, tag);
    if (other && other != datum) {
        rc = -EEXIST;
    } else if (!other) {
        forget_tag_locked(rank, datum);
        if (table->n >= table->nbuckets && !grow_table(table)) {
            rc = -ENOMEM;
        } else {
            struct orr_datum **bucket = bucket_of(table, tag);

            datum->tag = tag;
            datum->next = *bucket;
            *bucket = datum;
            table->n++;
        }
    }
    orr_unlock(&rank->lock);
    if (rc == -EEXIST)
        orr_log_error("%s: tag %lld belongs to another datum of this rank: give each "
                      "datum a tag of its own, or unregister that one first",
                      call, (long long)tag);
    else if (rc)
        orr_log_error("%s: out of memory", call);
    return rc;
}

/* --- their copies --- */

static bool has_flags(const struct orr_datum *datum)
{
    return datum->received || datum->sent_words;
}

void orr_datum_unlist(struct orr_datum *datum)
{
    struct orr_rank *rank = datum->rank;

    if (has_flags(datum) || orr_link_free(&datum->cached))
        return;
    orr_lock(&rank->lock);
    orr_list_remove(&datum->cached);
    orr_unlock(&rank->lock);
}

void orr_datum_forget(struct orr_datum *datum)
{
    datum->received = false;
    datum->sent_words = 0;
    free(datum->sent); /* of another communicator, maybe */
    datum->sent = NULL;
    orr_datum_unlist(datum);
}

/* --- their life --- */

struct orr_datum *orr_datum_need(struct orr_rank *rank, struct orr_handle *handle,
                                 const char *call)
{
    struct orr_datum *datum = orr_datum_of(handle), *other;

    if (datum)
        return datum;
    datum = calloc(1, sizeof(*datum));
    if (!datum) {
        orr_log_error("%s: out of memory", call);
        return NULL;
    }
    datum->rank = rank;
    datum->handle = handle;
    datum->owner = ORR_NO_RANK;
    datum->tag = -1;
    datum->comm = orr_rank_comm_at(rank, 0);
    /* Messages of one handle may be started in several threads. */
    orr_lock(&rank->lock);
    other = orr_datum_of(handle);
    if (!other) {
        orr_list_append(&rank->data.all, &datum->all);
        handle->remote = datum;
    }
    orr_unlock(&rank->lock);
    if (other)
        free(datum);
    return other ? other : datum;
}

int orr_datum_set(struct orr_rank *rank, struct orr_handle *handle, int64_t tag, int owner,
                  const struct orr_comm *comm, const char *call)
{
    const char *trouble = orr_handle_trouble(handle);
    struct orr_datum *datum;
    int rc = 0;

    if (trouble) {
        orr_log_error("%s: the handle is %s", call, trouble);
        return -EINVAL;
    }
    if (owner >= comm->size || owner < ORR_EVERY_RANK) {
        orr_log_error("%s: rank %d is none of the communicator, which has ranks 0 to %d",
                      call, owner, comm->size - 1);
        return -EINVAL;
    }
    datum = orr_datum_need(rank, handle, call);
    if (!datum)
        return -ENOMEM;
    if (tag != -1)
        rc = set_tag(rank, datum, tag, call);
    if (rc || owner == -1)
        return rc;
    if (datum->comm != comm)
        orr_datum_forget(datum);
    datum->owner = owner;
    datum->comm = comm;
    return 0;
}

void orr_datum_leave(struct orr_datum *datum)
{
    struct orr_rank *rank = datum->rank;

    orr_datum_forget(datum);
    orr_lock(&rank->lock);
    forget_tag_locked(rank, datum);
    if (datum->contributors)
        orr_list_remove(&datum->reduced);
    orr_unlock(&rank->lock);
    free(datum->contributors);
    datum->contributors = NULL;
}

void orr_datum_end(struct orr_datum *datum)
{
    struct orr_rank *rank = datum->rank;

    orr_datum_leave(datum);
    orr_lock(&rank->lock);
    orr_list_remove(&datum->all);
    orr_unlock(&rank->lock);
    datum->handle->remote = NULL;
    free(datum);
}

void orr_data_table_done(struct orr_rank *rank)
{
    struct orr_data_table *table = &rank->data;

    while (!orr_list_empty(&table->all))
        orr_datum_end(orr_container(table->all.next, struct orr_datum, all));
    free(table->buckets);
    table->buckets = NULL;
    table->nbuckets = 0;
}
