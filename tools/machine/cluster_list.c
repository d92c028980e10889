/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/cluster_list.c - the clusters that have files, for `orrery machine list`.
 * One thread. */
#include "tools/machine/cluster.h"

#include "tools/common/json.h"
#include "tools/common/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* State while clusters are visited. */
struct listing {
    const char *const *sampling_dirs;
    struct table table;
    json_t *json; /* borrowed; NULL: a table is wanted */
};

/* One of them; what could not be read has no line, but a problem. */
struct listed {
    const char *name, *path, *line, *problem;
    const struct orr_cluster_desc *desc;
};

static int add_json(struct listing *listing, const struct listed *item)
{
    json_t *row =
        json_pack("{s:o, s:o, s:b, s:o}", "name", tool_json_text(item->name),
                  "path", tool_json_text(item->path), "catalogue", 0, "cluster",
                  tool_json_text(item->line));

    if (item->line)
        json_object_update_new(
            row,
            json_pack("{s:i, s:o}", "nodes", (int)item->desc->nnodes,
                      "description", tool_json_text(item->desc->description)));
    else
        json_object_set_new(row, "error", tool_json_text(item->problem));
    return json_array_append_new(listing->json, row) < 0 ? -ENOMEM : 0;
}

static int add_row(struct listing *listing, const struct listed *item)
{
    struct table *table = &listing->table;
    const char *about = item->line ? item->desc->description : item->problem;

    table_add(table, "%s", item->name);
    table_add(table, item->line ? "%u" : "-", item->desc->nnodes);
    table_add(table, "%s", item->line ? item->line : "broken");
    table_add(table, "%s", about ? about : item->path);
    return table->failed ? -ENOMEM : 0;
}

static int list_visit(const char *name, const char *path, void *arg)
{
    struct listing *listing = arg;
    struct orr_cluster_desc desc = {0};
    struct orr_error err = {""};
    int rc = orr_cluster_load(path, listing->sampling_dirs, &desc, &err);
    char *line = rc == 0 ? orr_cluster_line(&desc) : NULL;
    struct listed item = {name, path, line, err.text, &desc};

    if (rc == 0 && !line)
        rc = -ENOMEM;
    if (rc != -ENOMEM)
        rc = listing->json ? add_json(listing, &item) : add_row(listing, &item);
    free(line);
    orr_cluster_free(&desc);
    return rc;
}

int machine_cluster_list(const char *const *sampling_dirs, json_t *json)
{
    static const struct table_column columns[] = {
        {"cluster", false},
        {"nodes", true},
        {"in one line", false},
        {"description or file", false}};
    struct listing listing = {.sampling_dirs = sampling_dirs, .json = json};
    int rc = orr_cluster_list(sampling_dirs, list_visit, &listing);

    if (rc < 0 || !listing.table.n) {
        table_done(&listing.table);
        return rc;
    }
    putchar('\n');
    return table_end(&listing.table, columns,
                     sizeof(columns) / sizeof(*columns));
}
