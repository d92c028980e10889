/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/handover.h - a value that one handle has in main memory becomes another one's.
 * Both are held by the caller: nobody else uses `from`, and nobody else has his turn of
 * `to`, whose value is about to be overwritten and of which the caller has pinned nothing
 * yet (orr_handover_take), or has pinned it on the node. No lock held. Any context.
 */
#pragma once

#include <stdbool.h>

struct orr_handle;

/* Gives the memory of `from` on the node to `to`, with what it holds; `from` then has
 * neither value nor memory there. False, and nothing has happened, unless both are dense
 * data of one shape, each alone in memory that the library has allocated for it, or `to`
 * has none there. */
bool orr_handover_take(struct orr_handle *to, struct orr_handle *from,
                       unsigned node);

/* Whether the value of `from` can be copied to `to` by methods of their interface. */
bool orr_handover_may_copy(const struct orr_handle *to,
                           const struct orr_handle *from);

/* Copies it within the node, where both have memory. Errors: -EIO. It calls methods of
 * the interface. */
int orr_handover_copy(struct orr_handle *to, struct orr_handle *from,
                      unsigned node);
