/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-network.c - libFuzzer target for what the measuring program of networks
 * prints (tools/calibrate/network.h): no text crashes the reader, and what follows from what it
 * accepts can be printed. One thread.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/calibrate/network.h"

static void check(struct network_measures *measures)
{
    must(measures->node.nfigures <= NETWORK_FIGURES && measures->net.nfigures <= NETWORK_FIGURES);
    (void)network_spread(measures);
    (void)network_asymmetry(measures);
    (void)network_incast(measures);
    network_print_words(measures, stdout);
    network_print(measures, "words", "path");
    network_print_json(measures, "words", "path");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_silence before = fuzz_silence();
    char *text = fuzz_text(data, size);
    struct network_measures measures = {0};

    if (network_read(text, &measures) == 0)
        check(&measures);
    fuzz_speak(before);
    free(text);
    return 0;
}
