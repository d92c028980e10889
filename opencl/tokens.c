/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/tokens.c - see tokens.h: a preprocessor. A macro is not expanded in its own
 * expansion, which is read again by itself, without what follows.
 */
#include "opencl/tokens.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 1 << 22, MOST_NESTED = 200, MOST_PARAMETERS = 32 };

struct macro {
    struct macro *next;
    struct socl_token name;
    bool function, variadic, busy;
    unsigned nparameters;
    struct socl_token parameters[MOST_PARAMETERS];
    struct socl_token *body; /* owned */
    size_t n;
};

struct reader {
    struct socl_tokens *out;
    struct macro *macros; /* newest first */
    char *log;            /* owned: an error */
    bool active[MOST_NESTED], taken[MOST_NESTED];
    unsigned depth, line;
};

/* -- tokens -- */

bool socl_token_is(const struct socl_token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

void socl_token_copy(const struct socl_token *token, char *to, size_t size)
{
    size_t n = token->length < size ? token->length : size - 1;

    memcpy(to, token->text, n);
    to[n] = 0;
}

static bool is_same(const struct socl_token *a, const struct socl_token *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static void append(struct socl_tokens *list, struct socl_token token)
{
    if (list->n == list->room) {
        size_t room = list->room ? 2 * list->room : 256;
        void *more = room > MOST_TOKENS ? NULL : realloc(list->at, room * sizeof(*list->at));

        if (!more) {
            list->failed = true;
            return;
        }
        list->at = more;
        list->room = room;
    }
    list->at[list->n++] = token;
}

static const char *keep_text(struct socl_tokens *list, char *text)
{
    char **more = text ? realloc(list->texts, (list->ntexts + 1) * sizeof(*more)) : NULL;

    if (!more) {
        free(text);
        list->failed = true;
        return NULL;
    }
    list->texts = more;
    list->texts[list->ntexts++] = text;
    return text;
}

static const char *read_number(const char *at)
{
    while (isalnum((unsigned char)*at) || *at == '.' || *at == '_' ||
           ((*at == '+' || *at == '-') && strchr("eEpP", at[-1]) && !strchr("xX", at[-2])))
        at++;
    return at;
}

static unsigned sign_length(const char *at)
{
    static const char *const signs[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                        "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                        "*=",  "/=",  "%=",  "&=", "|=", "^=", "##"};

    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        if (strncmp(at, signs[i], strlen(signs[i])) == 0)
            return (unsigned)strlen(signs[i]);
    return 1;
}

/* The next one before `end`, from *at on, which goes behind it. */
static struct socl_token next_token(const char **at, const char *end)
{
    struct socl_token token = {SOCL_END, 0, end};
    const char *from;

    while (*at < end && isspace((unsigned char)**at))
        ++*at;
    from = token.text = *at;
    if (from >= end)
        return token;
    if (isalpha((unsigned char)*from) || *from == '_') {
        token.kind = SOCL_NAME;
        while (isalnum((unsigned char)**at) || **at == '_')
            ++*at;
    } else if (isdigit((unsigned char)*from) ||
               (*from == '.' && isdigit((unsigned char)from[1]))) {
        token.kind = SOCL_NUMBER;
        *at = read_number(from + 1);
    } else if (*from == '"' || *from == '\'') {
        token.kind = SOCL_TEXT;
        for (++*at; *at < end && **at != *from; ++*at)
            *at += **at == '\\' && *at + 1 < end;
        *at += *at < end;
    } else {
        token.kind = SOCL_SIGN;
        *at += sign_length(from);
    }
    token.length = (unsigned)(*at - from);
    return token;
}

/* -- macros -- */

static struct macro *find_macro(const struct reader *reader, const struct socl_token *name)
{
    for (struct macro *macro = reader->macros; macro; macro = macro->next)
        if (is_same(&macro->name, name))
            return macro;
    return NULL;
}

static void free_macro(struct macro *macro)
{
    free(macro->body);
    free(macro);
}

static void undefine(struct reader *reader, const struct socl_token *name)
{
    struct macro **place = &reader->macros;

    for (; *place; place = &(*place)->next)
        if (is_same(&(*place)->name, name)) {
            struct macro *gone = *place;

            *place = gone->next;
            free_macro(gone);
            return;
        }
}

static void read_parameters(struct macro *macro, const char **at, const char *end)
{
    macro->function = true;
    for (;;) {
        struct socl_token token = next_token(at, end);

        if (token.kind == SOCL_END || socl_token_is(&token, ")"))
            return;
        if (socl_token_is(&token, "..."))
            macro->variadic = true;
        else if (token.kind == SOCL_NAME && macro->nparameters < MOST_PARAMETERS - 1)
            macro->parameters[macro->nparameters++] = token;
    }
}

static void define(struct reader *reader, const char *at, const char *end)
{
    struct macro *macro = calloc(1, sizeof(*macro));
    struct socl_tokens body = {0};

    if (!macro) {
        reader->out->failed = true;
        return;
    }
    macro->name = next_token(&at, end);
    undefine(reader, &macro->name);
    if (at < end && *at == '(') {
        at++;
        read_parameters(macro, &at, end);
    }
    if (macro->variadic)
        macro->parameters[macro->nparameters++] =
            (struct socl_token){SOCL_NAME, 11, "__VA_ARGS__"};
    for (;;) {
        struct socl_token token = next_token(&at, end);

        if (token.kind == SOCL_END)
            break;
        append(&body, token);
    }
    reader->out->failed |= body.failed;
    macro->body = body.at;
    macro->n = body.n;
    macro->next = reader->macros;
    reader->macros = macro;
}

static void expand(struct reader *reader, const struct socl_token *in, size_t n,
                   struct socl_tokens *out);

/* The tokens of each argument, between from[i] and from[i + 1] - 1; `at` is behind the "(".
 * Returns the place behind the ")"; 0: there is none. */
static size_t find_arguments(const struct macro *macro, const struct socl_token *in, size_t n,
                             size_t at, size_t from[MOST_PARAMETERS + 2], unsigned *ret_n)
{
    unsigned depth = 0, count = 0;

    from[0] = at;
    for (; at < n; at++) {
        const struct socl_token *token = &in[at];
        bool last = macro->variadic && count + 1 >= macro->nparameters;

        if (token->length != 1)
            continue;
        if (strchr("([{", *token->text))
            depth++;
        if (depth == 0 && *token->text == ')') {
            from[++count] = at + 1;
            *ret_n = count;
            return at + 1;
        }
        if (strchr(")]}", *token->text))
            depth--;
        if (depth == 0 && *token->text == ',' && !last && count < MOST_PARAMETERS)
            from[++count] = at + 1;
    }
    return 0;
}

static int parameter_of(const struct macro *macro, const struct socl_token *token)
{
    for (unsigned i = 0; token->kind == SOCL_NAME && i < macro->nparameters; i++)
        if (is_same(&macro->parameters[i], token))
            return (int)i;
    return -1;
}

/* Joins the last token with the next one. */
static void paste(struct reader *reader, struct socl_tokens *to, const struct socl_token *next)
{
    struct socl_token *last = &to->at[to->n - 1];
    size_t length = last->length + next->length;
    char *text = malloc(length + 1);
    const char *kept, *at;

    if (text) {
        memcpy(text, last->text, last->length);
        memcpy(text + last->length, next->text, next->length);
        text[length] = 0;
    }
    kept = at = keep_text(reader->out, text);
    if (kept)
        *last = next_token(&at, kept + length);
}

static void substitute(struct reader *reader, const struct macro *macro,
                       const struct socl_token *in, const size_t *from, unsigned nargs,
                       struct socl_tokens *to)
{
    for (size_t i = 0; i < macro->n; i++) {
        const struct socl_token *token = &macro->body[i];
        bool pastes = socl_token_is(token, "##") && to->n && i + 1 < macro->n;
        bool before = i + 1 < macro->n && socl_token_is(&macro->body[i + 1], "##");
        int which = parameter_of(macro, pastes ? &macro->body[i + 1] : token);

        if (pastes) {
            const struct socl_token *first = &macro->body[++i];
            size_t k = 0, n = 1;

            if (which >= 0 && (unsigned)which < nargs) {
                first = &in[from[which]];
                n = from[which + 1] - 1 - from[which];
            }
            if (n)
                paste(reader, to, first);
            for (k = 1; k < n; k++)
                append(to, first[k]);
        } else if (which >= 0 && (unsigned)which < nargs && before) {
            for (size_t k = from[which]; k + 1 < from[which + 1]; k++)
                append(to, in[k]);
        } else if (which >= 0 && (unsigned)which < nargs) {
            expand(reader, &in[from[which]], from[which + 1] - 1 - from[which], to);
        } else if (which < 0) {
            append(to, *token);
        }
    }
}

static void expand(struct reader *reader, const struct socl_token *in, size_t n,
                   struct socl_tokens *out)
{
    for (size_t i = 0; i < n && !out->failed; i++) {
        struct macro *macro = in[i].kind == SOCL_NAME ? find_macro(reader, &in[i]) : NULL;
        size_t from[MOST_PARAMETERS + 2], after = i + 1;
        struct socl_tokens body = {0};
        unsigned nargs = 0;

        if (macro && macro->function)
            after = i + 1 < n && socl_token_is(&in[i + 1], "(")
                        ? find_arguments(macro, in, n, i + 2, from, &nargs)
                        : 0;
        if (!macro || macro->busy || after == 0) {
            append(out, in[i]);
            continue;
        }
        substitute(reader, macro, in, from, nargs, &body);
        macro->busy = true;
        expand(reader, body.at, body.n, out);
        macro->busy = false;
        out->failed |= body.failed;
        free(body.at);
        i = after - 1;
    }
}

/* -- conditions -- */

struct condition {
    const struct socl_token *at, *end;
};

static long ternary(struct condition *c);

static long primary(struct condition *c)
{
    struct socl_token token;
    char text[64];
    long value;

    if (c->at >= c->end)
        return 0;
    token = *c->at++;
    if (socl_token_is(&token, "(")) {
        value = ternary(c);
        c->at += c->at < c->end;
        return value;
    }
    if (socl_token_is(&token, "!"))
        return !primary(c);
    if (socl_token_is(&token, "-"))
        return -primary(c);
    if (socl_token_is(&token, "+"))
        return primary(c);
    if (socl_token_is(&token, "~"))
        return ~primary(c);
    socl_token_copy(&token, text, sizeof(text));
    return token.kind == SOCL_NUMBER ? strtol(text, NULL, 0) : 0;
}

static const struct {
    const char *sign;
    int rank;
} ranks[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},   {"==", 6},
             {"!=", 6}, {"<", 7},  {">", 7},  {"<=", 7}, {">=", 7},  {"<<", 8},
             {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10},  {"%", 10}};

static int rank_of(const struct socl_token *token)
{
    for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
        if (socl_token_is(token, ranks[i].sign))
            return ranks[i].rank;
    return 0;
}

static long apply(const struct socl_token *sign, long a, long b)
{
    switch (sign->text[0] + (sign->length > 1 ? 256 * sign->text[1] : 0)) {
    case '|' + 256 * '|':
        return a || b;
    case '&' + 256 * '&':
        return a && b;
    case '=' + 256 * '=':
        return a == b;
    case '!' + 256 * '=':
        return a != b;
    case '<' + 256 * '=':
        return a <= b;
    case '>' + 256 * '=':
        return a >= b;
    case '<' + 256 * '<':
        return b >= 0 && b < 63 ? (long)((unsigned long)a << b) : 0;
    case '>' + 256 * '>':
        return b >= 0 && b < 63 ? a >> b : 0;
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '&':
        return a & b;
    case '<':
        return a < b;
    case '>':
        return a > b;
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return b ? a / b : 0;
    default:
        return b ? a % b : 0;
    }
}

static long binary(struct condition *c, int least)
{
    long value = primary(c);

    while (c->at < c->end && rank_of(c->at) >= least && rank_of(c->at) > 0) {
        struct socl_token sign = *c->at++;

        value = apply(&sign, value, binary(c, rank_of(&sign) + 1));
    }
    return value;
}

static long ternary(struct condition *c)
{
    long value = binary(c, 1), yes;

    if (c->at >= c->end || !socl_token_is(c->at, "?"))
        return value;
    c->at++;
    yes = ternary(c);
    c->at += c->at < c->end;
    return value ? yes : ternary(c);
}

/* `defined X' first, as macros would be expanded there. */
static bool decide(struct reader *reader, const char *at, const char *end)
{
    static const struct socl_token yes = {SOCL_NUMBER, 1, "1"}, no = {SOCL_NUMBER, 1, "0"};
    struct socl_tokens raw = {0}, ready = {0};
    struct condition condition;
    bool result;

    for (;;) {
        struct socl_token token = next_token(&at, end);
        bool parenthesis;

        if (token.kind == SOCL_END)
            break;
        if (!socl_token_is(&token, "defined")) {
            append(&raw, token);
            continue;
        }
        token = next_token(&at, end);
        parenthesis = socl_token_is(&token, "(");
        if (parenthesis)
            token = next_token(&at, end);
        append(&raw, find_macro(reader, &token) ? yes : no);
        if (parenthesis)
            next_token(&at, end);
    }
    expand(reader, raw.at, raw.n, &ready);
    condition = (struct condition){ready.at, ready.at + ready.n};
    result = ternary(&condition) != 0;
    reader->out->failed |= raw.failed | ready.failed;
    free(raw.at);
    free(ready.at);
    return result;
}

/* -- lines -- */

static void complain(struct reader *reader, const char *what, const char *text, size_t n)
{
    if (!reader->log && asprintf(&reader->log, "line %u: %s%.*s\n", reader->line, what, (int)n,
                                 text) < 0)
        reader->log = NULL;
}

static void open_condition(struct reader *reader, bool holds)
{
    bool outer = reader->active[reader->depth];

    if (reader->depth + 1 == MOST_NESTED) {
        complain(reader, "conditions are nested too deeply", "", 0);
        return;
    }
    reader->depth++;
    reader->active[reader->depth] = outer && holds;
    reader->taken[reader->depth] = !outer || holds;
}

/* #else, #elif */
static void turn_condition(struct reader *reader, bool holds)
{
    if (reader->depth == 0) {
        complain(reader, "#else or #elif without #if", "", 0);
        return;
    }
    reader->active[reader->depth] = !reader->taken[reader->depth] && holds;
    reader->taken[reader->depth] |= holds;
}

static void directive(struct reader *reader, const char *at, const char *end)
{
    struct socl_token name = next_token(&at, end), macro;
    bool active = reader->active[reader->depth];
    const char *rest = at;

    if (socl_token_is(&name, "ifdef") || socl_token_is(&name, "ifndef")) {
        macro = next_token(&at, end);
        open_condition(reader,
                       (find_macro(reader, &macro) != NULL) == socl_token_is(&name, "ifdef"));
    } else if (socl_token_is(&name, "if")) {
        open_condition(reader, active && decide(reader, at, end));
    } else if (socl_token_is(&name, "elif")) {
        turn_condition(reader, reader->depth && !reader->taken[reader->depth] &&
                                   decide(reader, at, end));
    } else if (socl_token_is(&name, "else")) {
        turn_condition(reader, true);
    } else if (socl_token_is(&name, "endif")) {
        if (reader->depth == 0)
            complain(reader, "#endif without #if", "", 0);
        else
            reader->depth--;
    } else if (active && socl_token_is(&name, "define")) {
        define(reader, at, end);
    } else if (active && socl_token_is(&name, "undef")) {
        macro = next_token(&at, end);
        undefine(reader, &macro);
    } else if (active && socl_token_is(&name, "error")) {
        complain(reader, "#error", rest, (size_t)(end - rest));
    }
}

/* Without comments; lines that go on are one, and as many are empty behind it. */
static char *clean(const char *source)
{
    size_t n = strlen(source), joined = 0;
    char *text = malloc(n + 3), *to = text + 1;

    if (!text)
        return NULL;
    *text = '\n'; /* what looks back finds something */
    for (const char *at = source; *at; at++) {
        if (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) {
            at += at[1] == '\r' ? 2 : 1;
            joined++;
        } else if (at[0] == '/' && at[1] == '/') {
            while (at[1] && at[1] != '\n')
                at++;
        } else if (at[0] == '/' && at[1] == '*') {
            for (at += 2; *at && !(at[0] == '*' && at[1] == '/'); at++)
                joined += *at == '\n';
            *to++ = ' ';
            at += *at != 0;
            if (!*at)
                break;
        } else {
            *to++ = *at;
            for (; *at == '\n' && joined; joined--)
                *to++ = '\n';
        }
    }
    *to++ = '\n';
    *to = 0;
    return text;
}

/* Lines between directives are expanded together, as calls may go over several. */
static void flush_lines(struct reader *reader, struct socl_tokens *pending)
{
    expand(reader, pending->at, pending->n, reader->out);
    pending->n = 0;
}

static void read_lines(struct reader *reader, const char *text)
{
    struct socl_tokens pending = {0};

    for (const char *end; *text; text = end + 1) {
        const char *at = text;

        reader->line++;
        end = strchr(text, '\n');
        while (at < end && isspace((unsigned char)*at))
            at++;
        if (*at == '#') {
            flush_lines(reader, &pending);
            directive(reader, at + 1, end);
            continue;
        }
        while (reader->active[reader->depth]) {
            struct socl_token token = next_token(&at, end);

            if (token.kind == SOCL_END)
                break;
            append(&pending, token);
        }
    }
    flush_lines(reader, &pending);
    reader->out->failed |= pending.failed;
    free(pending.at);
    if (reader->depth)
        complain(reader, "#if without #endif", "", 0);
}

/* -- options -- */

static void define_text(struct reader *reader, const char *name, size_t n, const char *value,
                        size_t nvalue)
{
    char *text;

    if (asprintf(&text, "%.*s %.*s ", (int)n, name, (int)nvalue, value) < 0)
        text = NULL;
    if (keep_text(reader->out, text))
        define(reader, text, text + strlen(text));
}

/* A quotation mark keeps blanks in. */
static size_t word_length(const char *at)
{
    size_t n = 0;
    bool quoted = false;

    for (; at[n] && (quoted || !isspace((unsigned char)at[n])); n++)
        quoted ^= at[n] == '"';
    return n;
}

static void read_options(struct reader *reader, const char *at)
{
    while (at && *at) {
        size_t n = word_length(at), name;

        if (n >= 2 && at[0] == '-' && at[1] == 'D') {
            at += 2;
            at += strspn(at, " \t");
            n = word_length(at);
            name = strcspn(at, "= \t");
            if (name > n)
                name = n;
            if (name < n)
                define_text(reader, at, name, at + name + 1, n - name - 1);
            else
                define_text(reader, at, n, "1", 1);
        }
        at += n;
        at += strspn(at, " \t\n");
    }
}

static void predefine(struct reader *reader)
{
    static const char *const known[][2] = {
        {"__OPENCL_VERSION__", "120"}, {"__OPENCL_C_VERSION__", "120"},
        {"CL_VERSION_1_0", "100"},     {"CL_VERSION_1_1", "110"},
        {"CL_VERSION_1_2", "120"},     {"__ENDIAN_LITTLE__", "1"},
        {"cl_khr_fp64", "1"},          {"M_PI", "3.14159265358979"},
        {"M_PI_F", "3.14159265f"},     {"FLT_MAX", "3.4e38f"},
        {"INT_MAX", "2147483647"}};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        define_text(reader, known[i][0], strlen(known[i][0]), known[i][1],
                    strlen(known[i][1]));
}

void socl_tokens_free(struct socl_tokens *tokens)
{
    if (!tokens)
        return;
    for (size_t i = 0; i < tokens->ntexts; i++)
        free(tokens->texts[i]);
    free(tokens->texts);
    free(tokens->at);
    free(tokens);
}

struct socl_tokens *socl_tokens_read(const char *source, const char *options, char **ret_log)
{
    struct reader reader = {.out = calloc(1, sizeof(struct socl_tokens)), .active = {true}};
    struct socl_tokens *tokens = reader.out;
    const char *text;

    *ret_log = NULL;
    if (!tokens)
        return NULL;
    predefine(&reader);
    read_options(&reader, options);
    text = keep_text(tokens, clean(source));
    if (text)
        read_lines(&reader, text + 1);
    append(tokens, (struct socl_token){SOCL_END, 0, ""});
    while (reader.macros) {
        struct macro *next = reader.macros->next;

        free_macro(reader.macros);
        reader.macros = next;
    }
    *ret_log = reader.log;
    if (!tokens->failed && !reader.log)
        return tokens;
    socl_tokens_free(tokens);
    return NULL;
}
