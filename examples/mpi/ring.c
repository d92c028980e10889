/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring.c - a token goes around the ranks. Each receives it from the rank before, adds one
 * in a task, and sends it to the rank behind. starpu_mpi_recv and _send wait for their
 * message, but nobody waits for the task: a send has its place among the tasks of its
 * datum, so that it takes what they have made of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu_mpi.h>

#include "../options.h"

static const char usage[] = "usage: mpirun -n RANKS ring [-rounds R] [-check]\n"
                            "A token goes around R times (10); each rank adds 1.\n"
                            "  -check   it has the number of rounds times ranks then\n";

static void increment(void *buffers[], void *arg)
{
    (void)arg;
    ++*(unsigned *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

/* By which a simulated run knows how long it takes. */
static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "ring_increment"};

static struct starpu_codelet codelet = {
    .cpu_funcs = {increment},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .model = &model,
    .name = "increment",
};

static int go_around(starpu_data_handle_t token, unsigned rounds)
{
    int me = starpu_mpi_world_rank(), n = starpu_mpi_world_size(), result = 0;

    for (unsigned round = 0; round < rounds; round++) {
        /* The tag of a message says which hop it is: rank 0 starts the first one. */
        if (n > 1 && (me > 0 || round > 0))
            starpu_mpi_recv(token, (me + n - 1) % n, (starpu_mpi_tag_t)round * n + me,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        result |= starpu_task_insert(&codelet, STARPU_RW, token, 0);
        if (n > 1 && (me < n - 1 || round < rounds - 1))
            starpu_mpi_send(token, (me + 1) % n, (starpu_mpi_tag_t)round * n + me + 1,
                            MPI_COMM_WORLD);
    }
    return result;
}

int main(int argc, char **argv)
{
    unsigned rounds = 10, wants_check = 0, value = 0;
    const struct option options[] = {
        {"-rounds", &rounds, 0}, {"-check", &wants_check, 1}, {NULL, NULL, 0}};
    starpu_data_handle_t token;
    int result;

    options_read(argc, argv, options, usage);
    if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0) {
        fprintf(stderr, "ring: the runtime does not start\n");
        return EXIT_FAILURE;
    }
    starpu_variable_data_register(&token, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    result = go_around(token, rounds);
    starpu_data_unregister(token);
    if (starpu_mpi_world_rank() == starpu_mpi_world_size() - 1) {
        unsigned should = rounds * (unsigned)starpu_mpi_world_size();

        printf("# rounds\ttoken\n%u\t%u\n", rounds, value);
        if (wants_check && value != should) {
            printf("# WRONG: it should be %u\n", should);
            result = -1;
        }
    }
    starpu_mpi_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
