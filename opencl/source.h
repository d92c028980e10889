/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/source.h - a source that was read, as its parts see it. See count.h. */
#pragma once

#include "opencl/types.h"

struct socl_named_type {
    struct socl_token name;
    struct socl_type type;
};

/* Whether the name is a type of the source's own; `arg` is the struct socl_source. */
bool socl_source_type(void *arg, const struct socl_token *name, struct socl_type *ret);

/* Behind the bracket that closes the one at `at`. */
size_t socl_skip_group(const struct socl_token *tokens, size_t at, size_t end);
