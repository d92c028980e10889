/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/network.h - `orrery calibrate network`: what measure_network.c printed,
 * and the words of a network (docs/CLUSTERS.md) that follow from it. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "platforms/cluster.h"
#include "tools/common/quiet.h"

enum { NETWORK_SAMPLES = 99, NETWORK_FIGURES = 20 };

/* One that was measured; µs, or bytes per µs. */
struct network_figure {
    char name[8];
    double bytes; /* 0: of no size */
    unsigned n;
    double samples[NETWORK_SAMPLES];
    double median, spread; /* the latter: half of the samples lie within, of the median */
};

/* What a way of messages is, as the simulation has it. */
struct network_model {
    double latency_us, send_us, match_us;
    double copy;  /* bytes per µs; 0: takes no time that could be measured */
    double total; /* bytes per µs of both directions together */
    struct orr_fabric_speeds speeds;
};

/* Between ranks of a host, or of two. */
struct network_way {
    const char *name; /* "node", "net" */
    bool measured;
    double eager; /* bytes */
    struct network_figure figures[NETWORK_FIGURES];
    unsigned nfigures;
    struct network_model model;
};

struct network_measures {
    unsigned ranks, hosts, repetitions;
    struct network_way node, net;
    struct network_figure incast; /* of no name: there was none */
    unsigned nsenders;            /* of it */
    struct quiet quiet;
};

/* Reads what the program has printed. A message and -1 when something is missing. */
int network_read(const char *text, struct network_measures *ret);

/* The first figure of the name, of `bytes`, or of any where that is 0; NULL: none. */
const struct network_figure *network_find(const struct network_way *way, const char *name,
                                          double bytes);

/* The model of a way that was measured. */
void network_model(struct network_way *way);

/* The widest spread of a figure that the words depend on; by how much one direction is
 * faster than the other; what all ranks sent to one, of what one sends. 0: not known. */
double network_spread(const struct network_measures *measures);
double network_asymmetry(const struct network_measures *measures);
double network_incast(const struct network_measures *measures);

/* The words. */
void network_print_words(const struct network_measures *measures, FILE *out);

/* The tables; `path` is the file that was written. Errors: -ENOMEM. */
int network_print(const struct network_measures *measures, const char *words,
                  const char *path);
int network_print_json(const struct network_measures *measures, const char *words,
                       const char *path);
