/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-edit.c - whatever edits are requested, a machine and a cluster stay
 * sound or there is a message. For libFuzzer:
 *   fuzz-edit -dict=tests/fuzz/edit.dict CORPUS
 */
#include "platforms/cluster.h"
#include "platforms/desc_build.h"
#include "platforms/edit.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char machine[] =
    "<platform version='4.1'><zone id='Z' routing='Full'>"
    "<host id='MAIN' speed='1f'/><host id='CPU0' speed='1f'/>"
    "<host id='CPU1' speed='1f'/><host id='CPU2' speed='1f'/>"
    "<host id='CPU3' speed='1f'/>"
    "<host id='CUDA0' speed='1f'><prop id='memsize' value='4294967296'/></host>"
    "<host id='CUDA1' speed='1f'><prop id='memcpy_peer' value='1'/></host>"
    "<host id='OpenCL0' speed='1f'/><host id='RAM' speed='1f'/>"
    "<link id='Host' bandwidth='9GBps' latency='0s'/>"
    "<link id='CUDA0-pci [0]' bandwidth='4GBps' latency='2us' "
    "sharing_policy='SPLITDUPLEX'/>"
    "<link id='b' bandwidth='4GBps' latency='2us'/>"
    "<link id='pair' bandwidth='4GBps' latency='2us'/>"
    "<route src='RAM' dst='CUDA0'><link_ctn id='Host'/>"
    "<link_ctn id='CUDA0-pci [0]' direction='DOWN'/></route>"
    "<route src='RAM' dst='CUDA1'><link_ctn id='Host'/><link_ctn id='b'/>"
    "</route><route src='RAM' dst='OpenCL0'><link_ctn id='b'/></route>"
    "<route src='CUDA0' dst='CUDA1'><link_ctn id='pair'/>"
    "<link_ctn id='CUDA0-pci [0]' direction='UP'/></route>"
    "</zone></platform>";

/* Measured values, some of them unknown. */
static void measure(struct orr_machine_desc *desc)
{
    for (unsigned i = 0; i < desc->nnodes * desc->nnodes; i++) {
        desc->bandwidth[i] *= 0.9;
        if (i % 7 == 3)
            desc->latency[i] = (double)NAN;
    }
    desc->bus_measured = true;
}

static void check(const struct orr_machine_desc *desc)
{
    struct orr_error err = {{0}};

    if (orr_machine_desc_check(desc, &err) ||
        desc->nnodes != 1 + desc->ncuda + desc->nopencl)
        abort();
    for (size_t i = 0; i < (size_t)desc->nnodes * desc->nnodes; i++)
        if (desc->bandwidth[i] < 0 || desc->latency[i] < 0)
            abort();
    for (unsigned i = 0; i < desc->nedits; i++) {
        char *json = orr_edit_echo_json(&desc->edits[i]);

        if (!json || !desc->edits[i].text)
            abort();
        free(json);
    }
}

/* The same of a cluster, whose nodes stay as many. */
static void try_cluster(const char *edits)
{
    struct orr_cluster_desc cluster;
    struct orr_error err = {{0}};
    unsigned n = 0;

    if (orr_cluster_read("3*a + 2*b + ib 2x200Gb/s fat-tree", &cluster, &err))
        abort();
    if (orr_cluster_edit(&cluster, edits, &err) == 0) {
        for (unsigned i = 0; i < cluster.ngroups; i++)
            n += cluster.groups[i].n;
        if (n != 5 || cluster.nnodes != 5 || cluster.fabric.nics == 0 ||
            !(cluster.fabric.bandwidth > 0) || !(cluster.fabric.latency_us >= 0))
            abort();
        for (unsigned i = 0; i < cluster.nedits; i++)
            if (!cluster.edits[i].text)
                abort();
    } else if (!err.text[0])
        abort();
    orr_cluster_free(&cluster);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_machine_desc *desc = NULL;
    struct orr_error err = {{0}};
    char *edits = malloc(size + 1);

    if (!edits || orr_machine_desc_parse("fuzz.xml", machine,
                                         sizeof(machine) - 1, &desc, &err))
        abort();
    memcpy(edits, data, size);
    edits[size] = '\0';
    if (size % 2)
        measure(desc);
    if (orr_machine_desc_edit(desc, edits, &err) == 0)
        check(desc);
    else if (!err.text[0])
        abort();
    orr_machine_desc_free(desc);
    try_cluster(edits);
    free(edits);
    return 0;
}
