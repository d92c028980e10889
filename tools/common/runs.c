/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/runs.c - see runs.h. The first line says of what program the runs
 * are, the others which combination it was and what was reported. A line is written
 * by one call: another command that appends to the same file cannot break it.
 */
#include "tools/common/runs.h"

#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/common/comparison.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT "orrery compare runs 1"

struct runs {
    int fd;
    char *path;  /* owned */
    bool failed; /* what was wrong has been said */
};

/* ---- what identifies a file and a run ---- */

static json_t *json_text_or_null(const char *text)
{
    return text ? tool_json_text(text) : json_null();
}

/* The program's file, so that runs of an older one are not taken for its own. */
static json_t *program_date(const char *program)
{
    struct stat st;

    if (!strchr(program, '/') || stat(program, &st) < 0)
        return json_null();
    return json_integer((json_int_t)st.st_mtim.tv_sec);
}

static json_t *head_of(const struct comparison *comparison)
{
    const struct compare_options *options = comparison->options;
    json_t *words = json_array();

    for (char *const *word = options->argv; *word; word++)
        json_array_append_new(words, tool_json_text(*word));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "format", FORMAT,
                     "version", ORR_VERSION, "program", words, "changed",
                     program_date(options->argv[0]), "assume",
                     json_text_or_null(options->assume), "devices",
                     json_text_or_null(getenv("ORRERY_DEVICES")), "noise",
                     json_text_or_null(comparison->noise), "draws",
                     options->draws);
}

/* {"machine": …, "edits": …, "scheduler": …, "repetition": …}; with the number of
 * repetitions where a single run has no seed of its own. */
static json_t *launch_key(const struct comparison *comparison,
                          const struct launch *launch)
{
    const struct cell *cell = comparison_cell_of(comparison, launch);
    size_t k = comparison_repetition(comparison, launch);

    return json_pack("{s:o, s:o, s:s, s:I, s:b}", "machine",
                     tool_json_text(cell->machine), "edits",
                     tool_json_text(comparison->edits[cell->point]),
                     "scheduler", cell->scheduler, "repetition", (json_int_t)k,
                     "seeded", comparison->options->repeat > 1);
}

/* ---- reading ---- */

/* The launch of each key, to be found by its text. */
static json_t *launches_by_key(const struct comparison *comparison)
{
    json_t *index = json_object();

    for (size_t i = 0; i < comparison->n; i++) {
        json_t *key = launch_key(comparison, &comparison->launches[i]);
        char *text = key ? json_dumps(key, JSON_SORT_KEYS) : NULL;

        json_decref(key);
        if (!text ||
            json_object_set_new(index, text, json_integer((json_int_t)i)) < 0) {
            free(text);
            json_decref(index);
            return NULL;
        }
        free(text);
    }
    return index;
}

static void take_run(struct comparison *comparison, const json_t *index,
                     const json_t *line)
{
    char *text = json_dumps(json_object_get(line, "run"), JSON_SORT_KEYS);
    const json_t *at = text ? json_object_get(index, text) : NULL;
    struct launch *launch =
        at ? &comparison->launches[json_integer_value(at)] : NULL;

    free(text);
    if (!launch || launch->kept)
        return;
    if (report_take(json_incref(json_object_get(line, "report")),
                    &launch->report) == 0) {
        launch->kept = true;
        energy_add(&launch->report, launch->powers);
    }
}

static int other_file(const char *path, const char *what)
{
    return tool_fail(-1,
                     "compare: --runs %s: %s; remove it or name another file",
                     path, what);
}

/* Whether the file's first line is what this command would write. */
static int check_head(const char *path, const json_t *found, const json_t *head)
{
    const char *key;
    json_t *value;

    if (!json_is_object(found) || !json_equal(json_object_get(found, "format"),
                                              json_object_get(head, "format")))
        return other_file(path, "it is no file of runs");
    json_object_foreach((json_t *)(uintptr_t)head, key, value)
    {
        if (json_equal(json_object_get(found, key), value))
            continue;
        return other_file(
            path, !strcmp(key, "changed") ? "the program has changed since"
                  : !strcmp(key, "version")
                      ? "another version of Orrery has written it"
                  : !strcmp(key, "program") ? "its runs are of another program"
                  : !strcmp(key, "noise") || !strcmp(key, "draws")
                      ? "its runs have other noise"
                  : !strcmp(key, "devices") ? "its runs have other --devices"
                      : "its runs have other assumed times");
    }
    return 0;
}

/* Reads whole lines; *ret_end is where the last one ends. */
static int runs_read_lines(struct comparison *comparison, FILE *file,
                           const char *path, const json_t *head, off_t *ret_end)
{
    json_t *index = launches_by_key(comparison);
    char *text = NULL;
    size_t size = 0;
    ssize_t length;
    int rc = index ? 0 : tool_fail(-1, "out of memory");

    for (size_t n = 0; rc == 0 && (length = getline(&text, &size, file)) > 0;
         n++) {
        json_t *line;

        if (text[length - 1] != '\n')
            break;
        line = json_loadb(text, (size_t)length, 0, NULL);
        if (n == 0)
            rc = check_head(path, line, head);
        else if (!line)
            rc = tool_fail(-1, "compare: --runs %s:%zu: this is no JSON", path,
                           n + 1);
        else
            take_run(comparison, index, line);
        json_decref(line);
        *ret_end += length;
    }
    free(text);
    json_decref(index);
    return rc;
}

/* ---- writing ---- */

/* Appends a line; takes the JSON. */
static int runs_append_line(struct runs *runs, json_t *json)
{
    char *line = json ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    size_t length = line ? strlen(line) : 0;
    ssize_t written;

    json_decref(json);
    if (!line)
        return tool_fail(-1, "out of memory");
    line[length++] = '\n';
    written = write(runs->fd, line, length);
    free(line);
    if (written == (ssize_t)length)
        return 0;
    return tool_fail(-1, "compare: --runs %s: %s", runs->path,
                     written < 0 ? strerror(errno)
                                 : "it is full: a run is missing in it");
}

/* All of the first run's report, of others what a comparison needs. */
static json_t *report_part_to_keep(const struct comparison *comparison,
                                   const struct launch *launch)
{
    static const char *const keys[] = {"simulated",   "machine", "host",
                                       "scheduler",   "exit",    "provenance",
                                       "makespan_us", "flops",   "wall_s"};
    static const char *const of_energy[] = {"workers", "kernels", "links"};
    json_t *part;

    if (comparison_repetition(comparison, launch) == 0)
        return json_incref(launch->report.json);
    part = json_object();
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        json_object_set(part, keys[i],
                        json_object_get(launch->report.json, keys[i]));
    for (size_t i = 0; launch->powers && i < sizeof(of_energy) / sizeof(*of_energy); i++)
        json_object_set(part, of_energy[i],
                        json_object_get(launch->report.json, of_energy[i]));
    return part;
}

void runs_add(struct runs *runs, const struct comparison *comparison,
              const struct launch *launch)
{
    if (runs->failed)
        return;
    runs->failed =
        runs_append_line(
            runs,
            json_pack("{s:o, s:o}", "run", launch_key(comparison, launch),
                      "report", report_part_to_keep(comparison, launch))) < 0;
}

int runs_open(struct comparison *comparison, const char *path,
              struct runs **ret)
{
    struct runs *runs = calloc(1, sizeof(*runs));
    json_t *head = head_of(comparison);
    FILE *file = NULL;
    off_t end = 0;
    int rc = -1;

    if (!runs || !head || !(runs->path = tool_format("%s", path))) {
        tool_error("out of memory");
        goto failed;
    }
    runs->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    file = runs->fd >= 0 ? fdopen(dup(runs->fd), "r") : NULL;
    if (!file) {
        tool_error("compare: --runs %s: %s", path, strerror(errno));
        goto failed;
    }
    rc = runs_read_lines(comparison, file, path, head, &end);
    if (rc == 0 && ftruncate(runs->fd, end) < 0)
        rc = tool_fail(-1, "compare: --runs %s: %s", path, strerror(errno));
    if (rc == 0 && end == 0)
        rc = runs_append_line(runs, json_incref(head));
failed:
    if (file)
        fclose(file);
    json_decref(head);
    if (rc < 0) {
        runs_close(runs);
        runs = NULL;
    }
    *ret = runs;
    return rc;
}

void runs_close(struct runs *runs)
{
    if (!runs)
        return;
    if (runs->fd > 0)
        close(runs->fd);
    free(runs->path);
    free(runs);
}
