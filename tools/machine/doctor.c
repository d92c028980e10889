/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/doctor.c - see doctor.h. */
#include "tools/machine/doctor.h"
#include "tools/machine/cluster.h"

#include "core/base/plural.h"
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/quiet.h"
#include "tools/common/tool.h"

#include "perfmodel/sampling.h"
#include "platforms/doctor.h"
#include "platforms/machine_desc.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery machine doctor [NAME | -m NAME] [--set EDIT] [--json]\n"
    "Checks the bandwidths and latencies between the memories of a machine, by which\n"
    "schedulers predict transfers, and prints what is wrong and what to do: links\n"
    "without value, devices on a narrow slot, memory that was not pinned, peers that\n"
    "are slower than main memory, files that contradict each other, main memories\n"
    "(RAM0, RAM1 ...) without routes or slower than a device's link. NAME is a\n"
    "machine of `orrery machine list`, a platform file, or a host whose bus StarPU\n"
    "has measured; without it, this host. It may be a cluster: then also whether its\n"
    "network suits the nodes, and its latencies and bandwidths can be.\n"
    "      --json  as JSON\n"
    "Exit codes: 0; 1 when there is an error; 2 for a wrong command line.\n"
    "example: orrery machine doctor mirage\n";

/* Text broken at blanks, behind `indent` blanks but in the first line. */
static void print_wrapped(const char *text, int indent)
{
    int column = indent;

    while (*(text += strspn(text, " "))) {
        int length = (int)strcspn(text, " ");

        if (column > indent && column + 1 + length > 78) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf("%s%.*s", column > indent ? " " : "", length, text);
        text += length;
    }
    putchar('\n');
}

static void print_findings_text(const char *name,
                                const struct orr_findings *findings)
{
    size_t nerrors = orr_findings_count(findings, ORR_SEVERITY_ERROR);
    size_t nwarnings = orr_findings_count(findings, ORR_SEVERITY_WARNING);
    size_t nnotes = orr_findings_count(findings, ORR_SEVERITY_NOTE);

    for (size_t i = 0; i < findings->n; i++) {
        const struct orr_finding *item = &findings->items[i];

        printf("%-9s", orr_severity_name(item->severity));
        print_wrapped(item->text, 9);
        printf("%9s", "");
        print_wrapped(item->remedy, 9);
        putchar('\n');
    }
    printf("%s: ", name);
    if (findings->n == 0)
        printf("healthy\n");
    else
        printf("%zu error%s, %zu warning%s, %zu note%s\n", nerrors,
               orr_plural(nerrors), nwarnings, orr_plural(nwarnings), nnotes,
               orr_plural(nnotes));
}

static int print_findings_json(const char *name,
                               const struct orr_findings *findings)
{
    json_t *items = json_array(), *root;

    for (size_t i = 0; i < findings->n; i++) {
        const struct orr_finding *item = &findings->items[i];

        json_array_append_new(items,
                              json_pack("{s:s, s:s, s:s, s:s}", "severity",
                                        orr_severity_name(item->severity),
                                        "fault", item->fault, "text",
                                        item->text, "remedy", item->remedy));
    }
    root = json_pack("{s:s, s:b, s:o}", "machine", name, "healthy",
                     orr_findings_count(findings, ORR_SEVERITY_ERROR) == 0,
                     "findings", items);
    return tool_json_print(root);
}

/* The machine after edits. */
static int examine_edited(const char *name, const char *edits,
                          const char *const *sampling_dirs, bool json)
{
    struct orr_machine_desc *desc;
    struct orr_findings findings = {0};
    struct orr_error err = {""};
    int result = TOOL_FAILED;

    if (orr_machine_desc_load(name, sampling_dirs, &desc, &err) < 0) {
        tool_error("%s", err.text);
        return TOOL_FAILED;
    }
    if (edits_apply(desc, edits) == 0) {
        if (orr_doctor_examine_desc(desc, &findings, &err) < 0)
            tool_error("%s", err.text);
        else if (json && print_findings_json(name, &findings) < 0)
            tool_error("the findings could not be printed");
        else if (!orr_findings_count(&findings, ORR_SEVERITY_ERROR))
            result = TOOL_OK;
        if (!json)
            print_findings_text(name, &findings);
    }
    orr_findings_done(&findings);
    orr_machine_desc_free(desc);
    return fflush(stdout) == 0 ? result : TOOL_FAILED;
}

/* `here`: it is the machine at hand, whose bus may not have been measured. */
static int doctor_examine_machine(bool here, const char *name,
                                  const char *const *sampling_dirs, bool json)
{
    struct orr_findings findings = {0};
    struct orr_error err = {""};
    int result = TOOL_FAILED;
    int rc = orr_doctor_examine_machine(name, sampling_dirs, &findings, &err);

    if (rc == -ENOENT && here)
        tool_error("machine doctor: the bus of this host, %s, has not been measured: "
                   "orrery calibrate bus does it; or name a machine",
                   name);
    else if (rc < 0)
        tool_error("%s", err.text);
    else if (json && print_findings_json(name, &findings) < 0)
        tool_error("the findings could not be printed");
    else if (!orr_findings_count(&findings, ORR_SEVERITY_ERROR))
        result = TOOL_OK;
    if (rc == 0 && !json)
        print_findings_text(name, &findings);
    orr_findings_done(&findings);
    return fflush(stdout) == 0 ? result : TOOL_FAILED;
}

/* The host under which StarPU and this library would look up the bus of this
 * machine. */
static int examine_here(const char *const *sampling_dirs, bool json)
{
    struct orr_host_options options = {
        .mpi_hostnames = getenv("STARPU_MPI_HOSTNAMES"),
        .hostname = getenv("STARPU_HOSTNAME"),
    };
    struct orr_error err = {""};
    char *host;
    int result, rc = orr_host_name(&options, &host, &err);

    if (rc < 0) {
        tool_report(&err, rc);
        return TOOL_FAILED;
    }
    quiet_begin(json);
    result = doctor_examine_machine(true, host, sampling_dirs, json);
    free(host);
    return result;
}

/* Returns 1 if it is none. */
static int doctor_examine_cluster(const char *name, const char *edits,
                                  const char *const *sampling_dirs, bool json,
                                  int *ret)
{
    struct machine_cluster cluster;
    struct orr_findings findings = {0};
    struct orr_error err = {""};
    int rc = machine_cluster_open(name, edits, sampling_dirs, &cluster);

    *ret = TOOL_FAILED;
    if (rc)
        return rc;
    rc = machine_cluster_examine(&cluster, &findings, &err);
    if (rc < 0)
        tool_report(&err, rc);
    else if (json && print_findings_json(name, &findings) < 0)
        tool_error("the findings could not be printed");
    else if (!orr_findings_count(&findings, ORR_SEVERITY_ERROR))
        *ret = TOOL_OK;
    if (rc == 0 && !json)
        print_findings_text(name, &findings);
    orr_findings_done(&findings);
    machine_cluster_close(&cluster);
    if (fflush(stdout) != 0)
        *ret = TOOL_FAILED;
    return 0;
}

int machine_doctor(int argc, char **argv, const char *const *sampling_dirs,
                   bool json)
{
    const char *name = NULL, *edits = NULL;
    const struct tool_option options[] = {{'m', "machine", &name, NULL},
                                          {TOOL_JOINED, "set", &edits, NULL},
                                          {0, "json", NULL, &json},
                                          {0}};
    int noperands, result;

    result = tool_parse_operands(argc, argv, options, help, &noperands);
    if (result <= 0)
        return result < 0 ? TOOL_USAGE : TOOL_OK;
    if (noperands > (name ? 0 : 1) || (edits && !name && !noperands)) {
        tool_error("machine doctor: %s; see orrery machine doctor --help",
                   noperands ? "one NAME or -m NAME, and no more"
                             : "which machine is --set to edit?");
        free((char *)(uintptr_t)edits);
        return TOOL_USAGE;
    }
    if (noperands)
        name = argv[1];
    if (name && doctor_examine_cluster(name, edits, sampling_dirs, json, &result) != 1) {
        free((char *)(uintptr_t)edits);
        return result;
    }
    if (edits) {
        result = examine_edited(name, edits, sampling_dirs, json);
        free((char *)(uintptr_t)edits);
        return result;
    }
    return name ? doctor_examine_machine(false, name, sampling_dirs, json)
                : examine_here(sampling_dirs, json);
}
