/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/driver.c - see driver.h: what drivers share. Copies by any
 * context; machines are made and ended by main.
 */
#include "core/device/driver.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/race.h"
#include "core/device/kind.h"
#include "core/device/mailbox.h"

/* -- bytes ---------------------------------------------------------------- */

static void host_level(char *to, const char *from,
                       const struct orr_raw_copy *raw, unsigned levels,
                       bool races)
{
    if (levels == 0) {
        if (races)
            orr_race_copy(to, from, raw->size);
        else
            memcpy(to, from, raw->size);
        return;
    }
    levels--;
    for (size_t i = 0; i < raw->n[levels]; i++)
        host_level(to + i * raw->dst_step[levels],
                   from + i * raw->src_step[levels], raw, levels, races);
}

static void host_copy_levels(const struct orr_raw_copy *raw, bool races)
{
    host_level((char *)raw->dst + raw->dst_offset,
               (const char *)raw->src + raw->src_offset, raw, raw->levels,
               races);
}

void orr_host_raw_copy(const struct orr_raw_copy *raw)
{
    host_copy_levels(raw, false);
}

void orr_host_race_copy(const struct orr_raw_copy *raw)
{
    host_copy_levels(raw, true);
}

bool orr_raw_copy_is_box(const struct orr_raw_copy *raw, const size_t *step)
{
    return step[0] >= raw->size &&
           (raw->levels < 2 ||
            (step[1] % step[0] == 0 && step[1] / step[0] >= raw->n[0]));
}

/* The outer levels that the driver does not make as one. */
static int raw_level(struct orr_driver *driver, struct orr_raw_copy *raw,
                     struct orr_async *async)
{
    struct orr_raw_copy part = *raw;
    unsigned outer;
    int result = 0;

    if (raw->levels <= driver->ops->copy_levels)
        return driver->ops->raw_copy(driver, raw, async);
    outer = --part.levels;
    for (size_t i = 0; i < raw->n[outer]; i++) {
        int rc = raw_level(driver, &part, async);

        if (rc && (rc != -EAGAIN || !result))
            result = rc;
        if (rc && rc != -EAGAIN)
            break;
        part.src_offset += raw->src_step[outer];
        part.dst_offset += raw->dst_step[outer];
    }
    return result;
}

/* Levels without gaps on both sides become one run. */
static void close_gaps(struct orr_raw_copy *raw)
{
    while (raw->levels > 0 &&
           ((raw->src_step[0] == raw->size && raw->dst_step[0] == raw->size) ||
            raw->n[0] == 1)) {
        raw->size *= raw->n[0];
        raw->levels--;
        memmove(raw->n, raw->n + 1, raw->levels * sizeof(raw->n[0]));
        memmove(raw->src_step, raw->src_step + 1,
                raw->levels * sizeof(raw->src_step[0]));
        memmove(raw->dst_step, raw->dst_step + 1,
                raw->levels * sizeof(raw->dst_step[0]));
    }
}

static void check_connected(const struct orr_machine *machine,
                            const struct orr_raw_copy *raw)
{
    const struct orr_node_desc *src = &machine->nodes[raw->src_node];
    const struct orr_node_desc *dst = &machine->nodes[raw->dst_node];

    if (src->driver == dst->driver || orr_node_is_main(src) ||
        orr_node_is_main(dst))
        return;
    orr_log_error("nothing copies from memory node %u (%s) to %u (%s): copy to "
                  "main memory, and from there",
                  raw->src_node, src->name, raw->dst_node, dst->name);
    abort();
}

int orr_machine_raw_copy(struct orr_machine *machine,
                         const struct orr_raw_copy *raw,
                         struct orr_async *async)
{
    struct orr_driver *driver =
        orr_machine_copier(machine, raw->src_node, raw->dst_node);
    struct orr_raw_copy whole = *raw;
    int rc;

    close_gaps(&whole);
    for (unsigned i = 0; i < whole.levels; i++)
        if (whole.n[i] == 0)
            return 0;
    if (whole.size == 0)
        return 0;
    if (machine->nodes[raw->src_node].host_addressable &&
        machine->nodes[raw->dst_node].host_addressable) {
        orr_host_raw_copy(&whole);
        return 0;
    }
    check_connected(machine, raw);
    /* Queues are of one driver: what another one copies is waited for. */
    if (!async || async->driver != driver)
        return raw_level(driver, &whole, NULL);
    rc = raw_level(driver, &whole, async);
    /* Methods of applications need not return it. */
    async->used |= rc == -EAGAIN;
    if (rc && rc != -EAGAIN)
        async->error = rc;
    return rc;
}

/* -- data ----------------------------------------------------------------- */

static void copy_arrived(struct orr_post *post)
{
    struct orr_copy *copy =
        (struct orr_copy *)(void *)((char *)post -
                                    offsetof(struct orr_copy, post));

    if (post->error && !copy->async.error)
        copy->async.error = post->error;
    copy->done(copy);
}

enum orr_queue_use orr_copy_queue_use(const struct orr_machine *machine,
                                      unsigned src, unsigned dst)
{
    if (orr_node_is_main(&machine->nodes[dst]))
        return ORR_QUEUE_OUT;
    return orr_node_is_main(&machine->nodes[src]) ? ORR_QUEUE_IN
                                                  : ORR_QUEUE_PEER;
}

/* The queue waits for kernels that have what is to be copied. */
static void wait_for_kernels(struct orr_driver *driver, unsigned src,
                             struct orr_queue *queue)
{
    const struct orr_machine *machine = driver->machine;

    for (unsigned w = 0; w < machine->nworkers; w++)
        if (machine->workers[w].driver == driver &&
            machine->workers[w].node == src)
            driver->ops->after(queue, driver->ops->worker_queue(driver, w));
}

void orr_driver_copy_start(struct orr_driver *driver, struct orr_copy *copy)
{
    enum orr_queue_use use =
        orr_copy_queue_use(driver->machine, copy->src, copy->dst);
    unsigned node = use == ORR_QUEUE_OUT ? copy->src : copy->dst;
    struct orr_queue *queue;
    int rc;

    if (!driver->ops->queue || driver->machine->nodes[node].copies_wait ||
        copy->src == copy->dst) {
        copy->async = (struct orr_async){.driver = driver};
        copy->async.error = copy->perform(copy, NULL);
        copy->done(copy);
        return;
    }
    queue = driver->ops->queue(driver, node, use);
    copy->async = (struct orr_async){.driver = driver, .queue = queue};
    copy->post.arrived = copy_arrived;
    copy->post.error = 0;
    /* Without `after' jobs follow others of their own worker only, which copies nothing. */
    if (copy->behind && driver->ops->after)
        wait_for_kernels(driver, copy->src, queue);
    rc = copy->perform(copy, &copy->async);
    if (rc && rc != -EAGAIN)
        copy->async.error = rc;
    if (copy->queued && copy->async.used && !copy->async.error)
        copy->queued(copy);
    /* Also when one of several raw copies failed: the others may be under way. */
    if (rc || copy->async.used)
        driver->ops->notify(queue, &copy->post);
    else
        copy->done(copy);
}

void orr_copy_post(struct orr_copy *copy)
{
    copy->post.arrived = copy_arrived;
    orr_post(&copy->post);
}

static void driver_kernel_arrived(struct orr_post *post)
{
    struct orr_kernel *kernel =
        (struct orr_kernel *)(void *)((char *)post -
                                      offsetof(struct orr_kernel, post));

    kernel->done(kernel);
}

void orr_kernel_post(struct orr_kernel *kernel)
{
    kernel->post.arrived = driver_kernel_arrived;
    orr_post(&kernel->post);
}

/* -- making a machine ----------------------------------------------------- */

static void *grow_zeroed(void *items, size_t size, unsigned n, unsigned more)
{
    char *all = realloc(items, (n + more) * size);

    if (all)
        memset(all + n * size, 0, more * size);
    return all;
}

/* Makes room in a row-major matrix; new places get `value`. */
static int grow_square(double **matrix, unsigned n, unsigned more, double value)
{
    unsigned all = n + more;
    double *fresh = malloc((size_t)all * all * sizeof(*fresh));

    if (!fresh)
        return -ENOMEM;
    for (unsigned i = 0; i < all; i++)
        for (unsigned j = 0; j < all; j++)
            fresh[i * all + j] = i < n && j < n ? (*matrix)[i * n + j] : value;
    free(*matrix);
    *matrix = fresh;
    return 0;
}

static int grow_direct(bool **matrix, unsigned n, unsigned more)
{
    unsigned all = n + more;
    bool *fresh = calloc((size_t)all * all, sizeof(*fresh));

    if (!fresh)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++)
        memcpy(&fresh[i * all], &(*matrix)[i * n], n * sizeof(*fresh));
    free(*matrix);
    *matrix = fresh;
    return 0;
}

int orr_machine_add_nodes(struct orr_driver *driver, unsigned n,
                          unsigned *ret_first)
{
    struct orr_machine *machine = driver->machine;
    unsigned first = machine->nnodes;
    struct orr_node_desc *nodes =
        grow_zeroed(machine->nodes, sizeof(*nodes), first, n);

    if (!nodes)
        return -ENOMEM;
    machine->nodes = nodes;
    if (grow_square(&machine->bandwidth, first, n, (double)NAN) != 0 ||
        grow_square(&machine->latency, first, n, (double)NAN) != 0 ||
        grow_direct(&machine->direct, first, n) != 0)
        return -ENOMEM;
    machine->nnodes = machine->row = first + n;
    for (unsigned i = first; i < machine->nnodes; i++)
        nodes[i].driver = driver;
    *ret_first = first;
    return 0;
}

int orr_machine_reserve_nodes(struct orr_machine *machine)
{
    unsigned n = machine->nnodes, more = machine->spare_nodes;
    struct orr_node_desc *nodes;

    machine->row = n + more;
    if (more == 0)
        return 0;
    nodes = grow_zeroed(machine->nodes, sizeof(*nodes), n, more);
    if (!nodes)
        return -ENOMEM;
    machine->nodes = nodes;
    if (grow_square(&machine->bandwidth, n, more, (double)NAN) != 0 ||
        grow_square(&machine->latency, n, more, (double)NAN) != 0 ||
        grow_direct(&machine->direct, n, more) != 0)
        return -ENOMEM;
    for (unsigned i = 0; i < machine->nedits; i++)
        if (grow_direct(&machine->edits[i].pairs, n, more) != 0)
            return -ENOMEM;
    return 0;
}

int orr_machine_add_workers(struct orr_driver *driver, unsigned n,
                            unsigned *ret_first)
{
    struct orr_machine *machine = driver->machine;
    unsigned first = machine->nworkers;
    struct orr_worker_desc *workers =
        grow_zeroed(machine->workers, sizeof(*workers), first, n);

    if (n == 0)
        workers = machine->workers;
    else if (!workers)
        return -ENOMEM;
    machine->workers = workers;
    machine->nworkers += n;
    for (unsigned i = first; i < machine->nworkers; i++)
        workers[i].driver = driver;
    *ret_first = first;
    return 0;
}

void orr_machine_spare_processors(struct orr_machine *machine, unsigned n)
{
    unsigned first = 0;

    while (first < machine->nworkers &&
           orr_device_kind(machine->workers[first].type)->is_processor)
        first++;
    if (n >= first)
        n = first > 0 ? first - 1 : 0;
    if (n == 0)
        return;
    memmove(&machine->workers[first - n], &machine->workers[first],
            (machine->nworkers - first) * sizeof(*machine->workers));
    machine->nworkers -= n;
}
