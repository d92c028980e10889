/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/project.c - `orrery perfmodel project`: models for a machine
 * that one does not have, from those measured on another, by rooflines
 * (perfmodel/project.h). One thread.
 */
#include "core/base/installed.h"
#include "core/base/plural.h"
#include "platforms/machine_desc.h"
#include "tools/common/interrupt.h"
#include "tools/common/json.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"
#include "tools/common/trust.h"
#include "tools/perfmodel/join.h"
#include "tools/perfmodel/project_model.h"
#include "tools/perfmodel/project_size.h"

#include <errno.h>
#include <limits.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery perfmodel project -m MACHINE [--host HOST] [--from MACHINE]\n"
    "                                [--double] [--tensor] [--peak RATES]\n"
    "                                [--bandwidth RATES] [--from-peak RATES]\n"
    "                                [--from-bandwidth RATES] [--only TYPES]\n"
    "                                [-o DIR] [--force] [--json] [SYMBOL...]\n"
    "       orrery perfmodel project --size BYTES[,BYTES...] [-m MACHINE]\n"
    "                                [--host HOST] [--json] [SYMBOL...]\n"
    "Makes models for MACHINE from those measured here: each time is as far from the\n"
    "roofline of the new device as the measured one is from its own, and never faster\n"
    "than its peak allows, nor, on an accelerator, its launch, its memory and the\n"
    "lanes that the data fill. They are marked derived, and say how far each may be\n"
    "off; what MACHINE has already stays. Measured times are those that simulations\n"
    "take.\n"
    "With --size it prints the time of sizes that were not measured, from those that\n"
    "were, with the range it may be off, and writes nothing: by the flops that tasks\n"
    "stated, where these follow from the size; else by what a core takes for such a\n"
    "task; else by the bytes.\n"
    "  -m, --machine MACHINE  for whose devices (orrery machine list)\n"
    "      --host HOST        from the models of this host, else of this one\n"
    "      --from MACHINE     from the models of that machine, or, with --host, only\n"
    "                         its description, for its rates; else that of its name,\n"
    "                         else what a core of this machine is measured to do,\n"
    "                         once, and kept in its description\n"
    "      --peak 'cuda=19.5 TFlop/s, cpu=64 GFlop/s'   of MACHINE, each device or\n"
    "      --bandwidth 'cuda=1555 GB/s, cpu=8 GB/s'     core; else as its description\n"
    "                                                   says. 19.5Tf, 1555GBps do\n"
    "      --from-peak, --from-bandwidth     the same of the measured machine\n"
    "      --only cpu,cuda    models of these types of devices; a simulation runs a\n"
    "                         kernel wherever there is a model of it\n"
    "      --double           peaks in double precision\n"
    "      --tensor           peaks of tensor units, where a device states any:\n"
    "                         products of BLAS in double precision use them\n"
    "  -o, --output DIR       sampling directory to write to, else the user's own;\n"
    "                         made if it is missing\n"
    "      --force            replace models of MACHINE that are there\n"
    "      --json             what was made, or the times, as JSON\n"
    "Exit codes: 0; 1 when nothing could be projected; 2 for a wrong command line.\n"
    "example: orrery perfmodel project -m hgx-h100-8 'chol_*'\n";

/* --- the files --- */

static bool project_wants_model(const char *symbol, const void *arg)
{
    const struct projecting *p = arg;

    for (int i = 0; i < p->nsymbols; i++)
        if (fnmatch(p->symbols[i], symbol, 0) == 0)
            return true;
    return p->nsymbols == 0;
}

/* A model made of one that cannot be trusted is no better, and shows none of
 * its faults. */
static void warn_untrusted(const struct projecting *p,
                           const struct perfmodel_choice *source)
{
    const struct check_options options = {
        .confidence = CHECK_CONFIDENCE,
        .minimum = perfmodel_minimum(),
        .homogeneous = orr_homogeneous_from_env(orr_getenv)};
    const struct orr_finding *last = NULL;
    struct orr_error err = {""};
    struct trust trust;

    if (trust_open(source, project_wants_model, p, &options, &trust, &err) < 0)
        return;
    for (size_t i = 0; i < trust.checked.findings.n; i++) {
        const struct orr_finding *f = &trust.checked.findings.items[i];

        if (f->severity != ORR_SEVERITY_ERROR || !f->kernel || !f->arch ||
            !project_wants_model(f->kernel, p) ||
            (last && !strcmp(last->kernel, f->kernel) &&
             !strcmp(last->arch, f->arch)))
            continue;
        tool_error(
            "warning: %s on %s is not to be trusted, nor what is made of "
            "it: %s (orrery perfmodel check)",
            f->kernel, f->arch, f->text);
        last = f;
    }
    trust_done(&trust);
}

/* Whether the machine has that model already, which stays; says so. What comes with
 * a machine is read before the user's own, and is not ours to replace. */
static bool project_model_exists(const struct projecting *p, const char *name)
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

static int project_visit_model(const struct perfmodel_item *item, void *arg)
{
    struct projecting *p = arg;
    struct perfmodel_data from = {0}, to = {0};
    struct orr_error err = {""};
    unsigned before = p->nrows;
    char *name = NULL;
    int rc;

    if (item->shadowed || !project_wants_model(item->symbol, p) || !*item->host)
        return 0;
    name = tool_format("%s.%s", item->symbol, p->target.host);
    if (!name)
        return -ENOMEM;
    if (project_model_exists(p, name)) {
        p->nthere++;
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
        rc = project_model(p, item->symbol, &from, to.file);
    if (rc == 0 && p->nrows > before) {
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

static void report_missing_rates(const struct projecting *p)
{
    for (int t = 0; t < PROJECT_NTYPES; t++) {
        const char *type = orr_device_type_name(t);
        const char *flops = project_rate_example(t, ORR_RATE_OF_FLOPS);
        const char *bytes = project_rate_example(t, ORR_RATE_OF_BYTES);

        if (p->missing[t])
            tool_error(
                "the peak or memory bandwidth of %s of %s is not known: "
                "give them, such as --peak '%s=%s' --bandwidth '%s=%s', or the "
                "properties orrery-peak-%s and orrery-memory-bandwidth of its "
                "hosts",
                type, p->machine, type, flops, type, bytes,
                p->given.is_double ? "fp64" : "fp32");
        if (p->from_missing[t])
            tool_error("the peak or memory bandwidth of %s of %s, where the "
                       "models were measured, is not known: give them, such as "
                       "--from-peak '%s=%s' --from-bandwidth '%s=%s', or a "
                       "description that states them, --from MACHINE",
                       type, p->source.host, type, flops, type, bytes);
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

static void print_projection_text(const struct projecting *p)
{
    const char *folder = p->output ? p->output : p->folder;

    if (p->nlimited)
        printf("%u entr%s at the limit of the device: its peak or, of an "
               "accelerator, its launch,\nits memory, or the lanes that so "
               "little data fill\n",
               p->nlimited, p->nlimited == 1 ? "y is" : "ies are");
    if (p->nmixed)
        printf(
            "simulated, kernels run on every type of device that has a model "
            "of them: --only leaves\nothers out, --only cpu where a codelet "
            "has functions for processors alone\n");
    printf("%u model%s of %s, derived from those of %s, in %s/%s\n", p->nmodels,
           orr_plural(p->nmodels), p->target.host, p->source.host, folder,
           ORR_SAMPLING_CODELETS);
    if (p->output)
        printf("STARPU_PERF_MODEL_DIR=%s lets programs read them\n", folder);
}

static int print_projection_json(const struct projecting *p)
{
    json_t *json = json_pack("{s:o, s:o, s:o, s:i, s:i, s:O}", "host",
                             tool_json_text(p->target.host), "from",
                             tool_json_text(p->source.host), "folder",
                             tool_json_text(p->output ? p->output : p->folder),
                             "files", (int)p->nmodels, "entries_at_the_limit",
                             (int)p->nlimited, "models", p->models);

    return tool_json_print(json) < 0 ? tool_fail(TOOL_FAILED, "out of memory")
                                     : TOOL_OK;
}

/* "cpu,cuda": all other types are left out. */
static int read_only(struct projecting *p)
{
    char **words = tool_split(p->only ? p->only : "");
    int rc = words ? 0 : -ENOMEM;

    for (int t = 0; p->only && t < PROJECT_NTYPES; t++)
        p->leave_out[t] = true;
    for (size_t i = 0; words && words[i] && rc == 0; i++) {
        int type = orr_device_type_find(words[i]);

        if (type >= 0 && type < PROJECT_NTYPES)
            p->leave_out[type] = false;
        else
            rc = tool_fail(-EINVAL,
                           "perfmodel project: --only %s: types of devices are "
                           "cpu, cuda, opencl and hip",
                           p->only);
    }
    free(words);
    return rc;
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
        rc = perfmodel_each(&p->source, p->source.host, project_visit_model, p);
    if (rc == -ENOMEM)
        tool_error("out of memory");
    if (rc < 0)
        return TOOL_FAILED;
    report_missing_rates(p);
    if (p->nmodels == 0 && p->nthere > 0)
        return tool_fail(TOOL_FAILED,
                         "perfmodel project: %s has all of these models "
                         "already: nothing was made",
                         p->target.host);
    if (p->nmodels == 0) {
        tool_error("perfmodel project: no model was made from those of %s%s%s; "
                   "orrery perfmodel list --host %s shows what there is",
                   p->source.host, p->unknown ? ", not known: " : "",
                   p->unknown ? p->unknown : "", p->source.host);
        return TOOL_FAILED;
    }
    if (p->models)
        return print_projection_json(p);
    rc = table_end(&p->table, columns, 5);
    print_projection_text(p);
    return rc < 0 || fflush(stdout) != 0 ? TOOL_FAILED : TOOL_OK;
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

static int project_models(struct projecting *p)
{
    struct perfmodel_choice here = {.host = p->host,
                                    .machine = p->host ? NULL : p->from};
    struct perfmodel_choice there = {.machine = p->machine};
    int result = TOOL_FAILED;
    char data[PATH_MAX];

    interrupt_says("no model was made");
    if (perfmodel_open(&here, &p->source) < 0)
        return TOOL_FAILED;
    p->is_here = is_here(p);
    if (orr_sampling_from_env(orr_getenv, orr_data_directory(data), &p->own) < 0) {
        perfmodel_close(&p->source);
        return tool_fail(TOOL_FAILED, "out of memory");
    }
    p->folder = orr_sampling_dirs(p->own)[0];
    if (p->json)
        p->models = json_array();
    if (perfmodel_open(&there, &p->target) == 0) {
        result = project_all(p);
        if (result == TOOL_OK)
            warn_untrusted(p, &here);
        perfmodel_close(&p->target);
    }
    orr_machine_desc_free(p->desc);
    orr_machine_desc_free(p->from_desc);
    table_done(&p->table);
    json_decref(p->models);
    perfmodel_close(&p->source);
    orr_sampling_free(p->own);
    return result;
}

static int answer_sizes(const struct projecting *p)
{
    struct project_size_options options = {.machine = p->machine,
                                           .host = p->host,
                                           .symbols = p->symbols,
                                           .nsymbols = p->nsymbols,
                                           .json = p->json};
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
    bool is_double = false, tensor = false;
    const struct tool_option options[] = {
        {'m', "machine", &p.machine, NULL},
        {0, "host", &p.host, NULL},
        {0, "from", &p.from, NULL},
        {0, "peak", &p.given.peak, NULL},
        {0, "bandwidth", &p.given.bandwidth, NULL},
        {0, "from-peak", &p.from_given.peak, NULL},
        {0, "from-bandwidth", &p.from_given.bandwidth, NULL},
        {0, "size", &p.sizes, NULL},
        {0, "only", &p.only, NULL},
        {0, "double", NULL, &is_double},
        {0, "tensor", NULL, &tensor},
        {'o', "output", &p.output, NULL},
        {0, "force", NULL, &p.force},
        {0, "json", NULL, &p.json},
        {0}};
    int rc = tool_parse_operands(argc, argv, options, help, &p.nsymbols);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    p.given.is_double = p.from_given.is_double = is_double;
    p.given.tensor = p.from_given.tensor = tensor;
    if (p.sizes)
        return answer_sizes(&p);
    if (!p.machine) {
        tool_error("perfmodel project: for which machine? -m MACHINE; orrery "
                   "machine list shows those there are");
        return TOOL_USAGE;
    }
    if (p.output && !perfmodel_can_write_to("perfmodel project", p.output))
        return TOOL_USAGE;
    if (read_only(&p) < 0 || project_rates_read(&p.given, "") < 0 ||
        project_rates_read(&p.from_given, "from-") < 0)
        return TOOL_USAGE;
    return project_models(&p);
}
