/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/json_text.c - see json_text.h. */
#include "core/observe/json_text.h"

#include "core/base/host.h"

/* Of what stays as it is; most texts are such. */
static size_t plain_length(const char *text)
{
    const char *at = text;

    while (*at >= ' ' && *at < 0x7f && *at != '"' && *at != '\\')
        at++;
    return (size_t)(at - text);
}

void orr_json_text(FILE *out, const char *text)
{
    if (!text) {
        fputs("null", out);
        return;
    }
    fputc_unlocked('"', out);
    while (*text) {
        size_t length = plain_length(text);

        if (length > 0) {
            fwrite_unlocked(text, 1, length, out);
            text += length;
            continue;
        }
        length = orr_utf8_length(text);

        if (*text == '"' || *text == '\\')
            fputc_unlocked('\\', out);
        if (!length) /* the application's names may be anything */
            fputc('?', out);
        else if ((unsigned char)*text >= ' ')
            fwrite_unlocked(text, 1, length, out);
        text += length ? length : 1;
    }
    fputc_unlocked('"', out);
}
