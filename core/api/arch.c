/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/arch.c - architectures of performance models: sets of devices and
 * their numbers. Any thread.
 */
#include <stdlib.h>

#include "core/api/combined.h"
#include "core/api/model.h"
#include "core/api/state.h"
#include "core/cost/cost.h"
#include "core/cost/estimates.h"
#include "core/device/kind.h"
#include "core/sched/ctxs.h"
#include "core/sched/sched.h"
#include "core/worker/workers.h"

static struct orr_combs *combs(const char *call)
{
    return orr_models_combs(orr_runtime_need(call)->estimates->models);
}

unsigned orr_api_devices(const struct starpu_perfmodel_device *devices,
                         int ndevices, struct orr_device *ret, unsigned max)
{
    unsigned n = 0;

    for (; n < max && (int)n < ndevices; n++)
        ret[n] = (struct orr_device){(int)devices[n].type, devices[n].devid,
                                     devices[n].ncores};
    return n;
}

int starpu_perfmodel_get_narch_combs(void)
{
    ORR_QUESTION();
    return (int)orr_combs_count(combs(__func__));
}

int starpu_perfmodel_arch_comb_add(int ndevices,
                                   struct starpu_perfmodel_device *devices)
{
    struct orr_device ours[ORR_API_MAXDEVICES];
    unsigned n = orr_api_devices(devices, ndevices, ours, ORR_API_MAXDEVICES);
    unsigned comb;

    return orr_combs_get(combs(__func__), ours, n, &comb) == 0 ? (int)comb : -1;
}

int starpu_perfmodel_arch_comb_get(int ndevices,
                                   struct starpu_perfmodel_device *devices)
{
    ORR_QUESTION();
    struct orr_device ours[ORR_API_MAXDEVICES];
    unsigned n = orr_api_devices(devices, ndevices, ours, ORR_API_MAXDEVICES);
    unsigned same = ORR_API_RUNTIME()->estimates->homogeneous;
    struct orr_combs *all = combs(__func__);

    for (unsigned i = 0; i < orr_combs_count(all); i++) {
        const struct orr_comb *comb = orr_combs_at(all, i);

        if (orr_devices_equal(comb->devices, comb->ndevices, ours, n, same))
            return (int)i;
    }
    return -1;
}

/* The view of a comb in the interface's types. NULL without memory. */
static struct orr_api_arch *arch_new(const struct orr_comb *comb)
{
    struct orr_api_arch *arch =
        calloc(1, sizeof(*arch) + comb->ndevices * sizeof(arch->devices[0]));

    if (!arch)
        return NULL;
    arch->comb = comb->id;
    arch->arch.ndevices = (int)comb->ndevices;
    arch->arch.devices = arch->devices;
    for (unsigned i = 0; i < comb->ndevices; i++)
        arch->devices[i] = (struct starpu_perfmodel_device){
            (enum starpu_worker_archtype)comb->devices[i].type,
            comb->devices[i].devid, comb->devices[i].ncores};
    return arch;
}

static struct orr_api_arch *find_locked(const struct orr_api_state *state,
                                        unsigned comb) ORR_REQUIRES(state->lock)
{
    struct orr_api_arch *arch = state->archs;

    while (arch && arch->comb != comb)
        arch = arch->next;
    return arch;
}

struct starpu_perfmodel_arch *starpu_perfmodel_arch_comb_fetch(int comb)
{
    ORR_QUESTION();
    const struct orr_comb *ours =
        comb < 0 ? NULL : orr_combs_at(combs(__func__), (unsigned)comb);
    struct orr_api_state *state = orr_api_state(__func__);
    struct orr_api_arch *fresh = ours ? arch_new(ours) : NULL, *arch;

    if (!fresh)
        return NULL;
    orr_lock(&state->lock);
    arch = find_locked(state, ours->id);
    if (!arch) {
        arch = fresh;
        arch->next = state->archs;
        state->archs = arch;
        fresh = NULL;
    }
    orr_unlock(&state->lock);
    free(fresh);
    return &arch->arch;
}

struct starpu_perfmodel_arch *
starpu_worker_get_perf_archtype(int workerid, unsigned sched_ctx_id)
{
    ORR_QUESTION();
    const struct orr_worker *worker = orr_api_first_worker(__func__, workerid);
    const struct orr_worker_class *class =
        &worker->runtime->workers->classes[worker->class_id];
    const struct orr_sched *sched =
        sched_ctx_id < STARPU_NMAX_SCHED_CTXS
            ? worker->runtime->sched_ctxs->at[sched_ctx_id]
            : NULL;
    unsigned ncores = orr_api_ncores(worker->runtime, (unsigned)workerid);
    unsigned comb = class->comb;

    /* The tasks of a context without policy have all its processors. */
    if (sched && !sched->has_policy && atomic_load(&sched->master) == workerid)
        ncores = atomic_load(&sched->ncores);
    if (ncores > 1 && orr_cost_wide_comb(worker->runtime, worker->class_id,
                                         ncores, &comb) < 0)
        return NULL;
    return starpu_perfmodel_arch_comb_fetch((int)comb);
}

const char *
starpu_perfmodel_get_archtype_name(enum starpu_worker_archtype archtype)
{
    const struct orr_device_kind *kind = orr_device_kind(archtype);
    const char *name = orr_device_type_name((int)archtype);

    return name || !kind ? name : kind->name;
}

void starpu_perfmodel_get_arch_name(struct starpu_perfmodel_arch *arch,
                                    char *archname, size_t maxlen,
                                    unsigned nimpl)
{
    ORR_QUESTION();
    struct orr_device ours[ORR_API_MAXDEVICES];
    unsigned n = orr_api_devices(arch->devices, arch->ndevices, ours,
                                 ORR_API_MAXDEVICES);
    struct orr_runtime *rt = orr_runtime_current(__func__);
    int comb =
        rt ? starpu_perfmodel_arch_comb_get(arch->ndevices, arch->devices) : 0;
    char name[ORR_ARCH_NAME_SIZE];

    orr_arch_name(ours, n, comb < 0 ? 0 : (unsigned)comb, nimpl, name);
    snprintf(archname, maxlen, "%s", name);
}
