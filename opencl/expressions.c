/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/expressions.c - see walk.h: values and operators. */
#include "core/base/number.h"
#include "opencl/walk.h"

#include <stdlib.h>
#include <string.h>

static struct value number(const struct socl_token *token)
{
    char text[64], *end;
    struct value value = socl_unknown_value;
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

    socl_walk_read_type(w, &type);
    take(w, ")");
    value = socl_walk_value_of_type(&type);
    if (type.width > 1 && !type.levels && take(w, "(")) {
        struct arguments arguments;

        socl_walk_read_arguments(w, &arguments);
        return value;
    }
    inner = socl_walk_expression(w, 14);
    value.parameter = inner.levels ? inner.parameter : -1;
    value.number = inner.number;
    return value;
}

static struct value size_of(struct walk *w)
{
    struct value value = socl_unknown_value;
    struct socl_type type;

    value.scalar = SOCL_INT;
    if (take(w, "(") && socl_walk_is_type(w, w->at)) {
        socl_walk_read_type(w, &type);
        if (type.levels || type.bytes)
            value.number = type.levels ? 8 : type.bytes * type.width;
        take(w, ")");
    }
    return value;
}

static struct value primary(struct walk *w)
{
    const struct socl_token *token = &w->tokens[w->at];
    struct value value = socl_unknown_value;
    int variable;

    if (w->at >= w->end)
        return value;
    if (take(w, "(")) {
        if (socl_walk_is_type(w, w->at))
            return cast(w);
        value = socl_walk_expression(w, 1);
        take(w, ")");
        return value;
    }
    if (is_next(w, "{")) { /* values of an array or a structure */
        w->at++;
        while (w->at < w->end && !take(w, "}")) {
            size_t before = w->at;

            socl_walk_expression(w, 2);
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
        return socl_walk_call(w, token);
    variable = socl_walk_find_variable(w, token);
    if (variable < 0)
        return value;
    value = w->variables[variable].value;
    value.variable = variable;
    return value;
}

static struct value index_into(struct walk *w, struct value value)
{
    socl_walk_expression(w, 1);
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

        value.width = half                  ? value.width / 2
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
struct value socl_walk_loaded(struct walk *w, struct value value)
{
    if (value.element && value.levels == 0) {
        socl_walk_add_load(w, &value);
        value.element = false;
        value.parameter = -1;
    }
    return value;
}

static void change(struct walk *w, struct value *value)
{
    if (value->element) {
        socl_walk_add_load(w, value);
        socl_walk_add_store(w, value);
        socl_walk_mark_written(w, value);
    }
    socl_walk_add_operations(w, value->scalar, value->width);
    socl_walk_set_number(w, value->variable, (double)NAN);
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
        socl_walk_set_number(w, value.variable, (double)NAN);
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
        value = socl_walk_loaded(w, unary(w));
        value.variable = -1;
        value.number = -value.number;
        return value;
    }
    if (is_next(w, "!") || is_next(w, "~") || is_next(w, "+")) {
        w->at++;
        value = socl_walk_loaded(w, unary(w));
        value.variable = -1;
        value.number = (double)NAN;
        return value;
    }
    return postfix(w);
}

static const struct {
    char sign[4];
    int rank;
} ranks[] = {{",", 1},   {"=", 2},   {"+=", 2},  {"-=", 2},  {"*=", 2},  {"/=", 2}, {"%=", 2},
             {"<<=", 2}, {">>=", 2}, {"&=", 2},  {"|=", 2},  {"^=", 2},  {"?", 3},  {"||", 4},
             {"&&", 5},  {"|", 6},   {"^", 7},   {"&", 8},   {"==", 9},  {"!=", 9}, {"<", 10},
             {">", 10},  {"<=", 10}, {">=", 10}, {"<<", 11}, {">>", 11}, {"+", 12}, {"-", 12},
             {"*", 13},  {"/", 13},  {"%", 13}};

static int rank_of(const struct walk *w)
{
    const struct socl_token *next = &w->tokens[w->at];

    if (w->at >= w->end || next->kind != SOCL_SIGN)
        return 0;
    for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
        if (*ranks[i].sign == *next->text && socl_token_is(next, ranks[i].sign))
            return ranks[i].rank;
    return 0;
}

static double compute(struct walk *w, char sign, const struct value *a,
                      const struct value *b)
{
    double x = a->number, y = b->number;
    bool whole = !socl_walk_is_floating(a->scalar) && !socl_walk_is_floating(b->scalar);

    w->count->depends |=
        y == 0; /* what cannot be divided now may be with another value */
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
    struct value from = socl_walk_loaded(w, socl_walk_expression(w, 2)), both;
    bool plain = sign->length == 1;

    if (to.element) {
        socl_walk_mark_written(w, &to);
        socl_walk_add_store(w, &to);
        if (!plain)
            socl_walk_add_load(w, &to);
    }
    if (!plain) {
        both = socl_walk_join(&to, &from);
        socl_walk_add_operations(w, both.scalar, both.width);
        from.number = compute(w, sign->text[0], &to, &from);
    }
    socl_walk_set_number(w, to.variable, w->times > 0 ? from.number : (double)NAN);
    if (to.variable >= 0 && to.levels && from.parameter >= 0)
        w->variables[to.variable].value.parameter = from.parameter;
    else if (to.levels == 0 && from.levels)
        socl_walk_mark_written(w, &from); /* a pointer goes where nobody follows */
    to.number = from.number;
    to.element = false;
    return to;
}

/* Both sides count. */
static struct value choose(struct walk *w)
{
    struct value yes = socl_walk_loaded(w, socl_walk_expression(w, 2)), no, value;

    take(w, ":");
    no = socl_walk_loaded(w, socl_walk_expression(w, 2));
    value = socl_walk_join(&yes, &no);
    if (yes.levels && no.levels && yes.parameter != no.parameter) {
        socl_walk_mark_written(w, &yes); /* one of both is followed */
        socl_walk_mark_written(w, &no);
    }
    socl_walk_add_operations(w, SOCL_INT, 1);
    return value;
}

static struct value operate(struct walk *w, struct value left, const struct socl_token *sign,
                            int rank)
{
    struct value right, value;
    bool compares = rank >= 4 && rank <= 10 && !(rank >= 6 && rank <= 8);

    left = socl_walk_loaded(w, left);
    right = socl_walk_loaded(w, socl_walk_expression(w, rank + 1));
    value = socl_walk_join(&left, &right);
    value.number =
        rank >= 11 ? compute(w, sign->text[0], &left, &right) : (double)NAN;
    socl_walk_add_operations(w, compares || value.levels ? SOCL_INT : value.scalar, value.width);
    if (compares) {
        value.scalar = SOCL_INT;
        value.bytes = 4;
    }
    return value;
}

struct value socl_walk_expression(struct walk *w, int least)
{
    struct value value = unary(w);
    int rank;

    while ((rank = rank_of(w)) >= least && rank > 0) {
        const struct socl_token *sign = &w->tokens[w->at++];

        if (rank == 1) {
            socl_walk_loaded(w, value);
            value = socl_walk_expression(w, 2);
        } else if (rank == 2) {
            value = assign(w, value, sign);
        } else if (rank == 3) {
            socl_walk_loaded(w, value);
            value = choose(w);
        } else {
            value = operate(w, value, sign, rank);
        }
    }
    return least <= 2 ? socl_walk_loaded(w, value) : value;
}
