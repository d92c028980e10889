/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/project.c - `orrery perfmodel project`: models for a machine
 * that one does not have, from those measured on another, by rooflines
 * (perfmodel/project.h). One thread.
 */
#include "perfmodel/project.h"
#include "core/base/c_locale.h"
#include "perfmodel/rate_text.h"
#include "platforms/machine_desc.h"
#include "platforms/rates.h"
#include "tools/common/program.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/core_rates.h"
#include "tools/perfmodel/join.h"
#include "tools/perfmodel/project_size.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery perfmodel project -m MACHINE [--host HOST] [--from MACHINE]\n"
    "                                [--double] [--tensor] [--peak RATES]\n"
    "                                [--bandwidth RATES] [--from-peak RATES]\n"
    "                                [--from-bandwidth RATES]\n"
    "                                [-o DIR] [--force] [SYMBOL...]\n"
    "       orrery perfmodel project --size BYTES[,BYTES...] [-m MACHINE] [--host HOST]\n"
    "                                [SYMBOL...]\n"
    "Makes models for MACHINE from those measured here: each time is as far from the\n"
    "roofline of the new device as the measured one is from its own. They are marked\n"
    "derived, and say how far each may be off; what MACHINE has already stays.\n"
    "With --size it prints the time of sizes that were not measured, from those that\n"
    "were, with the range it may be off, and writes nothing: by the flops that tasks\n"
    "stated, where these follow from the size; else by what a core takes for such a\n"
    "task; else by the bytes.\n"
    "  -m, --machine MACHINE  for whose devices (orrery machine list)\n"
    "      --host HOST        from the models of this host, else of this one\n"
    "      --from MACHINE     from the models of that machine, or, with --host, only\n"
    "                         its description, for its rates; else that of its name,\n"
    "                         else what a core of this machine is measured to do\n"
    "      --peak 'cuda=19.5 TFlop/s, cpu=64 GFlop/s'   of MACHINE, each device or\n"
    "      --bandwidth 'cuda=1555 GB/s, cpu=8 GB/s'     core; else as its description\n"
    "                                                   says. 19.5Tf, 1555GBps do, too\n"
    "      --from-peak, --from-bandwidth     the same of the measured machine\n"
    "      --double           peaks in double precision\n"
    "      --tensor           peaks of tensor units, where a device states any:\n"
    "                         products of BLAS in double precision use them\n"
    "  -o, --output DIR       sampling directory to write to, else the user's own\n"
    "      --force            replace models of MACHINE that are there\n"
    "Exit codes: 0; 1 when nothing could be projected; 2 for a wrong command line.\n"
    "example: orrery perfmodel project -m hgx-h100-8 'chol_*'\n";

#define NTYPES 8

/* The options. */
struct projecting {
    const char *machine, *host, *from, *output, *sizes;
    const char *peak, *bandwidth, *from_peak, *from_bandwidth;
    bool is_double, tensor, force;
    struct orr_sampling *own; /* owned */
    const char *folder; /* lent by it: where models are written by default,
                               * the first that programs read but for the
                               * machine's */
    bool is_here;       /* the models were measured on this machine */
    char **symbols;     /* patterns, borrowed; none: all */
    int nsymbols;
    /* Opened. */
    struct perfmodel_place source, target;
    struct orr_machine_desc *desc,
        *from_desc; /* owned; from_desc may be NULL */
    struct orr_rates given[NTYPES], from_given[NTYPES];
    struct table table;
    unsigned nmodels, nrows;
    bool missing[NTYPES], from_missing[NTYPES]; /* rates that were needed */
};

/* --- rates --- */

/* "cuda" and the equals sign behind it, with blanks; -1: none. */
static int take_type(const char **text)
{
    const char *at = *text;
    char name[16] = "";
    size_t n;
    int type;

    while (isspace((unsigned char)*at))
        at++;
    for (n = 0; n + 1 < sizeof(name) && isalpha((unsigned char)at[n]); n++)
        name[n] = at[n];
    type = orr_device_type_find(name);
    for (at += n; isspace((unsigned char)*at);)
        at++;
    if (type < 0 || type >= NTYPES || *at != '=')
        return -1;
    *text = at + 1;
    return type;
}

static int wrong_rates(const char *option, const char *text,
                       enum orr_rate_of of)
{
    tool_error(
        "perfmodel project: --%s %s: give a type of device and its rate with "
        "the unit, such as cuda=%s; several are separated by commas",
        option, text, orr_rate_example(of));
    return -EINVAL;
}

/* "cuda = 19.5 TFlop/s, cpu=64Gf" */
static int read_rates(const char *option, const char *text, enum orr_rate_of of,
                      struct orr_rates rates[NTYPES])
{
    const char *at = text ? text : "";

    while (*at) {
        int type = take_type(&at);
        double rate;

        if (type < 0 || !orr_rate_take(of, &at, &rate))
            return wrong_rates(option, text, of);
        *(of == ORR_RATE_OF_FLOPS ? &rates[type].flops : &rates[type].bytes) =
            rate;
        while (isspace((unsigned char)*at))
            at++;
        if (*at && !strchr(",;", *at))
            return wrong_rates(option, text, of);
        at += *at != '\0';
    }
    return 0;
}

/* Per µs, 0 where the description does not say. */
static double described(const struct orr_machine_desc *desc, const char *host,
                        enum orr_rate rate)
{
    double per_second =
        desc ? orr_machine_desc_rate_of(desc, host, rate) : (double)NAN;

    return per_second > 0 ? per_second / 1e6 : 0;
}

/* What the hosts of devices of the type are called in descriptions. */
static const char *prefix_of(int type)
{
    return type == ORR_DEVICE_CUDA     ? "CUDA"
           : type == ORR_DEVICE_OPENCL ? "OpenCL"
                                       : "HIP";
}

/* Those of a device: as given, else as its description says; what is of MAIN is
 * of one core. */
static struct orr_rates rates_of(const struct projecting *p,
                                 const struct orr_machine_desc *desc,
                                 const struct orr_rates given[NTYPES],
                                 const struct orr_device *device)
{
    struct orr_rates rates = given[device->type];
    char host[32] = "MAIN";

    if (device->type != ORR_DEVICE_CPU)
        snprintf(host, sizeof(host), "%s%d", prefix_of(device->type),
                 device->devid);
    if (!(rates.flops > 0) && p->tensor)
        rates.flops = described(desc, host,
                                p->is_double ? ORR_RATE_FP64_TENSOR
                                             : ORR_RATE_FP32_TENSOR);
    if (!(rates.flops > 0))
        rates.flops =
            described(desc, host, p->is_double ? ORR_RATE_FP64 : ORR_RATE_FP32);
    if (!(rates.bytes > 0))
        rates.bytes = described(desc, host, ORR_RATE_MEMORY);
    return rates;
}

static bool complete(const struct orr_rates *rates)
{
    return rates->flops > 0 && rates->bytes > 0;
}

/* What is not known of a core of this machine is measured, once. */
static void complete_here(struct projecting *p, struct orr_rates *rates)
{
    struct orr_rates *given = &p->from_given[ORR_DEVICE_CPU];
    struct core_rates core;

    if (!p->is_here || !core_rates_measure(&core))
        return;
    if (!(rates->flops > 0))
        rates->flops = p->is_double ? core.flops64 : core.flops;
    if (!(rates->bytes > 0))
        rates->bytes = core.bytes;
    *given = *rates;
    printf("a core of %s: %.3g GFlop/s, %.3g GB/s, measured now (--from-peak, "
           "--from-bandwidth)\n",
           p->source.host, rates->flops / 1e3, rates->bytes / 1e3);
}

/* --- one model --- */

/* The single device of the type that has rows, the first; NULL without. */
static const struct orr_model_comb *comb_of(const struct orr_model_file *file,
                                            int type)
{
    for (unsigned c = 0; c < file->ncombs; c++) {
        const struct orr_model_comb *comb = &file->combs[c];

        if (comb->ndevices == 1 && comb->devices[0].type == type &&
            comb->devices[0].ncores == 1 && comb->nimpls > 0 &&
            comb->impls[0].nrows > 0)
            return comb;
    }
    return NULL;
}

static int project_row(const struct orr_model_row *row,
                       const struct orr_rates *from, const struct orr_rates *to,
                       enum orr_pair pair, struct orr_model_impl *impl,
                       double *ret_off_by)
{
    struct orr_projection here = {row->mean, 2 * orr_model_row_error(row)};
    struct orr_projection there =
        orr_project_device(here, row->flops, (double)row->size, from, to, pair);
    struct orr_model_row made = *row;

    made.origin = ORR_ORIGIN_UNKNOWN; /* as of all that is projected */
    if (!(row->mean > 0) || row->n == 0 || !(there.us > 0))
        return 0;
    made.mean = there.us;
    made.dev = there.us * there.off_by / 2; /* ranged: twice is the range */
    made.n = perfmodel_minimum();
    made.sum = made.mean * made.n;
    made.sum2 = made.n * (made.mean * made.mean + made.dev * made.dev);
    *ret_off_by = fmax(*ret_off_by, there.off_by);
    return orr_model_impl_add_row(impl, &made);
}

static int project_impls(const struct orr_model_comb *source,
                         const struct orr_rates *from,
                         const struct orr_rates *to, enum orr_pair pair,
                         const struct orr_device *device,
                         struct orr_model_file *file, double *ret_off_by)
{
    struct orr_model_comb *comb;
    int rc = orr_model_file_add_comb(file, device, 1, &comb);
    unsigned nimpls = pair == ORR_PAIR_MIXED ? 1 : source->nimpls;

    for (unsigned i = 0; rc == 0 && i < nimpls; i++) {
        struct orr_model_impl *impl;

        rc = orr_model_comb_get_impl(comb, i, &impl);
        for (unsigned r = 0; rc == 0 && r < source->impls[i].nrows; r++)
            rc = project_row(&source->impls[i].rows[r], from, to, pair, impl,
                             ret_off_by);
    }
    return rc;
}

/* From the models of a device of its type, else from those of a core. */
static int project_device(struct projecting *p,
                          const struct perfmodel_item *item,
                          const struct orr_model_file *from,
                          const struct orr_device *device,
                          struct orr_model_file *to)
{
    const struct orr_model_comb *source = comb_of(from, device->type);
    enum orr_pair pair = !source                          ? ORR_PAIR_MIXED
                         : device->type == ORR_DEVICE_CPU ? ORR_PAIR_CORES
                                                          : ORR_PAIR_DEVICES;
    struct orr_rates here, there;
    char text[PERFMODEL_TEXT];
    double off_by = 0;
    int rc;

    if (!source)
        source = comb_of(from, ORR_DEVICE_CPU);
    if (!source)
        return 0;
    here = rates_of(p, p->from_desc, p->from_given, &source->devices[0]);
    if (source->devices[0].type == ORR_DEVICE_CPU && !complete(&here))
        complete_here(p, &here);
    there = rates_of(p, p->desc, p->given, device);
    p->from_missing[source->devices[0].type] |= !complete(&here);
    p->missing[device->type] |= !complete(&there);
    if (!complete(&here) || !complete(&there))
        return 0;
    rc = project_impls(source, &here, &there, pair, device, to, &off_by);
    if (rc < 0)
        return rc;
    table_add(&p->table, "%s", item->symbol);
    table_add(&p->table, "%s", perfmodel_arch_text(device, 1, text));
    table_add(&p->table, "%s", perfmodel_arch_text(source->devices, 1, text));
    table_add(&p->table, "%u", source->impls[0].nrows);
    table_add(&p->table, "%.0f %%", 100 * off_by);
    p->nrows += source->impls[0].nrows;
    return 0;
}

static int project_file(struct projecting *p, const struct perfmodel_item *item,
                        const struct orr_model_file *from,
                        struct orr_model_file *to)
{
    static const int types[] = {ORR_DEVICE_CUDA, ORR_DEVICE_OPENCL,
                                ORR_DEVICE_HIP};
    struct orr_device core = {ORR_DEVICE_CPU, 0, 1};
    int rc = project_device(p, item, from, &core, to);

    for (size_t t = 0; rc == 0 && t < 3; t++)
        for (int d = 0; rc == 0; d++) {
            struct orr_device device = {types[t], d, 1};
            char id[32];

            snprintf(id, sizeof(id), "%s%d", prefix_of(types[t]), d);
            if (orr_machine_desc_host(p->desc, id) < 0)
                break;
            rc = project_device(p, item, from, &device, to);
        }
    return rc;
}

/* --- the files --- */

static bool wanted(const struct projecting *p,
                   const struct perfmodel_item *item)
{
    for (int i = 0; i < p->nsymbols; i++)
        if (fnmatch(p->symbols[i], item->symbol, 0) == 0)
            return true;
    return p->nsymbols == 0;
}

/* Whether the machine has that model already, which stays; says so. What comes with
 * a machine is read before the user's own, and is not ours to replace. */
static bool is_there(const struct projecting *p, const char *name)
{
    char *path = NULL;
    bool there = orr_sampling_find(p->target.sampling, ORR_SAMPLING_CODELETS,
                                   name, &path) == 0 &&
                 path;
    bool foreign =
        there && !p->output && strncmp(path, p->folder, strlen(p->folder)) != 0;

    if (there && !p->force)
        tool_error("%s is there and stays; --force replaces it", path);
    else if (foreign)
        tool_error("%s comes with the machine, whose models are read first: "
                   "write others by -o DIR, and let programs read them by "
                   "STARPU_PERF_MODEL_DIR=DIR",
                   path);
    free(path);
    return there && (!p->force || foreign);
}

static int write_model(const struct projecting *p, const char *name,
                       const struct perfmodel_data *data)
{
    char *path = tool_format("%s/%s/%s", p->output ? p->output : p->folder,
                             ORR_SAMPLING_CODELETS, name);
    struct perfmodel_report report = {.name = name};
    struct orr_error err = {"out of memory"};
    int rc = -ENOMEM;

    if (path)
        rc = perfmodel_write(path, data, PERFMODEL_REPLACE, &report, &err);
    if (rc < 0)
        tool_error("perfmodel project: %s", err.text);
    free(path);
    return rc < 0 ? -ECANCELED : 0;
}

static int visit(const struct perfmodel_item *item, void *arg)
{
    struct projecting *p = arg;
    struct perfmodel_data from = {0}, to = {0};
    struct orr_error err = {""};
    char *name = NULL;
    int rc;

    if (item->shadowed || !wanted(p, item) || !*item->host)
        return 0;
    name = tool_format("%s.%s", item->symbol, p->target.host);
    if (!name)
        return -ENOMEM;
    if (is_there(p, name)) {
        free(name);
        return 0;
    }
    rc = perfmodel_load(item->path, &from, &err);
    if (rc < 0 && rc != -ENOMEM) { /* broken: the others are projected */
        tool_report(&err, rc);
        free(name);
        return 0;
    }
    if (rc == 0)
        rc = orr_model_file_new(&to.file);
    if (rc == 0)
        rc = project_file(p, item, from.file, to.file);
    if (rc == 0 && to.file->ncombs > 0) {
        to.file->origin = ORR_ORIGIN_DERIVED;
        to.file->ranged = true;
        rc = write_model(p, name, &to);
        p->nmodels += rc == 0;
    }
    perfmodel_unload(&from);
    perfmodel_unload(&to);
    free(name);
    return rc;
}

/* --- the command --- */

static const char *example(int type, enum orr_rate_of of)
{
    if (type != ORR_DEVICE_CPU)
        return orr_rate_example(of);
    return of == ORR_RATE_OF_FLOPS ? "64 GFlop/s" : "10 GB/s";
}

static void say_missing(const struct projecting *p)
{
    for (int t = 0; t < NTYPES; t++) {
        const char *type = orr_device_type_name(t);

        if (p->missing[t])
            tool_error(
                "the peak or memory bandwidth of %s of %s is not known: "
                "give them, such as --peak '%s=%s' --bandwidth '%s=%s', or the "
                "properties orrery-peak-%s and orrery-memory-bandwidth of its "
                "hosts",
                type, p->machine, type, example(t, ORR_RATE_OF_FLOPS), type,
                example(t, ORR_RATE_OF_BYTES), p->is_double ? "fp64" : "fp32");
        if (p->from_missing[t])
            tool_error("the peak or memory bandwidth of %s of %s, where the "
                       "models were measured, is not known: give them, such as "
                       "--from-peak '%s=%s' --from-bandwidth '%s=%s', or a "
                       "description that states them, --from MACHINE",
                       type, p->source.host, type,
                       example(t, ORR_RATE_OF_FLOPS), type,
                       example(t, ORR_RATE_OF_BYTES));
    }
}

static int load_descriptions(struct projecting *p)
{
    const char *const *dirs = orr_sampling_dirs(p->source.sampling);
    const char *name = p->from ? p->from : p->source.host;
    struct orr_error err = {""};
    int rc = orr_machine_desc_load(p->machine, dirs, &p->desc, &err);

    if (rc == 0 && orr_machine_desc_load(name, dirs, &p->from_desc, &err) < 0 &&
        p->from)
        rc = -ENOENT;
    if (rc < 0)
        tool_error("%s", err.text);
    return rc;
}

/* Measures would be lost, replaced by what was derived from them. */
static bool are_the_same(const struct projecting *p)
{
    if (strcmp(p->source.host, p->target.host) != 0)
        return false;
    tool_error("perfmodel project: the models of %s would be made from "
               "themselves: simulations of %s use models of that name%s",
               p->target.host, p->machine,
               orr_getenv("STARPU_HOSTNAME")
                   ? ", which STARPU_HOSTNAME sets; unset it and name the "
                     "measured ones by --host"
                   : "; they need no projection");
    return true;
}

static int project_all(struct projecting *p)
{
    static const struct table_column columns[] = {{"model", false},
                                                  {"architecture", false},
                                                  {"from", false},
                                                  {"entries", true},
                                                  {"off by up to", true}};
    int rc = are_the_same(p) ? -EINVAL : load_descriptions(p);

    if (rc == 0)
        rc = perfmodel_each(&p->source, p->source.host, visit, p);
    if (rc == -ENOMEM)
        tool_error("out of memory");
    if (rc < 0)
        return TOOL_FAILED;
    say_missing(p);
    if (p->nmodels == 0) {
        tool_error("perfmodel project: no model was made from those of %s; "
                   "orrery perfmodel list --host %s shows what there is",
                   p->source.host, p->source.host);
        return TOOL_FAILED;
    }
    rc = table_end(&p->table, columns, 5);
    printf("%u models of %s, derived from those of %s\n", p->nmodels,
           p->target.host, p->source.host);
    return rc < 0 || fflush(stdout) != 0 ? TOOL_FAILED : TOOL_OK;
}

static int read_all_rates(struct projecting *p)
{
    struct orr_c_locale locale;
    int rc = orr_c_locale_begin(&locale);

    if (rc < 0)
        return rc;
    rc = read_rates("peak", p->peak, ORR_RATE_OF_FLOPS, p->given);
    if (rc == 0)
        rc = read_rates("bandwidth", p->bandwidth, ORR_RATE_OF_BYTES, p->given);
    if (rc == 0)
        rc = read_rates("from-peak", p->from_peak, ORR_RATE_OF_FLOPS,
                        p->from_given);
    if (rc == 0)
        rc = read_rates("from-bandwidth", p->from_bandwidth, ORR_RATE_OF_BYTES,
                        p->from_given);
    orr_c_locale_end(&locale);
    return rc;
}

/* Whether the models are those of the host that this process would name. */
static bool is_here(const struct projecting *p)
{
    const struct orr_host_options own = {.hostname =
                                             orr_getenv("STARPU_HOSTNAME")};
    struct orr_error err = {""};
    char *host = NULL;
    bool same = orr_host_name(&own, &host, &err) == 0 &&
                strcmp(host, p->source.host) == 0;

    free(host);
    return same;
}

static int project(struct projecting *p)
{
    struct perfmodel_choice here = {.host = p->host,
                                    .machine = p->host ? NULL : p->from};
    struct perfmodel_choice there = {.machine = p->machine};
    int result = TOOL_FAILED;

    tool_if_interrupted("no model was made");
    if (perfmodel_open(&here, &p->source) < 0)
        return TOOL_FAILED;
    p->is_here = is_here(p);
    if (orr_sampling_from_env(orr_getenv, ORR_DATADIR, &p->own) < 0) {
        perfmodel_close(&p->source);
        return tool_fail(TOOL_FAILED, "out of memory");
    }
    p->folder = orr_sampling_dirs(p->own)[0];
    if (perfmodel_open(&there, &p->target) == 0) {
        result = project_all(p);
        perfmodel_close(&p->target);
    }
    orr_machine_desc_free(p->desc);
    orr_machine_desc_free(p->from_desc);
    table_done(&p->table);
    perfmodel_close(&p->source);
    orr_sampling_free(p->own);
    return result;
}

static int answer_sizes(const struct projecting *p)
{
    struct project_size_options options = {.machine = p->machine,
                                           .host = p->host,
                                           .symbols = p->symbols,
                                           .nsymbols = p->nsymbols};
    char **words = tool_split(p->sizes);
    int result = TOOL_OK;

    while (words && words[options.nsizes])
        options.nsizes++;
    options.sizes = calloc(options.nsizes + 1, sizeof(*options.sizes));
    if (!words || !options.sizes)
        result = tool_fail(TOOL_FAILED, "out of memory");
    for (unsigned i = 0; result == TOOL_OK && i < options.nsizes; i++)
        if (program_seed(words[i], &options.sizes[i]) < 0 ||
            options.sizes[i] == 0)
            result = tool_fail(TOOL_USAGE,
                               "perfmodel project: --size %s: the bytes of a "
                               "task's data, a whole number above 0",
                               words[i]);
    if (result == TOOL_OK)
        result = project_sizes(&options);
    free(options.sizes);
    free(words);
    return result;
}

int perfmodel_project(int argc, char **argv)
{
    struct projecting p = {.symbols = argv + 1};
    const struct tool_option options[] = {
        {'m', "machine", &p.machine, NULL},
        {0, "host", &p.host, NULL},
        {0, "from", &p.from, NULL},
        {0, "peak", &p.peak, NULL},
        {0, "bandwidth", &p.bandwidth, NULL},
        {0, "from-peak", &p.from_peak, NULL},
        {0, "from-bandwidth", &p.from_bandwidth, NULL},
        {0, "size", &p.sizes, NULL},
        {0, "double", NULL, &p.is_double},
        {0, "tensor", NULL, &p.tensor},
        {'o', "output", &p.output, NULL},
        {0, "force", NULL, &p.force},
        {0}};
    int rc = tool_parse_operands(argc, argv, options, help, &p.nsymbols);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (p.sizes)
        return answer_sizes(&p);
    if (!p.machine) {
        tool_error("perfmodel project: for which machine? -m MACHINE; orrery "
                   "machine list shows those there are");
        return TOOL_USAGE;
    }
    if (read_all_rates(&p) < 0)
        return TOOL_USAGE;
    return project(&p);
}
