/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-graph.c - libFuzzer target for the reader of graphs: no text
 * crashes it, what it accepts is written and read again the same, and errors
 * name the text. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound/graph_text.h"
#include "tests/fuzz/fuzz.h"

static char *text_of(const struct orr_graph *graph, size_t *ret_size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, ret_size);

    must(f != NULL);
    must(orr_graph_write(graph, f) == 0);
    must(fclose(f) == 0);
    return text;
}

static int parse(const void *text, size_t size, struct orr_graph **ret,
                 struct orr_error *err)
{
    FILE *f = size ? fmemopen((void *)(uintptr_t)text, size, "r")
                   : fopen("/dev/null", "r");
    int rc;

    must(f != NULL);
    rc = orr_graph_read(f, "fuzz", ret, err);
    fclose(f);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_graph *graph = NULL, *again = NULL;
    struct orr_error err = {""};
    int rc = parse(data, size, &graph, &err);

    must((rc == 0) == (graph != NULL));
    must(rc == 0 || strncmp(err.text, "fuzz:", 5) == 0);
    if (graph) {
        size_t n, m;
        char *text = text_of(graph, &n), *twice;

        must(parse(text, n, &again, &err) == 0);
        twice = text_of(again, &m);
        must(n == m && memcmp(text, twice, n) == 0);
        free(text);
        free(twice);
    }
    orr_graph_free(graph);
    orr_graph_free(again);
    return 0;
}
