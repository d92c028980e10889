/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/walk.c - see count.h: walks through the statements of a function as often as its
 * loops say, and adds up operators by their types. An expression's type, value and the
 * parameter that a pointer comes from are carried along (struct value); what cannot be
 * read is skipped, token by token.
 */
#include "core/base/number.h"
#include "opencl/count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/source.h"

enum { MOST_VARIABLES = 512, MOST_CALLS = 8 };

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
    struct variable variables[MOST_VARIABLES];
    unsigned nvariables, scope; /* names from `scope` on are the function's */
    unsigned ncalls;
    double times; /* how often the present statement is executed */
    size_t at, end;
};

static const struct value unknown = {SOCL_OTHER, 1, 0, 0, -1, -1, false, (double)NAN};

static struct value expression(struct walk *w, int least);
static void statement(struct walk *w);

/* -- tokens -- */

static bool is_next(const struct walk *w, const char *text)
{
    return w->at < w->end && socl_token_is(&w->tokens[w->at], text);
}

static bool take(struct walk *w, const char *text)
{
    if (!is_next(w, text))
        return false;
    w->at++;
    return true;
}

/* -- sums -- */

static void add_operations(struct walk *w, enum socl_scalar scalar, double n)
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

static void add_load(struct walk *w, const struct value *value)
{
    add_access(w, value, w->count->loads);
}

static void add_store(struct walk *w, const struct value *value)
{
    add_access(w, value, w->count->stores);
}

static void mark_written(struct walk *w, const struct value *value)
{
    if (value->parameter >= 0 && w->count->written)
        w->count->written[value->parameter] = true;
}

/* -- variables -- */

static int find_variable(const struct walk *w, const struct socl_token *name)
{
    for (unsigned i = w->nvariables; i > w->scope; i--)
        if (w->variables[i - 1].name.length == name->length &&
            memcmp(w->variables[i - 1].name.text, name->text, name->length) == 0)
            return (int)i - 1;
    return -1;
}

static int add_variable(struct walk *w, struct socl_token name, struct value value)
{
    if (w->nvariables == MOST_VARIABLES)
        return -1;
    value.variable = -1;
    w->variables[w->nvariables] = (struct variable){name, value};
    return (int)w->nvariables++;
}

static void set_number(struct walk *w, int variable, double number)
{
    if (variable >= 0)
        w->variables[variable].value.number = number;
}

/* -- types -- */

static bool read_type(struct walk *w, struct socl_type *ret)
{
    size_t next = socl_type_read(w->tokens, w->at, w->end, socl_source_type,
                                 (void *)(uintptr_t)w->source, ret);

    if (next == w->at)
        return false;
    w->at = next;
    return true;
}

/* Whether a type stands there, and what follows is not a call of that name. */
static bool is_type(const struct walk *w, size_t at)
{
    struct socl_type type;

    return at < w->end && w->tokens[at].kind == SOCL_NAME &&
           socl_type_read(w->tokens, at, w->end, socl_source_type,
                          (void *)(uintptr_t)w->source, &type) > at;
}

static struct value value_of_type(const struct socl_type *type)
{
    struct value value = unknown;

    value.scalar = type->scalar;
    value.width = type->width;
    value.bytes = type->bytes;
    value.levels = type->levels;
    return value;
}

static bool is_floating(enum socl_scalar scalar)
{
    return scalar == SOCL_HALF || scalar == SOCL_FLOAT || scalar == SOCL_DOUBLE;
}

/* What an operator makes of both. */
static struct value join(const struct value *a, const struct value *b)
{
    struct value value = unknown;
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

/* -- calls -- */

struct arguments {
    struct value at[16];
    unsigned n;
};

static void read_arguments(struct walk *w, struct arguments *ret)
{
    ret->n = 0;
    while (w->at < w->end && !take(w, ")")) {
        struct value value = expression(w, 2);

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

static void walk_body(struct walk *w, size_t first, size_t last)
{
    size_t at = w->at, end = w->end;

    w->at = first;
    w->end = last;
    while (w->at < w->end)
        statement(w);
    w->at = at;
    w->end = end;
}

static struct value call_own(struct walk *w, const struct socl_function *function,
                             const struct arguments *arguments)
{
    unsigned scope = w->scope, nvariables = w->nvariables;
    struct value result = unknown;

    if (w->ncalls == MOST_CALLS)
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
        add_variable(w, (struct socl_token){SOCL_NAME, (unsigned)strlen(parameter->name),
                                            parameter->name},
                     value);
    }
    walk_body(w, function->first, function->last);
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
    struct value value = unknown;

    if (arguments->n)
        value = arguments->at[arguments->n - 1];
    value.levels = 0;
    value.width = width ? width : 1;
    value.element = true;
    if (store) {
        add_store(w, &value);
        mark_written(w, &value);
    } else {
        add_load(w, &value);
    }
    value.parameter = -1;
    value.element = false;
    return value;
}

/* What a function of OpenCL's costs: an operation for each element, two for mad. */
static struct value call_built_in(struct walk *w, const struct socl_token *name,
                                  const struct arguments *arguments)
{
    static const char *const free_of_cost[] = {"get_", "barrier", "mem_fence", "read_mem_fence",
                                               "write_mem_fence", "work_group_barrier", "as_",
                                               "convert_", "prefetch", "printf"};
    bool mad = socl_token_is(name, "mad") || socl_token_is(name, "fma") ||
               socl_token_is(name, "mad24") || socl_token_is(name, "mad_hi");
    struct value value = unknown;

    if (starts(name, "vload") || starts(name, "vstore"))
        return call_vector(w, name, starts(name, "vstore"), arguments);
    for (unsigned i = 0; i < arguments->n; i++) {
        value = i ? join(&value, &arguments->at[i]) : arguments->at[i];
        if (arguments->at[i].levels)
            mark_written(w, &arguments->at[i]);
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
        add_load(w, &value);
        add_store(w, &value);
        value.parameter = -1;
        value.element = false;
    }
    if (socl_token_is(name, "dot")) {
        add_operations(w, value.scalar, 2.0 * value.width - 1);
        value.width = 1;
        return value;
    }
    value.levels = 0;
    add_operations(w, value.scalar, (mad ? 2.0 : 1.0) * value.width);
    return value;
}

static struct value call(struct walk *w, const struct socl_token *name)
{
    const struct socl_function *own = find_function(w, name);
    struct arguments arguments;

    read_arguments(w, &arguments);
    return own ? call_own(w, own, &arguments) : call_built_in(w, name, &arguments);
}

/* -- expressions -- */

static struct value number(const struct socl_token *token)
{
    char text[64], *end;
    struct value value = unknown;
    bool hex = token->length > 1 && (token->text[1] == 'x' || token->text[1] == 'X');

    socl_token_copy(token, text, sizeof(text));
    value.scalar = SOCL_INT;
    value.bytes = 4;
    value.number = hex ? (double)strtoull(text, &end, 0) : orr_strtod(text, &end);
    if (!hex && strpbrk(text, ".eE")) {
        value.scalar = *end == 'f' || *end == 'F' ? SOCL_FLOAT : SOCL_DOUBLE;
        value.bytes = value.scalar == SOCL_FLOAT ? 4 : 8;
    } else if (!hex && (*end == 'f' || *end == 'F')) {
        value.scalar = SOCL_FLOAT;
    }
    return value;
}

/* (type) x, or (float4)(a, b, c, d). */
static struct value cast(struct walk *w)
{
    struct socl_type type;
    struct value value, inner;

    read_type(w, &type);
    take(w, ")");
    value = value_of_type(&type);
    if (type.width > 1 && !type.levels && take(w, "(")) {
        struct arguments arguments;

        read_arguments(w, &arguments);
        return value;
    }
    inner = expression(w, 14);
    value.parameter = inner.levels ? inner.parameter : -1;
    value.number = inner.number;
    return value;
}

static struct value size_of(struct walk *w)
{
    struct value value = unknown;
    struct socl_type type;

    value.scalar = SOCL_INT;
    if (take(w, "(") && is_type(w, w->at)) {
        read_type(w, &type);
        if (type.levels || type.bytes)
            value.number = type.levels ? 8 : type.bytes * type.width;
        take(w, ")");
    }
    return value;
}

static struct value primary(struct walk *w)
{
    const struct socl_token *token = &w->tokens[w->at];
    struct value value = unknown;
    int variable;

    if (w->at >= w->end)
        return value;
    if (take(w, "(")) {
        if (is_type(w, w->at))
            return cast(w);
        value = expression(w, 1);
        take(w, ")");
        return value;
    }
    if (is_next(w, "{")) { /* values of an array or a structure */
        w->at++;
        while (w->at < w->end && !take(w, "}")) {
            size_t before = w->at;

            expression(w, 2);
            if (!take(w, ",") && w->at == before)
                w->at++;
        }
        return value;
    }
    if (token->kind == SOCL_NUMBER) {
        w->at++;
        return number(token);
    }
    if (token->kind != SOCL_NAME) {
        w->at += token->kind == SOCL_TEXT;
        return value;
    }
    w->at++;
    if (socl_token_is(token, "sizeof"))
        return size_of(w);
    if (take(w, "("))
        return call(w, token);
    variable = find_variable(w, token);
    if (variable < 0)
        return value;
    value = w->variables[variable].value;
    value.variable = variable;
    return value;
}

static struct value index_into(struct walk *w, struct value value)
{
    expression(w, 1);
    take(w, "]");
    value.variable = -1;
    value.number = (double)NAN;
    if (value.levels)
        value.levels--;
    value.element = value.levels == 0;
    return value;
}

/* .x, .s01, .lo, or a member of a structure. */
static struct value member(struct walk *w, struct value value)
{
    const struct socl_token *token = &w->tokens[w->at];

    w->at += w->at < w->end;
    value.variable = -1;
    value.number = (double)NAN;
    if (value.width > 1) {
        bool half = socl_token_is(token, "lo") || socl_token_is(token, "hi") ||
                    socl_token_is(token, "even") || socl_token_is(token, "odd");

        value.width = half               ? value.width / 2
                      : *token->text == 's' ? token->length - 1
                                            : token->length;
        return value;
    }
    value.scalar = value.scalar == SOCL_OTHER ? SOCL_FLOAT : value.scalar;
    value.bytes = 4;
    value.levels = 0;
    return value;
}

/* An element is read where it is used, once; a store says so itself. */
static struct value loaded(struct walk *w, struct value value)
{
    if (value.element && value.levels == 0) {
        add_load(w, &value);
        value.element = false;
        value.parameter = -1;
    }
    return value;
}

static void change(struct walk *w, struct value *value)
{
    if (value->element) {
        add_load(w, value);
        add_store(w, value);
        mark_written(w, value);
    }
    add_operations(w, value->scalar, value->width);
    set_number(w, value->variable, (double)NAN);
}

static struct value postfix(struct walk *w)
{
    struct value value = primary(w);

    for (;;) {
        if (take(w, "[")) {
            value = index_into(w, value);
        } else if (take(w, ".")) {
            value = member(w, value);
        } else if (take(w, "->")) {
            value.element = true;
            value.levels = 0;
            value = member(w, value);
        } else if (is_next(w, "++") || is_next(w, "--")) {
            w->at++;
            change(w, &value);
        } else {
            return value;
        }
    }
}

static struct value unary(struct walk *w)
{
    struct value value;

    if (take(w, "*")) {
        value = unary(w);
        value.variable = -1;
        value.number = (double)NAN;
        if (value.levels)
            value.levels--;
        value.element = value.levels == 0;
        return value;
    }
    if (take(w, "&")) {
        value = unary(w);
        value.levels++;
        set_number(w, value.variable, (double)NAN);
        value.variable = -1;
        value.element = false;
        return value;
    }
    if (is_next(w, "++") || is_next(w, "--")) {
        w->at++;
        value = unary(w);
        change(w, &value);
        return value;
    }
    if (take(w, "-")) {
        value = loaded(w, unary(w));
        value.variable = -1;
        value.number = -value.number;
        return value;
    }
    if (is_next(w, "!") || is_next(w, "~") || is_next(w, "+")) {
        w->at++;
        value = loaded(w, unary(w));
        value.variable = -1;
        value.number = (double)NAN;
        return value;
    }
    return postfix(w);
}

static const struct {
    const char *sign;
    int rank;
} ranks[] = {{",", 1},    {"=", 2},    {"+=", 2},  {"-=", 2},  {"*=", 2},  {"/=", 2},  {"%=", 2},
             {"<<=", 2},  {">>=", 2},  {"&=", 2},  {"|=", 2},  {"^=", 2},  {"?", 3},   {"||", 4},
             {"&&", 5},   {"|", 6},    {"^", 7},   {"&", 8},   {"==", 9},  {"!=", 9},  {"<", 10},
             {">", 10},   {"<=", 10},  {">=", 10}, {"<<", 11}, {">>", 11}, {"+", 12},  {"-", 12},
             {"*", 13},   {"/", 13},   {"%", 13}};

static int rank_of(const struct walk *w)
{
    for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
        if (is_next(w, ranks[i].sign))
            return ranks[i].rank;
    return 0;
}

static double compute(char sign, const struct value *a, const struct value *b)
{
    double x = a->number, y = b->number;
    bool whole = !is_floating(a->scalar) && !is_floating(b->scalar);

    switch (sign) {
    case '+':
        return x + y;
    case '-':
        return x - y;
    case '*':
        return x * y;
    case '/':
        return y == 0 ? (double)NAN : whole ? trunc(x / y) : x / y;
    case '%':
        return y == 0 ? (double)NAN : fmod(x, y);
    case '<': /* << */
        return ldexp(x, fabs(y) < 64 ? (int)y : 0);
    case '>': /* >> */
        return floor(ldexp(x, fabs(y) < 64 ? -(int)y : 0));
    default:
        return (double)NAN;
    }
}

static struct value assign(struct walk *w, struct value to, const struct socl_token *sign)
{
    struct value from = loaded(w, expression(w, 2)), both;
    bool plain = sign->length == 1;

    if (to.element) {
        mark_written(w, &to);
        add_store(w, &to);
        if (!plain)
            add_load(w, &to);
    }
    if (!plain) {
        both = join(&to, &from);
        add_operations(w, both.scalar, both.width);
        from.number = compute(sign->text[0], &to, &from);
    }
    set_number(w, to.variable, w->times > 0 ? from.number : (double)NAN);
    if (to.variable >= 0 && to.levels && from.parameter >= 0)
        w->variables[to.variable].value.parameter = from.parameter;
    else if (to.levels == 0 && from.levels)
        mark_written(w, &from); /* a pointer goes where nobody follows */
    to.number = from.number;
    to.element = false;
    return to;
}

/* Both sides count. */
static struct value choose(struct walk *w)
{
    struct value yes = loaded(w, expression(w, 2)), no, value;

    take(w, ":");
    no = loaded(w, expression(w, 2));
    value = join(&yes, &no);
    if (yes.levels && no.levels && yes.parameter != no.parameter) {
        mark_written(w, &yes); /* one of both is followed */
        mark_written(w, &no);
    }
    add_operations(w, SOCL_INT, 1);
    return value;
}

static struct value operate(struct walk *w, struct value left, const struct socl_token *sign,
                            int rank)
{
    struct value right, value;
    bool compares = rank >= 4 && rank <= 10 && !(rank >= 6 && rank <= 8);

    left = loaded(w, left);
    right = loaded(w, expression(w, rank + 1));
    value = join(&left, &right);
    value.number = rank >= 11 ? compute(sign->text[0], &left, &right) : (double)NAN;
    add_operations(w, compares || value.levels ? SOCL_INT : value.scalar, value.width);
    if (compares) {
        value.scalar = SOCL_INT;
        value.bytes = 4;
    }
    return value;
}

static struct value expression(struct walk *w, int least)
{
    struct value value = unary(w);
    int rank;

    while ((rank = rank_of(w)) >= least && rank > 0) {
        const struct socl_token *sign = &w->tokens[w->at++];

        if (rank == 1) {
            loaded(w, value);
            value = expression(w, 2);
        } else if (rank == 2) {
            value = assign(w, value, sign);
        } else if (rank == 3) {
            loaded(w, value);
            value = choose(w);
        } else {
            value = operate(w, value, sign, rank);
        }
    }
    return least <= 2 ? loaded(w, value) : value;
}

/* -- loops -- */

/* From init, condition and step, each between two places. */
struct loop {
    int variable;
    double from, to, step, factor;
    bool inclusive;
};

static double value_between(struct walk *w, size_t from, size_t to)
{
    size_t at = w->at, end = w->end;
    double times = w->times, result;

    w->at = from;
    w->end = to;
    w->times = 0;
    result = expression(w, 2).number;
    w->at = at;
    w->end = end;
    w->times = times;
    return result;
}

static void read_bound(struct walk *w, size_t from, size_t to, struct loop *loop)
{
    for (size_t at = from; at < to; at++) {
        const struct socl_token *sign = &w->tokens[at];
        bool less = *sign->text == '<', more = *sign->text == '>';

        if (sign->kind != SOCL_SIGN || (!less && !more && !socl_token_is(sign, "!=")) ||
            socl_token_is(sign, "<<") || socl_token_is(sign, ">>"))
            continue;
        loop->inclusive = sign->length == 2 && !socl_token_is(sign, "!=");
        if (at == from + 1 && find_variable(w, &w->tokens[from]) == loop->variable)
            loop->to = value_between(w, at + 1, to);
        else if (to == at + 2 && find_variable(w, &w->tokens[at + 1]) == loop->variable)
            loop->to = value_between(w, from, at);
        return;
    }
}

static void read_step(struct walk *w, size_t from, size_t to, struct loop *loop)
{
    for (size_t at = from; at < to; at++) {
        const struct socl_token *sign = &w->tokens[at];
        double by;

        if (sign->kind != SOCL_SIGN)
            continue;
        if (socl_token_is(sign, "++"))
            loop->step = 1;
        else if (socl_token_is(sign, "--"))
            loop->step = -1;
        if (loop->step != 0 || sign->length < 2 || sign->text[sign->length - 1] != '=')
            return;
        by = value_between(w, at + 1, to);
        if (*sign->text == '+')
            loop->step = by;
        else if (*sign->text == '-')
            loop->step = -by;
        else if (*sign->text == '*')
            loop->factor = by;
        else if (*sign->text == '/')
            loop->factor = 1 / by;
        else if (*sign->text == '<')
            loop->factor = ldexp(1, (int)fmin(by, 63));
        else if (*sign->text == '>')
            loop->factor = ldexp(1, -(int)fmin(by, 63));
        return;
    }
}

/* How often it goes round; once where that is not known. */
static double trips(const struct loop *loop)
{
    double n = (double)NAN, to = loop->to;
    bool mean = to > floor(to) || loop->from > floor(loop->from); /* of a loop around it */

    if (loop->step > 0 || loop->step < 0)
        n = (to - loop->from + (loop->inclusive ? (loop->step > 0 ? 1 : -1) : 0)) / loop->step;
    else if (loop->factor > 0 && loop->factor < 1 && to <= 0)
        n = floor(log(loop->from) / -log(loop->factor)) + 1;
    else if (loop->factor > 0 && !(loop->factor <= 1 && loop->factor >= 1))
        n = ceil(log(to / loop->from) / log(loop->factor) - 1e-9) + (loop->inclusive ? 1 : 0);
    if (isnan(n) || isinf(n))
        return 1;
    return n <= 0 ? 0 : mean ? n : ceil(n);
}

static size_t find_sign(const struct walk *w, size_t at, size_t end, const char *sign)
{
    while (at < end && !socl_token_is(&w->tokens[at], sign))
        at = socl_token_is(&w->tokens[at], "(") || socl_token_is(&w->tokens[at], "[")
                 ? socl_skip_group(w->tokens, at, end)
                 : at + 1;
    return at;
}

/* The variable that the init part has set. */
static int loop_variable(const struct walk *w, size_t from, size_t to)
{
    size_t at = find_sign(w, from, to, "=");

    return at > from && at < to ? find_variable(w, &w->tokens[at - 1]) : -1;
}

static void between(struct walk *w, size_t from, size_t to)
{
    size_t end = w->end;

    w->at = from;
    w->end = to;
    while (w->at < w->end) {
        size_t before = w->at;

        expression(w, 1);
        w->at += w->at == before;
    }
    w->end = end;
}

/* for ( … ; … ; … ) STATEMENT, from behind the parenthesis. */
static void loop_for(struct walk *w)
{
    size_t init = w->at, close = socl_skip_group(w->tokens, init - 1, w->end) - 1, end = w->end;
    size_t test = find_sign(w, init, close, ";") + 1, step = find_sign(w, test, close, ";") + 1;
    struct loop loop = {-1, (double)NAN, (double)NAN, 0, 0, false};
    unsigned nvariables = w->nvariables;
    double outer = w->times, n;

    w->end = test < close ? test : close;
    statement(w);
    w->end = end;
    loop.variable = loop_variable(w, init, test);
    if (loop.variable >= 0)
        loop.from = w->variables[loop.variable].value.number;
    if (loop.variable >= 0 && step <= close) {
        read_bound(w, test, step - 1, &loop);
        read_step(w, step, close, &loop);
    }
    n = trips(&loop);
    set_number(w, loop.variable, (loop.from + loop.to - (loop.inclusive ? 0 : 1)) / 2);
    w->times = outer * n;
    if (test < step)
        between(w, test, step - 1);
    if (step <= close)
        between(w, step, close);
    /* The middle one stands for all, so that loops inside that go up to it are right. */
    set_number(w, loop.variable, (loop.from + loop.to - (loop.inclusive ? 0 : 1)) / 2);
    w->at = close + 1 < end ? close + 1 : end;
    statement(w);
    w->times = outer;
    set_number(w, loop.variable, (double)NAN);
    w->nvariables = nvariables;
}

/* -- statements -- */

static void declare(struct walk *w)
{
    struct socl_type type;

    read_type(w, &type);
    while (w->at < w->end && !take(w, ";")) {
        struct value value = value_of_type(&type), init;
        struct socl_token name;
        int variable;

        while (take(w, "*"))
            value.levels++;
        if (w->at >= w->end || w->tokens[w->at].kind != SOCL_NAME) {
            w->at += w->at < w->end;
            continue;
        }
        name = w->tokens[w->at++];
        while (take(w, "[")) {
            value.levels++;
            while (w->at < w->end && !take(w, "]"))
                w->at++;
        }
        variable = add_variable(w, name, value);
        if (take(w, "=")) {
            init = loaded(w, expression(w, 2));
            set_number(w, variable, value.levels ? (double)NAN : init.number);
            if (variable >= 0 && value.levels)
                w->variables[variable].value.parameter = init.parameter;
            else if (init.levels && !value.levels)
                mark_written(w, &init);
        }
        if (!take(w, ",") && !is_next(w, ";"))
            w->at += w->at < w->end;
    }
}

static void condition_and_statement(struct walk *w)
{
    if (take(w, "(")) {
        expression(w, 1);
        take(w, ")");
    }
    statement(w);
}

static void block(struct walk *w)
{
    unsigned nvariables = w->nvariables;

    while (w->at < w->end && !take(w, "}"))
        statement(w);
    w->nvariables = nvariables;
}

static bool keyword(struct walk *w)
{
    if (take(w, "{")) {
        block(w);
    } else if (is_next(w, "for") && w->at + 1 < w->end) {
        w->at += 2;
        loop_for(w);
    } else if (take(w, "if") || take(w, "while") || take(w, "switch")) {
        condition_and_statement(w);
        if (take(w, "else"))
            statement(w);
    } else if (take(w, "do")) {
        statement(w);
        take(w, "while");
    } else if (take(w, "case")) {
        while (w->at < w->end && !take(w, ":"))
            w->at++;
    } else if (take(w, "default") || take(w, "return") || take(w, "else")) {
        ; /* what follows is read as a statement */
    } else if (take(w, "break") || take(w, "continue") || take(w, ";") || take(w, ":")) {
        ;
    } else {
        return false;
    }
    return true;
}

static void statement(struct walk *w)
{
    size_t before = w->at;

    if (w->at >= w->end || keyword(w))
        return;
    if (is_type(w, w->at) && !socl_token_is(&w->tokens[w->at + 1], "(")) {
        declare(w);
        return;
    }
    expression(w, 1);
    if (!take(w, ";") && w->at == before)
        w->at++;
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
        struct value value = unknown;
        unsigned width = parameter->width ? parameter->width : 1;

        value.scalar = parameter->scalar;
        value.width = width;
        value.bytes = parameter->bytes;
        value.levels = parameter->pointer;
        value.parameter = parameter->pointer && parameter->space != SOCL_LOCAL ? (int)i : -1;
        value.number = parameter->pointer ? (double)NAN : values[i];
        add_variable(w, (struct socl_token){SOCL_NAME, (unsigned)strlen(parameter->name),
                                            parameter->name},
                     value);
    }
    walk_body(w, kernel->first, kernel->last);
    free(w);
}
