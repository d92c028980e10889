/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/record/import.c - `orrery record import`: a record of the tasks in a file
 * of another program. One thread.
 */
#include "core/base/result.h"
#include "platforms/units.h"
#include "record/read.h"
#include "record/write.h"
#include "tools/common/foreign.h"
#include "tools/common/input.h"
#include "tools/common/tool.h"
#include "tools/record/record.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery record import -o FILE [--kinds RULES] [--static-workerid]\n"
    "                            [--scale N] [--replicas N [--exchange BYTES]]\n"
    "                            [--any-device] [--timeline FILE.csv]\n"
    "                            [--models FILE.json] [--json] TASKS [SCHEDULE]\n"
    "Makes a record of a graph of tasks that another program has written (docs/\n"
    "IMPORT.md): the tasks.rec of a StarPU trace (with the data.rec beside it, and a\n"
    "sched.rec), workflows as DAX (Pegasus) or JSON (WfCommons), graphs as DOT or\n"
    "lists of edges (from,to,bytes in a .csv), StarVZ's application.csv with dag.csv;\n"
    "timelines: trace events in JSON, also in .json.gz (PyTorch's profiler, Chrome,\n"
    "Perfetto, ours), and what Nsight Systems exports as SQLite.\n"
    "Such files may also stand where a program or a record does: orrery compare -m\n"
    "MACHINE -s eager,dmda -- tasks.rec.\n"
    "A record is copied, from and to the compact form. - is standard input.\n"
    "  -o, --output FILE          where the record goes; .recb: in the compact form\n"
    "      --kinds RULES          which kernel a task is of, separated by ;: name\n"
    "                             (as it stands in the file), field:FIELD (what\n"
    "                             that field has), PATTERN=KIND (of tasks whose name\n"
    "                             matches, such as align_*=align)\n"
    "      --static-workerid      a tasks.rec on the workers where its tasks ran\n"
    "      --scale N              a workflow or graph of the same shape, N times as\n"
    "                             wide: of tasks of which there are several in one\n"
    "                             role there are N times as many\n"
    "      --any-device           the policy chooses the devices of a timeline's\n"
    "                             queues, which keep theirs else\n"
    "      --replicas N           N times the tasks, each with data of its own\n"
    "      --exchange BYTES       replicas of a timeline add up so many bytes behind\n"
    "                             each iteration, as in training on N devices: 4GB\n"
    "      --timeline FILE.csv    the timeline as it was, a trace for orrery report\n"
    "      --models FILE.json     what its kernels took on devices, as performance\n"
    "                             models for orrery perfmodel import\n"
    "      --json                 print what is in the record as JSON\n"
    "Kernels take the times of the machine's models, or those that --assume gives;\n"
    "where there are none, those that the file has.\n"
    "Exit codes: 0; 1 when the file cannot be read, or the record not\n"
    "written; 2 for a wrong command line.\n"
    "example: orrery record import -o cholesky.rec tasks.rec\n";

/* Between the two forms. */
static int record_convert_form(const char *from, const char *to)
{
    struct orr_record_reader *reader;
    struct orr_record_writer writer = {.binary = orr_record_is_binary_name(to)};
    const struct orr_call *call;
    struct orr_error err = {""};
    struct orr_result out;
    char *how = NULL;
    int rc = orr_record_open(from, &reader, &err);

    if (rc)
        return tool_fail(TOOL_FAILED, "record import: %s", err.text);
    rc = orr_result_open(to, &out);
    if (rc) {
        orr_record_close(reader);
        return tool_fail(TOOL_FAILED, "record import: %s: %s", to,
                         strerror(-rc));
    }
    writer.file = out.file;
    orr_record_begin(&writer);
    while ((rc = orr_record_next(reader, &call, &err)) > 0) {
        if (call->verb != ORR_CALL_END)
            orr_record_write(&writer, call);
        else if (call->text)
            how = tool_format("%s", call->text);
    }
    if (orr_record_end(&writer, how) && !rc)
        rc = -ENOMEM;
    rc = orr_result_close(&out, rc);
    orr_record_close(reader);
    free(how);
    if (*err.text)
        return tool_fail(TOOL_FAILED, "record import: %s", err.text);
    if (rc)
        return tool_fail(TOOL_FAILED, "record import: %s cannot be written: %s",
                         to, strerror(-rc));
    return TOOL_OK;
}

static int record_import_graph(const char *path, char **operands, int n, bool pinned,
                               const struct orr_import_options *how)
{
    int code = input_take_words("record import", n, operands);
    char *words[FOREIGN_WORDS];

    if (code != TOOL_OK)
        return code;
    if (how->kinds && orr_record_is_one(operands[0]))
        return tool_fail(TOOL_USAGE,
                         "record import: --kinds is for files of other programs: %s "
                         "is a record, whose tasks have their kernels",
                         operands[0]);
    if ((how->replicas > 1 || how->scale > 1) && orr_record_is_one(operands[0]))
        return tool_fail(TOOL_USAGE, "record import: --replicas and --scale are for files of "
                                     "other programs: %s is a record", operands[0]);
    if (n == 1 && !pinned && orr_record_is_one(operands[0]))
        return record_convert_form(operands[0], path);
    if (!foreign_is_one(operands[0])) {
        if (access(operands[0], R_OK) < 0)
            return tool_fail(TOOL_FAILED, "record import: %s: %s", operands[0],
                             strerror(errno));
        return tool_fail(TOOL_FAILED,
                         "record import: %s has no format that can be "
                         "imported: orrery record import --help lists them",
                         operands[0]);
    }
    foreign_words(operands, n, pinned, words);
    return foreign_import(words, how, path) < 0 ? TOOL_FAILED : TOOL_OK;
}

/* How many times; 1 without. A message and an exit code. */
static int read_times(const char *option, const char *text, size_t *ret)
{
    char *end = NULL;
    unsigned long n = text ? strtoul(text, &end, 10) : 1;

    if (text && (*end || n < 1 || n > 65536 || !isdigit((unsigned char)*text)))
        return tool_fail(TOOL_USAGE, "record import: --%s takes a number from 1 to 65536, not "
                                     "\"%s\"", option, text);
    *ret = n;
    return TOOL_OK;
}

/* What replicas exchange. A message and an exit code. */
static int read_exchange(const char *exchange, struct orr_import_options *ret)
{
    const char *wrong;

    if (!exchange)
        return TOOL_OK;
    wrong = orr_quantity_parse(ORR_QUANTITY_SIZE, exchange, &ret->exchange_bytes);
    if (!wrong && !(ret->exchange_bytes >= 1 && ret->exchange_bytes < 1e18))
        wrong = "from 1 byte on";
    if (wrong)
        return tool_fail(TOOL_USAGE, "record import: --exchange takes bytes, such as 4GB, not "
                                     "\"%s\": %s", exchange, wrong);
    if (ret->replicas < 2)
        return tool_fail(TOOL_USAGE, "record import: --exchange is between replicas: --replicas "
                                     "says how many, from 2 on");
    return TOOL_OK;
}

int record_import(int argc, char **argv)
{
    const char *path = NULL, *timeline = NULL, *models = NULL, *replicas = NULL, *exchange = NULL,
               *scale = NULL;
    struct orr_import_options how = {0};
    bool pinned = false, json = false;
    const struct tool_option options[] = {{'o', "output", &path, NULL},
                                          {0, "kinds", &how.kinds, NULL},
                                          {0, "any-device", NULL, &how.any_device},
                                          {0, "scale", &scale, NULL},
                                          {0, "replicas", &replicas, NULL},
                                          {0, "exchange", &exchange, NULL},
                                          {0, "timeline", &timeline, NULL},
                                          {0, "models", &models, NULL},
                                          {0, "static-workerid", NULL, &pinned},
                                          {0, "json", NULL, &json},
                                          {0}};
    char name[] = "record import";
    int n, result;

    argv[0] = name;
    result = tool_parse_operands(argc, argv, options, help, &n);
    if (result <= 0)
        return result < 0 ? TOOL_USAGE : TOOL_OK;
    if (n < 1 || n > 2)
        return tool_fail(TOOL_USAGE, "record import: which file? One is named, "
                                     "with a schedule behind it if it is a "
                                     "tasks.rec");
    if (!path)
        return tool_fail(TOOL_USAGE, "record import: where to? -o FILE names "
                                     "the record");
    result = read_times("replicas", replicas, &how.replicas);
    if (result == TOOL_OK)
        result = read_times("scale", scale, &how.scale);
    if (result == TOOL_OK)
        result = read_exchange(exchange, &how);
    if (result == TOOL_OK)
        result = tool_check_output("record import: -o", path);
    if (result == TOOL_OK && timeline)
        result = tool_check_output("record import: --timeline", timeline);
    if (result == TOOL_OK && models)
        result = tool_check_output("record import: --models", models);
    if (result == TOOL_OK)
        result = record_import_graph(path, argv + 1, n, pinned, &how);
    if (result == TOOL_OK && timeline && foreign_timeline(argv[1], timeline) < 0)
        result = TOOL_FAILED;
    if (result == TOOL_OK && models && foreign_models(argv[1], &how, models) < 0)
        result = TOOL_FAILED;
    if (result == TOOL_OK && !record_tell(path, json))
        result = TOOL_FAILED;
    return result;
}
