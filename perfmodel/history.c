/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/history.c - history rows in memory: lookup without locks, and the
 * rules by which a measure joins a row. Any thread, see history.h.
 */
#include "perfmodel/history.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>

/* Values are atomic, though the sequence number guards them, so that a
 * concurrent reader does not race. */
struct orr_entry {
    struct orr_entry_key key; /* [const] */
    enum orr_origin origin;   /* [const] of its row, when that was loaded */
    bool ranged;              /* [const] likewise */
    double low, high; /* [const] levels of the estimate that was loaded; 0
                               * both: one */
    struct orr_entry *next;   /* [writer] */
    atomic_uint sequence;     /* [atomic] odd: held by a changer */
    atomic_bool has_window;   /* [atomic] only ever false to true */
    atomic_bool sampled;      /* [atomic] only ever false to true */
    atomic_bool derived;      /* [atomic] only ever true to false: the row was
                               * computed, its first sample replaces it */
    _Atomic uint32_t n;
    _Atomic uint64_t size;
    _Atomic double flops, mean, dev, sum, sum2;
    _Atomic double expected;  /* the estimate, NaN: none */
    _Atomic uint32_t support; /* number of its samples */
    /* [sequence] */
    struct orr_window *window; /* owned; NULL: not measured in this process */
    bool warm;                 /* its first run in this process is over */
    bool seldom;               /* processes run it once: that counts */
    uint64_t nerror;           /* outliers since the row was last empty */
    unsigned wipes;            /* how often it was emptied */
    unsigned saved_wipes;      /* wipes when it was last saved */
    double reported;           /* the estimate at the last change of version;
                                * NaN */
    struct orr_model_row base; /* what the file holds */
};

struct orr_table {
    size_t mask;             /* [const] number of slots, a power of two, - 1 */
    struct orr_table *older; /* [const] readers may still be in there */
    _Atomic(struct orr_entry *) slots[]; /* [atomic] release by the writer */
};

static size_t key_hash(struct orr_entry_key key)
{
    uint64_t x = key.footprint;

    /* The constants spread neighbours; any odd ones would do. */
    x ^= (uint64_t)(key.comb * 4 + key.impl + 1) * 0x9e3779b97f4a7c15U;
    x *= 0xd6e8feb86659fd93U;
    return (size_t)(x ^ x >> 32);
}

static bool key_equal(struct orr_entry_key a, struct orr_entry_key b)
{
    return a.footprint == b.footprint && a.comb == b.comb && a.impl == b.impl;
}

void orr_history_done(struct orr_history *history)
{
    struct orr_table *table =
        atomic_load_explicit(&history->table, memory_order_relaxed);

    while (table) {
        struct orr_table *older = table->older;

        free(table);
        table = older;
    }
    while (history->first) {
        struct orr_entry *entry = history->first;

        history->first = entry->next;
        free(entry->window);
        free(entry);
    }
    atomic_store_explicit(&history->table, NULL, memory_order_relaxed);
    history->last = NULL;
    history->count = 0;
}

struct orr_entry *orr_history_find(const struct orr_history *history,
                                   struct orr_entry_key key)
{
    /* Acquire pairs with the release of table_insert and table_grow: a thread
     * that sees a pointer sees what it points to. */
    struct orr_table *table =
        atomic_load_explicit(&history->table, memory_order_acquire);
    struct orr_entry *entry;

    if (!table)
        return NULL;
    for (size_t i = key_hash(key);; i++) {
        entry = atomic_load_explicit(&table->slots[i & table->mask],
                                     memory_order_acquire);
        if (!entry || key_equal(entry->key, key))
            return entry;
    }
}

static void table_insert(struct orr_table *table, struct orr_entry *entry)
{
    size_t i = key_hash(entry->key);

    while (atomic_load_explicit(&table->slots[i & table->mask],
                                memory_order_relaxed))
        i++;
    atomic_store_explicit(&table->slots[i & table->mask], entry,
                          memory_order_release);
}

/* Makes sure that one more entry leaves a third of the slots empty. Old tables
 * stay, since other threads may be reading them; together they are smaller than
 * the new one. */
static int table_grow(struct orr_history *history)
{
    struct orr_table *old =
        atomic_load_explicit(&history->table, memory_order_relaxed);
    size_t nslots = old ? old->mask + 1 : 0;
    struct orr_table *table;

    if (3 * ((size_t)history->count + 1) <= 2 * nslots)
        return 0;
    nslots = nslots ? 2 * nslots : 16;
    table = calloc(1, sizeof(*table) + nslots * sizeof(table->slots[0]));
    if (!table)
        return -ENOMEM;
    table->mask = nslots - 1;
    table->older = old;
    for (struct orr_entry *e = history->first; e; e = e->next)
        table_insert(table, e);
    atomic_store_explicit(&history->table, table, memory_order_release);
    return 0;
}

static void entry_store(struct orr_entry *entry,
                        const struct orr_model_row *row)
{
    atomic_store_explicit(&entry->n, row->n, memory_order_relaxed);
    atomic_store_explicit(&entry->size, row->size, memory_order_relaxed);
    atomic_store_explicit(&entry->flops, row->flops, memory_order_relaxed);
    atomic_store_explicit(&entry->mean, row->mean, memory_order_relaxed);
    atomic_store_explicit(&entry->dev, row->dev, memory_order_relaxed);
    atomic_store_explicit(&entry->sum, row->sum, memory_order_relaxed);
    atomic_store_explicit(&entry->sum2, row->sum2, memory_order_relaxed);
}

static void set_expected(struct orr_entry *entry, double us, uint32_t n)
{
    atomic_store_explicit(&entry->expected, us, memory_order_relaxed);
    atomic_store_explicit(&entry->support, n, memory_order_relaxed);
}

static void entry_load(const struct orr_entry *entry, struct orr_model_row *row)
{
    row->hash = entry->key.footprint;
    row->n = atomic_load_explicit(&entry->n, memory_order_relaxed);
    row->size = atomic_load_explicit(&entry->size, memory_order_relaxed);
    row->flops = atomic_load_explicit(&entry->flops, memory_order_relaxed);
    row->mean = atomic_load_explicit(&entry->mean, memory_order_relaxed);
    row->dev = atomic_load_explicit(&entry->dev, memory_order_relaxed);
    row->sum = atomic_load_explicit(&entry->sum, memory_order_relaxed);
    row->sum2 = atomic_load_explicit(&entry->sum2, memory_order_relaxed);
    row->origin = entry->origin;
    row->ranged = entry->ranged;
}

int orr_history_add(struct orr_history *history, struct orr_entry_key key,
                    const struct orr_model_row *row, bool from_file,
                    struct orr_entry **ret)
{
    struct orr_entry *entry;
    int rc = table_grow(history);

    if (rc)
        return rc;
    entry = calloc(1, sizeof(*entry));
    if (!entry)
        return -ENOMEM;
    entry->key = key;
    entry->reported = NAN;
    entry->origin = row->origin;
    entry->ranged = row->ranged;
    entry_store(entry, row);
    set_expected(entry, row->n > 0 ? row->mean : (double)NAN, row->n);
    if (from_file)
        entry->base = *row;
    if (history->last)
        history->last->next = entry;
    else
        history->first = entry;
    history->last = entry;
    history->count++;
    table_insert(atomic_load_explicit(&history->table, memory_order_relaxed),
                 entry);
    if (ret)
        *ret = entry;
    return 0;
}

struct orr_entry *orr_history_next(const struct orr_history *history,
                                   const struct orr_entry *entry)
{
    return entry ? entry->next : history->first;
}

struct orr_entry_key orr_entry_key(const struct orr_entry *entry)
{
    return entry->key;
}

/* Waits for an even sequence number: the values are consistent. A writer is about to
 * make it so, in a few instructions, and models know no contexts. Acquire pairs
 * with entry_release. */
static unsigned read_begin(const struct orr_entry *entry)
{
    unsigned sequence;

    while ((sequence =
                atomic_load_explicit(&entry->sequence, memory_order_acquire)) &
           1)
        sched_yield();
    return sequence;
}

/* Whether nothing has changed since read_begin. */
static bool read_end(const struct orr_entry *entry, unsigned sequence)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&entry->sequence, memory_order_relaxed) ==
           sequence;
}

void orr_entry_read(const struct orr_entry *entry, struct orr_model_row *ret)
{
    unsigned sequence;

    do {
        sequence = read_begin(entry);
        entry_load(entry, ret);
    } while (!read_end(entry, sequence));
}

double orr_entry_expected(const struct orr_entry *entry, uint32_t *ret_n)
{
    unsigned sequence;
    double us;

    do {
        sequence = read_begin(entry);
        us = atomic_load_explicit(&entry->expected, memory_order_relaxed);
        *ret_n = atomic_load_explicit(&entry->support, memory_order_relaxed);
    } while (!read_end(entry, sequence));
    return us;
}

void orr_entry_set_estimate(struct orr_entry *entry, double estimate,
                            uint32_t n, double low, double high)
{
    entry->low = low;
    entry->high = high;
    set_expected(entry, estimate, n);
    atomic_store_explicit(&entry->sampled, true, memory_order_relaxed);
    atomic_store_explicit(&entry->derived, false, memory_order_relaxed);
}

void orr_entry_set_seldom(struct orr_entry *entry)
{
    entry->seldom = true;
}

void orr_entry_set_derived(struct orr_entry *entry)
{
    atomic_store_explicit(&entry->derived, true, memory_order_relaxed);
}

static bool is_derived(const struct orr_entry *entry)
{
    return atomic_load_explicit(&entry->derived, memory_order_relaxed);
}

bool orr_entry_is_sampled(const struct orr_entry *entry)
{
    return atomic_load_explicit(&entry->sampled, memory_order_relaxed) ||
           (atomic_load_explicit(&entry->has_window, memory_order_relaxed) &&
            !is_derived(entry));
}

/* Makes the sequence number odd: exclusive access to the entry. */
static void entry_hold(struct orr_entry *entry)
{
    unsigned sequence;

    for (;;) {
        sequence = read_begin(entry);
        if (atomic_compare_exchange_weak_explicit(
                &entry->sequence, &sequence, sequence + 1, memory_order_acquire,
                memory_order_relaxed))
            break;
    }
    /* Readers that see a new value see the odd number as well. */
    atomic_thread_fence(memory_order_release);
}

static void entry_release(struct orr_entry *entry)
{
    atomic_fetch_add_explicit(&entry->sequence, 1, memory_order_release);
}

/* Whether `duration` lies too far from the mean, on either side. */
static bool is_outlier(const struct orr_model_row *row, double duration,
                       double max_error)
{
    double ratio = duration / row->mean;

    return row->n > 0 &&
           (100 * ratio > 100 + max_error || 100 / ratio > 100 + max_error);
}

static void sample_add(struct orr_model_row *row, double duration,
                       uint32_t weight)
{
    if (row->n > UINT32_MAX - weight)
        return; /* the count is full: enough is known */
    row->n += weight;
    row->sum += duration * weight;
    row->sum2 += duration * duration * weight;
    orr_model_row_refresh(row);
}

static void row_empty(struct orr_model_row *row)
{
    row->n = 0;
    row->mean = row->dev = row->sum = row->sum2 = 0;
}

/* Takes flops into the row; true when they newly disagree. */
static bool flops_join(struct orr_model_row *row, double flops)
{
    if (!(flops > 0) || isnan(row->flops))
        return false;
    if (row->flops == 0) {
        row->flops = flops;
        return false;
    }
    if (fabs(flops - row->flops) / row->flops <= 1e-5)
        return false;
    row->flops = NAN;
    return true;
}

/* --- the estimate --- */

/* A window that starts from the present estimate of the entry. */
static struct orr_window *window_new(const struct orr_entry *entry,
                                     const struct orr_measure_rules *rules)
{
    struct orr_window *window = malloc(sizeof(*window));
    uint32_t n;
    double expected = orr_entry_expected(entry, &n);

    if (!window)
        return NULL;
    orr_window_init(window, rules->max_error);
    if (n >= rules->minimum && expected > 0 && !is_derived(entry))
        orr_window_begin_levels(window, expected, n, entry->low, entry->high);
    return window;
}

/* Makes sure that there is a window, if there is memory. */
static void window_get(struct orr_entry *entry,
                       const struct orr_measure_rules *rules)
{
    struct orr_window *window;

    if (atomic_load_explicit(&entry->has_window, memory_order_relaxed))
        return;
    window = window_new(entry, rules);
    entry_hold(entry);
    if (!entry->window) {
        entry->window = window;
        window = NULL;
        atomic_store_explicit(&entry->has_window, entry->window != NULL,
                              memory_order_relaxed);
    }
    entry_release(entry);
    free(window);
}

/* The window has precedence over the row: the mean of a row with a spike is no
 * estimate of the next time. After a jump few measures are enough. */
static void entry_set_expected(struct orr_entry *entry,
                               const struct orr_model_row *row,
                               const struct orr_measure_rules *rules)
{
    const struct orr_window *window = entry->window;
    double n = window ? orr_window_weight(window) : 0;

    if (window && window->restarts > 0 && n >= ORR_WINDOW_LOW)
        n = fmax(n, rules->minimum);
    if (n > 0 && (n >= rules->minimum || n >= row->n))
        set_expected(entry, orr_window_estimate(window),
                     n < UINT32_MAX ? (uint32_t)n : UINT32_MAX);
    else
        set_expected(entry, row->n > 0 ? row->mean : (double)NAN, row->n);
}

/* Whether the estimate has changed. */
static bool entry_estimate_changed(struct orr_entry *entry, uint32_t minimum)
{
    double now = NAN;

    if (atomic_load_explicit(&entry->support, memory_order_relaxed) >= minimum)
        now = atomic_load_explicit(&entry->expected, memory_order_relaxed);
    if (isnan(now) && isnan(entry->reported))
        return false;
    if (fabs(now - entry->reported) <= 0.01 * entry->reported)
        return false;
    entry->reported = now;
    return true;
}

/* A measure joins the row, by StarPU's rules. */
static unsigned row_measure(struct orr_entry *entry, struct orr_model_row *row,
                            double duration, uint32_t weight,
                            const struct orr_measure_rules *rules)
{
    if (!is_outlier(row, duration, rules->max_error)) {
        sample_add(row, duration, weight);
        return ORR_MEASURED_KEPT;
    }
    entry->nerror += weight;
    if (entry->nerror < row->n)
        return 0;
    row_empty(row);
    entry->nerror = 0;
    entry->wipes++;
    return ORR_MEASURED_WIPED;
}

/* The first sample of a derived row is the only one: figures that were computed
 * and times that were measured have no mean in common. */
static unsigned replace_derived(struct orr_entry *entry,
                                struct orr_model_row *row)
{
    if (!is_derived(entry))
        return 0;
    row_empty(row);
    entry->wipes++;
    atomic_store_explicit(&entry->derived, false, memory_order_relaxed);
    return ORR_MEASURED_NEWS;
}

static void window_measure(struct orr_entry *entry, double duration,
                           uint32_t weight)
{
    if (!entry->window || !(duration > 0))
        return;
    if (!entry->warm)
        orr_window_first(entry->window, duration);
    if (entry->warm || entry->seldom)
        orr_window_add(entry->window, duration, weight);
    entry->warm = true;
}

unsigned orr_entry_measure(struct orr_entry *entry, double duration,
                           uint32_t weight, double flops, bool first,
                           const struct orr_measure_rules *rules)
{
    struct orr_model_row row;
    unsigned done = 0;

    window_get(entry, rules);
    entry_hold(entry);
    entry_load(entry, &row);
    /* A derived row has seen no run: the first is a warm-up here as well. */
    first = first || (is_derived(entry) && !entry->warm);
    if (!first)
        done |= replace_derived(entry, &row);
    if (!first)
        done |= row_measure(entry, &row, duration, weight, rules);
    window_measure(entry, duration, weight);
    entry_set_expected(entry, &row, rules);
    if (flops_join(&row, flops))
        done |= ORR_MEASURED_FLOPS;
    if (entry_estimate_changed(entry, rules->minimum))
        done |= ORR_MEASURED_NEWS;
    entry_store(entry, &row);
    entry_release(entry);
    return done;
}

void orr_entry_note_preempted(struct orr_entry *entry)
{
    entry_hold(entry);
    if (entry->window)
        entry->window->npreempted++;
    entry_release(entry);
}

bool orr_entry_changed(struct orr_entry *entry, struct orr_model_change *change,
                       struct orr_window **ret_window)
{
    struct orr_window *taken = malloc(sizeof(*taken));
    bool changed;

    *ret_window = NULL;
    entry_hold(entry);
    entry_load(entry, &change->row);
    change->base = entry->base;
    change->wipes = entry->wipes;
    change->wiped = entry->wipes != entry->saved_wipes;
    changed =
        change->wiped || change->row.n != change->base.n ||
        change->row.sum != change->base.sum ||
        (entry->window && (entry->window->fresh > 0 ||
                           (change->row.n == 0 && entry->window->nfirst > 0)));
    if (changed && taken && entry->window) {
        orr_window_take(entry->window, taken);
        *ret_window = taken;
        taken = NULL;
    }
    entry_release(entry);
    free(taken);
    return changed;
}

void orr_entry_untake(struct orr_entry *entry, const struct orr_window *taken)
{
    entry_hold(entry);
    orr_window_untake(entry->window, taken);
    entry_release(entry);
}

void orr_entry_saved(struct orr_entry *entry,
                     const struct orr_model_change *change,
                     const struct orr_model_row *saved)
{
    struct orr_model_row row;

    entry_hold(entry);
    entry_load(entry, &row);
    entry->base = *saved;
    entry->saved_wipes = change->wipes;
    /* If it was emptied meanwhile, nothing of what was saved is in it. */
    if (entry->wipes == change->wipes) {
        row.n += saved->n - change->row.n;
        row.sum += saved->sum - change->row.sum;
        row.sum2 += saved->sum2 - change->row.sum2;
        orr_model_row_refresh(&row);
        entry_store(entry, &row);
    }
    entry_release(entry);
}
