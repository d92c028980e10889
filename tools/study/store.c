/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/study/store.c - see store.h. */
#include "tools/study/store.h"

#include "tools/common/json.h"
#include "tools/common/tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct study_store {
    json_t *lines; /* owned: by key */
    char *path;    /* owned: of the file that is added to */
    int fd;        /* -1: none */
    bool failed;
};

/* ---- results ---- */

void study_result_done(struct study_result *result)
{
    free(result->problem);
    free(result->policy);
    free(result->figures);
    *result = (struct study_result){0};
}

int study_result_of(const struct report *report, struct study_result *ret)
{
    *ret = (struct study_result){.there = true,
                                 .makespan_us = report->makespan_us,
                                 .flops = report->flops,
                                 .tasks = (double)report->tasks,
                                 .moved_bytes = (double)report->transferred_bytes,
                                 .message_bytes = (double)report->message_bytes,
                                 .evictions = (double)report->evictions,
                                 .idle = report_idle(report),
                                 .energy_j = report_joules(report)};
    ret->policy = strdup(report->scheduler);
    if (report->provenance)
        ret->figures = strdup(report->provenance);
    return ret->policy && (ret->figures || !report->provenance) ? 0 : -1;
}

static const struct result_number {
    const char *name;
    size_t offset;
} numbers[] = {
#define NUMBER(name) {#name, offsetof(struct study_result, name)}
    NUMBER(makespan_us),   NUMBER(flops),     NUMBER(tasks), NUMBER(moved_bytes),
    NUMBER(message_bytes), NUMBER(evictions), NUMBER(idle),  NUMBER(energy_j),
#undef NUMBER
};

static json_t *result_json(const struct study_result *result)
{
    json_t *json = json_object();

    if (result->problem) {
        json_object_set_new(json, "error", tool_json_text(result->problem));
        return json;
    }
    json_object_set_new(json, "policy", tool_json_text(result->policy));
    json_object_set_new(json, "figures", tool_json_text(result->figures));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        double value;

        memcpy(&value, (const char *)result + numbers[i].offset, sizeof(value));
        json_object_set_new(json, numbers[i].name, tool_json_number(value));
    }
    return json;
}

static char *copy_of(const json_t *json)
{
    return json_is_string(json) ? strdup(json_string_value(json)) : NULL;
}

int study_store_read(const json_t *line, struct study_result *ret)
{
    const json_t *json = json_object_get(line, "result"), *error = json_object_get(json, "error");

    *ret = (struct study_result){.there = true};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        const json_t *number = json_object_get(json, numbers[i].name);
        double value = json_is_number(number) ? json_number_value(number) : (double)NAN;

        memcpy((char *)ret + numbers[i].offset, &value, sizeof(value));
    }
    ret->problem = copy_of(error);
    ret->policy = copy_of(json_object_get(json, "policy"));
    ret->figures = copy_of(json_object_get(json, "figures"));
    return ret->policy || ret->problem ? 0 : -1;
}

/* ---- reading ---- */

static bool has_failed(const json_t *line)
{
    return json_object_get(json_object_get(line, "result"), "error") != NULL;
}

/* Takes the reference. */
static void take_line(struct study_store *store, json_t *line)
{
    const char *key = json_string_value(json_object_get(line, "key"));
    const json_t *before = key ? json_object_get(store->lines, key) : NULL;

    if (!key || !json_is_object(json_object_get(line, "result")) ||
        (before && has_failed(line) && !has_failed(before)))
        json_decref(line);
    else
        json_object_set_new(store->lines, key, line);
}

static int read_lines(struct study_store *store, const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    ssize_t length;

    if (!file)
        return tool_fail(TOOL_FAILED, "study: %s: %s", path, strerror(errno));
    while ((length = getline(&text, &size, file)) > 0) {
        /* One that another command is writing, or that was cut off, is none. */
        json_t *line = json_loadb(text, (size_t)length, 0, NULL);

        if (line)
            take_line(store, line);
    }
    free(text);
    if (ferror(file)) {
        fclose(file);
        return tool_fail(TOOL_FAILED, "study: %s cannot be read", path);
    }
    fclose(file);
    return TOOL_OK;
}

static int is_of_results(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name), tail = strlen(".jsonl");

    return n > tail && !strcmp(entry->d_name + n - tail, ".jsonl");
}

static int read_folder(struct study_store *store, const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_of_results, alphasort), code = TOOL_OK;

    if (n < 0)
        return tool_fail(TOOL_FAILED, "study: %s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path = tool_format("%s/%s", folder, entries[i]->d_name);

        if (code == TOOL_OK)
            code = path ? read_lines(store, path) : tool_fail(TOOL_FAILED, "out of memory");
        free(path);
        free(entries[i]);
    }
    free(entries);
    return code;
}

/* ---- writing ---- */

static int write_text(struct study_store *store, const char *text, size_t length)
{
    ssize_t written = write(store->fd, text, length);

    if (written == (ssize_t)length)
        return TOOL_OK;
    return tool_fail(TOOL_FAILED, "study: %s: %s", store->path,
                     written < 0 ? strerror(errno) : "it is full: results are missing in it");
}

/* What follows a line that was cut off begins a line of its own. */
static int end_last_line(struct study_store *store)
{
    struct stat st;
    char last;

    if (fstat(store->fd, &st) < 0 || st.st_size == 0 ||
        pread(store->fd, &last, 1, st.st_size - 1) != 1 || last == '\n')
        return TOOL_OK;
    return write_text(store, "\n", 1);
}

int study_store_open(const char *folder, const char *file, struct study_store **ret)
{
    struct study_store *store = calloc(1, sizeof(*store));
    int code = TOOL_OK;

    *ret = store;
    if (!store)
        return tool_fail(TOOL_FAILED, "out of memory");
    store->fd = -1;
    store->lines = json_object();
    store->path = file ? tool_format("%s/%s", folder, file) : NULL;
    if (!store->lines || (file && !store->path))
        return tool_fail(TOOL_FAILED, "out of memory");
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return tool_fail(TOOL_FAILED, "study: %s: %s; --store names another folder", folder,
                         strerror(errno));
    if (file) {
        store->fd = open(store->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        code = store->fd < 0 ? tool_fail(TOOL_FAILED, "study: %s: %s; --store names another folder",
                                         store->path, strerror(errno))
                             : end_last_line(store);
    }
    return code == TOOL_OK ? read_folder(store, folder) : code;
}

void study_store_close(struct study_store *store)
{
    if (!store)
        return;
    if (store->fd >= 0)
        close(store->fd);
    json_decref(store->lines);
    free(store->path);
    free(store);
}

const json_t *study_store_find(const struct study_store *store, const char *key)
{
    return json_object_get(store->lines, key);
}

bool study_store_is_good(const struct study_store *store)
{
    return !store->failed;
}

void study_store_add(struct study_store *store, const char *key, const struct study_run *run,
                     const struct study_result *result)
{
    json_t *line = json_pack("{s:s, s:{s:o, s:o, s:o, s:o, s:s, s:o, s:I}, s:o}", "key", key, "run",
                             "program", tool_json_text(run->program->name), "size",
                             tool_json_text(run->size->text), "machine",
                             tool_json_text(run->machine), "edits", tool_json_text(run->edits),
                             "noise", run->noise, "policy", tool_json_text(run->policy),
                             "repetition", (json_int_t)run->repetition, "result",
                             result_json(result));
    char *text = line ? json_dumps(line, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17))
                      : NULL;
    size_t length = text ? strlen(text) : 0;

    if (line)
        take_line(store, line);
    if (store->failed || store->fd < 0) {
        free(text);
        return;
    }
    if (text) {
        text[length] = '\n'; /* in the place of its end */
        store->failed = write_text(store, text, length + 1) != TOOL_OK;
    } else {
        store->failed = true;
        tool_error("out of memory");
    }
    free(text);
}
