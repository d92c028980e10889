/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/json_text.c - see json_text.h. */
#include "core/observe/json_text.h"

#include "core/base/host.h"

/* The length of the beginning of the text that stays as it is; mostly that is all of
 * it. */
static size_t json_plain_length(const char *text)
{
    const char *at = text;

    while (*at >= ' ' && *at < 0x7f && *at != '"' && *at != '\\')
        at++;
    return (size_t)(at - text);
}

void orr_put_json(struct orr_out *out, const char *text)
{
    if (!text) {
        ORR_PUT(out, "null");
        return;
    }
    orr_put_byte(out, '"');
    while (*text) {
        size_t length = json_plain_length(text);

        if (length > 0) {
            orr_put(out, text, length);
            text += length;
            continue;
        }
        length = orr_utf8_length(text);

        if (*text == '"' || *text == '\\')
            orr_put_byte(out, '\\');
        if (!length) /* the application's names may be anything */
            orr_put_byte(out, '?');
        else if ((unsigned char)*text >= ' ')
            orr_put(out, text, length);
        text += length ? length : 1;
    }
    orr_put_byte(out, '"');
}

void orr_json_text(FILE *file, const char *text)
{
    char buffer[2 * ORR_OUT_LEAST];
    struct orr_out out = {file, buffer, buffer, buffer + sizeof(buffer)};

    orr_put_json(&out, text);
    orr_out_flush(&out);
}
