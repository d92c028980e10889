/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/disk/requests.c - see requests.h. */
#include "core/device/disk/requests.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/device/driver.h"

struct disk_request {
    struct disk_request *next;
    void *channel; /* of the disk's functions */
    struct orr_copy *copy;
};

void disk_requests_init(struct disk_requests *requests,
                        const struct starpu_disk_ops *ops)
{
    requests->ops = ops;
    requests->first = NULL;
    requests->end = &requests->first;
    requests->n = 0;
}

bool disk_requests_are_possible(const struct starpu_disk_ops *ops)
{
    return ops->wait_request && ops->free_request;
}

void disk_request_end(const struct starpu_disk_ops *ops, void *channel)
{
    ops->wait_request(channel);
    ops->free_request(channel);
}

void disk_requests_add(struct disk_requests *requests, void *channel,
                       struct orr_copy *copy)
{
    struct disk_request *request = malloc(sizeof(*request));

    if (!request) {
        disk_request_end(requests->ops, channel);
        return;
    }
    *request = (struct disk_request){NULL, channel, copy};
    *requests->end = request;
    requests->end = &request->next;
    requests->n++;
    copy->machine_link[1] = (void *)((uintptr_t)copy->machine_link[1] + 1);
}

/* Takes it out, and tells of the copy whose last request it was. */
static void disk_requests_end(struct disk_requests *requests,
                              struct disk_request **link)
{
    struct disk_request *request = *link;
    struct orr_copy *copy = request->copy;
    uintptr_t left = (uintptr_t)copy->machine_link[1] - 1;

    *link = request->next;
    if (!*link)
        requests->end = link;
    requests->n--;
    requests->ops->free_request(request->channel);
    free(request);
    copy->machine_link[1] = (void *)left;
    if (left == 0)
        orr_copy_post(copy);
}

void disk_requests_serve(struct disk_requests *requests)
{
    const struct starpu_disk_ops *ops = requests->ops;
    struct disk_request **link = &requests->first;
    unsigned before = requests->n;

    while (*link && ops->test_request)
        if (ops->test_request((*link)->channel))
            disk_requests_end(requests, link);
        else
            link = &(*link)->next;
    if (requests->n < before)
        return;
    ops->wait_request(requests->first->channel);
    disk_requests_end(requests, &requests->first);
}
