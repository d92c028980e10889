/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/foreign.c - see foreign.h. */
#include "tools/common/foreign.h"

#include "core/base/result.h"
#include "import/import.h"
#include "record/write.h"
#include "tools/common/tool.h"

#include <stdint.h>
#include <string.h>

/* The option for a schedule by the workers where tasks ran. */
#define PINNED "--static-workerid"

bool foreign_is_one(const char *path)
{
    return orr_import_format(path) != NULL;
}

void foreign_words(char *const *operands, int n, bool pinned,
                   char *words[FOREIGN_WORDS])
{
    int w = 0;

    words[w++] = operands[0];
    if (pinned)
        words[w++] = (char *)(uintptr_t)PINNED;
    if (n > 1)
        words[w++] = operands[1];
    words[w] = NULL;
}

bool foreign_is_same(char *const *a, char *const *b)
{
    for (; *a && *b; a++, b++)
        if (strcmp(*a, *b) != 0)
            return false;
    return !*a && !*b;
}

static int read_import_options(char *const *argv,
                               struct orr_import_options *ret)
{
    const char *format = orr_import_format(argv[0]);
    bool has_schedule = format && !strcmp(format, "tasks.rec");

    *ret = (struct orr_import_options){0};
    for (size_t i = 1; argv[i]; i++) {
        if (has_schedule && !strcmp(argv[i], PINNED)) {
            ret->recorded_workers = true;
        } else if (has_schedule && argv[i][0] != '-' && !ret->schedule) {
            ret->schedule = argv[i];
        } else {
            tool_error("%s: %s goes with no file of the format %s%s", argv[0],
                       argv[i], format ? format : "that it has",
                       has_schedule ? ": " PINNED " and a sched.rec do" : "");
            return -1;
        }
    }
    return 0;
}

/* Ends a result, and says what went wrong but has no message yet. */
static int end_result(struct orr_result *out, const char *path, int rc, const char *said)
{
    rc = orr_result_close(out, rc);
    if (rc && !*said)
        tool_error("%s cannot be written: %s", path, strerror(-rc));
    return rc ? -1 : 0;
}

bool foreign_is_timeline(const char *path)
{
    return orr_import_is_timeline(path);
}

int foreign_timeline(const char *path, const char *trace)
{
    struct orr_error err = {""};
    struct orr_result out;
    int rc = orr_result_open(trace, &out);

    if (rc) {
        tool_error("%s: %s", trace, strerror(-rc));
        return -1;
    }
    rc = orr_import_timeline(path, out.file, &err);
    if (rc)
        tool_error("%s", err.text);
    return end_result(&out, trace, rc, err.text);
}

int foreign_models(const char *path, const struct orr_import_options *how, const char *models)
{
    struct orr_error err = {""};
    struct orr_result out;
    int rc = orr_result_open(models, &out);

    if (rc) {
        tool_error("%s: %s", models, strerror(-rc));
        return -1;
    }
    rc = orr_import_models(path, how, out.file, &err);
    if (rc)
        tool_error("%s", err.text);
    return end_result(&out, models, rc, err.text);
}

int foreign_import_as(const char *path, const struct orr_import_options *options,
                      const char *record)
{
    struct orr_import_options how = *options;
    struct orr_error err = {""};
    struct orr_result out;
    int rc;

    how.binary = orr_record_is_binary_name(record);
    rc = orr_result_open(record, &out);
    if (rc) {
        tool_error("%s: %s", record, strerror(-rc));
        return -1;
    }
    rc = orr_import(path, &how, out.file, &err);
    if (rc)
        tool_error("%s", err.text);
    return end_result(&out, record, rc, err.text);
}

int foreign_import(char *const *argv, const struct orr_import_options *how, const char *record)
{
    struct orr_import_options options;

    if (read_import_options(argv, &options) < 0)
        return -1;
    if (how) {
        options.kinds = how->kinds;
        options.any_device = how->any_device;
        options.replicas = how->replicas;
        options.scale = how->scale;
        options.exchange_bytes = how->exchange_bytes;
    }
    return foreign_import_as(argv[0], &options, record);
}
