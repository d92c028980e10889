/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/tokens.h - a source as its compiler's parser sees it: comments gone, macros
 * expanded, conditions decided. No state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum socl_token_kind { SOCL_END, SOCL_NAME, SOCL_NUMBER, SOCL_TEXT, SOCL_SIGN };

struct socl_token {
    enum socl_token_kind kind;
    unsigned length;
    const char *text; /* lent by the list; not ended by a zero */
};

struct socl_tokens {
    struct socl_token *at; /* owned; one of the kind END is behind the last */
    size_t n, room;
    char **texts; /* owned: what tokens lie in */
    size_t ntexts;
    bool failed; /* no memory, or too many */
};

/* Reads a source; -D of the options defines macros. Files are not included. NULL: no
 * memory, or an error of which *ret_log says what it is; for free(). */
struct socl_tokens *socl_tokens_read(const char *source, const char *options, char **ret_log);
void socl_tokens_free(struct socl_tokens *tokens);

bool socl_token_is(const struct socl_token *token, const char *text);
/* A copy of its text, cut to the size. */
void socl_token_copy(const struct socl_token *token, char *to, size_t size);
