/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/types.h - types of OpenCL C by their names. No state. */
#pragma once

#include "opencl/count.h"
#include "opencl/tokens.h"

struct socl_type {
    enum socl_scalar scalar;
    unsigned width, bytes; /* of vectors, and of each element; bytes 0: unknown */
    unsigned levels;       /* of pointers and arrays before it */
    enum socl_space space; /* of what it points to */
    bool is_const, is_restrict, is_volatile, image;
    struct socl_token name;
};

/* Reads the words of a type at `at` (qualifiers, name, stars), up to `end`. Returns the place
 * behind; `at`: there is none. Other names than OpenCL's are types where `known` says so. */
size_t socl_type_read(const struct socl_token *tokens, size_t at, size_t end,
                      bool (*known)(void *arg, const struct socl_token *name,
                                    struct socl_type *ret),
                      void *arg, struct socl_type *ret);
