/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/side.c - side files as data and on disk; side_text.c has their
 * grammar. No threads.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "perfmodel/side.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/grow.h"
#include "perfmodel/disk.h"
#include "perfmodel/side_private.h"

#define MODELS "codelets/45/"
#define SIDES  "codelets/45.orrery/"

int orr_side_path(const char *model_path, char **ret)
{
    const char *name = strrchr(model_path, '/');
    size_t before;

    if (!name++)
        return -EINVAL;
    before = (size_t)(name - model_path);
    if (before < strlen(MODELS) ||
        strncmp(name - strlen(MODELS), MODELS, strlen(MODELS)) != 0)
        return -EINVAL;
    before -= strlen(MODELS);
    if (asprintf(ret, "%.*s" SIDES "%s", (int)before, model_path, name) < 0)
        return -ENOMEM;
    return 0;
}

struct orr_side *orr_side_new(void)
{
    return calloc(1, sizeof(struct orr_side));
}

static void entry_done(struct orr_side_entry *entry)
{
    free(entry->devices);
    free(entry->recent);
    free(entry->set_aside);
    free(entry->blocks);
}

void orr_side_free(struct orr_side *side)
{
    if (!side)
        return;
    for (unsigned i = 0; i < side->nentries; i++)
        entry_done(&side->entries[i]);
    free(side->entries);
    free(side);
}

/* --- entries --- */

struct orr_side_entry *orr_side_get(const struct orr_side *side,
                                    const struct orr_device *devices,
                                    unsigned ndevices, unsigned impl,
                                    uint32_t hash)
{
    for (unsigned i = 0; side && i < side->nentries; i++) {
        struct orr_side_entry *entry = &side->entries[i];

        if (entry->hash == hash && entry->impl == impl &&
            orr_devices_equal(entry->devices, entry->ndevices, devices,
                              ndevices, 0))
            return entry;
    }
    return NULL;
}

struct orr_side_entry *orr_side_append(struct orr_side *side,
                                       const struct orr_device *devices,
                                       unsigned ndevices, unsigned impl,
                                       uint32_t hash)
{
    struct orr_side_entry *entry;
    struct orr_device *copy;

    copy = malloc((ndevices ? ndevices : 1) * sizeof(*copy));
    if (!copy)
        return NULL;
    memcpy(copy, devices, ndevices * sizeof(*copy));
    entry = orr_array_add(side->entries, side->nentries);
    if (!entry) {
        free(copy);
        return NULL;
    }
    *entry = (struct orr_side_entry){
        .ndevices = ndevices, .devices = copy, .impl = impl, .hash = hash};
    return entry;
}

void orr_side_remove(struct orr_side *side, unsigned at)
{
    entry_done(&side->entries[at]);
    side->nentries--;
    memmove(&side->entries[at], &side->entries[at + 1],
            (side->nentries - at) * sizeof(side->entries[0]));
}

/* Model files have seven digits. */
bool orr_side_matches(const struct orr_side_entry *entry,
                      const struct orr_model_row *row)
{
    return entry->row_n == row->n &&
           fabs(entry->row_sum - row->sum) <= 2e-6 * fabs(row->sum);
}

double orr_row_estimate(const struct orr_model_row *row,
                        const struct orr_side_entry *entry, uint32_t *ret_n)
{
    uint64_t kept = entry ? entry->nseen - entry->noutliers : 0;

    *ret_n = row->n;
    if (entry && entry->estimate > 0 && (row->n > 0 || kept > 0)) {
        if (kept > row->n)
            *ret_n = kept < UINT32_MAX ? (uint32_t)kept : UINT32_MAX;
        return entry->estimate;
    }
    if (row->n > 0 && row->mean > 0)
        return row->mean;
    *ret_n = 0;
    return (double)NAN;
}

const char *orr_row_unknown(const struct orr_model_row *row,
                            const struct orr_side_entry *entry)
{
    uint32_t n;

    if (orr_row_estimate(row, entry, &n) > 0)
        return NULL;
    if (row->n > 0)
        return "its mean is no time that a kernel can take";
    return "no sample of it counts: there are first runs, or outliers, alone";
}

const struct orr_side_entry *orr_side_find(const struct orr_side *side,
                                           const struct orr_device *devices,
                                           unsigned ndevices, unsigned impl,
                                           const struct orr_model_row *row,
                                           bool *ret_stale)
{
    const struct orr_side_entry *entry =
        orr_side_get(side, devices, ndevices, impl, row->hash);
    bool stale = entry && !orr_side_matches(entry, row);

    if (ret_stale)
        *ret_stale = stale;
    return stale ? NULL : entry;
}

/* --- files --- */

int orr_side_read(const char *path, enum orr_side_part part,
                  struct orr_side **ret, struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    int fd, rc = orr_disk_open(path, O_RDONLY, &fd, err);

    if (rc)
        return rc;
    /* No lock: side files are only ever replaced in one step. */
    if (part == ORR_SIDE_ESTIMATES)
        rc = orr_disk_read_until(fd, path, ORR_SIDE_SAMPLES_MARK, &text, &size,
                                 err);
    else
        rc = orr_disk_read(fd, path, &text, &size, err);
    close(fd);
    if (!rc)
        rc = orr_side_parse(path, text, size, part, ret, err);
    free(text);
    return rc;
}

int orr_side_write(const char *path, const struct orr_side *side,
                   struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    int rc;

    if (orr_side_format(side, &text, &size))
        return orr_fail(err, -ENOMEM, "%s: out of memory.", path);
    rc = orr_disk_replace(path, text, size, err);
    free(text);
    return rc;
}
