/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/rank_bounds.c - see rank_bounds.h. */
#include "tools/common/rank_bounds.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/interrupt.h"
#include "tools/common/process.h"
#include "tools/common/report.h"
#include "tools/common/tool.h"

/* A share of the bytes that is worth a line. */
#define NEEDLESS 0.01

/* --- what it says --- */

static double number_of(const json_t *object, const char *name)
{
    const json_t *number = json_object_get(object, name);

    return json_is_number(number) ? json_number_value(number) : (double)NAN;
}

static double most_of(const json_t *objects, const char *name)
{
    const json_t *one;
    double most = 0;
    size_t i;

    json_array_foreach(objects, i, one) most = fmax(most, number_of(one, name));
    return most;
}

/* Of one rank: each bound by its name. */
static void take_one_rank(struct rank_bounds *ret)
{
    const json_t *bounds = json_object_get(ret->json, "bounds"), *one;
    size_t i;

    ret->path_ms = ret->tasks_ms = (double)NAN;
    ret->anywhere_ms = ret->ms;
    ret->limit = json_string_value(json_object_get(json_object_get(ret->json, "best"), "bound"));
    json_array_foreach(bounds, i, one)
    {
        const char *name = json_string_value(json_object_get(one, "bound"));
        const char *limit = json_string_value(json_object_get(one, "limited_by"));

        if (name && limit && ret->limit && !strcmp(name, ret->limit))
            ret->limit = limit;
        if (name && !strcmp(name, "critical-path"))
            ret->path_ms = number_of(one, "ms");
        if (name && !strcmp(name, "area"))
            ret->tasks_ms = number_of(one, "ms");
    }
}

bool rank_bounds_take(const char *text, struct rank_bounds *ret)
{
    const json_t *best, *parts;
    size_t i;

    *ret = (struct rank_bounds){0};
    /* What the library said stands before. */
    while (text && *text && *text != '{') {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    ret->json = text ? json_loads(text, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    best = json_object_get(ret->json, "best");
    ret->ms = number_of(best, "ms");
    ret->proved = json_is_true(json_object_get(best, "proved"));
    if (!json_object_get(ret->json, "ranks")) {
        take_one_rank(ret);
        return !isnan(ret->ms);
    }
    ret->limit = json_string_value(json_object_get(best, "limited_by"));
    ret->path_ms = number_of(json_object_get(ret->json, "path"), "ms");
    ret->tasks_ms = most_of(json_object_get(ret->json, "ranks"), "area_ms");
    ret->nics_ms = number_of(json_object_get(ret->json, "messages"), "ms");
    ret->anywhere_ms = number_of(json_object_get(ret->json, "anywhere"), "ms");
    json_array_foreach(json_object_get(ret->json, "cuts"), i, parts) ret->links_ms =
        fmax(ret->links_ms, fmax(most_of(parts, "receiving_ms"), most_of(parts, "sending_ms")));
    return !isnan(ret->ms);
}

double rank_bounds_carried(const struct rank_bounds *bounds)
{
    return fmax(bounds->nics_ms, bounds->links_ms);
}

void rank_bounds_done(struct rank_bounds *bounds)
{
    json_decref(bounds->json);
    *bounds = (struct rank_bounds){0};
}

/* --- the command --- */

/* The command line; its words from `first_graph` on are owned. NULL without memory. */
static char **command_words(char *const *traces, unsigned n, const char *cluster,
                            const char *edits, unsigned *ret_first_graph)
{
    const char *const before[] = {"/proc/self/exe", "bound", "--json", "--kind",
                                  "critical-path,area", "-m", cluster,
                                  edits && *edits ? "--set" : NULL, edits};
    char **words = calloc(n + sizeof(before) / sizeof(*before) + 1, sizeof(*words));
    unsigned k = 0;

    for (size_t i = 0; words && i < sizeof(before) / sizeof(*before) && before[i]; i++)
        words[k++] = (char *)(uintptr_t)before[i];
    *ret_first_graph = k;
    for (unsigned r = 0; words && r < n; r++) {
        words[k] = tool_beside(traces[r], ".graph");
        if (!words[k++]) {
            for (k = *ret_first_graph; words[k]; k++)
                free(words[k]);
            free(words);
            return NULL;
        }
    }
    return words;
}

int rank_bounds_of_files(char *const *traces, unsigned n, const char *cluster,
                         const char *edits, struct rank_bounds *ret)
{
    unsigned first_graph;
    char **words = command_words(traces, n, cluster, edits, &first_graph);
    struct process process = {.argv = words, .quiet = true, .apart = true, .output = -1};
    int stopped, rc = -1;

    *ret = (struct rank_bounds){0};
    if (!words)
        return tool_fail(-1, "out of memory");
    fflush(stdout);
    stopped = process_run(&process, 1, 1, NULL, NULL);
    if (stopped)
        interrupt_end(stopped);
    if (process_exit_code(&process) == 0 && rank_bounds_take(process.text, ret))
        rc = 0;
    process_done(&process);
    for (unsigned k = first_graph; words[k]; k++)
        free(words[k]);
    free(words);
    return rc;
}

/* --- in words --- */

static void put_meeting(const struct rank_bounds *b, FILE *out)
{
    char tasks[REPORT_TIME_MAX], carried[REPORT_TIME_MAX], path[REPORT_TIME_MAX];
    double most = rank_bounds_carried(b);
    const char *what = b->links_ms > b->nics_ms ? "links between parts of the network"
                                                : "the NICs of a node";

    report_time_text(1e3 * b->tasks_ms, tasks);
    report_time_text(1e3 * most, carried);
    report_time_text(1e3 * b->path_ms, path);
    if (most > b->tasks_ms && most > b->path_ms)
        fprintf(out,
                "What %s have to carry takes longer (%s)\nthan the tasks of any rank (%s): a "
                "faster network or another\ndistribution helps, more nodes or faster devices "
                "hardly do.\n",
                what, carried, tasks);
    else if (b->path_ms > b->tasks_ms)
        fprintf(out,
                "The critical path is longer (%s) than the tasks of any rank (%s)\nand what "
                "%s have to carry (%s): more nodes do not\nmake it shorter.\n",
                path, tasks, what, carried);
    else
        fprintf(out,
                "The tasks of a rank take longer (%s) than what %s\nhave to carry (%s): more "
                "nodes may help.\n",
                tasks, what, carried);
}

/* Values that went to a node more than once: dropped by its cache, or to several of its ranks. */
static void put_needless(const struct rank_bounds *b, FILE *out)
{
    const json_t *messages = json_object_get(b->json, "messages");
    double sent = number_of(messages, "sent_bytes"), needed = number_of(messages, "needed_bytes");
    char all[32], rest[32];

    if (sent > needed * (1 + NEEDLESS))
        fprintf(out,
                "Of %s sent between nodes %s are values that these had got\nbefore, or that no "
                "task needs.\n",
                report_bytes_text((json_int_t)sent, all),
                report_bytes_text((json_int_t)(sent - needed), rest));
}

void rank_bounds_put(const struct rank_bounds *bounds, double makespan_ms, FILE *out)
{
    char time[REPORT_TIME_MAX];

    fprintf(out, "No run with this distribution takes less than %s%s:\n%s.\n",
            report_time_text(1e3 * bounds->ms, time), bounds->proved ? "" : " (not proved)",
            bounds->limit);
    if (makespan_ms > 0)
        fprintf(out, "This one took %.1f %% more.\n", 100 * (makespan_ms / bounds->ms - 1));
    put_meeting(bounds, out);
    put_needless(bounds, out);
    if (bounds->anywhere_ms > 0)
        fprintf(out,
                "With each task on any node the bound is %s: that of the distribution\nis %.1f %% "
                "above.\n",
                report_time_text(1e3 * bounds->anywhere_ms, time),
                100 * (bounds->ms / bounds->anywhere_ms - 1));
}
