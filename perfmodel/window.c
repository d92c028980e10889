/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmodel/window.c - see window.h. No threads, no allocation but in save. */
#include "perfmodel/window.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this many measures the level halves its weights. */
#define MEMORY 2048

/* --- blocks --- */

/* Joins neighbours: half as many blocks of twice the size. */
static void blocks_join(struct orr_blocks *blocks)
{
    if (blocks->n & 1) { /* the last has no partner: it begins the next one */
        double mean = blocks->mean[--blocks->n];

        blocks->tail_sum += mean * blocks->size;
        blocks->tail_n += blocks->size;
    }
    blocks->n /= 2;
    for (unsigned i = 0; i < blocks->n; i++)
        blocks->mean[i] =
            (blocks->mean[2 * (size_t)i] + blocks->mean[2 * (size_t)i + 1]) / 2;
    blocks->size *= 2;
}

/* The part beyond a block begins the next one, so that all of it counts. */
static void blocks_add(struct orr_blocks *blocks, double mean, double weight)
{
    if (blocks->size == 0)
        blocks->size = 1;
    blocks->tail_sum += mean * weight;
    blocks->tail_n += weight;
    while (blocks->tail_n >= blocks->size) {
        double value = blocks->tail_sum / blocks->tail_n;

        if (blocks->n == ORR_WINDOW_BLOCKS) {
            blocks_join(blocks);
            continue;
        }
        blocks->mean[blocks->n++] = value;
        blocks->tail_n -= blocks->size;
        blocks->tail_sum = value * blocks->tail_n;
    }
}

/* Adds all of `more`, which comes later. */
static void blocks_append(struct orr_blocks *blocks,
                          const struct orr_blocks *more)
{
    if (blocks->size == 0)
        blocks->size = more->size;
    while (blocks->size < more->size)
        blocks_join(blocks);
    for (unsigned i = 0; i < more->n; i++)
        blocks_add(blocks, more->mean[i], more->size);
    if (more->tail_n > 0)
        blocks_add(blocks, more->tail_sum / more->tail_n, more->tail_n);
}

static double blocks_mean(const struct orr_blocks *blocks, double *ret_n)
{
    double sum = blocks->tail_sum, n = blocks->tail_n;

    for (unsigned i = 0; i < blocks->n; i++)
        sum += blocks->mean[i] * blocks->size;
    n += (double)blocks->n * blocks->size;
    *ret_n = n;
    return sum / n;
}

/* --- the ring --- */

/* Where the sample `back` before the newest is (0: the newest). */
static unsigned ring_at(const struct orr_window *w, unsigned back)
{
    return (w->next + 2 * ORR_WINDOW_SIZE - 1 - back) % ORR_WINDOW_SIZE;
}

static void ring_push(struct orr_window *w, double duration, bool aside)
{
    w->recent[w->next] = duration;
    w->set_aside[w->next] = aside;
    w->next = (w->next + 1) % ORR_WINDOW_SIZE;
    if (w->nrecent < ORR_WINDOW_SIZE)
        w->nrecent++;
    if (w->unblocked < ORR_WINDOW_SIZE)
        w->unblocked++;
}

/* The kept ones of the last samples join the blocks, once each. */
static void ring_to_blocks(struct orr_window *w)
{
    for (unsigned back = w->unblocked; back-- > 0;)
        if (!w->set_aside[ring_at(w, back)])
            blocks_add(&w->blocks, w->recent[ring_at(w, back)], 1);
    w->unblocked = 0;
}

static void window_set_aside(struct orr_window *w, unsigned at, bool aside)
{
    if (w->set_aside[at] == aside)
        return;
    w->set_aside[at] = aside;
    w->noutliers += aside ? 1 : UINT64_MAX; /* one less */
    w->fresh_outliers += aside ? 1 : UINT64_MAX;
}

/* --- levels --- */

/* The lower median of the last `count` samples, at most ORR_WINDOW_YOUNG. */
static double young_median(const struct orr_window *w, unsigned count)
{
    double sorted[ORR_WINDOW_YOUNG];

    assert(count > 0 && count <= ORR_WINDOW_YOUNG);
    for (unsigned i = 0; i < count; i++) {
        double value = w->recent[ring_at(w, i)];
        unsigned at = i;

        for (; at > 0 && sorted[at - 1] > value; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = value;
    }
    return sorted[(count - 1) / 2];
}

/* Compares the last `count` samples with `middle`, and takes their level. */
static void window_settle(struct orr_window *w, unsigned count, double middle)
{
    w->sum = w->n = 0;
    for (unsigned back = 0; back < count; back++) {
        unsigned at = ring_at(w, back);
        double value = w->recent[at];

        window_set_aside(
            w, at, value > middle * w->ratio || value < middle / w->ratio);
        if (w->set_aside[at])
            continue;
        w->sum += value;
        w->n++;
    }
    w->low = w->high = w->sum / w->n; /* middle is one of them */
}

/* One level or two, from what was not set aside. */
struct levels {
    double low, high; /* equal when there is one; NaN: nothing was kept */
    double sum, n;
};

/* The populations of all samples, of which the outermost are the levels: what comes between
 * them counts, and what comes a little beyond. */
static bool find_populations(const double *value, unsigned count,
                             struct orr_mixture *ret)
{
    double scratch[ORR_WINDOW_SIZE];

    return count <= ORR_WINDOW_SIZE &&
           orr_mixture_find(value, count, scratch, ret);
}

/* Sets aside what is in no population. */
static void set_aside_outliers(const struct orr_mixture *mixture,
                               const double *value, bool *aside, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        aside[i] = value[i] < mixture->least || value[i] > mixture->most;
}

static bool any_aside(const bool *aside, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (aside[i])
            return true;
    return false;
}

static struct levels split_levels(const double *value, const bool *aside,
                                  unsigned count, double ratio)
{
    struct orr_mixture mixture;
    double least = (double)INFINITY, most = 0, middle, sum[2] = {0}, n[2] = {0};
    struct levels ret;

    for (unsigned i = 0; i < count; i++) {
        if (aside[i])
            continue;
        least = fmin(least, value[i]);
        most = fmax(most, value[i]);
    }
    middle = most > least * ratio ? sqrt(most * least) : (double)INFINITY;
    for (unsigned i = 0; i < count; i++) {
        unsigned upper = value[i] > middle;

        if (aside[i])
            continue;
        sum[upper] += value[i];
        n[upper]++;
    }
    ret.sum = sum[0] + sum[1];
    ret.n = n[0] + n[1];
    ret.low = n[0] > 0 ? sum[0] / n[0] : sum[1] / n[1];
    ret.high = n[1] > 0 ? sum[1] / n[1] : ret.low;
    if (!(ret.high >= ret.low * ratio)) {
        ret.low = ret.high = ret.sum / ret.n;
    } else if (find_populations(value, count, &mixture)) {
        ret.low = mixture.low;
        ret.high = mixture.high;
    }
    return ret;
}

/* The last `count` samples, the newest first. */
static void copy_last(const struct orr_window *w, unsigned count, double *value,
                      bool *aside)
{
    for (unsigned back = 0; back < count; back++) {
        value[back] = w->recent[ring_at(w, back)];
        aside[back] = w->set_aside[ring_at(w, back)];
    }
}

/* Those of what was kept of the last `count` samples, which alone count from now
 * on if `anew`, or if there is one where there were two. */
static void find_levels(struct orr_window *w, unsigned count, bool anew)
{
    double value[ORR_WINDOW_SIZE];
    bool aside[ORR_WINDOW_SIZE];
    struct levels found;

    copy_last(w, count, value, aside);
    found = split_levels(value, aside, count, w->ratio);
    if (!(found.n > 0))
        return;
    if (anew || found.low == found.high) {
        w->sum = found.sum;
        w->n = found.n;
    }
    w->low = found.low;
    w->high = found.high;
}

/* What may count although it is higher than the levels. */
static bool is_near_level(double value, double high, double ratio)
{
    return value > high * ratio && value <= high * ORR_WINDOW_FAR;
}

/* Whether higher ones were set aside again and again of a full ring's samples, from
 * either end: in both halves of them, and of all measures one in SELDOM. They are then
 * no bad measures but what the kernel takes now and then. Those in a row are one time:
 * before the level fell, all were higher. */
static bool outliers_recur(const double *value, const bool *aside, double high,
                           double ratio, uint64_t nseen, uint64_t noutliers)
{
    unsigned n[2] = {0};
    bool before = false;

    if (nseen < ORR_WINDOW_SETTLED || noutliers * ORR_WINDOW_SELDOM < nseen)
        return false;
    for (unsigned i = 0; i < ORR_WINDOW_SIZE; i++) {
        bool higher = aside[i] && is_near_level(value[i], high, ratio);

        n[i >= ORR_WINDOW_SIZE / 2] += higher && !before;
        before = higher;
    }
    return n[0] > 1 && n[1] > 1;
}

static void window_accept_near(const double *value, bool *aside, double high,
                               double ratio)
{
    for (unsigned i = 0; i < ORR_WINDOW_SIZE; i++)
        if (is_near_level(value[i], high, ratio))
            aside[i] = false;
}

/* Only the last `count` samples count from now on. */
static void window_restart(struct orr_window *w, unsigned count)
{
    for (unsigned back = count; back < w->nrecent; back++)
        window_set_aside(w, ring_at(w, back), true);
    w->age = count < ORR_WINDOW_YOUNG ? count : ORR_WINDOW_YOUNG;
    w->low_streak = 0;
    w->last64 = 0;
    w->restarted = w->nseen;
    w->restarts++;
    w->blocks = (struct orr_blocks){0};
    w->blocks_restarted = true;
    w->unblocked = count;
    window_settle(w, count, young_median(w, w->age));
    if (w->age == ORR_WINDOW_YOUNG)
        ring_to_blocks(w);
}

static bool is_low(const struct orr_window *w, double duration)
{
    return duration * w->ratio < w->low;
}

static bool is_high(const struct orr_window *w, double duration)
{
    return duration > w->high * w->ratio;
}

/* By the levels that there are now. */
static void count_low_streak(struct orr_window *w)
{
    w->low_streak = 0;
    while (w->low_streak < ORR_WINDOW_LOW - 1 &&
           is_low(w, w->recent[ring_at(w, w->low_streak)]))
        w->low_streak++;
}

/* The last ones were low. What follows is compared with them, not with a
 * median, in which a dozen spikes would soon be the majority. */
static void window_sink(struct orr_window *w)
{
    window_restart(w, ORR_WINDOW_LOW);
    w->age = ORR_WINDOW_YOUNG;
    ring_to_blocks(w);
    /* They may have come from another level, and the last of them be lower
     * still: those are the first of the next five. */
    count_low_streak(w);
}

/* From now on the kept ones of the last `count` samples count, on two levels. */
static void count_these(struct orr_window *w, unsigned count)
{
    w->last64 = 0;
    w->restarted = w->nseen;
    w->restarts++;
    find_levels(w, count, true);
    w->blocks = (struct orr_blocks){0};
    w->blocks_restarted = true;
    w->unblocked = count;
    ring_to_blocks(w);
}

/* Samples that were set aside as too high are too many for that, if they are all of
 * the last ones or not too far. What is further now and then is no level of the kernel:
 * another program had its processor. Whether the estimate has jumped. */
static bool window_rise(struct orr_window *w)
{
    bool any = false;
    unsigned run = 0, count = w->nrecent < 64 ? w->nrecent : 64;

    while (run < count && w->last64 >> run & 1)
        run++;
    if (run >= ORR_WINDOW_HIGH / 2) {
        window_restart(w, run);
        return true;
    }
    for (unsigned back = 0; back < count; back++) {
        unsigned at = ring_at(w, back);

        if (!(w->last64 >> back & 1) ||
            w->recent[at] > w->high * ORR_WINDOW_FAR)
            continue;
        window_set_aside(w, at, false);
        any = true;
    }
    if (any)
        count_these(w, count);
    return any;
}

/* The last samples are the kernel's populations, which all count: see robust.h. False: they
 * are not, or all count already. */
static bool accept_populations(struct orr_window *w)
{
    double value[ORR_WINDOW_SIZE];
    bool aside[ORR_WINDOW_SIZE];
    struct orr_mixture mixture;
    bool any = false;

    copy_last(w, ORR_WINDOW_SIZE, value, aside);
    if (!any_aside(aside, ORR_WINDOW_SIZE) ||
        !find_populations(value, ORR_WINDOW_SIZE, &mixture))
        return false;
    set_aside_outliers(&mixture, value, aside, ORR_WINDOW_SIZE);
    for (unsigned back = 0; back < ORR_WINDOW_SIZE; back++) {
        unsigned at = ring_at(w, back);

        any |= w->set_aside[at] && !aside[back];
        window_set_aside(w, at, aside[back]);
    }
    if (any) {
        w->age = ORR_WINDOW_YOUNG;
        count_these(w, ORR_WINDOW_SIZE);
        count_low_streak(w);
    }
    return any;
}

/* Every 64 measures. Whether the estimate has jumped. */
static bool look_back(struct orr_window *w)
{
    double value[ORR_WINDOW_SIZE];
    bool aside[ORR_WINDOW_SIZE];

    if (w->nrecent < ORR_WINDOW_SIZE)
        return false;
    if (accept_populations(w))
        return true;
    if (w->nseen - w->restarted < ORR_WINDOW_SIZE)
        return false;
    if (w->low != w->high)
        find_levels(w, ORR_WINDOW_SIZE, false);
    copy_last(w, ORR_WINDOW_SIZE, value, aside);
    if (!outliers_recur(value, aside, w->high, w->ratio, w->nseen,
                        w->noutliers))
        return false;
    window_accept_near(value, aside, w->high, w->ratio);
    for (unsigned back = 0; back < ORR_WINDOW_SIZE; back++)
        window_set_aside(w, ring_at(w, back), aside[back]);
    count_these(w, ORR_WINDOW_SIZE);
    return true;
}

/* --- adding --- */

static bool add_young(struct orr_window *w, double duration)
{
    double before = w->low;

    w->low_streak = w->age > 0 && is_low(w, duration) ? w->low_streak + 1 : 0;
    ring_push(w, duration, false);
    w->age++;
    if (w->low_streak >= ORR_WINDOW_LOW) {
        window_sink(w);
        return true;
    }
    window_settle(w, w->age, young_median(w, w->age));
    if (w->age == ORR_WINDOW_YOUNG)
        ring_to_blocks(w);
    return w->age > 1 &&
           (w->low * w->ratio < before || w->low > before * w->ratio);
}

static void window_keep_sample(struct orr_window *w, double duration,
                               uint32_t weight)
{
    ring_push(w, duration, false);
    w->unblocked = 0;
    blocks_add(&w->blocks, duration, weight);
    w->sum += duration * weight;
    w->n += weight;
    if (w->n > MEMORY) {
        w->sum *= 0.5 * MEMORY / w->n;
        w->n = 0.5 * MEMORY;
    }
    if (w->low == w->high)
        w->low = w->high = w->sum / w->n;
}

/* Whether the estimate has jumped. */
static bool keep_aside(struct orr_window *w, double duration)
{
    ring_push(w, duration, true);
    w->unblocked = 0;
    w->noutliers++;
    w->fresh_outliers++;
    if (w->low_streak >= ORR_WINDOW_LOW)
        window_sink(w);
    else
        return __builtin_popcountll(w->last64) >= ORR_WINDOW_HIGH &&
               window_rise(w);
    return true;
}

bool orr_window_add(struct orr_window *w, double duration, uint32_t weight)
{
    bool high, low;

    w->nseen++;
    w->fresh++;
    if (w->age < ORR_WINDOW_YOUNG)
        return add_young(w, duration);
    high = is_high(w, duration);
    low = is_low(w, duration);
    w->last64 = w->last64 << 1 | high;
    w->low_streak = low ? w->low_streak + 1 : 0;
    if (!high && !low)
        window_keep_sample(w, duration, weight);
    else if (keep_aside(w, duration))
        return true;
    return w->nseen % 64 == 0 && look_back(w);
}

void orr_window_first(struct orr_window *w, double duration)
{
    w->nfirst++;
    w->first_sum += duration;
}

double orr_window_estimate(const struct orr_window *w)
{
    return w->n > 0 ? w->sum / w->n : (double)NAN;
}

double orr_window_weight(const struct orr_window *w)
{
    return w->n;
}

/* --- beginning --- */

void orr_window_init(struct orr_window *w, double max_error)
{
    *w = (struct orr_window){
        .low = NAN, .high = NAN, .ratio = 1 + max_error / 100};
}

void orr_window_begin_levels(struct orr_window *w, double mean, double n,
                             double low, double high)
{
    bool two = low > 0 && low <= mean && mean <= high;

    w->low = two ? low : mean;
    w->high = two ? high : mean;
    w->n = fmin(n, 0.5 * MEMORY);
    w->sum = mean * w->n;
    w->age = ORR_WINDOW_YOUNG;
}

/* --- saving --- */

void orr_window_take(struct orr_window *w, struct orr_window *ret)
{
    ring_to_blocks(w);
    *ret = *w;
    w->fresh = w->fresh_outliers = 0;
    w->npreempted = 0;
    w->nfirst = 0;
    w->first_sum = 0;
    w->blocks = (struct orr_blocks){0};
    w->blocks_restarted = false;
}

void orr_window_untake(struct orr_window *w, const struct orr_window *taken)
{
    struct orr_blocks later = w->blocks;

    w->fresh += taken->fresh;
    w->fresh_outliers += taken->fresh_outliers;
    w->npreempted += taken->npreempted;
    w->nfirst += taken->nfirst;
    w->first_sum += taken->first_sum;
    if (w->blocks_restarted)
        return; /* what was taken does not count any more */
    w->blocks = taken->blocks;
    w->blocks_restarted = taken->blocks_restarted;
    blocks_append(&w->blocks, &later);
}

/* Appends the fresh part of the ring, so that the last samples stay. The
 * rejected ones of the others are set aside. */
static int join_recent(const struct orr_window *w, bool believed,
                       struct orr_side_entry *entry)
{
    unsigned fresh = w->fresh < w->nrecent ? (unsigned)w->fresh : w->nrecent;
    unsigned old = ORR_WINDOW_SIZE - fresh;
    double *recent = malloc(ORR_WINDOW_SIZE * sizeof(*recent));
    bool *aside = malloc(ORR_WINDOW_SIZE * sizeof(*aside));
    unsigned n = 0;

    if (!recent || !aside) {
        free(recent);
        free(aside);
        return -ENOMEM;
    }
    if (old > entry->nrecent)
        old = entry->nrecent;
    for (unsigned i = entry->nrecent - old; i < entry->nrecent; i++, n++) {
        recent[n] = entry->recent[i];
        aside[n] = entry->set_aside[i] || !believed;
    }
    for (unsigned back = fresh; back-- > 0; n++) {
        recent[n] = w->recent[ring_at(w, back)];
        aside[n] = w->set_aside[ring_at(w, back)];
    }
    free(entry->recent);
    free(entry->set_aside);
    entry->recent = recent;
    entry->set_aside = aside;
    entry->nrecent = n;
    return 0;
}

static void entry_blocks(const struct orr_side_entry *entry,
                         struct orr_blocks *ret)
{
    ret->size = entry->blocksize;
    ret->n = entry->nblocks;
    ret->tail_sum = entry->tail_sum;
    ret->tail_n = entry->tail_n;
    if (entry->nblocks > 0)
        memcpy(ret->mean, entry->blocks, entry->nblocks * sizeof(ret->mean[0]));
}

/* Whether what the file has may be joined to what was measured. A row of few
 * samples is no level for the window to begin with, so that they were never
 * compared; they are here, by the same rule. */
static bool is_believed(const struct orr_window *w,
                        const struct orr_side_entry *entry)
{
    bool two = entry->low > 0;
    struct orr_blocks blocks = {0};
    double theirs, ours, ntheirs, nours;

    if (w->blocks_restarted || entry->nblocks > ORR_WINDOW_BLOCKS)
        return false;
    entry_blocks(entry, &blocks);
    theirs = blocks_mean(&blocks, &ntheirs);
    ours = blocks_mean(&w->blocks, &nours);
    if (!(ntheirs > 0) || !(nours > 0))
        return true;
    return !((two ? entry->low : theirs) > ours * w->ratio &&
             nours >= ORR_WINDOW_LOW) &&
           !((two ? entry->high : theirs) * w->ratio < ours &&
             nours >= ORR_WINDOW_HIGH);
}

/* The blocks of the entry, and their mean. */
static int put_blocks(const struct orr_blocks *blocks,
                      struct orr_side_entry *entry)
{
    double n, mean = blocks_mean(blocks, &n);

    if (blocks->n > 0) {
        double *copy = malloc(blocks->n * sizeof(*copy));

        if (!copy)
            return -ENOMEM;
        memcpy(copy, blocks->mean, blocks->n * sizeof(*copy));
        free(entry->blocks);
        entry->blocks = copy;
    }
    entry->blocksize = blocks->size;
    entry->nblocks = blocks->n;
    entry->tail_sum = blocks->tail_sum;
    entry->tail_n = blocks->tail_n;
    if (n > 0)
        entry->estimate = mean;
    return 0;
}

static int join_blocks(const struct orr_window *w, bool believed,
                       struct orr_side_entry *entry)
{
    struct orr_blocks blocks = {0};

    if (believed)
        entry_blocks(entry, &blocks);
    blocks_append(&blocks, &w->blocks);
    return put_blocks(&blocks, entry);
}

/* Several runs together have measured it often enough to accept it, no single
 * one has. */
static int accept_recurring(const struct orr_window *w,
                            struct orr_side_entry *entry)
{
    double high = entry->low > 0 ? entry->high : entry->estimate;
    struct orr_blocks blocks = {0};

    if (entry->nrecent < ORR_WINDOW_SIZE ||
        !outliers_recur(entry->recent, entry->set_aside, high, w->ratio,
                        entry->nseen, entry->noutliers))
        return 0;
    window_accept_near(entry->recent, entry->set_aside, high, w->ratio);
    for (unsigned i = 0; i < ORR_WINDOW_SIZE; i++)
        if (!entry->set_aside[i])
            blocks_add(&blocks, entry->recent[i], 1);
    return put_blocks(&blocks, entry);
}

/* The recent samples are the kernel's populations; a run alone seldom has enough of them.
 * *ret: they are. */
static int accept_entry_populations(struct orr_side_entry *entry, bool *ret)
{
    struct orr_blocks blocks = {0};
    struct orr_mixture mixture;
    uint64_t any = 0;

    *ret = find_populations(entry->recent, entry->nrecent, &mixture);
    if (!*ret)
        return 0;
    for (unsigned i = 0; i < entry->nrecent; i++)
        any += entry->set_aside[i] && entry->recent[i] >= mixture.least &&
               entry->recent[i] <= mixture.most;
    if (any == 0)
        return 0; /* the blocks, which reach back further, have them */
    entry->noutliers -= any < entry->noutliers ? any : entry->noutliers;
    set_aside_outliers(&mixture, entry->recent, entry->set_aside,
                       entry->nrecent);
    for (unsigned i = 0; i < entry->nrecent; i++)
        if (!entry->set_aside[i])
            blocks_add(&blocks, entry->recent[i], 1);
    return put_blocks(&blocks, entry);
}

void orr_window_find_levels(struct orr_side_entry *entry, double ratio)
{
    struct orr_mixture mixture;
    struct levels found;

    entry->low = entry->high = 0;
    if (find_populations(entry->recent, entry->nrecent, &mixture)) {
        entry->low = mixture.low;
        entry->high = mixture.high;
        return;
    }
    if (entry->nrecent < ORR_WINDOW_SIZE)
        return;
    found =
        split_levels(entry->recent, entry->set_aside, entry->nrecent, ratio);
    if (!(found.low < found.high))
        return;
    entry->low = found.low;
    entry->high = found.high;
}

static int compare_samples(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Widens the range by the 5 % and 95 % quantiles of n values, which it sorts, and their
 * mean. */
static void range_add(double *values, unsigned n, double *lo, double *hi)
{
    double sum = 0;

    if (n == 0)
        return;
    for (unsigned i = 0; i < n; i++)
        sum += values[i];
    qsort(values, n, sizeof(*values), compare_samples);
    *lo = fmin(*lo, fmin(values[n / 20], sum / n));
    *hi = fmax(*hi, fmax(values[n - 1 - n / 20], sum / n));
}

void orr_window_range(const struct orr_side_entry *entry, double *ret_lo,
                      double *ret_hi)
{
    double values[ORR_WINDOW_SIZE];
    unsigned n = 0;

    *ret_lo = *ret_hi = (double)NAN;
    for (unsigned i = 0; i < entry->nrecent; i++)
        if (!entry->set_aside[i])
            values[n++] = entry->recent[i];
    range_add(values, n, ret_lo, ret_hi);
    n = entry->nblocks < ORR_WINDOW_SIZE ? entry->nblocks : ORR_WINDOW_SIZE;
    if (n > 0)
        memcpy(values, entry->blocks, n * sizeof(*values));
    if (n < ORR_WINDOW_SIZE && entry->tail_n > 0)
        values[n++] = entry->tail_sum / entry->tail_n;
    range_add(values, n, ret_lo, ret_hi);
    if (n > 0 && entry->low > 0) {
        *ret_lo = fmin(*ret_lo, entry->low);
        *ret_hi = fmax(*ret_hi, entry->high);
    }
}

/* An estimate that is further above most of the recent samples than a kernel's levels are
 * apart is of the end of a run that others disturbed: the samples count. (Below most of
 * them, it is these that were disturbed.) */
static int return_to_most(struct orr_side_entry *entry, double ratio)
{
    double sorted[ORR_WINDOW_SIZE], median;
    struct orr_blocks blocks = {0};

    if (entry->nrecent == 0)
        return 0;
    memcpy(sorted, entry->recent, entry->nrecent * sizeof(*sorted));
    qsort(sorted, entry->nrecent, sizeof(*sorted), compare_samples);
    median = sorted[(entry->nrecent - 1) / 2];
    if (!(entry->estimate > median * ORR_WINDOW_FAR))
        return 0;
    for (unsigned i = 0; i < entry->nrecent; i++) {
        entry->set_aside[i] = entry->recent[i] > median * ratio ||
                              entry->recent[i] * ratio < median;
        if (!entry->set_aside[i])
            blocks_add(&blocks, entry->recent[i], 1);
    }
    return put_blocks(&blocks, entry);
}

int orr_window_save(const struct orr_window *w, struct orr_side_entry *entry)
{
    bool believed = is_believed(w, entry), populations;
    int rc = join_blocks(w, believed, entry);

    if (!rc)
        rc = join_recent(w, believed, entry);
    if (rc)
        return rc;
    entry->nseen += w->fresh;
    entry->noutliers += w->fresh_outliers;
    /* Fewer, and the entry is not the one that had them before. */
    if (entry->noutliers > entry->nseen)
        entry->noutliers = 0;
    entry->npreempted += w->npreempted;
    entry->nfirst += w->nfirst;
    entry->first_sum += w->first_sum;
    rc = accept_entry_populations(entry, &populations);
    if (!rc && !populations && believed)
        rc = accept_recurring(w, entry);
    if (!rc && !populations)
        rc = return_to_most(entry, w->ratio);
    orr_window_find_levels(entry, w->ratio);
    return rc;
}
