/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/network.c - `orrery calibrate network`: runs measure_network.c as ranks of
 * MPI, and writes the cluster that they were on, with the network that was measured. One
 * thread.
 */
#include "tools/calibrate/network.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/result.h"
#include "perfmodel/sampling.h"
#include "platforms/packed.h"
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/machine.h"
#include "tools/common/modules.h"
#include "tools/common/process.h"
#include "tools/common/program.h"
#include "tools/common/ranks.h"
#include "tools/common/tool.h"

static const char help[] =
    "usage: orrery calibrate network [-n RANKS] [--mpi NAME] [-r REPETITIONS]\n"
    "                                [-o NAME|FILE] [--force] [--json]\n"
    "                                [-- LAUNCHER [OPTIONS]]\n"
    "Measures messages between ranks of MPI: how long they take by their size, what\n"
    "they take of both processors, up to which size they do not ask the receiver,\n"
    "and what both directions, and several senders, carry together. Writes a\n"
    "cluster, for -m of other commands, whose network is the one that was measured\n"
    "(docs/CLUSTERS.md): ranks on one host say what messages within a node are, such\n"
    "on several what the network between nodes is.\n"
    "  -n, --ranks RANKS          so many on this host (2); more than 2 also measure\n"
    "                             all of them sending to one\n"
    "      --mpi NAME             openmpi or mpich; else the first that there is\n"
    "  -r, --repetitions N        of each figure (9), whose median counts\n"
    "  -o, --output NAME          the cluster's name, or a file *.cluster.xml\n"
    "                             (<host>-ranks)\n"
    "      --force                replace a cluster that was not measured\n"
    "      --json                 print the results as JSON\n"
    "With a LAUNCHER, that starts the ranks: the measuring program is put behind its\n"
    "words. Its hosts are taken to be like this one.\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line; 128 plus\n"
    "the signal when interrupted.\n"
    "example: orrery calibrate network -n 2\n"
    "         orrery calibrate network -o lab -- mpirun -n 4 --host a:2,b:2\n"
    "         orrery machine doctor lab\n";

struct request {
    unsigned ranks, repetitions;
    const char *mpi, *output;
    char *const *launcher; /* NULL: the MPI's own */
    bool force, json;
};

/* ---- running ---- */

/* The measuring program of the MPI, or of the first that there is. Owned; NULL after a
 * message. */
static char *find_program(const char *mpi)
{
    static const char *const names[] = {"openmpi", "mpich"};
    char *path = NULL;

    for (size_t i = 0; !path && i < sizeof(names) / sizeof(*names); i++) {
        char *name = mpi && strcmp(mpi, names[i]) != 0
                         ? NULL
                         : tool_format("measure-network-%s", names[i]);

        path = name ? tool_find_program(".", name) : NULL;
        free(name);
    }
    if (!path)
        tool_error("calibrate network: there is no measuring program for %s: Orrery was built "
                   "without it, or --mpi is neither openmpi nor mpich",
                   mpi ? mpi : "any MPI");
    return path;
}

/* Nothing of a simulation reaches the ranks, unless a launcher sets it. */
static const char *const settings[] = {"ORRERY_MACHINE", "ORRERY_SET", "ORRERY_TRACE",
                                       "ORRERY_REPORT", NULL};

/* 0; -1 after a message; an exit code when interrupted. */
static int run_words(char *const *argv, struct network_measures *measures)
{
    struct process process = {.argv = argv, .set = settings, .quiet = true};
    int stopped = process_run(&process, 1, 1, NULL, NULL), rc = -1;
    char line[256] = "";

    if (stopped) {
        tool_error("interrupted: nothing was stored");
        rc = 128 + stopped;
    } else if (process_exit_code(&process) != 0) {
        process_error_line(&process, line, sizeof(line));
        tool_error("calibrate network: %s failed: %s", argv[0],
                   process.error ? strerror(process.error) : line);
    } else {
        rc = network_read(process.text, measures);
    }
    process_done(&process);
    return rc;
}

/* The launcher's words, and behind them the program. */
static int run_launcher(char *const *launcher, char *const *program,
                        struct network_measures *measures)
{
    size_t n = 0, m = 0;
    char **argv;
    int rc;

    while (launcher[n])
        n++;
    while (program[m])
        m++;
    argv = calloc(n + m + 1, sizeof(*argv));
    if (!argv)
        return tool_fail(-1, "out of memory");
    memcpy(argv, launcher, n * sizeof(*argv));
    memcpy(argv + n, program, m * sizeof(*argv));
    rc = run_words(argv, measures);
    free(argv);
    return rc;
}

static int measure(const struct request *request, struct network_measures *measures)
{
    char *path = find_program(request->mpi);
    char repetitions[16], *program[] = {path, repetitions, NULL};
    struct ranks ranks = {0};
    int rc = path ? 0 : -1;

    snprintf(repetitions, sizeof(repetitions), "%u", request->repetitions);
    if (rc == 0 && request->launcher) {
        rc = run_launcher(request->launcher, program, measures);
    } else if (rc == 0) {
        rc = ranks_init(&ranks, "calibrate network", program, request->ranks);
        if (rc == 0)
            rc = run_words(ranks.argv, measures);
        ranks_done(&ranks);
    }
    free(path);
    return rc;
}

/* ---- the cluster ---- */

static bool is_cluster_file(const char *path)
{
    static const char ending[] = ".cluster.xml";
    size_t length = strlen(path), tail = strlen(ending);

    return length > tail && strcmp(path + length - tail, ending) == 0;
}

/* Where the cluster is to be; owned. */
static char *output_path(const struct request *request, const struct calibrate_place *place)
{
    const char *slash = strrchr(place->stem, '/');
    int folder = (int)(slash - place->stem);

    if (!request->output)
        return tool_format("%s-ranks.cluster.xml", place->stem);
    return is_cluster_file(request->output)
               ? strdup(request->output)
               : tool_format("%.*s/%s.cluster.xml", folder, place->stem, request->output);
}

/* What is there may be replaced if it was measured. */
static int check_replaced(const struct request *request, const char *path)
{
    struct orr_cluster_desc there = {0};
    struct orr_error err = {""};
    bool measured;

    if (request->force || access(path, F_OK) != 0)
        return 0;
    measured = orr_cluster_load(path, NULL, &there, &err) == 0 &&
               there.measured.repetitions > 0;
    orr_cluster_free(&there);
    if (measured)
        return 0;
    tool_error("calibrate network: %s is no network that was measured: --force replaces it, -o "
               "names another one",
               path);
    return -1;
}

/* -m of this host is to be found: its description is made if there is none. */
static int describe_host(struct calibrate_place *place)
{
    double costs[ORR_NCOSTS];

    for (unsigned i = 0; i < ORR_NCOSTS; i++)
        costs[i] = (double)NAN;
    if (access(place->path, F_OK) == 0)
        return 0;
    return calibrate_place_lock(place) == 0 ? calibrate_write_costs(place, costs) : -1;
}

static int fill_cluster(const struct network_measures *measures,
                        const struct calibrate_place *place, const char *words,
                        struct orr_cluster_desc *ret)
{
    unsigned nnodes = measures->hosts;
    char *line = tool_format("%u*\"%s\" + %s ranks-per-node=%u", nnodes, place->host, words,
                             measures->ranks / nnodes);
    struct orr_error err = {"out of memory"};
    int rc = line ? orr_cluster_read(line, ret, &err) : -ENOMEM;

    free(line);
    if (rc < 0)
        return tool_fail(-1, "calibrate network: %s", err.text);
    ret->measured = (struct orr_cluster_measured){
        .ranks = measures->ranks,
        .hosts = measures->hosts,
        .repetitions = measures->repetitions,
        .spread = network_spread(measures),
        .asymmetry = network_asymmetry(measures),
        .incast = network_incast(measures),
        .share = measures->quiet.share,
    };
    return 0;
}

static int write_cluster(const struct orr_cluster_desc *cluster, const char *path)
{
    struct orr_result file;
    int rc = orr_result_open(path, &file);

    if (rc == 0) {
        file.durable = true;
        orr_cluster_print_xml(cluster, file.file);
        rc = orr_result_close(&file, 0);
    }
    return rc < 0 ? tool_fail(-1, "%s: cannot be written: %s", path, strerror(-rc)) : 0;
}

static char *words_of(const struct network_measures *measures)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    network_print_words(measures, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static int store_and_print(const struct request *request, struct calibrate_place *place,
                           const struct network_measures *measures, const char *path)
{
    struct orr_cluster_desc cluster = {0};
    char *words = words_of(measures);
    int rc = words ? describe_host(place) : -1;

    if (rc == 0)
        rc = fill_cluster(measures, place, words, &cluster);
    if (rc == 0)
        rc = write_cluster(&cluster, path);
    if (rc == 0)
        rc = request->json ? network_print_json(measures, words, path)
                           : network_print(measures, words, path);
    orr_cluster_free(&cluster);
    free(words);
    return rc;
}

static int calibrate_and_store(const struct request *request, struct calibrate_place *place)
{
    struct network_measures *measures = calloc(1, sizeof(*measures));
    char *path = output_path(request, place);
    int rc = measures && path ? check_replaced(request, path) : -1;

    if (!measures || !path)
        tool_error("out of memory");
    if (rc == 0) {
        measures->quiet = quiet_measure();
        if (!request->json)
            quiet_print(&measures->quiet);
        rc = measure(request, measures);
    }
    if (rc == 0) {
        if (measures->node.measured)
            network_model(&measures->node);
        if (measures->net.measured)
            network_model(&measures->net);
        rc = store_and_print(request, place, measures, path);
    }
    free(path);
    free(measures);
    return rc;
}

/* ---- the command line ---- */

static int read_numbers(const char *ranks, const char *repetitions, struct request *request)
{
    if (program_number(ranks, 2, &request->ranks) < 0)
        return tool_fail(-1, "calibrate network: -n %s: write how many ranks, from 2 on", ranks);
    if (program_number(repetitions, 1, &request->repetitions) < 0 ||
        request->repetitions > NETWORK_SAMPLES)
        return tool_fail(-1, "calibrate network: -r %s: write how many repetitions, 1 to %d",
                         repetitions, NETWORK_SAMPLES);
    if (request->output && !is_cluster_file(request->output) &&
        !orr_packed_leaf_ok(request->output))
        return tool_fail(-1, "calibrate network: -o %s: write a NAME without slash or leading "
                             "dot, or a file that ends with .cluster.xml",
                         request->output);
    return 0;
}

int calibrate_network(int argc, char **argv)
{
    const char *ranks = NULL, *repetitions = "9";
    struct request request = {0};
    const struct tool_option list[] = {{'n', "ranks", &ranks, NULL},
                                       {0, "mpi", &request.mpi, NULL},
                                       {'r', "repetitions", &repetitions, NULL},
                                       {'o', "output", &request.output, NULL},
                                       {0, "force", NULL, &request.force},
                                       {0, "json", NULL, &request.json},
                                       {0}};
    struct calibrate_place place;
    int first = tool_parse(argc, argv, list, help), rc;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first < argc && ranks)
        return tool_fail(TOOL_USAGE,
                         "calibrate network: -n %s and a launcher, %s: the launcher says how "
                         "many ranks there are; leave -n out",
                         ranks, argv[first]);
    request.launcher = first < argc ? argv + first : NULL;
    if (read_numbers(ranks ? ranks : "2", repetitions, &request) < 0)
        return TOOL_USAGE;
    if (calibrate_place_open(&place) < 0)
        return TOOL_FAILED;
    rc = calibrate_and_store(&request, &place);
    calibrate_place_close(&place);
    if (rc > 0)
        return rc;
    return rc < 0 || fflush(stdout) != 0 ? TOOL_FAILED : TOOL_OK;
}
