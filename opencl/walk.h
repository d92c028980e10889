/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/walk.h - a walk through the statements of a function, as often as its loops say,
 * which adds up operators by their types. An expression's type, value and the parameter
 * that a pointer comes from are carried along (struct value); what cannot be read is
 * skipped, token by token. What the files of it share; one thread, a walk each.
 */
#pragma once

#include "opencl/count.h"
#include "opencl/source.h"

#include <math.h>

enum { SOCL_MOST_VARIABLES = 512, SOCL_MOST_CALLS = 8 };

struct value {
    enum socl_scalar scalar;
    unsigned width, bytes, levels;
    int parameter; /* of the kernel: where a pointer points to, an element lies; -1: none */
    int variable;  /* it is this one; -1: it is none */
    bool element;  /* it lies in memory that a parameter points to */
    double number; /* NaN: unknown */
};

struct variable {
    struct socl_token name;
    struct value value;
};

struct walk {
    const struct socl_source *source;
    const struct socl_token *tokens;
    struct socl_count *count;
    struct variable variables[SOCL_MOST_VARIABLES];
    unsigned nvariables, scope; /* names from `scope` on are the function's */
    unsigned ncalls;
    double times; /* how often the present statement is executed */
    size_t at, end;
};

static const struct value socl_unknown_value = {SOCL_OTHER, 1, 0, 0, -1, -1, false, (double)NAN};

/* -- tokens -- */

static inline bool is_next(const struct walk *w, const char *text)
{
    return w->at < w->end && socl_token_is(&w->tokens[w->at], text);
}

/* Goes behind it, if it is the next one. */
static inline bool take(struct walk *w, const char *text)
{
    if (!is_next(w, text))
        return false;
    w->at++;
    return true;
}

/* -- sums: walk.c. Each counts as often as the present statement is executed -- */

void socl_walk_add_operations(struct walk *w, enum socl_scalar scalar, double n);
/* The element is read, written; nothing of a value that is none. */
void socl_walk_add_load(struct walk *w, const struct value *value);
void socl_walk_add_store(struct walk *w, const struct value *value);
/* The parameter that it comes from, if it does, may be written. */
void socl_walk_mark_written(struct walk *w, const struct value *value);

/* -- variables: walk.c. By their place in w->variables; -1: there is none, or no room -- */

int socl_walk_find_variable(const struct walk *w, const struct socl_token *name);
int socl_walk_add_variable(struct walk *w, struct socl_token name, struct value value);
void socl_walk_set_number(struct walk *w, int variable, double number);

/* -- types: walk.c -- */

/* Goes behind it; false: none is next. */
bool socl_walk_read_type(struct walk *w, struct socl_type *ret);
/* Whether a type stands there, and what follows is not a call of that name. */
bool socl_walk_is_type(const struct walk *w, size_t at);
struct value socl_walk_value_of_type(const struct socl_type *type);
bool socl_walk_is_floating(enum socl_scalar scalar);
/* What an operator makes of both. */
struct value socl_walk_join(const struct value *a, const struct value *b);

/* -- calls: calls.c -- */

struct arguments {
    struct value at[16];
    unsigned n;
};

/* Behind the parenthesis that opens them, up to the one that closes them. */
void socl_walk_read_arguments(struct walk *w, struct arguments *ret);
/* Of that function, likewise: the source's own, which is walked through, or OpenCL's. */
struct value socl_walk_call(struct walk *w, const struct socl_token *name);

/* -- expressions: expressions.c -- */

/* With operators that bind at least so much; 1: commas too, 2: one of several. */
struct value socl_walk_expression(struct walk *w, int least);
/* An element is read where it is used, once; a store says so itself. */
struct value socl_walk_loaded(struct walk *w, struct value value);

/* -- statements: statements.c -- */

void socl_walk_statement(struct walk *w);
/* All between two places; the walk is where it was then. */
void socl_walk_body(struct walk *w, size_t first, size_t last);
