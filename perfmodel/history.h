/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/history.h - the history rows of one model in memory: a hash table
 * that is read without locks while one thread adds to it and others measure.
 *
 * Entries never move and are freed with the table, so that a found entry may be
 * kept. Each entry guards its values with a sequence number: odd while they
 * change, and readers retry when it changed.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "perfmodel/merge.h"
#include "perfmodel/window.h"

/* Where an entry belongs. */
struct orr_entry_key {
    unsigned comb, impl;
    uint32_t footprint;
};

struct orr_entry;

/* Embedded in a model; all zero is an empty one. */
struct orr_history {
    _Atomic(struct orr_table *) table; /* [atomic] stored with release by the
                                        * writer, loaded with acquire */
    struct orr_entry *first, *last;    /* [writer] in order of creation */
    unsigned count;                    /* [writer] */
};

/* Frees all entries; no thread uses them any more. */
void orr_history_done(struct orr_history *history);

/* The entry of that key, NULL without. Any thread, no lock. Lent until the
 * history ends. */
struct orr_entry *orr_history_find(const struct orr_history *history,
                                   struct orr_entry_key key);

/* Adds an entry whose key is not there yet, with the values of `row`; its hash
 * counts as the key's footprint. `from_file`: row is what the file holds, else
 * the file holds nothing. One writer at a time: the model's lock. Errors:
 * -ENOMEM. */
int orr_history_add(struct orr_history *history, struct orr_entry_key key,
                    const struct orr_model_row *row, bool from_file,
                    struct orr_entry **ret);

/* The entries in order of creation, for a holder of the model's lock: the first
 * after `entry`, or of all when it is NULL; NULL at the end. */
struct orr_entry *orr_history_next(const struct orr_history *history,
                                   const struct orr_entry *entry);

/* [const] */
struct orr_entry_key orr_entry_key(const struct orr_entry *entry);

/* A consistent copy of all values. Any thread, no lock. */
void orr_entry_read(const struct orr_entry *entry, struct orr_model_row *ret);

/* The estimate of the entry, and its number of samples: the mean of the row, or
 * the estimate of perfmodel/window.h. NaN without samples. Any thread, no
 * lock. */
double orr_entry_expected(const struct orr_entry *entry, uint32_t *ret_n);

/* Whether the estimate is based on samples (a window, or a side entry) and not
 * on the row's mean alone. Any thread. */
bool orr_entry_is_sampled(const struct orr_entry *entry);

/* A valid side entry: `estimate`, of n samples, is predicted instead of the mean; two
 * levels, or 0 both. For the thread that adds the entry, before others see it. */
void orr_entry_set_estimate(struct orr_entry *entry, double estimate,
                            uint32_t n, double low, double high);

/* Processes run it once, mostly: the first run in this one is a measure, too. For the
 * thread that adds the entry, before others see it. */
void orr_entry_set_seldom(struct orr_entry *entry);

/* The row was computed, not measured: its first sample replaces it. For the
 * thread that adds the entry, before others see it and before its estimate is
 * set, which says that it was measured since. */
void orr_entry_set_derived(struct orr_entry *entry);

/* The effect of a measure on an entry, bits. */
enum orr_measured {
    ORR_MEASURED_WIPED = 1, /* too many outliers: the row was emptied */
    ORR_MEASURED_FLOPS = 2, /* flops disagree: they are NaN from now on */
    ORR_MEASURED_NEWS = 4,  /* the estimate has changed: the entry became usable
                             * or unusable, or moved by more than 1 % since the
                             * last change of version */
    ORR_MEASURED_KEPT = 8,  /* it is a sample of the row, no outlier */
};

/* The rules for measures. */
struct orr_measure_rules {
    uint32_t minimum; /* samples that make an entry usable */
    double max_error; /* percent around the mean within which a measure is no
                       * outlier */
};

/* Records `weight` samples of mean duration `duration`. `first`: a first run
 * that is no sample of the row, only noted. The first measure of a process is a
 * first run for the window in any case, and a sample, too, of an entry that is
 * seldom. Any thread; locks the entry for some nanoseconds; the first call
 * allocates the window, and goes on without when there is no memory. Returns a set of enum orr_measured. */
unsigned orr_entry_measure(struct orr_entry *entry, double duration,
                           uint32_t weight, double flops, bool first,
                           const struct orr_measure_rules *rules);

/* Of the last measure, the time was taken away in which other programs had the
 * processor: counted, for the side file. */
void orr_entry_note_preempted(struct orr_entry *entry);

/* What is to be saved of an entry: fills row, base, wiped and wipes of `change`
 * and returns true when it has been measured since it was last saved, even if
 * the row took none of the measures and only the window has them. *ret_window
 * is then a copy of its window, to be freed by the caller; NULL without. It
 * counts as saved from now on: give it back with orr_entry_untake if it could
 * not be. */
bool orr_entry_changed(struct orr_entry *entry, struct orr_model_change *change,
                       struct orr_window **ret_window);
void orr_entry_untake(struct orr_entry *entry, const struct orr_window *taken);

/* `change`, as orr_entry_changed gave it, has been saved and the file now holds
 * `saved`: the entry goes on from there with what was measured since. */
void orr_entry_saved(struct orr_entry *entry,
                     const struct orr_model_change *change,
                     const struct orr_model_row *saved);
