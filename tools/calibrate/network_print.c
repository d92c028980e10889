/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/calibrate/network_print.c - what `orrery calibrate network` has measured, as tables
 * and as JSON. One thread. */
#include "tools/calibrate/network.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/base/plural.h"
#include "tools/common/json.h"
#include "tools/common/table.h"

enum { COLUMNS = 5 };

static const char *way_text(const struct network_way *way)
{
    return strcmp(way->name, "node") == 0 ? "within a node" : "between nodes";
}

static const struct {
    const char *name, *text;
    bool rate;
} texts[] = {
    {"time", "one way", false},
    {"send", "of the sender's processor", false},
    {"match", "of the receiver's processor", false},
    {"late", "the same, when it had come before", false},
    {"look", "of a processor to look for one", false},
    {"forth", "one direction", true},
    {"back", "the other direction", true},
    {"both", "both directions together", true},
};

static void add_figure(struct table *table, const struct network_way *way,
                       const struct network_figure *figure)
{
    size_t i = 0;

    while (strcmp(texts[i].name, figure->name) != 0)
        i++;
    table_add(table, "%s", way_text(way));
    table_add(table, "%s", texts[i].text);
    if (figure->bytes > 0)
        table_add(table, "%.0f", figure->bytes);
    else
        table_add(table, "-");
    if (texts[i].rate)
        table_add(table, "%.4g GB/s", figure->median * 1e-3);
    else
        table_add(table, "%.4g us", figure->median);
    table_add(table, "%.1f %%", 100 * figure->spread);
}

static void add_way(struct table *table, const struct network_way *way)
{
    for (unsigned i = 0; way->measured && i < way->nfigures; i++)
        add_figure(table, way, &way->figures[i]);
}

static void print_eager(const struct network_way *way)
{
    if (way->measured)
        printf("Messages %s of up to %.0f bytes are sent before anybody asks for them.\n",
               way_text(way), way->eager);
}

int network_print(const struct network_measures *measures, const char *words,
                  const char *path)
{
    static const struct table_column columns[COLUMNS] = {
        {"ranks", false}, {"what", false}, {"bytes", true}, {"median", true}, {"spread", true}};
    struct table table = {0};
    int rc;

    add_way(&table, &measures->node);
    add_way(&table, &measures->net);
    rc = table_end(&table, columns, COLUMNS);
    if (rc < 0)
        return rc;
    print_eager(&measures->node);
    print_eager(&measures->net);
    if (measures->incast.n)
        printf("All %u others to one rank together: %.4g GB/s.\n", measures->nsenders,
               measures->incast.median * 1e-3);
    printf("%u rank%s on %u host%s, %u repetition%s\nnetwork: %s\n%s\n", measures->ranks,
           orr_plural(measures->ranks), measures->hosts, orr_plural(measures->hosts),
           measures->repetitions, orr_plural(measures->repetitions), words, path);
    return 0;
}

/* ---- JSON ---- */

static json_t *figures_json(const struct network_way *way)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < way->nfigures; i++) {
        const struct network_figure *figure = &way->figures[i];

        json_array_append_new(array, json_pack("{s:s, s:f, s:f, s:f, s:i}", "figure",
                                               figure->name, "bytes", figure->bytes, "median",
                                               figure->median, "spread", figure->spread,
                                               "samples", (int)figure->n));
    }
    return array;
}

static json_t *speeds_json(const struct orr_fabric_speeds *speeds)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < speeds->n; i++)
        json_array_append_new(array, json_pack("{s:f, s:f}", "bytes", speeds->at[i].bytes,
                                               "bytes_per_second",
                                               speeds->at[i].bandwidth * 1e6));
    return array;
}

static json_t *way_json(const struct network_way *way)
{
    const struct network_model *model = &way->model;

    if (!way->measured)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f, s:o, s:f, s:o, s:o}", "latency_us",
                     model->latency_us, "send_us", model->send_us, "match_us",
                     model->match_us, "eager_bytes", way->eager, "copy_bytes_per_second",
                     model->copy > 0 ? json_real(model->copy * 1e6) : json_null(),
                     "together_bytes_per_second", model->total * 1e6, "speeds",
                     speeds_json(&model->speeds), "figures", figures_json(way));
}

int network_print_json(const struct network_measures *measures, const char *words,
                       const char *path)
{
    return tool_json_print(json_pack(
        "{s:s, s:s, s:i, s:i, s:i, s:f, s:f, s:o, s:o, s:o, s:o}", "cluster", path, "network",
        words, "ranks", (int)measures->ranks, "hosts", (int)measures->hosts, "repetitions",
        (int)measures->repetitions, "spread", network_spread(measures), "asymmetry",
        network_asymmetry(measures), "incast",
        measures->incast.n ? json_real(network_incast(measures)) : json_null(), "quiet",
        quiet_json(&measures->quiet), "node", way_json(&measures->node), "between_nodes",
        way_json(&measures->net)));
}
