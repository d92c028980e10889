/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/memory.c - starpu_malloc, and how much memory the nodes have. Any
 * thread; allocation works before starpu_init and after starpu_shutdown too.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/api/api.h"
#include "core/api/fold.h"
#include "core/api/memory.h"
#include "core/api/process.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/request.h"
#include "core/data/traffic.h"
#include "core/device/driver.h"
#include "core/exec/program.h"

enum { USUAL_ALIGNMENT = 64, FOLD_FROM = 1 << 20 }; /* bytes */

void starpu_malloc_set_align(size_t align)
{
    if (align == 0 || (align & (align - 1)) != 0) {
        orr_log_error("%s: %zu is no power of two", __func__, align);
        abort();
    }
    atomic_store(&orr_program()->alignment, align);
}

/* -- functions of the application -- */

void starpu_malloc_set_hooks(starpu_malloc_hook malloc_hook,
                             starpu_free_hook free_hook)
{
    struct orr_program *program = orr_program();

    if (!malloc_hook != !free_hook) {
        orr_log_error("%s: give both functions, or NULL twice", __func__);
        abort();
    }
    atomic_store(&program->free_hook, free_hook);
    atomic_store(&program->malloc_hook, malloc_hook);
}

bool orr_malloc_hook_is_set(void)
{
    return atomic_load_explicit(&orr_program()->malloc_hook,
                                memory_order_relaxed) != NULL;
}

uintptr_t orr_malloc_by_hook(struct orr_runtime *rt, unsigned node, size_t size,
                             int flags)
{
    void *address = NULL;

    bool counted = (flags & STARPU_MALLOC_COUNT) != 0;

    if ((counted &&
         orr_node_make_room(rt, &rt->nodes->at[node], size, ORR_FETCH) != 0) ||
        atomic_load(&orr_program()->malloc_hook)(
            node, &address, size,
            (flags & ~(int)STARPU_MALLOC_COUNT) | STARPU_MALLOC_PINNED) != 0)
        return 0;
    if (counted)
        orr_traffic_fill(&rt->nodes->at[node],
                         atomic_fetch_add(&rt->nodes->at[node].used, size) +
                             size);
    return (uintptr_t)address;
}

void orr_free_by_hook(struct orr_runtime *rt, unsigned node, uintptr_t address,
                      size_t size, int flags)
{
    atomic_load (&orr_program()->free_hook)(
        node, (void *)address, size,
        (flags & ~(int)STARPU_MALLOC_COUNT) | STARPU_MALLOC_PINNED);
    if (flags & STARPU_MALLOC_COUNT)
        atomic_fetch_sub(&rt->nodes->at[node].used, size);
}

/* -- allocation -- */

static bool is_folded(const struct orr_runtime *rt, size_t dim, int flags)
{
    if (!rt || rt->machine->runs_kernels || dim == 0 ||
        (flags & STARPU_MALLOC_SIMULATION_UNIQUE))
        return false;
    return (flags & STARPU_MALLOC_SIMULATION_FOLDED) ||
           (dim >= FOLD_FROM && orr_config_bool(&rt->config, ORR_CFG_SIM_FOLD));
}

static int malloc_uncharged(const struct orr_runtime *rt, void **A, size_t dim,
                            int flags)
{
    size_t alignment = atomic_load(&orr_program()->alignment);
    uintptr_t pinned;

    if (orr_malloc_hook_is_set())
        return atomic_load(&orr_program()->malloc_hook)(STARPU_MAIN_RAM, A, dim,
                                                        flags);
    if (is_folded(rt, dim, flags))
        return orr_fold_map(dim, A);
    if (alignment < USUAL_ALIGNMENT)
        alignment = USUAL_ALIGNMENT;
    if (rt && (flags & STARPU_MALLOC_PINNED) &&
        orr_pinned_alloc(rt->machine, STARPU_MAIN_RAM, dim, alignment,
                         &pinned) == 0) {
        *A = (void *)pinned;
        return 0;
    }
    return -posix_memalign(A, alignment, dim ? dim : 1);
}

/* Pinning takes time in the device driver, in proportion to the size. */
static void charge_pinning(struct orr_runtime *rt, size_t dim)
{
    if (!rt || orr_config_bool(&rt->config, ORR_CFG_DISABLE_PINNING))
        return;
    ORR_RECORD(rt, PIN, .size = dim);
    if (rt->machine->costs.pinned_alloc_per_mib > 0) {
        orr_charge(rt->machine->costs.pinned_alloc_per_mib * (double)dim /
                   1048576);
        orr_pay();
    }
}

static int malloc_charged(const char *call, void **A, size_t dim, int flags)
{
    ORR_API_IF(rt, call);
    int rc = malloc_uncharged(rt, A, dim, flags);

    if (rc == 0 && flags & STARPU_MALLOC_PINNED)
        charge_pinning(rt, dim);
    return rc;
}

/* Waits a little for values that are being written back to disks or devices, whose
 * memory can be had then; not in tasks and callbacks. Looks twice if there are none:
 * memory of what has just left becomes free a moment later. Polls, as
 * starpu_memory_wait_available does. Returns whether it may help to try again. */
static bool await_leaving(struct orr_runtime *rt, const struct orr_node *node,
                          unsigned *looks)
{
    static const struct orr_awaited awaited = {.noun =
                                                   "data to leave main memory"};
    const double interval_us = 100;

    if (orr_self->frozen || orr_self->job)
        return false;
    if (atomic_load(&node->admission.nleaving) > 0)
        *looks = 0;
    else if (++*looks > 1)
        return false;
    ORR_APPLICATION_DOES(rt, ORR_TRACE_WAITS, "starpu_malloc_flags");
    orr_context_poll(&awaited, interval_us);
    return true;
}

/* Counts memory for the application, for which data leave main memory unless the
 * flags say that it may be too much. */
static int count(struct orr_runtime *rt, size_t dim, int flags)
{
    struct orr_node *node = &rt->nodes->at[STARPU_MAIN_RAM];
    unsigned looks = 0;

    if (flags & (STARPU_MALLOC_NORECLAIM | STARPU_MEMORY_OVERFLOW))
        return starpu_memory_allocate(STARPU_MAIN_RAM, dim,
                                      flags | STARPU_MEMORY_OVERFLOW);
    while (!orr_node_take(node, dim))
        if (orr_node_make_room(rt, node, dim, ORR_FETCH) != 0 &&
            !await_leaving(rt, node, &looks))
            return starpu_memory_allocate(STARPU_MAIN_RAM, dim, flags);
    atomic_fetch_add(&node->counted, dim);
    return 0;
}

/* A replay knows nothing of memory that is counted, and takes the waits for it as the
 * application's own time: they are not in the call that allocates. */
int starpu_malloc_flags(void **A, size_t dim, int flags)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);
    bool counted = rt && (flags & STARPU_MALLOC_COUNT);
    void *address;
    int rc = 0;

    *A = NULL;
    if (counted)
        rc = count(rt, dim, flags);
    if (rc < 0)
        return rc;
    rc = malloc_charged(__func__, &address, dim, flags);
    if (rc < 0) {
        if (counted)
            starpu_memory_deallocate(STARPU_MAIN_RAM, dim);
        return rc;
    }
    *A = address;
    return 0;
}

int starpu_malloc(void **A, size_t dim)
{
    return starpu_malloc_flags(A, dim, STARPU_MALLOC_PINNED);
}

int starpu_free_flags(void *A, size_t dim, int flags)
{
    ORR_QUESTION();
    if (A && orr_malloc_hook_is_set())
        atomic_load (&orr_program()->free_hook)(STARPU_MAIN_RAM, A, dim, flags);
    else if (A && !orr_fold_unmap(A) &&
             !orr_pinned_free(&orr_process()->pinned, (uintptr_t)A))
        free(A);
    if (A && (flags & STARPU_MALLOC_COUNT) && orr_runtime_current(__func__))
        starpu_memory_deallocate(STARPU_MAIN_RAM, dim);
    return 0;
}

int starpu_free_noflag(void *A, size_t dim)
{
    return starpu_free_flags(A, dim, STARPU_MALLOC_PINNED);
}

int starpu_free(void *A)
{
    return starpu_free_flags(A, 0, 0);
}

/* Pins by all drivers that gain by it, or by none. Returns how many of the first n
 * drivers have done it. */
static unsigned pin_first(struct orr_machine *machine, unsigned n, void *addr,
                          size_t size)
{
    for (unsigned i = 0; i < n; i++) {
        struct orr_driver *driver = machine->drivers[i];

        if (driver->ops->pin && driver->ops->pin(driver, addr, size) != 0)
            return i;
    }
    return n;
}

static int unpin_first(struct orr_machine *machine, unsigned n, void *addr,
                       size_t size)
{
    int failed = 0;

    for (unsigned i = 0; i < n; i++) {
        struct orr_driver *driver = machine->drivers[i];

        if (driver->ops->unpin)
            failed |= driver->ops->unpin(driver, addr, size);
    }
    return failed ? -1 : 0;
}

int starpu_memory_pin(void *addr, size_t size)
{
    ORR_API_IF(rt, __func__);
    unsigned n = rt ? rt->machine->ndrivers : 0, done;

    charge_pinning(rt, size);
    if (!rt)
        return 0;
    done = pin_first(rt->machine, n, addr, size);
    if (done == n)
        return 0;
    (void)unpin_first(rt->machine, done, addr, size);
    return -1;
}

int starpu_memory_unpin(void *addr, size_t size)
{
    ORR_API_IF(rt, __func__);

    if (!rt)
        return 0;
    return unpin_first(rt->machine, rt->machine->ndrivers, addr, size);
}

/* -- accounting -- */

starpu_ssize_t starpu_memory_get_total(unsigned node)
{
    ORR_QUESTION();
    size_t capacity = orr_api_node(__func__, node)->capacity;

    return capacity ? (starpu_ssize_t)capacity : -1;
}

size_t starpu_memory_get_used(unsigned node)
{
    ORR_QUESTION();
    const struct orr_node *at = &ORR_API_RUNTIME()->nodes->at[node];
    size_t reserved, used;

    (void)orr_api_node(__func__, node);
    reserved = atomic_load(&at->reserved);
    used = atomic_load(&at->used);
    return used > reserved ? used - reserved : 0;
}

starpu_ssize_t starpu_memory_get_available(unsigned node)
{
    ORR_QUESTION();
    size_t capacity = orr_api_node(__func__, node)->capacity;
    starpu_ssize_t used = (starpu_ssize_t)starpu_memory_get_used(node);

    return capacity ? (starpu_ssize_t)capacity - used : -1;
}

/* The sum over the nodes that have a limit; -1 when none has. */
static starpu_ssize_t sum(starpu_ssize_t (*of)(unsigned node))
{
    starpu_ssize_t total = 0;
    bool any = false;

    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
        if (starpu_memory_get_total(node) < 0)
            continue;
        total += of(node);
        any = true;
    }
    return any ? total : -1;
}

starpu_ssize_t starpu_memory_get_total_all_nodes(void)
{
    ORR_QUESTION();
    return sum(starpu_memory_get_total);
}

starpu_ssize_t starpu_memory_get_available_all_nodes(void)
{
    ORR_QUESTION();
    return sum(starpu_memory_get_available);
}

size_t starpu_memory_get_used_all_nodes(void)
{
    ORR_QUESTION();
    size_t used = 0;

    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++)
        used += starpu_memory_get_used(node);
    return used;
}

/* Takes `size` bytes off what is free, if there is that much. */
static bool reserve(struct orr_node *node, size_t size, bool overflow)
{
    if (!overflow)
        return orr_node_take(node, size);
    orr_traffic_fill(node, atomic_fetch_add(&node->used, size) + size);
    return true;
}

int starpu_memory_allocate(unsigned node, size_t size, int flags)
{
    ORR_API(rt, __func__);

    (void)orr_api_node(__func__, node);
    while (!reserve(&rt->nodes->at[node], size,
                    (flags & STARPU_MEMORY_OVERFLOW) != 0)) {
        if (!(flags & STARPU_MEMORY_WAIT) || !orr_may_block(__func__))
            return -ENOMEM;
        starpu_memory_wait_available(node, size);
    }
    atomic_fetch_add(&rt->nodes->at[node].counted, size);
    return 0;
}

/* The application can give back no more than was counted for it; returns how much that
 * is. */
static size_t take_counted(struct orr_node *node, size_t size)
{
    size_t counted = atomic_load(&node->counted), left;

    do
        left = counted > size ? counted - size : 0;
    while (!atomic_compare_exchange_weak(&node->counted, &counted, left));
    if (counted < size)
        orr_log_error("starpu_memory_deallocate: %zu bytes of memory node %u "
                      "are given back, of which %zu were taken: give "
                      "starpu_free_flags and this call the size that was asked "
                      "for",
                      size, node->id, counted);
    return counted - left;
}

void starpu_memory_deallocate(unsigned node, size_t size)
{
    ORR_API(rt, __func__);

    (void)orr_api_node(__func__, node);
    size = take_counted(&rt->nodes->at[node], size);
    atomic_fetch_sub(&rt->nodes->at[node].used, size);
    orr_node_kick(rt, node);
    orr_node_freed(rt, node);
}

void starpu_memchunk_tidy(unsigned memory_node)
{
    ORR_API(rt, __func__);

    (void)orr_api_node(__func__, memory_node);
    (void)orr_node_tidy(rt, memory_node);
}

static void memory_describe_awaited(const struct orr_awaited *awaited,
                                    char *text, size_t size)
{
    snprintf(text, size, "%llu bytes on memory node %u", awaited->number,
             *(const unsigned *)awaited->object);
}

/* Polls, since nodes do not notify when memory is freed. Few programs use this
 * call, and none in a critical path. */
void starpu_memory_wait_available(unsigned node, size_t size)
{
    ORR_API(rt, __func__);
    const struct orr_awaited awaited = {.noun = "memory",
                                        .describe = memory_describe_awaited,
                                        .object = &node,
                                        .number = size};
    const double interval_us = 100;

    (void)orr_api_node(__func__, node);
    if (!orr_may_block(__func__))
        return;
    ORR_APPLICATION_DOES(rt, ORR_TRACE_WAITS, __func__);
    while (starpu_memory_get_total(node) >= 0 &&
           starpu_memory_get_available(node) < (starpu_ssize_t)size)
        orr_context_poll(&awaited, interval_us);
}
