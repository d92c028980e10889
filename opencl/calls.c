/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/calls.c - see walk.h: functions of the source, and OpenCL's. */
#include "opencl/walk.h"

#include <stdlib.h>
#include <string.h>

void socl_walk_read_arguments(struct walk *w, struct arguments *ret)
{
    ret->n = 0;
    while (w->at < w->end && !take(w, ")")) {
        struct value value = socl_walk_expression(w, 2);

        if (ret->n < 16)
            ret->at[ret->n++] = value;
        if (!take(w, ",") && !is_next(w, ")"))
            w->at++;
    }
}

static const struct socl_function *find_function(const struct walk *w,
                                                 const struct socl_token *name)
{
    for (unsigned i = 0; i < w->source->n; i++)
        if (socl_token_is(name, w->source->functions[i].name))
            return &w->source->functions[i];
    return NULL;
}

static struct value call_own(struct walk *w, const struct socl_function *function,
                             const struct arguments *arguments)
{
    unsigned scope = w->scope, nvariables = w->nvariables;
    struct value result = socl_unknown_value;

    if (w->ncalls == SOCL_MOST_CALLS)
        return result;
    w->ncalls++;
    w->scope = w->nvariables;
    for (unsigned i = 0; i < function->n && i < arguments->n; i++) {
        const struct socl_parameter *parameter = &function->parameters[i];
        struct value value = arguments->at[i];

        value.scalar = parameter->scalar;
        value.width = parameter->width;
        value.element = false;
        if (value.bytes == 0 || parameter->bytes)
            value.bytes = parameter->bytes;
        value.levels = parameter->pointer;
        socl_walk_add_variable(
            w, (struct socl_token){SOCL_NAME, (unsigned)strlen(parameter->name), parameter->name},
            value);
    }
    socl_walk_body(w, function->first, function->last);
    w->scope = scope;
    w->nvariables = nvariables;
    w->ncalls--;
    result.scalar = SOCL_FLOAT; /* most are */
    result.bytes = 4;
    return result;
}

static bool starts(const struct socl_token *token, const char *text)
{
    return token->length >= strlen(text) && memcmp(token->text, text, strlen(text)) == 0;
}

/* vloadN(i, p), vstoreN(v, i, p) */
static struct value call_vector(struct walk *w, const struct socl_token *name, bool store,
                                const struct arguments *arguments)
{
    unsigned skip = store ? 6 : 5;
    unsigned width = name->length > skip ? (unsigned)strtoul(name->text + skip, NULL, 10) : 1;
    struct value value = socl_unknown_value;

    if (arguments->n)
        value = arguments->at[arguments->n - 1];
    value.levels = 0;
    value.width = width ? width : 1;
    value.element = true;
    if (store) {
        socl_walk_add_store(w, &value);
        socl_walk_mark_written(w, &value);
    } else {
        socl_walk_add_load(w, &value);
    }
    value.parameter = -1;
    value.element = false;
    return value;
}

/* What a function of OpenCL's costs: an operation for each element, two for mad. */
static struct value call_built_in(struct walk *w, const struct socl_token *name,
                                  const struct arguments *arguments)
{
    static const char *const free_of_cost[] = {
        "get_", "barrier",  "mem_fence", "read_mem_fence", "write_mem_fence", "work_group_barrier",
        "as_",  "convert_", "prefetch",  "printf"};
    bool mad = socl_token_is(name, "mad") || socl_token_is(name, "fma") ||
               socl_token_is(name, "mad24") || socl_token_is(name, "mad_hi");
    struct value value = socl_unknown_value;

    if (starts(name, "vload") || starts(name, "vstore"))
        return call_vector(w, name, starts(name, "vstore"), arguments);
    for (unsigned i = 0; i < arguments->n; i++) {
        value = i ? socl_walk_join(&value, &arguments->at[i]) : arguments->at[i];
        if (arguments->at[i].levels)
            socl_walk_mark_written(w, &arguments->at[i]);
    }
    value.variable = value.parameter = -1;
    value.element = false;
    value.number = (double)NAN;
    for (size_t i = 0; i < sizeof(free_of_cost) / sizeof(*free_of_cost); i++)
        if (starts(name, free_of_cost[i])) {
            value.scalar = i == 0 ? SOCL_INT : value.scalar;
            return value;
        }
    if (starts(name, "atom")) {
        value.levels = 0;
        value.element = true;
        value.parameter = arguments->n ? arguments->at[0].parameter : -1;
        socl_walk_add_load(w, &value);
        socl_walk_add_store(w, &value);
        value.parameter = -1;
        value.element = false;
    }
    if (socl_token_is(name, "dot")) {
        socl_walk_add_operations(w, value.scalar, 2.0 * value.width - 1);
        value.width = 1;
        return value;
    }
    value.levels = 0;
    socl_walk_add_operations(w, value.scalar, (mad ? 2.0 : 1.0) * value.width);
    return value;
}

struct value socl_walk_call(struct walk *w, const struct socl_token *name)
{
    const struct socl_function *own = find_function(w, name);
    struct arguments arguments;

    socl_walk_read_arguments(w, &arguments);
    return own ? call_own(w, own, &arguments) : call_built_in(w, name, &arguments);
}
