/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/codelet_pack.h - packing a kernel's arguments into one buffer, as
 * starpu_codelet_pack_args() does. No state of its own; one thread per state.
 */
#pragma once

#include <stddef.h>

#include <starpu_task_util.h>

/* Adds a copy of `size` bytes to a state that
 * starpu_codelet_pack_arg_init() prepared. 0, or -ENOMEM and the state is as
 * it was. */
int orr_pack_add(struct starpu_codelet_pack_arg_data *state, const void *ptr,
                 size_t size);

/* Frees what was packed. */
void orr_pack_drop(struct starpu_codelet_pack_arg_data *state);
