/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/methods.h - which of an interface's copy methods copies between two
 * memory nodes. Any context, no lock held.
 */
#pragma once

#include <stdbool.h>

#include "core/device/machine.h"

/* Copies the data of one interface structure to another of the same layout. What
 * the host addresses goes by ram_to_ram, else any_to_any. Else, with `async`, the
 * asynchronous method of the two kinds of memory, if there is one and the driver
 * can call it, then any_to_any, whose last argument `async` is; without, their
 * synchronous method, then any_to_any with NULL. 0, -EAGAIN when raw copies are
 * under way in the queue of *async, -EIO, -ENODEV. An interface without a method
 * that fits ends the program, after a message. */
int orr_copy_by_methods(struct orr_machine *machine,
                        const struct starpu_data_interface_ops *ops, void *src,
                        unsigned src_node, void *dst, unsigned dst_node,
                        struct orr_async *async);

/* Whether copies between these two devices, of one driver, go into its queues, so that
 * nobody waits for them. */
bool orr_methods_queue(const struct orr_machine *machine,
                       const struct starpu_data_interface_ops *ops,
                       unsigned src_node, unsigned dst_node);

/* Whether an interface has a method that copies between these, of which one is a
 * device. */
bool orr_methods_copy(const struct orr_machine *machine,
                      const struct starpu_data_interface_ops *ops,
                      unsigned src_node, unsigned dst_node);
