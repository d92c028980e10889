/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-record.c - libFuzzer target for the reader of records: no text
 * crashes it, what it accepts is written in both forms and read again the same, and
 * errors name the line. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/read.h"
#include "record/write.h"
#include "tests/fuzz/fuzz.h"

static void put(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "w");

    must(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
}

/* The calls of the file as they are written, NULL: it is no record. */
static char *read_and_write(const char *path, bool binary, size_t *ret_size)
{
    struct orr_record_reader *reader;
    struct orr_record_writer writer = {.binary = binary};
    const struct orr_call *call;
    struct orr_error err = {""};
    char *text = NULL;
    int rc = orr_record_open(path, &reader, &err);

    must(rc == 0 || strncmp(err.text, path, strlen(path)) == 0);
    if (rc)
        return NULL;
    writer.file = open_memstream(&text, ret_size);
    must(writer.file != NULL);
    orr_record_begin(&writer);
    while ((rc = orr_record_next(reader, &call, &err)) > 0)
        if (call->verb != ORR_CALL_END)
            orr_record_write(&writer, call);
    must(rc == 0 || strncmp(err.text, path, strlen(path)) == 0);
    must(orr_record_end(&writer, NULL) == 0);
    must(fclose(writer.file) == 0);
    orr_record_close(reader);
    if (rc == 0)
        return text;
    free(text);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], *once, *twice;
    size_t n, m;

    snprintf(path, sizeof(path), "/tmp/orrery-fuzz-record-%d", (int)getpid());
    put(path, data, size);
    once = read_and_write(path, true, &n);
    if (once) {
        put(path, once, n);
        free(once);
        once = read_and_write(path, false, &n);
        must(once != NULL);
        put(path, once, n);
        twice = read_and_write(path, false, &m);
        must(twice && n == m && memcmp(once, twice, n) == 0);
        free(twice);
    }
    free(once);
    unlink(path);
    return 0;
}
