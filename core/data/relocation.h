/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/relocation.h - where a part lies in its whole if nothing is known of their
 * interfaces: which words of its structure are addresses in memory of the whole, and
 * how far behind its beginning. For the whole's memory in one node, which leaves and
 * comes back elsewhere.
 */
#pragma once

#include "core/data/handle.h"

struct orr_relocation;

/* Compares the structures of a part that was just made by a filter: in the base of the
 * whole, whose memory is pinned there, and on a node where the whole has had none. NULL
 * if it is not certain of some word whether it is an address, and of what, and without
 * memory. The caller free()s the result. */
struct orr_relocation *orr_relocation_find(struct orr_handle *whole,
                                           struct orr_handle *part);

/* Makes *to the structure of the part as the comparison has found it, but for the
 * memory of the whole that its structure `from` names. */
void orr_relocation_apply(const struct orr_relocation *relocation,
                          const void *from, void *to);
