/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/kinds.c - see kind.h: the kinds by number, and the fields of
 * codelets that are theirs. Any thread.
 */
#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/device/kind_settings.h"

#define DRIVER(name)
#define KIND(name) extern const struct orr_device_kind orr_kind_##name;
#include "core/device/kinds.inc"
#undef KIND

/* The interface has names for these; no task can run on them. */
#define NAMED(kind, type_, memory_, name_, SYNC, conf)                         \
    static const struct orr_kind_settings kind##_settings = {                  \
        .limit = ORR_CFG_COUNT,                                                \
        .pipeline = ORR_CFG_COUNT,                                             \
        .homogeneous = ORR_CFG_COUNT,                                          \
        .sync_copies = ORR_CFG_SYNC_##SYNC,                                    \
        .conf_sync_copies =                                                    \
            offsetof(struct starpu_conf, disable_asynchronous_##conf),         \
        .bus = -1,                                                             \
    };                                                                         \
    static const struct orr_device_kind kind = {                               \
        .type = type_,                                                         \
        .memory = memory_,                                                     \
        .name = name_,                                                         \
        .variable = name_,                                                     \
        .settings = &kind##_settings,                                          \
    }
NAMED(max_fpga, STARPU_MAX_FPGA_WORKER, STARPU_MAX_FPGA_RAM, "FPGA",
      MAX_FPGA_COPIES, max_fpga_copy);
NAMED(mpi_ms, STARPU_MPI_MS_WORKER, STARPU_MPI_MS_RAM, "MPI_MS", MPI_MS_COPIES,
      mpi_ms_copy);
NAMED(tcpip_ms, STARPU_TCPIP_MS_WORKER, STARPU_TCPIP_MS_RAM, "TCPIP_MS",
      TCPIP_MS_COPIES, tcpip_ms_copy);

static const struct orr_device_kind *const kinds[] = {
#define KIND(name) &orr_kind_##name,
#include "core/device/kinds.inc"
#undef KIND
    &max_fpga,
    &mpi_ms,
    &tcpip_ms,
};

enum {
    NKINDS = sizeof(kinds) / sizeof(kinds[0]),
    NLOADED = ORR_KIND_MODULES_END - ORR_KIND_MODULES
};

/* Those of modules, by number: a process loads each once and keeps it. */
static const struct orr_device_kind *_Atomic loaded[NLOADED];

/* NULL: there is none, or the number is not a module's. */
static const struct orr_device_kind *kind_loaded(unsigned number)
{
    number -= ORR_KIND_MODULES;
    return number < NLOADED
               ? atomic_load_explicit(&loaded[number], memory_order_acquire)
               : NULL;
}

const struct orr_device_kind *orr_device_kind(enum starpu_worker_archtype type)
{
    for (unsigned i = 0; i < NKINDS; i++)
        if (kinds[i]->type == type)
            return kinds[i];
    return kind_loaded(type);
}

const struct orr_device_kind *
orr_device_kind_of_memory(enum starpu_node_kind memory)
{
    for (unsigned i = 0; i < NKINDS; i++)
        if (kinds[i]->memory == memory)
            return kinds[i];
    return kind_loaded(memory);
}

const struct orr_device_kind *orr_device_kind_at(unsigned i)
{
    const struct orr_device_kind *kind = NULL;

    if (i < NKINDS)
        return kinds[i];
    i -= NKINDS;
    for (unsigned n = 0; n < NLOADED; n++) {
        kind = kind_loaded(ORR_KIND_MODULES + n);
        if (kind && i-- == 0)
            return kind;
    }
    return NULL;
}

const struct orr_device_kind *orr_device_kind_named(const char *name)
{
    const struct orr_device_kind *kind;

    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++)
        if (!strcasecmp(name, kind->name) || !strcasecmp(name, kind->variable))
            return kind;
    return NULL;
}

void orr_device_kind_names(char ret[ORR_KIND_NAMES_SIZE])
{
    const struct orr_device_kind *kind, *last = NULL;
    size_t n = 0;

    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++)
        if (kind->functions)
            last = kind;
    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++) {
        if (!kind->functions || n >= ORR_KIND_NAMES_SIZE)
            continue;
        n += (size_t)snprintf(ret + n, ORR_KIND_NAMES_SIZE - n, "%s%s",
                              n == 0         ? ""
                              : kind == last ? " or "
                                             : ", ",
                              kind->name);
    }
    for (char *c = ret; *c; c++)
        *c = (char)tolower((unsigned char)*c);
}

const struct orr_kind_settings *
orr_kind_settings(const struct orr_device_kind *kind)
{
    static const struct orr_kind_settings none = {
        .limit = ORR_CFG_COUNT,
        .pipeline = ORR_CFG_COUNT,
        .homogeneous = ORR_CFG_COUNT,
        .sync_copies = ORR_CFG_COUNT,
        .bus = -1,
    };

    return kind && kind->settings ? kind->settings : &none;
}

uint32_t orr_device_where(enum starpu_worker_archtype type)
{
    const struct orr_device_kind *kind = orr_device_kind(type);

    return kind ? kind->where : 0;
}

uint32_t orr_device_kinds_where(void)
{
    const struct orr_device_kind *kind;
    uint32_t where = 0;

    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++)
        where |= kind->where;
    return where;
}

/* -- kinds of modules -- */

/* What is wrong with it, or NULL. */
static const char *kind_fault(const struct orr_device_kind *kind)
{
    unsigned number = kind->type;
    bool has_functions = false;

    if (number < ORR_KIND_MODULES || number >= ORR_KIND_MODULES_END)
        return "its type is not from 16 to 30";
    if ((unsigned)kind->memory != number)
        return "its memory has another number than its type";
    if (!kind->name || !kind->variable || !kind->where)
        return "it lacks its name, its variable or its bit of `where'";
    for (unsigned i = 0; i < NKINDS; i++)
        has_functions |=
            kinds[i]->functions && kinds[i]->functions == kind->functions;
    return !has_functions
               ? "its functions are no field of a codelet that some kind "
                 "has"
           : kind->settings ? "it has settings"
                            : NULL;
}

int orr_device_kind_add(const struct orr_device_kind *kind, const char *path,
                        struct orr_error *err)
{
    const char *fault = kind_fault(kind);
    const struct orr_device_kind *there = NULL;

    if (fault)
        return orr_fail(err, -EINVAL,
                        "the kind of device of %s cannot be used: %s (see "
                        "core/device/driver_module.h)",
                        path, fault);
    if (atomic_compare_exchange_strong(&loaded[kind->type - ORR_KIND_MODULES],
                                       &there, kind) ||
        there == kind)
        return 0;
    return orr_fail(err, -EEXIST,
                    "devices of %s (%s) have the number %u, as %s have: give "
                    "one of these kinds another number, from %d to %d",
                    path, kind->name, (unsigned)kind->type, there->name,
                    ORR_KIND_MODULES, ORR_KIND_MODULES_END - 1);
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
        if (!kinds[i]->functions)
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
        if (!kinds[i]->functions || !functions_of(cl, kinds[i]))
            continue;
        if (!kinds[i]->is_processor)
            return false;
        host = true;
    }
    return host;
}

bool orr_codelet_stays_on_host(const struct starpu_codelet *cl, uint32_t where)
{
    if (!where)
        where = cl->where;
    return where ? where == orr_device_where(STARPU_CPU_WORKER)
                 : orr_codelet_is_for_host(cl);
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
