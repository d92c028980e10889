/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/study/table.c - see table.h. */
#include "tools/study/table.h"

#include "tools/common/json.h"
#include "tools/common/printed.h"
#include "tools/common/tool.h"
#include "tools/study/findings.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- CSV (RFC 4180) ---- */

static void put_number(FILE *out, double value)
{
    putc(',', out);
    if (isfinite(value))
        fprintf(out, "%.10g", value);
}

static void put_row(FILE *out, const struct study_run *run, const struct study_result *result)
{
    const char *const words[] = {run->program->name, run->size->text, run->machine,
                                 run->edits,         run->noise,      run->policy};
    bool good = result->there && !result->problem;

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        printed_csv(out, words[i]);
        putc(',', out);
    }
    fprintf(out, "%zu,", run->repetition);
    printed_csv(out, good ? result->policy : "");
    put_number(out, good ? result->makespan_us : (double)NAN);
    put_number(out, good ? result->energy_j : (double)NAN);
    put_number(out, good ? result->flops : (double)NAN);
    put_number(out, good ? result->tasks : (double)NAN);
    put_number(out, good ? result->moved_bytes : (double)NAN);
    put_number(out, good ? result->message_bytes : (double)NAN);
    put_number(out, good ? result->evictions : (double)NAN);
    put_number(out, good ? result->idle : (double)NAN);
    putc(',', out);
    printed_csv(out, good && result->figures ? result->figures : "");
    putc(',', out);
    printed_csv(out, result->problem ? result->problem : result->there ? "" : "not run");
    putc('\n', out);
}

static void put_csv(const struct study_session *session, FILE *out)
{
    fputs("program,size,machine,edits,noise,policy,repetition,policy_ran,makespan_us,energy_j,"
          "flops,tasks,moved_bytes,message_bytes,evictions,idle_share,figures,error\n",
          out);
    for (size_t i = 0; i < session->study->nruns; i++) {
        struct study_run run = study_run(session->study, i);

        put_row(out, &run, &session->results[i]);
    }
}

static char *csv_text(const struct study_session *session, size_t *ret_size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_size);

    if (!out)
        return NULL;
    put_csv(session, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- JSON ---- */

static json_t *run_json(const struct study_run *run, const struct study_result *result)
{
    json_t *json = json_pack("{s:o, s:o, s:o, s:o, s:s, s:o, s:I}", "program",
                             tool_json_text(run->program->name), "size",
                             tool_json_text(run->size->text), "machine",
                             tool_json_text(run->machine), "edits", tool_json_text(run->edits),
                             "noise", run->noise, "policy", tool_json_text(run->policy),
                             "repetition", (json_int_t)run->repetition);
    json_t *more = !result->there ? json_pack("{s:s}", "error", "not run")
                   : result->problem
                       ? json_pack("{s:o}", "error", tool_json_text(result->problem))
                       : json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                                   "policy_ran", tool_json_text(result->policy), "makespan_us",
                                   tool_json_number(result->makespan_us), "energy_j",
                                   tool_json_number(result->energy_j), "flops",
                                   tool_json_number(result->flops), "tasks",
                                   tool_json_number(result->tasks), "moved_bytes",
                                   tool_json_number(result->moved_bytes), "message_bytes",
                                   tool_json_number(result->message_bytes), "evictions",
                                   tool_json_number(result->evictions), "idle_share",
                                   tool_json_number(result->idle), "figures",
                                   tool_json_text(result->figures));

    json_object_update(json, more);
    json_decref(more);
    return json;
}

static char *json_text(const struct study_session *session, const struct study_findings *findings,
                       size_t *ret_size)
{
    json_t *rows = json_array(), *all;
    char *text;

    for (size_t i = 0; i < session->study->nruns; i++) {
        struct study_run run = study_run(session->study, i);

        json_array_append_new(rows, run_json(&run, &session->results[i]));
    }
    all = json_pack("{s:o, s:o}", "runs", rows, "findings", findings_json(findings));
    text = all ? json_dumps(all, JSON_INDENT(1)) : NULL;
    json_decref(all);
    *ret_size = text ? strlen(text) : 0;
    if (text)
        text[(*ret_size)++] = '\n'; /* in the place of its end */
    return text;
}

/* ---- Parquet ---- */

static const char writer[] = "import sys\n"
                             "from pyarrow import csv, parquet\n"
                             "parquet.write_table(csv.read_csv(sys.stdin.buffer), sys.argv[1])\n";

/* Runs Python, with text on its standard input. Returns whether it ended well. */
static bool run_python(const char *program, const char *path, const char *text, size_t size)
{
    int ends[2], status = 1;
    pid_t pid;

    if (pipe(ends) < 0)
        return false;
    pid = fork();
    if (pid == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (!text)
            fclose(stderr);
        execlp("python3", "python3", "-c", program, path, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    while (pid > 0 && size > 0) {
        ssize_t n = write(ends[1], text, size);

        if (n <= 0)
            break;
        text += n;
        size -= (size_t)n;
    }
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 && size == 0;
}

int study_check_parquet(const char *path)
{
    if (!path || run_python("import pyarrow.csv, pyarrow.parquet", path, NULL, 0))
        return TOOL_OK;
    return tool_fail(TOOL_FAILED, "study: --parquet needs Python's module pyarrow, which python3 "
                                  "does not find here; --csv has the same table");
}

/* ---- files ---- */

int study_write_tables(const struct study_session *session, const struct study_findings *findings)
{
    const struct study_options *options = session->options;
    size_t size = 0;
    char *text;
    int code = TOOL_OK;

    if (options->csv || options->parquet) {
        text = csv_text(session, &size);
        if (!text)
            return tool_fail(TOOL_FAILED, "out of memory");
        if (options->csv && tool_write_file(options->csv, text, size) < 0)
            code = TOOL_FAILED;
        if (options->parquet && !run_python(writer, options->parquet, text, size))
            code = tool_fail(TOOL_FAILED, "study: --parquet %s was not written", options->parquet);
        free(text);
    }
    if (options->json) {
        text = json_text(session, findings, &size);
        if (!text)
            return tool_fail(TOOL_FAILED, "out of memory");
        if (tool_write_file(options->json, text, size) < 0)
            code = TOOL_FAILED;
        free(text);
    }
    return code;
}
