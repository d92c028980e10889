/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/types.c - see types.h. */
#include "opencl/types.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum socl_scalar scalar;
    unsigned bytes;
} scalars[] = {
    {"char", SOCL_INT, 1},     {"uchar", SOCL_INT, 1},     {"short", SOCL_INT, 2},
    {"ushort", SOCL_INT, 2},   {"int", SOCL_INT, 4},       {"uint", SOCL_INT, 4},
    {"long", SOCL_INT, 8},     {"ulong", SOCL_INT, 8},     {"half", SOCL_HALF, 2},
    {"float", SOCL_FLOAT, 4},  {"double", SOCL_DOUBLE, 8}, {"bool", SOCL_INT, 1},
    {"size_t", SOCL_INT, 8},   {"ptrdiff_t", SOCL_INT, 8}, {"intptr_t", SOCL_INT, 8},
    {"uintptr_t", SOCL_INT, 8}, {"void", SOCL_OTHER, 0},
};

/* "float4": the name of a scalar and a width. */
static bool find_type(const struct socl_token *token, struct socl_type *ret)
{
    unsigned length = token->length, width = 1;

    while (length > 0 && token->text[length - 1] >= '0' && token->text[length - 1] <= '9')
        length--;
    if (length < token->length)
        width = (unsigned)strtoul(token->text + length, NULL, 10);
    if (width > 16 || (width > 4 && width % 8))
        return false;
    for (size_t i = 0; i < sizeof(scalars) / sizeof(*scalars); i++)
        if (strlen(scalars[i].name) == length &&
            memcmp(scalars[i].name, token->text, length) == 0) {
            ret->scalar = scalars[i].scalar;
            ret->bytes = scalars[i].bytes;
            ret->width = width;
            return true;
        }
    if (token->length > 8 && (memcmp(token->text, "image", 5) == 0 ||
                              socl_token_is(token, "sampler_t"))) {
        ret->image = true;
        ret->width = 1;
        return true;
    }
    return false;
}

static bool take_qualifier(const struct socl_token *token, struct socl_type *ret)
{
    static const char *const ignored[] = {"static", "inline", "__inline", "extern", "register",
                                          "kernel", "__kernel", "signed", "read_only",
                                          "__read_only", "write_only", "__write_only",
                                          "private", "__private", "unsigned", "constexpr"};

    if (socl_token_is(token, "global") || socl_token_is(token, "__global"))
        ret->space = SOCL_GLOBAL;
    else if (socl_token_is(token, "constant") || socl_token_is(token, "__constant"))
        ret->space = SOCL_CONSTANT;
    else if (socl_token_is(token, "local") || socl_token_is(token, "__local"))
        ret->space = SOCL_LOCAL;
    else if (socl_token_is(token, "const"))
        ret->is_const = true;
    else if (socl_token_is(token, "restrict") || socl_token_is(token, "__restrict"))
        ret->is_restrict = true;
    else if (socl_token_is(token, "volatile"))
        ret->is_volatile = true;
    else {
        for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
            if (socl_token_is(token, ignored[i]))
                return true;
        return false;
    }
    return true;
}

/* `struct name', `unsigned', or a name. */
static size_t take_name(const struct socl_token *tokens, size_t at, size_t end,
                        bool (*known)(void *, const struct socl_token *, struct socl_type *),
                        void *arg, bool *found, struct socl_type *ret)
{
    if (socl_token_is(&tokens[at], "struct") || socl_token_is(&tokens[at], "union") ||
        socl_token_is(&tokens[at], "enum")) {
        *found = true;
        at += at + 1 < end;
        ret->scalar = SOCL_OTHER;
        ret->width = 1;
        ret->name = tokens[at];
        if (known)
            known(arg, &tokens[at], ret);
        return at + 1;
    }
    if (find_type(&tokens[at], ret) || (known && known(arg, &tokens[at], ret))) {
        *found = true;
        ret->name = tokens[at];
        return at + 1;
    }
    return at;
}

size_t socl_type_read(const struct socl_token *tokens, size_t at, size_t end,
                      bool (*known)(void *, const struct socl_token *, struct socl_type *),
                      void *arg, struct socl_type *ret)
{
    const size_t begin = at;
    bool found = false, is_unsigned = false;

    *ret = (struct socl_type){.width = 1};
    while (at < end) {
        size_t next = at;

        if (tokens[at].kind == SOCL_NAME && take_qualifier(&tokens[at], ret)) {
            is_unsigned |= socl_token_is(&tokens[at], "unsigned") ||
                           socl_token_is(&tokens[at], "signed");
            if (is_unsigned && !ret->name.text)
                ret->name = tokens[at];
            at++;
            continue;
        }
        if (found && socl_token_is(&tokens[at], "*")) {
            ret->levels++;
            at++;
            continue;
        }
        if (!found && tokens[at].kind == SOCL_NAME)
            next = take_name(tokens, at, end, known, arg, &found, ret);
        if (next == at && is_unsigned && !found) {
            ret->scalar = SOCL_INT;
            ret->bytes = 4;
            found = true;
            continue;
        }
        if (next == at)
            break;
        at = next;
    }
    return found ? at : begin;
}
