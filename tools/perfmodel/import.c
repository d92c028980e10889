/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/import.c - `orrery perfmodel import`: writes the models of a
 * JSON export into the first sampling directory. One thread.
 */
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/join.h"
#include "tools/perfmodel/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: orrery perfmodel import [--host HOST] [--force | --merge] [--json] FILE\n"
    "Writes the models of a file of `orrery perfmodel export --json` into the first\n"
    "sampling directory (STARPU_PERF_MODEL_DIR), as they were exported; FILE - is\n"
    "standard input.\n"
    "      --host HOST  as models of this host instead of the one they are of\n"
    "      --force      replace models that are there already\n"
    "      --merge      add to those that are there, see orrery perfmodel merge\n"
    "Without these two nothing is written if any of the models is there.\n"
    "      --json       what was written as JSON\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery perfmodel import --host node7 models.json\n";

/* The models to write, each with its path. */
struct import {
    struct perfmodel_named *models; /* owned */
    char **paths;                   /* owned, as are the texts */
    size_t n;
    enum perfmodel_mode mode;
    json_t
        *written; /* an array: what was; NULL where that is printed as text */
};

static void import_done(struct import *import)
{
    for (size_t i = 0; i < import->n; i++) {
        perfmodel_named_done(&import->models[i]);
        free(import->paths[i]);
    }
    free(import->models);
    free(import->paths);
}

static json_t *read_json(const char *path)
{
    json_error_t problem;
    json_t *json = strcmp(path, "-") != 0 ? json_load_file(path, 0, &problem)
                                          : json_loadf(stdin, 0, &problem);
    const char *format;
    struct stat st;

    if (!json && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        tool_error("%s: %s", path, strerror(EISDIR));
        return NULL;
    }
    if (!json) {
        if (problem.line > 0)
            tool_error("%s:%d:%d: %s", path, problem.line, problem.column,
                       problem.text);
        else
            tool_error("%s: %s", path, problem.text);
        return NULL;
    }
    format = json_string_value(json_object_get(json, "format"));
    if (!format || strcmp(format, PERFMODEL_FORMAT) != 0 ||
        json_integer_value(json_object_get(json, "version")) !=
            PERFMODEL_FORMAT_VERSION ||
        !json_is_array(json_object_get(json, "models"))) {
        tool_error("%s: not an export of performance models, version %d; make "
                   "one with orrery perfmodel export --json",
                   path, PERFMODEL_FORMAT_VERSION);
        json_decref(json);
        return NULL;
    }
    return json;
}

/* A file that could not be read again must never be written. */
static int try_file(const struct perfmodel_named *model, struct orr_error *err)
{
    struct orr_model_file *again = NULL;
    struct orr_side *side = NULL;
    struct orr_error why = {""};
    char *text = NULL, *side_text = NULL;
    size_t size = 0;
    int rc = orr_model_file_format(model->data.file, &text, &size);

    if (rc == 0)
        rc = orr_model_file_parse("model", text, size, &again, &why);
    free(text);
    if (rc == 0)
        rc = orr_side_format(model->data.side, &side_text, &size);
    if (rc == 0)
        rc = orr_side_parse("side", side_text, size, ORR_SIDE_SAMPLES, &side,
                            &why);
    free(side_text);
    orr_model_file_free(again);
    orr_side_free(side);
    if (rc == 0)
        return 0;
    return orr_fail(err, rc, "model %s: its file could not be read again (%s)",
                    model->symbol, why.text[0] ? why.text : strerror(-rc));
}

/* The path of a model: in the first directory. */
static int model_path(const struct perfmodel_place *place,
                      const struct perfmodel_named *model, const char *host,
                      char **ret, struct orr_error *err)
{
    char *name;
    int rc;

    if (!*host && !strchr(model->symbol, '.'))
        return orr_fail(err, -EINVAL,
                        "model %s is of no host; name one with --host",
                        model->symbol);
    rc = orr_model_name(model->symbol, host, &name, err);
    if (rc < 0)
        return rc;
    *ret = tool_format("%s/%s/%s", orr_sampling_dirs(place->sampling)[0],
                       ORR_SAMPLING_CODELETS, name);
    free(name);
    return *ret ? 0 : orr_fail(err, -ENOMEM, "out of memory");
}

/* Whether there is a model; an empty file is none. */
static bool has_model_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_size > 0;
}

/* Rows that were measured elsewhere become imported ones here; the others keep
 * their origin. */
static void import_measures(struct orr_model_file *file)
{
    if (file->origin <= ORR_ORIGIN_MEASURED)
        file->origin = ORR_ORIGIN_IMPORTED;
    for (unsigned c = 0; c < file->ncombs; c++)
        for (unsigned i = 0; i < file->combs[c].nimpls; i++) {
            struct orr_model_impl *impl = &file->combs[c].impls[i];

            for (unsigned r = 0; r < impl->nrows; r++)
                if (impl->rows[r].origin == ORR_ORIGIN_MEASURED)
                    orr_model_row_say_origin(&impl->rows[r], file,
                                             ORR_ORIGIN_IMPORTED, false);
        }
}

static int take_model(struct import *import,
                      const struct perfmodel_place *place, const json_t *json,
                      const char *host, struct orr_error *err)
{
    struct perfmodel_named *model = &import->models[import->n];
    char **path = &import->paths[import->n];
    int rc = perfmodel_from_json(json, model, err);

    if (rc < 0)
        return rc;
    import->n++; /* from here on it is freed */
    import_measures(model->data.file);
    rc = try_file(model, err);
    if (rc == 0)
        rc = model_path(place, model, host ? host : model->host, path, err);
    for (size_t i = 0; rc == 0 && i + 1 < import->n; i++)
        if (!strcmp(import->paths[i], *path))
            rc = orr_fail(err, -EINVAL,
                          "model %s of the same host is there twice; edit the "
                          "file, or join them with orrery perfmodel merge",
                          model->symbol);
    if (rc == 0 && import->mode == PERFMODEL_NEW && has_model_file(*path))
        rc = orr_fail(err, -EEXIST,
                      "%s: there is a model already; --force replaces it, "
                      "--merge adds to it",
                      *path);
    return rc;
}

static int take_models(struct import *import,
                       const struct perfmodel_place *place, const json_t *list,
                       const char *host)
{
    size_t n = json_array_size(list);
    struct orr_error err = {""};
    int rc = 0;

    import->models = calloc(n + 1, sizeof(*import->models));
    import->paths = calloc(n + 1, sizeof(*import->paths));
    if (!import->models || !import->paths)
        rc = orr_fail(&err, -ENOMEM, "out of memory");
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = take_model(import, place, json_array_get(list, i), host, &err);
    if (rc < 0)
        tool_error("perfmodel import: %s. Nothing was written", err.text);
    return rc;
}

/* Says what was written to a file. Errors: -ENOMEM. */
static int import_report_file(const struct import *import, const char *path,
                              const struct perfmodel_report *report)
{
    unsigned entries =
        report->nadded + report->njoined + report->nsame + report->nreplaced;

    if (import->written)
        return json_array_append_new(
                   import->written,
                   json_pack("{s:o, s:i, s:i, s:i, s:i}", "file",
                             tool_json_text(path), "entries", (int)entries,
                             "joined", (int)report->njoined, "known_already",
                             (int)report->nsame, "measures_stay",
                             (int)report->nreplaced)) < 0
                   ? -ENOMEM
                   : 0;
    printf("%s: %u entries", path, entries);
    if (report->njoined || report->nsame)
        printf(", %u joined, %u known already", report->njoined, report->nsame);
    if (report->nreplaced)
        printf(", %u both measured and computed: the measures stay",
               report->nreplaced);
    putchar('\n');
    return 0;
}

static int write_models(struct import *import)
{
    for (size_t i = 0; i < import->n; i++) {
        struct perfmodel_report report = {.name = import->models[i].symbol};
        struct orr_error err = {""};

        if (perfmodel_write(import->paths[i], &import->models[i].data,
                            import->mode, &report, &err) < 0) {
            tool_error("perfmodel import: %s", err.text);
            if (i > 0)
                tool_error("before it %zu model%s written", i,
                           i == 1 ? " was" : "s were");
            return -1;
        }
        if (import_report_file(import, import->paths[i], &report) < 0)
            return tool_fail(-1,
                             "out of memory for what was done; %zu model%s "
                             "written",
                             i + 1, i == 0 ? " was" : "s were");
    }
    return 0;
}

static int import_file(const struct perfmodel_place *place, const char *file,
                       const char *host, enum perfmodel_mode mode, bool says)
{
    struct import import = {.mode = mode};
    json_t *json = read_json(file);
    int rc;

    if (!json)
        return TOOL_FAILED;
    rc = take_models(&import, place, json_object_get(json, "models"), host);
    json_decref(json);
    if (says)
        import.written = json_array();
    if (rc == 0 && says && !import.written)
        rc = tool_fail(-1, "out of memory");
    if (rc == 0)
        rc = write_models(&import);
    if (rc == 0 && says)
        rc = tool_json_print(json_incref(import.written));
    json_decref(import.written);
    import_done(&import);
    return rc < 0 || fflush(stdout) != 0 ? TOOL_FAILED : TOOL_OK;
}

int perfmodel_import(int argc, char **argv)
{
    const struct perfmodel_choice choice = {NULL, NULL};
    const char *host = NULL;
    bool force = false, merge = false, says = false;
    const struct tool_option options[] = {{0, "host", &host, NULL},
                                          {0, "force", NULL, &force},
                                          {0, "merge", NULL, &merge},
                                          {0, "json", NULL, &says},
                                          {0}};
    struct perfmodel_place place;
    int noperands = 0,
        rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (noperands != 1 || (force && merge)) {
        tool_error(noperands != 1 ? "perfmodel import: name one FILE"
                                  : "perfmodel import: --force or --merge, not "
                                    "both");
        return TOOL_USAGE;
    }
    if (perfmodel_open(&choice, &place) < 0)
        return TOOL_FAILED;
    rc = import_file(&place, argv[1], host,
                     force   ? PERFMODEL_REPLACE
                     : merge ? PERFMODEL_JOIN
                             : PERFMODEL_NEW,
                     says);
    perfmodel_close(&place);
    return rc;
}
