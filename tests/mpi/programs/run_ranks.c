/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/run_ranks.c - a main in front of an example, whose own is app_main: runs
 * it as the ranks of a cluster by orrery_mpi_run_ranks, without images of it, and twice if
 * the first argument says so. usage: PROGRAM CLUSTER [-twice] [ARG...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <orrery_mpi.h>

int app_main(int argc, char **argv);

struct arguments {
    int argc;
    char **argv;
    int status, nranks;
};

static void run_rank(int rank, void *arg)
{
    struct arguments *arguments = arg;
    int status = app_main(arguments->argc, arguments->argv);

    if (status)
        fprintf(stderr, "rank %d: %d\n", rank, status);
    arguments->status |= status;
    arguments->nranks++;
}

/* What is refused leaves everything as it was. */
static int is_refused(void)
{
    struct arguments none = {0, NULL, 0, 0};

    return orrery_mpi_run_ranks("epyc-64", run_rank, &none) < 0 &&
           orrery_mpi_run_ranks("2*epyc-64 + tin cans", run_rank, &none) < 0 &&
           none.nranks == 0;
}

int main(int argc, char **argv)
{
    int twice = argc > 2 && strcmp(argv[2], "-twice") == 0;
    struct arguments arguments = {argc - 1 - twice, argv + 1 + twice, 0, 0};

    if (argc < 2 || !is_refused())
        return EXIT_FAILURE;
    for (int i = 0; i <= twice; i++)
        if (orrery_mpi_run_ranks(argv[1], run_rank, &arguments))
            return EXIT_FAILURE;
    return arguments.nranks > 0 && arguments.status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
