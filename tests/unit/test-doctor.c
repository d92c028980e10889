/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-doctor.c - the doctor of bus parameters names each fault of a
 * wrong machine, and is silent about healthy ones. Machines are synthetic, but
 * for those in $ORRERY_SHARED.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platforms/bus_files.h"
#include "platforms/desc_build.h"
#include "platforms/doctor.h"
#include "platforms/machine_desc.h"
#include "tests/suite.h"

#define N 4 /* RAM and three CUDA devices, all peers */

/* A machine like many: PCIe 3.0 x16, peers through a switch. */
struct machine {
    struct orr_doctor_node nodes[N];
    double bandwidth[N][N], latency[N][N];
    double platform_bandwidth[N][N], platform_latency[N][N];
    bool direct[N][N];
    struct orr_bus_shape shape;
    struct orr_doctor_input in;
};

static void make_healthy(struct machine *m)
{
    memset(m, 0, sizeof(*m));
    for (unsigned i = 0; i < N; i++) {
        m->nodes[i].kind = i ? ORR_DOCTOR_CUDA : ORR_DOCTOR_RAM;
        snprintf(m->nodes[i].name, sizeof(m->nodes[i].name),
                 i ? "CUDA %u" : "RAM", i - 1);
        for (unsigned j = 0; j < N; j++) {
            m->bandwidth[i][j] = i == j ? 0 : i && j ? 10000 : 12000 + 100 * i;
            m->latency[i][j] = i == j ? 0 : i && j ? 15 : 9;
            m->direct[i][j] = i != j;
            m->platform_bandwidth[i][j] = m->bandwidth[i][j] * 1.1;
            m->platform_latency[i][j] = 1;
        }
    }
    m->shape = (struct orr_bus_shape){N, N, 32, 32};
    m->in = (struct orr_doctor_input){
        .nnodes = N,
        .nodes = m->nodes,
        .bandwidth = m->bandwidth[0],
        .latency = m->latency[0],
        .measured = true,
        .direct = m->direct[0],
        .platform_bandwidth = m->platform_bandwidth[0],
        .platform_latency = m->platform_latency[0],
        .bandwidth_shape = &m->shape,
        .latency_shape = &m->shape,
        .config_nodes = N,
        .config_cpus = 12,
        .config_cuda = 3,
        .config_opencl = 0,
        .platform_cpus = 12,
        .platform_cuda = 3,
        .platform_opencl = 0,
    };
}

static void set_row(double matrix[N][N], unsigned row, double value)
{
    for (unsigned i = 0; i < N; i++)
        matrix[row][i] = value;
}

static void set_column(double matrix[N][N], unsigned column, double value)
{
    for (unsigned i = 0; i < N; i++)
        matrix[i][column] = value;
}

/* All of main memory's links, in both directions. */
static void set_host_links(struct machine *m, double value)
{
    set_row(m->bandwidth, 0, value);
    set_column(m->bandwidth, 0, value);
}

static void zero_row(struct machine *m)
{
    set_row(m->bandwidth, 2, 0);
}

static void nan_column(struct machine *m)
{
    set_column(m->bandwidth, 3, (double)NAN);
}

static void last_row_and_column(struct machine *m)
{
    set_row(m->bandwidth, 3, (double)NAN);
    set_column(m->bandwidth, 3, (double)NAN);
}

static void zero_entry(struct machine *m)
{
    m->bandwidth[1][2] = 0;
}

static void negative_entry(struct machine *m)
{
    m->bandwidth[1][2] = -5;
}

static void all_unknown(struct machine *m)
{
    for (unsigned i = 0; i < N; i++)
        set_row(m->bandwidth, i, (double)NAN);
}

static void nan_latency(struct machine *m)
{
    m->latency[0][3] = (double)NAN;
}

static void zero_latency(struct machine *m)
{
    set_row(m->latency, 0, 0);
}

static void latency_in_seconds(struct machine *m)
{
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j < N; j++)
            m->latency[i][j] *= 1e-6;
}

static void latency_in_nanoseconds(struct machine *m)
{
    m->in.platform_latency = NULL;
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j < N; j++)
            m->latency[i][j] *= 1e4;
}

static void dominating_latency(struct machine *m)
{
    set_column(m->latency, 2, 500);
    m->platform_latency[0][2] = m->platform_latency[1][2] =
        m->platform_latency[3][2] = 490;
}

static void late_device(struct machine *m)
{
    m->latency[0][1] = m->latency[1][0] = 60;
    m->platform_latency[0][1] = m->platform_latency[1][0] = 55;
}

static void slow_upward(struct machine *m)
{
    set_column(m->bandwidth, 0, 3500);
    set_column(m->platform_bandwidth, 0, 3500);
}

static void slow_peers(struct machine *m)
{
    m->bandwidth[1][3] = m->bandwidth[3][1] = 1000;
    m->platform_bandwidth[1][3] = m->platform_bandwidth[3][1] = 1000;
}

static void slow_device(struct machine *m)
{
    m->bandwidth[0][3] = m->bandwidth[3][0] = 3000; /* PCIe 3.0 x4 */
    m->platform_bandwidth[0][3] = m->platform_bandwidth[3][0] = 3000;
}

static void unpinned_memory(struct machine *m)
{
    set_host_links(m, 2500);
    m->in.platform_bandwidth = m->in.platform_latency = NULL;
}

static void one_lane(struct machine *m)
{
    set_host_links(m, 950);
    m->in.platform_bandwidth = m->in.platform_latency = NULL;
}

static void unpinned_beside_nvlink(struct machine *m)
{
    m->in.platform_bandwidth = m->in.platform_latency = NULL;
    for (unsigned i = 1; i < N; i++)
        for (unsigned j = 1; j < N; j++)
            m->bandwidth[i][j] = 250000;
    set_host_links(m, 6000);
}

static void in_gigabytes(struct machine *m)
{
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j < N; j++)
            m->bandwidth[i][j] /= 1000;
}

static void in_bytes(struct machine *m)
{
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j < N; j++)
            m->bandwidth[i][j] *= 1e6;
}

static void other_platform(struct machine *m)
{
    m->platform_bandwidth[0][1] *= 4;
    m->platform_latency[2][1] = 100;
}

static void peers_through_ram(struct machine *m)
{
    for (unsigned i = 1; i < N; i++)
        for (unsigned j = 1; j < N; j++) {
            if (i == j)
                continue;
            m->bandwidth[i][j] =
                1 / (1 / m->bandwidth[i][0] + 1 / m->bandwidth[0][j]);
            m->latency[i][j] = 18;
        }
}

static void fewer_rows(struct machine *m)
{
    m->shape.rows = 3;
}

static void a_device_more(struct machine *m)
{
    m->in.platform_cuda = 4;
}

static void fewer_cpus(struct machine *m)
{
    m->in.config_cpus = 10;
}

static void no_spare_row(struct machine *m)
{
    m->shape = (struct orr_bus_shape){N, N, N, N};
}

/* Each fault gives the one finding of this rule; `text` is part of its
 * message. */
static const struct {
    void (*damage)(struct machine *m);
    enum orr_severity severity;
    const char *rule, *text;
} damaged[] = {
    {zero_row, ORR_SEVERITY_ERROR, "bandwidth-missing",
     "0 MB/s from CUDA 1 to any node"},
    {nan_column, ORR_SEVERITY_ERROR, "bandwidth-missing",
     "no bandwidth from any node to CUDA 2"},
    {zero_entry, ORR_SEVERITY_ERROR, "bandwidth-missing",
     "0 MB/s from CUDA 0 to CUDA 1"},
    {negative_entry, ORR_SEVERITY_ERROR, "bandwidth-missing",
     "-5 MB/s from CUDA 0 to CUDA 1"},
    {nan_latency, ORR_SEVERITY_ERROR, "latency-missing",
     "no latency from RAM to CUDA 2"},
    {zero_latency, ORR_SEVERITY_ERROR, "latency-zero", "RAM to CUDA 0"},
    {latency_in_seconds, ORR_SEVERITY_ERROR, "latency-zero", "7 more"},
    {latency_in_nanoseconds, ORR_SEVERITY_ERROR, "latency-absurd",
     "a latency of 1.5e+05 us"},
    {dominating_latency, ORR_SEVERITY_WARNING, "latency-dominates",
     "the latency of 500 us dominates: 1 MiB itself takes 87 us"},
    {late_device, ORR_SEVERITY_WARNING, "slow-start",
     "a latency of 60.0 us, while other devices of its type have 9.0"},
    {slow_upward, ORR_SEVERITY_WARNING, "asymmetry",
     "CUDA 0 to RAM: 3500 MB/s, but 12000 in the other direction"},
    {slow_peers, ORR_SEVERITY_ERROR, "slow-peer",
     "CUDA 2 to CUDA 0: the direct copy between peers takes 1000 MB/s, two "
     "copies through main memory take 6"},
    {slow_device, ORR_SEVERITY_ERROR, "slow-device",
     "CUDA 2 to RAM: 3000 MB/s, while other devices of its type have 12200"},
    {unpinned_memory, ORR_SEVERITY_WARNING, "narrow-link",
     "2500 MB/s is what memory that is not pinned gives"},
    {one_lane, ORR_SEVERITY_ERROR, "narrow-link", "1 to 4 lanes"},
    {unpinned_beside_nvlink, ORR_SEVERITY_WARNING, "unpinned",
     "less than a twentieth"},
    {in_gigabytes, ORR_SEVERITY_ERROR, "bandwidth-tiny", "10 MB/s"},
    {in_bytes, ORR_SEVERITY_ERROR, "bandwidth-absurd", "1.23e+10 MB/s"},
    {other_platform, ORR_SEVERITY_ERROR, "platform-contradiction",
     "CUDA 1 to CUDA 0: 10000 MB/s and 15.0 us were measured, but the routes "
     "of the platform file give 11000 MB/s and 100.0 us; likewise RAM to "
     "CUDA 0"},
    {peers_through_ram, ORR_SEVERITY_WARNING, "peer-not-measured",
     "the sum of both copies through main memory"},
    {a_device_more, ORR_SEVERITY_ERROR, "counts",
     "counts 3 CUDA devices, the platform file 4"},
    {fewer_cpus, ORR_SEVERITY_WARNING, "counts",
     "counts 10 CPUs, the platform file 12"},
};

START_TEST(a_fault_is_named_once)
{
    struct orr_findings findings = {0};
    struct machine m;

    make_healthy(&m);
    damaged[_i].damage(&m);
    ck_assert_int_eq(orr_doctor_examine(&m.in, &findings), 0);
    ck_assert_uint_eq(findings.n, 1);
    ck_assert_str_eq(findings.items[0].fault, damaged[_i].rule);
    ck_assert_msg(strstr(findings.items[0].text, damaged[_i].text) != NULL,
                  "\"%s\" does not say \"%s\"", findings.items[0].text,
                  damaged[_i].text);
    ck_assert_int_eq(findings.items[0].severity, damaged[_i].severity);
    ck_assert_uint_gt(strlen(findings.items[0].remedy), 20);
    orr_findings_done(&findings);
}
END_TEST

START_TEST(a_fault_of_both_files_is_named_in_both)
{
    static const struct {
        void (*damage)(struct machine *m);
        const char *rule;
    } cases[] = {{fewer_rows, "size"}, {no_spare_row, "no-spare-row"}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct orr_findings findings = {0};
        struct machine m;

        make_healthy(&m);
        cases[c].damage(&m);
        ck_assert_int_eq(orr_doctor_examine(&m.in, &findings), 0);
        ck_assert_uint_eq(findings.n, 2);
        ck_assert_str_eq(findings.items[0].fault, cases[c].rule);
        ck_assert_ptr_nonnull(strstr(findings.items[0].text, ".bandwidth"));
        ck_assert_ptr_nonnull(strstr(findings.items[1].text, ".latency"));
        orr_findings_done(&findings);
    }
}
END_TEST

START_TEST(
    a_lost_device_and_a_lost_machine_are_distinguished_by_rows_and_columns)
{
    struct orr_findings findings = {0};
    struct machine m;

    make_healthy(&m);
    last_row_and_column(&m);
    ck_assert_int_eq(orr_doctor_examine(&m.in, &findings), 0);
    ck_assert_uint_eq(findings.n, 2);
    ck_assert_ptr_nonnull(strstr(findings.items[0].text, "row of CUDA 2"));
    ck_assert_ptr_nonnull(strstr(findings.items[1].text, "column of CUDA 2"));
    orr_findings_done(&findings);

    make_healthy(&m);
    all_unknown(&m);
    ck_assert_int_eq(orr_doctor_examine(&m.in, &findings), 0);
    ck_assert_uint_eq(findings.n, N);
    orr_findings_done(&findings);
}
END_TEST

START_TEST(several_faults_come_errors_first)
{
    struct orr_findings findings = {0};
    struct machine m;

    make_healthy(&m);
    dominating_latency(&m);
    fewer_cpus(&m);
    zero_entry(&m);
    no_spare_row(&m);
    ck_assert_int_eq(orr_doctor_examine(&m.in, &findings), 0);
    ck_assert_uint_eq(findings.n, 5);
    for (size_t i = 1; i < findings.n; i++)
        ck_assert_int_ge(findings.items[i - 1].severity,
                         findings.items[i].severity);
    ck_assert_uint_eq(orr_findings_count(&findings, ORR_SEVERITY_ERROR), 1);
    ck_assert_uint_eq(orr_findings_count(&findings, ORR_SEVERITY_WARNING), 2);
    ck_assert_uint_eq(orr_findings_count(&findings, ORR_SEVERITY_NOTE), 2);
    orr_findings_done(&findings);
}
END_TEST

/* -- what is healthy -- */

static void unchanged(struct machine *m)
{
    (void)m;
}

/* Two sockets: peers across them are a little slower than main memory. */
static void two_sockets(struct machine *m)
{
    m->bandwidth[1][3] = m->bandwidth[3][1] = 5000;
    m->platform_bandwidth[1][3] = m->platform_bandwidth[3][1] = 5000;
}

/* Pairs that are not peers need no values. */
static void no_peers(struct machine *m)
{
    for (unsigned i = 1; i < N; i++)
        for (unsigned j = 1; j < N; j++) {
            m->direct[i][j] = false;
            m->bandwidth[i][j] = m->latency[i][j] = (double)NAN;
        }
}

/* NVLink beside PCIe 4.0, as in machines of 8 A100. */
static void nvlink(struct machine *m)
{
    m->in.platform_bandwidth = m->in.platform_latency = NULL;
    set_host_links(m, 24000);
    for (unsigned i = 1; i < N; i++)
        for (unsigned j = 1; j < N; j++)
            m->bandwidth[i][j] = 280000;
}

/* Only matrices, no files and no platform around them. */
static void nothing_else(struct machine *m)
{
    m->in.direct = NULL;
    m->in.platform_bandwidth = m->in.platform_latency = NULL;
    m->in.bandwidth_shape = m->in.latency_shape = NULL;
    m->in.config_nodes = m->in.config_cpus = m->in.config_cuda =
        m->in.config_opencl = -1;
}

static void main_memory_only(struct machine *m)
{
    nothing_else(m);
    m->in.nnodes = 1;
}

static void (*const healthy[])(struct machine *m) = {
    unchanged, two_sockets, no_peers, nvlink, nothing_else, main_memory_only,
};

START_TEST(a_healthy_machine_has_no_finding)
{
    struct orr_findings findings = {0};
    struct machine m;

    make_healthy(&m);
    healthy[_i](&m);
    ck_assert_int_eq(orr_doctor_examine(&m.in, &findings), 0);
    ck_assert_msg(findings.n == 0, "%s",
                  findings.n ? findings.items[0].text : "");
}
END_TEST

/* -- files -- */

static char dir[] = "/tmp/orrery-doctor-XXXXXX";
enum { RANDOM = sizeof("/tmp/orrery-doctor-") - 1 };

static void put(const char *name, const char *text)
{
    char path[200];
    FILE *f;

    snprintf(path, sizeof(path), "%s/bus/%s", dir, name);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void make_dir(void)
{
    char path[200];

    memcpy(dir + RANDOM, "XXXXXX", 6); /* of the case before, CK_FORK=no */
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/bus", dir);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void remove_dir(void)
{
    static const char *const names[] = {
        "bus/host.bandwidth", "bus/host.latency", "bus/host.config", "bus", ""};
    char path[200];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        remove(path);
    }
}

#define GOOD_BANDWIDTH "0\t12000\tnan\n12000\t0\tnan\nnan\tnan\tnan\n"
#define GOOD_LATENCY   "0\t9\tnan\n9\t0\tnan\nnan\tnan\tnan\n"
#define GOOD_CONFIG                                                            \
    "# Current configuration\n4 # Number of CPUs\n1 # Number of NUMA nodes\n"  \
    "1 # Number of CUDA devices\n0 # Number of OpenCL devices\n"

/* NULL: there is no such file. rule NULL: no finding. */
static const struct {
    const char *bandwidth, *latency, *config, *rule, *text;
} files[] = {
    {GOOD_BANDWIDTH, GOOD_LATENCY, GOOD_CONFIG, NULL, NULL},
    /* Without operands the order is that of StarPU 1.4. */
    {GOOD_BANDWIDTH, GOOD_LATENCY, "4\n1\n1\n0\n", NULL, NULL},
    /* Files of StarPU 1.1 count no NUMA nodes. */
    {GOOD_BANDWIDTH, GOOD_LATENCY,
     "4 # Number of CPUs\n1 # Number of CUDA devices\n", NULL, NULL},
    {GOOD_BANDWIDTH, GOOD_LATENCY, NULL, NULL, NULL},
    {GOOD_BANDWIDTH, GOOD_LATENCY, "4 # CPUs\n1 # NUMA\n2 # CUDA\n", "size",
     "2 x 2 memory nodes, but .config counts 3"},
    {GOOD_BANDWIDTH, GOOD_LATENCY, "4 # CPUs\none # NUMA\n", "unreadable",
     "host.config:2: a count"},
    {GOOD_BANDWIDTH, GOOD_LATENCY, "# nothing\n", "unreadable",
     "there are no counts"},
    {GOOD_BANDWIDTH, NULL, GOOD_CONFIG, "file-missing",
     "no usable .latency beside it"},
    {GOOD_BANDWIDTH, "0\t9 \tnan\n", GOOD_CONFIG, "unreadable",
     "host.latency:1: a number"},
    {"0\t0\tnan\n12000\t0\tnan\nnan\tnan\tnan\n", GOOD_LATENCY, GOOD_CONFIG,
     "bandwidth-missing", "from RAM to any node"},
};

START_TEST(files_of_a_bus_directory_are_examined)
{
    const char *const dirs[] = {dir, NULL};
    struct orr_findings findings = {0};
    struct orr_error err = {""};
    bool said = false;

    make_dir();
    put("host.bandwidth", files[_i].bandwidth);
    if (files[_i].latency)
        put("host.latency", files[_i].latency);
    if (files[_i].config)
        put("host.config", files[_i].config);
    ck_assert_int_eq(orr_doctor_examine_machine("host", dirs, &findings, &err),
                     0);
    ck_assert_str_eq(err.text, "");
    remove_dir();
    if (!files[_i].rule)
        ck_assert_msg(findings.n == 0, "%s",
                      findings.n ? findings.items[0].text : "");
    for (size_t i = 0; i < findings.n; i++)
        said |= strcmp(findings.items[i].fault, files[_i].rule) == 0 &&
                strstr(findings.items[i].text, files[_i].text) != NULL;
    ck_assert(said == (files[_i].rule != NULL));
    orr_findings_done(&findings);
}
END_TEST

START_TEST(an_unknown_machine_is_an_error_that_lists_the_known_ones)
{
    struct orr_findings findings = {0};
    struct orr_error err = {""};

    ck_assert_int_eq(
        orr_doctor_examine_machine("nobody", NULL, &findings, &err), -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "nobody"));
    ck_assert_ptr_nonnull(strstr(err.text, "hgx-h100-8"));
    ck_assert_uint_eq(findings.n, 0);
}
END_TEST

/* -- several main memories -- */

/* Two of them, with a device next to each. A link of its own carries what goes
 * from one host to another. Changed: that from `src` to `dst`. */
struct change {
    const char *src, *dst;
    double bandwidth; /* MB/s; NaN: no route */
    double latency;   /* µs */
    enum orr_severity severity;
    const char *rule; /* NULL: no finding */
    const char *text;
};

static const char *const memory_hosts[] = {"RAM", "RAM0", "RAM1", "CUDA0",
                                           "CUDA1"};

static bool is_changed(const struct change *change, const char *src,
                       const char *dst)
{
    return strcmp(change->src, src) == 0 && strcmp(change->dst, dst) == 0;
}

/* Which pairs of these hosts have routes. */
static bool is_joined(unsigned src, unsigned dst)
{
    return src != dst && (src < 3 || dst < 3) && (src > 0 || dst > 2) &&
           (dst > 0 || src > 2);
}

static void print_links(FILE *f, const struct change *change, bool routes)
{
    for (unsigned i = 0; i < 5; i++)
        for (unsigned j = 0; j < 5; j++) {
            const char *src = memory_hosts[i], *dst = memory_hosts[j];
            bool changed = is_changed(change, src, dst);
            double bandwidth = i < 3 && j < 3 ? 20000 : 12000, latency = 10;

            if (!is_joined(i, j) || (changed && isnan(change->bandwidth)))
                continue;
            if (changed) {
                latency = change->latency;
                bandwidth = change->bandwidth;
            }
            if (bandwidth == 0) /* see make_memories */
                bandwidth = 1;
            if (!routes)
                fprintf(f,
                        "<link id=\"%s-%s\" bandwidth=\"%gMBps\" "
                        "latency=\"%gus\"/>\n",
                        src, dst, bandwidth, latency);
            else
                fprintf(f,
                        "<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">"
                        "<link_ctn id=\"%s-%s\"/></route>\n",
                        src, dst, src, dst);
        }
}

static struct orr_machine_desc *make_memories(const struct change *change)
{
    struct orr_machine_desc *desc = NULL;
    struct orr_error err = {""};
    char *text = NULL, id[40];
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(f);
    fprintf(f, "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">"
               "<host id=\"MAIN\" speed=\"1f\"/>"
               "<host id=\"CPU0\" speed=\"1f\"/>");
    for (unsigned i = 0; i < 5; i++)
        fprintf(f,
                "<host id=\"%s\" speed=\"1f\">"
                "<prop id=\"numa\" value=\"%d\"/></host>\n",
                memory_hosts[i], i == 4);
    print_links(f, change, false);
    print_links(f, change, true);
    fprintf(f, "</zone></platform>\n");
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_msg(orr_machine_desc_parse("x.xml", text, size, &desc, &err) == 0,
                  "%s", err.text);
    free(text);
    /* No file may contain this; the doctor must not divide by it all the
     * same. */
    snprintf(id, sizeof(id), "%s-%s", change->src, change->dst);
    for (unsigned i = 0; i < desc->nlinks && change->bandwidth == 0; i++)
        if (strcmp(desc->links[i].id, id) == 0)
            desc->links[i].bandwidth = 0;
    return desc;
}

static const struct change changes[] = {
    {"", "", 0, 0, ORR_SEVERITY_NOTE, NULL, NULL},
    {"RAM0", "RAM1", (double)NAN, 0, ORR_SEVERITY_ERROR, "memory-route-missing",
     "no route from RAM0 to RAM1"},
    {"RAM0", "CUDA1", (double)NAN, 0, ORR_SEVERITY_ERROR,
     "memory-route-missing", "no route from RAM0 to CUDA1"},
    {"CUDA0", "RAM1", (double)NAN, 0, ORR_SEVERITY_ERROR,
     "memory-route-missing", "no route from CUDA0 to RAM1"},
    {"RAM1", "RAM0", 0, 1, ORR_SEVERITY_ERROR, "memory-bandwidth-missing",
     "RAM1 to RAM0: the bandwidth is 0 MB/s"},
    {"RAM1", "CUDA0", 0, 1, ORR_SEVERITY_ERROR, "memory-bandwidth-missing",
     "RAM1 to CUDA0: the bandwidth is 0 MB/s"},
    {"RAM1", "RAM0", 6000, 1, ORR_SEVERITY_WARNING, "memory-asymmetry",
     "RAM1 to RAM0: 6000 MB/s, but 20000 in the other direction"},
    {"RAM1", "CUDA0", 3000, 10, ORR_SEVERITY_WARNING, "memory-asymmetry",
     "RAM1 to CUDA0: 3000 MB/s, but 12000 in the other direction"},
    {"RAM0", "RAM1", 8000, 1, ORR_SEVERITY_WARNING, "memory-slower-than-device",
     "RAM0 to RAM1: 8000 MB/s between main memories, but 12000 between CUDA"},
    {"RAM0", "CUDA1", 12000, 0, ORR_SEVERITY_WARNING, "memory-latency-zero",
     "RAM0 to CUDA1: a latency of 0 us"},
    /* What is no fault: as fast as a device, a little uneven, no latency. */
    {"RAM0", "RAM1", 12000, 1, ORR_SEVERITY_NOTE, NULL, NULL},
    {"RAM0", "CUDA1", 8000, 10, ORR_SEVERITY_NOTE, NULL, NULL},
    {"RAM0", "RAM1", 20000, 0, ORR_SEVERITY_NOTE, NULL, NULL},
};

START_TEST(a_fault_between_main_memories_names_the_hosts)
{
    const struct change *change = &changes[_i];
    struct orr_machine_desc *desc = make_memories(change);
    struct orr_findings findings = {0};
    struct orr_error err = {""};

    ck_assert_uint_eq(desc->nnuma, 2);
    ck_assert_int_eq(orr_doctor_examine_desc(desc, &findings, &err), 0);
    orr_machine_desc_free(desc);
    ck_assert_msg(findings.n == (change->rule != NULL), "%zu findings, %s",
                  findings.n, findings.n ? findings.items[0].text : "");
    if (change->rule) {
        ck_assert_str_eq(findings.items[0].fault, change->rule);
        ck_assert_int_eq(findings.items[0].severity, change->severity);
        ck_assert_msg(strstr(findings.items[0].text, change->text) != NULL,
                      "\"%s\" does not say \"%s\"", findings.items[0].text,
                      change->text);
        ck_assert_uint_gt(strlen(findings.items[0].remedy), 20);
    }
    orr_findings_done(&findings);
}
END_TEST

START_TEST(a_memory_without_routes_is_one_finding)
{
    struct orr_findings findings = {0};
    struct orr_machine_desc *desc = make_memories(&changes[0]);
    int ram1 = orr_machine_desc_host(desc, "RAM1");
    int cpu = orr_machine_desc_host(desc, "CPU0");

    for (unsigned i = 0; i < desc->nroutes; i++) {
        if (desc->routes[i].src == (unsigned)ram1)
            desc->routes[i].src = (unsigned)cpu;
        if (desc->routes[i].dst == (unsigned)ram1)
            desc->routes[i].dst = (unsigned)cpu;
    }
    ck_assert_int_eq(orr_doctor_examine_memories(desc, &findings), 0);
    orr_machine_desc_free(desc);
    ck_assert_uint_eq(findings.n, 1);
    ck_assert_str_eq(findings.items[0].text,
                     "there is no route from RAM0 to RAM1; likewise RAM1 to "
                     "RAM0, RAM1 to CUDA0, RAM1 to CUDA1, CUDA0 to RAM1 and 1 "
                     "more");
    orr_findings_done(&findings);
}
END_TEST

START_TEST(figures_that_were_measured_on_a_busy_machine_are_named)
{
    static const struct {
        const char *prop;
        bool of_link;
        const char *text;
    } spreads[] = {
        {"orrery-copy-spread", false, "bandwidth of copies of RAM0"},
        {"orrery-rates-spread", false, "peak or memory bandwidth of RAM0"},
        {ORR_PROP_LINK_SPREAD, true, "the bandwidth of "},
    };

    for (unsigned i = 0; i < 3; i++)
        for (int far = 0; far < 2; far++) {
            struct orr_machine_desc *desc = make_memories(&changes[0]);
            struct orr_host_desc *host =
                &desc->hosts[orr_machine_desc_host(desc, "RAM0")];
            struct orr_link_desc *link = &desc->links[0];
            struct orr_findings findings = {0};
            struct orr_error err = {""};

            ck_assert_int_eq(
                spreads[i].of_link
                    ? orr_props_set(&link->props, &link->nprops,
                                    spreads[i].prop, far ? "0.88" : "0.2")
                    : orr_props_set(&host->props, &host->nprops,
                                    spreads[i].prop, far ? "0.88" : "0.2"),
                0);
            ck_assert_int_eq(orr_doctor_examine_desc(desc, &findings, &err), 0);
            ck_assert_uint_eq(findings.n, far);
            ck_assert(!far || strstr(findings.items[0].text, spreads[i].text));
            ck_assert(!far || strstr(findings.items[0].text, "88 %"));
            orr_findings_done(&findings);
            orr_machine_desc_free(desc);
        }
}
END_TEST

/* epyc-64 and so on have the values that we gave them; the two of StarPU were
 * measured on old machines that have been in use for years. */
static const char *const known[] = {"epyc-64",   "h100-pcie-4", "hgx-h100-8",
                                    "rtx4090-2", "r940xa-4",    "mirage",
                                    "attila"};

START_TEST(the_machines_at_hand_are_healthy)
{
    const char *shared = suite_shared("sampling");
    const char *const dirs[] = {shared, NULL};
    struct orr_findings findings = {0};
    struct orr_error err = {""};

    if (_i >= 5 && !shared)
        SKIP_TEST("no sampling in ORRERY_SHARED: %s", known[_i]);
    ck_assert_msg(
        orr_doctor_examine_machine(known[_i], dirs, &findings, &err) == 0, "%s",
        err.text);
    ck_assert_msg(findings.n == 0, "%s: %s", known[_i],
                  findings.n ? findings.items[0].text : "");
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static Suite *suite(void)
{
    Suite *suite = suite_create("doctor");
    TCase *tcase = tcase_create("all");

    tcase_add_loop_test(tcase, a_fault_is_named_once, 0, COUNT(damaged));
    tcase_add_test(tcase, a_fault_of_both_files_is_named_in_both);
    tcase_add_test(
        tcase,
        a_lost_device_and_a_lost_machine_are_distinguished_by_rows_and_columns);
    tcase_add_test(tcase, several_faults_come_errors_first);
    tcase_add_loop_test(tcase, a_healthy_machine_has_no_finding, 0,
                        COUNT(healthy));
    tcase_add_loop_test(tcase, files_of_a_bus_directory_are_examined, 0,
                        COUNT(files));
    tcase_add_test(tcase,
                   an_unknown_machine_is_an_error_that_lists_the_known_ones);
    tcase_add_loop_test(tcase, a_fault_between_main_memories_names_the_hosts, 0,
                        COUNT(changes));
    tcase_add_test(tcase,
                   figures_that_were_measured_on_a_busy_machine_are_named);
    tcase_add_test(tcase, a_memory_without_routes_is_one_finding);
    tcase_add_loop_test(tcase, the_machines_at_hand_are_healthy, 0,
                        COUNT(known));
    suite_add_tcase(suite, tcase);
    return suite;
}

SUITE_MAIN(doctor)
{
    return suite_main(suite());
}
