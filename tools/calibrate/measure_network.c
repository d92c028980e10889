/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/measure_network.c - what messages between ranks of MPI take, for `orrery
 * calibrate network`, which starts it as several ranks. Rank 0 prints what there is, and a
 * sample per repetition of each figure; it measures with the first rank of its own host (the
 * way "node"), and with the first of another one ("net"). The other ranks sleep meanwhile.
 *
 *   ranks N, hosts N
 *   WAY eager BYTES            MPI_Isend of so many ends before anybody receives
 *   WAY time BYTES us...       one way, half of the fastest round trip
 *   WAY send us...             of the sender's processor, one byte
 *   WAY match us...            of the receiver's, for a message that is expected and there
 *   WAY late BYTES us...       the same for one that came before it was asked for
 *   WAY look us...             of a processor, to look for a message once and sleep for 1 us
 *   WAY forth|back bytes/us... several long messages in one direction
 *   WAY both bytes/us...       in both at once, together
 *   incast RANKS bytes/us...   all ranks to rank 0, together
 *
 * usage: measure-network [REPETITIONS]
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 4 << 20, LONG_BYTES = 1 << 20, WINDOW = 4, MOST_REPETITIONS = 99 };
enum { ROOM = 32 << 20 }; /* messages are not in a cache, as results of tasks are not */
enum { MOST_EAGER = 1 << 20, ALONE_US = 30, NEVER_US = 3000, NAP_US = 200 };
/* Of a figure in a repetition: so many tries at a time, and at most; two agree within so
 * much. */
enum { TRIES = 8, MOST_TRIES = 96, INCASTS = 8 };
#define AGREE 1.02
enum { LOOKS = 20, NAP_NS = 1000 };
enum { TAG_DATA = 1, TAG_WORD, TAG_IDLE };

static char *out, *in; /* ROOM each */
static size_t out_at, in_at;
static int rank, size, nrepetitions = 9;

static double now_us(void)
{
    return 1e6 * MPI_Wtime();
}

/* Where the next bytes lie: in turns. */
static char *next(char *room, size_t *at, int bytes)
{
    size_t begin = *at + (size_t)bytes <= ROOM ? *at : 0;

    *at = begin + (size_t)bytes;
    return room + begin;
}

static char *next_out(int bytes)
{
    return next(out, &out_at, bytes);
}

static char *next_in(int bytes)
{
    return next(in, &in_at, bytes);
}

static void wait_for_all(MPI_Request *requests, int n)
{
    for (int i = 0; i < n; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

/* --- words between two ranks --- */

static void say(int peer)
{
    MPI_Send(NULL, 0, MPI_BYTE, peer, TAG_WORD, MPI_COMM_WORLD);
}

static void hear(int peer)
{
    MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG_WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double hear_number(int peer)
{
    double value;

    MPI_Recv(&value, 1, MPI_DOUBLE, peer, TAG_WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

static void say_number(int peer, double value)
{
    MPI_Send(&value, 1, MPI_DOUBLE, peer, TAG_WORD, MPI_COMM_WORLD);
}

static void send_bytes(int peer, int bytes)
{
    MPI_Send(next_out(bytes), bytes, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD);
}

static void receive_bytes(int peer, int bytes)
{
    MPI_Recv(next_in(bytes), bytes, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Without a call that would let MPI go on. */
static void stay_alone(void)
{
    double until = now_us() + ALONE_US;

    while (now_us() < until)
        ;
}

/* Until rank 0 says so, without taking a processor. */
static void sleep_until_word(void)
{
    int there = 0;

    while (!there) {
        MPI_Iprobe(0, TAG_IDLE, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (!there)
            usleep(NAP_US);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_IDLE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* --- what is measured: each is called by both ranks, and gives rank 0 how long it took --- */

/* One way, by half of both. */
static double go_round(int peer, int bytes)
{
    double begin = now_us();

    if (rank == 0)
        send_bytes(peer, bytes);
    receive_bytes(peer, bytes);
    if (rank != 0)
        send_bytes(peer, bytes);
    return (now_us() - begin) / 2;
}

static double begin_send(int peer, int bytes)
{
    MPI_Request request;
    double begin, us;

    if (rank != 0) {
        MPI_Irecv(next_in(bytes), bytes, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD, &request);
        say(peer);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return 0;
    }
    hear(peer);
    begin = now_us();
    MPI_Isend(next_out(bytes), bytes, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD, &request);
    us = now_us() - begin;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return us;
}

static double take_expected(int peer, int bytes)
{
    MPI_Request request;
    double begin;

    if (rank != 0) {
        hear(peer);
        send_bytes(peer, bytes);
        return 0;
    }
    MPI_Irecv(next_in(bytes), bytes, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD, &request);
    say(peer);
    stay_alone();
    begin = now_us();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return now_us() - begin;
}

/* The word behind it has MPI take it from the network, and put it aside. */
static double take_late(int peer, int bytes)
{
    double begin;

    if (rank != 0) {
        hear(peer);
        send_bytes(peer, bytes);
        say(peer);
        return 0;
    }
    say(peer);
    hear(peer);
    stay_alone();
    begin = now_us();
    receive_bytes(peer, bytes);
    return now_us() - begin;
}

/* What a rank does that waits without a processor of its own, but for the sleep itself; all of
 * what the sleep takes beside its length is the processor's. */
static double look_and_sleep(int peer, int bytes)
{
    const struct timespec nap = {0, NAP_NS};
    double begin = now_us();
    int there;

    (void)bytes;
    prctl(PR_SET_TIMERSLACK, NAP_NS); /* as the thread MPI has it */
    for (int i = 0; i < LOOKS; i++) {
        MPI_Iprobe(peer, TAG_IDLE, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        nanosleep(&nap, NULL);
    }
    return (now_us() - begin) / LOOKS - 1e-3 * NAP_NS;
}

static void begin_window(MPI_Request *requests, int peer, bool sends)
{
    for (int i = 0; i < WINDOW; i++)
        if (sends)
            MPI_Isend(next_out(LONG_BYTES), LONG_BYTES, MPI_BYTE, peer, TAG_DATA,
                      MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(next_in(LONG_BYTES), LONG_BYTES, MPI_BYTE, peer, TAG_DATA,
                      MPI_COMM_WORLD, &requests[i]);
}

/* A window from one to the other: the receiver takes the time. */
static double stream(int peer, bool receives)
{
    MPI_Request requests[WINDOW];
    double begin, us;

    if (receives) {
        begin_window(requests, peer, false);
        begin = now_us();
        say(peer);
        wait_for_all(requests, WINDOW);
        us = now_us() - begin;
        if (rank != 0)
            say_number(peer, us);
        return us;
    }
    hear(peer);
    begin_window(requests, peer, true);
    wait_for_all(requests, WINDOW);
    return rank == 0 ? hear_number(peer) : 0;
}

static double stream_forth(int peer, int bytes)
{
    (void)bytes;
    return stream(peer, rank != 0);
}

static double stream_back(int peer, int bytes)
{
    (void)bytes;
    return stream(peer, rank == 0);
}

static double stream_both(int peer, int bytes)
{
    MPI_Request requests[2 * WINDOW];
    double begin;

    (void)bytes;
    if (rank == 0)
        hear(peer);
    else
        say(peer);
    begin = now_us();
    begin_window(requests, peer, false);
    begin_window(requests + WINDOW, peer, true);
    wait_for_all(requests, 2 * WINDOW);
    return now_us() - begin;
}

/* Known to rank 0: the fastest of several tries, of which there are more until two agree. All
 * others were disturbed by something. */
static double fastest(double (*once)(int peer, int bytes), int peer, int bytes)
{
    double best = 1e30, second = 1e30;
    bool more = true;

    for (int n = 1; more; n++) {
        double us = once(peer, bytes);

        second = us < best ? best : us < second ? us : second;
        best = us < best ? us : best;
        if (n % TRIES)
            continue;
        more = n < MOST_TRIES && second > AGREE * best;
        if (rank == 0)
            say_number(peer, more);
        else
            more = hear_number(peer) != 0;
    }
    return best;
}

/* Whether MPI_Isend of so many bytes ends before anybody has asked for them. Known to both. */
static bool is_eager(int peer, int bytes)
{
    MPI_Request request;
    int ended = 0;
    double until;

    if (rank != 0) {
        hear(peer);
        receive_bytes(peer, bytes);
        return hear_number(peer) != 0;
    }
    MPI_Isend(next_out(bytes), bytes, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD, &request);
    for (until = now_us() + NEVER_US; !ended && now_us() < until;)
        MPI_Test(&request, &ended, MPI_STATUS_IGNORE);
    say(peer);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say_number(peer, ended);
    return ended;
}

/* The most bytes that are; 0: none. */
static int find_eager(int peer)
{
    int most = 0, none = MOST_EAGER + 1;

    while (none - most > 1) {
        int bytes = most + (none - most) / 2;

        /* Limits are powers of two, less a header. */
        if (most == 0 && none > MOST_EAGER)
            bytes = 4096;
        if (is_eager(peer, bytes))
            most = bytes;
        else
            none = bytes;
    }
    return most;
}

/* --- all of it --- */

static const struct figure {
    const char *name;
    double (*once)(int peer, int bytes);
    int bytes;   /* 0: of no size; -1: of the longest that is eager */
    double rate; /* the figure is so many bytes per µs; 0: it is µs */
} figures[] = {
    {"time", go_round, 1, 0},
    {"time", go_round, 256, 0},
    {"time", go_round, 1024, 0},
    {"time", go_round, 4096, 0},
    {"time", go_round, 16384, 0},
    {"time", go_round, 65536, 0},
    {"time", go_round, 262144, 0},
    {"time", go_round, LONG_BYTES, 0},
    {"time", go_round, MOST_BYTES, 0},
    {"send", begin_send, 1, 0},
    {"match", take_expected, 1, 0},
    {"late", take_late, 1, 0},
    {"late", take_late, -1, 0},
    {"look", look_and_sleep, 0, 0},
    {"forth", stream_forth, 0, (double)WINDOW * LONG_BYTES},
    {"back", stream_back, 0, (double)WINDOW * LONG_BYTES},
    {"both", stream_both, 0, 2.0 * WINDOW * LONG_BYTES},
};

enum { NFIGURES = sizeof(figures) / sizeof(*figures) };

static void print_samples(const double *samples, int step)
{
    for (int r = 0; r < nrepetitions; r++)
        printf(" %.6g", samples[r * step]);
    putchar('\n');
}

static void measure_way(const char *way, int peer)
{
    static double samples[MOST_REPETITIONS * NFIGURES];
    int eager = find_eager(peer);

    /* Whatever disturbs some time of it is in few samples of each. */
    for (int r = -1; r < nrepetitions; r++) /* the first one warms up */
        for (int i = 0; i < NFIGURES; i++) {
            int bytes = figures[i].bytes < 0 ? eager : figures[i].bytes;
            double us = fastest(figures[i].once, peer, bytes);

            if (r >= 0)
                samples[r * NFIGURES + i] = figures[i].rate > 0 ? figures[i].rate / us : us;
        }
    if (rank != 0)
        return;
    printf("%s eager %d\n", way, eager);
    for (int i = 0; i < NFIGURES; i++) {
        printf("%s %s", way, figures[i].name);
        if (figures[i].bytes)
            printf(" %d", figures[i].bytes < 0 ? eager : figures[i].bytes);
        print_samples(samples + i, NFIGURES);
    }
}

static double incast(void)
{
    int n = size - 1;
    MPI_Request *requests = malloc((size_t)n * sizeof(MPI_Request));
    double begin, rate;

    if (!requests)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < n; i++)
        MPI_Irecv(next_in(LONG_BYTES), LONG_BYTES, MPI_BYTE, i + 1, TAG_DATA, MPI_COMM_WORLD,
                  &requests[i]);
    begin = now_us();
    for (int i = 0; i < n; i++)
        say(i + 1);
    wait_for_all(requests, n);
    rate = (double)n * LONG_BYTES / (now_us() - begin);
    free(requests);
    return rate;
}

static void measure_incast(void)
{
    double samples[MOST_REPETITIONS];

    for (int r = 0; r < nrepetitions; r++) {
        samples[r] = 0;
        for (int i = 0; i < INCASTS; i++) {
            if (rank == 0) {
                double rate = incast();

                samples[r] = rate > samples[r] ? rate : samples[r];
                continue;
            }
            hear(0);
            send_bytes(0, LONG_BYTES);
        }
    }
    if (rank == 0) {
        printf("incast %d", size - 1);
        print_samples(samples, 1);
    }
}

/* The first rank behind 0 that is on the same host as it, or is not; 0: none. The number of
 * hosts. */
static int find_peers(int *ret_near, int *ret_far)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", *names = calloc((size_t)size, sizeof(name));
    int length, nhosts = 0;

    if (!names)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Get_processor_name(name, &length);
    MPI_Allgather(name, sizeof(name), MPI_CHAR, names, sizeof(name), MPI_CHAR, MPI_COMM_WORLD);
    *ret_near = *ret_far = 0;
    for (int i = 0; i < size; i++) {
        int first = 0;

        while (strcmp(names + (size_t)first * sizeof(name), names + (size_t)i * sizeof(name)))
            first++;
        nhosts += first == i;
        if (i > 0 && first == 0 && !*ret_near)
            *ret_near = i;
        if (first != 0 && !*ret_far)
            *ret_far = i;
    }
    free(names);
    return nhosts;
}

static void measure_with(const char *way, int peer)
{
    if (peer && (rank == 0 || rank == peer))
        measure_way(way, rank == 0 ? peer : 0);
    else if (peer)
        sleep_until_word();
    for (int i = 1; peer && rank == 0 && i < size; i++)
        if (i != peer)
            MPI_Send(NULL, 0, MPI_BYTE, i, TAG_IDLE, MPI_COMM_WORLD);
}

static void measure_all(void)
{
    int near, far, nhosts = find_peers(&near, &far);

    if (rank == 0)
        printf("ranks %d\nhosts %d\n", size, nhosts);
    measure_with("node", near);
    measure_with("net", far);
    if (size > 2)
        measure_incast();
}

int main(int argc, char **argv)
{
    int failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        nrepetitions = atoi(argv[1]);
    out = calloc(1, ROOM);
    in = calloc(1, ROOM);
    if (size < 2 || nrepetitions < 1 || nrepetitions > MOST_REPETITIONS || !out || !in) {
        if (rank == 0)
            fprintf(stderr, "orrery: error: two ranks or more are needed, 1 to %d repetitions, "
                            "and memory\n",
                    MOST_REPETITIONS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    measure_all();
    failed = fflush(stdout) != 0;
    free(out);
    free(in);
    MPI_Finalize();
    return failed;
}
