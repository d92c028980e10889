/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/reservation.h - memory that is set aside for values that come before somebody
 * has asked for them. Any context, no lock held. For layers above (core/remote.h).
 */
#pragma once

#include <stddef.h>

struct orr_handle;
struct orr_runtime;

/* Sets bytes of main memory aside, within its limit, if there is one: makes room by what
 * can leave at once, as for a prefetch; nothing while jobs wait for memory there. Does not
 * block. 0: they are on node *ret_node, until they are given back or used. -ENOMEM: not
 * now. */
int orr_memory_reserve(struct orr_runtime *rt, size_t size, unsigned *ret_node);

/* Sets what is free on that node, of a device, aside for the handle's memory there, which its
 * next use takes: it is on that node, and writes it, such as a message that receives the value.
 * Nothing leaves for it, and half of the node's memory stays free. -ENOMEM: not now. */
int orr_memory_reserve_for(struct orr_handle *handle, unsigned node);

/* Gives them back. */
void orr_memory_unreserve(struct orr_runtime *rt, unsigned node, size_t size);

/* What was set aside on the node, as many bytes as the handle has, is for the handle's
 * memory there from now on. The handle has none and is not used yet: its first use, which
 * has to be on that node and write it, such as a message that receives the value, comes
 * next. Then this memory is as that of any datum. */
void orr_memory_use_reserved(struct orr_handle *handle, unsigned node);
