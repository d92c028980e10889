/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/json.c - see json.h. One thread. */
#include "tools/common/json.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/host.h"
#include "core/base/shown.h"

/* Once there was no memory: a value that is made lacks what could not be. */
static bool lacked_memory;

static void *json_allocate(size_t size)
{
    void *bytes = malloc(size);

    lacked_memory |= !bytes && size > 0;
    return bytes;
}

void tool_json_begin(void)
{
    json_set_alloc_funcs(json_allocate, free);
}

bool tool_json_lacks(void)
{
    return lacked_memory;
}

json_t *tool_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *tool_json_text(const char *text)
{
    char *shown, *to;
    json_t *json;

    if (!text)
        return json_null();
    shown = to = json_allocate(4 * strlen(text) + 1);
    if (!shown)
        return NULL;
    while (*text) {
        const char *from = text, *next;
        size_t length;

        next = orr_shown_next(&text, &length);
        if ((unsigned char)*from < ' ') /* jansson has escapes for these */
            *to++ = *from;
        else if (orr_utf8_length(from))
            to = mempcpy(to, next, length);
        else
            to += sprintf(to, "\\x%02x", (unsigned char)*from);
    }
    *to = '\0';
    json = json_string(shown);
    free(shown);
    return json;
}

int tool_json_print(json_t *json)
{
    int rc = json && !lacked_memory ? json_dumpf(json, stdout, JSON_INDENT(2)) : -1;

    /* A failed write is reported at the end, as of any output. */
    if (json && ferror(stdout))
        rc = 0;
    else if (rc == 0)
        putchar('\n');
    else
        rc = -ENOMEM;
    json_decref(json);
    return rc;
}
