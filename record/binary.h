/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/binary.h - the compact form of records, docs/RECORD.md: what a line says as
 * bytes, by the same table of fields. No state.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "record/call.h"

/* Most bytes of a number of 64 bits, seven at a time. */
enum { ORR_BINARY_NUMBER = 10 };

/* Writes a number; returns how many bytes it has. */
size_t orr_binary_put_number(unsigned char *to, uint64_t value);

/* How many bytes orr_binary_put needs at most. */
size_t orr_binary_most(const struct orr_call *call);

/* Writes the call without its length; returns how many bytes it has. */
size_t orr_binary_put(unsigned char *to, const struct orr_call *call);

/* Reads a call of n bytes, whose texts stay in them. `elements` has room for n
 * numbers: its lists. Returns NULL, or what is wrong. */
const char *orr_binary_read(const unsigned char *from, size_t n,
                            uint64_t *elements, struct orr_call *ret);
