/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/source.c - see count.h: functions of a source and their parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/source.h"

/* -- types of the source's own -- */

bool socl_source_type(void *arg, const struct socl_token *name, struct socl_type *ret)
{
    const struct socl_source *source = arg;

    for (unsigned i = source->ntypes; i > 0; i--) {
        const struct socl_named_type *one = &source->types[i - 1];

        if (name->length == one->name.length &&
            memcmp(name->text, one->name.text, name->length) == 0) {
            enum socl_space space = ret->space;
            bool is_const = ret->is_const;

            *ret = one->type;
            if (space != SOCL_PRIVATE)
                ret->space = space;
            ret->is_const |= is_const;
            return true;
        }
    }
    return false;
}

static bool add_type(struct socl_source *source, struct socl_token name, struct socl_type type)
{
    void *more = realloc(source->types, (source->ntypes + 1) * sizeof(*source->types));

    if (!more)
        return false;
    source->types = more;
    source->types[source->ntypes++] = (struct socl_named_type){name, type};
    return true;
}

size_t socl_skip_group(const struct socl_token *tokens, size_t at, size_t end)
{
    unsigned depth = 0;

    for (; at < end; at++) {
        if (tokens[at].kind != SOCL_SIGN || tokens[at].length != 1)
            continue;
        if (strchr("([{", *tokens[at].text))
            depth++;
        if (strchr(")]}", *tokens[at].text) && --depth == 0)
            return at + 1;
    }
    return end;
}

/* Bytes of the members of `struct {...}', which begins at its brace; 0: some is unknown. */
static unsigned struct_bytes(struct socl_source *source, size_t at, size_t end)
{
    const struct socl_token *tokens = source->tokens->at;
    unsigned bytes = 0;

    for (at++; at + 1 < end;) {
        struct socl_type type;
        size_t next = socl_type_read(tokens, at, end, socl_source_type, source, &type);
        unsigned one = type.levels ? 8 : type.bytes * type.width, n = 1;

        if (next == at || one == 0)
            return 0;
        for (at = next; at < end && !socl_token_is(&tokens[at], ";"); at++) {
            char text[32];

            n += socl_token_is(&tokens[at], ",");
            socl_token_copy(&tokens[at], text, sizeof(text));
            if (tokens[at].kind == SOCL_NUMBER)
                one *= (unsigned)strtoul(text, NULL, 0);
        }
        bytes += n * one;
        at++;
    }
    return bytes;
}

/* `typedef TYPE NAME;', and `struct NAME {...};' */
static size_t read_typedef(struct socl_source *source, size_t at)
{
    const struct socl_token *tokens = source->tokens->at;
    size_t end = at, brace = 0, last = source->tokens->n - 1;
    struct socl_token name = {SOCL_END, 0, ""};
    struct socl_type type = {.width = 1};

    while (end < last && !socl_token_is(&tokens[end], ";")) {
        if (socl_token_is(&tokens[end], "{") && !brace)
            brace = end;
        if (tokens[end].kind == SOCL_NAME && !socl_token_is(&tokens[end], "__attribute__"))
            name = tokens[end];
        end = socl_token_is(&tokens[end], "{") || socl_token_is(&tokens[end], "(")
                  ? socl_skip_group(tokens, end, last)
                  : end + 1;
    }
    if (brace)
        type.bytes = struct_bytes(source, brace, socl_skip_group(tokens, brace, last) - 1);
    else
        socl_type_read(tokens, at, end, socl_source_type, source, &type);
    if (name.length)
        add_type(source, name, type);
    return end;
}

/* -- functions -- */

static void name_type(const struct socl_type *type, struct socl_parameter *ret)
{
    char name[48];

    socl_token_copy(&type->name, name, sizeof(name));
    snprintf(ret->type, sizeof(ret->type), "%s%s", name, type->levels ? "*" : "");
}

static bool add_parameter(struct socl_source *source, struct socl_function *function,
                          size_t from, size_t to)
{
    const struct socl_token *tokens = source->tokens->at;
    struct socl_type type;
    size_t at = socl_type_read(tokens, from, to, socl_source_type, source, &type);
    struct socl_parameter *parameter;
    void *more;

    if (at == from)
        return false;
    if (at == to && type.scalar == SOCL_OTHER && !type.levels && !type.image)
        return true; /* (void) */
    more = realloc(function->parameters, (function->n + 1) * sizeof(*function->parameters));
    if (!more)
        return false;
    function->parameters = more;
    parameter = &function->parameters[function->n++];
    *parameter = (struct socl_parameter){
        .space = type.space,
        .is_const = type.is_const,
        .is_restrict = type.is_restrict,
        .is_volatile = type.is_volatile,
        .image = type.image,
        .scalar = type.scalar,
        .width = type.width,
        .bytes = type.bytes,
    };
    for (; at < to; at++) {
        if (tokens[at].kind == SOCL_NAME && !parameter->name[0])
            socl_token_copy(&tokens[at], parameter->name, sizeof(parameter->name));
        type.levels += socl_token_is(&tokens[at], "[");
    }
    parameter->pointer = type.levels > 0;
    if (!parameter->pointer && !type.image) {
        parameter->space = SOCL_PRIVATE;
        parameter->bytes *= parameter->width == 3 ? 4 : parameter->width;
    }
    name_type(&type, parameter);
    return true;
}

static bool read_parameters(struct socl_source *source, struct socl_function *function,
                            size_t at, size_t end)
{
    const struct socl_token *tokens = source->tokens->at;
    size_t from = at;

    for (unsigned depth = 0; at <= end; at++) {
        if (at == end || (depth == 0 && socl_token_is(&tokens[at], ","))) {
            if (from < at && !add_parameter(source, function, from, at))
                return false;
            from = at + 1;
            continue;
        }
        depth += socl_token_is(&tokens[at], "(") || socl_token_is(&tokens[at], "[");
        depth -= socl_token_is(&tokens[at], ")") || socl_token_is(&tokens[at], "]");
    }
    return true;
}

/* What stands before and behind the function's name. */
static void read_words(const struct socl_source *source, struct socl_function *function,
                       size_t from, size_t to)
{
    const struct socl_token *tokens = source->tokens->at;

    for (size_t at = from; at < to; at++) {
        if (socl_token_is(&tokens[at], "kernel") || socl_token_is(&tokens[at], "__kernel"))
            function->kernel = true;
        if (!socl_token_is(&tokens[at], "reqd_work_group_size"))
            continue;
        for (unsigned i = 0; i < 3 && at + 2 + 2 * i < to; i++) {
            char text[32];

            socl_token_copy(&tokens[at + 2 + 2 * i], text, sizeof(text));
            function->local_size[i] = strtoul(text, NULL, 0);
        }
        snprintf(function->attributes, sizeof(function->attributes),
                 "reqd_work_group_size(%zu,%zu,%zu)", function->local_size[0],
                 function->local_size[1], function->local_size[2]);
    }
}

/* NAME ( … ) {…} whose words begin at `from`. False: no memory. */
static bool add_function(struct socl_source *source, size_t from, size_t name, size_t open,
                         size_t body, size_t end)
{
    struct socl_function function = {.first = body + 1, .last = end - 1};
    size_t close = socl_skip_group(source->tokens->at, open, end) - 1;
    void *more;

    socl_token_copy(&source->tokens->at[name], function.name, sizeof(function.name));
    read_words(source, &function, from, name);
    read_words(source, &function, close, body);
    if (!read_parameters(source, &function, open + 1, close)) {
        free(function.parameters); /* it is none that can be read */
        return true;
    }
    more = realloc(source->functions, (source->n + 1) * sizeof(*source->functions));
    if (!more) {
        free(function.parameters);
        return false;
    }
    source->functions = more;
    source->functions[source->n++] = function;
    return true;
}

/* The name and the parenthesis of a function whose body begins at `body`; 0: none. */
static size_t find_name(const struct socl_token *tokens, size_t from, size_t body,
                        size_t *ret_open)
{
    for (size_t at = from; at + 1 < body; at++) {
        if (socl_token_is(&tokens[at], "__attribute__") ||
            socl_token_is(&tokens[at], "attribute")) {
            at = socl_skip_group(tokens, at + 1, body) - 1;
            continue;
        }
        if (tokens[at].kind == SOCL_NAME && socl_token_is(&tokens[at + 1], "(")) {
            *ret_open = at + 1;
            return at;
        }
    }
    return 0;
}

static bool find_functions(struct socl_source *source)
{
    const struct socl_token *tokens = source->tokens->at;
    size_t last = source->tokens->n - 1, from = 0;

    for (size_t at = 0; at < last;) {
        size_t open, name, end;

        if (at == from && (socl_token_is(&tokens[at], "typedef"))) {
            from = at = read_typedef(source, at + 1) + 1;
            continue;
        }
        if (socl_token_is(&tokens[at], ";")) {
            from = ++at;
            continue;
        }
        if (socl_token_is(&tokens[at], "(")) {
            at = socl_skip_group(tokens, at, last);
            continue;
        }
        if (!socl_token_is(&tokens[at], "{")) {
            at++;
            continue;
        }
        end = socl_skip_group(tokens, at, last);
        name = find_name(tokens, from, at, &open);
        if (name && !add_function(source, from, name, open, at, end))
            return false;
        if (!name && socl_token_is(&tokens[from], "struct") && from + 1 < at) {
            struct socl_type type = {.width = 1, .bytes = struct_bytes(source, at, end - 1)};

            add_type(source, tokens[from + 1], type);
        }
        at = end;
        if (name)
            from = at;
    }
    return true;
}

/* -- the whole -- */

static bool is_balanced(const struct socl_tokens *tokens, char **ret_log)
{
    long depth = 0;

    for (size_t i = 0; i < tokens->n; i++) {
        depth += socl_token_is(&tokens->at[i], "{");
        depth -= socl_token_is(&tokens->at[i], "}");
        if (depth < 0)
            break;
    }
    if (depth == 0)
        return true;
    if (asprintf(ret_log, "a brace %s\n", depth < 0 ? "is closed that none opens"
                                                    : "is not closed") < 0)
        *ret_log = NULL;
    return false;
}

/* A buffer of which the count of its kernel sees no write is only read. */
static void find_writes(struct socl_source *source)
{
    for (unsigned i = 0; i < source->n; i++) {
        struct socl_function *function = &source->functions[i];
        double *values, *loads;
        struct socl_count count = {0};

        if (!function->kernel || function->n == 0)
            continue;
        values = calloc(function->n, sizeof(*values));
        loads = count.loads = calloc(2 * function->n, sizeof(*loads));
        for (unsigned k = 0; values && k < function->n; k++) {
            values[k] = (double)NAN;
            function->parameters[k].only_read = function->parameters[k].pointer;
        }
        if (values && loads)
            socl_source_count(source, function, values, &count);
        for (unsigned k = 0; k < function->n; k++)
            function->parameters[k].only_read &= count.written && !count.written[k];
        free(count.written);
        free(values);
        free(loads);
    }
}

struct socl_source *socl_source_read(const char *text, const char *options, char **ret_log)
{
    struct socl_source *source = calloc(1, sizeof(*source));

    *ret_log = NULL;
    if (!source)
        return NULL;
    source->tokens = socl_tokens_read(text, options, ret_log);
    if (source->tokens && is_balanced(source->tokens, ret_log) && find_functions(source)) {
        find_writes(source);
        return source;
    }
    socl_source_free(source);
    return NULL;
}

void socl_source_free(struct socl_source *source)
{
    if (!source)
        return;
    for (unsigned i = 0; i < source->n; i++)
        free(source->functions[i].parameters);
    free(source->functions);
    free(source->types);
    socl_tokens_free(source->tokens);
    free(source);
}

const struct socl_function *socl_source_find(const struct socl_source *source,
                                             const char *kernel)
{
    for (unsigned i = 0; i < source->n; i++)
        if (source->functions[i].kernel && strcmp(source->functions[i].name, kernel) == 0)
            return &source->functions[i];
    return NULL;
}
