/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-sweep.c - libFuzzer target for edits with several values
 * (tools/common/sweep.h): each point of what is accepted has edits, a name, and a value on each
 * axis. One thread.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/common/sweep.h"

static void check(const struct sweep *sweep)
{
    size_t n = sweep->npoints < 20 ? sweep->npoints : 20;

    must(sweep->npoints && sweep->npoints <= SWEEP_MAX_POINTS);
    for (size_t i = 0; i < n; i++) {
        char *edits = sweep_edits(sweep, i), *name = sweep_name(sweep, i);

        must(edits && name);
        for (size_t axis = 0; axis < sweep->naxes; axis++) {
            must(sweep_index(sweep, i, axis) < sweep->axes[axis].n);
            must(sweep_value(sweep, i, axis) != NULL);
        }
        free(edits);
        free(name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_silence before = fuzz_silence();
    char *text = fuzz_text(data, size);
    struct sweep sweep = {0};

    /* @FILE would read whatever lies about. */
    for (char *at = text; (at = strchr(at, '@'));)
        *at = 'a';
    if (sweep_read(&sweep, "fuzz", text) == 0)
        check(&sweep);
    sweep_done(&sweep);
    fuzz_speak(before);
    free(text);
    return 0;
}
