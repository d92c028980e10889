/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/module.c - the module "debug": an observer that stops a simulated run where
 * `orrery debug` asks for it, and answers questions while the run stands. It decides
 * nothing about the run, and takes no virtual time.
 *
 *   stop WORDS      a breakpoint more                  clear    none any more
 *   go WORDS        on, to the first event that is a breakpoint, or one of
 *                   limit=NUMBER lane=LANE date=US end=TASK rank=RANK (of lane and task)
 *                   stops=1 (breakpoints count) seek=1 (stop at the limit only, and say
 *                   which event before it was the last to stop at)
 *                   every=N room=N then=N behind=NUMBER (snapshots, each N events;
 *                   after so many half as often; behind that event)
 *   ask WORDS       a question: answers.h; rank=RANK: of that one's run
 *   halt            stop, while the run goes on
 *   leave           in the place of the first go: the run is not looked at
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/module.h"
#include "core/base/number.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/observe/debugger.h"
#include "debug/answers.h"
#include "debug/channel.h"
#include "debug/event.h"
#include "debug/snapshots.h"
#include "debug/stops.h"

/* How far to go. */
struct go {
    uint64_t limit; /* 0: none */
    int lane;       /* DEBUG_LANE_NONE: any will do */
    int rank;       /* of that lane, and of the task; -1: the run is alone */
    double date;    /* NaN: none */
    uint64_t end;   /* of that task, 0: none */
    bool stops, seeks;
    uint64_t every; /* events between snapshots, 0: none are made */
    unsigned room;  /* snapshots until that is doubled … */
    unsigned then;  /* … and from then on */
    uint64_t behind; /* the first one is behind that event */
};

/* Of the process, which has one debugger. The runs that it opens come one after the other, or
 * are those of several ranks. */
static struct {
    struct orr_runtime **runs; /* owned: those that are open */
    unsigned nruns;
    struct debug_channel channel;
    struct debug_stops stops;
    struct debug_event event; /* the last one */
    struct go go;
    bool is_open; /* the debugger was asked … */
    bool is_left; /* … and does not look at this program */
    unsigned nsnapshots; /* since the interval was doubled */
    uint64_t last;       /* while it seeks: the last event to stop at … */
    unsigned last_stop;  /* … and its breakpoint, 0: none */
} agent;

/* --- what is asked --- */

static const char *value_of(char *const *words, const char *key);

struct orr_runtime *debug_run_of_rank(int rank)
{
    for (unsigned i = 0; i < agent.nruns; i++)
        if (debug_rank_of(agent.runs[i]) == rank)
            return agent.runs[i];
    return NULL;
}

/* Of the rank that is asked for, else of the one that has come to the event. */
static struct orr_runtime *run_asked(struct orr_runtime *rt, char *const *words)
{
    const char *rank = value_of(words, "rank");

    return rank ? debug_run_of_rank((int)strtol(rank, NULL, 10)) : rt;
}

static void answer(struct orr_runtime *rt, char *const *words)
{
    struct orr_runtime *of = run_asked(rt, words);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        abort();
    debug_answer(of, &agent.event, words, to);
    fputc('\n', to);
    fclose(to);
    debug_channel_write(&agent.channel, text, size, -1);
    free(text);
}

static const char *value_of(char *const *words, const char *key)
{
    size_t length = strlen(key);

    for (; *words; words++)
        if (!strncmp(*words, key, length) && (*words)[length] == '=')
            return *words + length + 1;
    return NULL;
}

static uint64_t number_of(char *const *words, const char *key)
{
    const char *value = value_of(words, key);

    return value ? strtoull(value, NULL, 10) : 0;
}

static void read_go(char *const *words)
{
    const char *lane = value_of(words, "lane"), *date = value_of(words, "date"),
               *rank = value_of(words, "rank");

    agent.go = (struct go){
        .limit = number_of(words, "limit"),
        .lane = lane ? (int)strtol(lane, NULL, 10) : DEBUG_LANE_NONE,
        .date = date ? orr_strtod(date, NULL) : (double)NAN,
        .end = number_of(words, "end"),
        .rank = rank ? (int)strtol(rank, NULL, 10) : -1,
        .stops = number_of(words, "stops") != 0,
        .seeks = number_of(words, "seek") != 0,
        .every = number_of(words, "every"),
        .room = (unsigned)number_of(words, "room"),
        .then = (unsigned)number_of(words, "then"),
        .behind = number_of(words, "behind"),
    };
    agent.nsnapshots = 0;
    agent.last = agent.last_stop = 0;
}

/* A breakpoint more, which is answered as a question is. */
static void add_stop(char *const *words)
{
    const char *wrong;
    int rc = debug_stops_add(&agent.stops, words, &wrong);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    struct debug_answer answer = {.to = to};

    if (!to)
        abort();
    if (rc == -ENOSPC)
        debug_no_answer(&answer,
                        "there are %d breakpoints already: delete some",
                        DEBUG_STOPS);
    else if (rc < 0)
        debug_no_answer(&answer, "the run does not understand %.200s", wrong);
    else
        fputs("{\"answer\":[]}", to);
    fputc('\n', to);
    fclose(to);
    debug_channel_write(&agent.channel, text, size, -1);
    free(text);
}

/* Stands until it is to go on. */
static void stand(struct orr_runtime *rt)
{
    struct debug_line line;

    for (;;) {
        debug_channel_read(&agent.channel, &line);
        if (!strcmp(line.words[0], "go")) {
            read_go(line.words + 1);
            return;
        }
        if (!strcmp(line.words[0], "ask"))
            answer(rt, line.words + 1);
        else if (!strcmp(line.words[0], "clear"))
            agent.stops.n = 0;
        else if (!strcmp(line.words[0], "stop"))
            add_stop(line.words + 1);
        /* else: a halt that came too late */
    }
}

/* --- where it stops --- */

static void tell_stop(struct orr_runtime *rt, unsigned stop)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        abort();
    fflush(stdout);
    fputc('{', to);
    debug_event_write(rt, &agent.event, to);
    fprintf(to, ",\"pid\":%ld,\"stop\":%u,\"last\":%llu,\"last_stop\":%u}\n", (long)getpid(), stop,
            (unsigned long long)agent.last, agent.last_stop);
    fclose(to);
    debug_channel_write(&agent.channel, text, size, -1);
    free(text);
}

static bool ends_task(const struct debug_event *event, uint64_t task)
{
    return task && event->job && event->job->id == task &&
           event->rank == agent.go.rank &&
           (event->kind == DEBUG_END || event->kind == DEBUG_PASS);
}

/* Whether the event is one to stop at by itself. */
static bool is_wanted(const struct debug_event *event, unsigned stop)
{
    return stop ||
           (agent.go.lane != DEBUG_LANE_NONE && event->lane == agent.go.lane &&
            event->rank == agent.go.rank) ||
           event->date >= agent.go.date || ends_task(event, agent.go.end);
}

/* Whatever was asked for: behind it is nothing to see. */
static bool is_final(const struct debug_event *event)
{
    return (event->kind == DEBUG_FINISH && agent.nruns <= 1) ||
           event->kind == DEBUG_DEADLOCK;
}

static void forget_run(const struct orr_runtime *rt)
{
    for (unsigned i = 0; i < agent.nruns; i++)
        if (agent.runs[i] == rt) {
            memmove(&agent.runs[i], &agent.runs[i + 1],
                    (--agent.nruns - i) * sizeof(struct orr_runtime *));
            return;
        }
}

/* A request while the run goes on. */
static bool is_halted(void)
{
    struct debug_line line;

    if (agent.event.number % 1024 || !debug_channel_has(&agent.channel))
        return false;
    debug_channel_read(&agent.channel, &line);
    return !strcmp(line.words[0], "halt");
}

/* At each multiple of an interval, which grows as their number does. */
static bool snapshot(void)
{
    enum debug_copy copy;

    if (!agent.go.every || agent.event.number <= agent.go.behind ||
        (agent.event.number > 1 && agent.event.number % agent.go.every))
        return false;
    copy = debug_snapshot(&agent.channel, agent.event.number);
    if (copy == DEBUG_COPY_NONE)
        agent.go.every = 0;
    if (copy == DEBUG_COPY_MADE && ++agent.nsnapshots >= agent.go.room) {
        agent.go.every *= 2;
        agent.go.room = agent.go.then;
        agent.nsnapshots = 0;
    }
    return copy == DEBUG_COPY_RESUMED;
}

static void come_to(struct orr_runtime *rt)
{
    unsigned stop;
    bool wanted;

    if (snapshot()) {
        tell_stop(rt, 0);
        stand(rt);
        return;
    }
    stop = agent.go.stops ? debug_stops_find(&agent.stops, rt, &agent.event) : 0;
    wanted = is_wanted(&agent.event, stop);
    if (agent.go.seeks && wanted) {
        agent.last = agent.event.number;
        agent.last_stop = stop;
    }
    if ((wanted && !agent.go.seeks) || agent.event.number == agent.go.limit ||
        is_final(&agent.event) || is_halted()) {
        tell_stop(rt, stop);
        stand(rt);
    }
}

static void on_event(struct orr_runtime *rt, const struct orr_told *told)
{
    struct debug_event event;

    if (!debug_event_make(rt, told, &event))
        return;
    event.number = agent.event.number + 1;
    event.before = agent.event.number ? agent.event.date : -1;
    agent.event = event;
    come_to(rt);
    if (event.kind == DEBUG_FINISH)
        forget_run(rt);
}

/* --- the module --- */

static const struct orr_observer observer = {
    .told =
        {
            [ORR_TOLD_RUN_IS_OPEN] = on_event,
            [ORR_TOLD_TASK_WAITS] = on_event,
            [ORR_TOLD_TASK_READY] = on_event,
            [ORR_TOLD_TASK_FETCHES] = on_event,
            [ORR_TOLD_KERNEL_BEGINS] = on_event,
            [ORR_TOLD_TASK_EXECUTED] = on_event,
            [ORR_TOLD_TASK_SKIPPED] = on_event,
            [ORR_TOLD_TASK_RETURNED] = on_event,
            [ORR_TOLD_COPY_BEGINS] = on_event,
            [ORR_TOLD_COPY_ENDED] = on_event,
            [ORR_TOLD_EVICTED] = on_event,
            [ORR_TOLD_STOLEN] = on_event,
            [ORR_TOLD_MESSAGE] = on_event,
            [ORR_TOLD_BLOCKS] = on_event,
            [ORR_TOLD_GOES_ON] = on_event,
            [ORR_TOLD_MARK] = on_event,
            [ORR_TOLD_STANDS_STILL] = on_event,
            [ORR_TOLD_RUN_ENDS] = on_event,
        },
};

/* The debugger says how far to go, or that it looks at another program already. */
static const struct orr_observer *open_agent(struct orr_runtime *rt, int fd)
{
    struct orr_runtime **runs;
    struct debug_line line;

    if (!agent.is_open) {
        agent.is_open = true;
        agent.channel.fd = fd;
        fcntl(fd, F_SETFD, FD_CLOEXEC); /* programs that it starts have their own */
        debug_channel_write(&agent.channel, "{\"hello\":1}\n", strlen("{\"hello\":1}\n"), -1);
        debug_channel_read(&agent.channel, &line);
        agent.is_left = strcmp(line.words[0], "go") != 0;
        if (!agent.is_left)
            read_go(line.words + 1);
    }
    if (agent.is_left)
        return NULL;
    runs =
        realloc(agent.runs, (agent.nruns + 1) * sizeof(struct orr_runtime *));
    if (!runs)
        abort();
    agent.runs = runs;
    agent.runs[agent.nruns++] = rt;
    return &observer;
}

__attribute__((visibility("default"))) const struct orr_module *orr_module_entry(void);

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_debugger_ops ops = {.open = open_agent};
    static const struct orr_module module = {
        .abi = ORR_MODULE_ABI,
        .name = "debug",
        .table = &ops,
        .stamp = orr_module_stamp,
    };

    return &module;
}
