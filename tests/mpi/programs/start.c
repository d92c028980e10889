/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/start.c - ways to start and stop. A token goes around in each run;
 * rank 0 prints TAP, the others say what fails by their status.
 * usage: start ours | older | rounds | wrong | bindings; and what ends the program, which
 * refused.sh expects: toomany | policy0 | twice
 */
#include <unistd.h>

#include "ranks.h"

int ranks_me, ranks_n, ranks_failures;

static void token(void)
{
    int value;
    starpu_data_handle_t handle;

    ranks_me = starpu_mpi_world_rank();
    ranks_n = starpu_mpi_world_size();
    value = ranks_me == 0 ? 7 : 0;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    if (ranks_me > 0)
        starpu_mpi_recv(handle, ranks_me - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (ranks_me < ranks_n - 1)
        starpu_mpi_send(handle, ranks_me + 1, 1, MPI_COMM_WORLD);
    starpu_data_unregister(handle);
    EXPECT_EQ(value, 7);
    starpu_mpi_barrier(MPI_COMM_WORLD);
}

static int report(const char *what)
{
    if (ranks_me == 0)
        printf("1..1\n%s 1 - %s\n", ranks_failures ? "not ok" : "ok", what);
    return ranks_failures > 0;
}

/* MPI is ours from its begin to its end. */
static int ours(int argc, char **argv)
{
    int over = 0;

    starpu_mpi_set_communication_tag(100);
    EXPECT_EQ(starpu_mpi_get_communication_tag(), 100);
    EXPECT_EQ(starpu_init(NULL), 0);
    EXPECT_EQ(starpu_mpi_init(&argc, &argv, 1), 0);
    token();
    EXPECT_EQ(starpu_mpi_shutdown_comm(MPI_COMM_WORLD), 0);
    EXPECT_EQ(starpu_is_initialized(), 1);
    starpu_shutdown();
    MPI_Finalized(&over);
    EXPECT_EQ(over, 1);
    return report("starpu_mpi_init initialises MPI");
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int older(void)
{
    int rank = -1, size = -1;

    EXPECT_EQ(starpu_init(NULL), 0);
    EXPECT_EQ(starpu_mpi_initialize_extended(&rank, &size), 0);
    token();
    EXPECT_EQ(rank, ranks_me);
    EXPECT_EQ(size, ranks_n);
    starpu_mpi_shutdown();
    starpu_shutdown();
    return report("starpu_mpi_initialize_extended");
}

/* Several runs in one program that has initialised MPI. */
static int rounds(int argc, char **argv)
{
    int level, over = 1;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    EXPECT_EQ(starpu_init(NULL), 0);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(i == 0   ? starpu_mpi_initialize()
                  : i == 1 ? starpu_mpi_init_comm(NULL, NULL, 0, MPI_COMM_WORLD)
                           : starpu_mpi_init(NULL, NULL, 0),
                  0);
        token();
        EXPECT_EQ(starpu_mpi_shutdown(), 0);
    }
    starpu_shutdown();
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL), 0);
        token();
        EXPECT_EQ(starpu_mpi_shutdown(), 0);
        EXPECT_EQ(starpu_is_initialized(), 0);
    }
    MPI_Finalized(&over);
    EXPECT_EQ(over, 0);
    MPI_Finalize();
    return report("runs one after the other");
}

#pragma GCC diagnostic pop

/* What cannot be started leaves nothing behind. */
static int wrong(int argc, char **argv)
{
    int level;

    EXPECT(starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_NULL, NULL) < 0);
    EXPECT(starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_SELF, NULL) < 0);
    EXPECT(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) < 0);
    EXPECT_EQ(starpu_is_initialized(), 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    EXPECT(starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_WORLD, NULL) < 0);
    EXPECT_EQ(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL), 0);
    EXPECT(starpu_mpi_init(NULL, NULL, 0) < 0); /* twice */
    token();
    EXPECT_EQ(starpu_mpi_shutdown(), 0);
    EXPECT_EQ(starpu_is_initialized(), 0);
    MPI_Finalize();
    return report("starts that are refused");
}

/* Where workers are bound is printed at the beginning: to stderr here, as it is no TAP. */
static int bindings(int argc, char **argv)
{
    int out = dup(STDOUT_FILENO);

    setenv("STARPU_DISPLAY_BINDINGS", "1", 1);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    EXPECT_EQ(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL), 0);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    token();
    EXPECT_EQ(starpu_mpi_shutdown(), 0);
    return report("starpu_mpi_init_conf with STARPU_DISPLAY_BINDINGS");
}

/* --- mistakes that end the program; it is one too many if these return --- */

static int no_choice(int me, int nb_nodes, struct starpu_data_descr *descr, int nb_data)
{
    (void)me;
    (void)nb_nodes;
    (void)descr;
    (void)nb_data;
    return 0;
}

static int mistake(int argc, char **argv, const char *what)
{
    int values[2] = {0};
    starpu_data_handle_t handles[2];

    EXPECT_EQ(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL), 0);
    if (strcmp(what, "policy0") == 0)
        starpu_mpi_node_selection_unregister_policy(STARPU_MPI_NODE_SELECTION_MOST_R_DATA);
    for (int i = 0; i < 24 && strcmp(what, "toomany") == 0; i++)
        starpu_mpi_node_selection_register_policy(no_choice);
    for (int i = 0; i < 2 && strcmp(what, "twice") == 0; i++) {
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)&values[i],
                                      sizeof(values[i]));
        starpu_mpi_data_register(handles[i], 77, 0);
    }
    starpu_mpi_shutdown();
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";

    if (strcmp(what, "ours") == 0)
        return ours(argc, argv);
    if (strcmp(what, "older") == 0)
        return older();
    if (strcmp(what, "rounds") == 0)
        return rounds(argc, argv);
    if (strcmp(what, "wrong") == 0)
        return wrong(argc, argv);
    if (strcmp(what, "bindings") == 0)
        return bindings(argc, argv);
    if (strcmp(what, "toomany") == 0 || strcmp(what, "policy0") == 0 ||
        strcmp(what, "twice") == 0)
        return mistake(argc, argv, what);
    fprintf(stderr, "usage: start ours | older | rounds | wrong | bindings | toomany | "
                    "policy0 | twice\n");
    return 2;
}
