/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/json_text.c - see json_text.h. */
#include "core/observe/json_text.h"

#include "core/base/shown.h"

void orr_put_json(struct orr_out *out, const char *text)
{
    if (!text) {
        ORR_PUT(out, "null");
        return;
    }
    orr_put_byte(out, '"');
    while (*text) {
        size_t length = orr_shown_plain(text, (const char[]){'"', '\\'});
        const char *shown;

        orr_put(out, text, length);
        text += length;
        if (!*text)
            break;
        if (*text == '"' || *text == '\\')
            orr_put_byte(out, '\\');
        shown = orr_shown_next(&text, &length);
        orr_put(out, shown, length);
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
