/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/check.c - `orrery perfmodel check`: reads all models and the
 * bus parameters of a machine, checks them and prints the result. One thread.
 */
#include "tools/common/program.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/check_print.h"
#include "tools/perfmodel/model_findings.h"
#include "tools/perfmodel/model_set.h"
#include "tools/perfmodel/perfmodel.h"

#include "perfmodel/arch.h"
#include "platforms/doctor.h"
#include "platforms/machine_desc.h"
#include "platforms/speeds.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery perfmodel check [-m MACHINE] [--host HOST] [--confidence 2%]\n"
    "                              [--peak TYPE=GFLOPS,...] [--all] [--json]\n"
    "Checks whether a simulation with the models and bus parameters of a machine can\n"
    "be trusted, what is wrong with them, and what to measure next.\n"
    "  -m, --machine MACHINE  the models and host of a machine, else this one's\n"
    "      --host HOST        the models of this host\n"
    "      --confidence 2%    requested half width of 95 % intervals; five\n"
    "                         times as much is an error\n"
    "      --peak cuda=7000,...  GFlop/s that a device (for cpu: a core) cannot\n"
    "                         exceed\n"
    "      --all              each finding, else one of each type per kernel and\n"
    "                         architecture\n"
    "      --json             as JSON\n"
    "Exit codes: 0 when nothing is an error, warnings or not; 1 when a simulation\n"
    "cannot be trusted; 2 for a wrong command line.\n"
    "example: orrery perfmodel check -m mirage --confidence 5%\n";

/* Moves what `from` found to the end of `to`. */
static int take_findings(struct orr_findings *to,
                         const struct orr_findings *from)
{
    for (size_t i = 0; i < from->n; i++) {
        const struct orr_finding *f = &from->items[i];
        struct orr_finding_place place = {f->kernel, f->arch,
                                          f->has_hash ? &f->hash : NULL};

        orr_findings_add(to, f->severity, f->fault, &place, f->remedy, "%s",
                         f->text);
    }
    return from->failed || to->failed ? -ENOMEM : 0;
}

/* -- the machine around the models -- */

/* The devices of a kind that the machine lets use the models of another. */
static void note_likes(const struct orr_machine_desc *machine, const char *kind,
                       uint64_t *ret)
{
    *ret = 0;
    for (unsigned h = 0; h < machine->nhosts; h++) {
        int number = orr_host_desc_number(&machine->hosts[h], kind);

        if (number >= 0 && number < 64 &&
            orr_host_desc_models_of(&machine->hosts[h], kind) >= 0)
            *ret |= UINT64_C(1) << number;
    }
}

/* Computed times among the measured ones; a machine that is derived as a whole
 * has said so. */
static void look_at_origins(const struct check_result *check_result,
                            struct orr_findings *findings)
{
    unsigned nrows = 0, nmeasured = 0;

    for (unsigned a = 0; a < check_result->narchs; a++) {
        const struct check_arch *arch = &check_result->archs[a];

        nrows += arch->nrows;
        nmeasured += arch->origins.n[ORR_ORIGIN_MEASURED] +
                     arch->origins.n[ORR_ORIGIN_IMPORTED];
    }
    for (size_t i = 0; i < findings->n; i++)
        if (!strcmp(findings->items[i].fault, "derived"))
            return;
    if (nmeasured < nrows)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "derived-kernels",
                         NULL, "calibrate there, if that can be had",
                         "%u of %u times of kernels are computed, not measured",
                         nrows - nmeasured, nrows);
}

/* Reads from the description of the chosen machine: how many devices of each
 * type, and whether they were measured. */
static int look_at_machine(const struct perfmodel_choice *choice,
                           const struct perfmodel_place *place,
                           struct check_options *options,
                           struct orr_findings *findings)
{
    struct orr_machine_desc *machine;
    struct orr_error err = {""};
    int rc;

    if (!choice->machine)
        return 0;
    rc = orr_machine_desc_load(
        choice->machine, orr_sampling_dirs(place->sampling), &machine, &err);
    if (rc < 0) {
        tool_error("%s", err.text);
        return rc;
    }
    options->ndevices[ORR_DEVICE_CPU] = machine->ncpu > 0;
    options->ndevices[ORR_DEVICE_CUDA] = machine->ncuda;
    options->ndevices[ORR_DEVICE_OPENCL] = machine->nopencl;
    note_likes(machine, "CUDA", &options->like[ORR_DEVICE_CUDA]);
    note_likes(machine, "OpenCL", &options->like[ORR_DEVICE_OPENCL]);
    if (machine->provenance && !strcmp(machine->provenance, "derived"))
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "derived", NULL,
                         "calibrate on such a machine, if one can be had",
                         "the bandwidths and latencies of %s are derived from "
                         "published ones, not measured",
                         machine->name);
    orr_machine_desc_free(machine);
    return 0;
}

/* Whether any model is of a device that data must be sent to. */
static bool result_has_devices(const struct check_result *check_result)
{
    for (unsigned i = 0; i < check_result->narchs; i++)
        if (strncmp(check_result->archs[i].arch, "cpu", 3) != 0)
            return true;
    return false;
}

static int look_at_bus(const struct perfmodel_choice *choice,
                       const struct perfmodel_place *place,
                       struct check_result *check_result)
{
    struct orr_findings *findings = &check_result->findings;
    const char *name = choice->machine ? choice->machine : place->host;
    struct orr_finding_place where = {.kernel = "bus"};
    struct orr_findings found = {0};
    struct orr_error err = {""};
    int rc = orr_doctor_examine_machine(
        name, orr_sampling_dirs(place->sampling), &found, &err);

    if (rc == -ENOENT && !result_has_devices(check_result)) {
        rc = 0; /* nothing is transferred */
    } else if (rc == -ENOENT) {
        orr_findings_add(findings, ORR_SEVERITY_NOTE, "no-bus", &where,
                         "orrery machine copy FILE.xml describes this machine",
                         "there are no bandwidths and latencies of %s: "
                         "transfers were not checked",
                         name);
        rc = 0;
    } else if (rc < 0 && rc != -ENOMEM) {
        tool_report(&err, rc);
    }
    for (size_t i = 0; i < found.n && rc == 0; i++) {
        const struct orr_finding *f = &found.items[i];

        orr_findings_add(findings, f->severity, f->fault, &where, f->remedy,
                         "%s", f->text);
    }
    orr_findings_done(&found);
    return rc;
}

/* -- the command line -- */

static int parse_confidence(const char *text, double *ret)
{
    if (program_share(text, ret) == 0)
        return 0;
    tool_error("perfmodel check: --confidence %s: give a share such as 2%% or "
               "0.02",
               text);
    return -EINVAL;
}

/* "cuda=7000" */
static int parse_peak(char *piece, double peak[CHECK_NTYPES])
{
    char *value = strchr(piece, '='), *end = NULL;
    int type = -1;
    double gflops = 0;

    if (value) {
        *value++ = '\0';
        type = orr_device_type_find(piece);
        gflops = strtod(value, &end);
    }
    if (type < 0 || type >= CHECK_NTYPES || end == value || *end ||
        !(gflops > 0) || !isfinite(gflops)) {
        tool_error(
            "perfmodel check: --peak %s: give a device type and GFlop/s, "
            "such as %s",
            piece, type == ORR_DEVICE_CPU ? "cpu=64" : "cuda=7000");
        return -EINVAL;
    }
    peak[type] = gflops;
    return 0;
}

static int parse_peaks(const char *text, double peak[CHECK_NTYPES])
{
    char **pieces = tool_split(text);
    int rc = pieces ? 0 : -ENOMEM;

    for (size_t i = 0; pieces && pieces[i] && rc == 0; i++)
        rc = parse_peak(pieces[i], peak);
    free(pieces);
    return rc;
}

/* -- putting it together -- */

static int check_set(struct model_set *set,
                     const struct perfmodel_choice *choice,
                     const struct perfmodel_place *place,
                     struct check_options *options, struct check_result *ret)
{
    int rc = look_at_machine(choice, place, options, &set->problems);

    if (rc == 0)
        rc = check_models(set->models, set->n, options, ret);
    if (rc < 0)
        return rc;
    look_at_origins(ret, &set->problems);
    if (set->n == 0)
        orr_findings_add(
            &ret->findings, ORR_SEVERITY_ERROR, "no-models", NULL,
            "run a program here with STARPU_CALIBRATE=1, or name "
            "another host; orrery perfmodel list shows those there "
            "are",
            "there is no readable model of host %s", place->host);
    rc = take_findings(&ret->findings, &set->problems);
    if (rc == 0)
        rc = look_at_bus(choice, place, ret);
    if (rc == 0 && ret->findings.failed)
        rc = -ENOMEM;
    if (rc < 0) {
        check_result_done(ret);
        return rc;
    }
    orr_findings_sort(&ret->findings);
    check_result_count(ret);
    return 0;
}

static int check_all_models(const struct perfmodel_choice *choice,
                            struct check_options *options,
                            const struct check_print_options *print)
{
    struct perfmodel_place place;
    struct check_result check_result = {0};
    struct model_set set = {0};
    int result = TOOL_FAILED, rc = perfmodel_open(choice, &place);

    if (rc < 0)
        return TOOL_FAILED;
    rc = model_set_read(&place, NULL, NULL, &set);
    if (rc == 0)
        rc = check_set(&set, choice, &place, options, &check_result);
    if (rc == 0)
        rc = print->json ? check_print_json(&check_result, place.host)
                         : check_print(&check_result, place.host, print);
    if (rc == 0 &&
        orr_findings_count(&check_result.findings, ORR_SEVERITY_ERROR) == 0)
        result = TOOL_OK;
    if (rc == -ENOMEM)
        tool_error("out of memory");
    check_result_done(&check_result);
    model_set_done(&set);
    perfmodel_close(&place);
    return result;
}

int perfmodel_check(int argc, char **argv)
{
    struct perfmodel_choice choice = {0};
    const char *confidence = NULL, *peak = "";
    struct check_print_options print = {0};
    const struct tool_option options[] = {
        {'m', "machine", &choice.machine, NULL},
        {0, "host", &choice.host, NULL},
        {0, "confidence", &confidence, NULL},
        {0, "peak", &peak, NULL},
        {0, "all", NULL, &print.all},
        {0, "json", NULL, &print.json},
        {0}};
    struct check_options checker = {
        .confidence = CHECK_CONFIDENCE,
        .minimum = perfmodel_minimum(),
        .homogeneous = orr_homogeneous_from_env(orr_getenv),
    };
    int first = tool_parse(argc, argv, options, help);

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first < argc) {
        tool_error("perfmodel check: %s is one operand too many; all models of "
                   "a machine are checked, see orrery perfmodel check --help",
                   argv[first]);
        return TOOL_USAGE;
    }
    if ((confidence && parse_confidence(confidence, &checker.confidence) < 0) ||
        parse_peaks(peak, checker.peak) < 0)
        return TOOL_USAGE;
    print.confidence = checker.confidence;
    return check_all_models(&choice, &checker, &print);
}
