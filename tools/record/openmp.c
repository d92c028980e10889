/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/record/openmp.c - the record of a program that uses OpenMP: what it left in logs
 * (record/openmp), one per process, is read by import/openmp. One thread.
 */
#include "perfmodel/sampling.h"
#include "tools/common/foreign.h"
#include "tools/common/tool.h"
#include "tools/record/record.h"

#include <glob.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Absolute, as the program may go to another folder. */
char *record_openmp_log(const char *path)
{
    char *folder = *path == '/' ? NULL : getcwd(NULL, 0);
    char *log = *path == '/' ? tool_format("%s.openmp", path)
                : folder     ? tool_format("%s/%s.openmp", folder, path)
                             : NULL;

    free(folder);
    if (!log)
        tool_error("out of memory");
    return log;
}

/* The pattern for all logs; the name may have characters that mean something there. */
static char *logs_pattern(const char *log)
{
    char *pattern = malloc(2 * strlen(log) + 16), *to = pattern;

    for (; pattern && *log; log++) {
        if (strchr("*?[\\", *log))
            *to++ = '\\';
        *to++ = *log;
    }
    if (pattern)
        strcpy(to, ".[0-9]*");
    return pattern;
}

/* The log of the process that did most. */
static const char *largest(char *const *paths, size_t n)
{
    const char *best = NULL;
    off_t most = -1;

    for (size_t i = 0; i < n; i++) {
        struct stat st;

        if (stat(paths[i], &st) == 0 && st.st_size > most) {
            most = st.st_size;
            best = paths[i];
        }
    }
    return best;
}

static int import_log(const char *log, const char *record, double grain_us, bool times)
{
    const struct orr_host_options asked = {.hostname = orr_getenv("STARPU_HOSTNAME")};
    struct orr_import_options options = {.grain_us = grain_us};
    struct orr_error err = {""};
    char *host = NULL;
    int rc = times ? orr_host_name(&asked, &host, &err) : 0;

    if (rc < 0) {
        tool_error("record: %s", err.text);
        return -1;
    }
    options.host = host;
    rc = foreign_import_as(log, &options, record);
    free(host);
    return rc < 0 ? -1 : 1;
}

int record_openmp(const char *log, const char *record, double grain_us, bool times)
{
    char *pattern = logs_pattern(log);
    glob_t found = {0};
    const char *best;
    int rc = 0;

    if (!pattern) {
        tool_error("out of memory");
        return -1;
    }
    if (glob(pattern, 0, NULL, &found) == 0) {
        best = record ? largest(found.gl_pathv, found.gl_pathc) : NULL;
        if (best && found.gl_pathc > 1)
            tool_error("record: %zu processes used OpenMP: this is the record of the one that did "
                       "most, number %s; record the others by themselves",
                       found.gl_pathc, strrchr(best, '.') + 1);
        if (best)
            rc = import_log(best, record, grain_us, times);
        for (size_t i = 0; i < found.gl_pathc; i++)
            unlink(found.gl_pathv[i]);
    }
    globfree(&found);
    free(pattern);
    return rc;
}
