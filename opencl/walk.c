/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/walk.c - see walk.h and count.h: sums, variables and types of a walk; the walk
 * through a kernel.
 */
#include "opencl/walk.h"

#include <stdlib.h>
#include <string.h>

/* -- sums -- */

void socl_walk_add_operations(struct walk *w, enum socl_scalar scalar, double n)
{
    n *= w->times;
    if (scalar == SOCL_FLOAT)
        w->count->flops32 += n;
    else if (scalar == SOCL_DOUBLE)
        w->count->flops64 += n;
    else if (scalar == SOCL_HALF)
        w->count->flops16 += n;
    else
        w->count->ints += n;
}

static void add_access(struct walk *w, const struct value *value, double *sums)
{
    if (value->parameter >= 0 && value->element)
        sums[value->parameter] += w->times * (value->bytes ? value->bytes : 4) * value->width;
}

void socl_walk_add_load(struct walk *w, const struct value *value)
{
    add_access(w, value, w->count->loads);
}

void socl_walk_add_store(struct walk *w, const struct value *value)
{
    add_access(w, value, w->count->stores);
}

void socl_walk_mark_written(struct walk *w, const struct value *value)
{
    if (value->parameter >= 0 && w->count->written)
        w->count->written[value->parameter] = true;
}

/* -- variables -- */

int socl_walk_find_variable(const struct walk *w, const struct socl_token *name)
{
    for (unsigned i = w->nvariables; i > w->scope; i--)
        if (w->variables[i - 1].name.length == name->length &&
            memcmp(w->variables[i - 1].name.text, name->text, name->length) == 0)
            return (int)i - 1;
    return -1;
}

int socl_walk_add_variable(struct walk *w, struct socl_token name, struct value value)
{
    if (w->nvariables == SOCL_MOST_VARIABLES)
        return -1;
    value.variable = -1;
    w->variables[w->nvariables] = (struct variable){name, value};
    return (int)w->nvariables++;
}

void socl_walk_set_number(struct walk *w, int variable, double number)
{
    if (variable >= 0)
        w->variables[variable].value.number = number;
}

/* -- types -- */

bool socl_walk_read_type(struct walk *w, struct socl_type *ret)
{
    size_t next = socl_type_read(w->tokens, w->at, w->end, socl_source_type,
                                 (void *)(uintptr_t)w->source, ret);

    if (next == w->at)
        return false;
    w->at = next;
    return true;
}

/* Whether a type stands there, and what follows is not a call of that name. */
bool socl_walk_is_type(const struct walk *w, size_t at)
{
    struct socl_type type;

    return at < w->end && w->tokens[at].kind == SOCL_NAME &&
           socl_type_read(w->tokens, at, w->end, socl_source_type, (void *)(uintptr_t)w->source,
                          &type) > at;
}

struct value socl_walk_value_of_type(const struct socl_type *type)
{
    struct value value = socl_unknown_value;

    value.scalar = type->scalar;
    value.width = type->width;
    value.bytes = type->bytes;
    value.levels = type->levels;
    return value;
}

bool socl_walk_is_floating(enum socl_scalar scalar)
{
    return scalar == SOCL_HALF || scalar == SOCL_FLOAT || scalar == SOCL_DOUBLE;
}

/* What an operator makes of both. */
struct value socl_walk_join(const struct value *a, const struct value *b)
{
    struct value value = socl_unknown_value;
    const struct value *more = a->scalar >= b->scalar ? a : b;

    if (a->levels || b->levels) {
        value = a->levels ? *a : *b;
        value.variable = -1;
        value.number = (double)NAN;
        return value;
    }
    value.scalar = more->scalar == SOCL_OTHER ? SOCL_INT : more->scalar;
    value.bytes = more->bytes;
    value.width = a->width > b->width ? a->width : b->width;
    return value;
}

/* -- a kernel -- */

void socl_source_count(const struct socl_source *source, const struct socl_function *kernel,
                       const double *values, struct socl_count *ret)
{
    struct walk *w = calloc(1, sizeof(*w));
    double *loads = ret->loads;

    *ret = (struct socl_count){.loads = loads, .stores = loads + kernel->n};
    memset(loads, 0, 2 * kernel->n * sizeof(*loads));
    ret->written = calloc(kernel->n ? kernel->n : 1, sizeof(*ret->written));
    if (!w)
        return;
    w->source = source;
    w->tokens = source->tokens->at;
    w->count = ret;
    w->times = 1;
    for (unsigned i = 0; i < kernel->n; i++) {
        const struct socl_parameter *parameter = &kernel->parameters[i];
        struct value value = socl_unknown_value;
        unsigned width = parameter->width ? parameter->width : 1;

        value.scalar = parameter->scalar;
        value.width = width;
        value.bytes = parameter->bytes;
        value.levels = parameter->pointer;
        value.parameter = parameter->pointer && parameter->space != SOCL_LOCAL ? (int)i : -1;
        value.number = parameter->pointer ? (double)NAN : values[i];
        socl_walk_add_variable(
            w, (struct socl_token){SOCL_NAME, (unsigned)strlen(parameter->name), parameter->name},
            value);
    }
    socl_walk_body(w, kernel->first, kernel->last);
    free(w);
}
