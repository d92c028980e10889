/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/dap_messages.c - a message is a header with its length, an empty line, and JSON.
 * While the run goes on, what comes is kept until it stands; what asks it to stop does so at
 * once.
 */
#include "tools/debug/dap_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/json.h"
#include "tools/common/tool.h"

static void send_message(struct dap *dap, json_t *message)
{
    char *text;

    json_object_set_new(message, "seq", json_integer(++dap->sequence));
    text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    if (!text)
        return;
    printf("Content-Length: %zu\r\n\r\n%s", strlen(text), text);
    fflush(stdout);
    free(text);
}

/* Takes the body. */
void dap_send_event(struct dap *dap, const char *event, json_t *body)
{
    send_message(dap, json_pack("{ssssso}", "type", "event", "event", event,
                                "body", body));
}

/* Takes the body, NULL: none. */
void dap_respond(struct dap *dap, const json_t *request, json_t *body)
{
    send_message(
        dap, json_pack("{sssOsbsOso*}", "type", "response", "request_seq",
                       json_object_get(request, "seq"), "success", 1, "command",
                       json_object_get(request, "command"), "body", body));
}

void dap_refuse(struct dap *dap, const json_t *request, const char *why)
{
    send_message(dap, json_pack("{sssOsbsOsss{s{siss}}}", "type", "response",
                                "request_seq", json_object_get(request, "seq"),
                                "success", 0, "command",
                                json_object_get(request, "command"), "message",
                                why, "body", "error", "id", 1, "format", why));
}

void dap_on_output(void *arg, const char *stream, const char *text, size_t size)
{
    char *copy = strndup(text, size);

    dap_send_event(arg, "output",
                   json_pack("{ssso}", "category", stream, "output",
                             tool_json_text(copy)));
    free(copy);
}

/* What comes is none of the protocol's messages, or one that nobody needs: there is no telling
 * where the next one begins. */
static json_t *give_up(struct dap *dap)
{
    tool_error(
        "what the editor sends has no header `Content-Length: BYTES', or more than 16 MiB");
    dap->over = true;
    return NULL;
}

/* A whole message among the bytes that were read; NULL: there is none yet. */
static json_t *take_message(struct dap *dap)
{
    char *end = dap->input ? memmem(dap->input, dap->n, "\r\n\r\n", 4) : NULL;
    const char *length;
    unsigned long size;
    json_t *message;
    size_t head;

    if (!end)
        return dap->n > MOST_BYTES ? give_up(dap) : NULL;
    *end = '\0';
    length = strcasestr(dap->input, "content-length:");
    size = length ? strtoul(length + strlen("content-length:"), NULL, 10)
                  : MOST_BYTES + 1;
    head = (size_t)(end + 4 - dap->input);
    *end = '\r';
    if (size > MOST_BYTES)
        return give_up(dap);
    if (dap->n - head < size)
        return NULL;
    message = json_loadb(dap->input + head, size, 0, NULL);
    dap->n -= head + size;
    memmove(dap->input, dap->input + head + size, dap->n);
    return message ? message : json_object();
}

/* Reads what is there; false: the editor is gone. */
static bool read_more(struct dap *dap)
{
    char *room = realloc(dap->input, dap->n + 4096);
    ssize_t n;

    if (!room)
        return false;
    dap->input = room;
    n = read(STDIN_FILENO, dap->input + dap->n, 4096);
    if (n < 0 && errno == EINTR)
        return true;
    dap->n += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static bool asks_to_stop(const json_t *message)
{
    const char *command =
        json_string_value(json_object_get(message, "command"));

    return command &&
           (!strcmp(command, "pause") || !strcmp(command, "disconnect") ||
            !strcmp(command, "terminate"));
}

/* While the run goes on: something has come. */
bool dap_on_input(void *arg)
{
    struct dap *dap = arg;
    json_t *message;
    bool there = read_more(dap);

    while (!dap->over && (message = take_message(dap))) {
        if (asks_to_stop(message))
            program_halt(&dap->session.program);
        json_array_append_new(dap->kept, message);
    }
    if (!there) {
        dap->over = true;
        program_halt(&dap->session.program);
    }
    return there;
}

/* The next request, a new reference; NULL: the editor is gone. */
json_t *dap_next_request(struct dap *dap)
{
    json_t *message = NULL;

    if (json_array_size(dap->kept)) {
        message = json_incref(json_array_get(dap->kept, 0));
        json_array_remove(dap->kept, 0);
        return message;
    }
    while (!dap->over && !(message = take_message(dap)))
        dap->over = !read_more(dap);
    return message;
}

const char *dap_text_of(const json_t *arguments, const char *key,
                        const char *otherwise)
{
    const char *value = json_string_value(json_object_get(arguments, key));

    return value ? value : otherwise;
}
