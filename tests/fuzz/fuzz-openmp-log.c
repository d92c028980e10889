/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-openmp-log.c - libFuzzer target for logs of OpenMP programs
 * (record/openmp/log.h). A line is an event, THREAD WALL KIND FLAGS N A B, and a text behind it
 * goes into the events that follow; THREAD alone with a number says how many bytes of its chunk
 * are in use. What is accepted is a record; errors name the file. One thread.
 */
#include "import/formats.h"
#include "import/import.h"
#include "record/openmp/log.h"
#include "record/read.h"
#include "tests/fuzz/fuzz.h"

enum { NTHREADS = 2, NCHUNK_EVENTS = 400 };

/* A chunk of each thread. */
struct log {
    union {
        struct orr_omp_header header;
        char page[ORR_OMP_PAGE];
    };
    union {
        struct {
            struct orr_omp_chunk chunk;
            struct orr_omp_event events[NCHUNK_EVENTS];
        };
        char all[ORR_OMP_CHUNK];
    } chunks[NTHREADS];
};

/* Adds the event of a line, with its text, if there is room. */
static void add_event(struct log *log, const char *line)
{
    unsigned long long thread, wall, kind, flags, n, a, b;
    int length = 0;
    int found = sscanf(line, "%llu %llu %llu %llu %llu %llu %llu %n", &thread, &wall, &kind,
                       &flags, &n, &a, &b, &length);
    struct orr_omp_chunk *chunk = &log->chunks[thread % NTHREADS].chunk;
    size_t at, text;

    if (found == 2)
        chunk->used = wall;
    if (found != 7)
        return;
    at = chunk->used / sizeof(struct orr_omp_event);
    text = strlen(line + length);
    if (at + 1 + text / sizeof(struct orr_omp_event) + 1 >= NCHUNK_EVENTS)
        return;
    chunk->thread = thread % NTHREADS + 1;
    log->chunks[thread % NTHREADS].events[at] =
        (struct orr_omp_event){.wall = wall, .spent = wall, .kind = (uint16_t)kind,
                               .flags = (uint16_t)flags, .n = (uint32_t)n, .a = a, .b = b};
    memcpy(&log->chunks[thread % NTHREADS].events[at + 1], line + length, text);
    chunk->used += sizeof(struct orr_omp_event);
    if (text)
        chunk->used += (text + sizeof(struct orr_omp_event)) / sizeof(struct orr_omp_event) *
                       sizeof(struct orr_omp_event);
}

static struct log *make_log(char *text)
{
    struct log *log = calloc(1, sizeof(*log));
    char *line;

    must(log != NULL);
    memcpy(log->header.magic, ORR_OMP_MAGIC, sizeof(log->header.magic));
    log->header.ended = log->header.processors = log->header.sizes = 1;
    strcpy(log->header.program, "/nowhere/program");
    while ((line = strsep(&text, "\n")))
        add_event(log, line);
    return log;
}

/* Of whatever the reader accepts. */
static void check_record(const char *text, size_t size)
{
    struct orr_record_reader *reader;
    const struct orr_call *call;
    struct orr_error err = {""};
    char path[32];
    int fd = fuzz_file(text, size, path), rc = orr_record_open(path, &reader, &err);

    must(rc == 0);
    while ((rc = orr_record_next(reader, &call, &err)) > 0)
        ;
    must(rc == 0);
    orr_record_close(reader);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *record = NULL, path[32];
    struct orr_import_options options = {.grain_us = size % 2 ? 0 : -1};
    struct log *log = make_log(text);
    struct orr_error err = {""};
    int fd = fuzz_file(log, sizeof(*log), path), rc;
    size_t length;
    FILE *out = open_memstream(&record, &length);

    must(out && orr_import_format(path));
    rc = orr_import(path, &options, out, &err);
    must(fclose(out) == 0);
    close(fd);
    must(rc == 0 || strncmp(err.text, path, strlen(path)) == 0);
    if (rc == 0)
        check_record(record, length);
    free(record);
    free(log);
    free(text);
    return 0;
}
