/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/restore.c - a run goes on from the checkpoint of an earlier one: checkpoint.h. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "mpi/cache.h"
#include "mpi/checkpoint.h"
#include "mpi/layout.h"
#include "mpi/redux.h"
#include "mpi/saved.h"

/* The values that this rank needs, by entry. */
struct loading {
    const struct orr_checkpoint_template *t;
    struct orr_saved_record *values; /* `bytes` owned; NULL: not found */
    bool *needed;
};

static int backup_of(const struct orr_checkpoint_template *t, unsigned e)
{
    const struct orr_checkpoint_entry *entry = &t->entries[e];

    return entry->handle ? entry->backup : entry->backup_of(t->rank->number);
}

static void loading_done(struct loading *loading)
{
    for (unsigned e = 0; loading->values && e < loading->t->nentries; e++)
        free((void *)(uintptr_t)loading->values[e].bytes);
    free(loading->values);
    free(loading->needed);
}

static int loading_begin(struct loading *loading, const struct orr_checkpoint_template *t)
{
    *loading = (struct loading){
        .t = t,
        .values = calloc(t->nentries + 1, sizeof(*loading->values)),
        .needed = calloc(t->nentries + 1, sizeof(*loading->needed)),
    };
    if (!loading->values || !loading->needed) {
        loading_done(loading);
        return -ENOMEM;
    }
    for (unsigned e = 0; e < t->nentries; e++)
        loading->needed[e] = !t->entries[e].handle ||
                             orr_datum_of(t->entries[e].handle)->owner == t->rank->number;
    return 0;
}

static int take(void *arg, const struct orr_saved_record *record)
{
    struct loading *loading = arg;
    const struct orr_checkpoint_template *t = loading->t;
    struct orr_saved_record *value;
    void *bytes;

    if (record->entry >= t->nentries || !loading->needed[record->entry] ||
        (!t->entries[record->entry].handle && record->source != t->rank->number))
        return 0;
    value = &loading->values[record->entry];
    bytes = malloc(record->size ? record->size : 1);
    if (!bytes)
        return -ENOMEM;
    if (record->size)
        memcpy(bytes, record->bytes, record->size);
    free((void *)(uintptr_t)value->bytes);
    *value = *record;
    value->bytes = bytes;
    return 0;
}

/* Whether what was found is what the entry has room for. */
static int check_value(const struct orr_checkpoint_template *t, unsigned e,
                       const struct orr_saved_record *value, struct orr_error *err)
{
    const struct orr_checkpoint_entry *entry = &t->entries[e];
    size_t size = entry->size;

    if (!value->bytes)
        return orr_fail(err, -EINVAL,
                        "it has no value of entry %u for rank %d: give the template the "
                        "entries, and the ranks that keep them, that it had then",
                        e, t->rank->number);
    if (entry->handle) {
        starpu_data_handle_t handle = orr_handle_public(entry->handle);

        if (orr_layout_packs(handle))
            return 0;
        size = starpu_data_get_size(handle);
    }
    return size == value->size
               ? 0
               : orr_fail(err, -EINVAL,
                          "entry %u has %llu bytes there, and %zu in this template", e,
                          (unsigned long long)value->size, size);
}

/* Each rank reads its own file, so that all are looked at, and those with its values. */
static int load_parts(struct loading *loading, const struct orr_saved *saved,
                      const struct orr_saved_manifest *manifest, struct orr_error *err)
{
    const struct orr_checkpoint_template *t = loading->t;
    int rc = 0;

    for (int r = 0; rc == 0 && r < t->rank->size; r++) {
        bool reads = r == t->rank->number;

        for (unsigned e = 0; e < t->nentries && !reads; e++)
            reads = loading->needed[e] && backup_of(t, e) == r;
        if (reads)
            rc = orr_saved_read_part(saved, r, &manifest->sums[r], take, loading, err);
    }
    for (unsigned e = 0; rc == 0 && e < t->nentries; e++)
        if (loading->needed[e])
            rc = check_value(t, e, &loading->values[e], err);
    return rc;
}

static int load(struct loading *loading, const struct orr_saved *saved,
                struct orr_error *err)
{
    const struct orr_checkpoint_template *t = loading->t;
    struct orr_saved_manifest manifest;
    int rc;

    if (!saved->folder)
        return orr_fail(err, -EINVAL,
                        "ORRERY_MPI_CHECKPOINT_DIR is set on rank 0, and not here");
    rc = orr_saved_read_manifest(saved, &manifest, err);
    if (rc == 0 && manifest.nranks != t->rank->size)
        rc = orr_fail(err, -EINVAL,
                      "it was made by %d ranks, and these are %d: start as many",
                      manifest.nranks, t->rank->size);
    else if (rc == 0 && manifest.nentries != t->nentries)
        rc = orr_fail(err, -EINVAL, "it has %u entries, and this template %zu",
                      manifest.nentries, t->nentries);
    if (rc == 0)
        rc = load_parts(loading, saved, &manifest, err);
    free(manifest.sums);
    return rc;
}

/* --- what ranks tell each other --- */

/* What rank 0 says, and the worst of what all say. */
struct word {
    uint64_t number;
    int32_t error;
};

static int agree(struct orr_rank *rank, struct word mine, struct word *first, int *worst,
                 const char *call)
{
    struct word *all = calloc((size_t)rank->size, sizeof(*all));
    struct orr_meeting meeting = {
        .kind = ORR_MEETING_GATHER, .mine = &mine, .all = all, .bytes = sizeof(mine)};
    int rc;

    if (!all)
        orr_rank_fail(rank, "%s: out of memory", call);
    rc = orr_rank_meet(rank, &meeting, call);
    *first = all[0];
    *worst = 0;
    /* An error that is more than damage goes before. */
    for (int r = 0; rc == 0 && r < rank->size; r++)
        if (all[r].error && (!*worst || *worst == -EBADMSG))
            *worst = all[r].error;
    free(all);
    return rc;
}

/* --- the values --- */

static int fill(struct orr_handle *handle, const struct orr_saved_record *value,
                const char *call)
{
    starpu_data_handle_t public = orr_handle_public(handle);
    struct orr_layout layout;
    int rc = starpu_data_acquire_on_node(public, STARPU_MAIN_RAM, STARPU_W);

    if (rc)
        return rc;
    rc = orr_layout_receive(&layout, public, STARPU_MAIN_RAM, value->size, call);
    if (rc == 0) {
        orr_parts_unpack(layout.parts, layout.nparts, value->bytes, value->size);
        rc = orr_layout_received(&layout, public, value->size, call);
        orr_layout_done(&layout);
    }
    starpu_data_release_on_node(public, STARPU_MAIN_RAM);
    return rc;
}

/* All ranks: what others have of the owners' values is gone. */
static void fill_all(struct orr_checkpoint_template *t, const struct loading *loading,
                     const char *call)
{
    for (unsigned e = 0; e < t->nentries; e++) {
        struct orr_checkpoint_entry *entry = &t->entries[e];
        const struct orr_saved_record *value = &loading->values[e];

        if (entry->handle) {
            orr_redux_before(orr_datum_of(entry->handle), STARPU_R, call);
            orr_cache_flush(orr_datum_of(entry->handle));
            entry->owner = ORR_NO_RANK;
            if (loading->needed[e] && fill(entry->handle, value, call))
                orr_rank_fail(t->rank, "%s: the datum of entry %u could not be filled",
                              call, e);
        } else if (entry->size) {
            memcpy(entry->value, value->bytes, entry->size);
        }
    }
}

/* One candidate: 0, or what is wrong with it, the same on all ranks. */
static int try_one(struct orr_checkpoint_template *t, const struct orr_saved *saved,
                   const char *call)
{
    struct loading loading;
    struct orr_error err = {""};
    struct word word = {.number = saved->number}, first;
    int rc, worst;

    word.error = loading_begin(&loading, t);
    if (word.error)
        return -ENOMEM;
    word.error = load(&loading, saved, &err);
    if (word.error == -ENOENT) /* it was there when rank 0 looked */
        word.error = -EBADMSG;
    if (word.error == -EBADMSG)
        orr_log_warning("%s: checkpoint %llu is left out: %s", call,
                        (unsigned long long)saved->number, err.text);
    else if (word.error)
        orr_log_error("%s: checkpoint %llu in \"%s\": %s", call,
                      (unsigned long long)saved->number, saved->folder ? saved->folder : "",
                      err.text);
    rc = agree(t->rank, word, &first, &worst, call);
    if (rc == 0)
        rc = worst;
    if (rc == 0)
        fill_all(t, &loading, call);
    loading_done(&loading);
    return rc;
}

static int check(struct orr_checkpoint_template *t, const char *call)
{
    if (!t->frozen) {
        orr_log_error("%s: template %d is not frozen: call "
                      "starpu_mpi_checkpoint_template_freeze first",
                      call, t->id);
        return -EINVAL;
    }
    for (unsigned e = 0; e < t->nentries; e++)
        if (t->entries[e].handle && (orr_handle_trouble(t->entries[e].handle) ||
                                     !orr_datum_of(t->entries[e].handle))) {
            orr_log_error("%s: the datum of entry %u has been unregistered", call, e);
            return -EINVAL;
        }
    return orr_may_block(call) ? 0 : -EDEADLK;
}

int orr_checkpoint_restore(struct orr_checkpoint_template *t, int *number,
                           const char *call)
{
    struct orr_rank *rank = t->rank;
    struct orr_saved saved = {
        .folder = orr_config_string(&rank->rt->config, ORR_CFG_MPI_CHECKPOINT_DIR),
        .id = t->id,
        .domain = t->domain,
        .number = UINT64_MAX,
    };
    int rc = check(t, call);

    if (rc == 0)
        rc = orr_outside_wait(rank->rt, call);
    if (rc == 0 && rank->conf.pretended_size)
        return -ENOENT;
    while (rc == 0) {
        struct word mine = {0}, first;
        int none;

        if (rank->number == 0 && saved.folder)
            mine.number =
                orr_saved_newest(saved.folder, t->id, t->domain, saved.number);
        rc = agree(rank, mine, &first, &none, call);
        if (rc == 0 && first.number == 0)
            rc = -ENOENT;
        if (rc)
            break;
        saved.number = first.number;
        rc = try_one(t, &saved, call);
        if (rc == -EBADMSG) {
            rc = 0;
            continue;
        }
        break;
    }
    if (rc)
        return rc;
    /* Those that were left out are replaced by the next ones. */
    if (!t->submitted)
        t->number = saved.number;
    *number = saved.number > INT_MAX ? INT_MAX : (int)saved.number;
    return 0;
}
