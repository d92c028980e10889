/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/state.c - see state.h. */
#include "core/api/state.h"

#include <stdlib.h>

#include "core/api/api.h"
#include "core/exec/program.h"
#include "core/worker/workers.h"

static void state_free(struct orr_api_state *state)
{
    if (!state)
        return;
    for (struct orr_api_arch *arch = state->archs, *next; arch; arch = next) {
        next = arch->next;
        free(arch);
    }
    for (struct orr_api_booking *b = state->bookings, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    orr_api_energy_free(state->energies);
    orr_api_topology_free(atomic_load(&state->topology));
    free(state->mutexes);
    free(state->conds);
    free(state);
}

static struct orr_api_state *state_new(const struct orr_runtime *rt)
{
    struct orr_api_state *state = calloc(1, sizeof(*state));

    if (!state)
        return NULL;
    orr_lock_init(&state->lock, ORR_RANK_RUNTIME);
    /* A zeroed mutex or condition is an initialised one. */
    state->mutexes = calloc(rt->workers->n, sizeof(*state->mutexes));
    state->conds = calloc(rt->workers->n, sizeof(*state->conds));
    if (state->mutexes && state->conds)
        return state;
    state_free(state);
    return NULL;
}

struct orr_api_state *orr_api_state(const char *call)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    struct orr_program *program = orr_program();
    struct orr_api_state *state = atomic_load(&program->state), *fresh;

    if (state)
        return state;
    fresh = state_new(rt);
    if (!fresh) {
        orr_log_error("%s: out of memory", call);
        abort();
    }
    if (atomic_compare_exchange_strong(&program->state, &state, fresh))
        return fresh;
    state_free(fresh); /* another thread was faster */
    return state;
}

void orr_api_state_drop(void)
{
    state_free(atomic_exchange(&orr_program()->state, NULL));
}
