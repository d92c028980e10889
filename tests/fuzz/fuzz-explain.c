/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-explain.c - libFuzzer target for what a trace and its graph go through
 * in `orrery explain`: no two texts crash it, and what cannot be explained is refused.
 * The graph follows the trace in one text. One thread.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/common/tool.h"

#define GRAPH "\norrery-graph "

static void explain(char *trace, char *graph, char *format)
{
    char command[] = "explain", option[] = "--graph";
    char *argv[] = {command, option, graph, trace, format, NULL};
    struct fuzz_silence before = fuzz_silence();
    int code = cmd_explain(format ? 5 : 4, argv);

    fuzz_speak(before);
    must(code == TOOL_OK || code == TOOL_FAILED || code == TOOL_USAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *graph = memmem(data, size, GRAPH, sizeof(GRAPH) - 1);
    size_t length = graph ? (size_t)(graph - data) + 1 : size;
    char trace_name[32], graph_name[32], json[] = "--json";
    int trace_fd = fuzz_file(data, length, trace_name),
        graph_fd = fuzz_file(data + length, size - length, graph_name);

    explain(trace_name, graph_name, NULL);
    explain(trace_name, graph_name, json);
    close(trace_fd);
    close(graph_fd);
    return 0;
}
