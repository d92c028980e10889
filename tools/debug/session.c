/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/session.c - see session.h. */
#include "tools/debug/session.h"

#include "tools/common/json.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static uint64_t number_in(const json_t *json, const char *key)
{
    return (uint64_t)json_number_value(json_object_get(json, key));
}

static json_t *session_error(const char *text)
{
    return json_pack("{ss}", "error", text);
}

/* --- where it stands --- */

static int exit_code(const struct session *session)
{
    int status = session->program.status;

    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* At the end of the run: a name may have been mistyped. */
static void note_unseen(const struct session *session, json_t *result)
{
    json_t *notes = json_array();
    char text[400];

    for (unsigned i = 0; i < session->nstops; i++) {
        const struct session_stop *stop = &session->stops[i];

        if (!stop->id || stop->hits)
            continue;
        snprintf(text, sizeof(text), "breakpoint %u (%.300s) was never come to", stop->id,
                 stop->text);
        json_array_append_new(notes, tool_json_text(text));
    }
    if (json_array_size(notes))
        json_object_set(result, "notes", notes);
    json_decref(notes);
}

/* Takes what the run has said, NULL: it has ended. A new reference. */
static json_t *arrive(struct session *session, json_t *said, const char *reason)
{
    unsigned stop = said ? (unsigned)number_in(said, "stop") : 0;
    json_t *result;

    json_decref(session->now);
    session->now = said;
    if (!said)
        return json_pack("{si}", "exited", exit_code(session));
    session->number = number_in(said, "event");
    session->rank =
        json_object_get(said, "rank") ? (int)number_in(said, "rank") : -1;
    result = json_deep_copy(said);
    json_object_del(result, "pid");
    json_object_del(result, "last");
    json_object_del(result, "last_stop");
    json_object_set_new(result, "reason", json_string(stop ? "breakpoint" : reason));
    for (unsigned i = 0; stop && i < session->nstops; i++)
        session->stops[i].hits += session->stops[i].id == stop;
    if (!strcmp("finish", json_string_value(json_object_get(said, "kind"))))
        note_unseen(session, result);
    return result;
}

json_t *session_open(struct session *session)
{
    json_t *said;

    if (program_start(&session->program) < 0)
        return NULL;
    said = program_go(&session->program, "limit=1");
    return arrive(session, said, "begin");
}

static void forget_stop(struct session_stop *stop)
{
    free(stop->text);
    free(stop->request);
    free(stop->line);
    *stop = (struct session_stop){0};
}

void session_close(struct session *session)
{
    program_stop(&session->program);
    json_decref(session->now);
    for (unsigned i = 0; i < session->nstops; i++)
        forget_stop(&session->stops[i]);
}

int session_lane(const struct session *session)
{
    int lane = (int)json_integer_value(json_object_get(session->now, "lane"));

    return session->now && lane >= 0 ? lane : -1;
}

/* --- breakpoints --- */

/* What the run answers; NULL: it has ended, or there is none at that place. */
static json_t *send_stop(struct session *session,
                         const struct session_stop *stop)
{
    char *request = stop->id ? tool_format("%s\tid=%u", stop->request, stop->id) : NULL;
    json_t *answer = request && session->program.fd >= 0
                         ? program_request(&session->program, request)
                         : NULL;

    free(request);
    return answer;
}

/* A copy that goes on has those of its time. */
static void send_stops(struct session *session)
{
    program_send(&session->program, "clear");
    for (unsigned i = 0; i < session->nstops; i++)
        json_decref(send_stop(session, &session->stops[i]));
}

/* The first place that is free, NULL: there is none. */
static struct session_stop *free_place(struct session *session)
{
    for (unsigned i = 0; i < session->nstops; i++)
        if (!session->stops[i].id)
            return &session->stops[i];
    return session->nstops < SESSION_STOPS ? &session->stops[session->nstops++]
                                           : NULL;
}

json_t *session_break(struct session *session, const char *text, char *request)
{
    struct session_stop *stop = free_place(session);
    const char *line = strstr(request, "\tline=");
    json_t *answer;

    if (!stop) {
        free(request);
        return session_error("there are 64 breakpoints already: delete some");
    }
    *stop = (struct session_stop){.id = session->last_stop + 1,
                                  .text = tool_format("%s", text),
                                  .request = request};
    if (line)
        stop->line = strndup(line + 6, strcspn(line + 6, "\t"));
    answer = send_stop(session, stop);
    if (json_object_get(answer, "error")) {
        forget_stop(stop);
        return answer;
    }
    json_decref(answer);
    session->last_stop++;
    return json_pack("{sisosi}", "breakpoint", (int)stop->id, "text",
                     tool_json_text(stop->text), "hits", 0);
}

bool session_delete(struct session *session, unsigned id)
{
    bool found = false;

    for (unsigned i = 0; i < session->nstops; i++)
        if (session->stops[i].id && (!id || session->stops[i].id == id)) {
            forget_stop(&session->stops[i]);
            found = true;
        }
    if (found)
        send_stops(session);
    return found;
}

/* --- forward --- */

json_t *session_go(struct session *session, const char *words, bool stops, const char *reason)
{
    char *all;
    json_t *said;

    if (session->program.fd < 0)
        return session_error("the program has ended: go back (reverse-continue), or quit");
    all = tool_format("%s\tstops=%d", words, stops);
    said = all ? program_go(&session->program, all) : NULL;
    free(all);
    return arrive(session, said, reason);
}

/* --- back --- */

/* Whoever goes back often goes on to do so: where the way from the last copy is long, another
 * one is left shortly before the event. */
enum { LONG_WAY = 1024, SHORT_WAY = 256 };

/* Stands at that event. What the run says there, NULL with an error in *reterr. */
static json_t *come_to(struct session *session, uint64_t number)
{
    json_t *said = program_back(&session->program, number);

    if (!said)
        return NULL;
    send_stops(session);
    if (session->program.copies &&
        number > number_in(said, "event") + LONG_WAY) {
        json_decref(said);
        said = program_leave_copy(&session->program, number - SHORT_WAY);
    }
    if (said && number_in(said, "event") < number) {
        char words[60];

        json_decref(said);
        snprintf(words, sizeof(words), "limit=%llu", (unsigned long long)number);
        said = program_go(&session->program, words);
    }
    return said;
}

json_t *session_goto(struct session *session, uint64_t number, const char *reason)
{
    char words[60];
    json_t *said;

    if (number < 1)
        number = 1;
    if (session->program.fd >= 0 && number == session->number && session->now) {
        json_t *same = session->now;

        return arrive(session, json_incref(same), reason);
    }
    if (session->program.fd >= 0 && number > session->number) {
        snprintf(words, sizeof(words), "limit=%llu", (unsigned long long)number);
        return session_go(session, words, false, reason);
    }
    said = come_to(session, number);
    return said ? arrive(session, said, reason)
                : session_error("the program cannot be started again");
}

/* The first event of the part of the run that is searched next: that of the last copy
 * before `end`. */
static uint64_t part_before(const struct program *program, uint64_t end)
{
    unsigned n = program->nsnapshots;

    while (n > 0 && program->snapshots[n - 1].number >= end)
        n--;
    return n > 0 ? program->snapshots[n - 1].number : 1;
}

/* The last event behind `from` and up to `to`, *ret_stop its breakpoint; 0: none. */
static uint64_t search_part(struct session *session, uint64_t from, uint64_t to,
                            const char *words, bool stops, unsigned *ret_stop)
{
    json_t *said = program_back(&session->program, from);
    char *all = tool_format("%s\tstops=%d\tseek=1\tlimit=%llu", words, stops,
                            (unsigned long long)to);
    uint64_t found = 0;

    if (said && all) {
        send_stops(session);
        json_decref(said);
        said = program_go(&session->program, all);
        found = said ? number_in(said, "last") : 0;
        *ret_stop = said ? (unsigned)number_in(said, "last_stop") : 0;
    }
    json_decref(said);
    free(all);
    return found;
}

/* Where nothing is found it stands at the beginning. */
json_t *session_search_back(struct session *session, const char *words, bool stops,
                            const char *reason)
{
    uint64_t to = session->program.fd >= 0 ? session->number - 1 : session->number;
    uint64_t found = 0;
    unsigned stop = 0;
    json_t *result;

    while (!found && to > 1) {
        uint64_t from = part_before(&session->program, to);

        found = search_part(session, from, to, words, stops, &stop);
        to = from;
    }
    result = session_goto(session, found ? found : 1, found ? reason : "begin");
    if (found && stop && json_object_get(result, "event")) {
        json_object_set_new(result, "stop", json_integer(stop));
        json_object_set_new(result, "reason", json_string("breakpoint"));
        for (unsigned i = 0; i < session->nstops; i++)
            session->stops[i].hits += session->stops[i].id == stop;
    }
    return result;
}

json_t *session_ask(struct session *session, const char *words)
{
    char *of_rank;
    json_t *answer;

    if (session->program.fd < 0)
        return session_error("the program has ended: go back (reverse-continue), or quit");
    if (session->rank < 0)
        return program_ask(&session->program, words);
    of_rank = tool_format("%s\trank=%d", words, session->rank);
    answer = of_rank ? program_ask(&session->program, of_rank)
                     : session_error("out of memory");
    free(of_rank);
    return answer;
}
