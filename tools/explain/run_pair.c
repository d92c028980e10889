/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/run_pair.c - two runs whose difference is explained: traces that are
 * there, or runs that are made for it, both at once. One thread.
 */
#include "tools/explain/run_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read.h"
#include "tools/common/json.h"
#include "tools/common/machines.h"
#include "tools/common/rank_traces.h"
#include "tools/common/run_files.h"
#include "tools/common/run_ranks.h"
#include "tools/common/tool.h"
#include "tools/explain/differ.h"

struct side {
    char *name;                /* owned */
    bool runs;                 /* else it is a trace that is there */
    char *argv[2];             /* a record's */
    char *machine, *scheduler; /* owned; NULL as in struct launch */
    const char *path;          /* of the trace */
    struct run_files files;
    struct trace trace;        /* of several ranks that of all */
    struct rank_traces ranks;  /* of them; else n is 0 */
    uint64_t *before;          /* owned: of each, rank_traces_jobs_before */
    struct rank_bounds bounds;
};

bool explain_is_file(const char *path)
{
    return trace_csv_is_one(path) || orr_record_is_one(path);
}

bool explain_are_two(char *const *words)
{
    return words[0] && words[1] && !words[2] && explain_is_file(words[0]) &&
           explain_is_file(words[1]);
}

bool explain_is_list(const struct launch *launch)
{
    return (launch->machine && machines_are_several(launch->machine)) ||
           (launch->scheduler && strchr(launch->scheduler, ','));
}

/* The side's word of the list, which is split so; of one word both sides have it. NULL: no
 * value; *ret_wrong: neither one nor two. Owned. */
static char *word_of_side(char **(*split)(const char *list), const char *list, int side,
                          bool *ret_wrong)
{
    char **words = list ? split(list) : NULL;
    char *word = NULL;

    if (words && words[0] && words[1] && words[2])
        *ret_wrong = true;
    else if (words && words[0])
        word = tool_format("%s", words[1] ? words[side] : words[0]);
    free(words);
    return word;
}

static int sides_init(struct side sides[DIFFER_SIDES],
                      const struct launch *base, bool files)
{
    bool wrong = false;

    for (int s = 0; s < DIFFER_SIDES; s++) {
        struct side *side = &sides[s];

        side->runs = !files || orr_record_is_one(base->argv[s]);
        if (!side->runs) {
            side->path = base->argv[s];
            side->name = tool_format("%s", side->path);
            continue;
        }
        side->machine = word_of_side(machines_split, base->machine, s, &wrong);
        side->scheduler = word_of_side(tool_split, base->scheduler, s, &wrong);
        side->argv[0] = base->argv[s * files];
        side->name = tool_format("%s%s%s%s%s", files ? side->argv[0] : "",
                                 files ? ", " : "",
                                 side->machine ? side->machine : "this machine",
                                 side->scheduler ? ", " : "",
                                 side->scheduler ? side->scheduler : "");
        if (!run_files_init(&side->files))
            return TOOL_FAILED;
        side->path = side->files.trace;
    }
    return wrong ? tool_fail(TOOL_USAGE, "explain: -m and -s take one name or "
                                         "two, A,B, for two runs")
                 : TOOL_OK;
}

static void sides_done(struct side sides[DIFFER_SIDES])
{
    for (int s = 0; s < DIFFER_SIDES; s++) {
        run_files_done(&sides[s].files);
        trace_csv_done(&sides[s].trace);
        rank_traces_done(&sides[s].ranks);
        rank_bounds_done(&sides[s].bounds);
        free(sides[s].before);
        free(sides[s].name);
        free(sides[s].machine);
        free(sides[s].scheduler);
    }
}

/* One that is none yet; of several ranks it leaves their traces. Returns an exit code. */
static int run_side(struct side *side, struct launch *launch)
{
    bool cluster;
    int result = launch_place(launch, "explain", &cluster), code;

    if (result != TOOL_OK)
        return result;
    launch->trace = side->path;
    launch->more = side->files.more;
    if (launch->nranks) {
        if (!run_files_of_ranks(&side->files, launch->nranks))
            return TOOL_FAILED;
        return run_ranks_silently(launch, "explain");
    }
    result = launch_all(launch, 1, 1, NULL, NULL);
    if (result != 0)
        return result < 0 ? TOOL_FAILED
                          : tool_fail(128 + result, "interrupted: the run was ended");
    code = process_exit_code(&launch->process);
    if (*launch->problem)
        return tool_fail(code ? code : TOOL_FAILED, "%s", launch->problem);
    launch_warn_policy(launch, "explain");
    return TOOL_OK;
}

/* Makes the runs of those sides that are none yet, one after the other: side by side real
 * runs would disturb each other. Returns an exit code. */
static int run_both_sides(struct side sides[DIFFER_SIDES],
                          const struct launch *base, bool files)
{
    int result = TOOL_OK;

    for (int s = 0; s < DIFFER_SIDES && result == TOOL_OK; s++) {
        struct launch launch = {.machine = sides[s].machine,
                                .scheduler = sides[s].scheduler,
                                .edits = base->edits,
                                .assume = base->assume,
                                .argv = files ? sides[s].argv : base->argv,
                                .quiet = true};

        if (!sides[s].runs)
            continue;
        result = run_side(&sides[s], &launch);
        if (result == TOOL_OK && launch.hosted)
            (void)rank_bounds_of_files(sides[s].files.traces, launch.nranks,
                                       launch.report.machine, base->edits, &sides[s].bounds);
        launch_done(&launch);
    }
    return result;
}

/* Returns an exit code. */
static int read_ranks_of_side(struct side *side)
{
    struct orr_error err = {""};

    if (rank_traces_read(side->files.traces, side->files.nranks, &side->ranks, &err) < 0)
        return tool_fail(TOOL_FAILED, "%s", err.text);
    side->before = calloc(side->ranks.n, sizeof(*side->before));
    if (!side->before || rank_traces_join(&side->ranks, &side->trace) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    for (unsigned r = 0; r < side->ranks.n; r++)
        side->before[r] = rank_traces_jobs_before(&side->ranks, r);
    return TOOL_OK;
}

static int read_side(struct side *side)
{
    struct orr_error err = {""};

    if (side->files.nranks)
        return read_ranks_of_side(side);
    return trace_csv_read(side->path, &side->trace, &err) < 0
               ? tool_fail(TOOL_FAILED, "%s", err.text)
               : TOOL_OK;
}

static struct differ_ranks ranks_of_side(const struct side *side)
{
    struct differ_ranks ret = {.n = side->ranks.n, .before = side->before,
                               .bounds = side->bounds.json ? &side->bounds : NULL};

    for (unsigned r = 0; r < ret.n; r++)
        for (size_t m = 0; m < side->ranks.of[r].nmessages; m++)
            if (!side->ranks.of[r].messages[m].received) {
                ret.messages++;
                ret.bytes += side->ranks.of[r].messages[m].bytes;
            }
    return ret;
}

static int explain_difference(const struct side sides[DIFFER_SIDES], bool json)
{
    const char *const names[] = {sides[0].name, sides[1].name};
    const struct trace *const traces[] = {&sides[0].trace, &sides[1].trace};
    const struct differ_ranks ranks[] = {ranks_of_side(&sides[0]), ranks_of_side(&sides[1])};
    struct difference d;
    int result = TOOL_OK;

    if (difference_find(names, traces, ranks, &d) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (traces[0]->ntasks == 0 || traces[1]->ntasks == 0)
        result = tool_fail(TOOL_FAILED, "explain: no task ran %s%s: there is nothing to compare",
                           traces[0]->ntasks + traces[1]->ntasks ? "in " : "in either run",
                           traces[0]->ntasks   ? names[1]
                           : traces[1]->ntasks ? names[0]
                                               : "");
    else if (d.nsame == 0 && ranks[0].n == ranks[1].n)
        result = tool_fail(TOOL_FAILED,
                           "explain: the runs have no task in common: they "
                           "are of different programs");
    else if ((json ? tool_json_print(difference_json(&d)) : differ_print(&d)) <
             0)
        result = tool_fail(TOOL_FAILED, "out of memory");
    difference_done(&d);
    return result;
}

int explain_two(const struct launch *base, const char *devices, bool json)
{
    bool files = explain_are_two(base->argv);
    struct side sides[DIFFER_SIDES] = {0};
    int result = sides_init(sides, base, files);

    if (result == TOOL_OK && !sides[0].runs && !sides[1].runs &&
        (base->machine || base->scheduler || base->edits || base->assume || devices))
        result = tool_fail(TOOL_USAGE,
                           "explain: traces have their machine and schedule: "
                           "-m, -s, --set, --assume and --devices need a program");
    if (result == TOOL_OK)
        result = run_both_sides(sides, base, files);
    for (int s = 0; result == TOOL_OK && s < DIFFER_SIDES; s++)
        result = read_side(&sides[s]);
    if (result == TOOL_OK)
        result = explain_difference(sides, json);
    sides_done(sides);
    return result;
}
