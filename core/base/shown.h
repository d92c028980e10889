/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/shown.h - texts from outside, such as names of kernels, of machines, of members
 * of archives, as they may stand on a terminal and in files that others read. Whatever
 * writes such a text, in whatever format, takes its characters from here and adds what its
 * format asks for: quotation marks, entities. No state, any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What stands for the character at *at, behind which *at then is: itself, a blank for a
 * tab or the end of a line, a question mark for any other control character (also those of
 * ISO 8859, U+0080 to U+009F, which terminals obey) and for a byte that is no UTF-8.
 * *ret_n: how many bytes, never more than the character has; 0 at the end of the text. */
const char *orr_shown_next(const char **at, size_t *ret_n);

/* How much at the beginning of the text is ASCII that stands as it is: the fast way
 * through most of them. Stops at any of the characters `but` (two), too. */
static inline size_t orr_shown_plain(const char *text, const char but[2])
{
    const char *at = text;

    while (*at >= ' ' && *at < 0x7f && *at != but[0] && *at != but[1])
        at++;
    return (size_t)(at - text);
}

/* Makes a text so that may have several lines, with tabs in them, in its place. */
void orr_shown_lines(char *text);

/* The same of a piece of a longer text, where bytes of 0 are control characters. What is
 * at its end and may be the beginning of a character stays, unless it is the last one.
 * Returns how many bytes are done; *ret_n: how many these have become. */
size_t orr_shown_piece(char *text, size_t size, bool is_last, size_t *ret_n);
