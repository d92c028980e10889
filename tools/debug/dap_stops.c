/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/dap_stops.c - breakpoints: on events and kernels, on lines, on data. */
#include "tools/debug/dap_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/tool.h"
#include "tools/debug/words.h"

static void drop(struct dap *dap, unsigned **ids, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        session_delete(&dap->session, (*ids)[i]);
    free(*ids);
    *ids = NULL;
    *n = 0;
}

/* Takes the request, NULL with what is wrong; adds to the list what the protocol says of
 * it. */
static unsigned put_stop(struct dap *dap, const char *text, char *request,
                         const char *wrong, json_t *list)
{
    json_t *made = request ? session_break(&dap->session, text, request) : NULL;
    unsigned id =
        (unsigned)json_integer_value(json_object_get(made, "breakpoint"));

    wrong = dap_text_of(made, "error", wrong);

    if (id)
        json_array_append_new(
            list, json_pack("{sisb}", "id", (int)id, "verified", 1));
    else
        json_array_append_new(
            list, json_pack("{sbss}", "verified", 0, "message", wrong));
    json_decref(made);
    return id;
}

/* Whether that is a word of a breakpoint, and not of a condition. */
static bool begins_breakpoint(const char *word)
{
    static const char *const words[] = {"rank", "on", "data", "if"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (!strcmp(words[i], word))
            return true;
    return *word == '#';
}

/* What stands in an editor's field for conditions: "bytes > 1MB", or "rank 1", "on 'CUDA 0' if
 * ready == 0". A request as of words_stop, NULL with what is wrong. */
static char *make_stop(const char *where, bool is_line, const char *condition,
                       struct orr_error *err)
{
    size_t n = 0, more = 0;
    char **first = words_split(is_line ? "" : where, &n),
         **behind = words_split(condition, &more);
    char **all = calloc(n + more + 3, sizeof(*all)), *stop = NULL;
    char condition_word[] = "if";

    if (first && behind && all) {
        if (is_line)
            all[n++] = (char *)(uintptr_t)where;
        else
            memcpy(all, first, n * sizeof(*all));
        if (more && !begins_breakpoint(behind[0]))
            all[n++] = condition_word;
        memcpy(all + n, behind, more * sizeof(*all));
        stop = words_stop(all, n + more, err);
    } else {
        (void)orr_fail(err, -ENOMEM, "out of memory");
    }
    free(first);
    free(behind);
    free(all);
    return stop;
}

/* The names of functions are breakpoints as `break' takes them. */
void dap_set_functions(struct dap *dap, const json_t *request,
                       const json_t *arguments)
{
    const json_t *all = json_object_get(arguments, "breakpoints"), *one;
    json_t *list = json_array();
    size_t i;

    drop(dap, &dap->functions, &dap->nfunctions);
    dap->functions = calloc(json_array_size(all) + 1, sizeof(*dap->functions));
    json_array_foreach(all, i, one)
    {
        const char *name = dap_text_of(one, "name", ""),
                   *condition = dap_text_of(one, "condition", "");
        struct orr_error err = {""};
        char *text =
            tool_format("%s%s%s", name, *condition ? " " : "", condition);
        char *stop = make_stop(name, false, condition, &err);
        unsigned id = put_stop(dap, text ? text : name, stop, err.text, list);

        if (id && dap->functions)
            dap->functions[dap->nfunctions++] = id;
        free(text);
    }
    dap_respond(dap, request, json_pack("{so}", "breakpoints", list));
}

/* A line is come to where a task is submitted there. Those of other files stay. */
void dap_set_lines(struct dap *dap, const json_t *request,
                   const json_t *arguments)
{
    const json_t *all = json_object_get(arguments, "breakpoints"), *one;
    const char *path =
        dap_text_of(json_object_get(arguments, "source"), "path", "");
    json_t *list = json_array();
    size_t i;

    for (unsigned k = 0; k < dap->session.nstops; k++) {
        const struct session_stop *stop = &dap->session.stops[k];

        if (stop->id && stop->line &&
            !strncmp(stop->line, path, strlen(path)) &&
            stop->line[strlen(path)] == ':')
            session_delete(&dap->session, stop->id);
    }
    json_array_foreach(all, i, one)
    {
        const char *condition = dap_text_of(one, "condition", "");
        char *line = tool_format(
            "%s:%lld", path,
            (long long)json_integer_value(json_object_get(one, "line")) + 1 -
                dap->first_line);
        char *text = tool_format("%s%s%s", line ? line : "",
                                 *condition ? " " : "", condition);
        struct orr_error err = {"out of memory"};
        char *stop = line ? make_stop(line, true, condition, &err) : NULL;

        put_stop(dap, text ? text : "", stop, err.text, list);
        free(text);
        free(line);
    }
    dap_respond(dap, request, json_pack("{so}", "breakpoints", list));
}

/* Data have the same names on all ranks: a variable is that of its frame's rank, a name that was
 * typed means all of them. */
void dap_data_info(struct dap *dap, const json_t *request,
                   const json_t *arguments)
{
    const struct reference *of =
        dap_referred(dap, json_object_get(arguments, "variablesReference"));
    const char *name = dap_text_of(arguments, "name", "");
    int rank = of ? of->rank : -1;
    json_t *answer =
        dap_ask(dap, of ? rank : dap->session.rank, "data", "data", name);
    char *id = rank >= 0 ? tool_format("rank %d: %s", rank, name)
                         : tool_format("%s", name);

    if (json_object_get(answer, "answer"))
        dap_respond(dap, request,
                    json_pack("{ssss}", "dataId", id ? id : name, "description",
                              id ? id : name));
    else
        dap_respond(dap, request,
                    json_pack("{snss}", "dataId", "description",
                              "this is none of the run's data"));
    free(id);
    json_decref(answer);
}

/* The request for a `dataId' as above; NULL: it is empty, or no memory. */
static char *make_watch(const struct dap *dap, const char *id)
{
    int rank = -1, length = 0;

    if (dap->session.rank >= 0 &&
        sscanf(id, "rank %d: %n", &rank, &length) == 1 && length)
        return tool_format("stop\twatch=1\trank=%d\tdata=%s", rank,
                           id + length);
    return *id ? tool_format("stop\twatch=1\tdata=%s", id) : NULL;
}

void dap_set_data(struct dap *dap, const json_t *request,
                  const json_t *arguments)
{
    const json_t *all = json_object_get(arguments, "breakpoints"), *one;
    json_t *list = json_array();
    size_t i;

    drop(dap, &dap->watches, &dap->nwatches);
    dap->watches = calloc(json_array_size(all) + 1, sizeof(*dap->watches));
    json_array_foreach(all, i, one)
    {
        const char *name = dap_text_of(one, "dataId", "");
        unsigned id = put_stop(dap, name, make_watch(dap, name),
                               "there is no `dataId'", list);

        if (id && dap->watches)
            dap->watches[dap->nwatches++] = id;
    }
    dap_respond(dap, request, json_pack("{so}", "breakpoints", list));
}
