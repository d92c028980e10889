/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-bus-matrix.c - whatever stands in a bus file, reading it
 * gives values or a message. For libFuzzer.
 */
#include "platforms/bus_files.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define NODES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_machine_desc desc = {.ncuda = 2, .nopencl = 1, .nnodes = NODES};
    double matrix[NODES * NODES];
    struct orr_error err = {{0}};
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (orr_bus_matrix_parse(&desc, "fuzz", text, size, matrix, &err) == 0) {
        for (unsigned i = 0; i < NODES * NODES; i++)
            if (matrix[i] < 0)
                abort();
    } else if (!err.text[0]) {
        abort();
    }
    free(text);
    return 0;
}
