/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/place.c - the directories and the host of the verbs of
 * `orrery perfmodel`, and the files there. One thread.
 */
#include "tools/common/tool.h"
#include "tools/perfmodel/perfmodel.h"

#include "core/base/installed.h"
#include "platforms/machine_desc.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The models of an exported machine and their host. */
static int sampling_open_machine(const char *name,
                                 struct orr_machine_desc **ret,
                                 struct orr_error *err)
{
    struct orr_sampling *sampling;
    char data[PATH_MAX];
    int rc = orr_sampling_from_env(orr_getenv, orr_data_directory(data), &sampling);

    if (rc < 0)
        return rc;
    rc = orr_machine_desc_load(name, orr_sampling_dirs(sampling), ret, err);
    orr_sampling_free(sampling);
    return rc;
}

static int open_place(const struct perfmodel_choice *choice,
                      const struct orr_machine_desc *machine,
                      struct perfmodel_place *ret, struct orr_error *err)
{
    char data[PATH_MAX];
    struct orr_sampling_options dirs = {
        .perf_model_dir = orr_getenv("STARPU_PERF_MODEL_DIR"),
        .machine_dir = machine ? machine->sampling_dir : NULL,
        .home = orr_sampling_home(orr_getenv),
        .perf_model_path = orr_getenv("STARPU_PERF_MODEL_PATH"),
        .datadir = orr_data_directory(data),
    };
    struct orr_host_options host = {
        .hostname = choice->host ? choice->host : orr_getenv("STARPU_HOSTNAME"),
        .machine = machine ? machine->host : NULL,
    };
    struct perfmodel_place place = {
        .chosen = choice->machine || choice->host,
    };
    int rc = orr_host_name(&host, &place.host, err);

    if (rc == 0)
        rc = orr_sampling_new(&dirs, &place.sampling);
    if (rc == 0 && machine && machine->sampling_dir && machine->provenance &&
        strcmp(machine->provenance, "measured") != 0) {
        place.derived_dir = strdup(machine->sampling_dir);
        rc = place.derived_dir ? 0 : -ENOMEM;
    }
    if (rc < 0) {
        orr_sampling_free(place.sampling);
        free(place.host);
        return rc;
    }
    *ret = place;
    return 0;
}

int perfmodel_open_place(const struct perfmodel_choice *choice,
                         struct perfmodel_place *ret, struct orr_error *err)
{
    struct orr_machine_desc *machine = NULL;
    int rc = choice->machine
                 ? sampling_open_machine(choice->machine, &machine, err)
                 : 0;

    if (rc == 0)
        rc = open_place(choice, machine, ret, err);
    orr_machine_desc_free(machine);
    return rc;
}

int perfmodel_open(const struct perfmodel_choice *choice,
                   struct perfmodel_place *ret)
{
    struct orr_error err = {""};
    int rc = perfmodel_open_place(choice, ret, &err);

    if (rc < 0)
        tool_report(&err, rc);
    return rc;
}

void perfmodel_close(struct perfmodel_place *place)
{
    orr_sampling_free(place->sampling);
    free(place->host);
    free(place->derived_dir);
    *place = (struct perfmodel_place){0};
}

enum orr_origin perfmodel_origin(const struct perfmodel_place *place,
                                 const char *path,
                                 const struct orr_model_file *file)
{
    size_t n = place->derived_dir ? strlen(place->derived_dir) : 0;

    if (file && file->origin != ORR_ORIGIN_UNKNOWN)
        return file->origin;
    return n > 0 && !strncmp(path, place->derived_dir, n) && path[n] == '/'
               ? ORR_ORIGIN_DERIVED
               : ORR_ORIGIN_MEASURED;
}

/* -- all files -- */

struct each {
    const char *host; /* NULL: all */
    int (*visit)(const struct perfmodel_item *item, void *arg);
    void *arg;
};

/* Cuts path and name into the parts of an item. */
static int each_file(const char *path, const char *name, bool shadowed,
                     void *arg)
{
    const struct each *each = arg;
    const char *dot = strchr(name, '.');
    struct perfmodel_item item = {
        .path = path,
        .name = name,
        .host = dot ? dot + 1 : "",
        .shadowed = shadowed,
    };
    char *symbol, *dir;
    int rc = -ENOMEM;

    if (each->host && strcmp(each->host, item.host) != 0)
        return 0;
    symbol = strndup(name, strcspn(name, "."));
    dir = strndup(path, (size_t)(strrchr(path, '/') - path));
    if (symbol && dir) {
        item.symbol = symbol;
        item.dir = dir;
        rc = each->visit(&item, each->arg);
    }
    free(symbol);
    free(dir);
    return rc;
}

int perfmodel_each(const struct perfmodel_place *place, const char *host,
                   int (*visit)(const struct perfmodel_item *item, void *arg),
                   void *arg)
{
    struct each each = {host, visit, arg};

    return orr_sampling_each(place->sampling, ORR_SAMPLING_CODELETS, each_file,
                             &each);
}

/* -- one file -- */

/* Gathers "mirage, attila": the hosts that have a model of a symbol. */
struct others {
    const char *symbol;
    char *hosts; /* owned; NULL without */
};

static int add_other(const struct perfmodel_item *item, void *arg)
{
    struct others *others = arg;
    char *longer;

    if (item->shadowed || strcmp(item->symbol, others->symbol) != 0)
        return 0;
    longer = others->hosts ? tool_format("%s, %s", others->hosts, item->host)
                           : tool_format("%s", item->host);
    if (!longer)
        return -ENOMEM;
    free(others->hosts);
    others->hosts = longer;
    return 0;
}

static void report_missing(const struct perfmodel_place *place,
                           const char *symbol)
{
    struct others others = {symbol, NULL};

    if (perfmodel_each(place, NULL, add_other, &others) < 0)
        tool_error("out of memory");
    else if (others.hosts)
        tool_error("there is no model %s of host %s, but of %s: name one with "
                   "--host",
                   symbol, place->host, others.hosts);
    else
        tool_error("there is no model %s of host %s; orrery perfmodel list "
                   "shows those there are. It is looked for in "
                   "STARPU_PERF_MODEL_DIR, ~/.starpu/sampling and "
                   "STARPU_PERF_MODEL_PATH",
                   symbol, place->host);
    free(others.hosts);
}

int perfmodel_find(const struct perfmodel_place *place, const char *symbol,
                   char **ret)
{
    struct orr_error err = {""};
    char *name = NULL;
    int rc = orr_model_name(symbol, place->host, &name, &err);

    if (rc == 0)
        rc = orr_sampling_find(place->sampling, ORR_SAMPLING_CODELETS, name,
                               ret);
    if (rc == -ENOENT)
        report_missing(place, symbol);
    else if (rc < 0)
        tool_report(&err, rc);
    free(name);
    return rc;
}
