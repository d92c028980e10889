/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/statements.c - see walk.h: declarations, conditions and loops. */
#include "opencl/walk.h"

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
    result = socl_walk_expression(w, 2).number;
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
        if (at == from + 1 && socl_walk_find_variable(w, &w->tokens[from]) == loop->variable)
            loop->to = value_between(w, at + 1, to);
        else if (to == at + 2 && socl_walk_find_variable(w, &w->tokens[at + 1]) == loop->variable)
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

    return at > from && at < to ? socl_walk_find_variable(w, &w->tokens[at - 1]) : -1;
}

static void between(struct walk *w, size_t from, size_t to)
{
    size_t end = w->end;

    w->at = from;
    w->end = to;
    while (w->at < w->end) {
        size_t before = w->at;

        socl_walk_expression(w, 1);
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
    socl_walk_statement(w);
    w->end = end;
    loop.variable = loop_variable(w, init, test);
    if (loop.variable >= 0)
        loop.from = w->variables[loop.variable].value.number;
    if (loop.variable >= 0 && step <= close) {
        read_bound(w, test, step - 1, &loop);
        read_step(w, step, close, &loop);
    }
    n = trips(&loop);
    w->count->depends |= !isnan(loop.to) || !isnan(loop.from);
    socl_walk_set_number(w, loop.variable, (loop.from + loop.to - (loop.inclusive ? 0 : 1)) / 2);
    w->times = outer * n;
    if (test < step)
        between(w, test, step - 1);
    if (step <= close)
        between(w, step, close);
    /* The middle one stands for all, so that loops inside that go up to it are right. */
    socl_walk_set_number(w, loop.variable, (loop.from + loop.to - (loop.inclusive ? 0 : 1)) / 2);
    w->at = close + 1 < end ? close + 1 : end;
    socl_walk_statement(w);
    w->times = outer;
    socl_walk_set_number(w, loop.variable, (double)NAN);
    w->nvariables = nvariables;
}

/* -- statements -- */

static void declare(struct walk *w)
{
    struct socl_type type;

    socl_walk_read_type(w, &type);
    while (w->at < w->end && !take(w, ";")) {
        struct value value = socl_walk_value_of_type(&type), init;
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
        variable = socl_walk_add_variable(w, name, value);
        if (take(w, "=")) {
            init = socl_walk_loaded(w, socl_walk_expression(w, 2));
            socl_walk_set_number(w, variable, value.levels ? (double)NAN : init.number);
            if (variable >= 0 && value.levels)
                w->variables[variable].value.parameter = init.parameter;
            else if (init.levels && !value.levels)
                socl_walk_mark_written(w, &init);
        }
        if (!take(w, ",") && !is_next(w, ";"))
            w->at += w->at < w->end;
    }
}

static void condition_and_statement(struct walk *w)
{
    if (take(w, "(")) {
        socl_walk_expression(w, 1);
        take(w, ")");
    }
    socl_walk_statement(w);
}

static void block(struct walk *w)
{
    unsigned nvariables = w->nvariables;

    while (w->at < w->end && !take(w, "}"))
        socl_walk_statement(w);
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
            socl_walk_statement(w);
    } else if (take(w, "do")) {
        socl_walk_statement(w);
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

void socl_walk_statement(struct walk *w)
{
    size_t before = w->at;

    if (w->at >= w->end || keyword(w))
        return;
    if (socl_walk_is_type(w, w->at) && !socl_token_is(&w->tokens[w->at + 1], "(")) {
        declare(w);
        return;
    }
    socl_walk_expression(w, 1);
    if (!take(w, ";") && w->at == before)
        w->at++;
}

void socl_walk_body(struct walk *w, size_t first, size_t last)
{
    size_t at = w->at, end = w->end;

    w->at = first;
    w->end = last;
    while (w->at < w->end)
        socl_walk_statement(w);
    w->at = at;
    w->end = end;
}
