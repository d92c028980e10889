/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/calls.c - what an application calls of MPI itself, and of the C library,
 * with results that depend on nothing but the number of ranks: real ranks and simulated ones
 * say the same.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <starpu_mpi.h>

#include "lines.h"

enum { MANY = 30000 };

static int me, n;
static int is_global = 5;          /* each rank has its own … */
static int *const address = &is_global; /* … with its address */

#define say(...) say_line(me, __VA_ARGS__)

/* --- messages --- */

static void pass_around(void)
{
    int to = (me + 1) % n, from = (me + n - 1) % n, got = -1, flag = 0, count;
    static double many[MANY], all[MANY];
    MPI_Request requests[3];
    MPI_Status status, statuses[3];

    for (int i = 0; i < MANY; i++)
        many[i] = me + i;
    MPI_Isend(&me, 1, MPI_INT, to, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(many, MANY, MPI_DOUBLE, to, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(all, MANY, MPI_DOUBLE, from, 4, MPI_COMM_WORLD, &requests[2]);
    MPI_Recv(&got, 1, MPI_INT, from, 3, MPI_COMM_WORLD, &status);
    say("got %d from %d tag %d", got, status.MPI_SOURCE, status.MPI_TAG);
    MPI_Waitall(3, requests, statuses);
    MPI_Get_count(&statuses[2], MPI_DOUBLE, &count);
    say("%d doubles, the last is %g; null %d", count, all[MANY - 1],
        requests[0] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
    MPI_Sendrecv(&me, 1, MPI_INT, from, 5, &got, 1, MPI_INT, to, 5, MPI_COMM_WORLD, &status);
    say("exchanged for %d", got);
    MPI_Issend(&me, 1, MPI_INT, from, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Probe(to, 6, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
    while (!flag)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    say("probed %d, got %d", count, got);
    MPI_Send(&me, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &status);
    say("from nobody: %d", status.MPI_SOURCE == MPI_PROC_NULL);
}

/* Rank 0 takes them as they come. */
static void take_any(void)
{
    int sum = 0, got, index, inbox[2] = {0, 0};
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;

    if (me > 0) {
        MPI_Send(&me, 1, MPI_INT, 0, 10 + me, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < n; i++) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        sum += got + (status.MPI_TAG == 10 + status.MPI_SOURCE);
    }
    say("took %d", sum);
    MPI_Irecv(&inbox[0], 1, MPI_INT, 0, 50, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&inbox[1], 1, MPI_INT, 0, 51, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&n, 1, MPI_INT, 0, 51, MPI_COMM_WORLD);
    MPI_Waitany(2, requests, &index, &status);
    say("number %d is there: %d", index, inbox[1]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &index);
    say("taken back: %d", index);
}

/* Columns of a matrix, which are not dense. */
static void send_columns(void)
{
    int matrix[6][4] = {{0}}, to = (me + 1) % n, from = (me + n - 1) % n;
    MPI_Datatype column;
    MPI_Request request;

    for (int i = 0; i < 6; i++)
        matrix[i][1] = 100 * me + i;
    MPI_Type_vector(6, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Isend(&matrix[0][1], 1, column, to, 20, MPI_COMM_WORLD, &request);
    MPI_Recv(&matrix[0][2], 1, column, from, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("column %d %d, beside it %d", matrix[0][2], matrix[5][2], matrix[5][3]);
    MPI_Bcast(&matrix[0][2], 1, column, n - 1, MPI_COMM_WORLD);
    say("column of the last %d", matrix[5][2]);
    MPI_Type_free(&column);
}

/* --- together --- */

/* x -> a x + b, and then another one: the order matters. */
static void compose(void *first, void *then, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) {
        int *a = (int *)first + 2 * i, *b = (int *)then + 2 * i;

        b[1] += b[0] * a[1];
        b[0] *= a[0];
    }
}

static void reduce(void)
{
    double mine[2] = {me, 1.0 / (me + 1)}, all[2] = {0, 0};
    struct {
        double value;
        int where;
    } most = {(me * 7) % n, me};
    int own[2] = {me % 2 + 1, me}, line[2] = {0, 0}, digits;
    MPI_Op op;

    MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, n - 1, MPI_COMM_WORLD);
    if (me == n - 1)
        say("sums %g %.3f", all[0], all[1]);
    MPI_Allreduce(MPI_IN_PLACE, mine, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    say("most %g %g", mine[0], mine[1]);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    say("most %g at %d", most.value, most.where);
    MPI_Op_create(compose, 0, &op);
    MPI_Reduce(own, line, 1, MPI_2INT, op, n > 1 ? 1 : 0, MPI_COMM_WORLD);
    if (me == (n > 1 ? 1 : 0))
        say("composed %d %d", line[0], line[1]);
    MPI_Op_free(&op);
    MPI_Scan(&me, &digits, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("up to here %d", digits);
    digits = -1;
    MPI_Exscan(&me, &digits, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me > 0)
        say("before %d", digits);
}

static void gather(void)
{
    int *all = calloc(4 * (size_t)n, sizeof(*all)), *counts = calloc(2 * (size_t)n, sizeof(int));
    int *places = counts + n, mine[3] = {me, me * me, -me}, sum = 0;

    for (int i = 0; i < n; i++) {
        counts[i] = i % 3;
        places[i] = 4 * i;
    }
    MPI_Gather(mine, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (me == 0)
        say("gathered %d %d", all[2 * n - 2], all[2 * n - 1]);
    MPI_Gatherv(mine, counts[me], MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 4 * n; i++)
        sum += all[i];
    if (me == 0)
        say("gathered %d", sum);
    MPI_Scatter(all, 1, MPI_INT, mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    say("scattered %d", mine[0]);
    MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    say("all have %d %d", all[0], all[n - 1]);
    MPI_Allgatherv(mine + 1, counts[me], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    say("all have %d", all[4 * (n - 1)]);
    for (int i = 0; i < n; i++)
        all[i] = 10 * me + i;
    MPI_Alltoall(all, 1, MPI_INT, all + n, 1, MPI_INT, MPI_COMM_WORLD);
    say("from all %d %d", all[n], all[2 * n - 1]);
    free(all);
    free(counts);
}

static void split(void)
{
    MPI_Comm half, twin, first = MPI_COMM_NULL;
    MPI_Group all, some, none;
    int rank, size, result, zero = 0, there, sum;

    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, half);
    say("half %d of %d, sum %d", rank, size, sum);
    MPI_Comm_dup(half, &twin);
    MPI_Comm_compare(half, twin, &result);
    say("twin is congruent: %d", result == MPI_CONGRUENT);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &zero, &some);
    MPI_Group_difference(some, all, &none);
    MPI_Comm_create(MPI_COMM_WORLD, some, &first);
    MPI_Comm_group(half, &some);
    MPI_Group_translate_ranks(all, 1, &zero, some, &there);
    say("alone: %d, empty: %d, rank 0 is at %d", first != MPI_COMM_NULL,
        none == MPI_GROUP_EMPTY, there == MPI_UNDEFINED ? -1 : there);
    if (first != MPI_COMM_NULL)
        MPI_Comm_free(&first);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&half);
    say("freed: %d", half == MPI_COMM_NULL);
    MPI_Comm_split(MPI_COMM_WORLD, me ? MPI_UNDEFINED : 0, 0, &first);
    say("undefined: %d", first == MPI_COMM_NULL);
}

/* --- the C library --- */

static void write_last(void)
{
    say("at exit %d", is_global);
}

static void read_options(int argc, char **argv)
{
    static const struct option longer[] = {{"long", required_argument, NULL, 'l'},
                                           {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, "ab:", longer, NULL)) != -1)
        say("option %c %s", option, optarg ? optarg : "-");
    say("then %s", optind < argc ? argv[optind] : "-");
    argv[0][0] = (char)('0' + me % 10);
}

static void use_library(void)
{
    char text[] = "one two three";

    srand(100);
    for (int i = 0; i < me; i++)
        (void)rand();
    say("random %d, %ld", rand() % 1000, lrand48() % 1000);
    *address += me;
    say("own %d, word %s", is_global, strtok(text, " "));
    MPI_Barrier(MPI_COMM_WORLD);
    say("random %d, own %d, word %s", rand() % 1000, is_global, strtok(NULL, " "));
}

/* --- and StarPU-MPI's --- */

static void add_one(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 1;
}

static struct starpu_codelet cl_add = {
    .cpu_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "add"};

static void run_tasks(void)
{
    starpu_data_handle_t handle;
    int value = 0;

    starpu_variable_data_register(&handle, me == 0 ? STARPU_MAIN_RAM : -1, (uintptr_t)&value,
                                  sizeof(value));
    starpu_mpi_data_register(handle, 77, 0);
    for (int i = 0; i < 2 * n; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_add, STARPU_RW, handle,
                               STARPU_EXECUTE_ON_NODE, i % n, 0);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    starpu_data_unregister(handle);
    if (me == 0)
        say("added %d", value);
}

/* The first waits for nobody, and others are called meanwhile, in one order on all ranks. */
static void go_on_meanwhile(void)
{
    enum { N = 6 };
    int sum = me, got[3] = {0}, all[16] = {0}, of_root = me == n - 1 ? 77 : -1, before = -1;
    int out[16], part = -1, flag = 0, index, blocking = me;
    MPI_Request requests[N];
    MPI_Status status, statuses[2];

    for (int i = 0; i < 16; i++)
        out[i] = 100 * me + i;
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibcast(&of_root, 1, MPI_INT, n - 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Iallgather(&me, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[3]);
    MPI_Iscan(&me, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[4]);
    MPI_Iscatter(out, 1, MPI_INT, &part, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[5]);
    MPI_Allreduce(MPI_IN_PLACE, &blocking, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    say("largest %d", blocking);
    while (!flag)
        MPI_Test(&requests[0], &flag, &status);
    say("barrier %d", requests[0] == MPI_REQUEST_NULL);
    for (int i = 1; i < N; i++) {
        MPI_Waitany(N, requests, &index, MPI_STATUS_IGNORE);
        got[0] += index;
    }
    say("all of them %d: sum %d, of root %d, gathered %d %d, scanned %d, part %d", got[0], sum,
        of_root, all[0], all[n - 1], before, part);
    MPI_Ireduce(&me, &sum, 1, MPI_INT, MPI_PROD, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Ialltoall(out, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    say("reduced %d, exchanged %d", me == 0 ? sum : 0, all[n - 1]);
}

/* Requests that are started again and again. */
static void repeat(void)
{
    int to = (me + 1) % n, from = (me + n - 1) % n, out = 0, in = -1, index;
    MPI_Request requests[2];
    MPI_Status status, statuses[2];

    MPI_Send_init(&out, 1, MPI_INT, to, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, from, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], &status); /* it is not started: at once */
    for (int i = 0; i < 3; i++) {
        out = 10 * me + i;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        say("time %d: %d, still there %d", i, in, requests[1] != MPI_REQUEST_NULL);
    }
    MPI_Waitany(2, requests, &index, &status);
    say("none is active %d", index == MPI_UNDEFINED);
    MPI_Start(&requests[1]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[1], &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    say("once more %d from %d", in, status.MPI_SOURCE);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
    say("freed %d", requests[0] == MPI_REQUEST_NULL);
}

/* Simulated, all ranks have one thread: the clock goes on while one looks at it, or sleeps. */
static void look_at_clock(void)
{
    double begin = MPI_Wtime(), slept;

    while (MPI_Wtime() < begin + 1e-3)
        ;
    begin = MPI_Wtime();
    usleep(2000);
    slept = MPI_Wtime() - begin;
    say("slept long enough %d", slept > 1.999999e-3); /* the clock's seconds are rounded */
}

int main(int argc, char **argv)
{
    int flag, provided;

    MPI_Initialized(&flag);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    say("of %d, before %d", n, flag);
    atexit(write_last);
    read_options(argc, argv);
    pass_around();
    MPI_Barrier(MPI_COMM_WORLD);
    take_any();
    MPI_Barrier(MPI_COMM_WORLD);
    send_columns();
    reduce();
    gather();
    split();
    look_at_clock();
    go_on_meanwhile();
    repeat();
    use_library();
    if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) == 0) {
        run_tasks();
        starpu_mpi_shutdown();
    }
    MPI_Finalize();
    exit(me == n - 1 && getenv("RANK_STATUS") ? 3 : 0);
}
