/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/project_size.c - `orrery perfmodel project --size`: the times of
 * sizes that were not measured, from those that were (perfmodel/project.h), and how
 * to assume them. It writes no model: rows are by footprint, which only the program
 * knows. One thread.
 */
#include "tools/perfmodel/project_size.h"
#include "perfmodel/project.h"
#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/estimates.h"
#include "tools/perfmodel/project_work.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sizes {
    const struct project_size_options *options;
    struct table table;
    json_t *rows;  /* owned: an array, NULL where a table is printed */
    char *assumed; /* owned: lines to assume */
    unsigned nrows;
};

/* The measures of one implementation over work of that kind; owned. NULL
 * without memory. */
static struct orr_work_point *
impl_work_points(const struct perfmodel_data *data,
                 const struct orr_model_comb *comb, enum orr_work kind,
                 unsigned *ret_n)
{
    const struct orr_model_impl *impl = &comb->impls[0];
    struct orr_work_point *points = calloc(impl->nrows + 1, sizeof(*points));

    *ret_n = 0;
    for (unsigned r = 0; points && r < impl->nrows; r++) {
        const struct orr_model_row *row = &impl->rows[r];
        struct perfmodel_known known;

        if (perfmodel_know(data->side, comb, 0, row, &known) < 0) {
            free(points);
            return NULL;
        }
        if (known.estimate > 0 && row->size > 0)
            points[(*ret_n)++] = (struct orr_work_point){
                project_work_at(data->file, kind, (double)row->size),
                known.estimate,
                known.half_width > 0 ? known.half_width / 2 : 0};
    }
    return points;
}

static int note_assumption(struct sizes *s, const char *symbol,
                           const char *arch, double us)
{
    char *longer = tool_format("%s  --assume 'kernel[%s] on %s = %.4gus'\n",
                               s->assumed ? s->assumed : "", symbol, arch, us);

    free(s->assumed);
    s->assumed = longer;
    return longer ? 0 : -ENOMEM;
}

static int sizes_add_json(struct sizes *s, const char *symbol, const char *arch,
                          uint64_t size, const struct orr_projection *there,
                          unsigned n, enum orr_work kind)
{
    json_t *row = json_pack(
        "{s:o, s:s, s:I, s:o, s:o, s:i, s:s}", "model", tool_json_text(symbol),
        "architecture", arch, "size", (json_int_t)size, "us",
        tool_json_number(there->us), "off_by", tool_json_number(there->off_by),
        "from_sizes", (int)n, "by", project_work_name(kind));

    return json_array_append_new(s->rows, row) < 0 ? -ENOMEM : 0;
}

static int add_size(struct sizes *s, const char *symbol,
                    const struct perfmodel_data *data,
                    const struct orr_model_comb *comb, uint64_t size)
{
    const struct orr_model_file *file = data->file;
    const struct orr_model_impl *impl = &comb->impls[0];
    bool is_core = comb->devices[0].type == ORR_DEVICE_CPU;
    const char *arch = orr_device_type_name(comb->devices[0].type);
    enum orr_work kind = project_work_choose(file, impl, is_core, (double)size);
    struct orr_projection there;
    unsigned n;
    struct orr_work_point *points = impl_work_points(data, comb, kind, &n);
    int rc = -ENOMEM;

    if (points && n == 0) {
        free(points);
        return 0;
    }
    if (points)
        rc =
            orr_project_size(points, n, kind, is_core,
                             project_work_at(file, kind, (double)size), &there);
    free(points);
    if (rc < 0)
        return rc;
    s->nrows++;
    if (s->rows)
        return sizes_add_json(s, symbol, arch, size, &there, n, kind);
    table_add(&s->table, "%s", symbol);
    table_add(&s->table, "%s", arch);
    table_add(&s->table, "%" PRIu64, size);
    table_add(&s->table, "%.4g", there.us);
    table_add(&s->table, "%.0f %%", 100 * there.off_by);
    table_add(&s->table, "%u", n);
    table_add(&s->table, "%s", project_work_name(kind));
    return note_assumption(s, symbol, arch, there.us);
}

static int visit_comb(struct sizes *s, const struct perfmodel_item *item,
                      const struct perfmodel_data *data,
                      const struct orr_model_comb *comb)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->options->nsizes; i++)
        rc = add_size(s, item->symbol, data, comb, s->options->sizes[i]);
    return rc;
}

static bool is_single(const struct orr_model_comb *comb)
{
    return comb->ndevices == 1 && comb->devices[0].ncores == 1 &&
           comb->nimpls > 0 && comb->impls[0].nrows > 0;
}

/* Of its type of device: one answers for all. */
static bool is_first_of_device_type(const struct orr_model_file *file,
                                    unsigned c)
{
    for (unsigned i = 0; i < c; i++)
        if (is_single(&file->combs[i]) &&
            file->combs[i].devices[0].type == file->combs[c].devices[0].type)
            return false;
    return is_single(&file->combs[c]);
}

static int sizes_visit_model(const struct perfmodel_item *item, void *arg)
{
    struct sizes *s = arg;
    struct perfmodel_data data = {0};
    struct orr_error err = {""};
    bool wanted = s->options->nsymbols == 0;
    int rc;

    for (int i = 0; i < s->options->nsymbols; i++)
        wanted =
            wanted || fnmatch(s->options->symbols[i], item->symbol, 0) == 0;
    if (item->shadowed || !wanted || !*item->host)
        return 0;
    rc = perfmodel_load(item->path, &data, &err);
    if (rc < 0 && rc != -ENOMEM) { /* broken: the others are projected */
        tool_report(&err, rc);
        return 0;
    }
    for (unsigned c = 0; rc == 0 && c < data.file->ncombs; c++)
        if (is_first_of_device_type(data.file, c))
            rc = visit_comb(s, item, &data, &data.file->combs[c]);
    perfmodel_unload(&data);
    return rc;
}

int project_sizes(const struct project_size_options *options)
{
    static const struct table_column columns[] = {
        {"model", false},   {"architecture", false}, {"size", true},
        {"about µs", true}, {"off by up to", true},  {"from sizes", true},
        {"by their", false}};
    struct perfmodel_choice choice = {.machine = options->machine,
                                      .host = options->host};
    struct sizes s = {.options = options};
    struct perfmodel_place place;
    int rc;

    if (perfmodel_open(&choice, &place) < 0)
        return TOOL_FAILED;
    if (options->json)
        s.rows = json_array();
    rc = options->json && !s.rows
             ? -ENOMEM
             : perfmodel_each(&place, place.host, sizes_visit_model, &s);
    if (rc == 0 && s.nrows)
        rc = s.rows ? tool_json_print(json_incref(s.rows))
                    : table_end(&s.table, columns, 7);
    if (rc < 0)
        tool_error("out of memory");
    else if (s.nrows && !s.rows)
        printf(
            "Some nine of ten lie within that range. Simulations take such a time "
            "by%s\n%s",
            options->nsizes > 1 ? ", for one size at once," : "", s.assumed);
    else if (!s.nrows)
        tool_error(
            "perfmodel project: no such model of %s has a measured size; "
            "orrery perfmodel list --host %s shows what there is",
            place.host, place.host);
    table_done(&s.table);
    json_decref(s.rows);
    free(s.assumed);
    perfmodel_close(&place);
    return rc == 0 && s.nrows ? TOOL_OK : TOOL_FAILED;
}
