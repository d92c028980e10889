/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scenarios on simulated ranks, a context for each on one engine; how long messages and
 * meetings take; and that equal runs have equal dates. Prints TAP.
 * usage: test-simulated-ranks [SEEDS [PART OF A NAME]]
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/splitmix.h"
#include "mpi/simulated/simulated.h"
#include "rank.h"
#include "sim/cluster_events.h"
#include "sim/exec.h"

enum { MOST_RANKS = 8 };

struct world {
    struct orr_simulated *net;
    struct orr_simulated_comm *halves[2];
    const struct scenario *scenario;
    uint64_t seed;
};

struct place {
    struct world *world;
    struct rank rank;
    int number;
    double ended;
};

static const void *half(struct rank *rank)
{
    struct place *place = orr_container(rank, struct place, rank);

    return place->world->halves[place->number % 2];
}

static void run_rank(void *arg)
{
    struct place *place = arg;
    struct rank *rank = &place->rank;

    rank->t = orr_simulated_open(place->world->net, place->number);
    rank->half = half;
    rank_begin(rank, orr_simulated_world(place->world->net), place->world->seed);
    place->world->scenario->run(rank);
    rank_end(rank);
    place->ended = orr_exec_now(orr_self->exec);
    rank->t->ops->close(rank->t);
}

static void make_halves(struct world *world, unsigned nranks)
{
    int members[2][MOST_RANKS], n[2] = {0, 0};

    for (unsigned i = 0; i < nranks; i++)
        members[i % 2][n[i % 2]++] = (int)i;
    for (unsigned i = 0; i < 2 && i < nranks; i++)
        world->halves[i] = orr_simulated_comm_new(world->net, members[i], n[i]);
}

/* On an engine of its own; ends[i] is the date at which rank i ends. Failures of all. */
static int run(const struct scenario *scenario, const struct orr_simulated_conf *like,
               uint64_t seed, double *ends)
{
    struct orr_simulated_conf conf = *like;
    struct world world = {.scenario = scenario, .seed = seed};
    struct place *places = calloc(conf.nranks, sizeof(*places));
    struct orr_context *contexts[MOST_RANKS], init = {.name = "rank"};
    struct orr_error err = {""};
    struct orr_sim_exec *exec;
    int failures = 0;

    conf.cluster = &orr_sim_cluster_ops;
    if (orr_sim_exec_new(NULL, &exec))
        abort();
    if (orr_simulated_new(&conf, &world.net, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    make_halves(&world, conf.nranks);
    for (unsigned i = 0; i < conf.nranks; i++) {
        places[i].world = &world;
        places[i].number = (int)i;
        if (exec->head.ops->spawn(&exec->head, &init, -1, run_rank, &places[i], &contexts[i]))
            abort();
    }
    for (unsigned i = 0; i < conf.nranks; i++) {
        exec->head.ops->join(&exec->head, contexts[i]);
        failures += places[i].rank.failures;
        ends[i] = places[i].ended;
    }
    orr_simulated_free(world.net);
    orr_sim_exec_free(exec);
    free(places);
    return failures;
}

/* --- scenarios --- */

static const unsigned pairs_of_nodes[MOST_RANKS] = {0, 0, 1, 1, 2, 2, 3, 3};

/* Each twice: with the same dates. */
static int run_scenario(const struct scenario *scenario, unsigned nranks, uint64_t seed)
{
    static const char *const networks[] = {"100Gb/s send=0.4us match=0.3us",
                                           "1Gb/s latency=20us fat-tree:4,1:1",
                                           "ethernet 10Gb/s half-duplex eager=1KiB"};
    struct orr_simulated_conf conf = {
        .nranks = nranks,
        .nodes = seed % 2 ? pairs_of_nodes : NULL,
        .network = networks[seed % 3],
    };
    double once[MOST_RANKS], again[MOST_RANKS];
    int failures = run(scenario, &conf, seed, once) + run(scenario, &conf, seed, again);

    return failures + (memcmp(once, again, nranks * sizeof(*once)) != 0);
}

/* --- durations --- */

enum { HEADER = 64 }; /* what it takes of the network */

static const double bandwidth = 1250, latency = 3; /* 10Gb/s latency=3us */
static double sends, matches; /* µs of a processor that a message takes */

static bool is_about(double us, double expected)
{
    if (fabs(us - expected) <= 1e-5 + 1e-6 * expected)
        return true;
    fprintf(stderr, "# %.9g us instead of %.9g\n", us, expected);
    return false;
}

static void send_bytes(struct rank *rank, struct orr_packet *packet, struct area *area,
                       int peer, size_t bytes)
{
    area_make(area, bytes, true, &rank->random);
    memset(packet, 0, sizeof(*packet));
    packet->header.peer = peer;
    packet->header.comm = rank->world.number;
    packet->parts = area->parts;
    packet->nparts = area->nparts;
    EXPECT(rank, rank->t->ops->send(rank->t, packet) == 0);
}

static void receive_bytes(struct rank *rank, int peer, size_t bytes)
{
    struct taken *taken = await_header(rank, rank->world.number, peer);
    struct orr_packet packet = {.header = taken->header};
    struct area area;

    EXPECT(rank, taken->header.bytes == bytes);
    if (taken->header.data) {
        area_make(&area, bytes, true, &rank->random);
        packet.parts = area.parts;
        packet.nparts = area.nparts;
        EXPECT(rank, rank->t->ops->recv(rank->t, &packet) == 0);
        await_message(rank, &packet);
        area_free(&area);
    }
    free_taken(taken);
}

static double since(double us)
{
    return orr_exec_now(orr_self->exec) - us;
}

/* Of one message, both ranks ready. */
static double duration_of(size_t bytes)
{
    double header = latency + HEADER / bandwidth, both = sends + matches;

    if (bytes <= ORR_TRANSPORT_INSIDE)
        return both + latency + (HEADER + (double)bytes) / bandwidth;
    if (bytes <= 64 << 10) /* the data come behind the header, which is matched meanwhile */
        return sends + latency + (HEADER + (double)bytes) / bandwidth;
    return both + 2 * header + latency + (double)bytes / bandwidth; /* …, answer, data */
}

/* There and back, of rank 0 and another one. */
static void ping_pong(struct rank *rank)
{
    static const size_t sizes[] = {0, 1, 4096, 4097, 64 << 10, (64 << 10) + 1, 10000000};
    struct orr_packet packet;
    struct area area;

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        double start = orr_exec_now(orr_self->exec);
        int peer = 1 - rank->world.rank;

        if (rank->world.rank == 1)
            receive_bytes(rank, peer, sizes[i]);
        send_bytes(rank, &packet, &area, peer, sizes[i]);
        if (rank->world.rank == 0)
            receive_bytes(rank, peer, sizes[i]);
        await_message(rank, &packet);
        EXPECT(rank, rank->world.rank == 1 ||
                         is_about(since(start), 2 * duration_of(sizes[i])));
        area_free(&area);
    }
}

/* Many messages from rank 0 leave one after the other, and are matched so. */
static void burst(struct rank *rank)
{
    enum { N = 8 };
    struct orr_packet packets[N];
    struct area areas[N];
    double start = orr_exec_now(orr_self->exec), way = latency + HEADER / bandwidth;
    /* Where sending takes longer, the last one is matched as soon as it comes. */
    double most = sends > matches ? N * sends + matches : sends + N * matches;

    for (int i = 0; i < N; i++) {
        if (rank->world.rank == 0)
            send_bytes(rank, &packets[i], &areas[i], 1, 0);
        else
            receive_bytes(rank, 0, 0);
    }
    for (int i = 0; i < N && rank->world.rank == 0; i++) {
        await_message(rank, &packets[i]);
        area_free(&areas[i]);
    }
    EXPECT(rank, rank->world.rank == 0 || is_about(since(start), way + most));
}

/* The first half of the ranks sends to the other half, over one link. */
static void share(struct rank *rank)
{
    size_t bytes = 5000000;
    struct orr_packet packet;
    struct area area;
    double start = orr_exec_now(orr_self->exec);
    double alone = duration_of(bytes), link = (double)bytes / bandwidth;
    int size = rank->world.size, peer = (rank->world.rank + size / 2) % size;

    if (rank->world.rank < size / 2) {
        send_bytes(rank, &packet, &area, peer, bytes);
        await_message(rank, &packet);
        area_free(&area);
    } else {
        receive_bytes(rank, peer, bytes);
    }
    /* Headers and answers share, too. */
    EXPECT(rank, fabs(since(start) - alone - (size / 2 - 1) * link) < 1);
}

/* A barrier of n takes ceil(log2 n) messages, one behind the other. */
static void meet(struct rank *rank)
{
    struct orr_meeting meeting = {.comm = rank->world.number};
    double start = orr_exec_now(orr_self->exec);
    int steps = 0;

    while (1 << steps < rank->world.size)
        steps++;
    EXPECT(rank, rank->t->ops->meet(rank->t, &meeting) == 0);
    await_meeting(rank, &meeting);
    EXPECT(rank, is_about(since(start), steps * (latency + HEADER / bandwidth)));
}

static int check_time(void (*what)(struct rank *rank), unsigned nranks,
                      const unsigned *nodes, const char *network)
{
    struct scenario scenario = {.name = "durations", .run = what};
    struct orr_simulated_conf conf = {.nranks = nranks, .nodes = nodes, .network = network};
    double ends[MOST_RANKS];

    return run(&scenario, &conf, 1, ends);
}

/* Who is on the node of its peer waits for no message. */
static void stay(struct rank *rank)
{
    double start = orr_exec_now(orr_self->exec);
    struct orr_packet packet;
    struct area area;

    send_bytes(rank, &packet, &area, 1 - rank->world.rank, 100000);
    receive_bytes(rank, 1 - rank->world.rank, 100000);
    await_message(rank, &packet);
    EXPECT(rank, since(start) == 0);
    area_free(&area);
}

/* --- refusals --- */

static int check_refusals(void)
{
    static const unsigned nodes[] = {0, 2};
    struct orr_simulated_conf conf = {.nranks = 2, .cluster = &orr_sim_cluster_ops,
                                      .network = "10Gb/s"};
    struct orr_simulated *net;
    struct orr_error err = {""};
    struct orr_sim_exec *exec;
    int failures = 0;

    if (orr_sim_exec_new(NULL, &exec))
        abort();
    conf.network = "10Gb/s star";
    failures += orr_simulated_new(&conf, &net, &err) == 0 || !strstr(err.text, "star");
    conf.network = "10Gb/s";
    conf.nodes = nodes;
    conf.nnodes = 2;
    failures += orr_simulated_new(&conf, &net, &err) == 0 ||
                !strstr(err.text, "rank 1 cannot be on node 2");
    orr_sim_exec_free(exec);
    return failures;
}

/* A network that is opened where there is no engine has one of its own. */
static int check_engine(void)
{
    struct orr_simulated_conf conf = {.nranks = 2, .cluster = &orr_sim_cluster_ops,
                                      .network = "10Gb/s"};
    struct orr_simulated *net;
    struct orr_error err = {""};
    int failures = 0;

    for (int i = 0; i < 2; i++) {
        failures += orr_self != NULL || orr_simulated_new(&conf, &net, &err) != 0;
        failures += orr_sim_exec_current() == NULL;
        orr_simulated_free(net);
    }
    return failures + (orr_self != NULL);
}

static int number_of_test;

static int report(int failures, const char *text)
{
    printf("%s %d - %s\n", failures ? "not ok" : "ok", ++number_of_test, text);
    fflush(stdout);
    return failures > 0;
}

int main(int argc, char **argv)
{
    static const unsigned nranks[] = {8, 1, 2, 3}, one_node[] = {0, 0, 1, 1};
    const char *line = "10Gb/s latency=3us";
    uint64_t nseeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 12;
    int failed = 0;

    for (const struct scenario *s = scenarios; s->name; s++) {
        int failures = 0;

        if (s->faults || (argc > 2 && !strstr(s->name, argv[2])))
            continue;
        for (uint64_t seed = 0; seed < nseeds && !failures; seed++)
            failures += run_scenario(s, nranks[seed % 4], seed);
        failed += report(failures, s->name);
    }
    failed += report(check_time(ping_pong, 2, NULL, line), "how long messages take");
    sends = 0.5;
    matches = 0.25;
    failed += report(check_time(ping_pong, 2, NULL, "10Gb/s latency=3us send=0.5us match=0.25us"),
                     "messages take of the processors of both ranks");
    failed += report(check_time(burst, 2, NULL, "10Gb/s latency=3us send=0.5us match=0.25us"),
                     "messages leave one after the other");
    sends = 0.125;
    failed += report(check_time(burst, 2, NULL, "10Gb/s latency=3us send=0.125us match=0.25us"),
                     "messages are matched one after the other");
    sends = matches = 0;
    failed += report(check_time(stay, 2, one_node, line), "no time within a node");
    sends = 0.5;
    matches = 0.25;
    failed += report(check_time(ping_pong, 2, one_node,
                                "1Gb/s node-latency=3us node-total=10Gb/s "
                                "node-send=0.5us node-match=0.25us"),
                     "time within a node where its words are said");
    failed += report(check_time(burst, 2, one_node,
                                "1Gb/s node-latency=3us node-total=10Gb/s "
                                "node-send=0.5us node-match=0.25us"),
                     "ranks of a node share what it has");
    sends = matches = 0;
    failed += report(check_time(share, 4, one_node, line), "two ranks share their node's NIC");
    failed += report(check_time(share, 4, NULL, "10Gb/s latency=3us hop=0us fat-tree:3,2:1"),
                     "two nodes share an uplink");
    for (unsigned n = 1; n <= MOST_RANKS; n++)
        failed += report(check_time(meet, n, NULL, line), "how long a barrier takes");
    failed += report(check_refusals(), "what is refused");
    failed += report(check_engine(), "a network with an engine of its own");
    printf("1..%d\n", number_of_test);
    return failed > 0;
}
