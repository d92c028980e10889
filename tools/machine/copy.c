/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/copy.c - `orrery machine copy`: a platform file of this machine
 * or of another one, after edits. One thread.
 */
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/machine/machine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: orrery machine copy FILE.xml [-m NAME] [--set EDIT] [--json]\n"
    "Writes a description of this machine, to be calibrated by real runs and\n"
    "simulated with -m FILE.xml; or of another one, so that edits can be kept.\n"
    "  -m, --machine NAME         that machine instead of this one\n" EDITS_HELP
    "      --json                 report as JSON what was written\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine copy big.xml -m hgx-h100-8 --set 'cuda.count = 16'\n";

static void print_copy_text(const struct orr_machine_desc *desc,
                            const char *path, const char *machine,
                            bool calibrated)
{
    printf("%s: %u CPUs, models of host %s%s\n", path, desc->ncpu, desc->host,
           machine      ? ""
           : calibrated ? ", with what orrery calibrate has measured"
                        : "; links and the runtime's own costs not "
                          "calibrated (orrery calibrate bus, runtime)");
    if (desc->sampling_dir && machine)
        printf("the models lie in %s: name it with STARPU_PERF_MODEL_PATH, or "
               "copy its codelets/ beside the file\n",
               desc->sampling_dir);
}

/* "calibrated" is of this machine alone; null of others. */
static int print_copy_json(const struct orr_machine_desc *desc,
                           const char *path, const char *machine,
                           bool calibrated)
{
    json_t *json = json_pack(
        "{s:o, s:i, s:o, s:o, s:o}", "file", tool_json_text(path), "cpus",
        (int)desc->ncpu, "host", tool_json_text(desc->host), "calibrated",
        machine ? json_null() : json_boolean(calibrated), "models_in",
        tool_json_text(machine ? desc->sampling_dir : NULL));

    return tool_json_print(json) < 0 ? tool_fail(-1, "out of memory") : 0;
}

static int machine_copy_write(const char *path, const char *machine,
                              const char *edits,
                              const char *const *sampling_dirs, bool json)
{
    struct orr_machine_desc *desc;
    struct orr_error err = {""};
    char *calibrated = NULL;
    int rc = machine_open(machine, edits, sampling_dirs, &desc, &calibrated);

    if (rc < 0)
        return TOOL_FAILED;
    rc = orr_machine_desc_write(desc, path, &err);
    if (rc < 0)
        tool_report(&err, rc);
    else if (json)
        rc = print_copy_json(desc, path, machine, calibrated != NULL);
    else
        print_copy_text(desc, path, machine, calibrated != NULL);
    orr_machine_desc_free(desc);
    free(calibrated);
    return rc == 0 ? TOOL_OK : TOOL_FAILED;
}

int machine_copy(int argc, char **argv, const char *const *sampling_dirs,
                 bool json)
{
    const char *machine = NULL, *edits = NULL;
    const struct tool_option options[] = {{'m', "machine", &machine, NULL},
                                          {TOOL_JOINED, "set", &edits, NULL},
                                          {0, "json", NULL, &json},
                                          {0}};
    int noperands, code, rc;

    rc = tool_parse_operands(argc, argv, options, help, &noperands);
    if (rc <= 0) {
        code = rc < 0 ? TOOL_USAGE : TOOL_OK;
    } else if (noperands != 1) {
        tool_error("machine copy: writes one FILE.xml; see orrery machine copy "
                   "--help");
        code = TOOL_USAGE;
    } else {
        code = machine_copy_write(argv[1], machine, edits, sampling_dirs, json);
    }
    free((char *)(uintptr_t)edits);
    return code;
}
