/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/stack_size.h - sizes of stacks as OpenMP writes them. No state. */
#pragma once

#include <stddef.h>

/* Reads "n[b|k|m|g]", KiB without a unit; *ret in bytes. NULL, or what is wrong with
 * the text: *ret is untouched then. */
const char *orr_stack_size_read(const char *text, size_t *ret);
