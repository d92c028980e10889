/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-cluster.c - whatever describes a cluster, as a line or as a file, reading
 * it ends with a sound cluster, which is written and read as the same, or with a message.
 */
#include "platforms/cluster.h"
#include "tests/fuzz/fuzz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(const struct orr_cluster_desc *cluster)
{
    unsigned n = 0;

    for (unsigned i = 0; i < cluster->ngroups; i++) {
        if (cluster->groups[i].n == 0 || !*cluster->groups[i].machine)
            abort();
        n += cluster->groups[i].n;
    }
    if (n != cluster->nnodes || n == 0 || n > ORR_CLUSTER_MAX_NODES ||
        cluster->ranks_per_node == 0 || !(cluster->fabric.bandwidth > 0) ||
        orr_cluster_machine(cluster, n - 1) !=
            cluster->groups[cluster->ngroups - 1].machine)
        abort();
}

/* A name that was not read from a line may have signs that no line can have. */
static void check_line(const struct orr_cluster_desc *cluster)
{
    char *line = orr_cluster_line(cluster), *same;
    struct orr_cluster_desc again = {0};

    if (orr_cluster_read(line, &again, NULL))
        abort();
    same = orr_cluster_line(&again);
    if (strcmp(line, same) != 0)
        abort();
    free(same);
    free(line);
    orr_cluster_free(&again);
}

static void check_file(const struct orr_cluster_desc *cluster)
{
    struct orr_cluster_desc again = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        abort();
    orr_cluster_print_xml(cluster, out);
    if (fclose(out) || orr_cluster_parse("c.xml", text, size, &again, NULL))
        abort();
    if (again.ngroups != cluster->ngroups ||
        strcmp(again.network, cluster->network) != 0)
        abort();
    free(text);
    orr_cluster_free(&again);
}

static void try_line(const uint8_t *data, size_t size)
{
    struct orr_cluster_desc cluster = {0};
    struct orr_error err = {""};
    char *text = strndup((const char *)data, size);

    if (!text)
        return;
    if (orr_cluster_read(text, &cluster, &err)) {
        if (!err.text[0] || cluster.groups)
            abort();
    } else {
        check(&cluster);
        check_line(&cluster);
    }
    orr_cluster_free(&cluster);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_cluster_desc cluster = {0};
    struct orr_error err = {""};

    try_line(data, size);
    if (orr_cluster_parse("fuzz.cluster.xml", data, size, &cluster, &err)) {
        if (!err.text[0] || cluster.groups)
            abort();
        return 0;
    }
    check(&cluster);
    check_file(&cluster);
    orr_cluster_free(&cluster);
    return 0;
}
