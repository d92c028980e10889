/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-kernels.c - libFuzzer target for the reader of OpenCL C (opencl/count.h): no
 * source crashes it, a refusal has a text, and a work-item of each kernel can be counted. One
 * thread.
 */
#include <math.h>

#include "opencl/count.h"
#include "tests/fuzz/fuzz.h"

static void count(const struct socl_source *source, const struct socl_function *kernel)
{
    double *values = calloc(kernel->n + 1, sizeof(*values));
    double *bytes = calloc(2 * (size_t)kernel->n + 1, sizeof(*bytes));
    struct socl_count sums = {.loads = bytes, .stores = bytes ? bytes + kernel->n : NULL};

    must(values && bytes);
    for (unsigned i = 0; i < kernel->n; i++)
        values[i] = i % 2 ? 16 : (double)NAN;
    socl_source_count(source, kernel, values, &sums);
    must(!(sums.flops32 < 0) && !(sums.flops64 < 0) && !(sums.ints < 0));
    free(sums.written);
    free(values);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *log = NULL;
    struct socl_source *source = socl_source_read(text, "-DN=4", &log);

    must(source || log);
    for (unsigned i = 0; source && i < source->n; i++)
        if (source->functions[i].kernel)
            count(source, &source->functions[i]);
    socl_source_free(source);
    free(log);
    free(text);
    return 0;
}
