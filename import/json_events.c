/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/json_events.c - see json_events.h. */
#include "import/json_events.h"

#include <errno.h>
#include <string.h>

#include "import/json_words.h"

static bool at_end(const struct json_events *e)
{
    return e->at >= e->size;
}

/* Past blanks, and what stands there; 0 at the end. */
static char look(struct json_events *e)
{
    while (!at_end(e) && strchr(" \t\r\n", e->text[e->at]) && e->text[e->at])
        e->at++;
    return at_end(e) ? '\0' : e->text[e->at];
}

static bool take(struct json_events *e, char c)
{
    if (look(e) != c || at_end(e))
        return false;
    e->at++;
    return true;
}

/* Messages name the line. */
static void count_lines(struct json_events *e, size_t to)
{
    if (e->flow->line == 0)
        e->flow->line = 1;
    for (; e->line_at < to && e->line_at < e->size; e->line_at++)
        e->flow->line += e->text[e->line_at] == '\n';
}

/* The value there; NULL, and the file ends in it, or an error with a message in *rc. */
static json_t *value(struct json_events *e, int *rc)
{
    json_error_t error;
    json_t *json;

    *rc = 0;
    look(e);
    json = json_loadb(e->text + e->at, e->size - e->at,
                      JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (json) {
        e->at += (size_t)error.position;
        return json;
    }
    if (json_error_code(&error) == json_error_out_of_memory) {
        *rc = flow_no_memory(e->flow);
    } else if (json_error_code(&error) == json_error_premature_end_of_input ||
               e->at + (size_t)error.position >= e->size) {
        e->is_cut = true;
        e->at = e->size;
    } else {
        count_lines(e, e->at + (size_t)error.position);
        *rc = flow_wrong(e->flow, "%s", error.text);
    }
    return NULL;
}

static int no_list(struct json_events *e)
{
    e->flow->line = 0;
    return flow_wrong(e->flow, "there is no list of events, \"traceEvents\", in it");
}

/* Members of the object until the list. */
static int find_list(struct json_events *e)
{
    while (look(e) == '"') {
        int rc;
        json_t *name = value(e, &rc), *other;
        bool found = name && !strcmp(json_string_value(name), "traceEvents");

        json_decref(name);
        if (rc)
            return rc;
        if (!name || !take(e, ':'))
            break;
        if (found && take(e, '[')) {
            e->listed = true;
            return 0;
        }
        if (found)
            break;
        other = value(e, &rc);
        json_decref(other);
        if (rc)
            return rc;
        if (!other || !take(e, ','))
            break;
    }
    return no_list(e);
}

int json_events_begin(struct json_events *events, struct flow *flow, const char *text,
                      size_t size)
{
    *events = (struct json_events){.flow = flow, .text = text, .size = size};
    if (take(events, '[')) {
        events->listed = events->only_list = true;
        return 0;
    }
    return take(events, '{') ? find_list(events) : no_list(events);
}

int json_events_next(struct json_events *events, json_t **ret)
{
    json_t *event;
    int rc;

    if (!events->listed)
        return 0;
    if (events->n)
        take(events, ',');
    look(events);
    if (at_end(events))
        events->is_cut = true;
    if (at_end(events) || take(events, ']')) {
        events->listed = false;
        return 0;
    }
    event = value(events, &rc);
    if (!event) {
        events->listed = false;
        return rc;
    }
    count_lines(events, events->at);
    if (!json_is_object(event)) {
        rc = flow_wrong(events->flow, "event %zu is %s, not an object", events->n + 1,
                        json_type_word(event));
        json_decref(event);
        return rc;
    }
    events->n++;
    *ret = event;
    return 1;
}
