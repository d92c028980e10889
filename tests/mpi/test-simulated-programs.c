/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/test-simulated-programs.c - random programs of 2, 4 and 8 simulated ranks, with
 * kernels run, beside the sequential one; and that a program leaves the same traces, and
 * ends at the same dates, each time. Prints TAP.
 *
 * usage: test-simulated-programs [FIRST [NUMBER [CALLS]]]: seeds FIRST … on.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <orrery.h>
#include <unistd.h>

#include "core/base/module.h"
#include "core/device/pinned.h"
#include "core/open.h"
#include "mpi/rank.h"
#include "mpi/simulated/ranks.h"
#include "sim/machine.h"
#include "tests/mpi/spmd_loopback.h"
#include "tests/unit/child.h"

enum { MOST_RANKS = SPMD_MOST_RANKS };

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

static struct orr_pinned pinned = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct world {
    uint64_t seed;
    int ncalls;
    const char *trace; /* "": none */
    const char *machine; /* of all; NULL: different ones */
    const char *network; /* of two ranks; NULL: a fast one */
    const char *length; /* of kernels; NULL: short */
    bool sends, skips, from_gpu, anywhere;
    double late; /* µs, of the receiver */
    const char *gpu_mib; /* of each GPU's memory; NULL: all */
    const void *twin, *turned, *halves[2]; /* communicators */
    int wrong;
    unsigned long nlooks; /* blocking calls of the engine */
    double ends[MOST_RANKS]; /* µs */
};

static int open_run(int rank, void *arg)
{
    static const char *const machines[] = {"h100-pcie-4", "epyc-64", "a100-pcie-1"};
    static const char *const scheds[] = {"lws", "eager", "dmdas"};
    const struct world *world = arg;
    const struct orr_setting settings[] = {
        {ORR_CFG_MACHINE, world->machine ? world->machine : machines[rank % 3]},
        {ORR_CFG_NCPU, rank % 2 ? "1" : "3"},
        {ORR_CFG_SCHED, scheds[(unsigned)rank % 3]},
        {ORR_CFG_SIM_KERNELS, world->skips ? "skip" : "run"},
        {ORR_CFG_ASSUME, world->length ? world->length : "* = 3us"},
        {ORR_CFG_TRACE, world->trace},
        {ORR_CFG_LIMIT_CUDA_MEM, world->gpu_mib ? world->gpu_mib : ""},
        {0, NULL},
    };

    return orr_runtime_start(NULL, settings, &pinned);
}

static void close_run(void *arg)
{
    (void)arg;
    orr_runtime_stop(orr_self->runtime);
}

/* n ranks, from the first one on by that step. */
static const void *make_comm(struct orr_rank *rank, int first, int step, int n)
{
    int ranks[MOST_RANKS];
    const void *ret;

    for (int i = 0; i < n; i++)
        ranks[i] = first + i * step;
    ret = orr_simulated_comm_new(orr_simulated_network(rank->conf.world), ranks, n);
    if (!ret)
        abort();
    return ret;
}

/* The first rank that comes here makes them. */
static void use_comms(struct world *world, struct orr_rank *rank)
{
    const void *all[SPMD_COMMS];
    int n = rank->size;

    if (!world->twin) {
        world->twin = make_comm(rank, 0, 1, n);
        world->turned = make_comm(rank, n - 1, -1, n);
        world->halves[0] = make_comm(rank, 0, 2, (n + 1) / 2);
        world->halves[1] = make_comm(rank, 1, 2, n / 2);
    }
    all[SPMD_WORLD] = rank->conf.world;
    all[SPMD_TWIN] = world->twin;
    all[SPMD_TURNED] = world->turned;
    all[SPMD_HALVES] = world->halves[rank->number % 2];
    spmd_loopback_comms(all);
    spmd_use(SPMD_WORLD);
}

static void pass(bool sends, starpu_data_handle_t handle, int peer, int64_t tag,
                 enum spmd_end end)
{
    const struct spmd_message message = {
        .handle = handle, .peer = peer, .tag = tag, .end = end};

    if (sends)
        (void)spmd_send(&message);
    else
        (void)spmd_receive(&message);
}

static void run_rank(struct orr_rank *rank, void *arg)
{
    struct world *world = arg;

    use_comms(world, rank);
    world->wrong += spmd_run(world->seed, world->ncalls, 700);
    world->ends[rank->number] = orr_exec_now(orr_self->exec);
}

static void run_program(struct world *world)
{
    static const unsigned sizes[] = {2, 4, 8}, nodes[] = {0, 1, 2, 3, 0, 1, 2, 3};
    struct orr_simulated_ranks ranks = {
        .nranks = sizes[world->seed % 3],
        .nodes = world->seed % 2 ? nodes : NULL,
        .network = world->seed % 5 ? "ib 100Gb/s eager=1KiB send=0.2us match=0.3us" : "1Gb/s fat-tree:4,1:1",
        .open = open_run,
        .close = close_run,
        .main = run_rank,
        .arg = world,
    };

    if (orr_simulated_ranks_run(&ranks))
        abort();
}

/* --- twice the same --- */

static bool are_equal(const char *a, const char *b)
{
    FILE *one = fopen(a, "r"), *other = fopen(b, "r");
    bool same = one && other;
    int byte = 0;
    long n = 0;

    while (same && byte != EOF) {
        byte = fgetc(one);
        same = fgetc(other) == byte;
        n++;
    }
    if (!same)
        printf("# %s and %s differ from byte %ld on\n", a, b, n);
    if (one)
        fclose(one);
    if (other)
        fclose(other);
    return same && n > 1000;
}

/* Traces of all ranks, in a folder that is gone then. */
static int check_traces(void)
{
    char folder[] = "/tmp/simulated-ranks-XXXXXX", name[2][100];
    struct world worlds[2] = {{.seed = 5, .ncalls = 40}, {.seed = 5, .ncalls = 40}};
    int differ = 0;

    if (!mkdtemp(folder))
        abort();
    for (int i = 0; i < 2; i++) {
        snprintf(name[i], sizeof(name[i]), "%s/run%d.csv", folder, i);
        worlds[i].trace = name[i];
        run_program(&worlds[i]);
        differ += worlds[i].wrong;
    }
    differ += memcmp(worlds[0].ends, worlds[1].ends, sizeof(worlds[0].ends)) != 0;
    for (int rank = 0; rank < MOST_RANKS; rank++) {
        for (int i = 0; i < 2; i++)
            snprintf(name[i], sizeof(name[i]), "%s/run%d.rank%d.csv", folder, i, rank);
        differ += !are_equal(name[0], name[1]);
        unlink(name[0]);
        unlink(name[1]);
    }
    rmdir(folder);
    return differ;
}

/* --- waiting --- */

static void do_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet cl_slow = {
    .cpu_funcs = {do_nothing}, .nbuffers = 1, .modes = {STARPU_W}, .name = "long"};

/* Rank 1 waits for a value that rank 0 takes `world->length` to compute. */
static void wait_for_value(struct orr_rank *rank, void *arg)
{
    struct world *world = arg;
    starpu_data_handle_t handle;
    int value = 0;

    use_comms(world, rank);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value, sizeof(value));
    if (rank->number == 0)
        starpu_task_insert(&cl_slow, STARPU_W, handle, 0);
    if (rank->number == 0 && world->sends)
        pass(true, handle, 1, 7, SPMD_WAITED);
    if (rank->number == 1)
        pass(false, handle, 0, 7, SPMD_WAITED);
    starpu_data_unregister(handle);
    world->ends[rank->number] = orr_exec_now(orr_self->exec);
    world->nlooks = atomic_load(&orr_sim_exec_current()->activity);
}

static void run_two(struct world *world, void (*main)(struct orr_rank *rank, void *arg))
{
    struct orr_simulated_ranks ranks = {
        .nranks = 2,
        .network = world->network ? world->network : "100Gb/s",
        .open = open_run,
        .close = close_run,
        .main = main,
        .arg = world,
    };

    if (orr_simulated_ranks_run(&ranks))
        abort();
}

/* Virtual time passes without looks in between. */
static int check_looks(void)
{
    struct world world = {.trace = "", .length = "* = 10s", .sends = true};

    run_two(&world, wait_for_value);
    if (world.ends[1] > 1e7 && world.nlooks < 1000)
        return 0;
    printf("# %lu looks in %g us\n", world.nlooks, world.ends[1]);
    return 1;
}

/* --- values --- */

enum { MANY = 3000 };

/* Data inside of a header and behind it, and one by the interface's functions, go to rank
 * 1, which has 1 everywhere. */
static void send_values(struct orr_rank *rank, void *arg)
{
    struct world *world = arg;
    char few[10], many[MANY * 100];
    starpu_data_handle_t handles[3];
    uint32_t rowptr[2] = {0, 1};
    float value = rank->number ? 1 : 7;
    uint32_t column = 0;

    use_comms(world, rank);
    memset(few, rank->number ? 1 : 7, sizeof(few));
    memset(many, rank->number ? 1 : 7, sizeof(many));
    starpu_vector_data_register(&handles[0], STARPU_MAIN_RAM, (uintptr_t)few, sizeof(few), 1);
    starpu_vector_data_register(&handles[1], STARPU_MAIN_RAM, (uintptr_t)many, sizeof(many),
                                1);
    starpu_csr_data_register(&handles[2], STARPU_MAIN_RAM, 1, 1, (uintptr_t)&value, &column,
                             rowptr, 0, sizeof(value));
    for (int i = 0; i < 3; i++) {
        if (rank->number == 0)
            pass(true, handles[i], 1, i, SPMD_WAITED);
        else
            pass(false, handles[i], 0, i, SPMD_WAITED);
        starpu_data_unregister(handles[i]);
    }
    world->ends[rank->number] = orr_exec_now(orr_self->exec);
    if (rank->number == 0)
        return;
    world->wrong += few[3] != (world->skips ? 1 : 7);
    world->wrong += many[3] != few[3] || many[sizeof(many) - 1] != few[3];
    world->wrong += value != 7.0F; /* its functions read what comes */
}

/* Where kernels are not run values are not moved, in the same time. */
static int check_values(void)
{
    struct world runs = {.trace = ""}, skips = {.trace = "", .skips = true};

    run_two(&runs, send_values);
    run_two(&skips, send_values);
    return runs.wrong + skips.wrong +
           (memcmp(runs.ends, skips.ends, 2 * sizeof(runs.ends[0])) != 0);
}

/* --- links inside of nodes --- */

/* A GPU, and a NIC, behind a switch of 1,000 bytes per µs. */
static const char node[] =
    "<?xml version='1.0'?>\n"
    "<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n"
    "<platform version='4.1'><zone id='node' routing='Full'>\n"
    "<host id='MAIN' speed='1f'>"
    "<prop id='orrery-memory-bandwidth' value='1500MBps'/></host>\n"
    "<host id='CPU0' speed='1f'/><host id='CPU1' speed='1f'/><host id='CPU2' speed='1f'/>\n"
    "<host id='RAM' speed='1f'>"
    "<prop id='orrery-memory-bandwidth' value='2000MBps'/></host>\n"
    "<host id='CUDA0' speed='1f'><prop id='memsize' value='16GiB'/></host>\n"
    "%s<link id='switch' bandwidth='1GBps' latency='0' sharing_policy='SPLITDUPLEX'/>\n"
    "<link id='beside' bandwidth='2GBps' latency='0' sharing_policy='SPLITDUPLEX'/>\n"
    "<route src='RAM' dst='CUDA0' symmetrical='NO'>"
    "<link_ctn id='switch' direction='DOWN'/></route>\n"
    "<route src='CUDA0' dst='RAM' symmetrical='NO'>"
    "<link_ctn id='switch' direction='UP'/></route>\n"
    "%s</zone></platform>\n";
static const char nic_host[] = "<host id='NIC0' speed='1f'/>\n";
static const char nic_routes[] =
    "<route src='RAM' dst='NIC0' symmetrical='NO'>"
    "<link_ctn id='switch' direction='DOWN'/></route>\n"
    "<route src='NIC0' dst='RAM' symmetrical='NO'>"
    "<link_ctn id='switch' direction='UP'/></route>\n";

static const char gpu_routes[] =
    "<route src='CUDA0' dst='NIC0' symmetrical='NO'>"
    "<link_ctn id='beside' direction='UP'/></route>\n"
    "<route src='NIC0' dst='CUDA0' symmetrical='NO'>"
    "<link_ctn id='beside' direction='DOWN'/></route>\n";

enum { LARGE = 10000000 };

static struct starpu_codelet cl_on_gpu = {
    .cuda_funcs = {do_nothing}, .nbuffers = 1, .modes = {STARPU_W}, .name = "on a GPU"};

static void add_one(void *buffers[], void *arg)
{
    char *bytes = (char *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    bytes[0]++;
    bytes[LARGE - 1]++;
}

/* What is run in its place is the function for processors. */
static struct starpu_codelet cl_uses_on_gpu = {.where = STARPU_CUDA,
                                               .cpu_funcs = {add_one},
                                               .cuda_funcs = {add_one},
                                               .nbuffers = 1,
                                               .modes = {STARPU_RW},
                                               .name = "uses on a GPU"};

static struct starpu_codelet cl_uses_anywhere = {.cpu_funcs = {add_one},
                                                 .cuda_funcs = {add_one},
                                                 .nbuffers = 1,
                                                 .modes = {STARPU_RW},
                                                 .name = "uses anywhere"};

/* A message comes while a value leaves the GPU: when both are in main memory. */
static void receive_beside_copy(struct orr_rank *rank, void *arg)
{
    struct world *world = arg;
    struct spmd_message message = {.peer = 1 - rank->number, .tag = 7, .end = SPMD_LATER};
    starpu_data_handle_t comes, leaves;
    char *bytes = calloc(2, LARGE);
    double start;
    void *request;

    use_comms(world, rank);
    starpu_vector_data_register(&comes, STARPU_MAIN_RAM, (uintptr_t)bytes, LARGE, 1);
    starpu_vector_data_register(&leaves, STARPU_MAIN_RAM, (uintptr_t)(bytes + LARGE), LARGE,
                                1);
    message.handle = comes;
    if (rank->number == 1) {
        starpu_task_insert(&cl_on_gpu, STARPU_W, leaves, 0);
        starpu_task_wait_for_all();
    }
    spmd_barrier();
    start = orr_exec_now(orr_self->exec);
    request = rank->number ? spmd_receive(&message) : spmd_send(&message);
    starpu_data_acquire(leaves, STARPU_R);
    starpu_data_release(leaves);
    world->ends[2 * rank->number] = orr_exec_now(orr_self->exec) - start;
    spmd_finish(request, false);
    world->ends[2 * rank->number + 1] = orr_exec_now(orr_self->exec) - start;
    starpu_data_unregister(comes);
    starpu_data_unregister(leaves);
    free(bytes);
}

/* A value of rank 0's GPU goes to rank 1: how long that takes. */
static void send_from_gpu(struct orr_rank *rank, void *arg)
{
    struct world *world = arg;
    struct spmd_message message = {.peer = 1 - rank->number, .tag = 7, .end = SPMD_WAITED};
    char *bytes = calloc(1, LARGE);
    double start;

    use_comms(world, rank);
    starpu_vector_data_register(&message.handle, STARPU_MAIN_RAM, (uintptr_t)bytes, LARGE, 1);
    if (rank->number == 0) {
        starpu_task_insert(&cl_on_gpu, STARPU_W, message.handle, 0);
        starpu_task_wait_for_all();
    }
    spmd_barrier();
    start = orr_exec_now(orr_self->exec);
    (void)(rank->number ? spmd_receive(&message) : spmd_send(&message));
    world->ends[rank->number] = orr_exec_now(orr_self->exec) - start;
    starpu_data_unregister(message.handle);
    free(bytes);
}

/* µs that a task takes on the GPU where its datum is. */
static double task_on_gpu(starpu_data_handle_t handle)
{
    double start;

    for (int i = 0; i < 2; i++) {
        start = orr_exec_now(orr_self->exec);
        starpu_task_insert(&cl_uses_on_gpu, STARPU_RW, handle, 0);
        starpu_task_wait_for_all();
    }
    return orr_exec_now(orr_self->exec) - start;
}

/* A value of rank 0, maybe of its GPU, goes to rank 1, where a task on the GPU uses it: how long
 * that takes, without the task. */
static void receive_on_gpu(struct orr_rank *rank, void *arg)
{
    struct world *world = arg;
    struct spmd_message message = {.peer = 1 - rank->number, .tag = 7, .end = SPMD_LATER};
    char *bytes = calloc(1, LARGE);
    double start, task = 0;
    void *request;

    use_comms(world, rank);
    bytes[0] = bytes[LARGE - 1] = rank->number ? 1 : 7;
    starpu_vector_data_register(&message.handle, STARPU_MAIN_RAM, (uintptr_t)bytes, LARGE, 1);
    if (rank->number == 0 && world->from_gpu)
        starpu_task_insert(&cl_on_gpu, STARPU_W, message.handle, 0);
    starpu_task_wait_for_all();
    if (rank->number)
        task = task_on_gpu(message.handle);
    spmd_barrier();
    if (rank->number)
        orrery_usleep(world->late);
    start = orr_exec_now(orr_self->exec);
    request = rank->number ? spmd_receive(&message) : spmd_send(&message);
    if (rank->number)
        starpu_task_insert(world->anywhere ? &cl_uses_anywhere : &cl_uses_on_gpu, STARPU_RW,
                           message.handle, 0);
    spmd_finish(request, false);
    starpu_task_wait_for_all();
    world->ends[rank->number] = orr_exec_now(orr_self->exec) - start - task;
    starpu_data_unregister(message.handle);
    if (rank->number && !world->skips)
        world->wrong += bytes[0] != 8 || bytes[LARGE - 1] != 8;
    free(bytes);
}

/* A message comes while a kernel of rank 1 streams 1,500 bytes per µs of the 2,000 of main
 * memory: how long that takes. */
static void receive_beside_kernel(struct orr_rank *rank, void *arg)
{
    struct world *world = arg;
    struct spmd_message message = {.peer = 1 - rank->number, .tag = 7, .end = SPMD_LATER};
    starpu_data_handle_t streamed;
    char *bytes = calloc(1, LARGE), *many = calloc(3, LARGE / 2);
    void *request;
    double start;

    use_comms(world, rank);
    starpu_vector_data_register(&message.handle, STARPU_MAIN_RAM, (uintptr_t)bytes, LARGE, 1);
    starpu_vector_data_register(&streamed, STARPU_MAIN_RAM, (uintptr_t)many, LARGE / 2 * 3, 1);
    spmd_barrier();
    start = orr_exec_now(orr_self->exec);
    request = rank->number ? spmd_receive(&message) : spmd_send(&message);
    if (rank->number)
        starpu_task_insert(&cl_slow, STARPU_W, streamed, 0);
    starpu_task_wait_for_all();
    world->ends[rank->number] = orr_exec_now(orr_self->exec) - start;
    spmd_finish(request, false);
    starpu_data_unregister(message.handle);
    starpu_data_unregister(streamed);
    free(bytes);
    free(many);
}

static int write_node(const char *path, bool has_nic, bool gpu_has_route)
{
    FILE *file = fopen(path, "w");
    char routes[1000];
    int rc;

    if (!file)
        return 1;
    snprintf(routes, sizeof(routes), "%s%s", has_nic ? nic_routes : "",
             gpu_has_route ? gpu_routes : "");
    rc = fprintf(file, node, has_nic ? nic_host : "", routes) < 0;
    return fclose(file) || rc;
}

/* From the GPU, or from main memory behind a copy, to main memory: 1,000 bytes per µs. */
static int check_from_gpu(const char *path, bool gpu_has_route, const char *network,
                          double expected)
{
    struct world world = {.trace = "", .skips = true, .machine = path, .network = network};
    int wrong = write_node(path, true, gpu_has_route);

    run_two(&world, send_from_gpu);
    wrong += fabs(world.ends[1] - expected) > expected * 0.01;
    if (wrong)
        printf("# %s: %.9g us instead of %.9g\n", network, world.ends[1], expected);
    return wrong;
}

/* The message, of 1,000 bytes per µs from main memory and into it, and of 2,000 between GPU and
 * NIC; where it comes into main memory a copy of 1,000 behind it. Headers take less than 0.3 µs. */
static int check_on_gpu(const char *path, bool gpu_has_route, struct world what,
                        double expected)
{
    struct world world = what;
    int wrong = write_node(path, true, gpu_has_route);

    world.trace = "";
    world.machine = path;
    run_two(&world, receive_on_gpu);
    wrong += world.wrong + (fabs(world.ends[1] - expected) > 0.3);
    if (wrong)
        printf("# to a GPU, %s: %.9g us instead of %.9g\n", world.network, world.ends[1],
               expected);
    return wrong;
}

/* Whether copy and message take so long, to 1 %: the bytes at a rate, and overheads. */
static int check_beside_copy(const char *path, bool has_nic, double copy, double message)
{
    struct world world = {.trace = "", .skips = true, .machine = path};
    int wrong = write_node(path, has_nic, false);

    run_two(&world, receive_beside_copy);
    wrong += fabs(world.ends[2] - copy) > copy * 0.01;
    wrong += fabs(world.ends[3] - message) > message * 0.01;
    if (wrong)
        printf("# %s NIC: %.9g and %.9g us\n", has_nic ? "with a" : "without a",
               world.ends[2], world.ends[3]);
    return wrong;
}

static int check_beside_kernel(const char *path, bool has_nic, double expected)
{
    struct world world = {
        .trace = "", .skips = true, .machine = path, .length = "* = 10ms"};
    int wrong = write_node(path, has_nic, false);

    run_two(&world, receive_beside_kernel);
    wrong += fabs(world.ends[1] - expected) > expected * 0.01;
    if (wrong)
        printf("# kernel %s NIC: %.9g us\n", has_nic ? "with a" : "without a",
               world.ends[1]);
    return wrong;
}

static int check_to_gpu(const char *path)
{
    struct world plain = {.skips = true, .network = "100Gb/s latency=0us"};
    struct world direct = {.skips = true, .network = "100Gb/s latency=0us gpudirect"};
    struct world from_gpu = direct, runs = direct, eager = direct, anywhere = direct;
    struct world late = direct, tight = direct;
    int wrong;

    from_gpu.from_gpu = true;
    runs.skips = false;
    eager.network = "100Gb/s latency=0us gpudirect eager=20MB";
    anywhere.anywhere = true;
    late.late = 100;
    tight.gpu_mib = "25";
    wrong = check_on_gpu(path, true, plain, 20000);
    /* What nobody has asked for yet comes into main memory. */
    wrong += check_on_gpu(path, true, late, 20000 - 100);
    wrong += check_on_gpu(path, true, direct, 10000);
    wrong += check_on_gpu(path, false, direct, 20000);
    wrong += check_on_gpu(path, true, from_gpu, 5000);
    wrong += check_on_gpu(path, true, runs, 10000);
    /* MPI puts it aside, in main memory, before it is asked for. */
    wrong += check_on_gpu(path, true, eager, 20000);
    /* Nor does it take what other tasks need of a small memory, of which half is to be free. */
    wrong += check_on_gpu(path, true, tight, 20000);
    /* Where the task may run on a processor, too, it comes into main memory. */
    wrong += check_on_gpu(path, true, anywhere, 20000);
    return wrong;
}

static int check_node_links(void)
{
    char folder[] = "/tmp/simulated-node-XXXXXX", path[100];
    int wrong;

    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof(path), "%s/node.xml", folder);
    wrong = check_beside_copy(path, true, 20000, 20000);
    /* The message, of 12,500 bytes per µs, is there before the copy. */
    wrong += check_beside_copy(path, false, 10000, 10000);
    /* 2/3 as fast beside the message, for 10,000 µs. */
    wrong += check_beside_kernel(path, true, 10000 + 10000. / 3);
    wrong += check_beside_kernel(path, false, 10000);
    wrong += check_from_gpu(path, true, "100Gb/s", 20000);
    wrong += check_from_gpu(path, true, "100Gb/s gpudirect", 10000);
    wrong += check_from_gpu(path, false, "100Gb/s gpudirect", 20000);
    wrong += check_to_gpu(path);
    unlink(path);
    rmdir(folder);
    return wrong;
}

static void wait_in_vain(void *arg)
{
    struct world world = {.trace = ""};

    (void)arg;
    run_two(&world, wait_for_value);
}

static int check_deadlock(void)
{
    char text[4096];
    int status = child_run(wait_in_vain, NULL, text, sizeof(text));

    if (WIFEXITED(status) && WEXITSTATUS(status) == 3 &&
        strstr(text, "rank 0: error:   main waits for the other ranks") &&
        strstr(text, "rank 1: error:   main of rank 1 waits for message from rank 0, tag 7"))
        return 0;
    printf("# status %d: %s\n", status, text);
    return 1;
}

/* --- failures --- */

/* Rank 1 has less room than what comes takes. */
static void receive_too_much(struct orr_rank *rank, void *arg)
{
    starpu_data_handle_t handle;
    char bytes[20] = "";

    use_comms(arg, rank);
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes,
                                rank->number ? 10 : 20, 1);
    if (rank->number == 0)
        pass(true, handle, 1, 7, SPMD_WAITED);
    else
        pass(false, handle, 0, 7, SPMD_WAITED);
    starpu_data_unregister(handle);
}

static void fail(void *arg)
{
    struct world world = {.trace = ""};

    (void)arg;
    run_two(&world, receive_too_much);
}

static int check_failure(void)
{
    char text[4096];
    int status = child_run(fail, NULL, text, sizeof(text));

    if (WIFEXITED(status) && WEXITSTATUS(status) == 1 &&
        strstr(text, "rank 1: error: start: tag 7, from rank 0: the message has 20 bytes"))
        return 0;
    printf("# status %d: %s\n", status, text);
    return 1;
}

static void name_no_network(void *arg)
{
    struct world world = {.trace = ""};
    struct orr_simulated_ranks ranks = {
        .nranks = 2, .network = "star", .open = open_run, .close = close_run, .arg = &world};

    (void)arg;
    exit(orr_simulated_ranks_run(&ranks) == -EINVAL ? 0 : 1);
}

static int open_first(int rank, void *arg)
{
    return rank == 0 ? open_run(rank, arg) : -ENODEV;
}

static void open_one(void *arg)
{
    struct world world = {.trace = ""};
    struct orr_simulated_ranks ranks = {
        .nranks = 3, .network = "1Gb/s", .open = open_first, .close = close_run, .arg = &world};

    (void)arg;
    exit(orr_simulated_ranks_run(&ranks) == -ENODEV ? 0 : 1);
}

static int check_refusals(void)
{
    char text[4096];
    int failed = child_run(name_no_network, NULL, text, sizeof(text)) != 0;

    failed += !strstr(text, "2 simulated ranks: ") || !strstr(text, "\"star\"");
    failed += child_run(open_one, NULL, text, sizeof(text)) != 0;
    if (failed)
        printf("# %s\n", text);
    return failed;
}

static int report(int number, int wrong, const char *text)
{
    printf("%sok %d - %s\n", wrong ? "not " : "", number, text);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int n = argc > 2 ? atoi(argv[2]) : 30, ncalls = argc > 3 ? atoi(argv[3]) : 60;
    int wrong = 0, failed;

    setenv("STARPU_SILENT", "1", 1);
    printf("1..8\n");
    for (int i = 0; i < n; i++) {
        struct world world = {
            .seed = first + (unsigned)i, .ncalls = ncalls, .trace = ""};

        run_program(&world);
        if (world.wrong)
            printf("# seed %llu: %d data are wrong\n", (unsigned long long)world.seed,
                   world.wrong);
        wrong += world.wrong;
    }
    failed = report(1, wrong, "random programs of several simulated ranks");
    failed += report(2, check_traces(), "the same traces each time");
    failed += report(3, check_looks(), "who waits for a message does not poll");
    failed += report(4, check_deadlock(), "each rank says what it waits for in a deadlock");
    failed += report(5, check_values(), "values are moved where they are computed");
    failed += report(6, check_failure(), "a rank that fails ends the program");
    failed += report(7, check_refusals(), "ranks that cannot be opened");
    failed += report(8, check_node_links(), "messages and copies share a node's links");
    return failed > 0;
}
