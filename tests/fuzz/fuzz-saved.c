/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-saved.c - libFuzzer target for checkpoints (mpi/saved.h): the text of the
 * manifest, a line "--", and a rank's file. Each rank of a manifest that is accepted has a sum;
 * a record lies within its file; an error has a sentence. One thread.
 */
#include <errno.h>

#include "core/base/crc.h"
#include "mpi/saved.h"
#include "tests/fuzz/fuzz.h"

static char folder[] = "/tmp/orrery-fuzz-saved-XXXXXX";

/* The file of that name has the bytes, and a line behind them. */
static void put(const char *name, const void *bytes, size_t size, const char *line)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    must(file && fwrite(bytes, 1, size, file) == size && fputs(line, file) >= 0 &&
         fclose(file) == 0);
}

/* With the checksum that the text has, now and then without: so texts are read, too. */
static void put_manifest(const uint8_t *text, size_t size)
{
    char line[32] = "";

    if (size % 8)
        snprintf(line, sizeof(line), "crc %08x\n", orr_crc_bytes(text, size, 0));
    put("1-0-2.manifest", text, size, line);
}

/* All of it can be read. */
static int take(void *arg, const struct orr_saved_record *record)
{
    unsigned *sum = arg;

    for (uint64_t i = 0; i < record->size; i++)
        *sum += ((const uint8_t *)record->bytes)[i];
    return 0;
}

/* All sums can be read. */
static bool read_sum(const struct orr_saved_sum *sum)
{
    volatile uint64_t size = sum->size;

    return size == sum->size;
}

/* The sum of the file as it is, so that its records are reached. */
static void read_part(const struct orr_saved *saved, const uint8_t *bytes, size_t size)
{
    struct orr_saved_sum sum = {.size = size, .crc = orr_crc_bytes(bytes, size, 0)};
    struct orr_error err = {""};
    unsigned total = 0;

    if (orr_saved_read_part(saved, 0, &sum, take, &total, &err))
        must(*err.text != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    const uint8_t *end = memmem(data, size, "\n--\n", 4);
    size_t length = end ? (size_t)(end - data) + 1 : size;
    size_t behind = end ? length + 3 : size;
    const struct orr_saved saved = {folder, 1, 0, 2};
    struct orr_saved_manifest manifest = {0};
    struct orr_error err = {""};
    int rc;

    if (!made)
        must(mkdtemp(folder) != NULL);
    made = true;
    put_manifest(data, length);
    put("1-0-2.0.part", data + behind, size - behind, "");
    rc = orr_saved_read_manifest(&saved, &manifest, &err);
    if (rc == 0) {
        must(manifest.nranks > 0);
        for (int i = 0; i < manifest.nranks; i++)
            must(read_sum(&manifest.sums[i]));
        free(manifest.sums);
    } else {
        must(rc == -ENOENT || *err.text != '\0');
    }
    read_part(&saved, data + behind, size - behind);
    return 0;
}
