/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/side.h - the file beside a model file with what version 45 has no
 * room for: recent samples, outliers, first runs. Plain data, no threads.
 *
 * A model file <dir>/codelets/45/NAME has its side file in
 * <dir>/codelets/45.orrery/NAME. Each of its entries names the n and sum of the
 * row it belongs to; when they differ, another program has written the model
 * file since, and the entry is stale.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "perfmodel/store.h"

#define ORR_SIDE_VERSION 3   /* 1 had no levels, 2 no preempted measures */
#define ORR_WINDOW_SIZE  128 /* recent samples that are kept, at most */

/* The measures of one row. µs (J in energy models). */
struct orr_side_entry {
    unsigned ndevices;
    struct orr_device *devices; /* owned */
    unsigned impl;
    uint32_t hash;
    uint32_t row_n; /* of the row it belongs to, as the file has them */
    double row_sum;

    double estimate;    /* the estimate */
    uint64_t nseen;     /* measures; a first run is one where there were fewer of
                         * them than first runs until then */
    uint64_t noutliers; /* of these set aside when they came */
    uint64_t npreempted; /* during which others had the processor: without that
                          * time */
    uint32_t nfirst;    /* first runs: one per process */
    double first_sum;   /* Σ of their durations */
    int64_t last_time;  /* seconds since 1970 of the last measure */
    double low, high;   /* what counts lies on two levels; 0 both: on one */

    unsigned nrecent; /* samples kept, the oldest first */
    double *recent;   /* owned */
    bool *set_aside;  /* owned, beside recent: an outlier when it came */
    /* Means of `blocksize` consecutive measures that were no outliers, over
     * the whole life of the entry, the oldest first: for intervals. */
    unsigned blocksize, nblocks;
    double *blocks;          /* owned */
    double tail_sum, tail_n; /* Σ and number of measures of the next block */
};

struct orr_side {
    unsigned nentries, room;
    struct orr_side_entry *entries; /* owned */
};

/* The path of the side file of a model file, for the caller to free. Errors:
 * -ENOMEM; -EINVAL for a path that is not in a directory codelets/45. */
int orr_side_path(const char *model_path, char **ret);

/* Whether a side file is read with recent samples and blocks, or only for the
 * estimates: the samples are then not parsed. */
enum orr_side_part { ORR_SIDE_ESTIMATES, ORR_SIDE_SAMPLES };

/* Reads the side file `path`. *ret is owned by the caller. Errors: -ENOENT,
 * silently; -EINVAL with "path:line: reason"; -ENOMEM; those of open, read. */
int orr_side_read(const char *path, enum orr_side_part part,
                  struct orr_side **ret, struct orr_error *err);

/* Writes it and puts it in place in one step; makes the directory. Call it
 * under the lock of the model file's update. */
int orr_side_write(const char *path, const struct orr_side *side,
                   struct orr_error *err);

/* Text to data and back. Formatted text is for the caller to free(). */
int orr_side_parse(const char *name, const char *text, size_t size,
                   enum orr_side_part part, struct orr_side **ret,
                   struct orr_error *err);
int orr_side_format(const struct orr_side *side, char **ret_text,
                    size_t *ret_size);

/* An empty one, owned by the caller; NULL without memory. */
struct orr_side *orr_side_new(void);
void orr_side_free(struct orr_side *side);

/* The first entry of these devices (exactly), implementation and footprint,
 * whether it belongs to a row or not; NULL without. Lent until an append. */
struct orr_side_entry *orr_side_get(const struct orr_side *side,
                                    const struct orr_device *devices,
                                    unsigned ndevices, unsigned impl,
                                    uint32_t hash);

/* Adds an entry, all zero but for its key, at the end. NULL without memory.
 * Lent until the next append. */
struct orr_side_entry *orr_side_append(struct orr_side *side,
                                       const struct orr_device *devices,
                                       unsigned ndevices, unsigned impl,
                                       uint32_t hash);

/* Takes out entry number `at`; the others keep their order. */
void orr_side_remove(struct orr_side *side, unsigned at);

/* Whether the entry belongs to the row in its present state. */
bool orr_side_matches(const struct orr_side_entry *entry,
                      const struct orr_model_row *row);

/* What a row is estimated to take, everywhere: the estimate of its side entry (NULL:
 * none that belongs to it), else its mean. *ret_n: the samples behind that, 0 if it is
 * not known; the result is then NaN. StarPU's rule empties a row that has as many
 * outliers as samples, such as one of a kernel so short that its times scatter; the side
 * entry's samples are still there. */
double orr_row_estimate(const struct orr_model_row *row,
                        const struct orr_side_entry *entry, uint32_t *ret_n);

/* Why it is not known, in words, everywhere the same; NULL: it is. */
const char *orr_row_unknown(const struct orr_model_row *row,
                            const struct orr_side_entry *entry);

/* The entry for a row of a comb and implementation, NULL without. *ret_stale
 * (unless NULL) says that there is one, but that the row has changed since: it
 * is not returned then. Lent. */
const struct orr_side_entry *orr_side_find(const struct orr_side *side,
                                           const struct orr_device *devices,
                                           unsigned ndevices, unsigned impl,
                                           const struct orr_model_row *row,
                                           bool *ret_stale);
