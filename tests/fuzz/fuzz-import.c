/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-import.c - libFuzzer target for the readers of other programs' files:
 * no file crashes them, what they accept is a record, and errors name a file. The first
 * letter says how the file is called: also what lies beside a tasks.rec, and the XML
 * that another program makes of DOT. One thread.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/formats.h"
#include "import/import.h"
#include "import/workflow.h"
#include "record/read.h"
#include "tests/fuzz/fuzz.h"

static void put(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "w");

    must(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
}

/* Of whatever the readers accept. */
static void check_record(const char *path, const char *text, size_t size)
{
    struct orr_record_reader *reader;
    const struct orr_call *call;
    struct orr_error err = {""};
    int rc;

    put(path, text, size);
    rc = orr_record_open(path, &reader, &err);
    must(rc == 0);
    while ((rc = orr_record_next(reader, &call, &err)) > 0)
        ;
    must(rc == 0);
    orr_record_close(reader);
}

/* What came of a file; `error` names it. */
static void check(int rc, const struct orr_error *err, const char *record,
                  const char *text, size_t size)
{
    must(rc == 0 || strncmp(err->text, "/tmp/", 5) == 0);
    if (rc == 0)
        check_record(record, text, size);
}

static void import(const char *path, const char *schedule, const char *record)
{
    struct orr_import_options options = {.schedule = schedule};
    const char *format = orr_import_format(path);
    struct orr_error err = {""};
    char *text = NULL;
    size_t size;
    FILE *out;
    int rc;

    if (!format || !strcmp(format, "DOT") ||
        !strcmp(format, "Nsight Systems")) /* other programs read these */
        return;
    out = open_memstream(&text, &size);
    must(out != NULL);
    rc = orr_import(path, &options, out, &err);
    must(fclose(out) == 0);
    check(rc, &err, record, text, size);
    free(text);
}

/* What ran where and when, of files that say so. */
static void import_timeline_of(const char *path)
{
    const char *format = orr_import_format(path);
    struct orr_error err = {""};
    char *text = NULL;
    size_t size;
    FILE *out;
    int rc;

    if (!format || !orr_import_is_timeline(path) ||
        !strcmp(format, "Nsight Systems"))
        return;
    out = open_memstream(&text, &size);
    must(out != NULL);
    rc = orr_import_timeline(path, out, &err);
    must(fclose(out) == 0);
    must(rc == 0 || strncmp(err.text, "/tmp/", 5) == 0);
    free(text);
}

static void read_gxl(const char *path, const char *record)
{
    struct orr_error err = {""};
    struct flow flow;
    char *text = NULL;
    size_t size;
    bool broken;
    FILE *out = open_memstream(&text, &size);
    int fd = open(path, O_RDONLY), rc;

    must(out && fd >= 0);
    flow_init(&flow, path, &err);
    rc = import_gxl(&flow, fd, &broken);
    if (!rc)
        rc = workflow_end(&flow);
    if (!rc)
        rc = flow_write(&flow, out);
    must(fclose(out) == 0);
    check(rc, &err, record, text, size);
    flow_done(&flow);
    free(text);
}

/* The descriptor that a file would get: readers leave no file open. */
static int next_file(void)
{
    int fd = open("/dev/null", O_RDONLY);

    must(fd >= 0);
    close(fd);
    return fd;
}

/* Two tasks and two data, for what is said of them beside. */
static const char tasks[] =
    "Name: work\nJobId: 1\nSubmitOrder: 1\nWorkerId: 0\nHandles: a b\n"
    "Modes: W RW\nSizes: 100 200\n\n"
    "Name: work\nJobId: 2\nSubmitOrder: 2\nWorkerId: 1\nDependsOn: 1\n"
    "Handles: a\nModes: RW\nSizes: 100\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"tasks.rec", "x.json",    "x.csv",
                                        "data.rec",  "sched.rec", "x.gxl"};
    char folder[64], path[96], record[96], beside[96];
    int before = next_file();
    unsigned which;

    if (size == 0)
        return 0;
    which = data[0] % (sizeof(names) / sizeof(*names));
    snprintf(folder, sizeof(folder), "/tmp/orrery-fuzz-import-%d",
             (int)getpid());
    snprintf(path, sizeof(path), "%s-%s", folder, names[which]);
    snprintf(record, sizeof(record), "%s.orr", folder);
    snprintf(beside, sizeof(beside), "%s-tasks.rec", folder);
    put(path, data + 1, size - 1);
    if (which == 3 || which == 4)
        put(beside, tasks, sizeof(tasks) - 1);
    if (which == 5)
        read_gxl(path, record);
    else
        import(which < 3 ? path : beside, which == 4 ? path : NULL, record);
    if (which < 3)
        import_timeline_of(path);
    must(next_file() == before);
    unlink(path);
    unlink(beside);
    unlink(record);
    return 0;
}
