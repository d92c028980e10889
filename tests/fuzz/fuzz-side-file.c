/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-side-file.c - libFuzzer target for the reader of side files:
 * no text crashes it, what it accepts can be written, read again and joined by
 * a window, and errors name the line. One thread.
 */
#include <stdlib.h>
#include <string.h>

#include "perfmodel/side.h"
#include "perfmodel/window.h"
#include "tests/fuzz/fuzz.h"

static void round_trip(const struct orr_side *side)
{
    struct orr_side *again = NULL;
    size_t size;
    char *text;

    must(orr_side_format(side, &text, &size) == 0);
    must(orr_side_parse("again", text, size, ORR_SIDE_SAMPLES, &again, NULL) ==
         0);
    must(again->nentries == side->nentries);
    orr_side_free(again);
    free(text);
}

static void join(struct orr_side *side)
{
    struct orr_window window;

    orr_window_init(&window, 50);
    for (unsigned i = 0; i < 30; i++)
        orr_window_add(&window, 100 + i % 7, 1);
    for (unsigned i = 0; i < side->nentries; i++) {
        must(orr_window_save(&window, &side->entries[i]) == 0);
        must(side->entries[i].nrecent <= ORR_WINDOW_SIZE);
        must(side->entries[i].nblocks <= ORR_WINDOW_BLOCKS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_side *side = NULL;
    struct orr_error err = {""};
    enum orr_side_part part = size % 2 ? ORR_SIDE_ESTIMATES : ORR_SIDE_SAMPLES;
    int rc =
        orr_side_parse("fuzz", (const char *)data, size, part, &side, &err);

    must((rc == 0) == (side != NULL));
    must(rc == 0 || strncmp(err.text, "fuzz:", 5) == 0);
    if (side) {
        round_trip(side);
        join(side);
    }
    orr_side_free(side);
    return 0;
}
