/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* debug/event.c - see event.h. */
#include "debug/event.h"

#include <string.h>

#include "core/base/number.h"
#include "core/base/plural.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/pending.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/message_told.h"
#include "core/observe/json_text.h"
#include "core/observe/waiting.h"
#include "core/worker/workers.h"
#include "debug/source.h"

static const char *const names[DEBUG_NKINDS] = {
    [DEBUG_BEGIN] = "begin",       [DEBUG_SUBMIT] = "submit",
    [DEBUG_READY] = "ready",       [DEBUG_TAKE] = "take",
    [DEBUG_START] = "start",       [DEBUG_END] = "end",
    [DEBUG_PASS] = "pass",         [DEBUG_RETURN] = "return",
    [DEBUG_TRANSFER] = "transfer", [DEBUG_ARRIVAL] = "arrival",
    [DEBUG_EVICT] = "evict",       [DEBUG_STEAL] = "steal",
    [DEBUG_SEND] = "send",         [DEBUG_RECEIVE] = "receive",
    [DEBUG_WAIT] = "wait",         [DEBUG_GO_ON] = "go-on",
    [DEBUG_MARK] = "mark",         [DEBUG_DEADLOCK] = "deadlock",
    [DEBUG_FINISH] = "finish",
};

uint32_t debug_kinds_named(const char *word)
{
    for (unsigned kind = 0; kind < DEBUG_NKINDS; kind++)
        if (!strcmp(names[kind], word))
            return UINT32_C(1) << kind;
    return 0;
}

/* --- from what core tells --- */

static int of_job(struct debug_event *event, enum debug_kind kind, int lane)
{
    event->kind = kind;
    event->lane = lane;
    return 1;
}

static int of_worker(const struct orr_runtime *rt, struct debug_event *event,
                     enum debug_kind kind)
{
    event->kind = kind;
    if (!event->worker && event->job->worker >= 0)
        event->worker = &rt->workers->at[event->job->worker];
    event->lane = event->worker ? (int)event->worker->id : DEBUG_LANE_NONE;
    return 1;
}

/* Memory without a value is no transfer. */
static int of_copy(struct debug_event *event, enum debug_kind kind,
                   const struct orr_request *request)
{
    if (request->src == ORR_NO_NODE)
        return 0;
    event->kind = kind;
    event->handle = request->handle;
    event->src = (int)request->src;
    event->dst = (int)request->dst;
    return 1;
}

static int of_application(struct debug_event *event, enum debug_kind kind,
                          const char *text)
{
    event->kind = kind;
    event->text = text;
    event->lane = DEBUG_LANE_APPLICATION;
    event->by = orr_self ? orr_self->job : NULL;
    return 1;
}

static int of_steal(const struct orr_runtime *rt, const struct orr_told *told,
                    struct debug_event *event)
{
    event->kind = DEBUG_STEAL;
    event->worker = &rt->workers->at[told->stolen.thief];
    event->lane = (int)told->stolen.thief;
    event->stolen = told->stolen.job;
    return 1;
}

static int of_eviction(const struct orr_told *told, struct debug_event *event)
{
    event->kind = DEBUG_EVICT;
    event->handle = told->evicted.handle;
    event->dst = (int)told->evicted.node;
    return 1;
}

static int of_message(struct debug_event *event,
                      const struct orr_message_told *message)
{
    event->kind = message->received ? DEBUG_RECEIVE : DEBUG_SEND;
    event->handle = message->handle;
    event->peer = message->peer;
    event->tag = (long long)message->tag;
    event->bytes = message->bytes;
    return 1;
}

int debug_rank_of(const struct orr_runtime *rt)
{
    return atomic_load(&rt->one_of_several) ? atomic_load(&rt->rank) : -1;
}

int debug_event_make(const struct orr_runtime *rt, const struct orr_told *told,
                     struct debug_event *ret)
{
    *ret = (struct debug_event){
        .date = orr_exec_now(rt->exec),
        .lane = DEBUG_LANE_NONE,
        .job = told->job,
        .worker = told->worker,
        .src = -1,
        .dst = -1,
        .rank = debug_rank_of(rt),
        .peer = -1,
    };
    switch (told->kind) {
    case ORR_TOLD_RUN_IS_OPEN:
        return of_application(ret, DEBUG_BEGIN, NULL);
    case ORR_TOLD_TASK_WAITS:
        return of_application(ret, DEBUG_SUBMIT, NULL);
    case ORR_TOLD_TASK_READY:
        return of_job(ret, DEBUG_READY, DEBUG_LANE_NONE);
    case ORR_TOLD_TASK_FETCHES:
        return of_worker(rt, ret, DEBUG_TAKE);
    case ORR_TOLD_KERNEL_BEGINS:
        return of_worker(rt, ret, DEBUG_START);
    case ORR_TOLD_TASK_EXECUTED:
        ret->length = told->since;
        return of_worker(rt, ret, DEBUG_END);
    case ORR_TOLD_TASK_SKIPPED:
        return of_job(ret, DEBUG_PASS, DEBUG_LANE_NONE);
    case ORR_TOLD_TASK_RETURNED:
        return of_job(ret, DEBUG_RETURN, DEBUG_LANE_NONE);
    case ORR_TOLD_COPY_BEGINS:
        return of_copy(ret, DEBUG_TRANSFER, told->request);
    case ORR_TOLD_COPY_ENDED:
        return of_copy(ret, DEBUG_ARRIVAL, told->request);
    case ORR_TOLD_EVICTED:
        return of_eviction(told, ret);
    case ORR_TOLD_STOLEN:
        return of_steal(rt, told, ret);
    case ORR_TOLD_MESSAGE:
        return of_message(ret, told->message);
    case ORR_TOLD_BLOCKS:
        return of_application(ret, DEBUG_WAIT, told->text);
    case ORR_TOLD_GOES_ON:
        return of_application(ret, DEBUG_GO_ON, NULL);
    case ORR_TOLD_MARK:
        return of_application(ret, DEBUG_MARK, told->text);
    case ORR_TOLD_STANDS_STILL:
        return of_application(ret, DEBUG_DEADLOCK, NULL);
    case ORR_TOLD_RUN_ENDS:
        return of_application(ret, DEBUG_FINISH, NULL);
    default:
        return 0;
    }
}

/* --- words --- */

void debug_say_date(FILE *to, double us)
{
    orr_fprintf(to, "%.6g ms", us / 1e3);
}

void debug_say_job(FILE *to, const struct orr_job *job)
{
    if (job->task && job->id)
        fprintf(to, "%s #%llu", orr_job_name(job), (unsigned long long)job->id);
    else
        fputs(orr_waiting_name(job).text, to);
}

static void say_worker(FILE *to, const struct debug_event *event)
{
    fputs(event->worker ? event->worker->desc->name : "a worker", to);
}

static void say_by(FILE *to, const struct debug_event *event)
{
    if (!event->by)
        return;
    fputs(", inside of ", to);
    debug_say_job(to, event->by);
}

static void say_copy(const struct orr_runtime *rt, const struct debug_event *event,
                     FILE *to, const char *verb)
{
    fprintf(to, "%s %s %s: %zu bytes from %s to %s", "the value of",
            orr_handle_label(event->handle).text, verb, event->handle->size,
            rt->machine->nodes[event->src].name, rt->machine->nodes[event->dst].name);
}

static void say_of_job(const struct debug_event *event, FILE *to)
{
    debug_say_job(to, event->job);
    switch (event->kind) {
    case DEBUG_SUBMIT:
        fprintf(to, " is submitted%s",
                atomic_load(&event->job->waiting) > 1 ? " and waits" : "");
        say_by(to, event);
        break;
    case DEBUG_READY:
        fputs(" is ready", to);
        break;
    case DEBUG_TAKE:
        fputs(" is taken by ", to);
        say_worker(to, event);
        break;
    case DEBUG_START:
        fputs(" starts on ", to);
        say_worker(to, event);
        break;
    case DEBUG_END:
        fputs(" ends on ", to);
        say_worker(to, event);
        fputs(" after ", to);
        debug_say_date(to, event->length);
        break;
    case DEBUG_PASS:
        fputs(" is over: it has no kernel", to);
        break;
    default:
        fputs(" could not be executed and is pushed once more", to);
    }
}

void debug_event_say(const struct orr_runtime *rt, const struct debug_event *event,
                     FILE *to)
{
    if (event->rank >= 0)
        fprintf(to, "rank %d: ", event->rank);
    switch (event->kind) {
    case DEBUG_BEGIN:
        fprintf(to, "the run begins on %s: %u worker%s", rt->machine->name,
                rt->workers->n, orr_plural(rt->workers->n));
        break;
    case DEBUG_TRANSFER:
        say_copy(rt, event, to, "sets out");
        break;
    case DEBUG_ARRIVAL:
        say_copy(rt, event, to, "arrives");
        break;
    case DEBUG_EVICT:
        fprintf(to, "%s leaves %s, which is full", orr_handle_label(event->handle).text,
                rt->machine->nodes[event->dst].name);
        break;
    case DEBUG_STEAL:
        say_worker(to, event);
        fprintf(to, " has stolen task #%llu", (unsigned long long)event->stolen);
        break;
    case DEBUG_SEND:
    case DEBUG_RECEIVE:
        fprintf(to, "%s, %zu bytes, has %s rank %d, tag %lld",
                orr_handle_label(event->handle).text, event->bytes,
                event->kind == DEBUG_SEND ? "gone to" : "come from",
                event->peer, event->tag);
        break;
    case DEBUG_WAIT:
        fprintf(to, "the application waits in %s", event->text ? event->text : "a call");
        say_by(to, event);
        break;
    case DEBUG_GO_ON:
        fputs("the application goes on", to);
        say_by(to, event);
        break;
    case DEBUG_MARK:
        fprintf(to, "mark: %s", event->text);
        break;
    case DEBUG_DEADLOCK:
        fputs("deadlock: nothing can go on any more", to);
        break;
    case DEBUG_FINISH:
        fputs("the run ends", to);
        break;
    default:
        say_of_job(event, to);
    }
}

/* The sentence, for the member "text". */
static void write_sentence(const struct orr_runtime *rt, const struct debug_event *event,
                           FILE *to)
{
    char text[1024] = "";
    FILE *line = fmemopen(text, sizeof(text) - 1, "w");

    if (!line)
        return;
    debug_event_say(rt, event, line);
    fclose(line);
    fputs(",\"text\":", to);
    orr_json_text(to, text);
}

void debug_event_write(const struct orr_runtime *rt, const struct debug_event *event,
                       FILE *to)
{
    orr_fprintf(to, "\"event\":%llu,\"date\":%.9g,\"kind\":\"%s\",\"lane\":%d",
            (unsigned long long)event->number, event->date, names[event->kind],
            event->lane);
    if (event->rank >= 0)
        fprintf(to, ",\"rank\":%d", event->rank);
    if (event->peer >= 0)
        fprintf(to, ",\"peer\":%d,\"tag\":%lld", event->peer, event->tag);
    if (event->job) {
        fprintf(to, ",\"task\":%llu,\"name\":", (unsigned long long)event->job->id);
        orr_json_text(to, event->job->task ? orr_job_name(event->job) : NULL);
        debug_source_write(rt, event->job, to);
    }
    if (event->worker) {
        fputs(",\"worker\":", to);
        orr_json_text(to, event->worker->desc->name);
    }
    if (event->handle) {
        fputs(",\"data\":", to);
        orr_json_text(to, orr_handle_label(event->handle).text);
    }
    if (event->dst >= 0) {
        fputs(",\"node\":", to);
        orr_json_text(to, rt->machine->nodes[event->dst].name);
    }
    write_sentence(rt, event, to);
}
