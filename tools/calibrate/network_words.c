/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/network_words.c - from samples to the words of a network: as a simulated
 * message takes its time, so the words are computed, and measuring a simulated network gives
 * its words back.
 *
 * A message of n bytes that is eager takes send + latency + n / bandwidth(n) + match; up to
 * INSIDE bytes travel with their header, more go beside it. A longer one asks first, which is
 * two messages of a header more.
 */
#include "tools/calibrate/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/robust_private.h"
#include "tools/common/tool.h"

/* As of mpi/simulated: bytes of a header, and up to which data are inside of it. */
enum { HEADER = 64, INSIDE = 4096 };
enum { LEAST_BYTES = 256 }; /* whose bandwidth all shorter ones have */

#define HALF_DUPLEX 1.3 /* both directions together carry less than so many times one */
#define LEAST_US    0.01
#define ROUNDING    1.00002 /* six digits of two bandwidths */

/* ---- reading ---- */

static void summarise_figure(struct network_figure *figure)
{
    double sorted[NETWORK_SAMPLES];

    memcpy(sorted, figure->samples, figure->n * sizeof(*sorted));
    orr_sort(sorted, figure->n);
    figure->median = orr_quantile(sorted, figure->n, 0.5);
    figure->spread = (orr_quantile(sorted, figure->n, 0.75) -
                      orr_quantile(sorted, figure->n, 0.25)) /
                     figure->median;
}

/* The numbers of the line. -1: there are none, or they are no times. */
static int read_samples(const char *text, struct network_figure *figure)
{
    while (*text == ' ' && figure->n < NETWORK_SAMPLES) {
        char *end;
        double value = strtod(text, &end);

        if (end == text || !(value >= 0) || isinf(value))
            return -1;
        figure->samples[figure->n++] = fmax(value, 1e-6);
        text = end;
    }
    if (figure->n == 0)
        return -1;
    summarise_figure(figure);
    return 0;
}

/* Whether that is what a figure may be called, and whether it is of messages of a size. */
static bool is_figure(const char *name, bool *ret_sized)
{
    static const char *const sized[] = {"time", "late", "send", "match"};
    static const char *const others[] = {"look", "forth", "back", "both"};
    bool found = false;

    *ret_sized = false;
    for (size_t i = 0; i < sizeof(sized) / sizeof(*sized); i++)
        *ret_sized |= !strcmp(name, sized[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        found |= !strcmp(name, others[i]);
    return found || *ret_sized;
}

/* "time 4096 1.2 1.3 ..." of a way. */
static int read_figure(const char *text, struct network_way *way)
{
    struct network_figure *figure = &way->figures[way->nfigures];
    int length = 0, bytes = 0;
    bool sized;

    if (way->nfigures == NETWORK_FIGURES || sscanf(text, "%7s%n", figure->name, &length) != 1 ||
        !is_figure(figure->name, &sized))
        return -1;
    if (sized && (sscanf(text + length, "%lf%n", &figure->bytes, &bytes) != 1 ||
                  !(figure->bytes >= 0) || isinf(figure->bytes)))
        return -1;
    if (read_samples(text + length + bytes, figure) < 0)
        return -1;
    way->nfigures++;
    return 0;
}

static int read_way(const char *text, struct network_way *way)
{
    way->measured = true;
    if (sscanf(text, "eager %lf", &way->eager) == 1)
        return way->eager >= 0 && !isinf(way->eager) ? 0 : -1;
    return read_figure(text, way);
}

static int read_line(const char *line, struct network_measures *ret)
{
    int length = 0;

    if (!strncmp(line, "node ", 5))
        return read_way(line + 5, &ret->node);
    if (!strncmp(line, "net ", 4))
        return read_way(line + 4, &ret->net);
    if (sscanf(line, "incast %u%n", &ret->nsenders, &length) == 1 && length > 0)
        return read_samples(line + length, &ret->incast);
    (void)sscanf(line, "ranks %u", &ret->ranks);
    (void)sscanf(line, "hosts %u", &ret->hosts);
    return 0; /* others are a launcher's */
}

static bool way_is_whole(const struct network_way *way)
{
    static const char *const needed[] = {"send", "match", "late", "forth", "back", "both"};

    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (!network_find(way, needed[i], 0))
            return false;
    return network_find(way, "time", 1) && network_find(way, "time", LEAST_BYTES);
}

int network_read(const char *text, struct network_measures *ret)
{
    ret->node = (struct network_way){.name = "node"};
    ret->net = (struct network_way){.name = "net"};
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        int rc = line ? read_line(line, ret) : -1;

        if (rc < 0)
            tool_error("calibrate network: the measuring program printed \"%.200s\": use the "
                       "one that came with this command",
                       line ? line : "");
        free(line);
        if (rc < 0)
            return -1;
        text += length + (text[length] == '\n');
    }
    if (ret->ranks >= 2 && (ret->node.measured || ret->net.measured) &&
        (!ret->node.measured || way_is_whole(&ret->node)) &&
        (!ret->net.measured || way_is_whole(&ret->net))) {
        ret->repetitions =
            (ret->net.measured ? &ret->net : &ret->node)->figures[0].n;
        return 0;
    }
    tool_error("calibrate network: nothing was measured: the program has to run as two ranks "
               "or more of one MPI, whose launcher is that of its library");
    return -1;
}

const struct network_figure *network_find(const struct network_way *way, const char *name,
                                          double bytes)
{
    for (unsigned i = 0; i < way->nfigures; i++)
        if (!strcmp(way->figures[i].name, name) &&
            (bytes <= 0 || fabs(way->figures[i].bytes - bytes) < 0.5))
            return &way->figures[i];
    return NULL;
}

static double median_of(const struct network_way *way, const char *name, double bytes)
{
    const struct network_figure *figure = network_find(way, name, bytes);

    return figure ? figure->median : 0;
}

/* ---- the model ---- */

/* The first bytes have the bandwidth of LEAST_BYTES; so two times say both what they take
 * and the latency. */
static double find_latency(const struct network_way *way, double costs)
{
    double one = median_of(way, "time", 1) - costs;
    double more = median_of(way, "time", LEAST_BYTES) - costs;
    double share = (HEADER + 1.) / (HEADER + LEAST_BYTES);

    return fmax((one - share * more) / (1 - share), LEAST_US);
}

/* What a message of that figure is to the network: the bytes of its longest part, and the
 * time that these take. */
static void take_part(const struct network_way *way, const struct network_figure *figure,
                      double *ret_bytes, double *ret_us)
{
    const struct network_model *model = &way->model;
    double us = figure->median - model->send_us - model->match_us - model->latency_us;

    *ret_bytes = figure->bytes + (figure->bytes <= INSIDE ? HEADER : 0);
    if (figure->bytes > way->eager && figure->bytes > INSIDE)
        us -= 2 * (model->latency_us + HEADER / model->speeds.at[0].bandwidth);
    *ret_us = us;
}

static void find_speeds(struct network_way *way)
{
    struct orr_fabric_speeds *speeds = &way->model.speeds;
    double before = 1e-3;

    for (unsigned i = 0; i < way->nfigures && speeds->n < ORR_FABRIC_MAX_SPEEDS; i++) {
        const struct network_figure *figure = &way->figures[i];
        double bytes, us;

        if (strcmp(figure->name, "time") || figure->bytes < LEAST_BYTES)
            continue;
        take_part(way, figure, &bytes, &us);
        /* A longer one takes no less, whatever was measured and however it is written. */
        before = fmax(us, before * ROUNDING);
        speeds->at[speeds->n].bytes = bytes;
        speeds->at[speeds->n++].bandwidth = bytes / before;
    }
}

void network_model(struct network_way *way)
{
    struct network_model *model = &way->model;
    double late = median_of(way, "late", 1), longest = 0, us = late;
    double stream = fmax(median_of(way, "forth", 0), median_of(way, "back", 0));

    *model = (struct network_model){.send_us = median_of(way, "send", 1),
                                    .match_us = median_of(way, "match", 1)};
    /* They cannot be more than all of the way. */
    if (model->send_us + model->match_us > 0.8 * median_of(way, "time", 1)) {
        double most = 0.8 * median_of(way, "time", 1) / (model->send_us + model->match_us);

        model->send_us *= most;
        model->match_us *= most;
    }
    model->latency_us = find_latency(way, model->send_us + model->match_us);
    find_speeds(way);
    for (unsigned i = 0; i < way->nfigures; i++)
        if (!strcmp(way->figures[i].name, "late") && way->figures[i].bytes > longest) {
            longest = way->figures[i].bytes;
            us = way->figures[i].median;
        }
    if (longest > 1 && us > late)
        model->copy = (longest - 1) / (us - late);
    model->total = fmax(median_of(way, "both", 0), stream);
    for (unsigned i = 0; i < model->speeds.n; i++)
        model->total = fmax(model->total, model->speeds.at[i].bandwidth);
}

/* ---- what to think of it ---- */

static double widest(const struct network_way *way)
{
    double most = 0;

    for (unsigned i = 0; i < way->nfigures; i++)
        if (strcmp(way->figures[i].name, "send") && strcmp(way->figures[i].name, "match") &&
            strcmp(way->figures[i].name, "late") && strcmp(way->figures[i].name, "look"))
            most = fmax(most, way->figures[i].spread);
    return most;
}

double network_spread(const struct network_measures *measures)
{
    return fmax(widest(&measures->node), widest(&measures->net));
}

static double way_asymmetry(const struct network_way *way)
{
    double forth = median_of(way, "forth", 0), back = median_of(way, "back", 0);

    return way->measured ? fmax(forth, back) / fmin(forth, back) - 1 : 0;
}

double network_asymmetry(const struct network_measures *measures)
{
    return fmax(way_asymmetry(&measures->node), way_asymmetry(&measures->net));
}

double network_incast(const struct network_measures *measures)
{
    const struct network_way *way = measures->net.measured ? &measures->net : &measures->node;

    return measures->incast.n ? measures->incast.median / median_of(way, "back", 0) : 0;
}

/* ---- words ---- */

static void print_speeds(const struct orr_fabric_speeds *speeds, FILE *out)
{
    for (unsigned i = 0; i < speeds->n; i++)
        fprintf(out, "%s%.0fB:%.6gGB/s", i ? "," : "", speeds->at[i].bytes,
                speeds->at[i].bandwidth * 1e-3);
}

static void print_costs(const struct network_way *way, const char *prefix, FILE *out)
{
    const struct network_model *model = &way->model;

    fprintf(out, " %slatency=%.4gus %sbandwidth=", prefix, model->latency_us, prefix);
    print_speeds(&model->speeds, out);
    fprintf(out, " %seager=%.0fB %ssend=%.4gus %smatch=%.4gus", prefix, way->eager, prefix,
            model->send_us, prefix, model->match_us);
    if (model->copy > 0)
        fprintf(out, " %scopy=%.4gGB/s", prefix, model->copy * 1e-3);
}

static void print_net(const struct network_way *net, FILE *out)
{
    double stream = fmax(median_of(net, "forth", 0), median_of(net, "back", 0));

    for (unsigned i = 0; i < net->model.speeds.n; i++)
        stream = fmax(stream, net->model.speeds.at[i].bandwidth);
    fprintf(out, "%.4gGB/s", stream * 1e-3);
    if (median_of(net, "both", 0) < HALF_DUPLEX * stream)
        fputs(" half-duplex", out);
    print_costs(net, "", out);
}

/* It is the processor's, not the network's. */
static void print_look(const struct network_way *way, FILE *out)
{
    if (network_find(way, "look", 0))
        fprintf(out, " look=%.4gus", median_of(way, "look", 0));
}

void network_print_words(const struct network_measures *measures, FILE *out)
{
    if (measures->net.measured)
        print_net(&measures->net, out);
    else
        fputs(ORR_CLUSTER_NETWORK, out);
    if (measures->node.measured) {
        print_costs(&measures->node, "node-", out);
        fprintf(out, " node-total=%.4gGB/s", measures->node.model.total * 1e-3);
    }
    print_look(measures->node.measured ? &measures->node : &measures->net, out);
}
