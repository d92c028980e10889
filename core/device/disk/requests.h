/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/disk/requests.h - what a disk's own asynchronous functions have under
 * way, so that a copy is begun before the one before it has ended. The disk's
 * context alone.
 */
#pragma once

#include <stdbool.h>

#include <starpu_disk.h>

#include "core/device/machine.h"

struct disk_request;

struct disk_requests {
    const struct starpu_disk_ops *ops; /* [const] lent: wait_request … */
    struct disk_request *first, **end; /* owned; the oldest first */
    unsigned n;
};

void disk_requests_init(struct disk_requests *requests,
                        const struct starpu_disk_ops *ops);

/* Whether requests of these operations can be waited for. */
bool disk_requests_are_possible(const struct starpu_disk_ops *ops);

/* Waits for one, and frees it. */
void disk_request_end(const struct starpu_disk_ops *ops, void *channel);

/* Notes what was begun for a copy, machine_link[1] of which counts it; without
 * memory it is waited for. */
void disk_requests_add(struct disk_requests *requests, void *channel,
                       struct orr_copy *copy);

/* Posts the ends of copies whose requests have all ended; waits for the oldest
 * request if none has. There is one. */
void disk_requests_serve(struct disk_requests *requests);
