/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-import.c - libFuzzer target for the readers of other programs' files:
 * no file crashes them, what they accept is a record, and errors name a file. The first
 * letter says how the file is called. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/import.h"
#include "record/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

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

static void import(const char *path, const char *record)
{
    struct orr_import_options options = {NULL, false, false};
    const char *format = orr_import_format(path);
    struct orr_error err = {""};
    char *text = NULL;
    size_t size;
    FILE *out;
    int rc;

    if (!format || !strcmp(format, "DOT")) /* another program reads that */
        return;
    out = open_memstream(&text, &size);
    must(out != NULL);
    rc = orr_import(path, &options, out, &err);
    must(fclose(out) == 0);
    must(rc == 0 || strncmp(err.text, "/tmp/", 5) == 0);
    if (rc == 0)
        check_record(record, text, size);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"tasks.rec", "x.json", "x.csv"};
    char folder[64], path[96], record[96];

    if (size == 0)
        return 0;
    snprintf(folder, sizeof(folder), "/tmp/orrery-fuzz-import-%d",
             (int)getpid());
    snprintf(path, sizeof(path), "%s-%s", folder,
             names[data[0] % (sizeof(names) / sizeof(*names))]);
    snprintf(record, sizeof(record), "%s.orr", folder);
    put(path, data + 1, size - 1);
    import(path, record);
    unlink(path);
    unlink(record);
    return 0;
}
