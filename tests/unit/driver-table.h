/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/driver-table.h - what tests of a driver's table of operations share, on
 * the two devices of an open machine: posts, copies, what queues wait for.
 */
#pragma once

#include <stdbool.h>

#include "core/device/driver.h"

enum { TABLE_BYTES = 64, TABLE_FIRST_NODE = 1, TABLE_SHAPES = 4 };

/* The machine that is open, and its driver of devices: before all else. */
void table_use(struct orr_machine *machine, struct orr_driver *driver);

/* Memory of TABLE_BYTES on a node; a queue of its device; a copy put into one. */
uintptr_t table_alloc(unsigned node);
struct orr_queue *table_queue(unsigned node, enum orr_queue_use use);
void table_put(struct orr_queue *queue, const struct orr_raw_copy *raw);

/* A post, whether it has arrived (looking `tries` times, 1 ms apart), and what it
 * said. */
extern struct orr_post table_post;
extern int table_narrived, table_error;
bool table_arrives(int tries);

/* A queue that copies out of the reader's memory waits for an event of the queue
 * into the first device's, which is behind a gate: `close' puts that into a queue,
 * `open' opens it. */
void table_wait_for_event(unsigned reader, bool wait_first,
                          void (*close)(struct orr_queue *queue),
                          void (*open)(void));

/* Copies of a shape, with strides on either side, in, to the memory of `far', and
 * out: the same as on the host. */
void table_copy_strided(int shape, unsigned far);

/* A copy that is longer than the memory, with and without a queue, is -EIO. */
void table_copy_beyond(void);
