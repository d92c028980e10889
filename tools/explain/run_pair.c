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
#include "tools/common/run_files.h"
#include "tools/common/tool.h"
#include "tools/explain/differ.h"

struct side {
    char *name;                /* owned */
    bool runs;                 /* else it is a trace that is there */
    char *argv[2];             /* a record's */
    char *machine, *scheduler; /* owned; NULL as in struct launch */
    const char *path;          /* of the trace */
    struct run_files files;
    struct trace trace;
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
        if (!run_files_init(&side->files, "explain"))
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
        free(sides[s].name);
        free(sides[s].machine);
        free(sides[s].scheduler);
    }
}

/* Makes the runs of those sides that are none yet. Returns an exit code. */
static int run_both_sides(struct side sides[DIFFER_SIDES],
                          const struct launch *base, bool files)
{
    struct launch launches[DIFFER_SIDES] = {0};
    size_t n = 0;
    int result;

    for (int s = 0; s < DIFFER_SIDES; s++)
        if (sides[s].runs)
            launches[n++] =
                (struct launch){.machine = sides[s].machine,
                                .scheduler = sides[s].scheduler,
                                .edits = base->edits,
                                .assume = base->assume,
                                .trace = sides[s].path,
                                .more = sides[s].files.more,
                                .argv = files ? sides[s].argv : base->argv,
                                .quiet = true};
    /* Side by side real runs would disturb each other. */
    result = n ? launch_all(launches, n, 1, NULL, NULL) : 0;
    if (result > 0)
        result = tool_fail(128 + result, "interrupted: the runs were ended");
    else if (result < 0)
        result = TOOL_FAILED;
    for (size_t i = 0; i < n; i++) {
        int code = process_exit_code(&launches[i].process);

        if (result == TOOL_OK && *launches[i].problem)
            result =
                tool_fail(code ? code : TOOL_FAILED, "%s", launches[i].problem);
        if (result == TOOL_OK)
            launch_warn_policy(&launches[i], "explain");
        launch_done(&launches[i]);
    }
    return result;
}

static int explain_difference(const struct side sides[DIFFER_SIDES], bool json)
{
    const char *const names[] = {sides[0].name, sides[1].name};
    const struct trace *const traces[] = {&sides[0].trace, &sides[1].trace};
    struct difference d;
    int result = TOOL_OK;

    if (difference_find(names, traces, &d) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (d.nsame == 0)
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
    for (int s = 0; result == TOOL_OK && s < DIFFER_SIDES; s++) {
        struct orr_error err = {""};

        if (trace_csv_read(sides[s].path, &sides[s].trace, &err) < 0)
            result = tool_fail(TOOL_FAILED, "%s", err.text);
    }
    if (result == TOOL_OK)
        result = explain_difference(sides, json);
    sides_done(sides);
    return result;
}
