/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-fabric.c - whatever line describes a network, there is a message, or a
 * network whose routes keep to its ports. The first byte says for how many nodes. For
 * libFuzzer:
 *   fuzz-fabric CORPUS tests/fuzz/fabric
 */
#include "sim/cluster/interconnect.h"
#include "tests/fuzz/fuzz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check_route(const struct orr_interconnect *net, unsigned src,
                        unsigned dst, unsigned *ports)
{
    unsigned n = orr_interconnect_route(net, src, dst, ORR_ANY_NIC, ports);

    if (n < 2 || n > orr_interconnect_longest(net) ||
        !(orr_interconnect_latency(net, n) >= 0))
        abort();
    for (unsigned i = 0; i < n; i++) {
        if (ports[i] >= orr_interconnect_nports(net))
            abort();
        for (unsigned k = i > 16 ? i - 16 : 0; k < i; k++)
            if (ports[i] == ports[k])
                abort();
    }
}

static void check_routes(const struct orr_fabric *fabric, unsigned nnodes)
{
    struct orr_error err = {{0}};
    struct orr_interconnect *net;
    unsigned *ports;

    if (orr_interconnect_new(fabric, nnodes, &net, &err) < 0) {
        if (!err.text[0])
            abort();
        return;
    }
    ports = malloc(orr_interconnect_longest(net) * sizeof(*ports));
    for (unsigned src = 0; src < nnodes; src += 1 + nnodes / 8)
        for (unsigned dst = 0; dst < nnodes; dst += 1 + nnodes / 7)
            if (src != dst)
                check_route(net, src, dst, ports);
    free(ports);
    orr_interconnect_free(net);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_error err = {{0}};
    struct orr_fabric fabric;
    char *text;

    if (size == 0)
        return 0;
    text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (orr_fabric_parse(text, &fabric, &err) == 0)
        check_routes(&fabric, data[0] * data[0]);
    else if (!err.text[0])
        abort();
    free(text);
    return 0;
}
