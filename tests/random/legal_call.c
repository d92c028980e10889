/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/legal_call.c - the rules for calls that are no tasks: see
 * legal_private.h. */
#include "legal_private.h"

#include <string.h>

/* -- acquisitions -- */

/* Whether others than tasks may copy the datum. The indices of sparse pieces are
 * of their own. */
static bool may_be_copied(const struct legal *l, unsigned d)
{
    const struct data *data = &l->in->data[d];

    if (data->parent >= 0 &&
        (data->shape.layout == CSR || data->shape.layout == BCSR))
        return false;
    return data->kind == DATA_CHAIN && data->owner != SHARED &&
           data->shape.layout != NOTHING &&
           data->shape.layout != MULTIFORMAT;
}

/* Each datum may have a duplicate at once, beside itself: a device holds both, for
 * the task that copies, whatever else is held there. */
static bool fits_twice(const struct legal *l)
{
    return !l->machine->ram_kib && 2 * l->bytes <= l->device_bytes;
}

static void mend_manner(const struct legal *l, struct call *call)
{
    call->copied = call->copied && call->how == HOW_WAIT && fits_twice(l) &&
                   legal_valued(l, call->data) &&
                   is_main(l->machine, call->node) &&
                   may_be_copied(l, call->data);
    if (call->copied)
        call->mode = STARPU_R;
    call->downgraded = call->downgraded && call->how == HOW_WAIT &&
                       legal_writes(call->mode);
}

static bool mend_acquire(const struct legal *l, struct call *call)
{
    const struct data *data = &l->in->data[call->data];

    call->node %= (uint8_t)machine_nodes(l->machine);
    if (data->kind == DATA_SCRATCH || call->how >= NHOWS)
        return false;
    if (!is_main(l->machine, call->node) || call->how == HOW_TRY ||
        data->owner == SHARED)
        call->mode = data->kind == DATA_COUNTER && call->how != HOW_TRY &&
                             is_main(l->machine, call->node)
                         ? call->mode
                         : STARPU_R;
    if (!legal_valued(l, call->data) &&
        (call->how == HOW_TRY || call->mode == STARPU_R))
        return false;
    call->mode =
        (uint16_t)(legal_fit_mode(l, call->data, call->mode) & STARPU_RW);
    mend_manner(l, call);
    return call->mode != 0;
}

/* Whether one more acquisition that may go on after the call is allowed; the
 * library has room for 4 of a datum, of which each thread may need one. */
static bool has_place(const struct legal *l, unsigned d)
{
    if (legal_has(l, FEATURE_CROWD))
        return true;
    return l->in->data[d].owner != SHARED && l->states[d].nacquired < 2;
}

static void acquire_later(struct legal *l, const struct call *call)
{
    struct state *s = &l->states[call->data];

    if (l->in->data[call->data].disordered || !has_place(l, call->data))
        return;
    s->nacquired++;
    s->called = true;
    legal_switch_for(l, call->data, call->mode);
    legal_emit(l, call);
    legal_enter(l, call->data, call->mode, 0, true,
                legal_waits_of(l, call->data, call->mode, true));
}

/* It is held until its release, at once where that cannot be kept track of or
 * where it takes memory that tasks need. */
static void hold(struct legal *l, const struct call *call)
{
    struct state *s = &l->states[call->data];
    struct waits waits = {0, 0, 0};
    bool takes_main =
        l->machine->ram_kib && l->in->data[call->data].home < 0;

    s->held = true;
    s->hold_thread = call->thread;
    s->hold_node = call->node;
    if (l->in->nthreads > 1 || l->in->data[call->data].disordered ||
        l->nholds == 64 ||
        (l->tight && (takes_main || !is_main(l->machine, call->node)))) {
        legal_release(l, call->data);
        return;
    }
    s->hold = waits.holds = bit(l->nholds++);
    legal_enter(l, call->data, call->mode, 0, true, waits);
}

static void is_written(struct legal *l, unsigned d)
{
    l->states[d].valued = l->states[d].was_valued = true;
    if (legal_in_family(l, d))
        legal_family_is_valued(l, d);
}

void legal_do_acquire(struct legal *l, struct call *call)
{
    struct state *s = &l->states[call->data];
    struct waits waits;

    if (!legal_usable(l, call, call->data) || !mend_acquire(l, call))
        return;
    legal_release(l, call->data);
    if (!legal_await_disordered(l, call->thread, call->data,
                                legal_writes(call->mode)))
        return;
    if (call->how == HOW_CALLBACK) {
        acquire_later(l, call);
        return;
    }
    if (call->how == HOW_TRY) {
        legal_switch_for(l, call->data, call->mode);
        legal_emit(l, call);
        return;
    }
    waits = legal_waits_of(l, call->data, call->mode, true);
    if (!legal_may_wait(l, call->thread, waits))
        return;
    if (!call->copied) /* a duplicate is waited for when it is looked at */
        legal_has_waited(l, call->thread, waits);
    legal_switch_for(l, call->data, call->mode);
    legal_emit(l, call);
    if (legal_writes(call->mode) &&
        !legal_is_free(l->features, &l->in->data[call->data]))
        legal_calm(s);
    if (legal_writes(call->mode))
        is_written(l, call->data);
    hold(l, call);
}

void legal_do_release(struct legal *l, struct call *call)
{
    struct state *s = &l->states[call->data];

    if (!s->held || s->hold_thread != call->thread)
        return;
    legal_release(l, call->data);
    l->out->calls[l->out->ncalls - 1].automatic = false;
}

/* -- hints -- */

void legal_do_prefetch(struct legal *l, struct call *call)
{
    struct state *s = &l->states[call->data];
    struct waits waits;

    call->node %= (uint8_t)machine_nodes(l->machine);
    if (!legal_usable(l, call, call->data) || !legal_valued(l, call->data) ||
        l->in->data[call->data].kind == DATA_SCRATCH)
        return;
    waits = legal_waits_of(l, call->data, STARPU_R, true);
    if (call->how == HOW_WAIT) {
        if (!legal_await_disordered(l, call->thread, call->data, false) ||
            !legal_may_wait(l, call->thread, waits))
            return;
        legal_has_waited(l, call->thread, waits);
    } else if (!legal_may_hint(l, call->data) ||
               (l->tight && !legal_has(l, FEATURE_PREFETCH_TIGHT))) {
        return;
    } else if (!l->in->data[call->data].disordered) {
        if (!has_place(l, call->data))
            return;
        s->nacquired++;
        legal_enter(l, call->data, STARPU_R, 0, true, waits);
    }
    legal_switch_for(l, call->data, STARPU_R);
    legal_emit(l, call);
}

void legal_do_wont_use(struct legal *l, struct call *call)
{
    if (!legal_usable(l, call, call->data) || !legal_may_hint(l, call->data))
        return;
    if (!l->in->data[call->data].disordered)
        legal_enter(l, call->data, STARPU_R, 0, true,
                    legal_waits_of(l, call->data, STARPU_R, true));
    legal_emit(l, call);
}

void legal_do_evict(struct legal *l, struct call *call)
{
    call->node %= (uint8_t)machine_nodes(l->machine);
    if (legal_usable(l, call, call->data))
        legal_emit(l, call);
}

/* -- beginnings and ends -- */

/* Whether the thread may wait until nobody uses the datum, which others than
 * tasks are ordered after. */
static bool may_calm(struct legal *l, const struct call *call, unsigned d)
{
    struct state *s = &l->states[d];
    struct waits waits = legal_joined(s->write, s->read);

    if (legal_in_family(l, d)) {
        waits.tasks |= s->family.tasks;
        waits.holds |= s->family.holds;
        legal_release_family(l, d);
    }
    legal_release(l, d);
    if (!legal_await_disordered(l, call->thread, d, true) ||
        !legal_may_wait(l, call->thread, waits))
        return false;
    legal_has_waited(l, call->thread, waits);
    return true;
}

static bool has_an_end(const struct legal *l, const struct call *call)
{
    const struct data *data = &l->in->data[call->data];

    return legal_usable(l, call, call->data) &&
           legal_owns(data, call->thread) && data->kind != DATA_SCRATCH;
}

static bool are_alike(const struct shape *a, const struct shape *b)
{
    return a->layout == b->layout && a->ndim == b->ndim &&
           memcmp(a->nn, b->nn, sizeof(a->nn)) == 0;
}

/* Whether a task may copy one to the other, on any worker. */
static bool may_copy(const struct legal *l, const struct call *call,
                     unsigned from)
{
    const struct data *to = &l->in->data[call->data];
    const struct data *data = &l->in->data[from];

    return from != call->data && may_be_copied(l, from) &&
           legal_usable(l, call, from) && legal_valued(l, from) &&
           are_alike(&data->shape, &to->shape) &&
           !(legal_in_family(l, from) && legal_in_family(l, call->data)) &&
           2 * data_bytes(data) + l->scratch_bytes <= l->device_bytes;
}

/* The first one from the one that was drawn that can be. */
static bool find_source(const struct legal *l, struct call *call)
{
    for (unsigned k = 0; k < l->in->ndata; k++) {
        unsigned from = (call->from + k) % l->in->ndata;

        if (may_copy(l, call, from)) {
            call->from = (uint8_t)from;
            return true;
        }
    }
    return false;
}

void legal_do_copy(struct legal *l, struct call *call)
{
    struct waits waits;
    bool later;

    if (!legal_usable(l, call, call->data) || !may_be_copied(l, call->data) ||
        legal_fit_mode(l, call->data, STARPU_W) != STARPU_W ||
        !find_source(l, call))
        return;
    legal_release(l, call->data);
    legal_release(l, call->from);
    if (!legal_await_disordered(l, call->thread, call->data, true) ||
        !legal_await_disordered(l, call->thread, call->from, false))
        return;
    waits = legal_joined(legal_waits_of(l, call->data, STARPU_W, true),
                         legal_waits_of(l, call->from, STARPU_R, true));
    later = call->how == HOW_SUBMIT && !l->in->data[call->data].disordered &&
            !l->in->data[call->from].disordered;
    call->how = later ? HOW_SUBMIT : HOW_WAIT;
    if (!later && !legal_may_wait(l, call->thread, waits))
        return;
    legal_switch_for(l, call->data, STARPU_W);
    legal_switch_for(l, call->from, STARPU_R);
    if (later) {
        legal_enter(l, call->data, STARPU_W, 0, true, waits);
        legal_enter(l, call->from, STARPU_R, 0, true, waits);
    } else {
        legal_has_waited(l, call->thread, waits);
        legal_calm(&l->states[call->data]);
    }
    is_written(l, call->data);
    legal_emit(l, call);
}

void legal_do_invalidate(struct legal *l, struct call *call)
{
    struct state *s = &l->states[call->data];

    call->how &= HOW_SUBMIT;
    if (!has_an_end(l, call) || l->in->data[call->data].parent >= 0 ||
        l->in->data[call->data].kind == DATA_COUNTER ||
        !legal_may_overwrite(l, call->data))
        return; /* what comes next is a write */
    if (call->how == HOW_SUBMIT) {
        if (!legal_await_disordered(l, call->thread, call->data, true) ||
            l->in->data[call->data].disordered)
            return;
        legal_enter(l, call->data, STARPU_W, 0, true,
                    legal_waits_of(l, call->data, STARPU_W, true));
    } else {
        if (!may_calm(l, call, call->data))
            return;
        legal_calm(s);
    }
    legal_switch_for(l, call->data, STARPU_W);
    if (legal_in_family(l, call->data))
        legal_forget_family(l, call->data, call->how == HOW_WAIT);
    s->valued = legal_makes_first(l, call->data);
    legal_emit(l, call);
}

static void begin(struct legal *l, unsigned d, bool valued)
{
    struct state *s = &l->states[d];

    legal_calm(s);
    s->registered = true;
    s->cut = s->held = false;
    s->valued = s->was_valued = valued;
    memset(s->plans, PLAN_NONE, sizeof(s->plans));
    s->family = (struct waits){0, 0, 0};
}

void legal_do_register(struct legal *l, struct call *call)
{
    const struct data *data = &l->in->data[call->data];
    struct state *s = &l->states[call->data];

    if (s->registered || s->lost || data->parent >= 0 ||
        (!call->automatic && !legal_owns(data, call->thread)))
        return;
    begin(l, call->data,
          data->home >= 0 || legal_makes_first(l, call->data));
    legal_emit(l, call);
}

/* The value is back in the memory that was registered. */
void legal_do_unregister(struct legal *l, struct call *call)
{
    const struct data *data = &l->in->data[call->data];
    struct state *s = &l->states[call->data];

    call->how %= NHOWS;
    if (!call->automatic && (!has_an_end(l, call) || data->parent >= 0))
        return;
    if (call->how == HOW_WAIT && !s->valued && data->home >= 0 &&
        !legal_has(l, FEATURE_VALUELESS))
        call->how = HOW_DROP;
    if (data->planned && !s->valued && call->how == HOW_WAIT)
        call->how = HOW_DROP; /* some pieces may have one */
    legal_clean_all(l, call->data, call->thread);
    if (call->how == HOW_SUBMIT && s->called)
        call->how = HOW_DROP; /* nobody would know when that is over */
    legal_release(l, call->data);
    if (call->how == HOW_SUBMIT)
        s->lost = true; /* tasks still use it */
    else if (!may_calm(l, call, call->data))
        return;
    s->registered = false;
    legal_emit(l, call);
}

void legal_do_partition(struct legal *l, struct call *call)
{
    const struct data *data = &l->in->data[call->data];
    struct state *s = &l->states[call->data];

    if (data->planned && legal_usable(l, call, call->data) &&
        legal_owns(data, call->thread))
        legal_do_plan(l, call);
    if (data->planned || !data->cuts[0].n ||
        !legal_usable(l, call, call->data) || !legal_owns(data, call->thread) ||
        !may_calm(l, call, call->data))
        return;
    legal_calm(s);
    s->cut = true;
    for (unsigned d = 0; d < l->in->ndata; d++)
        if (l->in->data[d].parent == (int8_t)call->data) {
            begin(l, d, s->valued);
            l->states[d].was_valued |= s->was_valued;
        }
    legal_emit(l, call);
}

/* Whether the pieces, and theirs, are used by nobody any more. */
static bool may_join(struct legal *l, const struct call *call, unsigned parent)
{
    for (unsigned d = 0; d < l->in->ndata; d++)
        if (l->in->data[d].parent == (int8_t)parent &&
            (l->states[d].cut ? !may_join(l, call, d) : !may_calm(l, call, d)))
            return false;
    return true;
}

static void join_pieces(struct legal *l, unsigned parent)
{
    struct state *s = &l->states[parent];
    bool valued = true;

    for (unsigned d = 0; d < l->in->ndata; d++) {
        if (l->in->data[d].parent != (int8_t)parent)
            continue;
        if (l->states[d].cut)
            join_pieces(l, d);
        valued &= l->states[d].valued;
        l->states[d].registered = false;
    }
    legal_calm(s);
    s->cut = false;
    s->was_valued |= valued;
    s->valued = valued;
}

void legal_do_unpartition(struct legal *l, struct call *call)
{
    const struct data *data = &l->in->data[call->data];

    if (data->planned)
        legal_do_clean(l, call);
    if (!l->states[call->data].cut ||
        (!call->automatic && !legal_owns(data, call->thread)))
        return;
    call->node %= (uint8_t)machine_nodes(l->machine);
    if (!may_join(l, call, call->data))
        return;
    join_pieces(l, call->data);
    legal_emit(l, call);
}

/* -- waits -- */

void legal_do_wait_all(struct legal *l, struct call *call)
{
    (void)legal_wait_all(l, call->thread, false);
}

static bool may_wait_for(struct legal *l, const struct call *call)
{
    return l->submitted & l->exist[call->thread] & bit(call->task) &&
           legal_may_wait(l, call->thread, l->tasks[call->task]);
}

void legal_do_wait_task(struct legal *l, struct call *call)
{
    if ((l->synchronous | l->waited) & bit(call->task) ||
        !may_wait_for(l, call))
        return;
    l->waited |= bit(call->task);
    legal_has_waited(l, call->thread, l->tasks[call->task]);
    legal_emit(l, call);
}

void legal_do_wait_tag(struct legal *l, struct call *call)
{
    if (!may_wait_for(l, call))
        return;
    l->out->tagged |= bit(call->task);
    legal_has_waited(l, call->thread, l->tasks[call->task]);
    legal_emit(l, call);
}
