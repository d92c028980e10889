/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/doctor.c - see doctor.h. A rule checks all links, collects those
 * that break it and makes one finding of them, which has the values of the
 * worst and names the others. A link that one rule has explained is left alone
 * by later ones, so that one cause gives one finding: the order in `rules` is
 * from the most certain cause to the least.
 */
#include "platforms/doctor.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"
#include "platforms/bus_files.h"

/* MB/s. Nothing in a present machine is as fast (NVLink 5: 900,000 each way) or
 * as slow (PCIe 1.0 x1: 250) as these. */
#define TOO_FAST    2e6
#define TOO_SLOW    100.0
/* MB/s between main memory and a GPU. Pageable memory is copied at 1,500 to
 * 3,000 through a staging buffer, PCIe 3.0 x1 gives 985, x4 3,900; x16 of any
 * generation gives more than 5,000 from pinned memory. */
#define NARROW      3000.0
#define VERY_NARROW 1500.0
#define DOUBTFUL    4000.0 /* narrow too, if a sibling is clearly faster */
/* µs. A one-byte copy through a device driver takes 1 to 50. */
#define TOO_PROMPT  0.1
#define TOO_LATE    1e4
#define LATE        100.0
#define MIB         1048576.0

enum { MAX_NAMED = 5, MAX_TEXT = 1024 };

struct exam {
    const struct orr_doctor_input *in;
    struct orr_findings *out;
    bool *explained; /* per link: a finding has named it */
};

/* Links that break one rule; `worst` has the greatest badness. */
struct hits {
    unsigned n;
    size_t worst;
    double badness;
    size_t named[MAX_NAMED];
};

/* -- links -- */

static size_t exam_link(const struct exam *e, unsigned src, unsigned dst)
{
    return (size_t)src * e->in->nnodes + dst;
}

static const char *src_name(const struct exam *e, size_t link)
{
    return e->in->nodes[link / e->in->nnodes].name;
}

static const char *dst_name(const struct exam *e, size_t link)
{
    return e->in->nodes[link % e->in->nnodes].name;
}

/* Whether the values of the link are ever used. */
static bool link_is_wanted(const struct exam *e, unsigned src, unsigned dst)
{
    if (src == dst)
        return false;
    return src == 0 || dst == 0 || !e->in->direct ||
           e->in->direct[exam_link(e, src, dst)];
}

static bool value_is_known(double value)
{
    return isfinite(value) && value > 0;
}

static bool node_is_gpu(const struct exam *e, unsigned node)
{
    return e->in->nodes[node].kind == ORR_DOCTOR_CUDA ||
           e->in->nodes[node].kind == ORR_DOCTOR_OPENCL;
}

/* Between main memory and a GPU. */
static bool is_host_link(const struct exam *e, unsigned src, unsigned dst)
{
    return (src == 0 && node_is_gpu(e, dst)) ||
           (dst == 0 && node_is_gpu(e, src));
}

/* Copies between GPUs that do not go through main memory. */
static bool is_peer_link(const struct exam *e, unsigned src, unsigned dst)
{
    return link_is_wanted(e, src, dst) && node_is_gpu(e, src) &&
           node_is_gpu(e, dst);
}

/* -- findings -- */

static void exam_note_hit(struct exam *e, struct hits *hits, size_t link,
                          double badness)
{
    if (hits->n == 0 || badness > hits->badness) {
        hits->worst = link;
        hits->badness = badness;
    }
    if (hits->n < MAX_NAMED)
        hits->named[hits->n] = link;
    hits->n++;
    e->explained[link] = true;
}

static void append_to_finding(char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append_to_finding(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;

    va_start(args, format);
    orr_vsnprintf(text + length, MAX_TEXT - length, format, args);
    va_end(args);
}

static void append_other_links(const struct exam *e, char *text,
                               const struct hits *hits)
{
    unsigned named = 0;

    if (hits->n < 2)
        return;
    append_to_finding(text, "; likewise");
    for (unsigned i = 0; i < hits->n && i < MAX_NAMED; i++) {
        if (hits->named[i] == hits->worst)
            continue;
        append_to_finding(text, "%s %s to %s", named++ ? "," : "",
                          src_name(e, hits->named[i]),
                          dst_name(e, hits->named[i]));
    }
    if (hits->n - 1 > named)
        append_to_finding(text, "%s %u more", named ? " and" : "",
                          hits->n - 1 - named);
}

static void exam_add_finding(struct exam *e, enum orr_severity severity,
                             const char *rule, const char *what,
                             const char *remedy)
{
    orr_findings_add(e->out, severity, rule, NULL, remedy, "%s", what);
}

/* One finding of all hits, `what` describes the worst. */
static void find_hits(struct exam *e, const struct hits *hits,
                      enum orr_severity severity, const char *rule, char *what,
                      const char *remedy)
{
    append_other_links(e, what, hits);
    exam_add_finding(e, severity, rule, what, remedy);
}

/* -- sizes of files -- */

static const char again[] =
    "measure again on the machine: STARPU_BUS_CALIBRATE=1 with any StarPU "
    "program there";

static void check_shape(struct exam *e, const char *file,
                        const struct orr_bus_shape *shape)
{
    int nodes = e->in->config_nodes;
    char what[MAX_TEXT] = "";

    if (!shape)
        return;
    if (nodes > 0 &&
        (shape->rows != (unsigned)nodes || shape->columns != (unsigned)nodes)) {
        append_to_finding(
            what,
            "the .%s file has values for %u x %u memory nodes, but .config "
            "counts %d: devices were added or removed since it was "
            "measured, or lines were lost",
            file, shape->rows, shape->columns, nodes);
        exam_add_finding(e, ORR_SEVERITY_ERROR, "size", what, again);
        return;
    }
    if (shape->rows > 0 && (shape->rows == shape->all_rows ||
                            shape->columns == shape->all_columns)) {
        append_to_finding(
            what,
            "the .%s file has no spare row and column: StarPU takes the "
            "last ones of a file as unknown, so there the last node has no "
            "values",
            file);
        exam_add_finding(
            e, ORR_SEVERITY_NOTE, "no-spare-row", what,
            "add a column and a row of nan, or write the file with `orrery "
            "machine`");
    }
}

static void check_count(struct exam *e, const char *kind, int config,
                        int platform, enum orr_severity severity)
{
    char what[MAX_TEXT] = "";

    if (config < 0 || platform < 0 || config == platform)
        return;
    append_to_finding(what,
                      "the .config file counts %d %s, the platform file %d",
                      config, kind, platform);
    exam_add_finding(e, severity, "counts", what, again);
}

static void check_sizes(struct exam *e)
{
    const struct orr_doctor_input *in = e->in;

    check_shape(e, "bandwidth", in->bandwidth_shape);
    check_shape(e, "latency", in->latency_shape);
    check_count(e, "CPUs", in->config_cpus, in->platform_cpus,
                ORR_SEVERITY_WARNING);
    check_count(e, "CUDA devices", in->config_cuda, in->platform_cuda,
                ORR_SEVERITY_ERROR);
    check_count(e, "OpenCL devices", in->config_opencl, in->platform_opencl,
                ORR_SEVERITY_ERROR);
}

/* -- missing values -- */

/* The finding for a matrix with missing values. */
struct matrix {
    const double *values;
    const char *what; /* "bandwidth" */
    const char *unit;
    const char *rule;
    bool zero_is_known; /* another rule reports zeros */
};

static bool matrix_lacks_link(const struct matrix *m, size_t link)
{
    return !value_is_known(m->values[link]) &&
           !(m->zero_is_known && m->values[link] == 0);
}

static void describe_value(char *text, const struct matrix *m, double value)
{
    if (isnan(value))
        append_to_finding(text, "there is no %s", m->what);
    else
        append_to_finding(text, "the %s is %g %s", m->what, value, m->unit);
}

static const char missing_remedy[] =
    "such copies are predicted to take no time, or for ever, and schedulers "
    "act on it; measure again on the machine (STARPU_BUS_CALIBRATE=1) with all "
    "devices idle, and look in `dmesg` whether one was lost";

/* A row (copies from the node) or a column (to it) without any value. */
static void check_line(struct exam *e, const struct matrix *m, unsigned node,
                       bool row)
{
    unsigned nwanted = 0, nmissing = 0, nnew = 0;
    char what[MAX_TEXT] = "";
    size_t first = 0;

    for (unsigned i = 0; i < e->in->nnodes; i++) {
        unsigned src = row ? node : i, dst = row ? i : node;
        size_t link = exam_link(e, src, dst);

        if (!link_is_wanted(e, src, dst))
            continue;
        nwanted++;
        nmissing += matrix_lacks_link(m, link);
        if (matrix_lacks_link(m, link) && !e->explained[link] && nnew++ == 0)
            first = link;
    }
    if (nnew == 0 || nmissing < nwanted)
        return;
    describe_value(what, m, m->values[first]);
    append_to_finding(what, " from %s to %s: the whole %s of %s is like this",
                      row ? e->in->nodes[node].name : "any node",
                      row ? "any node" : e->in->nodes[node].name,
                      row ? "row" : "column", e->in->nodes[node].name);
    for (unsigned i = 0; i < e->in->nnodes; i++)
        e->explained[row ? exam_link(e, node, i) : exam_link(e, i, node)] =
            true;
    exam_add_finding(e, ORR_SEVERITY_ERROR, m->rule, what, missing_remedy);
}

static void check_missing(struct exam *e, const struct matrix *m)
{
    struct hits hits = {0};
    char what[MAX_TEXT] = "";

    for (unsigned node = 0; node < e->in->nnodes; node++)
        check_line(e, m, node, true);
    for (unsigned node = 0; node < e->in->nnodes; node++)
        check_line(e, m, node, false);
    for (unsigned src = 0; src < e->in->nnodes; src++)
        for (unsigned dst = 0; dst < e->in->nnodes; dst++) {
            size_t link = exam_link(e, src, dst);

            if (link_is_wanted(e, src, dst) && matrix_lacks_link(m, link) &&
                !e->explained[link])
                exam_note_hit(e, &hits, link, 1);
        }
    if (hits.n == 0)
        return;
    describe_value(what, m, m->values[hits.worst]);
    append_to_finding(what, " from %s to %s", src_name(e, hits.worst),
                      dst_name(e, hits.worst));
    find_hits(e, &hits, ORR_SEVERITY_ERROR, m->rule, what, missing_remedy);
}

static void check_missing_bandwidth(struct exam *e)
{
    const struct matrix m = {.values = e->in->bandwidth,
                             .what = "bandwidth",
                             .unit = "MB/s",
                             .rule = "bandwidth-missing"};

    check_missing(e, &m);
}

/* Values of one matrix explain nothing about the other. */
static void exam_forget_explained(struct exam *e)
{
    memset(e->explained, 0,
           (size_t)e->in->nnodes * e->in->nnodes * sizeof(*e->explained));
}

static void check_missing_latency(struct exam *e)
{
    const struct matrix m = {.values = e->in->latency,
                             .what = "latency",
                             .unit = "us",
                             .rule = "latency-missing",
                             .zero_is_known = true};

    exam_forget_explained(e);
    check_missing(e, &m);
}

/* -- rules about single links -- */

/* The degree to which a link breaks a rule; 0: not at all. Its values are known
 * unless the rule is about latency, which may be 0. */
typedef double (*badness_fn)(const struct exam *e, unsigned src, unsigned dst);

/* Text about the worst link. */
typedef void (*words_fn)(const struct exam *e, unsigned src, unsigned dst,
                         char *what);

struct rule {
    const char *name;
    badness_fn badness;
    double error_from; /* badness from which it is an error, else a warning */
    words_fn message;
    const char *remedy;
};

static void exam_apply_rule(struct exam *e, const struct rule *rule)
{
    struct hits hits = {0};
    char what[MAX_TEXT] = "";

    for (unsigned src = 0; src < e->in->nnodes; src++)
        for (unsigned dst = 0; dst < e->in->nnodes; dst++) {
            size_t link = exam_link(e, src, dst);
            double badness;

            if (!link_is_wanted(e, src, dst) || e->explained[link])
                continue;
            badness = rule->badness(e, src, dst);
            if (badness > 0)
                exam_note_hit(e, &hits, link, badness);
        }
    if (hits.n == 0)
        return;
    append_to_finding(what, "%s to %s: ", src_name(e, hits.worst),
                      dst_name(e, hits.worst));
    rule->message(e, (unsigned)(hits.worst / e->in->nnodes),
                  (unsigned)(hits.worst % e->in->nnodes), what);
    find_hits(e, &hits,
              hits.badness >= rule->error_from ? ORR_SEVERITY_ERROR
                                               : ORR_SEVERITY_WARNING,
              rule->name, what, rule->remedy);
}

static double link_bandwidth(const struct exam *e, unsigned src, unsigned dst)
{
    return e->in->bandwidth[exam_link(e, src, dst)];
}

static double link_latency(const struct exam *e, unsigned src, unsigned dst)
{
    return e->in->latency[exam_link(e, src, dst)];
}

/* The median of what the other devices of this type have in the same direction,
 * NaN without any. With two devices it is the other one's; of an even number
 * the greater counts for bandwidth, so that one fast sibling is enough. */
static double sibling_median(const struct exam *e, const double *matrix,
                             unsigned src, unsigned dst)
{
    unsigned device = src == 0 ? dst : src, n = 0;
    double values[64];

    for (unsigned i = 1; i < e->in->nnodes && n < 64; i++) {
        double value =
            matrix[src == 0 ? exam_link(e, 0, i) : exam_link(e, i, 0)];
        unsigned at = n;

        if (i == device || !value_is_known(value) ||
            e->in->nodes[i].kind != e->in->nodes[device].kind)
            continue;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
        n++;
    }
    return n ? values[n / 2] : (double)NAN;
}

/* The bandwidth of a copy through main memory, two copies one after the other;
 * NaN unless both halves are known. */
static double through_ram(const struct exam *e, unsigned src, unsigned dst)
{
    double up = link_bandwidth(e, src, 0), down = link_bandwidth(e, 0, dst);

    return value_is_known(up) && value_is_known(down) ? 1 / (1 / up + 1 / down)
                                                      : (double)NAN;
}

static double too_fast(const struct exam *e, unsigned src, unsigned dst)
{
    double v = link_bandwidth(e, src, dst);

    return value_is_known(v) && v > TOO_FAST ? v / TOO_FAST : 0;
}

static void too_fast_words(const struct exam *e, unsigned src, unsigned dst,
                           char *what)
{
    append_to_finding(what, "%.4g MB/s is more than any link has",
                      link_bandwidth(e, src, dst));
}

static double too_slow(const struct exam *e, unsigned src, unsigned dst)
{
    double v = link_bandwidth(e, src, dst);

    return value_is_known(v) && v < TOO_SLOW ? TOO_SLOW / v : 0;
}

static void too_slow_text(const struct exam *e, unsigned src, unsigned dst,
                          char *what)
{
    append_to_finding(what, "%.4g MB/s is less than any link has",
                      link_bandwidth(e, src, dst));
}

/* µs of difference do not matter: routes do not include the time of drivers. */
static double link_contradicted(const struct exam *e, unsigned src,
                                unsigned dst)
{
    const struct orr_doctor_input *in = e->in;
    size_t link = exam_link(e, src, dst);
    double worst = 0;

    if (in->platform_bandwidth &&
        value_is_known(in->platform_bandwidth[link]) &&
        value_is_known(in->bandwidth[link])) {
        double r = in->bandwidth[link] / in->platform_bandwidth[link];

        worst = fmax(r, 1 / r);
    }
    if (in->platform_latency && value_is_known(in->platform_latency[link]) &&
        value_is_known(in->latency[link]) &&
        fabs(in->latency[link] - in->platform_latency[link]) > 30) {
        double r = in->latency[link] / in->platform_latency[link];

        worst = fmax(worst, fmax(r, 1 / r));
    }
    return worst > 3 ? worst : 0;
}

static void contradicted_text(const struct exam *e, unsigned src, unsigned dst,
                              char *what)
{
    const struct orr_doctor_input *in = e->in;
    size_t link = exam_link(e, src, dst);

    append_to_finding(
        what,
        "%.0f MB/s and %.1f us were measured, but the routes of the "
        "platform file give %.0f MB/s and %.1f us",
        in->bandwidth[link], in->latency[link],
        in->platform_bandwidth ? in->platform_bandwidth[link] : (double)NAN,
        in->platform_latency ? in->platform_latency[link] : (double)NAN);
}

static double slower_than_siblings(const struct exam *e, unsigned src,
                                   unsigned dst)
{
    double v = link_bandwidth(e, src, dst), others;

    if (!is_host_link(e, src, dst) || !value_is_known(v))
        return 0;
    others = sibling_median(e, e->in->bandwidth, src, dst);
    return others >= 2 * v || (v < DOUBTFUL && others >= 1.5 * v) ? others / v
                                                                  : 0;
}

static void slower_than_siblings_text(const struct exam *e, unsigned src,
                                      unsigned dst, char *what)
{
    append_to_finding(
        what,
        "%.0f MB/s, while other devices of its type have %.0f: a slot with "
        "fewer lanes, or memory that was not pinned",
        link_bandwidth(e, src, dst),
        sibling_median(e, e->in->bandwidth, src, dst));
}

/* The slower of the two directions is the one to check. */
static double link_asymmetry(const struct exam *e, unsigned src, unsigned dst)
{
    double v = link_bandwidth(e, src, dst), back = link_bandwidth(e, dst, src);

    if (!value_is_known(v) || !value_is_known(back))
        return 0;
    return back > 3 * v ? back / v : 0;
}

static void link_asymmetry_text(const struct exam *e, unsigned src,
                                unsigned dst, char *what)
{
    append_to_finding(what, "%.0f MB/s, but %.0f in the other direction",
                      link_bandwidth(e, src, dst), link_bandwidth(e, dst, src));
}

/* Badness 2 from the "very narrow" on. */
static double link_narrowness(const struct exam *e, unsigned src, unsigned dst)
{
    double v = link_bandwidth(e, src, dst);

    return is_host_link(e, src, dst) && value_is_known(v) && v < NARROW
               ? NARROW / v
               : 0;
}

static void narrow_text(const struct exam *e, unsigned src, unsigned dst,
                        char *what)
{
    append_to_finding(
        what,
        "%.0f MB/s is what memory that is not pinned gives, or a PCIe link "
        "of 1 to 4 lanes",
        link_bandwidth(e, src, dst));
}

static double link_unpinned(const struct exam *e, unsigned src, unsigned dst)
{
    unsigned device = src == 0 ? dst : src;
    double v = link_bandwidth(e, src, dst), peer = 0;

    if (!is_host_link(e, src, dst) || !value_is_known(v))
        return 0;
    for (unsigned i = 1; i < e->in->nnodes; i++)
        if (is_peer_link(e, device, i) &&
            value_is_known(link_bandwidth(e, device, i)) &&
            link_bandwidth(e, device, i) < TOO_FAST)
            peer = fmax(peer, link_bandwidth(e, device, i));
    return peer > 20 * v ? peer / v : 0;
}

static void unpinned_text(const struct exam *e, unsigned src, unsigned dst,
                          char *what)
{
    append_to_finding(
        what,
        "%.0f MB/s, less than a twentieth of what the device exchanges with "
        "its peers: as if memory had not been pinned",
        link_bandwidth(e, src, dst));
}

static double slow_peer(const struct exam *e, unsigned src, unsigned dst)
{
    double v = link_bandwidth(e, src, dst), through = through_ram(e, src, dst);

    if (!is_peer_link(e, src, dst) || !value_is_known(v))
        return 0;
    return through > 1.5 * v ? through / v : 0;
}

static void slow_peer_text(const struct exam *e, unsigned src, unsigned dst,
                           char *what)
{
    append_to_finding(
        what,
        "the direct copy between peers takes %.0f MB/s, two copies through "
        "main memory take %.0f",
        link_bandwidth(e, src, dst), through_ram(e, src, dst));
}

/* StarPU writes the route through main memory for pairs it cannot measure. */
static double unmeasured_peer(const struct exam *e, unsigned src, unsigned dst)
{
    double through = through_ram(e, src, dst);
    double late = link_latency(e, src, 0) + link_latency(e, 0, dst);

    if (!e->in->measured || !e->in->direct || !is_peer_link(e, src, dst))
        return 0;
    return fabs(link_bandwidth(e, src, dst) - through) < 1e-3 * through &&
           fabs(link_latency(e, src, dst) - late) < 1e-3 * late;
}

static void unmeasured_peer_text(const struct exam *e, unsigned src,
                                 unsigned dst, char *what)
{
    append_to_finding(
        what,
        "%.0f MB/s is the sum of both copies through main memory, but the "
        "platform has a direct link",
        link_bandwidth(e, src, dst));
}

static double link_too_prompt(const struct exam *e, unsigned src, unsigned dst)
{
    double v = link_latency(e, src, dst);

    if (!node_is_gpu(e, src) && !node_is_gpu(e, dst))
        return 0; /* nodes of main memory: StarPU writes 0 for those */
    if (!(v >= 0 && v < TOO_PROMPT))
        return 0;
    return e->in->measured ? 2 : 1; /* from routes, it may be a choice */
}

static void link_too_prompt_text(const struct exam *e, unsigned src,
                                 unsigned dst, char *what)
{
    append_to_finding(
        what, "a latency of %g us; the smallest copy takes some microseconds",
        link_latency(e, src, dst));
}

static double too_late(const struct exam *e, unsigned src, unsigned dst)
{
    double v = link_latency(e, src, dst);

    return (node_is_gpu(e, src) || node_is_gpu(e, dst)) && v > TOO_LATE
               ? v / TOO_LATE
               : 0;
}

static void too_late_text(const struct exam *e, unsigned src, unsigned dst,
                          char *what)
{
    append_to_finding(
        what, "a latency of %.4g us is longer than any copy needs to begin",
        link_latency(e, src, dst));
}

static double latency_dominates(const struct exam *e, unsigned src,
                                unsigned dst)
{
    double v = link_latency(e, src, dst), rate = link_bandwidth(e, src, dst);

    if (!node_is_gpu(e, src) && !node_is_gpu(e, dst))
        return 0;
    return v > LATE && value_is_known(rate) && v > MIB / rate ? v / (MIB / rate)
                                                              : 0;
}

static void dominating_text(const struct exam *e, unsigned src, unsigned dst,
                            char *what)
{
    append_to_finding(
        what, "the latency of %.0f us dominates: 1 MiB itself takes %.0f us",
        link_latency(e, src, dst), MIB / link_bandwidth(e, src, dst));
}

static double later_than_siblings(const struct exam *e, unsigned src,
                                  unsigned dst)
{
    double v = link_latency(e, src, dst);

    if (!is_host_link(e, src, dst) || !(v > 50))
        return 0;
    return v > 5 * sibling_median(e, e->in->latency, src, dst) ? 1 : 0;
}

static void later_than_siblings_text(const struct exam *e, unsigned src,
                                     unsigned dst, char *what)
{
    append_to_finding(
        what, "a latency of %.1f us, while other devices of its type have %.1f",
        link_latency(e, src, dst), sibling_median(e, e->in->latency, src, dst));
}

/* -- all of them -- */

static const char lanes[] =
    "see `lspci -vv` whether LnkSta shows fewer lanes or a lower speed than "
    "LnkCap, and reseat the card or take another slot; allocate with "
    "starpu_malloc, which pins memory (STARPU_DISABLE_PINNING unset, `ulimit "
    "-l` large enough); then measure again (STARPU_BUS_CALIBRATE=1)";

static const struct rule bandwidth_rules[] = {
    {"bandwidth-absurd", too_fast, 0, too_fast_words,
     "the file is in MB/s (10^6 bytes per second): correct the unit, or "
     "measure again (STARPU_BUS_CALIBRATE=1)"},
    {"bandwidth-tiny", too_slow, 0, too_slow_text,
     "the file is in MB/s (10^6 bytes per second): correct the unit if it "
     "was written in GB/s, else measure again (STARPU_BUS_CALIBRATE=1) on an "
     "idle machine"},
    {"platform-contradiction", link_contradicted, 0, contradicted_text,
     "schedulers predict with the first, simulated copies obey the second; "
     "measure again, which writes both, or remove the .bandwidth and .latency "
     "files to use the routes for both"},
    {"slow-device", slower_than_siblings, 3, slower_than_siblings_text, lanes},
    {"asymmetry", link_asymmetry, 10, link_asymmetry_text,
     "measure again (STARPU_BUS_CALIBRATE=1) on an idle machine; if it stays, "
     "look at the PCIe link (`lspci -vv`, LnkSta), the IOMMU and at where the "
     "memory lies (numactl)"},
    {"narrow-link", link_narrowness, 2, narrow_text, lanes},
    {"unpinned", link_unpinned, 60, unpinned_text, lanes},
    {"slow-peer", slow_peer, 3, slow_peer_text,
     "turn direct copies off (STARPU_ENABLE_CUDA_GPU_GPU_DIRECT=0, memcpy_peer "
     "0 in the platform file), or find why they are slow: `nvidia-smi topo "
     "-m`, the ACS and IOMMU settings of the BIOS; then measure again"},
    {"peer-not-measured", unmeasured_peer, 2, unmeasured_peer_text,
     "measure again with peer access on (STARPU_ENABLE_CUDA_GPU_GPU_DIRECT=1, "
     "all GPUs visible to one process)"},
};

static const struct rule latency_rules[] = {
    {"latency-zero", link_too_prompt, 2, link_too_prompt_text,
     "the file is in microseconds: correct the unit if it was written in "
     "seconds, else measure again (STARPU_BUS_CALIBRATE=1)"},
    {"latency-absurd", too_late, 0, too_late_text,
     "the file is in microseconds: correct the unit if it was written in "
     "nanoseconds, else measure again (STARPU_BUS_CALIBRATE=1) on an idle "
     "machine"},
    {"latency-dominates", latency_dominates, 1e9, dominating_text,
     "measure again (STARPU_BUS_CALIBRATE=1) on an idle machine with "
     "persistence mode on (nvidia-smi -pm 1) and power saving off; if it "
     "stays, use larger pieces of data"},
    {"slow-start", later_than_siblings, 1e9, later_than_siblings_text,
     "measure again (STARPU_BUS_CALIBRATE=1) on an idle machine with "
     "persistence mode on (nvidia-smi -pm 1); see `lspci -vv` for power saving "
     "(ASPM) of that device"},
};

static void exam_apply_rules(struct exam *e)
{
    check_sizes(e);
    check_missing_bandwidth(e);
    for (size_t i = 0; i < sizeof(bandwidth_rules) / sizeof(struct rule); i++)
        exam_apply_rule(e, &bandwidth_rules[i]);
    check_missing_latency(e);
    for (size_t i = 0; i < sizeof(latency_rules) / sizeof(struct rule); i++)
        exam_apply_rule(e, &latency_rules[i]);
}

int orr_doctor_examine(const struct orr_doctor_input *input,
                       struct orr_findings *findings)
{
    size_t nlinks = (size_t)input->nnodes * input->nnodes;
    struct exam exam = {.in = input, .out = findings};

    exam.explained = calloc(nlinks ? nlinks : 1, sizeof(*exam.explained));
    if (!exam.explained)
        return -ENOMEM;
    exam_apply_rules(&exam);
    free(exam.explained);
    orr_findings_worst_first(findings);
    return findings->failed ? -ENOMEM : 0;
}
