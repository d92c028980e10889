/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/blocks.h - memory that the program has allocated, by address. Any thread;
 * nothing here allocates by malloc or mmap.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* There is a block. NULL, and one of no bytes, are none. */
void orr_blocks_add(const void *begin, size_t bytes);

/* The block that begins there is gone; returns its bytes, 0: there was none. */
size_t orr_blocks_remove(const void *begin);

/* The smallest block that has the address; false: none has. */
bool orr_blocks_find(uint64_t address, uint64_t *ret_begin, uint64_t *ret_bytes);

/* Around a fork: no other thread is inside. */
void orr_blocks_lock(void);
void orr_blocks_unlock(void);
