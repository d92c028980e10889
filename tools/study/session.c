/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/study/session.c - see session.h. */
#include "tools/study/session.h"

#include "tools/common/launch.h"
#include "tools/common/process.h"
#include "tools/common/progress.h"
#include "tools/common/tool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs whose launches are in memory at a time. */
enum { MOST_AT_ONCE = 2048 };

/* ---- what is kept ---- */

/* "results.jsonl", or of a part of its own, so that no two write to one file. */
static char *own_file(const struct study_options *options)
{
    if (options->no_run)
        return NULL;
    return options->parts ? tool_format("part-%u-of-%u.jsonl", options->part, options->parts)
                          : tool_format("results.jsonl");
}

static bool is_of_part(const struct study_session *session, size_t which)
{
    const struct study_options *options = session->options;

    return !options->parts || which % options->parts == options->part - 1;
}

static int take_kept(struct study_session *session)
{
    for (size_t i = 0; i < session->study->nruns; i++) {
        struct study_run run = study_run(session->study, i);
        char key[SHA256_TEXT];
        const json_t *line;

        study_key(&session->keys, &run, key);
        line = study_store_find(session->store, key);
        if (line && study_store_read(line, &session->results[i]) < 0)
            return tool_fail(TOOL_FAILED, "out of memory");
        session->nkept += line && !session->results[i].problem;
    }
    return TOOL_OK;
}

static int open_powers(struct study_session *session)
{
    const struct study *study = session->study;

    if (study->costs && costs_read(study->costs, &session->costs) < 0)
        return TOOL_USAGE;
    return powers_open_all(study->machines, study->nmachines, study->edits, study->nedits,
                           &session->costs, &session->powers) < 0
               ? TOOL_FAILED
               : TOOL_OK;
}

int session_init(struct study_session *ret, const struct study *study,
                 const struct study_options *options)
{
    char *file = own_file(options);
    int code;

    *ret = (struct study_session){.study = study,
                                  .options = options,
                                  .results = calloc(study->nruns, sizeof(*ret->results))};
    code = ret->results && (file || options->no_run) ? TOOL_OK
                                                     : tool_fail(TOOL_FAILED, "out of memory");
    if (code == TOOL_OK)
        code = study_keys_init(&ret->keys, study);
    if (code == TOOL_OK)
        code = study_store_open(options->store, file, &ret->store);
    if (code == TOOL_OK)
        code = take_kept(ret);
    if (code == TOOL_OK)
        code = open_powers(ret);
    free(file);
    return code;
}

void session_done(struct study_session *session)
{
    for (size_t i = 0; session->results && i < session->study->nruns; i++)
        study_result_done(&session->results[i]);
    free(session->results);
    powers_close_all(session->powers, session->study->nmachines * session->study->nedits);
    costs_done(&session->costs);
    study_store_close(session->store);
    study_keys_done(&session->keys);
}

/* ---- runs ---- */

/* What a run has in its environment. */
struct settings {
    char *texts[4]; /* owned */
    const char *more[LAUNCH_MORE + 1];
};

/* Those that are run together. */
struct chunk {
    struct study_session *session;
    struct launch *launches;   /* owned */
    struct settings *settings; /* owned: of each */
    size_t *runs;              /* owned: which each is */
    size_t n;
    struct progress *progress;
};

static int fill_settings(const struct study *study, const struct study_run *run,
                         struct settings *to)
{
    size_t n = 0;

    to->texts[n++] = tool_format("ORRERY_SIM_SEED=%zu", run->repetition);
    to->texts[n++] = tool_format("STARPU_RAND_SEED=%zu", run->repetition);
    to->texts[n++] = tool_format("ORRERY_SIM_DRAW=%zu", study->draws ? run->repetition + 1 : 0);
    to->texts[n++] = strcmp(run->noise, "none") ? tool_format("ORRERY_SIM_NOISE=%s", run->noise)
                                                : tool_format("ORRERY_SIM_NOISE");
    for (size_t i = 0; i < n; i++) {
        if (!to->texts[i])
            return tool_fail(TOOL_FAILED, "out of memory");
        to->more[i] = to->texts[i];
    }
    for (char **variable = study->variables; variable && *variable; variable++)
        to->more[n++] = *variable;
    return TOOL_OK;
}

static int chunk_add(struct chunk *chunk, size_t which)
{
    const struct study *study = chunk->session->study;
    struct study_run run = study_run(study, which);
    struct launch *launch = &chunk->launches[chunk->n];
    struct settings *settings = &chunk->settings[chunk->n];
    bool cluster;

    *launch = (struct launch){.machine = run.machine,
                              .scheduler = run.policy,
                              .assume = study->assume,
                              .edits = *run.edits ? run.edits : NULL,
                              .powers = chunk->session->powers[run.machine_and_edit],
                              .more = settings->more,
                              .argv = run.size->words,
                              .quiet = true};
    chunk->runs[chunk->n++] = which;
    if (fill_settings(study, &run, settings) != TOOL_OK)
        return TOOL_FAILED;
    return launch_place(launch, "study", &cluster);
}

static void take_result(struct study_session *session, size_t which, const struct launch *launch)
{
    struct study_result *result = &session->results[which];
    struct study_run run = study_run(session->study, which);
    char key[SHA256_TEXT];

    study_result_done(result);
    if (*launch->problem || !launch->report.json) {
        result->there = true;
        result->problem = strdup(*launch->problem ? launch->problem : "it left no report");
    } else if (study_result_of(&launch->report, result) < 0) {
        study_result_done(result);
    }
    study_key(&session->keys, &run, key);
    study_store_add(session->store, key, &run, result);
    session->nrun++;
}

static void on_study_end(void *arg, struct launch *launch)
{
    struct chunk *chunk = arg;

    take_result(chunk->session, chunk->runs[launch - chunk->launches], launch);
    chunk->progress->ended++;
    progress_show(chunk->progress);
    report_done(&launch->report);
    process_done(&launch->process);
}

/* What a signal ended has no result. */
static void on_end_unless_stopped(void *arg, struct launch *launch)
{
    int code = process_exit_code(&launch->process);

    if (code != 128 + SIGINT && code != 128 + SIGTERM && code != 128 + SIGKILL)
        on_study_end(arg, launch);
}

static void chunk_empty(struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->n; i++) {
        launch_done(&chunk->launches[i]);
        for (size_t t = 0; t < sizeof(chunk->settings[i].texts) / sizeof(char *); t++)
            free(chunk->settings[i].texts[t]);
        chunk->settings[i] = (struct settings){0};
    }
    chunk->n = 0;
}

static bool is_missing(const struct study_session *session, size_t which)
{
    const struct study_result *result = &session->results[which];

    return is_of_part(session, which) && (!result->there || result->problem);
}

static int run_missing(struct chunk *chunk)
{
    struct study_session *session = chunk->session;
    int stopped = 0;

    for (size_t i = 0; i < session->study->nruns && !stopped;) {
        for (; i < session->study->nruns && chunk->n < MOST_AT_ONCE && !stopped; i++)
            if (is_missing(session, i) && chunk_add(chunk, i) != TOOL_OK)
                stopped = -1;
        if (!stopped && chunk->n)
            stopped = launch_all(chunk->launches, chunk->n, session->options->jobs,
                                 on_end_unless_stopped, chunk);
        chunk_empty(chunk);
        if (!stopped && !study_store_is_good(session->store))
            stopped = -1;
    }
    return stopped;
}

int session_run(struct study_session *session)
{
    struct progress progress = {.start_s = tool_now_s()};
    struct chunk chunk = {.session = session,
                          .launches = calloc(MOST_AT_ONCE, sizeof(*chunk.launches)),
                          .settings = calloc(MOST_AT_ONCE, sizeof(*chunk.settings)),
                          .runs = calloc(MOST_AT_ONCE, sizeof(*chunk.runs)),
                          .progress = &progress};
    int stopped = -1;

    for (size_t i = 0; i < session->study->nruns; i++)
        progress.n += is_missing(session, i);
    if (chunk.launches && chunk.settings && chunk.runs)
        stopped = run_missing(&chunk);
    else
        tool_error("out of memory");
    free(chunk.launches);
    free(chunk.settings);
    free(chunk.runs);
    return stopped;
}

size_t session_nmissing(const struct study_session *session)
{
    size_t n = 0;

    for (size_t i = 0; i < session->study->nruns; i++)
        n += is_of_part(session, i) && !session->results[i].there;
    return n;
}

size_t session_nfailed(const struct study_session *session)
{
    size_t n = 0;

    for (size_t i = 0; i < session->study->nruns; i++)
        n += is_of_part(session, i) && session->results[i].problem != NULL;
    return n;
}
