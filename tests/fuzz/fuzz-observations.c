/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-observations.c - libFuzzer target for the reader of durations with their
 * parameters (perfmodel/observations.h), of as many parameters as the first byte says. What is
 * accepted is finite, and is the same when it was written; errors name the line. One thread.
 */
#include <math.h>

#include "perfmodel/observations.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct orr_observations *o)
{
    size_t n = o->n * (1 + (size_t)o->nparameters);

    must(o->n <= ORR_OBSERVATIONS_MAX && o->nfresh <= o->n);
    for (size_t i = 0; i < n; i++)
        must(isfinite(o->values[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned nparameters = size ? data[0] % 4 : 0;
    struct orr_observations o = {.nparameters = nparameters};
    double one[4] = {1, 2, 3, 4};
    struct orr_error err = {""};
    char path[32];
    int fd, rc;

    if (size == 0)
        return 0;
    must(orr_observations_add(&o, one, nparameters, 5) == 0);
    fd = fuzz_file(data + 1, size - 1, path);
    rc = orr_observations_read(path, nparameters, &o, &err);
    close(fd);
    if (rc == 0)
        check(&o);
    else
        must(o.n == 1 && strncmp(err.text, path, strlen(path)) == 0);
    orr_observations_done(&o);
    return 0;
}
