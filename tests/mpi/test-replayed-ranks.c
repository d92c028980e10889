/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/test-replayed-ranks.c - programs of simulated ranks, recorded as they run, and
 * their records played together: the traces are the same, byte for byte. So are the records
 * of ranks without the others. Prints TAP.
 *
 * usage: test-replayed-ranks PLAYER [FIRST [NUMBER [CALLS]]]: random programs of these seeds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/module.h"
#include "core/base/exec.h"
#include "mpi/carrier.h"
#include "mpi/simulated/ranks.h"
#include "sim/machine.h"
#include "tests/mpi/spmd_loopback.h"

enum { MOST_RANKS = SPMD_MOST_RANKS, GRID = 2, TILES = 8 };

/* The simulator is part of the program. */
int __real_orr_module_open(const char *name, const void **ret, struct orr_error *err);
int __wrap_orr_module_open(const char *name, const void **ret, struct orr_error *err);
int __wrap_orr_module_open(const char *name, const void **ret, struct orr_error *err)
{
    if (strcmp(name, "sim") != 0)
        return __real_orr_module_open(name, ret, err);
    *ret = &orr_sim_ops;
    return 0;
}

static const char *player;
static const char *const machines[] = {"h100-pcie-4", "epyc-64", "a100-pcie-1"};

struct world {
    const char *name;
    unsigned nranks;
    const char *network, *scheduler;
    uint64_t seed;
    int ncalls;
    void (*body)(struct world *world);
    const void *comms[5]; /* twin, turned, and both halves */
    const char *folder;
    int alone; /* this rank */
};

/* --- what is run --- */

static const void *make_comm(int first, int step, int n)
{
    int ranks[MOST_RANKS];
    const void *ret;

    for (int i = 0; i < n; i++)
        ranks[i] = first + i * step;
    ret = orr_simulated_comm_new(orr_simulated_place()->net, ranks, n);
    if (!ret)
        abort();
    return ret;
}

/* The first rank that comes here makes them. */
static void use_comms(struct world *world, const struct orr_rank *rank)
{
    const void *all[SPMD_COMMS];
    int n = rank->size;

    if (!world->comms[0]) {
        world->comms[0] = make_comm(0, 1, n);
        world->comms[1] = make_comm(n - 1, -1, n);
        world->comms[2] = make_comm(0, 2, (n + 1) / 2);
        world->comms[3] = make_comm(1, 2, n / 2);
    }
    all[SPMD_WORLD] = rank->conf.world;
    all[SPMD_TWIN] = world->comms[0];
    all[SPMD_TURNED] = world->comms[1];
    all[SPMD_HALVES] = world->comms[2 + rank->number % 2];
    spmd_loopback_comms(all);
    spmd_use(SPMD_WORLD);
}

static void run_random(struct world *world)
{
    if (spmd_run(world->seed, world->ncalls, 700))
        abort();
}

static void do_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet factor[] = {
    {.cpu_funcs = {do_nothing}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "potrf"},
    {.cpu_funcs = {do_nothing}, .cuda_funcs = {do_nothing}, .nbuffers = 2,
     .modes = {STARPU_R, STARPU_RW}, .name = "trsm"},
    {.cpu_funcs = {do_nothing}, .cuda_funcs = {do_nothing}, .nbuffers = 3,
     .modes = {STARPU_R, STARPU_R, STARPU_RW}, .name = "gemm"}};

static void insert(starpu_data_handle_t *a, starpu_data_handle_t *b, starpu_data_handle_t *c,
                   int priority)
{
    struct starpu_data_descr data[3];
    int n = 0;

    if (a)
        data[n++] = (struct starpu_data_descr){*a, STARPU_R};
    if (b)
        data[n++] = (struct starpu_data_descr){*b, STARPU_R};
    data[n++] = (struct starpu_data_descr){*c, STARPU_RW};
    spmd_insert(&(struct spmd_insert){.cl = &factor[n - 1], .data = data, .n = n,
                                      .on_node = -1, .priority = priority});
}

/* The tiled factorisation, its tiles owned block-cyclically: those of a column are flushed
 * behind it. */
static void run_cholesky(struct world *world)
{
    static double memory[MOST_RANKS][TILES][TILES][40 * 40];
    starpu_data_handle_t a[TILES][TILES];
    int me = spmd_rank();

    (void)world;
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j <= i; j++) {
            int owner = i % GRID * GRID + j % GRID;

            starpu_matrix_data_register(&a[i][j], owner == me ? STARPU_MAIN_RAM : -1,
                                        owner == me ? (uintptr_t)memory[me][i][j] : 0, 40, 40,
                                        40, sizeof(double));
            spmd_register(a[i][j], i * TILES + j, owner);
        }
    for (int k = 0; k < TILES; k++) {
        insert(NULL, NULL, &a[k][k], 30 - 3 * k);
        for (int m = k + 1; m < TILES; m++)
            insert(&a[k][k], NULL, &a[m][k], 30 - 2 * k - m);
        spmd_flush(a[k][k]);
        for (int j = k + 1; j < TILES; j++)
            for (int i = j; i < TILES; i++)
                insert(&a[i][k], i == j ? NULL : &a[j][k], &a[i][j], 30 - k - i - j);
        for (int m = k + 1; m < TILES; m++)
            spmd_flush(a[m][k]);
    }
    spmd_wait_all();
    spmd_barrier();
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j <= i; j++)
            starpu_data_unregister(a[i][j]);
}

static void run_rank(int number, void *arg)
{
    struct world *world = arg;
    struct orr_rank *rank;

    (void)number;
    if (starpu_init(NULL) || orr_simulated_rank_open("starpu_mpi_init"))
        abort();
    rank = orr_rank_need("test");
    use_comms(world, rank);
    world->body(world);
    orr_rank_close(rank, "starpu_mpi_shutdown");
    starpu_shutdown();
}

/* --- one rank without the others --- */

static bool is_same(const void *a, const void *b)
{
    return a == b;
}

static void *keep(const void *native)
{
    return (void *)(uintptr_t)native;
}

static void drop(void *native)
{
    (void)native;
}

static struct orr_transport *open_alone(void *arg, struct orr_error *err)
{
    (void)err;
    return orr_simulated_open(arg, 0);
}

static void run_alone(int number, void *arg)
{
    struct world *world = arg;
    struct orr_simulated *net = orr_simulated_place()->net;
    struct orr_rank_conf conf = {.open = open_alone,
                                 .arg = net,
                                 .world = orr_simulated_world(net),
                                 .is_same = is_same,
                                 .keep = keep,
                                 .drop = drop,
                                 .cpu = -1,
                                 .pretended_size = (int)world->nranks,
                                 .pretended_rank = world->alone};
    const void *all[SPMD_COMMS] = {conf.world};

    (void)number;
    if (starpu_init(NULL) || orr_rank_open(orr_self->runtime, &conf, "starpu_mpi_init"))
        abort();
    spmd_loopback_comms(all);
    spmd_use(SPMD_WORLD);
    world->body(world);
    orr_rank_close(orr_rank_need("test"), "starpu_mpi_shutdown");
    starpu_shutdown();
}

static void run_program(struct world *world)
{
    const struct orr_setting settings[MOST_RANKS][2] = {
        {{ORR_CFG_MACHINE, machines[0]}}, {{ORR_CFG_MACHINE, machines[1]}},
        {{ORR_CFG_MACHINE, machines[2]}}, {{ORR_CFG_MACHINE, machines[0]}},
        {{ORR_CFG_MACHINE, machines[1]}}, {{ORR_CFG_MACHINE, machines[2]}},
        {{ORR_CFG_MACHINE, machines[0]}}, {{ORR_CFG_MACHINE, machines[1]}}};
    const struct orr_setting *lists[MOST_RANKS];
    struct orr_simulated_program program = {
        .conf = {.nranks = world->nranks, .network = world->network},
        .settings = lists,
        .main = run_rank,
        .arg = world,
    };

    for (int i = 0; i < MOST_RANKS; i++)
        lists[i] = settings[i];
    memset(world->comms, 0, sizeof(world->comms));
    if (orr_simulated_program_run(&program))
        abort();
}

/* --- what it is compared with --- */

/* A file of the folder: NAME, or that of a rank. */
static char *place(char text[200], const struct world *world, const char *name, int rank)
{
    if (rank < 0)
        snprintf(text, 200, "%s/%s", world->folder, name);
    else
        snprintf(text, 200, "%s/%.*s.rank%d%s", world->folder, (int)strcspn(name, "."), name,
                 rank, strchr(name, '.'));
    return text;
}

/* The rank's record, on the machines of the program. */
static int play(const struct world *world)
{
    char path[200], line[400] = "";
    int status;
    pid_t child;

    for (unsigned i = 0; i < world->nranks; i++)
        snprintf(line + strlen(line), sizeof(line) - strlen(line), "1*%s + ", machines[i % 3]);
    snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s", world->network);
    child = fork();
    if (child == 0) {
        setenv("ORRERY_MACHINE", line, 1);
        setenv("ORRERY_TRACE", place(path, world, "again.csv", -1), 1);
        unsetenv("ORRERY_RECORD");
        unsetenv("ORRERY_SIM_KERNELS");
        execl(player, player, place(path, world, "run.rec", 0), (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool are_equal(const char *a, const char *b)
{
    FILE *one = fopen(a, "r"), *other = fopen(b, "r");
    bool same = one && other;
    int byte = 0;
    long n = 0, line = 1;

    while (same && byte != EOF) {
        byte = fgetc(one);
        same = fgetc(other) == byte;
        line += byte == '\n';
        n++;
    }
    if (!same)
        printf("# %s and %s differ from line %ld on\n", a, b, line);
    if (one)
        fclose(one);
    if (other)
        fclose(other);
    return same && n > 1000;
}

static void remove_files(const struct world *world)
{
    static const char *const names[] = {"run.csv", "again.csv", "run.rec"};
    char path[200];

    for (int rank = 0; rank < MOST_RANKS; rank++)
        for (int i = 0; i < 3; i++)
            unlink(place(path, world, names[i], rank));
    rmdir(world->folder);
}

/* Whether the record of each rank alone is what it was among the others. */
static bool check_alone(struct world *world)
{
    char folder[] = "/tmp/replayed-ranks-XXXXXX", path[200], other[200];
    struct orr_setting settings[2] = {{ORR_CFG_MACHINE, NULL}};
    const struct orr_setting *list = settings;
    struct orr_simulated_program program = {
        .conf = {.nranks = 1, .network = world->network},
        .settings = &list,
        .main = run_alone,
        .arg = world,
    };
    bool same = true;

    if (!mkdtemp(folder))
        abort();
    world->folder = folder;
    setenv("STARPU_SCHED", world->scheduler, 1);
    setenv("ORRERY_TRACE", "", 1);
    setenv("ORRERY_RECORD", place(path, world, "run.rec", -1), 1);
    run_program(world);
    for (unsigned rank = 0; rank < world->nranks; rank++) {
        settings[0].text = machines[rank % 3];
        world->alone = (int)rank;
        setenv("ORRERY_RECORD", place(path, world, "again.csv", (int)rank), 1);
        if (orr_simulated_program_run(&program))
            abort();
        same &= are_equal(place(path, world, "run.rec", (int)rank),
                          place(other, world, "again.csv", (int)rank));
    }
    remove_files(world);
    return same;
}

/* Whether the traces of all ranks are the same. */
static bool check(struct world *world)
{
    char folder[] = "/tmp/replayed-ranks-XXXXXX", path[200], other[200];
    bool same;

    if (!mkdtemp(folder))
        abort();
    world->folder = folder;
    setenv("STARPU_SCHED", world->scheduler, 1);
    setenv("ORRERY_TRACE", place(path, world, "run.csv", -1), 1);
    setenv("ORRERY_RECORD", place(path, world, "run.rec", -1), 1);
    run_program(world);
    same = play(world) == 0;
    for (unsigned rank = 0; rank < world->nranks && same; rank++)
        same = are_equal(place(path, world, "run.csv", (int)rank),
                         place(other, world, "again.csv", (int)rank));
    if (same || !getenv("KEEP"))
        remove_files(world);
    return same;
}

int main(int argc, char **argv)
{
    static const unsigned sizes[] = {2, 4, 8};
    static const char *const schedulers[] = {"lws", "dmdas", "eager"};
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int n = argc > 3 ? atoi(argv[3]) : 20, ncalls = argc > 4 ? atoi(argv[4]) : 60;
    struct world cholesky = {.nranks = 4, .network = "ib 100Gb/s", .scheduler = "dmdas",
                             .body = run_cholesky};
    int failed = 0;
    bool good;

    if (argc < 2)
        return 2;
    player = argv[1];
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_NCPU", "3", 1);
    setenv("ORRERY_ASSUME", "* = 30us", 1);
    setenv("ORRERY_SIM_KERNELS", "run", 1);
    printf("1..3\n");
    good = check(&cholesky);
    failed += !good;
    printf("%sok 1 - a block-cyclic Cholesky factorisation\n", good ? "" : "not ");
    good = check_alone(&cholesky);
    failed += !good;
    printf("%sok 2 - its ranks without the others have the same records\n",
           good ? "" : "not ");
    for (int i = 0; i < n; i++) {
        struct world world = {
            .nranks = sizes[(first + (unsigned)i) % 3],
            .network = (first + (unsigned)i) % 5 ? "ib 100Gb/s eager=1KiB"
                                                 : "1Gb/s fat-tree:4,1:1",
            .scheduler = schedulers[(first + (unsigned)i) % 3],
            .seed = first + (unsigned)i,
            .ncalls = ncalls,
            .body = run_random,
        };

        if (!check(&world)) {
            printf("# seed %llu\n", (unsigned long long)world.seed);
            good = false;
        }
    }
    failed += !good;
    printf("%sok 3 - %d random programs\n", good ? "" : "not ", n);
    return failed > 0;
}
