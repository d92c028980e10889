/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-platform-xml.c - whatever stands in a platform file, reading
 * it ends with a sound description or with a message. For libFuzzer:
 *   fuzz-platform-xml -dict=tests/fuzz/platform-xml.dict CORPUS
 * with machines of the catalogue as a start.
 */
#include "platforms/desc_build.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_machine_desc *desc = NULL;
    struct orr_error err = {{0}};

    if (orr_machine_desc_parse("fuzz.xml", data, size, &desc, &err)) {
        if (desc || !err.text[0])
            abort();
        return 0;
    }
    if (orr_machine_desc_check(desc, &err) ||
        desc->nnodes != 1 + desc->ncuda + desc->nopencl)
        abort();
    orr_machine_desc_free(desc);
    return 0;
}
