/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/window.h - a robust estimate from the measures of one entry as they
 * come in: a mean that a dozen spikes do not move, the recent samples, and
 * means over blocks of the whole series. Owned by one thread at a time.
 *
 * The rule, with r = 1 + STARPU_HISTORY_MAX_ERROR / 100 (1.5) and the level
 * the mean of what was kept since the last restart:
 *
 * - A measure above r × level or below level / r is set aside: counted, and
 *   remembered, but in no mean. The first ORR_WINDOW_YOUNG measures of all, or
 *   of a level that has risen, are compared with their median instead of a
 *   level.
 * - ORR_WINDOW_LOW measures below in a row restart the window with these:
 *   nothing makes a kernel run faster than it can, so what came before was
 *   disturbed (library initialisation, a lock, a slow clock).
 * - ORR_WINDOW_HIGH measures above among the last 64 are not spikes. If the
 *   last 12 all are, the level has changed and the window restarts with what
 *   lies above; otherwise there are two levels, and both count, unless the higher is
 *   more than ORR_WINDOW_FAR times the lower.
 *
 * - Fewer that come again and again are what the kernel takes now and then (another
 *   path for some data), not bad measures: after ORR_WINDOW_SETTLED measures, of which
 *   one in ORR_WINDOW_SELDOM was set aside, two or more times in either half of the
 *   last 128 (those in a row are once), those of up to ORR_WINDOW_FAR times the level
 *   count. This is looked at over several runs, too, when they save.
 *
 * - Measures of two populations that come in the same shares throughout the last 128
 *   (robust.h) all count, whatever of them was set aside: the levels are then the 5 % and
 *   the 95 % quantile of both. This is looked at every 64 measures, and over several runs
 *   when they save.
 *
 * So 12 spikes in a row, or 23 among 64, move nothing, and whatever was
 * measured first, ORR_WINDOW_LOW good measures correct it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "perfmodel/robust.h"
#include "perfmodel/side.h"

#define ORR_WINDOW_YOUNG   16
#define ORR_WINDOW_LOW     5
#define ORR_WINDOW_HIGH    24
#define ORR_WINDOW_SETTLED 256
#define ORR_WINDOW_SELDOM  32
#define ORR_WINDOW_FAR     10
#define ORR_WINDOW_RATIO   1.5 /* usually */
#define ORR_WINDOW_BLOCKS  128 /* at most; then neighbours are joined */

struct orr_window {
    double low, high; /* the levels that count, equal when there is one; NaN:
                       * none yet */
    double sum, n;    /* of what was kept since the restart; half of it is
                       * forgotten now and then */
    double ratio;     /* so far from a level a measure is set aside */
    uint64_t nseen, noutliers; /* since the window was made */
    uint64_t last64;     /* bit i: the i-th measure before the last was high */
    unsigned age;        /* measures since the restart, up to YOUNG */
    unsigned low_streak; /* measures in a row that were low */
    unsigned restarts;
    uint64_t restarted; /* nseen then */

    /* The last samples, a ring: how many, where the next one goes, how many of
     * the last are not in blocks yet. */
    unsigned nrecent, next, unblocked;
    double recent[ORR_WINDOW_SIZE];
    bool set_aside[ORR_WINDOW_SIZE];

    /* What no file has yet. */
    uint64_t fresh, fresh_outliers; /* of nseen, noutliers; the second may be
                                     * negative: some were accepted later */
    uint64_t npreempted; /* measures less the time that others had */
    uint32_t nfirst;
    double first_sum;
    struct orr_blocks {
        unsigned size, n; /* measures in a block; full blocks */
        double tail_sum, tail_n;
        double mean[ORR_WINDOW_BLOCKS];
    } blocks;
    bool blocks_restarted; /* a restart: the file's blocks do not count */
};

/* An empty window. max_error in percent. */
void orr_window_init(struct orr_window *window, double max_error);

/* Starts from earlier measures: a mean of n, on two levels unless both are 0. */
void orr_window_begin_levels(struct orr_window *window, double mean, double n,
                             double low, double high);

/* Sets the levels of a side entry from its recent samples; 0 both if there is one, or
 * the samples are few. ratio: see above. */
void orr_window_find_levels(struct orr_side_entry *entry, double ratio);

/* Where the estimate of a side entry and most of what it is of lie: from the 5 % to the
 * 95 % quantile of the recent samples that were not set aside and of the blocks, means
 * and levels in it. NaN both: there are none. */
void orr_window_range(const struct orr_side_entry *entry, double *ret_lo,
                      double *ret_hi);

/* Adds one measure that stands for `weight` runs. Takes some 10 ns. Returns
 * true when the estimate has jumped: the window was restarted. */
bool orr_window_add(struct orr_window *window, double duration,
                    uint32_t weight);

/* Notes a first run, which includes loading and initialisation. */
void orr_window_first(struct orr_window *window, double duration);

/* The estimate of the next measure; NaN before the first. */
double orr_window_estimate(const struct orr_window *window);

/* The number of measures of the estimate. */
double orr_window_weight(const struct orr_window *window);

/* Copies the window, and counts what is fresh in it as saved; untake gives it
 * back when it could not be. */
void orr_window_take(struct orr_window *window, struct orr_window *ret);
void orr_window_untake(struct orr_window *window,
                       const struct orr_window *taken);

/* Joins what was taken to what the side file holds of the entry, which may be
 * all zero; devices, impl, hash, row_* and last_time are the caller's. Errors:
 * -ENOMEM; `entry` is then for orr_side_free alone. */
int orr_window_save(const struct orr_window *taken,
                    struct orr_side_entry *entry);
