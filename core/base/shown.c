/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/shown.c - see shown.h. */
#include "core/base/shown.h"

#include <string.h>

#include "core/base/host.h"

/* Bytes that a character which begins so has, when it is one. */
static size_t promised_length(char first)
{
    unsigned char byte = (unsigned char)first;

    return byte < 0xc2 || byte > 0xf4 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/* Of a character of `length` bytes. */
static bool is_control(const char *at, size_t length)
{
    unsigned char byte = (unsigned char)*at;

    if (length == 1)
        return byte < ' ' || byte == 0x7f;
    return length == 2 && byte == 0xc2 && (unsigned char)at[1] < 0xa0;
}

const char *orr_shown_next(const char **at, size_t *ret_n)
{
    const char *text = *at;
    size_t length = orr_utf8_length(text);

    *at += length ? length : *text != '\0';
    *ret_n = length ? length : *text != '\0';
    if (!*text || (length && !is_control(text, length)))
        return text;
    *ret_n = 1;
    return *text == '\t' || *text == '\n' || *text == '\r' ? " " : "?";
}

size_t orr_shown_piece(char *text, size_t size, bool is_last, size_t *ret_n)
{
    char *to = text;
    size_t done = 0;

    while (done < size) {
        const char *at = text + done;
        size_t left = size - done, n, wanted = promised_length(*at);
        char character[5] = "";
        const char *next = character, *shown;

        /* One that is not whole is followed by the 0 here, and therefore none. */
        memcpy(character, at, left < wanted ? left : wanted);
        if (left < wanted && !is_last)
            break;
        shown = orr_shown_next(&next, &n);
        done += next > character ? (size_t)(next - character) : 1;
        if (*character == '\n' || *character == '\t')
            shown = character;
        else if (!*character)
            shown = "?", n = 1;
        memcpy(to, shown, n);
        to += n;
    }
    *ret_n = (size_t)(to - text);
    return done;
}

void orr_shown_lines(char *text)
{
    size_t n;

    orr_shown_piece(text, strlen(text), true, &n);
    text[n] = '\0';
}
