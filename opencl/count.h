/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/count.h - what can be known of kernels from their source without a compiler:
 * their parameters, which of them are only read, and a count of the operations and of the
 * accesses of one work-item. The count is an estimate: loops count by constants and by the
 * values of scalar arguments where these bound them, else once; all branches count. No
 * state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum socl_space { SOCL_PRIVATE, SOCL_GLOBAL, SOCL_CONSTANT, SOCL_LOCAL };

enum socl_scalar { SOCL_OTHER, SOCL_INT, SOCL_HALF, SOCL_FLOAT, SOCL_DOUBLE };

/* A parameter of a kernel. */
struct socl_parameter {
    char name[64];
    char type[64]; /* "float4*" */
    enum socl_space space;
    bool pointer, is_const, is_restrict, is_volatile, image;
    bool only_read;         /* a buffer of which it is certain */
    enum socl_scalar scalar; /* what it is, or points to … */
    unsigned width;          /* … so many of them … */
    unsigned bytes;          /* … of so many bytes each; 0: unknown */
};

struct socl_tokens;
struct socl_named_type;

/* A function with a body. */
struct socl_function {
    char name[128];
    bool kernel;
    unsigned n;
    struct socl_parameter *parameters; /* owned */
    size_t first, last;                /* tokens of its body */
    size_t local_size[3];              /* reqd_work_group_size; 0: none */
    char attributes[128];
};

/* A source as it was read. */
struct socl_source {
    struct socl_tokens *tokens;
    struct socl_function *functions; /* owned */
    unsigned n;
    struct socl_named_type *types; /* owned: of typedef and struct */
    unsigned ntypes;
};

/* Reads a source with the options of a build (-D and -I count). NULL: no memory, or an
 * error that is certain: *ret_log is a text for free() then. Files that it includes are
 * not read. */
struct socl_source *socl_source_read(const char *source, const char *options,
                                     char **ret_log);
void socl_source_free(struct socl_source *source);
const struct socl_function *socl_source_find(const struct socl_source *source,
                                             const char *kernel);

/* Of one work-item. */
struct socl_count {
    double flops16, flops32, flops64, ints; /* operations, a fused one counts as two */
    double *loads, *stores; /* bytes by parameter; the caller's, in one block */
    bool *written; /* by parameter: it is, or may be; for free(). NULL: no memory */
    bool depends;  /* the figures, on the values of scalars */
};

/* One work-item of a kernel, whose scalar arguments are `values` (NaN: unknown). ret->loads has
 * room for two figures of each parameter. */
void socl_source_count(const struct socl_source *source,
                       const struct socl_function *kernel, const double *values,
                       struct socl_count *ret);
