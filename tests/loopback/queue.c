/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/loopback/queue.c - the queues of a loopback device. Each has a
 * context, which takes one operation after the other; that runs the kernels of
 * the application, too. What it reports it posts as a thread that is no context
 * (orr_self is NULL), as the callbacks of real drivers are.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/wait.h"
#include "core/device/mailbox.h"
#include "tests/loopback/loopback.h"

/* -- time -- */

/* Uniform in 0 … 1, by the seed alone. */
static double next_random(struct orr_queue *queue)
{
    queue->random = queue->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(queue->random >> 40) * 0x1p-24;
}

static void rest(struct orr_queue *queue, double us)
{
    struct orr_exec *exec = queue->driver->head.machine->exec;

    if (us > 0)
        exec->ops->sleep(exec, us);
}

/* At random most operations take no longer than they do, some do. */
static double length_of(struct orr_queue *queue, double exact)
{
    if (!isnan(exact))
        return exact;
    if (next_random(queue) < 0.7)
        return 0;
    return next_random(queue) * queue->driver->options.delay_us;
}

static size_t bytes_of(const struct orr_raw_copy *raw)
{
    size_t bytes = raw->size;

    for (unsigned i = 0; i < raw->levels; i++)
        bytes *= raw->n[i];
    return bytes;
}

/* -- operations -- */

static void copy(struct orr_queue *queue, struct loopback_op *op)
{
    const struct loopback_options *options = &queue->driver->options;
    int rc;

    rest(queue, length_of(queue, options->copy_us) +
                    (double)bytes_of(&op->raw) / options->bandwidth);
    rc = loopback_copy_now(queue->driver, &op->raw);
    if (rc && !op->async->error)
        op->async->error = rc;
}

static void post(struct orr_post *post)
{
    struct orr_context *self = orr_self;

    orr_self = NULL;
    orr_post(post);
    orr_self = self;
}

static void run(struct orr_queue *queue, struct orr_kernel *kernel)
{
    struct loopback_device *device = queue->device;
    struct orr_exec *exec = queue->driver->head.machine->exec;
    double half = length_of(queue, queue->driver->options.kernel_us) / 2;
    struct orr_context *self = orr_self;

    kernel->error = loopback_fault(queue->driver, device, LOOPBACK_START);
    if (!kernel->error)
        kernel->error = loopback_fault(queue->driver, device, LOOPBACK_KERNEL);
    kernel->start = orr_exec_now(exec);
    if (!kernel->error) {
        rest(queue, half);
        loopback_memory_open(&device->memory);
        kernel->run(kernel);
        loopback_memory_close(&device->memory);
        rest(queue, half);
    }
    kernel->end = orr_exec_now(exec);
    orr_self = NULL;
    orr_kernel_post(kernel);
    orr_self = self;
}

static void wake_all(struct loopback *driver)
{
    for (unsigned d = 0; d < driver->options.devices; d++)
        for (unsigned use = 0; use < ORR_QUEUE_USES; use++)
            orr_context_wake(driver->devices[d].queues[use].context);
}

static void wait_for(struct orr_queue *queue, struct orr_event *event)
{
    static const struct orr_awaited awaited = {.noun =
                                                   "an event of another queue"};

    (void)queue;
    /* Pairs with the record below. */
    while (!atomic_load_explicit(&event->happened, memory_order_acquire))
        orr_context_park(&awaited, ORR_FOREVER);
}

static void perform(struct orr_queue *queue, struct loopback_op *op)
{
    switch (op->kind) {
    case LOOPBACK_OP_COPY:
        copy(queue, op);
        break;
    case LOOPBACK_OP_RUN:
        run(queue, op->kernel);
        break;
    case LOOPBACK_OP_POST:
        post(op->post);
        break;
    case LOOPBACK_OP_RECORD:
        atomic_store_explicit(&op->event->happened, true, memory_order_release);
        wake_all(queue->driver);
        break;
    case LOOPBACK_OP_WAIT:
        wait_for(queue, op->event);
        break;
    }
}

/* -- the context -- */

static struct loopback_op *take(struct orr_queue *queue, bool *stop)
{
    struct loopback_op *op;

    pthread_mutex_lock(&queue->lock);
    op = queue->first;
    if (op)
        queue->first = op->next;
    if (!queue->first)
        queue->last = NULL;
    *stop = queue->stop;
    pthread_mutex_unlock(&queue->lock);
    return op;
}

static void serve(void *arg)
{
    static const struct orr_awaited awaited = {.noun = "work for the device"};
    struct orr_queue *queue = arg;
    bool stop;

    for (;;) {
        struct loopback_op *op = take(queue, &stop);

        if (op) {
            perform(queue, op);
            free(op);
        } else if (stop) {
            break;
        } else {
            orr_context_park(&awaited, ORR_FOREVER);
        }
    }
    orr_context_end();
}

bool loopback_queue_put(struct orr_queue *queue, const struct loopback_op *op)
{
    struct loopback_op *mine = malloc(sizeof(*mine));

    if (!mine)
        return false;
    *mine = *op;
    mine->next = NULL;
    pthread_mutex_lock(&queue->lock);
    if (queue->last)
        queue->last->next = mine;
    else
        queue->first = mine;
    queue->last = mine;
    pthread_mutex_unlock(&queue->lock);
    orr_context_wake(queue->context);
    return true;
}

int loopback_queue_start(struct loopback *driver,
                         struct loopback_device *device, unsigned use)
{
    static const char *const uses[ORR_QUEUE_USES] = {
        [ORR_QUEUE_KERNELS] = "kernels",
        [ORR_QUEUE_IN] = "copies in",
        [ORR_QUEUE_OUT] = "copies out",
        [ORR_QUEUE_PEER] = "peer copies",
    };
    struct orr_queue *queue = &device->queues[use];
    unsigned number = (unsigned)(device - driver->devices);
    struct orr_exec *exec = driver->head.machine->exec;
    struct orr_context init = {.name = queue->name};

    queue->driver = driver;
    queue->device = device;
    queue->random = (driver->options.seed * 64 + number) * 8 + use + 1;
    snprintf(queue->name, sizeof(queue->name), "Loopback %u, %s", number % 1000,
             uses[use]);
    pthread_mutex_init(&queue->lock, NULL);
    return exec->ops->spawn(exec, &init, -1, serve, queue, &queue->context);
}

void loopback_queue_stop(struct orr_queue *queue)
{
    struct orr_exec *exec = queue->driver->head.machine->exec;

    pthread_mutex_lock(&queue->lock);
    queue->stop = true;
    pthread_mutex_unlock(&queue->lock);
    orr_context_wake(queue->context);
    exec->ops->join(exec, queue->context);
    pthread_mutex_destroy(&queue->lock);
}
