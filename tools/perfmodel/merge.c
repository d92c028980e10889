/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/merge.c - `orrery perfmodel merge`: one set of models from
 * those of several directories or machines of one type. One thread.
 */
#include "core/base/grow.h"
#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/join.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: orrery perfmodel merge [--host HOST] [--force] [--json]\n"
    "                            DIR|FILE... -o DIR\n"
    "Joins models that were measured in several runs or on several machines of one\n"
    "type. A DIR is a sampling directory (with codelets/45 in it) or a folder of\n"
    "model files; models of the same name become one, in DIR/codelets/45 of -o.\n"
    "  -o, --output DIR  the sampling directory to write to\n"
    "      --host HOST   make all of them models of this host: joins models of one\n"
    "                    symbol and several hosts\n"
    "      --force       replace models that are there already\n"
    "      --json        what was written as JSON\n"
    "Entries of the same architecture, implementation and footprint add their\n"
    "samples. The same measures twice count once. Warned of by name: two sizes under\n"
    "one footprint (the one with more samples stays alone), and means that differ by\n"
    "more than two standard errors and a per cent (joined all the same).\n"
    "Exit codes: 0, also with warnings; 1 when something failed, nothing is written\n"
    "then unless reported; 2 for a wrong command line.\n"
    "example: orrery perfmodel merge --host cluster node1/ node2/ -o both/\n";

/* One model of the result. */
struct result {
    char *name; /* owned; of the file */
    struct perfmodel_data data;
    struct perfmodel_report report;
    unsigned nsources;
};

struct merge {
    const char *host;       /* NULL: each keeps its own */
    struct result *results; /* owned */
    size_t n;
};

static void merge_done(struct merge *merge)
{
    for (size_t i = 0; i < merge->n; i++) {
        free(merge->results[i].name);
        perfmodel_unload(&merge->results[i].data);
    }
    free(merge->results);
}

/* The name of the model that the file `name` goes to, for the caller to
 * free(); NULL without memory. */
static char *target_name(const struct merge *merge, const char *name)
{
    if (!merge->host)
        return tool_format("%s", name);
    return tool_format("%.*s.%s", (int)strcspn(name, "."), name, merge->host);
}

/* The result of that name, made when it is missing; takes the name. */
static int find_result(struct merge *merge, char *name, struct result **ret)
{
    for (size_t i = 0; i < merge->n; i++)
        if (!strcmp(merge->results[i].name, name)) {
            free(name);
            *ret = &merge->results[i];
            return 0;
        }
    *ret = orr_array_add(merge->results, merge->n);
    if (!*ret) {
        free(name);
        return -ENOMEM;
    }
    (*ret)->name = name;
    return orr_model_file_new(&(*ret)->data.file) < 0 ? -ENOMEM : 0;
}

static int join_file(struct merge *merge, const char *path, const char *name)
{
    struct perfmodel_data data;
    struct orr_error err = {""};
    struct result *result;
    char *target;
    int rc = perfmodel_load(path, &data, &err);

    if (rc == -ENODATA) {
        tool_error("warning: %s is empty, left out", path);
        return 0;
    }
    if (rc < 0) {
        tool_error("%s", err.text[0] ? err.text
                                     : "a model file has gone away meanwhile");
        return rc;
    }
    if (data.state == PERFMODEL_SIDE_BROKEN)
        tool_error("warning: %s", data.problem.text);
    target = target_name(merge, name);
    rc = target ? find_result(merge, target, &result) : -ENOMEM;
    if (rc == 0) {
        result->nsources++;
        result->report.name = result->name;
        rc = perfmodel_join(&result->data, &data, &result->report, &err);
    }
    if (rc < 0)
        tool_error("%s: %s", path, err.text[0] ? err.text : strerror(-rc));
    perfmodel_unload(&data);
    return rc;
}

static int is_visible_entry(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool is_kind(const char *path, mode_t kind)
{
    struct stat st;

    return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

/* All model files of one folder, by name. */
static int join_folder(struct merge *merge, const char *folder)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_visible_entry, alphasort), rc = 0;

    if (n < 0) {
        rc = -errno;
        tool_error("%s: %s", folder, strerror(errno));
    }
    for (int i = 0; i < n; i++) {
        char *path =
            rc == 0 ? tool_format("%s/%s", folder, entries[i]->d_name) : NULL;

        if (rc == 0 && !path) {
            tool_error("out of memory");
            rc = -ENOMEM;
        }
        if (rc == 0 && is_kind(path, S_IFREG))
            rc = join_file(merge, path, entries[i]->d_name);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static int join_source(struct merge *merge, const char *source)
{
    const char *slash = strrchr(source, '/');
    char *folder;
    int rc;

    if (is_kind(source, S_IFREG))
        return join_file(merge, source, slash ? slash + 1 : source);
    if (!is_kind(source, S_IFDIR)) {
        tool_error("%s: there is no such model file or directory", source);
        return -ENOENT;
    }
    folder = tool_format("%s/%s", source, ORR_SAMPLING_CODELETS);
    if (!folder) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    rc = join_folder(merge, is_kind(folder, S_IFDIR) ? folder : source);
    free(folder);
    return rc;
}

/* -- writing -- */

static int merge_write_result(struct result *result, const char *output,
                              bool force)
{
    struct perfmodel_report report = {.name = result->name};
    struct orr_error err = {""};
    char *path =
        tool_format("%s/%s/%s", output, ORR_SAMPLING_CODELETS, result->name);
    int rc = -ENOMEM;

    if (path)
        rc = perfmodel_write(path, &result->data,
                             force ? PERFMODEL_REPLACE : PERFMODEL_NEW, &report,
                             &err);
    if (rc < 0)
        tool_error("perfmodel merge: %s",
                   err.text[0] ? err.text : "out of memory");
    free(path);
    return rc;
}

/* Before anything is written: nothing is if one of them exists. */
static int look_for_taken(const struct merge *merge, const char *output)
{
    for (size_t i = 0; i < merge->n; i++) {
        char *path = tool_format("%s/%s/%s", output, ORR_SAMPLING_CODELETS,
                                 merge->results[i].name);
        struct stat st;
        bool taken = path && stat(path, &st) == 0 && st.st_size > 0;

        if (taken || !path)
            tool_error("%s%s", path ? path : "out of memory",
                       path ? ": there is a model already; choose another "
                              "directory for -o, or --force to replace it. "
                              "Nothing was written"
                            : "");
        free(path);
        if (taken || !path)
            return -EEXIST;
    }
    return 0;
}

#define NCOLUMNS 7

static const char *origins_text(const struct perfmodel_data *data,
                                char ret[PERFMODEL_ORIGINS_TEXT])
{
    struct perfmodel_origins origins;

    perfmodel_count_origins(data, data->file->origin, &origins);
    return perfmodel_origins_text(&origins, ret);
}

static int print_results(const struct merge *merge)
{
    static const struct table_column columns[NCOLUMNS] = {
        {"model", false}, {"files", true},       {"entries", true},
        {"joined", true}, {"known twice", true}, {"conflicts", true},
        {"origin", false}};
    struct table table = {0};
    int rc;

    for (size_t i = 0; i < merge->n; i++) {
        const struct result *result = &merge->results[i];
        const struct perfmodel_report *report = &result->report;
        char origins[PERFMODEL_ORIGINS_TEXT];

        table_add(&table, "%s", result->name);
        table_add(&table, "%u", result->nsources);
        table_add(&table, "%u", report->nadded);
        table_add(&table, "%u", report->njoined);
        table_add(&table, "%u", report->nsame);
        table_add(&table, "%u", report->nsizes + report->nmeans);
        table_add(&table, "%s", origins_text(&result->data, origins));
    }
    rc = table_end(&table, columns, NCOLUMNS);
    if (rc < 0)
        tool_error("perfmodel merge: out of memory for the table; all models "
                   "were written");
    return rc;
}

static int merge_print_json(const struct merge *merge)
{
    json_t *rows = json_array();

    for (size_t i = 0; rows && i < merge->n; i++) {
        const struct result *result = &merge->results[i];
        const struct perfmodel_report *report = &result->report;
        char origins[PERFMODEL_ORIGINS_TEXT];

        if (json_array_append_new(
                rows,
                json_pack("{s:o, s:i, s:i, s:i, s:i, s:i, s:s}", "model",
                          tool_json_text(result->name), "files",
                          (int)result->nsources, "entries", (int)report->nadded,
                          "joined", (int)report->njoined, "known_twice",
                          (int)report->nsame, "conflicts",
                          (int)(report->nsizes + report->nmeans), "origin",
                          origins_text(&result->data, origins))) < 0) {
            json_decref(rows);
            rows = NULL;
        }
    }
    if (tool_json_print(rows) == 0)
        return 0;
    tool_error("perfmodel merge: out of memory for what was done; all models "
               "were written");
    return -ENOMEM;
}

static int merge_all(struct merge *merge, char **sources, int n,
                     const char *output, bool force, bool json)
{
    size_t written = 0;
    int rc = 0;

    for (int i = 0; rc == 0 && i < n; i++)
        rc = join_source(merge, sources[i]);
    if (rc == 0 && merge->n == 0) {
        tool_error("perfmodel merge: no model files were found");
        rc = -ENOENT;
    }
    if (rc == 0 && !force)
        rc = look_for_taken(merge, output);
    for (; rc == 0 && written < merge->n; written += rc == 0)
        rc = merge_write_result(&merge->results[written], output, force);
    if (rc < 0 && written > 0)
        tool_error("%zu of %zu models were written to %s before", written,
                   merge->n, output);
    if (rc == 0)
        rc = json ? merge_print_json(merge) : print_results(merge);
    return rc;
}

int perfmodel_merge(int argc, char **argv)
{
    const char *output = NULL;
    struct merge merge = {NULL, NULL, 0};
    bool force = false, json = false;
    const struct tool_option options[] = {{'o', "output", &output, NULL},
                                          {0, "host", &merge.host, NULL},
                                          {0, "force", NULL, &force},
                                          {0, "json", NULL, &json},
                                          {0}};
    int noperands = 0,
        rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (noperands == 0 || !output) {
        tool_error("perfmodel merge: name what to join and, with -o, the "
                   "directory for the result");
        return TOOL_USAGE;
    }
    if (merge.host && strchr(merge.host, '/')) {
        tool_error("perfmodel merge: --host %s: a host has no slash in it",
                   merge.host);
        return TOOL_USAGE;
    }
    if (!perfmodel_can_write_to("perfmodel merge", output))
        return TOOL_USAGE;
    rc = merge_all(&merge, argv + 1, noperands, output, force, json);
    merge_done(&merge);
    return rc < 0 || fflush(stdout) != 0 ? TOOL_FAILED : TOOL_OK;
}
