/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/driver-table.c - see driver-table.h. */
#include "driver-table.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "core/device/mailbox.h"

enum { BYTES = TABLE_BYTES, FIRST_NODE = TABLE_FIRST_NODE };

static struct orr_machine *machine;
static struct orr_driver *driver;

void table_use(struct orr_machine *of_machine, struct orr_driver *of_driver)
{
    machine = of_machine;
    driver = of_driver;
}

uintptr_t table_alloc(unsigned node)
{
    uintptr_t memory;

    ck_assert_int_eq(orr_machine_alloc(machine, node, BYTES, &memory), 0);
    return memory;
}

struct orr_queue *table_queue(unsigned node, enum orr_queue_use use)
{
    return driver->ops->queue(driver, node, use);
}

void table_put(struct orr_queue *queue, const struct orr_raw_copy *raw)
{
    struct orr_async async = {.driver = driver, .queue = queue};

    ck_assert_int_eq(orr_machine_raw_copy(machine, raw, &async), -EAGAIN);
    ck_assert(async.used);
}

/* -- posts -- */

int table_narrived, table_error;

static void wake_nobody(struct orr_mailbox *mailbox)
{
    (void)mailbox;
}

static struct orr_mailbox mailbox = {.wake = wake_nobody};

static void arrive(struct orr_post *post)
{
    table_error = post->error;
    table_narrived++;
}

struct orr_post table_post = {.mailbox = &mailbox, .arrived = arrive};

bool table_arrives(int tries)
{
    while (!table_narrived && tries-- > 0)
        if (!orr_mailbox_serve(&mailbox))
            usleep(1000);
    return table_narrived > 0;
}

/* -- queues -- */

void table_wait_for_event(unsigned reader, bool wait_first,
                          void (*close)(struct orr_queue *queue),
                          void (*open)(void))
{
    const struct orr_driver_ops *ops = driver->ops;
    struct orr_queue *in = table_queue(FIRST_NODE, ORR_QUEUE_IN);
    struct orr_queue *out = table_queue(reader, ORR_QUEUE_OUT);
    struct orr_event event = {.happened = false};
    char from[BYTES], to[BYTES];
    uintptr_t written, read;

    memset(from, 7, BYTES);
    written = table_alloc(FIRST_NODE);
    read = reader == FIRST_NODE ? written : table_alloc(reader);
    close(in);
    table_put(in, &(struct orr_raw_copy){.src = (uintptr_t)from,
                                         .dst = written,
                                         .dst_node = FIRST_NODE,
                                         .size = BYTES});
    if (wait_first)
        ops->wait(out, &event);
    ops->record(in, &event);
    if (!wait_first)
        ops->wait(out, &event);
    table_put(out, &(struct orr_raw_copy){.src = read,
                                          .dst = (uintptr_t)to,
                                          .src_node = reader,
                                          .size = BYTES});
    ops->notify(out, &table_post);
    ck_assert(!table_arrives(20));
    ck_assert(!atomic_load(&event.happened));
    open();
    ck_assert(table_arrives(30000));
    while (!atomic_load(&event.happened))
        usleep(1000);
    if (reader == FIRST_NODE)
        ck_assert_mem_eq(to, from, BYTES);
    /* Who waits for what has happened does not wait. */
    table_narrived = 0;
    ops->wait(out, &event);
    ops->notify(out, &table_post);
    ck_assert(table_arrives(30000));
    ck_assert_int_eq(table_error, 0);
    orr_machine_free(machine, FIRST_NODE, written, BYTES);
    if (reader != FIRST_NODE)
        orr_machine_free(machine, reader, read, BYTES);
}

/* -- bytes -- */

/* The first is a box, in the second slices begin between rows, the third has a
 * level more than a box, in the fourth rows are of one byte. */
static const struct orr_raw_copy shapes[TABLE_SHAPES] = {
    {.size = 3,
     .levels = 2,
     .n = {2, 3},
     .src_step = {5, 15},
     .dst_step = {4, 8}},
    {.size = 3,
     .levels = 2,
     .n = {2, 3},
     .src_step = {5, 13},
     .dst_step = {3, 7}},
    {.size = 2,
     .levels = 3,
     .n = {2, 2, 2},
     .src_step = {3, 6, 25},
     .dst_step = {2, 5, 11}},
    {.size = 1, .levels = 1, .n = {9}, .src_step = {5}, .dst_step = {2}},
};

static void copy(uintptr_t src, unsigned src_node, uintptr_t dst,
                 unsigned dst_node, struct orr_raw_copy raw)
{
    raw.src = src;
    raw.src_node = src_node;
    raw.dst = dst;
    raw.dst_node = dst_node;
    ck_assert_int_eq(orr_machine_raw_copy(machine, &raw, NULL), 0);
}

/* In with strides, to a second memory with them turned round, and out as it is. */
void table_copy_strided(int shape, unsigned far)
{
    const struct orr_raw_copy whole = {.size = BYTES};
    struct orr_raw_copy there = shapes[shape], back = there;
    char from[BYTES], between[BYTES] = {0}, expected[BYTES] = {0};
    char zeros[BYTES] = {0}, to[BYTES];
    uintptr_t first = table_alloc(FIRST_NODE), second = table_alloc(far);

    for (int i = 0; i < BYTES; i++)
        from[i] = (char)(i + 1);
    there.src_offset = 7;
    there.dst_offset = 2;
    memcpy(back.src_step, there.dst_step, sizeof(back.src_step));
    memcpy(back.dst_step, there.src_step, sizeof(back.dst_step));
    back.src_offset = 2;
    back.dst_offset = 7;
    copy((uintptr_t)zeros, 0, first, FIRST_NODE, whole);
    copy((uintptr_t)zeros, 0, second, far, whole);
    copy((uintptr_t)from, 0, first, FIRST_NODE, there);
    copy(first, FIRST_NODE, second, far, back);
    copy(second, far, (uintptr_t)to, 0, whole);
    there.src = (uintptr_t)from;
    there.dst = back.src = (uintptr_t)between;
    back.dst = (uintptr_t)expected;
    orr_host_raw_copy(&there);
    orr_host_raw_copy(&back);
    ck_assert_mem_eq(to, expected, BYTES);
    /* And out with strides. */
    memset(to, 0, BYTES);
    copy(first, FIRST_NODE, (uintptr_t)to, 0, back);
    ck_assert_mem_eq(to, expected, BYTES);
    orr_machine_free(machine, FIRST_NODE, first, BYTES);
    orr_machine_free(machine, far, second, BYTES);
}

void table_copy_beyond(void)
{
    char bytes[2 * BYTES] = {0};
    uintptr_t memory = table_alloc(FIRST_NODE);
    struct orr_async async = {.driver = driver,
                              .queue = table_queue(FIRST_NODE, ORR_QUEUE_IN)};

    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            orr_machine_raw_copy(machine,
                                 &(struct orr_raw_copy){.src = (uintptr_t)bytes,
                                                        .dst = memory,
                                                        .dst_node = FIRST_NODE,
                                                        .size = 2 * BYTES},
                                 i ? &async : NULL),
            -EIO);
    ck_assert_int_eq(async.error, -EIO);
    orr_machine_free(machine, FIRST_NODE, memory, BYTES);
}
