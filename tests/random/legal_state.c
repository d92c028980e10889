/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/legal_state.c - see legal_private.h. */
#include "legal_private.h"

bool legal_has(const struct legal *l, enum feature feature)
{
    return l->features & feature_bit(feature);
}

struct waits legal_joined(struct waits a, struct waits b)
{
    return (struct waits){a.tasks | b.tasks, a.holds | b.holds,
                          a.sure | b.sure};
}

struct waits legal_expanded(const struct legal *l, struct waits w)
{
    uint64_t sure = 0;

    for (uint64_t done = 0; w.sure & ~done;) {
        unsigned t = (unsigned)__builtin_ctzll(w.sure & ~done);

        done |= bit(t);
        w.sure |= l->tasks[t].sure;
    }
    sure = w.sure;
    for (uint64_t done = 0; w.tasks & ~done;) {
        unsigned t = (unsigned)__builtin_ctzll(w.tasks & ~done);

        done |= bit(t);
        w = legal_joined(w, l->tasks[t]);
    }
    w.sure = sure;
    return w;
}

void legal_emit(struct legal *l, const struct call *call)
{
    if (l->out->ncalls < MAX_CALLS)
        l->out->calls[l->out->ncalls++] = *call;
}

void legal_emit_automatic(struct legal *l, enum call_kind kind, unsigned thread,
                          unsigned d)
{
    struct call call = {.kind = (uint8_t)kind,
                        .thread = (uint8_t)thread,
                        .automatic = true,
                        .data = (uint8_t)d};

    legal_emit(l, &call);
}

/* -- holding and waiting -- */

void legal_release(struct legal *l, unsigned d)
{
    struct state *s = &l->states[d];
    struct call call = {.kind = CALL_RELEASE,
                        .thread = s->hold_thread,
                        .automatic = true,
                        .data = (uint8_t)d,
                        .node = s->hold_node};

    if (!s->held)
        return;
    s->held = false;
    legal_emit(l, &call);
}

void legal_release_all(struct legal *l, unsigned thread)
{
    for (unsigned d = 0; d < l->in->ndata; d++)
        if (l->states[d].hold_thread == thread)
            legal_release(l, d);
}

bool legal_may_wait(struct legal *l, unsigned thread, struct waits waits)
{
    uint64_t active = 0;

    waits = legal_expanded(l, waits);
    if (waits.tasks & ~l->submitted)
        return false;
    for (unsigned d = 0; d < l->in->ndata; d++) {
        const struct state *s = &l->states[d];

        if (s->held && s->hold_thread == thread)
            active |= s->hold;
    }
    if (waits.holds & active)
        legal_release_all(l, thread);
    return true;
}

void legal_has_waited(struct legal *l, unsigned thread, struct waits waits)
{
    waits.sure &= l->exist[thread];
    l->finished[thread] |= legal_expanded(l, waits).sure;
}

bool legal_wait_all(struct legal *l, unsigned thread, bool automatic)
{
    struct waits all = {l->submitted, 0, l->submitted};

    if (!legal_may_wait(l, thread, all))
        return false;
    legal_emit_automatic(l, CALL_WAIT_ALL, thread, 0);
    l->out->calls[l->out->ncalls - 1].automatic = automatic;
    all.sure &= l->exist[thread];
    legal_has_waited(l, thread, all);
    return true;
}

bool legal_is_free(uint64_t features, const struct data *data)
{
    return features & feature_bit(FEATURE_UNORDERED) &&
           data->kind == DATA_COUNTER && data->disordered;
}

bool legal_await_disordered(struct legal *l, unsigned thread, unsigned d,
                            bool writes)
{
    const struct state *s = &l->states[d];
    uint64_t before = writes ? s->writers | s->readers : s->writers;

    if (legal_is_free(l->features, &l->in->data[d]))
        return true;
    if (!l->in->data[d].disordered)
        before &= s->disordered;
    return !(before & ~l->finished[thread]) || legal_wait_all(l, thread, true);
}

/* -- what is allowed on a datum -- */

bool legal_owns(const struct data *data, unsigned thread)
{
    return data->owner == thread;
}

bool legal_usable(const struct legal *l, const struct call *call, unsigned d)
{
    const struct data *data = &l->in->data[d];
    const struct state *s = &l->states[d];

    return s->registered && !s->cut &&
           (legal_owns(data, call->thread) || data->owner == SHARED);
}

bool legal_makes_first(const struct legal *l, unsigned d)
{
    return legal_has(l, FEATURE_FIRST) && data_makes_first(&l->in->data[d]);
}

bool legal_may_overwrite(const struct legal *l, unsigned d)
{
    const struct state *s = &l->states[d];

    if (legal_has(l, FEATURE_OVERWRITE))
        return true;
    return !s->was_valued || !(l->tight || l->copied & bit(d));
}

unsigned legal_fit_mode(const struct legal *l, unsigned d, unsigned mode)
{
    const struct data *data = &l->in->data[d];

    if (data->kind == DATA_SCRATCH)
        return l->tight && !legal_has(l, FEATURE_SCRATCH_TIGHT)
                   ? 0
                   : STARPU_SCRATCH;
    if (legal_in_family(l, d) && !legal_valued(l, d) && !legal_may_begin(l, d))
        return 0;
    mode &= STARPU_RW | STARPU_COMMUTE | STARPU_REDUX;
    if (mode & STARPU_REDUX)
        mode = data->redux ? STARPU_REDUX : STARPU_RW | STARPU_COMMUTE;
    if (mode & STARPU_COMMUTE)
        mode = STARPU_RW | STARPU_COMMUTE;
    if (!mode)
        mode = STARPU_R;
    if (data->kind == DATA_COUNTER)
        return mode == STARPU_W ? STARPU_RW : mode;
    if (data->owner == SHARED)
        return legal_valued(l, d) ? STARPU_R : 0;
    if (!legal_valued(l, d))
        return STARPU_W;
    return mode == STARPU_W && !legal_may_overwrite(l, d) ? STARPU_RW : mode;
}

bool legal_valued(const struct legal *l, unsigned d)
{
    return legal_in_family(l, d) ? legal_family_valued(l, d)
                                 : l->states[d].valued;
}

bool legal_may_hint(const struct legal *l, unsigned d)
{
    if (l->in->data[d].kind == DATA_SCRATCH)
        return false;
    return !l->machine->real || !(l->without_order & bit(d)) ||
           legal_has(l, FEATURE_HINT_DISORDER);
}

enum group legal_group_of(unsigned mode)
{
    if (mode & STARPU_REDUX)
        return REDUCING;
    return mode & STARPU_COMMUTE ? COMMUTING : ALONE;
}

bool legal_writes(unsigned mode)
{
    return mode & (STARPU_W | STARPU_REDUX);
}

/* Whether the access joins the writers before it. */
static bool joins(const struct state *s, unsigned mode)
{
    enum group group = legal_group_of(mode);

    return group != ALONE && s->group == group && !s->readers;
}

struct waits legal_waits_of(const struct legal *l, unsigned d, unsigned mode,
                            bool ordered)
{
    const struct state *s = &l->states[d];
    struct waits waits = s->write;

    if (legal_writes(mode))
        waits = legal_joined(waits, s->read);
    if (legal_in_family(l, d)) {
        const struct waits *family = &l->states[legal_root(l, d)].family;

        waits.tasks |= family->tasks;
        waits.holds |= family->holds;
    }
    if (!ordered || legal_is_free(l->features, &l->in->data[d]))
        waits.sure = 0; /* but for the dependencies that it gets */
    else if (joins(s, mode))
        waits.sure = s->before_sure;
    return waits;
}

/* What it has been written, all members of its family are, or may be. */
static void enter_family(struct legal *l, unsigned d, unsigned mode,
                         struct waits waits)
{
    struct state *root;

    if (!legal_in_family(l, d))
        return;
    root = &l->states[legal_root(l, d)];
    root->family = legal_joined(root->family, waits);
    root->family.sure = 0;
    if (legal_writes(mode))
        legal_family_is_valued(l, d);
}

static void enter(struct state *s, unsigned mode, uint64_t task, bool ordered,
                  struct waits waits)
{
    enum group group = legal_group_of(mode);

    if (!ordered)
        s->disordered |= task;
    if (!task)
        s->async = true;
    if (!legal_writes(mode)) {
        s->readers |= task;
        s->read = legal_joined(s->read, waits);
        return;
    }
    s->valued = s->was_valued = true;
    if (joins(s, mode) && task) {
        s->writers |= task;
        s->write = legal_joined(s->write, waits);
        return;
    }
    s->before = s->writers | s->readers;
    s->before_sure = s->write.sure | s->read.sure;
    s->writers = task;
    s->readers = 0;
    s->group = group;
    s->write = legal_joined(waits, legal_joined(s->write, s->read));
    s->read = (struct waits){0, 0, 0};
}

void legal_enter(struct legal *l, unsigned d, unsigned mode, uint64_t task,
                 bool ordered, struct waits waits)
{
    enter(&l->states[d], mode, task, ordered, waits);
    enter_family(l, d, mode, waits);
}

void legal_calm(struct state *s)
{
    s->writers = s->readers = s->before = s->disordered = 0;
    s->before_sure = 0;
    s->write = s->read = (struct waits){0, 0, 0};
    s->group = ALONE;
    s->async = s->called = false;
    s->nacquired = 0;
}
