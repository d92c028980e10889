/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/differ.c - see differ.h. */
#include "tools/debug/differ.h"

#include "tools/common/scratch.h"
#include "tools/debug/session.h"

#include <stdlib.h>
#include <string.h>

/* One of the two. */
struct side {
    struct launch launch;
    struct program program;
    char *folder;
    bool started;
};

static void print_nothing(void *arg, const char *stream, const char *text, size_t size)
{
    (void)arg;
    (void)stream;
    (void)text;
    (void)size;
}

static int open_side(struct side *side, const struct session *session, const char *policy)
{
    const struct launch *like = session->program.launch;
    json_t *said;

    side->launch = (struct launch){.machine = like->machine,
                                   .edits = like->edits,
                                   .assume = like->assume,
                                   .scheduler = policy,
                                   .more = like->more,
                                   .nranks = like->nranks,
                                   .hosted = like->hosted,
                                   .argv = like->argv};
    side->folder = scratch_make();
    if (!side->folder || launch_ready(&side->launch, side->folder) < 0)
        return -1;
    side->program = (struct program){.launch = &side->launch,
                                     .input = session->program.input,
                                     .print = print_nothing};
    side->started = true;
    if (program_start(&side->program) < 0)
        return -1;
    side->program.copies = false;
    said = program_go(&side->program, "limit=1");
    json_decref(said);
    json_decref(program_request(&side->program, "stop\tid=1\tkind=take"));
    return said ? 0 : -1;
}

static void close_side(struct side *side)
{
    if (side->started)
        program_stop(&side->program);
    launch_done(&side->launch);
    scratch_remove(side->folder);
}

/* The next decision; NULL: there are no more. */
static json_t *next_decision(struct side *side)
{
    json_t *said = side->program.fd >= 0 ? program_go(&side->program, "stops=1") : NULL;

    if (said && json_number_value(json_object_get(said, "stop")) > 0)
        return said;
    json_decref(said);
    return NULL;
}

static bool is_same(const json_t *one, const json_t *other)
{
    if (!one || !other)
        return one == other;
    return json_equal(json_object_get(one, "task"),
                      json_object_get(other, "task")) &&
           json_equal(json_object_get(one, "worker"),
                      json_object_get(other, "worker")) &&
           (!json_object_get(one, "rank") ||
            json_equal(json_object_get(one, "rank"),
                       json_object_get(other, "rank")));
}

static void say_decision(json_t *list, const char *policy, const json_t *event)
{
    char text[600];

    if (event)
        snprintf(text, sizeof(text), "%s, at %.6g ms: %s", policy,
                 json_number_value(json_object_get(event, "date")) / 1e3,
                 json_string_value(json_object_get(event, "text")));
    else
        snprintf(text, sizeof(text), "%s: the run is over", policy);
    json_array_append_new(list, json_pack("{sssO*ss}", "policy", policy, "decision", event, "text",
                                          text));
}

/* What each worker would take for the task of a decision. */
static void say_choice(json_t *list, struct side *side, const json_t *event)
{
    char words[60];
    json_t *answer;

    if (!event)
        return;
    snprintf(words, sizeof(words), "choice\ttask=%.0f",
             json_number_value(json_object_get(event, "task")));
    answer = program_ask(&side->program, words);
    json_array_extend(list, json_object_get(answer, "answer"));
    json_decref(answer);
}

static json_t *compare(struct side *one, struct side *other, const char *first,
                       const char *second)
{
    json_t *a = next_decision(one), *b = next_decision(other), *list = json_array();
    unsigned long n = 0;
    char text[200];

    for (; a && is_same(a, b); n++) {
        json_decref(a);
        json_decref(b);
        a = next_decision(one);
        b = next_decision(other);
    }
    if (!a && !b) {
        snprintf(text, sizeof(text), "%s and %s take the same decisions, %lu of them", first,
                 second, n);
        json_array_append_new(list, json_pack("{sIss}", "same", (json_int_t)n, "text", text));
    } else {
        snprintf(text, sizeof(text), "%lu decisions are the same, then:", n);
        json_array_append_new(list, json_pack("{sIss}", "same", (json_int_t)n, "text", text));
        say_decision(list, first, a);
        say_decision(list, second, b);
        say_choice(list, one, a);
    }
    json_decref(a);
    json_decref(b);
    return json_pack("{so}", "answer", list);
}

json_t *differ(struct session *session, const char *policy)
{
    const char *own = session->program.launch->scheduler;
    struct side *sides = calloc(2, sizeof(*sides));
    json_t *result = NULL;

    if (sides && open_side(&sides[0], session, own) == 0 &&
        open_side(&sides[1], session, policy) == 0)
        result = compare(&sides[0], &sides[1], own ? own : "its policy", policy);
    for (unsigned i = 0; sides && i < 2; i++)
        close_side(&sides[i]);
    free(sides);
    return result ? result
                  : json_pack("{ss}", "error", "the program does not run with both policies");
}
