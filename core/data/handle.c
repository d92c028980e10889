/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/handle.c - handles: memory, interfaces, scratch buffers. Made and
 * freed by the application's contexts.
 */
#include "core/data/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/crc.h"
#include "core/data/interfaces/common.h"
#include "core/data/node.h"
#include "core/runtime.h"
#include "core/task/job.h"

static size_t round16(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

static void init_replicates(struct orr_handle *handle, char *interfaces)
{
    struct orr_runtime *rt = handle->runtime;
    size_t step = round16(handle->ops->interface_size);

    for (unsigned node = 0; node < rt->nnodes; node++) {
        struct orr_replicate *replicate = &handle->replicates[node];

        replicate->node = node;
        replicate->handle = handle;
        replicate->interface = interfaces + node * step;
        if (handle->ops->init)
            handle->ops->init(replicate->interface);
    }
}

static void set_home(struct orr_handle *handle, int home_node)
{
    handle->home_node = home_node;
    if (home_node < 0)
        return;
    handle->replicates[home_node].allocated = true;
    handle->allocated = handle->valid = UINT64_C(1) << home_node;
}

int orr_handle_new(struct orr_runtime *rt, int home_node, void *interface,
                   struct starpu_data_interface_ops *ops,
                   struct orr_handle **ret)
{
    size_t head = round16(sizeof(struct orr_handle) +
                          rt->nnodes * sizeof(struct orr_replicate));
    struct orr_handle *handle =
        calloc(1, head + rt->nnodes * round16(ops->interface_size));

    if (!handle)
        return -ENOMEM;
    orr_lock_init(&handle->lock, ORR_RANK_HANDLE);
    handle->runtime = rt;
    handle->ops = ops;
    handle->sequential = rt->default_sequential;
    orr_list_init(&handle->order);
    init_replicates(handle, (char *)handle + head);
    set_home(handle, home_node);
    handle->id = atomic_fetch_add(&rt->last_handle, 1) + 1;
    if (interface)
        ops->register_data_handle(orr_handle_public(handle), home_node,
                                  interface);
    if (interface)
        orr_handle_measure(handle);
    orr_lock(&rt->lock);
    orr_list_append(&rt->handles, &handle->all);
    orr_unlock(&rt->lock);
    *ret = handle;
    return 0;
}

void orr_handle_measure(struct orr_handle *handle)
{
    starpu_data_handle_t public = orr_handle_public(handle);
    uint32_t start = handle->ops->interfaceid >= STARPU_MAX_INTERFACE_ID
                         ? 0
                         : (uint32_t)handle->ops->interfaceid;

    handle->size = handle->ops->get_alloc_size
                       ? handle->ops->get_alloc_size(public)
                       : handle->ops->get_size(public);
    handle->footprint =
        starpu_hash_crc32c_be(handle->ops->footprint(public), start);
}

static void free_scratch(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;

    for (unsigned w = 0; handle->scratch && w < rt->nworkers; w++) {
        if (!handle->scratch[w])
            continue;
        handle->ops->free_data_on_node(handle->scratch[w],
                                       rt->workers[w].desc->node);
        free(handle->scratch[w]);
    }
    free(handle->scratch);
}

void orr_handle_free(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;

    orr_lock(&rt->lock);
    orr_list_remove(&handle->all);
    orr_unlock(&rt->lock);
    orr_lock(&handle->lock);
    for (unsigned node = 0; node < rt->nnodes; node++)
        if (handle->replicates[node].owned)
            orr_replicate_release(rt, &handle->replicates[node]);
    orr_unlock(&handle->lock);
    if (handle->ops->unregister_data_handle)
        handle->ops->unregister_data_handle(orr_handle_public(handle));
    free_scratch(handle);
    free(handle->children);
    free(handle->name);
    free(handle);
}

unsigned orr_handle_base(const struct orr_handle *handle)
{
    int home = handle->home_node;

    return home > 0 && (unsigned)home < handle->runtime->nram ? (unsigned)home
                                                              : 0;
}

unsigned orr_local_node(starpu_data_handle_t handle)
{
    return orr_self && orr_self->worker
               ? orr_self->worker->desc->node
               : orr_handle_base(orr_handle_of(handle));
}

void *orr_handle_pointer(struct orr_handle *handle, unsigned node)
{
    struct starpu_data_interface_ops *ops = handle->ops;

    if (ops->to_pointer)
        return ops->to_pointer(handle->replicates[node].interface, node);
    if (ops->handle_to_pointer)
        return ops->handle_to_pointer(orr_handle_public(handle), node);
    return NULL;
}

void orr_handle_copy(struct orr_handle *handle, unsigned src, unsigned dst)
{
    const struct starpu_data_copy_methods *methods = handle->ops->copy_methods;
    void *from = handle->replicates[src].interface;
    void *to = handle->replicates[dst].interface;

    if (methods->ram_to_ram)
        methods->ram_to_ram(from, src, to, dst);
    else
        methods->any_to_any(from, src, to, dst, NULL);
}

/* Each worker has its own scratch buffer: several share a memory node. */
static void *scratch_of(struct orr_runtime *rt, struct orr_handle *handle,
                        unsigned worker)
{
    unsigned node = rt->workers[worker].desc->node;
    void *interface;

    orr_lock(&handle->lock);
    if (!handle->scratch)
        handle->scratch = calloc(rt->nworkers, sizeof(*handle->scratch));
    interface = handle->scratch ? handle->scratch[worker] : NULL;
    if (handle->scratch && !interface) {
        interface = malloc(handle->ops->interface_size);
        if (interface) {
            memcpy(interface, handle->replicates[node].interface,
                   handle->ops->interface_size);
            if (handle->ops->allocate_data_on_node(interface, node) < 0) {
                free(interface);
                interface = NULL;
            }
        }
        handle->scratch[worker] = interface;
    }
    orr_unlock(&handle->lock);
    return interface;
}

void orr_handle_outdate_locked(struct orr_handle *handle, uint64_t valid)
{
    handle->valid = valid;
    for (uint64_t left = handle->loading & ~valid; left; left &= left - 1) {
        unsigned node = (unsigned)__builtin_ctzll(left);
        struct orr_request *request = handle->replicates[node].request;

        if (request)
            orr_request_outdate(request);
    }
}

void orr_handle_leave(struct orr_handle *handle)
{
    struct orr_job_waiter *waiters = NULL;
    bool doomed = false;

    orr_lock(&handle->lock);
    if (--handle->nusers == 0) {
        waiters = handle->idle_waiters;
        handle->idle_waiters = NULL;
        doomed = handle->doomed;
    }
    orr_unlock(&handle->lock);
    orr_waiters_wake(waiters);
    if (doomed)
        orr_handle_free(handle);
}

/* Copies of the old value are of no use any more, but must not read what is
 * being written. They are being made by other threads: this is short. */
static void await_copies(struct orr_runtime *rt, struct orr_handle *handle)
{
    while (atomic_load_explicit(&handle->ncopying, memory_order_acquire))
        rt->exec->ops->relax(rt->exec);
}

static void *take(struct orr_runtime *rt, struct orr_job *job,
                  struct orr_access *access, unsigned node)
{
    struct orr_handle *handle = access->handle;

    if (access->mode & STARPU_SCRATCH && job->worker >= 0)
        return scratch_of(rt, handle, (unsigned)job->worker);
    if (access->mode & STARPU_W && !access->duplicate) {
        orr_lock(&handle->lock);
        orr_handle_outdate_locked(handle, UINT64_C(1) << node);
        handle->wont_use = false;
        handle->unreal = job->task && rt->skips_kernels;
        orr_unlock(&handle->lock);
        await_copies(rt, handle);
    }
    return handle->replicates[node].interface;
}

void orr_job_take_data(struct orr_runtime *rt, struct orr_job *job,
                       unsigned node)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        void *interface = take(rt, job, &job->accesses[i], node);

        if (job->task && job->task->dyn_interfaces)
            job->task->dyn_interfaces[i] = interface;
        else if (job->task)
            job->task->interfaces[i] = interface;
    }
}

void orr_job_drop_data(struct orr_runtime *rt, struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];
        struct orr_replicate *replicate;

        if (!access->pinned)
            continue;
        access->pinned = 0;
        replicate = &access->handle->replicates[access->node];
        orr_lock(&access->handle->lock);
        if (--replicate->refs == 0)
            orr_node_offer(&rt->nodes[access->node], replicate);
        orr_unlock(&access->handle->lock);
    }
}

void orr_waiters_wake(struct orr_job_waiter *waiter)
{
    while (waiter) {
        struct orr_job_waiter *next = waiter->next;
        struct orr_context *context = waiter->context;

        /* The waiter's stack may be gone once it sees `ended`. */
        atomic_store_explicit(&waiter->ended, true, memory_order_release);
        context->exec->ops->wake(context->exec, context);
        waiter = next;
    }
}
