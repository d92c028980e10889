/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/interface.c - registration of data, queries about their interfaces,
 * and memory of nodes. Registration is for the application's threads, the rest for
 * any. Copying of bytes: raw_copy.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/api.h"
#include "core/api/early.h"
#include "core/api/memory.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/traffic.h"
#include "core/device/driver.h"
#include "core/device/pinned.h"
#include "core/exec/program.h"
#include "core/layouts/dense.h"
#include "core/layouts/nodes.h"
#include "core/observe/views.h"

/* -- registration -- */

int starpu_data_interface_get_next_id(void)
{
    return STARPU_MAX_INTERFACE_ID +
           atomic_fetch_add(&orr_program()->last_interface, 1);
}

void starpu_data_register_ops(struct starpu_data_interface_ops *ops)
{
    if (ops->interfaceid == STARPU_UNKNOWN_INTERFACE_ID)
        ops->interfaceid = starpu_data_interface_get_next_id();
}

/* The others are needed only where data are allocated, copied, asked for. */
static void check_ops(const char *call,
                      const struct starpu_data_interface_ops *ops)
{
    if (ops && ops->register_data_handle && ops->footprint)
        return;
    orr_log_error("%s: the table of operations lacks register_data_handle or "
                  "footprint",
                  call);
    abort();
}

static _Noreturn void register_without_memory(const char *call)
{
    orr_log_error("%s: out of memory", call);
    abort();
}

/* In the memory whose address the program has. */
static void early_void(uint64_t reserved, unsigned n, uint64_t *none)
{
    static const char call[] = "starpu_void_data_register";
    struct orr_handle *handle = (struct orr_handle *)(uintptr_t)reserved;
    enum starpu_data_interface_id nothing = STARPU_VOID_INTERFACE_ID;
    ORR_API(rt, call);

    (void)n;
    (void)none;
    if (orr_handle_fill(rt, handle, NULL, 0, &nothing,
                        &starpu_interface_void_ops, &handle) < 0)
        register_without_memory(call);
    ORR_RECORD_ABOUT(rt, ORR_ABOUT(.handle = handle), DATA);
}

/* Of all data the void ones have nothing that depends on the machine. */
static bool registers_early(const char *call, starpu_data_handle_t *handleptr,
                            const struct starpu_data_interface_ops *ops)
{
    struct orr_handle *reserved;

    if (ops != &starpu_interface_void_ops || !handleptr ||
        orr_runtime_if_open(call))
        return false;
    reserved = orr_handle_reserve(ops);
    if (!reserved)
        register_without_memory(call);
    *handleptr = orr_handle_public(reserved);
    orr_early_keep(call, early_void, (uintptr_t)reserved, 0, NULL);
    return true;
}

static void interface_register(const char *call,
                               starpu_data_handle_t *handleptr, int home_node,
                               void *data_interface,
                               struct starpu_data_interface_ops *ops)
{
    ORR_API(rt, call);
    struct orr_handle *handle;
    char nothing; /* the structure of an interface without one */

    check_ops(call, ops);
    if (!data_interface && ops->interface_size == 0)
        data_interface = &nothing;
    if (!handleptr || !data_interface) {
        orr_log_error("%s: %s is NULL", call,
                      handleptr ? "the structure that describes the data"
                                : "the address for the handle");
        abort();
    }
    if (home_node != -1)
        (void)orr_api_node(call, (unsigned)home_node);
    starpu_data_register_ops(ops);
    if (orr_handle_new(rt, NULL, home_node, data_interface, ops, &handle) < 0)
        register_without_memory(call);
    *handleptr = orr_handle_public(handle);
    ORR_RECORD_ABOUT(rt, ORR_ABOUT(.handle = handle), DATA);
}

void orr_interface_register(const char *call, starpu_data_handle_t *handleptr,
                            int home_node, void *data_interface,
                            struct starpu_data_interface_ops *ops)
{
    if (!registers_early(call, handleptr, ops))
        interface_register(call, handleptr, home_node, data_interface, ops);
}

void starpu_data_register(starpu_data_handle_t *handleptr, int home_node,
                          void *data_interface,
                          struct starpu_data_interface_ops *ops)
{
    orr_interface_register(__func__, handleptr, home_node, data_interface, ops);
}

void starpu_data_register_same(starpu_data_handle_t *handledst,
                               starpu_data_handle_t handlesrc)
{
    struct orr_handle *src = orr_api_handle(__func__, handlesrc);
    void *layout = malloc(src->ops->interface_size);

    if (!layout)
        register_without_memory(__func__);
    orr_handle_read_layout(src, STARPU_MAIN_RAM, layout);
    orr_interface_register(__func__, handledst, -1, layout, src->ops);
    free(layout);
}

void orr_interface_own_memory(const char *call, starpu_data_handle_t handle,
                              unsigned node)
{
    struct orr_handle *h = orr_api_handle(call, handle);
    bool twice;

    (void)orr_api_node(call, node);
    orr_lock(&h->lock);
    twice = h->replicates[node].allocated;
    h->replicates[node].allocated = true;
    orr_handle_set_allocated(h, h->allocated | UINT64_C(1) << node);
    orr_unlock(&h->lock);
    if (!twice)
        return;
    orr_log_error("%s of %s: the data have memory on node %u already: call it "
                  "right after the registration",
                  call, orr_handle_label(h).text, node);
    abort();
}

void starpu_data_ptr_register(starpu_data_handle_t handle, unsigned node)
{
    orr_interface_own_memory(__func__, handle, node);
}

/* -- queries -- */

void *starpu_data_handle_to_pointer(starpu_data_handle_t handle, unsigned node)
{
    ORR_QUESTION();
    struct orr_handle *h = orr_api_handle(__func__, handle);

    (void)orr_api_node(__func__, node);
    return orr_handle_pointer(h, node);
}

void *starpu_data_get_local_ptr(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    struct orr_handle *h = orr_api_handle(__func__, handle);

    return orr_handle_pointer(h, orr_local_node(handle));
}

void *starpu_data_get_interface_on_node(starpu_data_handle_t handle,
                                        unsigned memory_node)
{
    ORR_QUESTION();
    struct orr_handle *h = orr_api_handle(__func__, handle);

    if (memory_node < h->nnodes)
        return h->replicates[memory_node].interface;
    if (memory_node < STARPU_MAXNODES)
        return orr_handle_spare_interface(h, memory_node);
    orr_log_error(
        "%s: there is no memory node %d, they are numbered 0 to %d at "
        "most",
        __func__, (int)memory_node, STARPU_MAXNODES - 1);
    abort();
}

enum starpu_data_interface_id
starpu_data_get_interface_id(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    return orr_api_handle(__func__, handle)->ops->interfaceid;
}

struct starpu_data_interface_ops *
starpu_data_get_interface_ops(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    return orr_api_handle(__func__, handle)->ops;
}

static size_t size_of(const char *call, starpu_data_handle_t handle)
{
    struct orr_handle *h = orr_api_handle(call, handle);

    if (h->ops->get_size)
        return h->ops->get_size(handle);
    orr_log_error("%s of %s: the interface of the data has no get_size", call,
                  orr_handle_label(h).text);
    abort();
}

static size_t alloc_size_of(const char *call, starpu_data_handle_t handle)
{
    struct starpu_data_interface_ops *ops = orr_api_handle(call, handle)->ops;

    return ops->get_alloc_size ? ops->get_alloc_size(handle)
                               : size_of(call, handle);
}

size_t starpu_data_get_size(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    return size_of(__func__, handle);
}

size_t starpu_data_get_alloc_size(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    return alloc_size_of(__func__, handle);
}

starpu_ssize_t starpu_data_get_max_size(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    struct starpu_data_interface_ops *ops =
        orr_api_handle(__func__, handle)->ops;

    return ops->get_max_size ? (starpu_ssize_t)ops->get_max_size(handle)
                             : (starpu_ssize_t)alloc_size_of(__func__, handle);
}

/* What StarPU calls the kinds of data there; NULL: the application's. */
static const char *kind_name(enum starpu_data_interface_id id)
{
    static const char *const names[STARPU_MAX_INTERFACE_ID] = {
        [STARPU_MATRIX_INTERFACE_ID] = "Matrix",
        [STARPU_BLOCK_INTERFACE_ID] = "Block",
        [STARPU_VECTOR_INTERFACE_ID] = "Vector",
        [STARPU_CSR_INTERFACE_ID] = "CSR",
        [STARPU_BCSR_INTERFACE_ID] = "BCSR",
        [STARPU_VARIABLE_INTERFACE_ID] = "Variable",
        [STARPU_VOID_INTERFACE_ID] = "Void",
        [STARPU_MULTIFORMAT_INTERFACE_ID] = "Multiformat",
        [STARPU_COO_INTERFACE_ID] = "COO",
        [STARPU_TENSOR_INTERFACE_ID] = "Tensor",
        [STARPU_NDIM_INTERFACE_ID] = "Ndim",
    };

    return id >= 0 && id < STARPU_MAX_INTERFACE_ID ? names[id] : NULL;
}

void starpu_data_print(starpu_data_handle_t handle, unsigned node, FILE *stream)
{
    ORR_QUESTION();
    struct orr_handle *h = orr_api_handle(__func__, handle);
    const char *name = kind_name(h->ops->interfaceid);
    char text[256];

    (void)orr_api_node(__func__, node);
    if (name)
        fputs(name, stream);
    else
        fprintf(stream, "User interface with id %d", (int)h->ops->interfaceid);
    if (h->ops->describe && node < h->nnodes) {
        h->ops->describe(h->replicates[node].interface, text, sizeof(text));
        fprintf(stream, " %s", text);
    }
    fputc('\n', stream);
}

int starpu_data_get_home_node(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    return orr_api_handle(__func__, handle)->home_node;
}

/* -- memory of nodes -- */

/* Memory that counts, beyond the node's limit if need be. Nothing leaves for it. */
static int malloc_anyway(struct orr_runtime *rt, unsigned node, size_t size,
                         bool pinned, uintptr_t *ret)
{
    struct orr_node *at = &rt->nodes->at[node];
    int err = (pinned ? orr_machine_alloc_pinned : orr_machine_alloc)(
        rt->machine, node, size, ret);

    if (err)
        return err;
    orr_traffic_fill(at, atomic_fetch_add(&at->used, size) + size);
    ORR_TELL(rt, ORR_TOLD_MEMORY, .memory.node = node,
             .memory.change = (int64_t)size);
    return 0;
}

uintptr_t starpu_malloc_on_node_flags(unsigned dst_node, size_t size, int flags)
{
    ORR_API(rt, __func__);
    bool pinned = (flags & STARPU_MALLOC_PINNED) != 0;
    uintptr_t address;
    int err;

    /* never waited for */
    if (orr_node_is_main(orr_api_node(__func__, dst_node)) &&
        orr_malloc_hook_is_set())
        return orr_malloc_by_hook(rt, dst_node, size, flags);
    if (flags & STARPU_MALLOC_COUNT &&
        flags & (STARPU_MALLOC_NORECLAIM | STARPU_MEMORY_OVERFLOW))
        err = malloc_anyway(rt, dst_node, size, pinned, &address);
    else if (flags & STARPU_MALLOC_COUNT)
        err = orr_node_malloc(rt, dst_node, size, pinned, &address);
    else
        err = (pinned ? orr_machine_alloc_pinned : orr_machine_alloc)(
            rt->machine, dst_node, size, &address);
    return err ? 0 : address;
}

/* The flags that forms without a flags argument use. */
static int usual_flags(const char *call, unsigned node)
{
    (void)orr_api_node(call, node);
    return ORR_API_RUNTIME()->nodes->at[node].malloc_flags;
}

uintptr_t starpu_malloc_on_node(unsigned dst_node, size_t size)
{
    return starpu_malloc_on_node_flags(dst_node, size,
                                       usual_flags(__func__, dst_node));
}

void starpu_free_on_node_flags(unsigned dst_node, uintptr_t addr, size_t size,
                               int flags)
{
    if (!addr)
        return;
    if (orr_node_is_main(orr_api_node(__func__, dst_node)) &&
        orr_malloc_hook_is_set())
        orr_free_by_hook(ORR_API_RUNTIME(), dst_node, addr, size, flags);
    else if (!(flags & STARPU_MALLOC_COUNT))
        orr_machine_free_any(ORR_API_RUNTIME()->machine, dst_node, addr, size);
    else
        orr_node_free(ORR_API_RUNTIME(), dst_node, addr, size);
    if (!orr_self->grant) /* else it is a block's: the context that frees the block
                           * tells of it */
        orr_node_freed(ORR_API_RUNTIME(), dst_node);
}

void starpu_free_on_node(unsigned dst_node, uintptr_t addr, size_t size)
{
    starpu_free_on_node_flags(dst_node, addr, size,
                              usual_flags(__func__, dst_node));
}

void starpu_malloc_on_node_set_default_flags(unsigned node, int flags)
{
    (void)orr_api_node(__func__, node);
    ORR_API_RUNTIME()->nodes->at[node].malloc_flags = flags;
}
