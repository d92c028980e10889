/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/doctor_memories.c - the part of the doctor (doctor.h) that looks at
 * main memories, where a machine has several: their routes to each other and to
 * devices. A rule makes one finding of all pairs that break it; a pair that one
 * rule has explained is left alone by later ones. No state.
 */
#include "core/base/number.h"
#include "platforms/doctor.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platforms/bus_files.h"
#include "platforms/desc_build.h"
#include "platforms/locality.h"

/* µs. A one-byte copy from or to a device takes 1 to 50. */
#define TOO_PROMPT 0.1

enum { MAX_TEXT = 1024, MAX_NAMED = 5 };

/* Rows and columns are the memories RAM0, RAM1 …, then the devices. */
struct memories {
    const struct orr_machine_desc *desc;
    unsigned n, nmemories;
    unsigned *hosts;             /* owned */
    unsigned *homes;             /* owned; the row of a device's own memory */
    double *bandwidth, *latency; /* owned; MB/s, µs; NaN: no route */
    bool *explained;             /* owned; a finding has named the pair */
};

/* The degree to which a pair breaks a rule, 0: not at all; the text about the
 * worst pair. */
struct rule {
    const char *name;
    enum orr_severity severity;
    double (*badness)(const struct memories *m, unsigned src, unsigned dst);
    void (*message)(const struct memories *m, unsigned src, unsigned dst,
                    char *what);
    const char *remedy;
};

static void append_to_memory_finding(char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append_to_memory_finding(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;

    va_start(args, format);
    orr_vsnprintf(text + length, MAX_TEXT - length, format, args);
    va_end(args);
}

static const char *memory_host_name(const struct memories *m, unsigned node)
{
    return m->desc->hosts[m->hosts[node]].id;
}

static size_t memory_pair(const struct memories *m, unsigned src, unsigned dst)
{
    return (size_t)src * m->n + dst;
}

static double memory_bandwidth(const struct memories *m, unsigned src,
                               unsigned dst)
{
    return m->bandwidth[memory_pair(m, src, dst)];
}

static bool bandwidth_is_known(double value)
{
    return isfinite(value) && value > 0;
}

/* -- rules -- */

static double no_route(const struct memories *m, unsigned src, unsigned dst)
{
    return isnan(memory_bandwidth(m, src, dst));
}

static void no_route_text(const struct memories *m, unsigned src, unsigned dst,
                          char *what)
{
    append_to_memory_finding(what, "there is no route from %s to %s",
                             memory_host_name(m, src),
                             memory_host_name(m, dst));
}

static double no_value(const struct memories *m, unsigned src, unsigned dst)
{
    return !bandwidth_is_known(memory_bandwidth(m, src, dst));
}

static void no_figure_text(const struct memories *m, unsigned src, unsigned dst,
                           char *what)
{
    append_to_memory_finding(what, "%s to %s: the bandwidth is %g MB/s",
                             memory_host_name(m, src), memory_host_name(m, dst),
                             memory_bandwidth(m, src, dst));
}

/* The slower of the two directions is the one to check. */
static double memory_asymmetry(const struct memories *m, unsigned src,
                               unsigned dst)
{
    double v = memory_bandwidth(m, src, dst),
           back = memory_bandwidth(m, dst, src);

    return bandwidth_is_known(v) && bandwidth_is_known(back) && back > 3 * v
               ? back / v
               : 0;
}

static void memory_asymmetry_text(const struct memories *m, unsigned src,
                                  unsigned dst, char *what)
{
    append_to_memory_finding(what,
                             "%s to %s: %.0f MB/s, but %.0f in the other "
                             "direction",
                             memory_host_name(m, src), memory_host_name(m, dst),
                             memory_bandwidth(m, src, dst),
                             memory_bandwidth(m, dst, src));
}

/* The fastest device whose data takes this route: one next to `src` that sends,
 * or next to `dst` that receives. */
static double fastest_device(const struct memories *m, unsigned src,
                             unsigned dst, unsigned *ret_device)
{
    double fastest = 0;

    for (unsigned d = m->nmemories; d < m->n; d++) {
        double v = m->homes[d] == src   ? memory_bandwidth(m, d, src)
                   : m->homes[d] == dst ? memory_bandwidth(m, dst, d)
                                        : 0;

        if (bandwidth_is_known(v) && v > fastest) {
            fastest = v;
            *ret_device = d;
        }
    }
    return fastest;
}

/* A difference of one per cent is due to rounding. */
static double slower_than_device(const struct memories *m, unsigned src,
                                 unsigned dst)
{
    double v = memory_bandwidth(m, src, dst), fastest;
    unsigned device;

    if (dst >= m->nmemories || src >= m->nmemories || !bandwidth_is_known(v))
        return 0;
    fastest = fastest_device(m, src, dst, &device);
    return fastest > 1.01 * v ? fastest / v : 0;
}

static void slower_than_device_text(const struct memories *m, unsigned src,
                                    unsigned dst, char *what)
{
    unsigned device = 0;
    double fastest = fastest_device(m, src, dst, &device);

    append_to_memory_finding(
        what,
        "%s to %s: %.0f MB/s between main memories, but %.0f between %s and "
        "the memory next to it",
        memory_host_name(m, src), memory_host_name(m, dst),
        memory_bandwidth(m, src, dst), fastest, memory_host_name(m, device));
}

static double memory_too_prompt(const struct memories *m, unsigned src,
                                unsigned dst)
{
    return (src >= m->nmemories || dst >= m->nmemories) &&
           m->latency[memory_pair(m, src, dst)] < TOO_PROMPT;
}

static void memory_too_prompt_text(const struct memories *m, unsigned src,
                                   unsigned dst, char *what)
{
    append_to_memory_finding(
        what,
        "%s to %s: a latency of %g us; the smallest copy takes some "
        "microseconds",
        memory_host_name(m, src), memory_host_name(m, dst),
        m->latency[memory_pair(m, src, dst)]);
}

static const struct rule rules[] = {
    {"memory-route-missing", ORR_SEVERITY_ERROR, no_route, no_route_text,
     "add a <route> with the links that such copies pass; without it the "
     "machine cannot be simulated with STARPU_USE_NUMA=1"},
    {"memory-bandwidth-missing", ORR_SEVERITY_ERROR, no_value, no_figure_text,
     "give the route a <link_ctn> of a link whose bandwidth was measured "
     "(`orrery calibrate bus` on the machine) or published"},
    {"memory-asymmetry", ORR_SEVERITY_WARNING, memory_asymmetry,
     memory_asymmetry_text,
     "check that the routes of both directions pass the right links; if it was "
     "measured, measure again (`orrery calibrate bus`) on an idle machine"},
    {"memory-slower-than-device", ORR_SEVERITY_WARNING, slower_than_device,
     slower_than_device_text,
     "see whether the link between the memories has its full bandwidth (all "
     "links between the sockets, in bytes and not in bits), and measure it "
     "with `orrery calibrate bus`; if it is so, keep data next to the device "
     "that uses it"},
    {"memory-latency-zero", ORR_SEVERITY_WARNING, memory_too_prompt,
     memory_too_prompt_text,
     "give a link of the route the latency that was measured (`orrery "
     "calibrate bus`), or that of the device's route from RAM"},
};

/* -- checks -- */

static void append_other_pairs(const struct memories *m, char *what,
                               const size_t *named, unsigned n, size_t worst)
{
    unsigned nnamed = 0;

    if (n < 2)
        return;
    append_to_memory_finding(what, "; likewise");
    for (unsigned i = 0; i < n && i < MAX_NAMED; i++)
        if (named[i] != worst)
            append_to_memory_finding(
                what, "%s %s to %s", nnamed++ ? "," : "",
                memory_host_name(m, (unsigned)(named[i] / m->n)),
                memory_host_name(m, (unsigned)(named[i] % m->n)));
    if (n - 1 > nnamed)
        append_to_memory_finding(what, " and %u more", n - 1 - nnamed);
}

static void memories_apply_rule(struct memories *m, const struct rule *rule,
                                struct orr_findings *findings)
{
    size_t named[MAX_NAMED], worst = 0;
    char what[MAX_TEXT] = "";
    double greatest = 0;
    unsigned n = 0;

    for (size_t pair = 0; pair < (size_t)m->n * m->n; pair++) {
        unsigned src = (unsigned)(pair / m->n), dst = (unsigned)(pair % m->n);
        double badness;

        /* Copies between devices are checked in doctor.c. */
        if (src == dst || (src >= m->nmemories && dst >= m->nmemories) ||
            m->explained[pair])
            continue;
        badness = rule->badness(m, src, dst);
        if (!(badness > 0))
            continue;
        m->explained[pair] = true;
        if (n < MAX_NAMED)
            named[n] = pair;
        n++;
        if (badness > greatest) {
            greatest = badness;
            worst = pair;
        }
    }
    if (n == 0)
        return;
    rule->message(m, (unsigned)(worst / m->n), (unsigned)(worst % m->n), what);
    append_other_pairs(m, what, named, n, worst);
    orr_findings_add(findings, rule->severity, rule->name, NULL, rule->remedy,
                     "%s", what);
}

static bool host_has_device(const struct orr_host_desc *host)
{
    return orr_host_desc_number(host, "CUDA") >= 0 ||
           orr_host_desc_number(host, "OpenCL") >= 0;
}

/* `place` gets the row of each host, or -1. */
static void number_nodes(struct memories *m, int *place)
{
    unsigned device = m->nmemories;

    for (unsigned h = 0; h < m->desc->nhosts; h++) {
        int memory = orr_host_desc_number(&m->desc->hosts[h], "RAM");

        place[h] = -1;
        if (memory >= 0 && (unsigned)memory < m->nmemories)
            place[h] = memory;
        else if (host_has_device(&m->desc->hosts[h]) && device < m->n)
            place[h] = (int)device++;
        if (place[h] >= 0)
            m->hosts[place[h]] = h;
    }
    for (unsigned d = m->nmemories; d < m->n; d++) {
        int home = orr_machine_desc_home(m->desc, &m->desc->hosts[m->hosts[d]]);

        m->homes[d] = home >= 0 ? (unsigned)place[home] : m->n;
    }
}

static int memories_examine(struct memories *m, struct orr_findings *findings)
{
    size_t npairs = (size_t)m->n * m->n;
    int *place = calloc(m->desc->nhosts + (size_t)1, sizeof(*place));
    int rc = -ENOMEM;

    m->hosts = calloc(m->n, sizeof(*m->hosts));
    m->homes = calloc(m->n, sizeof(*m->homes));
    m->bandwidth = calloc(npairs, sizeof(*m->bandwidth));
    m->latency = calloc(npairs, sizeof(*m->latency));
    m->explained = calloc(npairs, sizeof(*m->explained));
    if (place && m->hosts && m->homes && m->bandwidth && m->latency &&
        m->explained) {
        number_nodes(m, place);
        rc = orr_bus_among(m->desc, place, m->n, m->bandwidth, m->latency);
    }
    for (size_t i = 0; rc == 0 && i < sizeof(rules) / sizeof(rules[0]); i++)
        memories_apply_rule(m, &rules[i], findings);
    free(place);
    free(m->hosts);
    free(m->homes);
    free(m->bandwidth);
    free(m->latency);
    free(m->explained);
    return rc;
}

int orr_doctor_examine_memories(const struct orr_machine_desc *desc,
                                struct orr_findings *findings)
{
    struct memories m = {.desc = desc,
                         .n = desc->nnuma + desc->ncuda + desc->nopencl,
                         .nmemories = desc->nnuma};
    int rc;

    if (desc->nnuma < 2)
        return 0;
    if (m.n > ORR_DESC_MAX_NODES) {
        orr_findings_add(findings, ORR_SEVERITY_ERROR, "memory-count", NULL,
                         "remove hosts RAM<number>, or devices",
                         "RAM0 to RAM%u and devices are %u memory nodes, at "
                         "most %u are supported",
                         desc->nnuma - 1, m.n, (unsigned)ORR_DESC_MAX_NODES);
        return findings->failed ? -ENOMEM : 0;
    }
    rc = memories_examine(&m, findings);
    if (rc)
        return rc;
    orr_findings_worst_first(findings);
    return findings->failed ? -ENOMEM : 0;
}
