/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/legal_task.c - the rules for tasks: see legal_private.h. */
#include "legal_private.h"
#include "machine.h"

#include <string.h>

/* -- tasks -- */

static void drop_buffer(struct call *call, unsigned k)
{
    call->nbuffers--;
    memmove(&call->buffers[k], &call->buffers[k + 1],
            (call->nbuffers - k) * sizeof(call->buffers[0]));
}

static int earlier_buffer(const struct call *call, unsigned k)
{
    for (unsigned i = 0; i < k; i++)
        if (call->buffers[i].data == call->buffers[k].data)
            return (int)i;
    return -1;
}

static bool counts_once(unsigned mode)
{
    return mode & (STARPU_SCRATCH | STARPU_COMMUTE | STARPU_REDUX);
}

/* Whether buffer k makes sense, mended. */
static bool mend_buffer(const struct legal *l, struct call *call, unsigned k)
{
    struct access *access = &call->buffers[k];
    int earlier = earlier_buffer(call, k);

    if (!legal_usable(l, call, access->data))
        return false;
    access->mode = (uint16_t)legal_fit_mode(l, access->data, access->mode);
    if (earlier < 0)
        return access->mode != 0 && legal_goes_with_others(l, call, k);
    access->disordered = call->buffers[earlier].disordered;
    if (!legal_goes_with_others(l, call, k))
        return false;
    return !counts_once(access->mode | call->buffers[earlier].mode);
}

/* A datum is written on one node, and there has to be such a node, whose memory
 * processors can read. */
static void mend_places(const struct legal *l, struct call *call)
{
    if (call->places == PLACES_FIRST &&
        (l->machine->nram + l->machine->ngpu == 1 ||
         (l->machine->real && l->machine->nram == 1)))
        call->places = PLACES_WORKER;
    for (unsigned k = 0; k < call->nbuffers; k++)
        if (earlier_buffer(call, k) >= 0 && call->places != PLACES_MAIN &&
            call->places != PLACES_NEAR)
            call->places = PLACES_WORKER;
}

static unsigned bits_below(unsigned n)
{
    return (1U << n) - 1;
}

/* Whether the task may be run by a device, and must be if there is no CPU. One that is
 * away when the task is submitted is not asked by can_execute. */
static bool for_devices(const struct legal *l, const struct call *call)
{
    unsigned cpus = bits_below(l->machine->ncpu) & ~(unsigned)call->refused;

    if (l->machine->ncpu == 0 || call->places == PLACES_FIRST ||
        l->machine->loopback)
        return true;
    if (call->worker >= 0)
        return call->worker >= l->machine->ncpu;
    if (call->refused && call->in_second && call->away)
        cpus &= ~(1U << (call->away - 1));
    return call->where == WHERE_CUDA || !cpus;
}

/* Buffers too many for a device that has to hold them go. */
static void fit_memory(const struct legal *l, struct call *call)
{
    size_t bytes = l->scratch_bytes;

    if (l->machine->ram_kib == 0 &&
        (l->machine->ngpu == 0 || !for_devices(l, call)))
        return;
    for (unsigned k = 0; k < call->nbuffers;) {
        const struct data *data = &l->in->data[call->buffers[k].data];
        bool counts = data->kind != DATA_SCRATCH && earlier_buffer(call, k) < 0;

        if (counts && bytes + data_bytes(data) > l->device_bytes) {
            drop_buffer(call, k);
            continue;
        }
        bytes += counts ? data_bytes(data) : 0;
        k++;
    }
}

static void place(const struct legal *l, struct call *call)
{
    const struct machine *m = l->machine;

    if (call->worker >= 0)
        call->worker = (int8_t)(call->worker % (int)machine_workers(m));
    if (call->worker >= 0 ||
        (call->where == WHERE_CUDA && (m->ngpu == 0 || m->loopback)) ||
        (call->where == WHERE_CPU && m->ncpu == 0))
        call->where = WHERE_ANY;
}

/* Somebody is left who can run it. can_execute is asked for those who are in the
 * context when the task is submitted; other threads may have sent some away. */
static void accept(const struct legal *l, struct call *call)
{
    const struct machine *m = l->machine;
    unsigned able = bits_below(machine_workers(m));

    call->refused &= (uint16_t)able;
    if (call->worker >= 0)
        able = 1U << call->worker;
    else if (call->where == WHERE_CPU)
        able = bits_below(m->ncpu);
    else if (call->where == WHERE_CUDA)
        able &= ~bits_below(m->ncpu);
    if (!m->contexts || call->away > machine_workers(m))
        call->away = 0;
    call->in_second = call->in_second && m->contexts;
    if (call->in_second && call->away)
        able &= ~(1U << (call->away - 1));
    if (!(able & ~(unsigned)call->refused) ||
        (call->in_second && l->in->nthreads > 1))
        call->refused = 0;
}

static void mend_task(const struct legal *l, struct call *call)
{
    place(l, call);
    accept(l, call);
    for (unsigned k = 0; k < call->nbuffers;) {
        if (mend_buffer(l, call, k))
            k++;
        else
            drop_buffer(call, k);
    }
    mend_places(l, call);
    fit_memory(l, call);
}

/* Whether the datum orders this access. */
static bool is_ordered(const struct call *call, const struct access *access,
                       const struct data *data)
{
    return !call->disordered && !access->disordered && !data->disordered;
}

/* Data of several threads, and those that others than tasks use in their
 * order, are used in their order. */
static void order_where_needed(const struct legal *l, struct call *call)
{
    bool order = false;

    for (unsigned k = 0; k < call->nbuffers; k++) {
        struct access *access = &call->buffers[k];
        const struct data *data = &l->in->data[access->data];

        if (data->kind == DATA_SCRATCH || legal_is_free(l->features, data) ||
            (data->owner != SHARED && !l->states[access->data].async &&
             !legal_in_family(l, access->data)))
            continue;
        access->disordered = false;
        order = true;
    }
    if (order)
        call->disordered = false;
    for (unsigned k = 0; k < call->nbuffers; k++)
        if (earlier_buffer(call, k) >= 0)
            call->buffers[k].disordered =
                call->buffers[earlier_buffer(call, k)].disordered;
}

/* Tasks before this access that the datum does not order it after. */
static uint64_t needs_of(const struct legal *l, const struct call *call,
                         const struct access *access)
{
    const struct data *data = &l->in->data[access->data];
    const struct state *s = &l->states[access->data];
    bool ordered = is_ordered(call, access, data);
    uint64_t before = s->writers;

    if (data->kind == DATA_SCRATCH || legal_is_free(l->features, data))
        return 0;
    if (!ordered)
        return legal_writes(access->mode) ? before | s->readers : before;
    if (legal_writes(access->mode)) {
        bool joins = legal_group_of(access->mode) != ALONE &&
                     legal_group_of(access->mode) == s->group && !s->readers;

        before |= joins ? s->before : s->readers;
    }
    return before & s->disordered;
}

/* The dependencies that were drawn, as far as they can be. */
static uint64_t after_of(const struct legal *l, const struct call *call)
{
    uint64_t after = call->after & l->exist[call->thread] & ~bit(call->task);
    uint64_t later = after & ~l->submitted;

    if (!call->by_tags || l->in->nthreads > 1)
        return after & ~later;
    return after & ~(later & l->refused);
}

static struct waits task_waits(const struct legal *l, const struct call *call)
{
    uint64_t before = call->after | call->needs;
    struct waits waits = {before, 0, before};

    for (unsigned k = 0; k < call->nbuffers; k++) {
        const struct access *access = &call->buffers[k];
        const struct data *data = &l->in->data[access->data];

        if (data->kind != DATA_SCRATCH)
            waits = legal_joined(
                waits, legal_waits_of(l, access->data, access->mode,
                                      is_ordered(call, access, data)));
    }
    /* Those of other threads may not have been submitted yet. */
    waits.sure &= l->exist[call->thread];
    return legal_expanded(l, waits);
}

static void enter_buffers(struct legal *l, const struct call *call,
                          struct waits waits)
{
    for (unsigned k = 0; k < call->nbuffers; k++) {
        const struct access *access = &call->buffers[k];
        const struct data *data = &l->in->data[access->data];

        if (data->kind != DATA_SCRATCH)
            legal_enter(l, access->data, access->mode, bit(call->task),
                        is_ordered(call, access, data), waits);
    }
}

static void remember_edges(struct legal *l, const struct call *call)
{
    uint64_t edges = call->after | call->needs;

    if (!edges)
        return;
    if (call->by_tags)
        l->out->tagged |= edges | bit(call->task);
    else
        l->out->kept |= edges;
}

void legal_do_task(struct legal *l, struct call *call)
{
    struct waits waits;

    if (l->submitted & bit(call->task))
        return;
    mend_task(l, call);
    order_where_needed(l, call);
    for (unsigned k = 0; k < call->nbuffers; k++)
        if (l->in->data[call->buffers[k].data].disordered)
            legal_release(l, call->buffers[k].data);
    call->after = after_of(l, call);
    call->needs = 0;
    for (unsigned k = 0; k < call->nbuffers; k++)
        call->needs |= needs_of(l, call, &call->buffers[k]);
    waits = task_waits(l, call);
    if (waits.tasks & bit(call->task)) {
        l->refused |= bit(call->task);
        l->again = true;
        return;
    }
    if (call->synchronous)
        call->synchronous = legal_may_wait(l, call->thread, waits);
    waits.tasks |= bit(call->task);
    waits.sure |= bit(call->task);
    l->tasks[call->task] = waits;
    l->submitted |= bit(call->task);
    legal_switch_for_task(l, call);
    enter_buffers(l, call, waits);
    remember_edges(l, call);
    legal_emit(l, call);
    if (call->synchronous) {
        l->synchronous |= bit(call->task);
        legal_has_waited(l, call->thread, waits);
    }
}
