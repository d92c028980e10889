/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-explain.c - libFuzzer target for what a trace and its graph go through
 * in `orrery explain`: no two texts crash it, and what cannot be explained is refused.
 * The graph follows the trace in one text. One thread.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/common/tool.h"

#define GRAPH "\norrery-graph "

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* A file that has a name while it is open. */
static int put(const void *bytes, size_t size, char name[32])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(name, 32, "/proc/self/fd/%d", fd);
    return fd;
}

/* What is printed is not looked at; reports of crashes are. */
static void explain(char *trace, char *graph, char *format)
{
    char command[] = "explain", option[] = "--graph";
    char *argv[] = {command, option, graph, trace, format, NULL};
    FILE *out = stdout, *err = stderr;
    int code;

    stdout = fopen("/dev/null", "w");
    stderr = fopen("/dev/null", "w");
    must(stdout && stderr);
    code = cmd_explain(format ? 5 : 4, argv);
    fclose(stdout);
    fclose(stderr);
    stdout = out;
    stderr = err;
    must(code == TOOL_OK || code == TOOL_FAILED || code == TOOL_USAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *graph = memmem(data, size, GRAPH, sizeof(GRAPH) - 1);
    size_t length = graph ? (size_t)(graph - data) + 1 : size;
    char trace_name[32], graph_name[32], json[] = "--json";
    int trace_fd = put(data, length, trace_name),
        graph_fd = put(data + length, size - length, graph_name);

    explain(trace_name, graph_name, NULL);
    explain(trace_name, graph_name, json);
    close(trace_fd);
    close(graph_fd);
    return 0;
}
