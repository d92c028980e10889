/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/list.c - `orrery perfmodel list`: the model files there are,
 * a line each. One thread.
 */
#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/json.h"
#include "tools/perfmodel/perfmodel.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery perfmodel list [-m MACHINE] [--host HOST] [--json]\n"
    "Lists the models of kernels in the sampling directories, of all hosts or of one.\n"
    "  -m, --machine MACHINE  those of a machine, also those packed with it\n"
    "      --host HOST        those of this host only\n"
    "      --json             as JSON\n"
    "`calibrated` counts the entries with enough samples for a real run\n"
    "(STARPU_CALIBRATE_MINIMUM, 10). `side file` is whether robust statistics\n"
    "belong to the present model: stale ones are ignored, since another program has\n"
    "written the model. `origin` is where the times come from, and of how many\n"
    "entries if that differs. A shadowed file is never read: an earlier directory has\n"
    "one of the same name.\n"
    "Exit codes: 0; 1 when a file is broken; 2 for a wrong command line.\n"
    "example: orrery perfmodel list --host mirage\n";

#define NCOLUMNS 9

struct listing {
    const struct perfmodel_place *place;
    struct table table;
    size_t n;     /* files */
    json_t *json; /* NULL: a table is wanted */
    unsigned minimum;
    unsigned nbroken;
};

/* The content of a file, all device sets together. */
struct totals {
    char *archs; /* owned: "cpu0 cuda0" */
    unsigned nentries, ncalibrated;
    unsigned long long nsamples;
    struct perfmodel_origins origins;
};

static int totals_arch(struct totals *totals, const char *arch)
{
    char *longer = tool_format("%s%s%s", totals->archs ? totals->archs : "",
                               totals->archs ? " " : "", arch);

    if (!longer)
        return -ENOMEM;
    free(totals->archs);
    totals->archs = longer;
    return 0;
}

static int totals_make(const struct orr_model_file *file, unsigned minimum,
                       struct totals *ret)
{
    struct totals totals = {0};

    for (unsigned c = 0; c < file->ncombs; c++) {
        const struct orr_model_comb *comb = &file->combs[c];
        char text[PERFMODEL_TEXT];

        perfmodel_arch_text(comb->devices, comb->ndevices, text);
        if (totals_arch(&totals, text) < 0) {
            free(totals.archs);
            return -ENOMEM;
        }
        for (unsigned i = 0; i < comb->nimpls; i++)
            for (unsigned r = 0; r < comb->impls[i].nrows; r++) {
                unsigned n = comb->impls[i].rows[r].n;

                totals.nentries++;
                totals.nsamples += n;
                totals.ncalibrated += n >= minimum;
            }
    }
    *ret = totals;
    return 0;
}

static void add_calibrated(struct table *table, const struct totals *totals)
{
    if (!totals->nentries)
        table_add(table, "empty");
    else if (totals->ncalibrated == totals->nentries)
        table_add(table, "yes");
    else if (!totals->ncalibrated)
        table_add(table, "no");
    else
        table_add(table, "%u of %u", totals->ncalibrated, totals->nentries);
}

/* A line of the table; totals NULL: the file is broken for a reason. */
static int listing_add_row(struct listing *listing,
                           const struct perfmodel_item *item,
                           const struct totals *totals, const char *side,
                           const char *problem)
{
    struct table *table = &listing->table;
    char origins[PERFMODEL_ORIGINS_TEXT];

    table_add(table, "%s", item->symbol);
    table_add(table, "%s", item->host);
    if (totals) {
        table_add(table, "%s", totals->archs ? totals->archs : "-");
        table_add(table, "%u", totals->nentries);
        table_add(table, "%llu", totals->nsamples);
        add_calibrated(table, totals);
        table_add(table, "%s",
                  perfmodel_origins_text(&totals->origins, origins));
    } else {
        for (int c = 0; c < 3; c++)
            table_add(table, "-");
        table_add(table, "broken");
        table_add(table, "-");
    }
    table_add(table, "%s", side);
    table_add(table, "%s%s", problem ? problem : item->dir,
              item->shadowed && !problem ? " (shadowed)" : "");
    listing->n++;
    return table->failed ? -ENOMEM : 0;
}

static int listing_add_json(struct listing *listing,
                            const struct perfmodel_item *item,
                            const struct totals *totals, const char *side,
                            const char *problem)
{
    json_t *row = json_pack(
        "{s:o, s:o, s:o, s:b}", "symbol", tool_json_text(item->symbol), "host",
        tool_json_text(item->host), "path", tool_json_text(item->path),
        "shadowed", item->shadowed);

    if (totals) {
        json_t *archs = json_array();
        char *saved = NULL;

        for (char *arch = totals->archs ? strtok_r(totals->archs, " ", &saved)
                                        : NULL;
             arch; arch = strtok_r(NULL, " ", &saved))
            json_array_append_new(archs, json_string(arch));
        json_object_set_new(row, "architectures", archs);
        json_object_set_new(row, "entries", json_integer(totals->nentries));
        json_object_set_new(row, "samples",
                            json_integer((json_int_t)totals->nsamples));
        json_object_set_new(row, "calibrated",
                            json_integer(totals->ncalibrated));
        perfmodel_json_origins(row, "origin", &totals->origins);
        json_object_set_new(row, "side_file", tool_json_text(side));
    } else {
        json_object_set_new(row, "error", tool_json_text(problem));
    }
    return json_array_append_new(listing->json, row) < 0 ? -ENOMEM : 0;
}

static int listing_visit_model(const struct perfmodel_item *item, void *arg)
{
    struct listing *listing = arg;
    struct perfmodel_data data;
    struct orr_error err = {""};
    struct totals totals = {0};
    const char *side = "-";
    int rc = perfmodel_load(item->path, &data, &err);
    bool loaded = rc == 0;

    if (rc == -ENOMEM || rc == -ENOENT)
        return rc == -ENOMEM ? rc : 0; /* it was removed meanwhile */
    if (loaded) {
        rc = totals_make(data.file, listing->minimum, &totals);
        perfmodel_count_origins(
            &data, perfmodel_origin(listing->place, item->path, data.file),
            &totals.origins);
        side = perfmodel_side_text(data.state);
        perfmodel_unload(&data);
        if (rc < 0)
            return rc;
    } else if (rc == -ENODATA) { /* StarPU counts an empty file as absent */
        loaded = true;
    } else {
        listing->nbroken++;
    }
    rc = (listing->json ? listing_add_json : listing_add_row)(
        listing, item, loaded ? &totals : NULL, side, loaded ? NULL : err.text);
    free(totals.archs);
    return rc;
}

static int listing_print(struct listing *listing)
{
    static const struct table_column columns[NCOLUMNS] = {
        {"symbol", false}, {"host", false},      {"architectures", false},
        {"entries", true}, {"samples", true},    {"calibrated", false},
        {"origin", false}, {"side file", false}, {"directory", false}};

    if (listing->json)
        return tool_json_print(json_incref(listing->json));
    return listing->n ? table_end(&listing->table, columns, NCOLUMNS) : 0;
}

static int list_models(const struct perfmodel_place *place, bool json)
{
    struct listing listing = {.place = place,
                              .json = json ? json_array() : NULL,
                              .minimum = perfmodel_minimum()};
    int rc = perfmodel_each(place, place->chosen ? place->host : NULL,
                            listing_visit_model, &listing);

    if (rc == 0)
        rc = listing_print(&listing);
    if (rc < 0)
        tool_error("perfmodel list: %s", strerror(-rc));
    else if (!json && !listing.n)
        tool_error("there are no models%s%s; a program with "
                   "STARPU_CALIBRATE=1 makes them",
                   place->chosen ? " of host " : "",
                   place->chosen ? place->host : "");
    table_done(&listing.table);
    json_decref(listing.json);
    return rc == 0 && !listing.nbroken && fflush(stdout) == 0 ? TOOL_OK
                                                              : TOOL_FAILED;
}

int perfmodel_list(int argc, char **argv)
{
    struct perfmodel_choice choice = {NULL, NULL};
    bool json = false;
    const struct tool_option options[] = {
        {'m', "machine", &choice.machine, NULL},
        {0, "host", &choice.host, NULL},
        {0, "json", NULL, &json},
        {0}};
    struct perfmodel_place place;
    int noperands = 0,
        rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (noperands > 0) {
        tool_error("perfmodel list: %s is not understood; it takes options "
                   "only",
                   argv[1]);
        return TOOL_USAGE;
    }
    if (perfmodel_open(&choice, &place) < 0)
        return TOOL_FAILED;
    rc = list_models(&place, json);
    perfmodel_close(&place);
    return rc;
}
