/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/interfaces/common.h - what the dense kinds of data share: memory
 * on a node, and packing of evenly spaced runs of bytes. No state; the caller
 * has the right to use the interface.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <starpu_data_interfaces.h>

/* The node whose copy the caller means who names none: a worker's own, else
 * where the application has the value. In core/data/handle.c. */
unsigned orr_local_node(starpu_data_handle_t handle);

/* The three fields that say where a copy is. */
struct orr_place {
    uintptr_t *ptr, *dev_handle;
    size_t *offset;
};

/* Names the fields of an interface of any dense kind. */
#define ORR_PLACE_OF(interface)                                                \
    ((struct orr_place){&(interface)->ptr, &(interface)->dev_handle,           \
                        &(interface)->offset})

/* Allocates `bytes` on the node and sets the place; returns the bytes, or
 * -ENOMEM and leaves the place alone. Nothing is allocated for 0 bytes. */
starpu_ssize_t orr_place_allocate(struct orr_place place, unsigned node,
                                  size_t bytes);

/* Frees what orr_place_allocate() gave and clears the place. */
void orr_place_free(struct orr_place place, unsigned node, size_t bytes);

/* Sets the place to `ptr` at the start of itself, or to nothing. */
void orr_place_set(struct orr_place place, uintptr_t ptr);

/* Bytes in main memory: n2 planes of n1 runs of `run` bytes; the starts of
 * runs and planes are ld1 and ld2 bytes apart. */
struct orr_runs {
    char *base;
    size_t run;
    size_t n1, ld1;
    size_t n2, ld2;
};

/* starpu_data_interface_ops.pack_data for such data: *count bytes in a new
 * buffer of the node, NULL for none; only the count if `ptr` is NULL. 0 or
 * -ENOMEM. */
int orr_runs_pack(const struct orr_runs *runs, unsigned node, void **ptr,
                  starpu_ssize_t *count);

/* .peek_data: 0, or -EINVAL after a message when the size does not match. */
int orr_runs_peek(const struct orr_runs *runs, const void *packed,
                  size_t count);

/* .unpack_data: the same, and frees the buffer if it was read. */
int orr_runs_unpack(const struct orr_runs *runs, unsigned node, void *packed,
                    size_t count);
