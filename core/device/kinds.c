/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/kinds.c - see kind.h: the kinds by number, and the fields of
 * codelets that are theirs. Any thread.
 */
#include "core/device/kind.h"

#define DRIVER(name)
#define KIND(name) extern const struct orr_device_kind orr_kind_##name;
#include "core/device/kinds.inc"
#undef KIND

/* The interface has names for these; no task can run on them. */
#define NAMED(type_, memory_, name_, SYNC, conf)                               \
    {                                                                          \
        .type = type_, .memory = memory_, .name = name_, .variable = name_,    \
        .limit = ORR_CFG_COUNT, .pipeline = ORR_CFG_COUNT,                     \
        .homogeneous = ORR_CFG_COUNT, .sync_copies = ORR_CFG_SYNC_##SYNC,      \
        .conf_sync_copies =                                                    \
            offsetof(struct starpu_conf, disable_asynchronous_##conf),         \
        .bus = -1,                                                             \
    }
static const struct orr_device_kind
    max_fpga = NAMED(STARPU_MAX_FPGA_WORKER, STARPU_MAX_FPGA_RAM, "FPGA",
                     MAX_FPGA_COPIES, max_fpga_copy),
    mpi_ms = NAMED(STARPU_MPI_MS_WORKER, STARPU_MPI_MS_RAM, "MPI_MS",
                   MPI_MS_COPIES, mpi_ms_copy),
    tcpip_ms = NAMED(STARPU_TCPIP_MS_WORKER, STARPU_TCPIP_MS_RAM, "TCPIP_MS",
                     TCPIP_MS_COPIES, tcpip_ms_copy);

static const struct orr_device_kind *const kinds[] = {
#define KIND(name) &orr_kind_##name,
#include "core/device/kinds.inc"
#undef KIND
    &max_fpga,
    &mpi_ms,
    &tcpip_ms,
};

enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

const struct orr_device_kind *orr_device_kind(enum starpu_worker_archtype type)
{
    for (unsigned i = 0; i < NKINDS; i++)
        if (kinds[i]->type == type)
            return kinds[i];
    return NULL;
}

const struct orr_device_kind *
orr_device_kind_of_memory(enum starpu_node_kind memory)
{
    for (unsigned i = 0; i < NKINDS; i++)
        if (kinds[i]->memory == memory)
            return kinds[i];
    return NULL;
}

const struct orr_device_kind *orr_device_kind_at(unsigned i)
{
    return i < NKINDS ? kinds[i] : NULL;
}

uint32_t orr_device_where(enum starpu_worker_archtype type)
{
    const struct orr_device_kind *kind = orr_device_kind(type);

    return kind ? kind->where : 0;
}

uint32_t orr_device_kinds_where(void)
{
    uint32_t where = 0;

    for (unsigned i = 0; i < NKINDS; i++)
        where |= kinds[i]->where;
    return where;
}

/* -- fields of codelets -- */

/* All types of functions are alike. */
static const orr_kernel_func_t *field(const struct starpu_codelet *cl,
                                      size_t offset)
{
    return (const orr_kernel_func_t *)(const void *)((const char *)cl + offset);
}

/* Its functions for the kind, which has some, a bit per implementation. */
static inline unsigned functions_of(const struct starpu_codelet *cl,
                                    const struct orr_device_kind *kind)
{
    const orr_kernel_func_t *functions = field(cl, kind->functions);
    orr_kernel_func_t single = kind->single ? *field(cl, kind->single) : NULL;
    uintptr_t any = 0;
    unsigned bits = 0;

    for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
        any |= (uintptr_t)functions[i];
    if (!any) /* of most kinds */
        return single && single != STARPU_MULTIPLE_CPU_IMPLEMENTATIONS;
    for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
        bits |= (unsigned)(functions[i] != NULL) << i;
    return bits;
}

unsigned orr_codelet_functions(const struct starpu_codelet *cl,
                               enum starpu_worker_archtype type)
{
    const struct orr_device_kind *kind = orr_device_kind(type);

    return kind && kind->functions ? functions_of(cl, kind) : 0;
}

uint32_t orr_codelet_all_functions(const struct starpu_codelet *cl)
{
    uint32_t all = 0;
    unsigned shift = 0;

    for (unsigned i = 0; i < NKINDS; i++) {
        if (!kinds[i]->functions || kinds[i]->lends)
            continue;
        all |= functions_of(cl, kinds[i]) << shift;
        shift += STARPU_MAXIMPLEMENTATIONS;
    }
    return all;
}

orr_kernel_func_t orr_codelet_function(const struct starpu_codelet *cl,
                                       enum starpu_worker_archtype type,
                                       unsigned implementation)
{
    const struct orr_device_kind *kind = orr_device_kind(type);
    const orr_kernel_func_t *functions;

    if (!kind || !kind->functions)
        return NULL;
    functions = field(cl, kind->functions);
    if (functions[implementation])
        return functions[implementation];
    if (functions[0] || !kind->single)
        return functions[0];
    return *field(cl, kind->single);
}

orr_kernel_func_t orr_codelet_host_function(const struct starpu_codelet *cl,
                                            unsigned implementation)
{
    if (cl->cpu_funcs[implementation]) /* nearly always */
        return cl->cpu_funcs[implementation];
    return orr_codelet_function(cl, STARPU_CPU_WORKER, implementation);
}

bool orr_codelet_is_for_host(const struct starpu_codelet *cl)
{
    bool host = false;

    for (unsigned i = 0; i < NKINDS; i++) {
        if (!kinds[i]->functions || kinds[i]->lends ||
            !functions_of(cl, kinds[i]))
            continue;
        if (!kinds[i]->is_processor)
            return false;
        host = true;
    }
    return host;
}

bool orr_codelet_allows_host(const struct starpu_codelet *cl)
{
    return cl->where == 0 ||
           (cl->where & orr_device_where(STARPU_CPU_WORKER)) != 0;
}

void orr_codelet_set_host_function(struct starpu_codelet *cl,
                                   orr_kernel_func_t function)
{
    memset(cl->cpu_funcs, 0, sizeof(cl->cpu_funcs));
    cl->cpu_func = NULL;
    cl->cpu_funcs[0] = function;
}

bool orr_codelet_is_async(const struct starpu_codelet *cl,
                          enum starpu_worker_archtype type,
                          unsigned implementation)
{
    const struct orr_device_kind *kind = orr_device_kind(type);

    if (!kind || !kind->flags)
        return kind && kind->only_starts;
    return ((const char *)cl + kind->flags)[implementation] &
           STARPU_CUDA_ASYNC; /* the same bit for all kinds */
}
