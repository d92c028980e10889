/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/order.c - sequential consistency per handle: a reader waits for
 * the last writer, a writer for all readers since, or for the last writer
 * when nobody read. Commuting writers keep their order of submission, which
 * is one of the orders they allow.
 *
 * Only the handle's lock is taken, then (a higher rank) that of the job which
 * is waited for.
 */
#include <errno.h>

#include "core/data/handle.h"
#include "core/observe/graph_record.h"
#include "core/runtime.h"
#include "core/task/job.h"

static int wait_for_readers_locked(struct orr_runtime *rt,
                                   struct orr_handle *handle,
                                   struct orr_job *job)
{
    orr_list_foreach (link, &handle->readers) {
        struct orr_access *reader =
            orr_container(link, struct orr_access, link);

        if (orr_job_add_dep(rt, job, reader->job) == -ENOMEM)
            return -ENOMEM;
    }
    return 0;
}

/* The new writer takes the place of all before: they leave the order now. */
static void replace_by_writer_locked(struct orr_handle *handle,
                                     struct orr_access *access)
{
    struct orr_list *link;

    while ((link = orr_list_pop(&handle->readers)) != NULL)
        orr_container(link, struct orr_access, link)->linked = 0;
    if (handle->writer)
        handle->writer->linked = 0;
    handle->writer = access;
}

static int order_locked(struct orr_runtime *rt, struct orr_access *access)
{
    struct orr_handle *handle = access->handle;
    bool writes = access->mode & STARPU_W;
    int err = 0;

    if (writes && !orr_list_empty(&handle->readers))
        err = wait_for_readers_locked(rt, handle, access->job);
    else if (handle->writer)
        err = orr_job_add_dep(rt, access->job, handle->writer->job);
    if (err == -ENOMEM)
        return err;
    if (writes)
        replace_by_writer_locked(handle, access);
    else
        orr_list_append(&handle->readers, &access->link);
    access->linked = 1;
    return 0;
}

int orr_access_order(struct orr_runtime *rt, struct orr_access *access)
{
    int err;

    if (access->mode & STARPU_SCRATCH)
        return 0;
    orr_lock(&access->handle->lock);
    err = order_locked(rt, access);
    if (orr_runtime_graph(rt))
        orr_graph_record_access(orr_runtime_graph(rt), access);
    orr_unlock(&access->handle->lock);
    return err;
}

void orr_access_leave(struct orr_access *access)
{
    struct orr_handle *handle = access->handle;

    if (access->duplicate)
        return;
    orr_lock(&handle->lock);
    if (access->linked && handle->writer == access)
        handle->writer = NULL;
    else if (access->linked)
        orr_list_remove(&access->link);
    access->linked = 0;
    orr_unlock(&handle->lock);
    orr_handle_leave(handle);
}
