/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/layout.h - the bytes of a datum on one memory node, as parts of a message, or as a
 * packed copy of it.
 *
 * Data of the predefined dense interfaces are sent from where they are, whatever their
 * leading dimensions; others by the interface's pack_data, and received by its peek_data
 * or unpack_data; data whose interface has a datatype of the application's by that.
 */
#pragma once

#include <starpu.h>

#include "mpi/parts.h"

struct orr_rank;

/* How the application describes data of an interface: packs a datum into memory, or takes
 * it out, `bytes` at most; returns how many there are, with `to` NULL as well; negative: it
 * does not know, so that pack_data is used. Made by the layer that knows such types. */
struct orr_native_layout {
    ptrdiff_t (*pack)(void *arg, starpu_data_handle_t handle, unsigned node, void *to,
                      size_t bytes);
    ptrdiff_t (*unpack)(void *arg, starpu_data_handle_t handle, unsigned node,
                        const void *from, size_t bytes);
    void (*free)(void *arg);
    void *arg;
};

/* Data of interfaces with this number have that layout from now on, NULL: the usual one
 * again. A process has one table, which is there before the first rank and after the last.
 * Any thread. Errors: -ENOMEM. */
int orr_native_layout_set(int interface_id, const struct orr_native_layout *layout);

enum { ORR_FEW_PARTS = 2 };

struct orr_layout {
    struct orr_part few[ORR_FEW_PARTS];
    struct orr_part *parts; /* these, or owned */
    unsigned nparts;
    size_t bytes;
    void *packed; /* a copy that is sent, or room for one: owned */
    bool by_method; /* packed with pack_data, so freed with starpu_free_on_node_flags */
    bool by_native;
    unsigned node;
};

/* What is sent. The datum is held, on `node`, a node of main memory. 0, or -ENOMEM, or
 * -EINVAL after a message that names `call`. */
int orr_layout_send(struct orr_layout *layout, starpu_data_handle_t handle, unsigned node,
                    const char *call);

/* Where `bytes` bytes go that are received: parts of as many bytes as the datum has, or of
 * as many as come if it is packed. */
int orr_layout_receive(struct orr_layout *layout, starpu_data_handle_t handle,
                       unsigned node, size_t bytes, const char *call);

/* They have been received, `moved` of them. */
int orr_layout_received(struct orr_layout *layout, starpu_data_handle_t handle,
                        size_t moved, const char *call);

/* Whether its bytes are values that nobody computes: kernels are not run, and the
 * interface's functions do not look at them either. */
bool orr_layout_is_unreal(const struct orr_rank *rank, const struct orr_layout *layout);

/* Frees what it needed. */
void orr_layout_done(struct orr_layout *layout);

/* Whether data of this interface are packed, so that their size is known when they come. */
bool orr_layout_packs(starpu_data_handle_t handle);
