/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/memory.h - main memory from functions of the application,
 * starpu_malloc_set_hooks. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct orr_runtime;

bool orr_malloc_hook_is_set(void);

/* Memory that is counted on a node of main memory: 0 without; evicts. */
uintptr_t orr_malloc_by_hook(struct orr_runtime *rt, unsigned node, size_t size,
                             int flags);
void orr_free_by_hook(struct orr_runtime *rt, unsigned node, uintptr_t address,
                      size_t size, int flags);
