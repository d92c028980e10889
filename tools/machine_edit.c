/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine_edit.c - see machine_edit.h. */
#include "tools/machine_edit.h"

#include "tools/edits.h"
#include "tools/tool.h"

#include "platforms/machine_desc.h"
#include "platforms/present.h"
#include "platforms/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char show_help[] =
    "usage: orrery machine show [NAME | -m NAME] [--set EDIT] [--json]\n"
    "Describes a machine of `orrery machine list` or a platform file.\n"
    "  -m, --machine NAME         the machine\n" EDITS_HELP
    "      --json                 all of the description as JSON\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine show hgx-h100-8 --set 'cuda.count = 16'\n";

static const char copy_help[] =
    "usage: orrery machine copy FILE.xml [-m NAME] [--set EDIT]\n"
    "Writes a description of this machine, to be calibrated by real runs and\n"
    "simulated with -m FILE.xml; or of another one, so that edits can be kept.\n"
    "  -m, --machine NAME         that machine instead of this one\n" EDITS_HELP
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine copy big.xml -m hgx-h100-8 --set 'cuda.count = 16'\n";

struct request {
    const char *word;    /* what is no option, or NULL */
    const char *machine; /* -m, or NULL */
    const char *edits;   /* owned */
    bool json;
};

/* Returns 1, or 0 and the exit code in *ret_code. */
static int read_request(int argc, char **argv, const char *help,
                        struct request *request, int *ret_code)
{
    const struct tool_option options[] = {
        {'m', "machine", &request->machine, NULL},
        {TOOL_JOINED, "set", &request->edits, NULL},
        {0, "json", NULL, &request->json},
        {0}};
    int nwords = 0, rc = tool_parse_words(argc, argv, options, help, &nwords);

    *ret_code = rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (rc > 0 && nwords > 1) {
        tool_error(
            "machine %s: \"%s\" is one word too many; see orrery machine "
            "%s --help",
            argv[0], argv[2], argv[0]);
        *ret_code = TOOL_USAGE;
        rc = 0;
    }
    request->word = rc > 0 && nwords == 1 ? argv[1] : NULL;
    return rc > 0;
}

static void request_done(struct request *request)
{
    free((char *)(uintptr_t)request->edits);
}

static int print(const char *name, const struct request *request,
                 const char *const *sampling_dirs)
{
    struct orr_machine_desc *desc;
    struct orr_error err = {""};
    int rc;

    if (orr_machine_desc_load(name, sampling_dirs, &desc, &err) < 0) {
        tool_error("%s", err.text);
        return TOOL_FAILED;
    }
    rc = edits_apply(desc, request->edits);
    if (rc == 0 && request->json)
        rc = orr_machine_desc_print_json(desc, stdout);
    else if (rc == 0)
        orr_machine_desc_print(desc, stdout);
    orr_machine_desc_free(desc);
    return rc == 0 && fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
}

int machine_show(int argc, char **argv, const char *const *sampling_dirs,
                 bool json)
{
    struct request request = {.json = json};
    int code;

    if (read_request(argc, argv, show_help, &request, &code)) {
        const char *name = request.machine ? request.machine : request.word;

        if (!name || (request.machine && request.word)) {
            tool_error("machine show: which machine? Write NAME or -m NAME");
            code = TOOL_USAGE;
        } else {
            code = print(name, &request, sampling_dirs);
        }
    }
    request_done(&request);
    return code;
}

static int write_copy(const struct request *request,
                      const char *const *sampling_dirs)
{
    struct orr_machine_desc *desc = NULL;
    struct orr_error err = {""};
    char *calibrated = NULL;
    int rc =
        request->machine
            ? orr_machine_desc_load(request->machine, sampling_dirs, &desc,
                                    &err)
            : orr_machine_desc_present(sampling_dirs, getenv("STARPU_HOSTNAME"),
                                       &desc, &calibrated, &err);

    if (rc < 0) {
        tool_error("%s", err.text);
        return TOOL_FAILED;
    }
    rc = edits_apply(desc, request->edits);
    if (rc == 0) {
        rc = orr_machine_desc_write(desc, request->word, &err);
        if (rc < 0)
            tool_error("%s", err.text);
    }
    if (rc == 0)
        printf("%s: %u CPUs, models of host %s%s\n", request->word, desc->ncpu,
               desc->host,
               request->machine ? ""
               : calibrated     ? ", with what orrery calibrate has measured"
                                : ", not calibrated");
    if (rc == 0 && desc->sampling_dir && request->machine)
        printf("the models lie in %s: name it with STARPU_PERF_MODEL_PATH, or "
               "copy its codelets/ beside the file\n",
               desc->sampling_dir);
    orr_machine_desc_free(desc);
    free(calibrated);
    return rc == 0 ? TOOL_OK : TOOL_FAILED;
}

int machine_copy(int argc, char **argv, const char *const *sampling_dirs,
                 bool json)
{
    struct request request = {.json = json};
    int code;

    if (read_request(argc, argv, copy_help, &request, &code)) {
        if (!request.word) {
            tool_error("machine copy: to which file? See orrery machine copy "
                       "--help");
            code = TOOL_USAGE;
        } else {
            code = write_copy(&request, sampling_dirs);
        }
    }
    request_done(&request);
    return code;
}
