/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/search.c - the best schedule of a few tasks, by branch and bound. Any
 * thread; a search belongs to one.
 *
 * A state is a set of tasks that are placed, with their ends, and a time `now`
 * before which no other may start. From it, any eligible task may start next,
 * as any variant, as soon as its predecessors and enough workers of the class
 * allow it: some best schedule is made of such steps, since moving tasks to
 * earlier times never lengthens a schedule, and which of the free workers of a
 * class does a task makes no difference to those that start later. Of the
 * states that can be reached, these are left out:
 *  - where a task starts no earlier than another could be over: that one may
 *    as well go first (Giffler & Thompson 1960, "Algorithms for solving
 *    production-scheduling problems");
 *  - where of two equal tasks the later one goes first;
 *  - those that another one seen before dominates: the same tasks are placed,
 *    and neither workers nor predecessors are free later;
 *  - those whose lower bound reaches the limit. Paths: each task's earliest end
 *    on the workers as they are, and the longest path from there; areas: the
 *    work of all tasks in prices per class and time, each task in its cheapest
 *    variant, which is weak duality for the area program whatever the prices.
 * The search runs with rising limits: if it finds nothing below one, the least
 * bound that was left out is a proved lower bound. When time is out in the
 * middle, it is the least of those left out and those not yet examined.
 */
#include "bound/search.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bound/methods.h"

enum {
    MOST = ORR_SEARCH_MOST,
    MOST_BYTES = 64 << 20,
    MOST_PRICES = 8,
    PRICE_ROUNDS = 400,
    HASH_SIZE = 1 << 16,
    FIRST_ROOM = 1024,
    MOST_LOOKS = 256, /* at states of one set of tasks */
    CLOCK_NODES = 128,
    DIVE_NODES = 2000,
    HALVINGS = 4,
};

/* Relative; values are sums of some hundred numbers at most. Bounds so near to
 * the limit count as at it. */
#define ROUNDING 1e-12

typedef uint32_t task_set;

/* Workers of a class that a task may take together. */
struct slot {
    unsigned class, width;
};

struct variant {
    unsigned slot;
    double ms;
};

struct task {
    unsigned first_variant, nvariants;
    double best_ms, tail_ms; /* tail: the longest path of best times after it */
    task_set preds, succs;
    task_set twins;           /* earlier tasks equal to it */
    double work[MOST_PRICES]; /* of its cheapest variant */
};

struct state {
    task_set done;
    double now;
    double end[MOST];
    unsigned variant[MOST]; /* of tasks that are placed */
};

/* A state seen, with an entry for each task there is. */
struct seen {
    task_set done;
    unsigned next; /* in the chain, plus one; 0: none */
    double now;
    struct {
        unsigned variant;
        double end;
    } placed[];
};

struct child {
    unsigned task, variant;
    double start, bound;
};

struct search {
    const struct orr_bound_instance *in;
    const struct orr_search_options *options;
    unsigned n, nvariants, nslots, nprices;
    struct task tasks[MOST];  /* each after those it depends on */
    struct variant *variants; /* owned */
    struct slot *slots;       /* owned */
    double *free_at;          /* owned, per slot: scratch */
    double *price;            /* owned, nprices × classes */
    unsigned *heads;          /* owned: chains, plus one */
    char *memory;             /* owned: states seen */
    size_t seen_bytes;        /* of one */
    unsigned nseen, room, most_room;

    struct child *children; /* owned: a stack of all levels' */
    double stop_at;
    bool stopped;
    unsigned long nodes, last_node; /* of this pass */
    double limit;                   /* bounds that reach it are left out */
    double left_out;                /* the least of those */
    double upper;
    struct state best;
};

static task_set task_bit(unsigned task)
{
    return (task_set)1 << task;
}

/* -- the problem -- */

static unsigned slot_get(struct search *s, unsigned class, unsigned width)
{
    unsigned i = 0;

    while (i < s->nslots &&
           (s->slots[i].class != class || s->slots[i].width != width))
        i++;
    if (i == s->nslots)
        s->slots[s->nslots++] = (struct slot){class, width};
    return i;
}

static void read_variants(struct search *s, unsigned i, unsigned type)
{
    const struct orr_bound_task_type *k = &s->in->types[type];
    struct task *task = &s->tasks[i];

    task->first_variant = s->nvariants;
    task->best_ms = INFINITY;
    for (unsigned w = k->first_variant; w < k->first_variant + k->nvariants;
         w++) {
        const struct orr_bound_variant *variant = &s->in->variants[w];

        if (variant->width == 0 ||
            variant->width > s->in->classes[variant->class].size)
            continue;
        s->variants[s->nvariants++] = (struct variant){
            slot_get(s, variant->class, variant->width), variant->ms};
        task->best_ms = fmin(task->best_ms, variant->ms);
    }
    task->nvariants = s->nvariants - task->first_variant;
    assert(task->nvariants > 0);
}

static void search_read_edges(struct search *s, const unsigned *position)
{
    const struct orr_bound_instance *in = s->in;

    for (unsigned t = 0; t < in->ntasks; t++)
        for (unsigned e = in->first_pred[t]; e < in->first_pred[t + 1]; e++) {
            unsigned before = position[in->preds[e]], after = position[t];

            s->tasks[after].preds |= task_bit(before);
            s->tasks[before].succs |= task_bit(after);
        }
}

static void search_read_tasks(struct search *s)
{
    const struct orr_bound_instance *in = s->in;
    unsigned position[MOST];

    for (unsigned i = 0; i < s->n; i++) {
        position[in->order[i]] = i;
        read_variants(s, i, in->type[in->order[i]]);
    }
    if (!s->options->no_edges)
        search_read_edges(s, position);
    for (unsigned i = s->n; i-- > 0;)
        for (unsigned j = i + 1; j < s->n; j++)
            if (s->tasks[i].succs & task_bit(j))
                s->tasks[i].tail_ms =
                    fmax(s->tasks[i].tail_ms,
                         s->tasks[j].best_ms + s->tasks[j].tail_ms);
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned j = 0; j < i; j++)
            if (in->type[in->order[i]] == in->type[in->order[j]] &&
                s->tasks[i].preds == s->tasks[j].preds &&
                s->tasks[i].succs == s->tasks[j].succs)
                s->tasks[i].twins |= task_bit(j);
}

/* -- prices of classes -- */

/* The cheapest variant of a task, of price × width × time. */
static unsigned search_cheapest_variant(const struct search *s,
                                        const struct task *task,
                                        const double *price, double *ret_work)
{
    unsigned best = task->first_variant;

    *ret_work = INFINITY;
    for (unsigned w = task->first_variant;
         w < task->first_variant + task->nvariants; w++) {
        const struct slot *slot = &s->slots[s->variants[w].slot];
        double work = price[slot->class] * slot->width * s->variants[w].ms;

        if (work < *ret_work) {
            *ret_work = work;
            best = w;
        }
    }
    return best;
}

/* Work at these prices; adds to `load` the share of time of each class when all
 * tasks run where they are cheapest. */
static double work_of_all(const struct search *s, const double *price,
                          double *load)
{
    double sum = 0;

    for (unsigned i = 0; i < s->n; i++) {
        double work;
        const struct variant *variant = &s->variants[search_cheapest_variant(
            s, &s->tasks[i], price, &work)];
        const struct slot *slot = &s->slots[variant->slot];

        load[slot->class] +=
            slot->width * variant->ms / s->in->classes[slot->class].size;
        sum += work;
    }
    return sum;
}

/* Prices are such that Σ size·price = 1. */
static void add_prices(struct search *s, const double *price)
{
    unsigned nclasses = s->in->nclasses;

    if (s->nprices == MOST_PRICES)
        return;
    memcpy(s->price + (size_t)s->nprices * nclasses, price,
           nclasses * sizeof(*price));
    for (unsigned i = 0; i < s->n; i++)
        (void)search_cheapest_variant(s, &s->tasks[i], price,
                                      &s->tasks[i].work[s->nprices]);
    s->nprices++;
}

/* Good prices, by multiplicative weights: classes that get too much work become
 * more expensive (Arora, Hazan & Kale 2012, "The multiplicative weights update
 * method"). Those of the best three rounds, then each class alone. */
static int make_prices(struct search *s)
{
    unsigned nclasses = s->in->nclasses;
    double *all = calloc(4 * (size_t)nclasses, sizeof(*all));
    double *price = all, *load = all + nclasses, *share = load + nclasses;
    double *best = share + nclasses, most = -1;

    if (!all)
        return -ENOMEM;
    for (unsigned c = 0; c < nclasses; c++)
        share[c] = 1. / nclasses;
    for (unsigned round = 0; round < PRICE_ROUNDS; round++) {
        double work, sum = 0, top = 0;

        for (unsigned c = 0; c < nclasses; c++) {
            price[c] = share[c] / s->in->classes[c].size;
            load[c] = 0;
        }
        work = work_of_all(s, price, load);
        if (work > most) {
            most = work;
            memcpy(best, price, nclasses * sizeof(*best));
        }
        if (round == 0 || round == PRICE_ROUNDS - 1)
            add_prices(s, price);
        for (unsigned c = 0; c < nclasses; c++)
            top = fmax(top, load[c]);
        for (unsigned c = 0; c < nclasses; c++) {
            if (top > 0)
                share[c] *= exp(load[c] / top / sqrt(1 + round));
            sum += share[c];
        }
        for (unsigned c = 0; c < nclasses; c++)
            share[c] /= sum;
    }
    add_prices(s, best);
    for (unsigned c = 0; c < nclasses; c++) {
        memset(price, 0, nclasses * sizeof(*price));
        price[c] = 1. / s->in->classes[c].size;
        add_prices(s, price);
    }
    free(all);
    return 0;
}

/* -- a state -- */

static const struct slot *state_slot_of_task(const struct search *s,
                                             const struct state *at,
                                             unsigned task)
{
    return &s->slots[s->variants[at->variant[task]].slot];
}

static bool is_running(const struct search *s, const struct state *at,
                       unsigned i, unsigned class)
{
    return at->done & task_bit(i) && at->end[i] > at->now &&
           state_slot_of_task(s, at, i)->class == class;
}

/* When enough workers of a class are free. */
static double slot_free_at(const struct search *s, const struct state *at,
                           const struct slot *slot)
{
    unsigned busy = 0, size = s->in->classes[slot->class].size;
    double when = at->now;

    for (unsigned i = 0; i < s->n; i++)
        if (is_running(s, at, i, slot->class))
            busy += state_slot_of_task(s, at, i)->width;
    while (size - busy < slot->width) {
        double next = INFINITY;

        for (unsigned i = 0; i < s->n; i++)
            if (is_running(s, at, i, slot->class) && at->end[i] > when)
                next = fmin(next, at->end[i]);
        for (unsigned i = 0; i < s->n; i++)
            if (is_running(s, at, i, slot->class) && at->end[i] == next)
                busy -= state_slot_of_task(s, at, i)->width;
        when = next;
    }
    return when;
}

static void state_find_free_times(struct search *s, const struct state *at)
{
    for (unsigned i = 0; i < s->nslots; i++)
        s->free_at[i] = slot_free_at(s, at, &s->slots[i]);
}

static double areas_bound(const struct search *s, const struct state *at)
{
    double best = 0;

    for (unsigned k = 0; k < s->nprices; k++) {
        const double *price = s->price + (size_t)k * s->in->nclasses;
        double sum = at->now;

        for (unsigned i = 0; i < s->n; i++) {
            const struct slot *slot;

            if (!(at->done & task_bit(i))) {
                sum += s->tasks[i].work[k];
            } else if (at->end[i] > at->now) {
                slot = state_slot_of_task(s, at, i);
                sum +=
                    price[slot->class] * slot->width * (at->end[i] - at->now);
            }
        }
        best = fmax(best, sum);
    }
    return best;
}

/* A lower bound on the schedules that continue this state. Sets free_at. */
static double bound_of(struct search *s, const struct state *at)
{
    double end[MOST], bound = at->now;

    state_find_free_times(s, at);
    for (unsigned i = 0; i < s->n; i++) {
        const struct task *task = &s->tasks[i];
        double ready = at->now;

        end[i] = at->end[i];
        if (at->done & task_bit(i)) {
            bound = fmax(bound, end[i] + task->tail_ms);
            continue;
        }
        for (task_set left = task->preds; left; left &= left - 1)
            ready = fmax(ready, end[__builtin_ctz(left)]);
        end[i] = INFINITY;
        for (unsigned w = task->first_variant;
             w < task->first_variant + task->nvariants; w++)
            end[i] = fmin(end[i], fmax(ready, s->free_at[s->variants[w].slot]) +
                                      s->variants[w].ms);
        bound = fmax(bound, end[i] + task->tail_ms);
    }
    return fmax(bound, areas_bound(s, at));
}

static struct state state_place_task(const struct search *s,
                                     const struct state *at,
                                     const struct child *child)
{
    struct state next = *at;
    const struct variant *variant = &s->variants[child->variant];

    next.now = child->start;
    next.done |= task_bit(child->task);
    next.end[child->task] = child->start + variant->ms;
    next.variant[child->task] = child->variant;
    return next;
}

/* -- states seen -- */

static struct seen *seen_at(const struct search *s, unsigned i)
{
    return (struct seen *)(void *)(s->memory + i * s->seen_bytes);
}

/* How many workers of a class are busy just after a time. */
static unsigned busy_after(const struct search *s, const struct state *at,
                           unsigned class, double when)
{
    unsigned busy = 0;

    for (unsigned i = 0; i < s->n; i++)
        if (at->done & task_bit(i) && at->end[i] > when &&
            state_slot_of_task(s, at, i)->class == class)
            busy += state_slot_of_task(s, at, i)->width;
    return busy;
}

/* Whether whatever can follow b can follow a, no later. */
static bool state_dominates(const struct search *s, const struct seen *seen,
                            const struct state *b)
{
    struct state a = {.done = seen->done};

    if (seen->done != b->done || seen->now > b->now)
        return false;
    for (unsigned i = 0; i < s->n; i++) {
        if (!(b->done & task_bit(i)))
            continue;
        a.end[i] = seen->placed[i].end;
        a.variant[i] = seen->placed[i].variant;
        if (s->tasks[i].succs & ~b->done && a.end[i] > fmax(b->end[i], b->now))
            return false;
    }
    /* Workers busy after any time, which changes only where tasks end in b. */
    for (unsigned i = 0; i < s->n; i++) {
        unsigned class;

        if (!(a.done & task_bit(i)) || a.end[i] <= b->now)
            continue;
        class = state_slot_of_task(s, &a, i)->class;
        if (busy_after(s, &a, class, b->now) > busy_after(s, b, class, b->now))
            return false;
        for (unsigned j = 0; j < s->n; j++)
            if (is_running(s, b, j, class) &&
                busy_after(s, &a, class, b->end[j]) >
                    busy_after(s, b, class, b->end[j]))
                return false;
    }
    return true;
}

/* Room for more states, if there may be more; without, none is kept. */
static bool search_grow_memory(struct search *s)
{
    size_t room = 2 * (size_t)s->room;
    char *larger;

    if (room > s->most_room)
        return false;
    larger = realloc(s->memory, room * s->seen_bytes);
    if (!larger)
        return false;
    s->memory = larger;
    s->room = (unsigned)room;
    return true;
}

/* Whether a state seen before dominates this one; if not, keeps it. */
static bool is_dominated(struct search *s, const struct state *at)
{
    unsigned *head = &s->heads[at->done * UINT32_C(2654435761) >> 16];
    unsigned looks = 0;
    struct seen *seen;

    for (unsigned i = *head; i && looks < MOST_LOOKS; looks++) {
        seen = seen_at(s, i - 1);
        if (state_dominates(s, seen, at))
            return true;
        i = seen->next;
    }
    if (s->nseen == s->room && !search_grow_memory(s))
        return false;
    seen = seen_at(s, s->nseen++);
    seen->done = at->done;
    seen->now = at->now;
    seen->next = *head;
    for (unsigned i = 0; i < s->n; i++) {
        seen->placed[i].end = at->end[i];
        seen->placed[i].variant = at->variant[i];
    }
    *head = s->nseen;
    return false;
}

/* -- the search -- */

/* The tasks that may start next: their variants, the earliest of the first
 * ends, and the task that has it. */
static unsigned list_children(struct search *s, const struct state *at,
                              struct child *children)
{
    double first_end = INFINITY;
    unsigned n = 0, first = 0, kept = 0;

    state_find_free_times(s, at);
    for (unsigned i = 0; i < s->n; i++) {
        const struct task *task = &s->tasks[i];
        double ready = at->now;

        if (at->done & task_bit(i) || (task->preds | task->twins) & ~at->done)
            continue;
        for (task_set left = task->preds; left; left &= left - 1)
            ready = fmax(ready, at->end[__builtin_ctz(left)]);
        for (unsigned w = task->first_variant;
             w < task->first_variant + task->nvariants; w++) {
            double start = fmax(ready, s->free_at[s->variants[w].slot]);

            children[n] = (struct child){i, w, start, 0};
            if (start + s->variants[w].ms < first_end) {
                first_end = start + s->variants[w].ms;
                first = n;
            }
            n++;
        }
    }
    for (unsigned i = 0; i < n; i++)
        if (i == first || children[i].start < first_end)
            children[kept++] = children[i];
    return kept;
}

static int compare_children(const void *a, const void *b)
{
    const struct child *x = a, *y = b;

    if (x->bound != y->bound)
        return x->bound < y->bound ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->variant > y->variant) - (x->variant < y->variant);
}

static void search_leave_out(struct search *s, double bound)
{
    s->left_out = fmin(s->left_out, bound);
}

static bool is_out_of_time(struct search *s)
{
    if (s->nodes >= s->last_node ||
        (s->nodes % CLOCK_NODES == 0 && orr_bound_clock() > s->stop_at))
        s->stopped = true;
    return s->stopped;
}

static void search_finish_state(struct search *s, const struct state *at)
{
    double end = 0;

    for (unsigned i = 0; i < s->n; i++)
        end = fmax(end, at->end[i]);
    if (end < s->upper) {
        s->upper = end;
        s->best = *at;
    }
    s->limit = fmin(s->limit, end * (1 - ROUNDING));
}

/* As deep as there are tasks. `room` is for the children of this level on. */
static void search_explore(struct search *s, const struct state *at,
                           double bound, struct child *room)
{
    unsigned n;

    if (at->done == task_bit(s->n) - 1) {
        search_finish_state(s, at);
        return;
    }
    s->nodes++;
    if (is_out_of_time(s)) {
        search_leave_out(s, bound);
        return;
    }
    n = list_children(s, at, room);
    for (unsigned i = 0; i < n; i++) {
        struct state next = state_place_task(s, at, &room[i]);

        room[i].bound = fmax(bound, bound_of(s, &next));
    }
    qsort(room, n, sizeof(*room), compare_children);
    for (unsigned i = 0; i < n; i++) {
        struct state next;

        if (s->stopped || room[i].bound >= s->limit) {
            search_leave_out(s, room[i].bound);
            continue;
        }
        next = state_place_task(s, at, &room[i]);
        if (!is_dominated(s, &next))
            search_explore(s, &next, room[i].bound, room + n);
    }
}

/* One pass, which finds a best schedule shorter than `limit` or proves that
 * there is none, unless it is stopped. Returns what is proved. */
static double search_pass(struct search *s, double root, double limit,
                          unsigned long nodes)
{
    unsigned long last = s->options->nodes ? s->options->nodes : ~0UL;
    struct state start = {0};

    memset(s->heads, 0, HASH_SIZE * sizeof(*s->heads));
    s->nseen = 0;
    s->limit = limit * (1 - ROUNDING);
    s->left_out = INFINITY;
    s->stopped = false;
    s->last_node = nodes && nodes < last - s->nodes ? s->nodes + nodes : last;
    search_explore(s, &start, root, s->children);
    return fmax(root, fmin(s->left_out, s->upper));
}

static bool search_is_exhausted(const struct search *s)
{
    return s->stopped && (orr_bound_clock() > s->stop_at ||
                          (s->options->nodes && s->nodes >= s->options->nodes));
}

/* A few schedules first, then limits between what is proved and found. */
static double search_all(struct search *s)
{
    struct state start = {0};
    double root = bound_of(s, &start);
    double lower = search_pass(s, root, INFINITY, DIVE_NODES);

    for (unsigned pass = 0;
         s->stopped && !search_is_exhausted(s) && pass < HALVINGS &&
         lower < s->upper * (1 - ROUNDING);
         pass++) {
        double limit = lower + (s->upper - lower) / 2;

        lower = fmax(lower, search_pass(s, lower, limit, 0));
        if (!s->stopped && s->upper < limit)
            return s->upper;
        s->stopped = true; /* not the last pass yet */
    }
    if (s->stopped && !search_is_exhausted(s) &&
        lower < s->upper * (1 - ROUNDING))
        lower = fmax(lower, search_pass(s, lower, s->upper, 0));
    return lower;
}

/* The class that is at work for the largest share of the best schedule. */
static void find_busiest(const struct search *s, struct orr_search_result *ret)
{
    ret->busiest = 0;
    ret->busy = 0;
    for (unsigned c = 0; c < s->in->nclasses && s->upper > 0; c++) {
        double work = 0, share;

        for (unsigned i = 0; i < s->n; i++)
            if (state_slot_of_task(s, &s->best, i)->class == c)
                work += state_slot_of_task(s, &s->best, i)->width *
                        s->variants[s->best.variant[i]].ms;
        share = work / s->in->classes[c].size / s->upper;
        if (share > ret->busy) {
            ret->busy = share;
            ret->busiest = c;
        }
    }
}

static void search_free_memory(struct search *s)
{
    free(s->variants);
    free(s->slots);
    free(s->free_at);
    free(s->price);
    free(s->heads);
    free(s->memory);
    free(s->children);
}

static int search_init(struct search *s)
{
    size_t bytes = s->options->bytes ? s->options->bytes : MOST_BYTES;
    size_t nvariants = 1;

    for (unsigned t = 0; t < s->n; t++)
        nvariants += s->in->types[s->in->type[t]].nvariants;
    s->seen_bytes =
        sizeof(struct seen) + s->n * sizeof(((struct seen *)NULL)->placed[0]);
    s->most_room = (unsigned)(bytes / s->seen_bytes);
    s->room = s->most_room < FIRST_ROOM ? s->most_room : FIRST_ROOM;
    s->variants = calloc(nvariants, sizeof(*s->variants));
    s->slots = calloc(nvariants, sizeof(*s->slots));
    s->free_at = calloc(nvariants, sizeof(*s->free_at));
    s->price =
        calloc((size_t)MOST_PRICES * s->in->nclasses + 1, sizeof(*s->price));
    s->heads = calloc(HASH_SIZE, sizeof(*s->heads));
    s->memory = malloc(s->room * s->seen_bytes + 1);
    s->children = calloc(nvariants * (s->n + 1), sizeof(*s->children));
    if (!s->variants || !s->slots || !s->free_at || !s->price || !s->heads ||
        !s->memory || !s->children)
        return -ENOMEM;
    search_read_tasks(s);
    return make_prices(s);
}

int orr_search(const struct orr_bound_instance *instance,
               const struct orr_search_options *options,
               struct orr_search_result *ret)
{
    struct search *s = calloc(1, sizeof(*s));
    double lower;
    int rc;

    assert(instance->ntasks <= ORR_SEARCH_MOST);
    if (!s)
        return -ENOMEM;
    s->in = instance;
    s->options = options;
    s->n = instance->ntasks;
    s->upper = INFINITY;
    s->stop_at = orr_bound_clock() + options->seconds;
    rc = search_init(s);
    if (!rc) {
        lower = search_all(s);
        *ret = (struct orr_search_result){
            .finished = !(lower < s->upper * (1 - 2 * ROUNDING)),
            .lower_ms = fmin(lower, s->upper) * (1 - 2 * ROUNDING),
            .upper_ms = s->upper,
            .nodes = s->nodes};
        if (isfinite(s->upper))
            find_busiest(s, ret);
    }
    search_free_memory(s);
    free(s);
    return rc;
}
