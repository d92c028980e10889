/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/model_files.c - looking at model files, for tools: which there are,
 * and loading one. Works without starpu_init. One thread.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/api.h"
#include "core/api/model.h"
#include "core/base/installed.h"
#include "core/cost/estimates.h"
#include "perfmodel/side.h"

/* The search path of the runtime, or else one of our own. */
struct places {
    const struct orr_sampling *sampling;
    struct orr_sampling *own;
};

static int places_open(const char *call, struct places *ret)
{
    struct orr_runtime *rt = orr_runtime_current(call);
    char data[PATH_MAX];
    int rc = 0;

    *ret = (struct places){rt ? rt->estimates->sampling : NULL, NULL};
    if (!rt) {
        rc = orr_sampling_from_env(orr_getenv, orr_data_directory(data), &ret->own);
        ret->sampling = ret->own;
    }
    if (rc < 0)
        orr_log_error("%s: out of memory", call);
    return rc;
}

static void places_close(struct places *places)
{
    orr_sampling_free(places->own);
}

/* The path of the model's file, for the caller to free. */
static int find_file(const char *call, const char *symbol, char **ret)
{
    struct orr_runtime *rt = orr_runtime_current(call);
    struct orr_host_options options = {
        .hostname = getenv("STARPU_HOSTNAME"),
        .machine = rt ? rt->machine->host : NULL,
    };
    struct orr_error err = {""};
    struct places places;
    char *host = NULL, *name = NULL;
    int rc = places_open(call, &places);

    if (rc < 0)
        return rc;
    rc = orr_host_name(&options, &host, &err);
    if (rc == 0)
        rc = orr_model_name(symbol, host, &name, &err);
    if (rc == 0)
        rc = orr_sampling_find(places.sampling, ORR_SAMPLING_CODELETS, name,
                               ret);
    if (rc < 0 && err.text[0])
        orr_log_error("%s: %s", call, err.text);
    free(name);
    free(host);
    places_close(&places);
    return rc;
}

void starpu_perfmodel_get_model_path(const char *symbol, char *path,
                                     size_t maxlen)
{
    ORR_QUESTION();
    char *found = NULL;

    if (find_file(__func__, symbol, &found) < 0)
        found = NULL;
    snprintf(path, maxlen, "%s", found ? found : "");
    free(found);
}

/* -- loading -- */

int starpu_perfmodel_load_file(const char *filename,
                               struct starpu_perfmodel *model)
{
    struct _starpu_perfmodel_state *state = orr_api_model_state(model);
    char *path = strdup(filename);
    struct orr_error err = {""};
    struct orr_model_file *file;

    if (!state || !path || orr_model_file_read(filename, &file, &err) < 0) {
        if (err.text[0])
            orr_log_error("%s: %s", __func__, err.text);
        free(path);
        return 1;
    }
    orr_model_file_free(state->file);
    free(state->path);
    state->file = file;
    state->path = path;
    orr_api_model_read(state);
    model->is_loaded = 1;
    return 0;
}

/* A name that carries its host may be meant without it. */
static int find_shortened(const char *call, const char *symbol, char **ret)
{
    const char *dot = strrchr(symbol, '.');
    char *shorter = dot ? strndup(symbol, (size_t)(dot - symbol)) : NULL;
    int rc = shorter ? find_file(call, shorter, ret) : -ENOENT;

    if (rc == 0)
        orr_log_notice("there is no model `%s', showing `%s'", symbol, shorter);
    free(shorter);
    return rc;
}

int starpu_perfmodel_load_symbol(const char *symbol,
                                 struct starpu_perfmodel *model)
{
    ORR_QUESTION();
    char *path = NULL;
    int rc = find_file(__func__, symbol, &path);

    if (rc == -ENOENT)
        rc = find_shortened(__func__, symbol, &path);
    if (rc == 0)
        rc = starpu_perfmodel_load_file(path, model);
    free(path);
    return rc == 0 ? 0 : 1;
}

/* -- raw measures -- */

char *orr_api_model_side(const struct starpu_perfmodel *model)
{
    char *found = NULL, *side = NULL;
    const char *path = model->state ? model->state->path : NULL;

    if (!path && model->symbol &&
        find_file("starpu_perfmodel_debugfilepath", model->symbol, &found) == 0)
        path = found;
    if (path && orr_side_path(path, &side) < 0)
        side = NULL;
    free(found);
    return side;
}

void starpu_perfmodel_debugfilepath(struct starpu_perfmodel *model,
                                    struct starpu_perfmodel_arch *arch,
                                    char *path, size_t maxlen, unsigned nimpl)
{
    ORR_QUESTION();
    char *side = orr_api_model_side(model);

    (void)arch; /* one file has them all */
    (void)nimpl;
    snprintf(path, maxlen, "%s", side ? side : "");
    free(side);
}

/* -- lists -- */

void starpu_perfmodel_directory(FILE *output)
{
    ORR_QUESTION();
    struct places places;

    if (places_open(__func__, &places) < 0)
        return;
    for (const char *const *dir = orr_sampling_dirs(places.sampling); *dir;
         dir++)
        fprintf(output, "directory: <%s/%s>\n", *dir, ORR_SAMPLING_CODELETS);
    places_close(&places);
}

static int print_name(const char *path, const char *name, bool shadowed,
                      void *arg)
{
    (void)path;
    if (!shadowed)
        fprintf(arg, "file: <%s>\n", name);
    return 0;
}

int starpu_perfmodel_list(FILE *output)
{
    ORR_QUESTION();
    struct places places;
    int rc = places_open(__func__, &places);

    if (rc < 0)
        return 1;
    for (const char *const *dir = orr_sampling_dirs(places.sampling); *dir;
         dir++)
        fprintf(output, "codelet directory: <%s/%s>\n", *dir,
                ORR_SAMPLING_CODELETS);
    rc = orr_sampling_each(places.sampling, ORR_SAMPLING_CODELETS, print_name,
                           output);
    places_close(&places);
    return rc < 0 ? 1 : 0;
}
