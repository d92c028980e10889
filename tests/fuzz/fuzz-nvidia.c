/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-nvidia.c - libFuzzer target for the output of `nvidia-smi topo -m`
 * (tools/machine/topology.h): no text crashes the reader, and what it accepts is a table of
 * relations that there are. One thread.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/machine/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_silence before = fuzz_silence();
    struct nvidia_topology topology = {0};
    char *text = fuzz_text(data, size);

    if (nvidia_topology_parse("topo", text, &topology) == 0) {
        for (unsigned i = 0; i < topology.n * topology.n; i++)
            must(topology.cells[i].relation <= NVIDIA_NV);
        for (unsigned i = 0; i < topology.n; i++)
            must(topology.numa[i] >= -1);
    }
    nvidia_topology_done(&topology);
    fuzz_speak(before);
    free(text);
    return 0;
}
