/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-packed.c - whatever a packed machine holds, reading it gives
 * files that all belong to a machine, or a message; what was read and is packed
 * again reads the same. For libFuzzer.
 */
#include "platforms/packed.h"
#include "tests/fuzz/fuzz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check_names(const struct orr_packed *packed)
{
    if (!orr_packed_leaf_ok(packed->name) ||
        !orr_packed_find(packed, "platform.xml"))
        abort();
    for (unsigned i = 0; i < packed->nfiles; i++)
        if (packed->files[i].name[0] == '/' ||
            strstr(packed->files[i].name, "..") == packed->files[i].name ||
            strstr(packed->files[i].name, "/../"))
            abort();
}

static void check_trip(const struct orr_packed *packed)
{
    struct orr_packed *again;
    char *bytes;
    size_t size;

    if (orr_tar_ops.format(packed, &bytes, &size, NULL) < 0)
        return; /* no memory */
    if (orr_tar_ops.parse("again", bytes, size, &again, NULL) < 0 ||
        again->nfiles != packed->nfiles)
        abort();
    for (unsigned i = 0; i < packed->nfiles; i++)
        if (strcmp(again->files[i].name, packed->files[i].name) != 0 ||
            again->files[i].size != packed->files[i].size)
            abort();
    orr_packed_free(again);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_packed *packed;
    struct orr_error err = {{0}};

    if (orr_tar_ops.parse("fuzz", (const char *)data, size, &packed, &err) <
        0) {
        if (!err.text[0])
            abort();
        return 0;
    }
    check_names(packed);
    check_trip(packed);
    orr_packed_free(packed);
    return 0;
}
