/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/check.c - `orrery machine check`: how far the kernel times of
 * derived machines are from those of the nearest measured ones. One thread.
 *
 * A part of a derived machine, its cores or a kind of its devices, is compared
 * with the part of a measured machine whose published single-precision peak is
 * nearest. The measured time is carried over to the derived part: as it is when
 * both are the same part; by what the catalogue's law says of the two (law.h),
 * so that what is left is the law's error on the measured part; else by their
 * peaks. The derived machine's time is interpolated between its own tiles.
 */
#include "core/base/grow.h"
#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/machine/law.h"
#include "tools/machine/machine.h"

#include "platforms/rates.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery machine check [NAME | -m NAME] [--json]\n"
    "Compares the kernel times of a machine whose figures are derived with those of\n"
    "the nearest measured machine of the catalogue, for cores and each kind of\n"
    "device: each kernel and tile that was measured. Without NAME a line for each\n"
    "part of all derived machines of the catalogue.\n"
    "  -m, --machine NAME         the machine\n"
    "      --json                 as JSON\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine check a100-pcie-1\n";

/* ---- machines and their models ---- */

struct model {
    char *symbol;                /* owned */
    struct orr_model_file *file; /* owned */
};

struct machine {
    struct orr_machine_desc *desc; /* owned */
    struct model *models;          /* owned */
    unsigned nmodels;
};

struct machines {
    struct machine *items; /* owned */
    unsigned n;
    const char *const *sampling_dirs;
};

static void machine_done(struct machine *machine)
{
    for (unsigned i = 0; i < machine->nmodels; i++) {
        free(machine->models[i].symbol);
        orr_model_file_free(machine->models[i].file);
    }
    free(machine->models);
    orr_machine_desc_free(machine->desc);
}

static void machines_done(struct machines *machines)
{
    for (unsigned i = 0; i < machines->n; i++)
        machine_done(&machines->items[i]);
    free(machines->items);
}

/* Files that cannot be read are left out: machine show names them. */
static int machine_add_checked_model(const struct perfmodel_item *item,
                                     void *arg)
{
    struct machine *machine = arg;
    struct orr_model_file *file = NULL;
    int rc = orr_model_file_read(item->path, &file, NULL);
    struct model *model;

    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    model = orr_array_add(machine->models, machine->nmodels);
    if (!model) {
        orr_model_file_free(file);
        return -ENOMEM;
    }
    *model = (struct model){.symbol = strdup(item->symbol), .file = file};
    return model->symbol ? 0 : -ENOMEM;
}

/* Takes the description. */
static int add_machine(struct machines *machines, struct orr_machine_desc *desc)
{
    struct machine *machine = orr_array_add(machines->items, machines->n);

    if (!machine) {
        orr_machine_desc_free(desc);
        return -ENOMEM;
    }
    machine->desc = desc;
    return machine_models_each(desc, machine_add_checked_model, machine);
}

static int load_catalogue_machine(const struct orr_machine_entry *entry,
                                  void *arg)
{
    struct machines *machines = arg;
    struct orr_machine_desc *desc;
    int rc;

    if (!entry->catalogue)
        return 0;
    rc = orr_machine_desc_load(entry->path, machines->sampling_dirs, &desc,
                               NULL);
    if (rc < 0)
        return rc == -ENOMEM ? rc : 0; /* broken: machine list names it */
    return add_machine(machines, desc);
}

static bool machine_is_derived(const struct machine *machine)
{
    const char *figures = machine->desc->provenance;

    return figures && strcmp(figures, "derived") == 0;
}

static bool machine_is_measured(const struct machine *machine)
{
    return machine->desc->provenance && !machine_is_derived(machine);
}

/* ---- parts ---- */

/* The cores of a machine (number -1), or a kind of its devices. */
struct part {
    const struct machine *machine;
    int number;        /* of the first such device */
    const char *model; /* borrowed; NULL: not stated */
    double peaks[2];   /* flop per second; [1]: double precision; may be NaN */
};

static struct part part_of_machine(const struct machine *machine, int number)
{
    const struct orr_machine_desc *desc = machine->desc;
    struct part part = {.machine = machine, .number = number};
    char id[32] = "CPU0";
    int host;

    if (number >= 0)
        snprintf(id, sizeof(id), "CUDA%d", number);
    part.peaks[0] = orr_machine_desc_rate_of(desc, id, ORR_RATE_FP32);
    part.peaks[1] = orr_machine_desc_rate_of(desc, id, ORR_RATE_FP64);
    host = orr_machine_desc_host(desc, number < 0 ? "MAIN" : id);
    if (host >= 0)
        part.model = orr_host_desc_prop(&desc->hosts[host], "model");
    return part;
}

static bool parts_have_same_model(const struct part *a, const struct part *b)
{
    return a->model && b->model && strcmp(a->model, b->model) == 0;
}

/* Whether a device of a lower number is of the same kind. */
static bool is_repeated(const struct machine *machine, int number)
{
    struct part part = part_of_machine(machine, number), other;

    for (int i = 0; i < number; i++) {
        other = part_of_machine(machine, i);
        if (parts_have_same_model(&part, &other))
            return true;
    }
    return false;
}

static const struct orr_model_impl *impl_of(const struct model *model,
                                            int number)
{
    int type = number < 0 ? ORR_DEVICE_CPU : ORR_DEVICE_CUDA;

    for (unsigned c = 0; c < model->file->ncombs; c++) {
        const struct orr_model_comb *comb = &model->file->combs[c];

        if (comb->ndevices == 1 && comb->nimpls &&
            comb->devices[0].type == type && comb->devices[0].ncores == 1 &&
            comb->devices[0].devid == (number < 0 ? 0 : number))
            return &comb->impls[0];
    }
    return NULL;
}

static bool is_measured_row(const struct model *model,
                            const struct orr_model_row *row)
{
    return orr_model_row_origin(row, model->file->origin, false) ==
           ORR_ORIGIN_MEASURED;
}

static bool has_measures(const struct part *part)
{
    for (unsigned m = 0; m < part->machine->nmodels; m++) {
        const struct model *model = &part->machine->models[m];
        const struct orr_model_impl *impl = impl_of(model, part->number);

        for (unsigned r = 0; impl && r < impl->nrows; r++)
            if (is_measured_row(model, &impl->rows[r]))
                return true;
    }
    return false;
}

/* The measured part whose peak is nearest, the first by name of several. false:
 * there is none whose peak is known. */
static bool find_nearest(const struct machines *machines,
                         const struct part *part, struct part *ret)
{
    double best = (double)INFINITY;

    for (unsigned i = 0; i < machines->n; i++) {
        const struct machine *machine = &machines->items[i];
        struct part other = part_of_machine(machine, part->number < 0 ? -1 : 0);
        double distance = fabs(log(part->peaks[0] / other.peaks[0]));

        if (parts_have_same_model(part, &other))
            distance = -1;
        if (machine_is_measured(machine) && distance < best &&
            has_measures(&other)) {
            best = distance;
            *ret = other;
        }
    }
    return best < (double)INFINITY;
}

/* ---- comparing ---- */

struct comparison {
    const char *kernel; /* borrowed */
    double side;        /* of the tile, NaN: not known */
    double derived_us, measured_us, expected_us; /* expected: carried over */
    const char *by; /* "same part", "law", "peak" */
};

struct comparisons {
    struct comparison *items; /* owned */
    unsigned n;
};

static const struct orr_model_row *
model_row_below(const struct orr_model_impl *impl, uint64_t size)
{
    const struct orr_model_row *best = NULL;

    for (unsigned r = 0; r < impl->nrows; r++)
        if (impl->rows[r].size <= size &&
            (!best || impl->rows[r].size > best->size))
            best = &impl->rows[r];
    return best;
}

static const struct orr_model_row *
model_row_above(const struct orr_model_impl *impl, uint64_t size)
{
    const struct orr_model_row *best = NULL;

    for (unsigned r = 0; r < impl->nrows; r++)
        if (impl->rows[r].size >= size &&
            (!best || impl->rows[r].size < best->size))
            best = &impl->rows[r];
    return best;
}

/* Between the two rows around a size, as a power of it; NaN outside. */
static double interpolate_rows(const struct orr_model_impl *impl, uint64_t size)
{
    const struct orr_model_row *low = model_row_below(impl, size);
    const struct orr_model_row *high = model_row_above(impl, size);
    double part;

    if (!low || !high || !(low->mean > 0) || !(high->mean > 0))
        return (double)NAN;
    if (low->size == high->size)
        return low->mean;
    part = log((double)size / (double)low->size) /
           log((double)high->size / (double)low->size);
    return low->mean * pow(high->mean / low->mean, part);
}

/* What a measured time is on the derived part. */
static void carry_over(const struct part *from, const struct part *to,
                       const struct orr_model_row *row,
                       struct comparison *comparison)
{
    const struct machine_device *a = from->number >= 0 && from->model
                                         ? machine_device_find(from->model)
                                         : NULL;
    const struct machine_device *b =
        to->number >= 0 && to->model ? machine_device_find(to->model) : NULL;
    enum machine_kernel kernel = MACHINE_GEMM;
    bool is_double = false;
    bool known = machine_law_kernel(comparison->kernel, &kernel, &is_double);
    double factor = 1;

    comparison->by = "same part";
    if (parts_have_same_model(from, to)) {
        factor = 1;
    } else if (a && b && known && row->flops > 0) {
        comparison->by = "law";
        factor = machine_law_us(b, kernel, is_double, row->flops) /
                 machine_law_us(a, kernel, is_double, row->flops);
    } else {
        comparison->by = "peak";
        factor = from->peaks[is_double] / to->peaks[is_double];
    }
    comparison->expected_us = row->mean * factor;
    comparison->side = known && row->flops > 0
                           ? machine_law_side(kernel, row->flops)
                           : (double)NAN;
}

static int add_comparison(struct comparisons *list,
                          const struct comparison *comparison)
{
    struct comparison *added = orr_array_add(list->items, list->n);

    if (!added)
        return -ENOMEM;
    *added = *comparison;
    return 0;
}

static int compare_model(const struct part *measured,
                         const struct part *derived, const struct model *model,
                         struct comparisons *ret)
{
    const struct orr_model_impl *theirs = impl_of(model, measured->number);
    const struct orr_model_impl *ours = NULL;
    int rc = 0;

    for (unsigned m = 0; m < derived->machine->nmodels; m++)
        if (strcmp(derived->machine->models[m].symbol, model->symbol) == 0)
            ours = impl_of(&derived->machine->models[m], derived->number);
    for (unsigned r = 0; theirs && ours && r < theirs->nrows && rc == 0; r++) {
        const struct orr_model_row *row = &theirs->rows[r];
        struct comparison comparison = {.kernel = model->symbol,
                                        .derived_us =
                                            interpolate_rows(ours, row->size),
                                        .measured_us = row->mean};

        if (isnan(comparison.derived_us) || !(row->mean > 0) ||
            !is_measured_row(model, row))
            continue;
        carry_over(measured, derived, row, &comparison);
        if (isfinite(comparison.expected_us))
            rc = add_comparison(ret, &comparison);
    }
    return rc;
}

/* Whether an earlier model of the machine has the same kernel under another name. */
static bool is_model_again(const struct machine *machine, unsigned m)
{
    enum machine_kernel kernel = MACHINE_GEMM, other = MACHINE_GEMM;
    bool is_double = false, other_is_double = false;

    if (!machine_law_kernel(machine->models[m].symbol, &kernel, &is_double))
        return false;
    for (unsigned i = 0; i < m; i++)
        if (machine_law_kernel(machine->models[i].symbol, &other, &other_is_double) &&
            kernel == other && is_double == other_is_double)
            return true;
    return false;
}

static int compare_parts(const struct part *measured,
                         const struct part *derived, struct comparisons *ret)
{
    int rc = 0;

    for (unsigned m = 0; m < measured->machine->nmodels && rc == 0; m++)
        if (!is_model_again(measured->machine, m))
            rc = compare_model(measured, derived, &measured->machine->models[m],
                               ret);
    return rc;
}

/* 0.1: ten percent longer than measured. */
static double comparison_relative_error(const struct comparison *comparison)
{
    return comparison->derived_us / comparison->expected_us - 1;
}

/* ---- output ---- */

struct output {
    bool details;
    struct table table;
    json_t *json; /* NULL: a table is wanted */
};

/* How far in either direction, as a factor less 1. */
static double comparison_factor_off(const struct comparison *comparison)
{
    double ratio = comparison->derived_us / comparison->expected_us;

    return fmax(ratio, 1 / ratio) - 1;
}

static int by_distance(const void *a, const void *b)
{
    double x = comparison_factor_off(a), y = comparison_factor_off(b);

    return (x > y) - (x < y);
}

static void add_details(struct table *table, const struct part *derived,
                        const struct part *measured,
                        const struct comparisons *list)
{
    for (unsigned i = 0; i < list->n; i++) {
        const struct comparison *c = &list->items[i];

        table_add(table, "%s", derived->number < 0 ? "core" : derived->model);
        table_add(table, "%s", c->kernel);
        table_add(table, "%.0f", c->side);
        table_add(table, "%.4g", c->derived_us);
        table_add(table, "%.4g", c->expected_us);
        table_add(table, "%+.0f %%", 100 * comparison_relative_error(c));
        table_add(table, "%s", c->by);
        table_add(table, "%s, %.4g us", measured->machine->desc->name,
                  c->measured_us);
    }
}

/* Sorts the comparisons. */
static void add_summary(struct table *table, const struct part *derived,
                        const struct part *measured,
                        const struct comparisons *list)
{
    const struct comparison *worst;

    qsort(list->items, list->n, sizeof(*list->items), by_distance);
    worst = &list->items[list->n - 1];
    table_add(table, "%s", derived->machine->desc->name);
    table_add(table, "%s", derived->number < 0 ? "core" : derived->model);
    table_add(table, "%u", list->n);
    table_add(table, "%.0f %%",
              100 * comparison_factor_off(&list->items[list->n / 2]));
    table_add(table, "%+.0f %%", 100 * comparison_relative_error(worst));
    table_add(table, "%s %.0f", worst->kernel, worst->side);
    table_add(table, "%s", worst->by);
    table_add(table, "%s", measured->machine->desc->name);
}

static int comparisons_add_json(json_t *array, const struct part *derived,
                                const struct part *measured,
                                const struct comparisons *list)
{
    json_t *rows = json_array();

    for (unsigned i = 0; i < list->n; i++) {
        const struct comparison *c = &list->items[i];

        json_array_append_new(
            rows,
            json_pack("{s:o, s:o, s:f, s:f, s:f, s:f, s:s}", "kernel",
                      tool_json_text(c->kernel), "side", tool_json_number(c->side),
                      "derived_us", c->derived_us, "measured_us",
                      c->measured_us, "expected_us", c->expected_us, "off",
                      comparison_relative_error(c), "carried_over_by", c->by));
    }
    if (json_array_size(rows) == list->n &&
        json_array_append_new(
            array, json_pack("{s:s, s:s, s:s, s:O}", "machine",
                             derived->machine->desc->name, "part",
                             derived->number < 0 ? "core" : derived->model,
                             "measured_machine", measured->machine->desc->name,
                             "kernels", rows)) == 0) {
        json_decref(rows);
        return 0;
    }
    json_decref(rows);
    return -ENOMEM;
}

static int check_part(const struct machines *machines, struct part part,
                      struct output *output)
{
    struct comparisons list = {0};
    struct part measured = {0};
    int rc = 0;

    if (part.number >= 0 && !part.model)
        return 0;
    if (find_nearest(machines, &part, &measured))
        rc = compare_parts(&measured, &part, &list);
    if (rc == 0 && list.n && output->json)
        rc = comparisons_add_json(output->json, &part, &measured, &list);
    else if (rc == 0 && list.n && output->details)
        add_details(&output->table, &part, &measured, &list);
    else if (rc == 0 && list.n)
        add_summary(&output->table, &part, &measured, &list);
    free(list.items);
    return rc;
}

static int check_derived_machine(const struct machines *machines,
                                 const struct machine *machine,
                                 struct output *output)
{
    int rc = check_part(machines, part_of_machine(machine, -1), output);

    for (int i = 0; rc == 0 && i < (int)machine->desc->ncuda; i++)
        if (!is_repeated(machine, i))
            rc = check_part(machines, part_of_machine(machine, i), output);
    return rc;
}

static int print_comparisons(struct output *output)
{
    static const struct table_column summary[] = {
        {"machine", false}, {"part", false},
        {"kernels", true},  {"median off", true},
        {"worst", true},    {"of", false},
        {"by", false},      {"nearest measured", false}};
    static const struct table_column details[] = {
        {"part", false},      {"kernel", false},  {"tile", true},
        {"derived us", true}, {"expected", true}, {"off", true},
        {"by", false},        {"measured", false}};

    if (output->json)
        return tool_json_print(json_incref(output->json));
    return table_end(&output->table, output->details ? details : summary, 8);
}

/* `named`: NULL for all derived machines. */
static int check_derived_machines(const struct machines *machines,
                                  const struct machine *named,
                                  struct output *output)
{
    int rc = named ? check_derived_machine(machines, named, output) : 0;

    for (unsigned i = 0; !named && i < machines->n && rc == 0; i++)
        if (machine_is_derived(&machines->items[i]))
            rc = check_derived_machine(machines, &machines->items[i], output);
    if (rc == 0)
        rc = print_comparisons(output);
    if (rc < 0)
        tool_error("machine check: %s", strerror(-rc));
    return rc;
}

static int machine_check_run(const char *name, const char *const *sampling_dirs,
                             bool json)
{
    struct machines machines = {.sampling_dirs = sampling_dirs};
    struct machines named = {.sampling_dirs = sampling_dirs};
    struct output output = {.details = name != NULL,
                            .json = json ? json_array() : NULL};
    struct orr_machine_desc *desc;
    int rc =
        orr_machine_desc_list(sampling_dirs, load_catalogue_machine, &machines);

    if (json && !output.json)
        rc = -ENOMEM;
    if (rc < 0)
        tool_error("machine check: %s", strerror(-rc));
    if (rc == 0 && name)
        rc = machine_open(name, NULL, sampling_dirs, &desc, NULL);
    if (rc == 0 && name)
        rc = add_machine(&named, desc);
    if (rc == 0 && name && !machine_is_derived(&named.items[0])) {
        const char *provenance = named.items[0].desc->provenance;

        tool_error("machine check: the figures of %s are %s: only those that "
                   "are derived altogether can be held against measured ones",
                   name, provenance ? provenance : "of unknown origin");
        rc = -EINVAL;
    }
    if (rc == 0)
        rc = check_derived_machines(&machines, name ? &named.items[0] : NULL,
                                    &output);
    table_done(&output.table);
    json_decref(output.json);
    machines_done(&named);
    machines_done(&machines);
    return rc;
}

int machine_check(int argc, char **argv, const char *const *sampling_dirs,
                  bool json)
{
    const char *machine = NULL;
    const struct tool_option options[] = {
        {'m', "machine", &machine, NULL}, {0, "json", NULL, &json}, {0}};
    int noperands,
        rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (noperands > (machine ? 0 : 1))
        return tool_fail(TOOL_USAGE, "machine check: one NAME or -m NAME; see "
                                     "orrery machine check --help");
    if (noperands)
        machine = argv[1];
    rc = machine_check_run(machine, sampling_dirs, json);
    return rc == 0 && fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
}
