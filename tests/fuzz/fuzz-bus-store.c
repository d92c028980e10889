/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-bus-store.c - libFuzzer target for the files in which bandwidths and
 * latencies of the real machine are kept (core/device/bus/store.h): the text of .config, that
 * of .bandwidth and that of .latency, with lines "--" between. One thread.
 */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include "core/device/bus/store.h"
#include "tests/fuzz/fuzz.h"

/* The text up to a line "--" is the file; returns what follows. */
static const char *put(const char *text, const char *stem, const char *suffix)
{
    const char *end = strstr(text, "\n--\n");
    size_t size = end ? (size_t)(end - text) + 1 : strlen(text);
    char path[96];
    FILE *file;

    snprintf(path, sizeof(path), "%s%s", stem, suffix);
    file = fopen(path, "w");
    must(file && fwrite(text, 1, size, file) == size && fclose(file) == 0);
    return end ? end + strlen("\n--\n") : "";
}

/* A value is none, or a number that is not negative. */
static void check(const struct orr_bus_tables *tables)
{
    for (unsigned i = 0; i < tables->n * tables->n; i++) {
        must(isnan(tables->bandwidth[i]) || tables->bandwidth[i] >= 0);
        must(isnan(tables->latency[i]) || tables->latency[i] >= 0);
    }
}

/* Errors name a file. */
static void check_error(int rc, const struct orr_error *err, const char *stem)
{
    must(rc == -ENOENT || rc == -ENOMEM || strncmp(err->text, stem, strlen(stem)) == 0);
}

static void read_all(const char *stem)
{
    struct orr_bus_counts counts = {0};
    struct orr_bus_tables tables;
    struct orr_error err = {""};
    int rc = orr_bus_store_counts(stem, &counts, &err);

    if (rc) {
        check_error(rc, &err, stem);
        /* The other two are read all the same. */
        counts = (struct orr_bus_counts){.ncpus = 2, .nodes = {[ORR_BUS_NUMA] = 2}};
    }
    if (orr_bus_tables_init(&tables, &counts))
        return;
    rc = orr_bus_store_read(stem, &tables, &err);
    if (rc)
        check_error(rc, &err, stem);
    check(&tables);
    orr_bus_tables_done(&tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const suffixes[] = {".config", ".bandwidth", ".latency"};
    char *text = fuzz_text(data, size), stem[64], path[96];
    const char *at = text;

    snprintf(stem, sizeof(stem), "/tmp/orrery-fuzz-bus-%d", (int)getpid());
    for (int i = 0; i < 3; i++)
        at = put(at, stem, suffixes[i]);
    read_all(stem);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s%s", stem, suffixes[i]);
        unlink(path);
    }
    free(text);
    return 0;
}
