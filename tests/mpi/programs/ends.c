/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/ends.c - programs that go wrong, one by name. ends.sh looks at what
 * they say and how they end. usage: ends NAME
 */
#include <signal.h>
#include <unistd.h>

#include "ranks.h"

enum { LONG = 100000 };

static int value;
static char bytes[LONG];

static void wait_for_the_others(void)
{
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    starpu_mpi_barrier(MPI_COMM_WORLD);
}

static starpu_data_handle_t long_data(size_t size)
{
    starpu_data_handle_t handle;

    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes, (uint32_t)size,
                                1);
    return handle;
}

/* --- ranks that end --- */

static void killed(void)
{
    if (ranks_me == 1)
        kill(getpid(), SIGKILL);
    wait_for_the_others();
}

static void crashes(void)
{
    if (ranks_me == 1)
        abort();
    wait_for_the_others();
}

/* Without a word, as if all were well. */
static void vanishes(void)
{
    if (ranks_me == 1)
        _exit(0);
    wait_for_the_others();
}

/* The others are in the shutdown, and wait for it. */
static void late(void)
{
    wait_for_the_others();
    if (ranks_me != 1)
        return;
    sleep(1);
    kill(getpid(), SIGKILL);
}

static void returns(void)
{
    if (ranks_me != 1)
        wait_for_the_others();
}

static void exits(void)
{
    if (ranks_me == 1)
        exit(0);
    wait_for_the_others();
}

/* --- messages --- */

static void read_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet reads = {
    .cpu_funcs = {read_nothing}, .nbuffers = 1, .modes = {STARPU_R}, .name = "reads"};

static void longer(void)
{
    starpu_data_handle_t handle = long_data(ranks_me == 0 ? LONG : 10);

    if (ranks_me == 0)
        starpu_mpi_send(handle, 1, 7, MPI_COMM_WORLD);
    else if (ranks_me == 1)
        starpu_mpi_recv(handle, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wait_for_the_others();
}

/* Owner and reader have registered different sizes. */
static void read_of(size_t mine)
{
    starpu_data_handle_t handle = long_data(mine);

    starpu_mpi_data_register(handle, 7, 0);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &reads, STARPU_R, handle, STARPU_EXECUTE_ON_NODE,
                           1, 0);
    wait_for_the_others();
}

static void sizes(void)
{
    read_of(ranks_me == 0 ? LONG : 10);
}

/* The value would be the first part of what is read. */
static void shorter(void)
{
    read_of(ranks_me == 0 ? 10 : LONG);
}

static void unclaimed(void)
{
    starpu_data_handle_t handle = ranks_int(&value);

    if (ranks_me == 0)
        starpu_mpi_send(handle, 1, 7, MPI_COMM_WORLD);
    starpu_data_unregister(handle);
}

/* Two sends, and one receive. */
static void twice(void)
{
    starpu_data_handle_t handle = ranks_int(&value);

    if (ranks_me == 0) {
        starpu_mpi_send(handle, 1, 7, MPI_COMM_WORLD);
        starpu_mpi_send(handle, 1, 7, MPI_COMM_WORLD);
    } else if (ranks_me == 1) {
        starpu_mpi_recv(handle, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    starpu_data_unregister(handle);
}

static void one_tag(void)
{
    static int other;

    (void)ranks_shared_int(&value, 7, 0);
    if (ranks_me == 1)
        (void)ranks_shared_int(&other, 7, 0);
    wait_for_the_others();
}

static void outside(void)
{
    starpu_data_handle_t handle = ranks_int(&value);

    if (ranks_me == 1)
        starpu_mpi_send(handle, ranks_n, 7, MPI_COMM_WORLD);
    wait_for_the_others();
}

/* --- that wait --- */

static void never(void)
{
    starpu_data_handle_t handle = ranks_int(&value);

    if (ranks_me == 1)
        starpu_mpi_recv(handle, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wait_for_the_others();
}

static void cycle(void)
{
    starpu_data_handle_t handle = ranks_int(&value);

    starpu_mpi_recv(handle, (ranks_me + 1) % ranks_n, 5 + ranks_me, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE);
    starpu_mpi_send(handle, (ranks_me + ranks_n - 1) % ranks_n,
                    5 + (ranks_me + ranks_n - 1) % ranks_n, MPI_COMM_WORLD);
    wait_for_the_others();
}

static void self(void)
{
    starpu_data_handle_t handle = ranks_int(&value);

    if (ranks_me == 1)
        starpu_mpi_issend_detached(handle, 1, 7, MPI_COMM_WORLD, NULL, NULL);
    wait_for_the_others();
}

/* Rank 0 comes late. */
static void slow(void)
{
    starpu_data_handle_t handle = ranks_int(&value);

    if (ranks_me == 0) {
        sleep(3);
        starpu_mpi_send(handle, 1, 7, MPI_COMM_WORLD);
    } else if (ranks_me == 1) {
        starpu_mpi_recv(handle, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    starpu_data_unregister(handle);
}

/* --- insertions --- */

static void differ(void)
{
    starpu_data_handle_t a = ranks_shared_int(&value, 1, 0);
    starpu_data_handle_t b = ranks_shared_int(&value, 2, 1);

    for (int i = 0; i < 10; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, a, 0);
    if (ranks_me == 1)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, b, 0);
    else
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, a, 0);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, a, 0);
    wait_for_the_others();
}

static void fewer(void)
{
    starpu_data_handle_t a = ranks_shared_int(&value, 1, 0);

    for (int i = 0; i < 10 - ranks_me; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, a, 0);
    wait_for_the_others();
}

/* All is well. */
static void equal(void)
{
    starpu_data_handle_t a = ranks_shared_int(&value, 1, 0);
    starpu_data_handle_t b = ranks_shared_int(&value, 2, 1);

    for (int i = 0; i < 1000; i++) {
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, a, STARPU_R, b, 0);
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, b, STARPU_R, a,
                               STARPU_EXECUTE_ON_NODE, 0, STARPU_PRIORITY, ranks_me, 0);
        if (i % 300 == 0)
            wait_for_the_others();
    }
    wait_for_the_others();
    starpu_data_unregister(a);
    starpu_data_unregister(b);
}

static const struct ranks_test programs[] = {
    {"killed", killed},   {"crashes", crashes},     {"vanishes", vanishes},
    {"late", late},       {"returns", returns},     {"exits", exits},
    {"longer", longer},   {"sizes", sizes},         {"shorter", shorter},
    {"twice", twice},     {"unclaimed", unclaimed}, {"one-tag", one_tag},
    {"outside", outside}, {"never", never},         {"cycle", cycle},
    {"self", self},       {"differ", differ},       {"fewer", fewer},
    {"equal", equal},     {"slow", slow},
};

int main(int argc, char **argv)
{
    unsigned n = sizeof(programs) / sizeof(programs[0]), i = 0;

    while (argc == 2 && i < n && strcmp(programs[i].name, argv[1]) != 0)
        i++;
    if (argc != 2 || i == n)
        return 2;
    if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
        return 3;
    ranks_me = starpu_mpi_world_rank();
    ranks_n = starpu_mpi_world_size();
    starpu_mpi_barrier(MPI_COMM_WORLD);
    programs[i].run();
    if (programs[i].run == returns && ranks_me == 1)
        return 0;
    starpu_mpi_shutdown();
    return 0;
}
