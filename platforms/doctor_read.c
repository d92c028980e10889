/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/doctor_read.c - from the name of a machine to the input of the
 * doctor: its platform file, and the .bandwidth, .latency and .config files
 * beside it. What cannot be read is a finding. No state.
 */
#include "platforms/doctor.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platforms/bus_files.h"
#include "platforms/desc_build.h"
#include "platforms/machine_desc.h"
#include "platforms/places.h"
#include "platforms/whole_file.h"

enum { MAX_FILE = 16 << 20, MAX_COUNT = 4096 };

/* The state of reading one machine. */
struct patient {
    struct orr_machine_desc *desc; /* owned */
    char *stem;    /* owned: path of the files without .bandwidth and so on */
    bool platform; /* there is a platform file */
    int nodes, cpus, cuda, opencl; /* of .config, -1: not known */
    struct orr_bus_shape shapes[2];
    bool has[2]; /* there are .bandwidth, .latency */
    struct orr_findings *findings;
    struct orr_error *err;
};

static const char *const suffixes[2] = {".bandwidth", ".latency"};

static int no_memory(struct patient *p)
{
    return orr_fail(p->err, -ENOMEM, "out of memory");
}

static int patient_add_finding(struct patient *p, enum orr_severity severity,
                               const char *rule, const char *what,
                               const char *remedy)
{
    orr_findings_add(p->findings, severity, rule, NULL, remedy, "%s", what);
    return p->findings->failed ? no_memory(p) : 0;
}

/* A file that is there and cannot be read. Takes the message from p->err. */
static int find_unreadable(struct patient *p, int code)
{
    int rc;

    if (code == -ENOMEM)
        return code;
    rc =
        patient_add_finding(p, ORR_SEVERITY_ERROR, "unreadable", p->err->text,
                            "correct the file, or measure again on the machine "
                            "(STARPU_BUS_CALIBRATE=1), which writes it anew");
    if (rc == 0)
        p->err->text[0] = '\0';
    return rc;
}

/* -- .config -- */

/* The names of the counts, in the comment behind each; without them the order
 * of StarPU 1.4 holds: CPUs, then memory types. */
enum counted { CPUS, NUMA, CUDA, OPENCL, OTHERS };

static enum counted what_is_counted(const char *comment, unsigned line)
{
    static const struct {
        const char *word;
        enum counted counted;
    } words[] = {{"numa", NUMA},   {"cuda", CUDA},  {"opencl", OPENCL},
                 {"cpu", CPUS},    {"mic", OTHERS}, {"fpga", OTHERS},
                 {"disk", OTHERS}, {"mpi", OTHERS}, {"tcp", OTHERS},
                 {"hip", OTHERS}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasestr(comment, words[i].word))
            return words[i].counted;
    return line < OTHERS ? (enum counted)line : OTHERS;
}

/* Reads "<count> # comment"; 0 for lines without a count. */
static int read_config_count(const char *line, long *ret,
                             const char **ret_comment)
{
    char *end;

    line += strspn(line, " \t\r");
    if (*line == '#' || *line == '\0')
        return 0;
    *ret = strtol(line, &end, 10);
    end += strspn(end, " \t\r");
    if (!isdigit((unsigned char)*line) || (*end != '#' && *end != '\0') ||
        *ret > MAX_COUNT)
        return -EINVAL;
    *ret_comment = end;
    return 1;
}

static int parse_config(struct patient *p, const char *path, char *text)
{
    int counts[OTHERS + 1] = {0};
    unsigned number = 0, counted = 0;

    for (char *line = text, *next; line; line = next) {
        const char *comment;
        long count;
        int rc;

        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        number++;
        rc = read_config_count(line, &count, &comment);
        if (rc < 0)
            return orr_fail(
                p->err, rc,
                "%s:%u: a count, followed by a comment, is expected", path,
                number);
        if (rc > 0)
            counts[what_is_counted(comment, counted++)] += (int)count;
    }
    if (counted == 0)
        return orr_fail(p->err, -EINVAL, "%s:%u: there are no counts", path,
                        number);
    p->cpus = counts[CPUS];
    p->cuda = counts[CUDA];
    p->opencl = counts[OPENCL];
    p->nodes = (counts[NUMA] > 0 ? counts[NUMA] : 1) + counts[CUDA] +
               counts[OPENCL] + counts[OTHERS];
    return 0;
}

static int read_config(struct patient *p)
{
    char path[PATH_MAX], *text;
    size_t size;
    int rc;

    snprintf(path, sizeof(path), "%s.config", p->stem);
    if (access(path, F_OK) != 0)
        return 0;
    rc = orr_file_read(path, MAX_FILE, &text, &size, p->err);
    if (rc == 0) {
        rc = parse_config(p, path, text);
        free(text);
    }
    return rc ? find_unreadable(p, rc) : 0;
}

/* -- the matrices -- */

/* The size of one file; not of one with which the machine itself could not be
 * read, which has been reported. */
static int read_shape(struct patient *p, unsigned i)
{
    char path[PATH_MAX], *text;
    size_t size;
    int rc;

    snprintf(path, sizeof(path), "%s%s", p->stem, suffixes[i]);
    p->has[i] = access(path, F_OK) == 0;
    if (!p->has[i])
        return 0;
    rc = orr_file_read(path, MAX_FILE, &text, &size, p->err);
    if (rc == 0) {
        rc = orr_bus_matrix_shape(path, text, size, &p->shapes[i], p->err);
        free(text);
    }
    if (rc == 0)
        return 0;
    p->has[i] = false;
    return find_unreadable(p, rc);
}

static int check_both(struct patient *p)
{
    char what[PATH_MAX + 100];

    if (p->has[0] == p->has[1])
        return 0;
    snprintf(what, sizeof(what), "there is %s%s, but no usable %s beside it",
             p->stem, suffixes[p->has[1]], suffixes[p->has[0]]);
    return patient_add_finding(
        p, ORR_SEVERITY_ERROR, "file-missing", what,
        "measure again on the machine (STARPU_BUS_CALIBRATE=1), which "
        "writes both; until then neither is used");
}

/* A machine that has no platform file: nodes as .config counts them, else as
 * many as the matrix has. */
static int read_without_platform(struct patient *p, const char *name)
{
    unsigned known = p->has[0] ? p->shapes[0].rows : 1;
    int rc;

    if (orr_machine_desc_new(name, &p->desc))
        return no_memory(p);
    p->desc->ncuda = p->cuda >= 0 ? (unsigned)p->cuda : known ? known - 1 : 0;
    p->desc->nopencl = p->opencl >= 0 ? (unsigned)p->opencl : 0;
    if (orr_bus_derive(p->desc))
        return no_memory(p);
    if (!p->has[0] || !p->has[1])
        return 0;
    rc = orr_bus_read_beside(p->desc, p->stem, p->err);
    return rc ? find_unreadable(p, rc) : 0;
}

/* -- checks -- */

static void name_nodes(const struct orr_machine_desc *desc,
                       struct orr_doctor_node *nodes)
{
    nodes[0] = (struct orr_doctor_node){ORR_DOCTOR_RAM, "RAM"};
    for (unsigned i = 1; i < desc->nnodes; i++) {
        bool cuda = i <= desc->ncuda;

        nodes[i].kind = cuda ? ORR_DOCTOR_CUDA : ORR_DOCTOR_OPENCL;
        snprintf(nodes[i].name, sizeof(nodes[i].name), "%s %u",
                 cuda ? "CUDA" : "OpenCL", cuda ? i - 1 : i - 1 - desc->ncuda);
    }
}

static int node_host(const struct orr_machine_desc *desc, unsigned node)
{
    char id[32];

    snprintf(id, sizeof(id), "%s%u", node <= desc->ncuda ? "CUDA" : "OpenCL",
             node <= desc->ncuda ? node - 1 : node - 1 - desc->ncuda);
    return orr_machine_desc_host(desc, id);
}

/* Direct copies are as in the simulator: with main memory, and between CUDA
 * devices with a route and memcpy_peer at the destination. */
static void fill_direct(const struct orr_machine_desc *desc, bool *direct)
{
    for (unsigned src = 0; src < desc->nnodes; src++)
        for (unsigned dst = 0; dst < desc->nnodes; dst++) {
            bool *ret = &direct[(size_t)src * desc->nnodes + dst];
            const char *peer;
            int from, to;

            *ret = src != dst && (src == 0 || dst == 0);
            if (src == dst || *ret || src > desc->ncuda || dst > desc->ncuda)
                continue;
            from = node_host(desc, src);
            to = node_host(desc, dst);
            peer = to >= 0 ? orr_host_desc_prop(&desc->hosts[to], "memcpy_peer")
                           : NULL;
            *ret =
                from >= 0 && peer && strtol(peer, NULL, 10) != 0 &&
                orr_machine_desc_route(desc, (unsigned)from, (unsigned)to) >= 0;
        }
}

/* Examines a measured machine with a platform file: takes the measured values
 * out of the description and derives those of the routes. */
static int examine_both(struct patient *p, struct orr_doctor_input *in)
{
    double *bandwidth = p->desc->bandwidth, *latency = p->desc->latency;
    int rc;

    p->desc->bandwidth = p->desc->latency = NULL;
    rc = orr_bus_derive(p->desc);
    if (rc == 0) {
        in->platform_bandwidth = p->desc->bandwidth;
        in->platform_latency = p->desc->latency;
        rc = orr_doctor_examine(in, p->findings);
    }
    free(bandwidth);
    free(latency);
    return rc;
}

static int patient_examine(struct patient *p)
{
    struct orr_machine_desc *desc = p->desc;
    struct orr_doctor_node *nodes = calloc(desc->nnodes, sizeof(*nodes));
    bool *direct = calloc((size_t)desc->nnodes * desc->nnodes, sizeof(*direct));
    struct orr_doctor_input in = {
        .nnodes = desc->nnodes,
        .nodes = nodes,
        .bandwidth = desc->bandwidth,
        .latency = desc->latency,
        .measured = desc->bus_measured,
        .direct = p->platform ? direct : NULL,
        .bandwidth_shape = p->has[0] ? &p->shapes[0] : NULL,
        .latency_shape = p->has[1] ? &p->shapes[1] : NULL,
        .config_nodes = p->nodes,
        .config_cpus = p->cpus,
        .config_cuda = p->cuda,
        .config_opencl = p->opencl,
        .platform_cpus = p->platform ? (int)desc->ncpu : -1,
        .platform_cuda = p->platform ? (int)desc->ncuda : -1,
        .platform_opencl = p->platform ? (int)desc->nopencl : -1,
    };
    int rc = -ENOMEM;

    if (nodes && direct) {
        name_nodes(desc, nodes);
        fill_direct(desc, direct);
        rc = p->platform && desc->bus_measured
                 ? examine_both(p, &in)
                 : orr_doctor_examine(&in, p->findings);
    }
    if (rc == 0 && p->platform)
        rc = orr_doctor_examine_memories(desc, p->findings);
    if (rc == 0 && p->platform)
        rc = orr_doctor_examine_cpus(desc, p->findings);
    if (rc == 0 && p->platform)
        rc = orr_doctor_examine_spreads(desc, p->findings);
    free(nodes);
    free(direct);
    return rc ? no_memory(p) : 0;
}

/* -- finding -- */

/* Whether DIR/bus/NAME has any of the files; then its stem is in *ret. */
static int find_stem(struct patient *p, const char *dir, const char *name)
{
    static const char *const any[] = {".bandwidth", ".latency", ".config"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof(any) / sizeof(any[0]) && !p->stem; i++) {
        snprintf(path, sizeof(path), "%s/bus/%s%s", dir, name, any[i]);
        if (access(path, F_OK) != 0)
            continue;
        p->stem = orr_path_join(dir, "bus", name);
        if (!p->stem)
            return no_memory(p);
    }
    return 0;
}

/* The machine is not known as a platform: a bare name may be that of a host
 * whose bus was measured. Keeps the message in p->err when it is not. */
static int patient_find_host(struct patient *p, const char *name,
                             const char *const *sampling_dirs)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && !p->stem && sampling_dirs &&
                       sampling_dirs[i] && !strchr(name, '/') && *name;
         i++)
        rc = find_stem(p, sampling_dirs[i], name);
    if (rc == 0 && !p->stem)
        return -ENOENT;
    if (rc == 0)
        p->err->text[0] = '\0'; /* known after all */
    return rc;
}

static int patient_read_files(struct patient *p)
{
    int rc = read_config(p);

    for (unsigned i = 0; i < 2 && rc == 0; i++)
        rc = read_shape(p, i);
    return rc ? rc : check_both(p);
}

int orr_doctor_examine_machine(const char *name,
                               const char *const *sampling_dirs,
                               struct orr_findings *findings,
                               struct orr_error *err)
{
    struct orr_error unused = {""};
    struct patient p = {.nodes = -1,
                        .cpus = -1,
                        .cuda = -1,
                        .opencl = -1,
                        .findings = findings,
                        .err = err ? err : &unused};
    int rc = orr_machine_desc_load(name, sampling_dirs, &p.desc, p.err);

    p.platform = rc == 0;
    if (rc == 0) {
        p.stem = orr_platform_stem(p.desc->path);
        rc = p.stem ? 0 : no_memory(&p);
    } else if (rc == -ENOENT) {
        rc = patient_find_host(&p, name, sampling_dirs);
    } else {
        rc = find_unreadable(&p, rc);
    }
    if (rc == 0 && p.stem)
        rc = patient_read_files(&p);
    if (rc == 0 && p.stem && !p.platform)
        rc = read_without_platform(&p, name);
    if (rc == 0 && p.desc)
        rc = patient_examine(&p);
    orr_findings_worst_first(findings);
    orr_machine_desc_free(p.desc);
    free(p.stem);
    return rc;
}

int orr_doctor_examine_desc(struct orr_machine_desc *desc,
                            struct orr_findings *findings,
                            struct orr_error *err)
{
    struct orr_error unused = {""};
    struct patient p = {.desc = desc,
                        .platform = true,
                        .nodes = -1,
                        .cpus = -1,
                        .cuda = -1,
                        .opencl = -1,
                        .findings = findings,
                        .err = err ? err : &unused};

    return patient_examine(&p);
}
