/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/handle.c - handles: their making, and what they are asked for. Made
 * by the application's contexts; end.c frees them.
 */
#include "core/data/handle.h"
#include "core/layouts/multiformat.h"
#include "core/layouts/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/crc.h"
#include "core/base/log.h"
#include "core/base/race.h"
#include "core/data/nodes.h"
#include "core/data/registry.h"
#include "core/device/driver.h"
#include "core/device/methods.h"
#include "core/exec/runtime.h"
#include "core/layouts/dense.h"
#include "core/slab_set.h"
#include "core/worker/workers.h"

static size_t round16(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

static void init_replicates(struct orr_handle *handle, char *interfaces)
{
    size_t step = round16(handle->ops->interface_size);

    for (unsigned node = 0; node < handle->nnodes; node++) {
        struct orr_replicate *replicate = &handle->replicates[node];

        replicate->node = node;
        replicate->handle = handle;
        replicate->interface = interfaces + node * step;
        if (handle->ops->init)
            handle->ops->init(replicate->interface);
    }
}

static void set_home(struct orr_handle *handle, int home_node) ORR_UNCHECKED
{
    handle->home_node = home_node;
    handle->home_interface =
        handle->replicates[home_node > 0 ? home_node : 0].interface;
    handle->alive = ORR_HANDLE_ALIVE;
    if (home_node < 0)
        return;
    handle->replicates[home_node].allocated = true;
    orr_handle_set_allocated(handle, UINT64_C(1) << home_node);
    orr_handle_set_valid(handle, UINT64_C(1) << home_node);
}

/* Whether values of this interface may have to go by way of main memory although
 * devices have a link: the interface forbids direct copies, or may lack a method. */
static bool may_have_detours(const struct starpu_data_interface_ops *ops)
{
    return ops->copy_methods &&
           (ops->copy_methods->can_copy || !ops->copy_methods->any_to_any);
}

/* Without a method from device to device, by those of main memory. */
static bool lacks_method(const struct orr_handle *handle, unsigned src,
                         unsigned dst)
{
    const struct orr_machine *machine = handle->runtime->machine;
    const struct starpu_data_interface_ops *ops = handle->ops;

    return !orr_methods_copy(machine, ops, src, dst) &&
           orr_methods_copy(machine, ops, src, STARPU_MAIN_RAM) &&
           orr_methods_copy(machine, ops, STARPU_MAIN_RAM, dst);
}

/* Each end is asked as the one that copies, as in StarPU. */
static bool can_copy(const struct orr_handle *handle, unsigned src,
                     unsigned dst)
{
    const struct starpu_data_copy_methods *methods = handle->ops->copy_methods;
    void *from = handle->replicates[src].interface;
    void *to = handle->replicates[dst].interface;

    return !methods->can_copy || methods->can_copy(from, src, to, dst, dst) ||
           methods->can_copy(from, src, to, dst, src);
}

/* From and to main memory there is no other way than the direct one. Pieces go as the
 * whole does, since a filter has yet to give them a shape. */
static void find_detours(struct orr_handle *handle,
                         const struct orr_handle *whole)
{
    const struct orr_machine *machine = handle->runtime->machine;

    for (unsigned src = handle->runtime->nodes->nram; src < handle->nnodes;
         src++)
        for (unsigned dst = handle->runtime->nodes->nram; dst < handle->nnodes;
             dst++)
            if (whole && whole->detours)
                handle->detours[src] = whole->detours[src];
            else if (machine->direct[orr_machine_pair(machine, src, dst)] &&
                     src != dst &&
                     (lacks_method(handle, src, dst) ||
                      !can_copy(handle, src, dst)))
                handle->detours[src] |= UINT64_C(1) << dst;
}

unsigned orr_interface_nodes(starpu_data_handle_t handle)
{
    return orr_handle_of(handle)->nnodes;
}

/* The number of replicates, with those for disks that may come later, if the data will
 * need them. An application's interface may fill its structures for present nodes
 * only. */
static unsigned nodes_of_new_data(const struct orr_runtime *rt,
                                  const struct starpu_data_interface_ops *ops)
{
    unsigned row = rt->machine->row;

    if (!rt->nodes->expects_disks ||
        ops->interfaceid >= STARPU_MAX_INTERFACE_ID)
        return rt->nodes->n;
    return row < STARPU_MAXNODES ? row : STARPU_MAXNODES;
}

/* --- memory of handles --- */

/* Programs register and unregister many: memory of handles is kept for new ones, since
 * memory that malloc has given back to the system returns page by page. There is a slab
 * for each step of sizes, made when it is needed. A handle begins with a line of the
 * cache, and shares no line with another one. */
#define STEP ((size_t)128)

/* NULL: too large, or no memory. */
static struct orr_slab *slab_for(struct orr_runtime *rt, size_t steps)
{
    struct orr_slab *slab, *made;

    if (!rt->slabs->pools_handles || steps > ORR_HANDLE_SLABS)
        return NULL;
    slab = atomic_load_explicit(&rt->slabs->handle_slabs[steps - 1],
                                memory_order_acquire);
    if (slab || orr_slab_new(steps * STEP, rt->workers->n + 1, &made) < 0)
        return slab;
    if (atomic_compare_exchange_strong(&rt->slabs->handle_slabs[steps - 1],
                                       &slab, made))
        return made;
    orr_slab_free(made);
    return slab;
}

/* All of it is 0. NULL without memory. */
static struct orr_handle *handle_allocate(struct orr_runtime *rt, size_t bytes)
{
    size_t steps = (bytes + STEP - 1) / STEP;
    struct orr_slab *slab = slab_for(rt, steps);
    struct orr_handle *handle =
        slab ? orr_slab_get_zeroed(slab) : calloc(1, bytes);

    if (handle && slab)
        handle->slab = (uint8_t)steps;
    return handle;
}

void orr_handle_dispose(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;
    unsigned slab = handle->slab;

    if (slab)
        orr_slab_put(atomic_load_explicit(&rt->slabs->handle_slabs[slab - 1],
                                          memory_order_acquire),
                     handle);
    else
        free(handle);
}

void orr_handle_slabs_free(struct orr_runtime *rt)
{
    for (unsigned i = 0; i < ORR_HANDLE_SLABS; i++)
        orr_slab_free(atomic_load(&rt->slabs->handle_slabs[i]));
}

/* The bytes of a handle before the structures of its interface. */
static size_t head_of(unsigned nnodes)
{
    return round16(sizeof(struct orr_handle) +
                   nnodes * sizeof(struct orr_replicate));
}

struct orr_handle *
orr_handle_reserve(const struct starpu_data_interface_ops *ops)
{
    return calloc(1, head_of(STARPU_MAXNODES) +
                         STARPU_MAXNODES * round16(ops->interface_size));
}

int orr_handle_new(struct orr_runtime *rt, const struct orr_handle *whole,
                   int home_node, void *interface,
                   struct starpu_data_interface_ops *ops,
                   struct orr_handle **ret)
{
    unsigned nnodes = whole ? whole->nnodes : nodes_of_new_data(rt, ops);
    struct orr_handle *handle = handle_allocate(
        rt, head_of(nnodes) + nnodes * round16(ops->interface_size));

    return handle ? orr_handle_fill(rt, handle, whole, home_node, interface,
                                    ops, ret)
                  : -ENOMEM;
}

static uint64_t take_number(struct orr_data *data)
{
    uint64_t asked = data->asked_handle;

    data->asked_handle = 0;
    return asked ? asked : atomic_fetch_add(&data->last_handle, 1) + 1;
}

int orr_handle_fill(struct orr_runtime *rt, struct orr_handle *handle,
                    const struct orr_handle *whole, int home_node,
                    void *interface, struct starpu_data_interface_ops *ops,
                    struct orr_handle **ret)
{
    unsigned nnodes = whole ? whole->nnodes : nodes_of_new_data(rt, ops);

    handle->runtime = rt;
    handle->nnodes = nnodes;
    handle->ops = ops;
    if (may_have_detours(ops)) {
        handle->detours = calloc(nnodes, sizeof(*handle->detours));
        if (!handle->detours) {
            orr_handle_dispose(handle);
            return -ENOMEM;
        }
    }
    orr_lock_init(&handle->lock, ORR_RANK_HANDLE);
    handle->sequential = rt->data->default_sequential;
    handle->out_of_core = true;
    handle->multiformat = orr_is_multiformat(ops);
    orr_turns_init(&handle->turns);
    orr_list_init(&handle->claims.queue);
    orr_list_init(&handle->acquired);
    init_replicates(handle, (char *)handle + head_of(nnodes));
    set_home(handle, home_node);
    handle->id = take_number(rt->data);
    if (interface)
        ops->register_data_handle(orr_handle_public(handle), home_node,
                                  interface);
    if (interface)
        orr_handle_measure(handle);
    if (handle->detours)
        find_detours(handle, whole);
    orr_lock(&rt->lock);
    orr_list_append(&rt->data->handles, &handle->all);
    if (++rt->data->nhandles > rt->data->most_handles)
        rt->data->most_handles = rt->data->nhandles;
    orr_unlock(&rt->lock);
    *ret = handle;
    return 0;
}

void orr_handle_read_layout(struct orr_handle *handle, unsigned node, void *to)
{
    orr_lock(&handle->lock);
    orr_race_copy(to, handle->replicates[node].interface,
                  handle->ops->interface_size);
    orr_unlock(&handle->lock);
}

int orr_handle_new_alike(struct orr_handle *like, unsigned node,
                         const struct orr_handle *whole,
                         struct orr_handle **ret)
{
    void *layout = malloc(like->ops->interface_size);
    int err;

    if (!layout)
        return -ENOMEM;
    orr_handle_read_layout(like, node, layout);
    err = orr_handle_new(like->runtime, whole, -1, layout, like->ops, ret);
    free(layout);
    return err;
}

void orr_handle_measure(struct orr_handle *handle)
{
    starpu_data_handle_t public = orr_handle_public(handle);
    uint32_t start = handle->ops->interfaceid >= STARPU_MAX_INTERFACE_ID
                         ? 0
                         : (uint32_t)handle->ops->interfaceid;

    if (handle->ops->get_alloc_size)
        handle->size = handle->ops->get_alloc_size(public);
    else if (handle->ops->get_size)
        handle->size = handle->ops->get_size(public);
    orr_handle_count_change(handle);
    handle->footprint =
        orr_crc_u32(handle->ops->footprint(public), start);
}

unsigned orr_handle_base(const struct orr_handle *handle)
{
    int home = handle->home_node;

    return home > 0 && (unsigned)home < handle->runtime->nodes->nram
               ? (unsigned)home
               : 0;
}

unsigned orr_local_node(starpu_data_handle_t handle)
{
    return orr_self && orr_self->worker
               ? orr_self->worker->desc->node
               : orr_handle_base(orr_handle_of(handle));
}

/* Owned by the caller. */
static char *make_spares(struct orr_handle *handle, size_t step)
{
    unsigned n = STARPU_MAXNODES - handle->nnodes;
    char *spares = calloc(n, step + 1);

    if (!spares) {
        orr_log_error("out of memory for data number %llu",
                      (unsigned long long)handle->id);
        orr_runtime_fail(handle->runtime);
    }
    for (unsigned i = 0; i < n; i++) {
        if (handle->ops->init)
            handle->ops->init(spares + i * step);
        orr_interface_outline(handle->ops, spares + i * step,
                              handle->replicates[STARPU_MAIN_RAM].interface);
    }
    return spares;
}

void *orr_handle_spare_interface(struct orr_handle *handle, unsigned node)
{
    size_t step = round16(handle->ops->interface_size);
    char *spares = atomic_load(&handle->spare_interfaces), *none = NULL;

    if (!spares) {
        spares = make_spares(handle, step);
        if (!atomic_compare_exchange_strong(&handle->spare_interfaces, &none,
                                            spares)) {
            free(spares);
            spares = none;
        }
    }
    return spares + (node - handle->nnodes) * step;
}

void *orr_handle_pointer(struct orr_handle *handle, unsigned node)
{
    struct starpu_data_interface_ops *ops = handle->ops;

    if (!(handle->allocated >> node & 1))
        return NULL;
    if (ops->to_pointer)
        return ops->to_pointer(handle->replicates[node].interface, node);
    if (ops->handle_to_pointer)
        return ops->handle_to_pointer(orr_handle_public(handle), node);
    return NULL;
}

/* --- copies --- */

/* Whether the copy is to or from a disk and must be of the value as a whole: the
 * interface cannot copy the bytes of its parts. */
static bool must_be_packed(const struct orr_handle *handle,
                           const struct orr_node_desc *src,
                           const struct orr_node_desc *dst)
{
    const struct starpu_data_interface_ops *ops = handle->ops;

    return (src->stores || dst->stores) &&
           !(src->host_addressable && dst->host_addressable) &&
           !(ops->copy_methods && ops->copy_methods->any_to_any) &&
           ops->pack_data && ops->unpack_data && ops->to_pointer;
}

/* From disk to disk as it is. */
static int copy_objects(struct orr_handle *handle, struct orr_driver *driver,
                        unsigned src, unsigned dst)
{
    const struct starpu_data_interface_ops *ops = handle->ops;
    uintptr_t from =
        (uintptr_t)ops->to_pointer(handle->replicates[src].interface, src);
    uintptr_t to =
        (uintptr_t)ops->to_pointer(handle->replicates[dst].interface, dst);
    void *bytes = NULL;
    size_t size = 0;
    int rc = driver->ops->object_read(driver, src, from, &bytes, &size,
                                      STARPU_MAIN_RAM);

    if (rc)
        return rc;
    rc = driver->ops->object_write(driver, dst, to, bytes, size);
    starpu_free_on_node_flags(STARPU_MAIN_RAM, (uintptr_t)bytes, size, 0);
    return rc;
}

static int copy_packed(struct orr_handle *handle, unsigned src, unsigned dst)
{
    struct starpu_data_interface_ops *ops = handle->ops;
    struct orr_machine *machine = handle->runtime->machine;
    struct orr_driver *driver = orr_machine_copier(machine, src, dst);
    bool reads = machine->nodes[src].stores;
    unsigned disk = reads ? src : dst, main = reads ? dst : src;
    uintptr_t object =
        (uintptr_t)ops->to_pointer(handle->replicates[disk].interface, disk);
    void *bytes = NULL;
    starpu_ssize_t count = 0;
    size_t size = 0;
    int rc;

    if (reads && machine->nodes[dst].stores)
        return copy_objects(handle, driver, src, dst);

    if (reads) {
        rc =
            driver->ops->object_read(driver, disk, object, &bytes, &size, main);
        return rc ? rc
                  : ops->unpack_data(orr_handle_public(handle), main, bytes,
                                     size);
    }
    rc = ops->pack_data(orr_handle_public(handle), main, &bytes, &count);
    if (rc == 0)
        rc = driver->ops->object_write(driver, disk, object, bytes,
                                       (size_t)count);
    if (bytes)
        starpu_free_on_node_flags(main, (uintptr_t)bytes, (size_t)count, 0);
    return rc ? -EIO : 0;
}

bool orr_handle_packs_on_host(const struct orr_handle *handle, unsigned src,
                              unsigned dst)
{
    const struct starpu_data_interface_ops *ops = handle->ops;
    const struct starpu_data_copy_methods *methods = ops->copy_methods;
    const struct orr_node_desc *nodes = handle->runtime->machine->nodes;

    return nodes[src].host_addressable && nodes[dst].host_addressable &&
           !(methods && (methods->ram_to_ram || methods->any_to_any)) &&
           ops->pack_data && ops->unpack_data;
}

int orr_handle_copy_on_host(struct orr_handle *from, unsigned src,
                            struct orr_handle *to, unsigned dst)
{
    void *bytes = NULL, *there;
    starpu_ssize_t count = 0;
    int rc = from->ops->pack_data(orr_handle_public(from), src, &bytes, &count);

    there = bytes;
    /* What is unpacked on a node is freed as that node's. */
    if (rc == 0 && bytes && src != dst) {
        there = (void *)starpu_malloc_on_node_flags(dst, (size_t)count, 0);
        if (there)
            memcpy(there, bytes, (size_t)count);
        else
            rc = -ENOMEM;
        starpu_free_on_node_flags(src, (uintptr_t)bytes, (size_t)count, 0);
    }
    if (rc == 0)
        rc = to->ops->unpack_data(orr_handle_public(to), dst, there,
                                  (size_t)count);
    return rc ? -EIO : 0;
}

int orr_handle_copy(struct orr_handle *handle, unsigned src, unsigned dst,
                    struct orr_async *async)
{
    struct orr_machine *machine = handle->runtime->machine;

    if (must_be_packed(handle, &machine->nodes[src], &machine->nodes[dst]))
        return copy_packed(handle, src, dst);
    if (orr_handle_packs_on_host(handle, src, dst))
        return orr_handle_copy_on_host(handle, src, handle, dst);
    return orr_copy_by_methods(machine, handle->ops,
                               handle->replicates[src].interface, src,
                               handle->replicates[dst].interface, dst, async);
}
