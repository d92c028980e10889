/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/answers/comm.c - begin and end, and communicators. An MPI_Comm that is made here is a
 * number above those that MPI gives, whether it is a pointer there or an int.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/remote.h"
#include "mpi/answers/answers.h"
#include "mpi/answers/together.h"

static const intptr_t first_handle = 0x5f000000;

/* --- begin and end --- */

int orr_answer_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    orr_answers()->begun = true;
    orr_answers()->threads = MPI_THREAD_SINGLE;
    return MPI_SUCCESS;
}

int orr_answer_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc;
    (void)argv;
    orr_answers()->begun = true;
    orr_answers()->threads = *provided = required;
    return MPI_SUCCESS;
}

int orr_answer_Initialized(int *flag)
{
    *flag = orr_answers()->begun;
    return MPI_SUCCESS;
}

int orr_answer_Finalize(void)
{
    (void)orr_answer_Barrier(MPI_COMM_WORLD);
    orr_answers()->ended = true;
    return MPI_SUCCESS;
}

int orr_answer_Finalized(int *flag)
{
    *flag = orr_answers()->ended;
    return MPI_SUCCESS;
}

int orr_answer_Query_thread(int *provided)
{
    *provided = orr_answers()->threads;
    return MPI_SUCCESS;
}

/* Of the rank: whatever context calls, it is the one that may. */
int orr_answer_Is_thread_main(int *flag)
{
    *flag = 1;
    return MPI_SUCCESS;
}

int orr_answer_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    orr_log_error("rank %d has called MPI_Abort, with %d", orr_simulated_place()->rank, code);
    fflush(NULL);
    _Exit(code ? code & 0xff : EXIT_FAILURE);
}

double orr_answer_Wtime(void)
{
    orr_letters_read_clock();
    return orr_exec_now(orr_self->exec) * 1e-6;
}

int orr_answer_Get_processor_name(char *name, int *length)
{
    const struct orr_simulated_place *place = orr_simulated_place();

    *length = snprintf(name, MPI_MAX_PROCESSOR_NAME, "node%u",
                       orr_simulated_node_of(place->net, place->rank));
    return MPI_SUCCESS;
}

/* --- communicators --- */

static size_t place_of(MPI_Comm native)
{
    MPI_Comm comm = orr_answers_comm_in(native);

    if (comm == MPI_COMM_WORLD)
        return 0;
    if (comm == MPI_COMM_SELF)
        return 1;
    return (size_t)((intptr_t)comm - first_handle);
}

static MPI_Comm handle_of(size_t place)
{
    return (MPI_Comm)(first_handle + (intptr_t)place);
}

/* A number of Fortran's is the handle's own, which as an int is as long. */
MPI_Comm orr_answers_comm_of_number(int number)
{
    if (!orr_simulated_place() || number < first_handle ||
        number >= first_handle + (intptr_t)orr_answers()->ncomms)
        return MPI_COMM_NULL;
    return handle_of((size_t)(number - first_handle));
}

static struct orr_answers_comm *find(MPI_Comm comm)
{
    struct orr_answers *answers = orr_answers();
    size_t place = place_of(comm);

    return place < answers->ncomms && answers->comms[place].simulated
               ? &answers->comms[place]
               : NULL;
}

struct orr_answers_comm *orr_answers_comm(MPI_Comm comm, const char *call)
{
    struct orr_answers_comm *found = orr_answers_task_comm(orr_answers());

    if (!found)
        found = find(comm);
    if (!found)
        orr_answers_fail(call, "the communicator is none, or was freed");
    return found;
}

struct orr_simulated_comm *orr_answers_simulated(MPI_Comm comm)
{
    struct orr_answers_comm *found = find(comm);

    return found ? found->simulated : NULL;
}

int orr_answer_Comm_rank(MPI_Comm comm, int *rank)
{
    *rank = orr_answers_comm(comm, "MPI_Comm_rank")->rank;
    return MPI_SUCCESS;
}

int orr_answer_Comm_size(MPI_Comm comm, int *size)
{
    *size = orr_answers_comm(comm, "MPI_Comm_size")->size;
    return MPI_SUCCESS;
}

static MPI_Comm add(struct orr_simulated_comm *simulated, int rank)
{
    struct orr_answers *answers = orr_answers();
    struct orr_answers_comm *grown =
        realloc(answers->comms, (answers->ncomms + 1) * sizeof(*grown));

    if (!grown)
        orr_answers_fail("MPI_Comm_split", "out of memory");
    answers->comms = grown;
    grown[answers->ncomms] = (struct orr_answers_comm){
        .simulated = simulated, .rank = rank, .size = orr_simulated_comm_size(simulated)};
    return handle_of(answers->ncomms++);
}

/* What a member says of itself, … */
struct choice {
    int colour, key, rank, world;
};

static int compare_choices(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    if (x->colour != y->colour)
        return x->colour < y->colour ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

/* … of which one member makes the communicators of all, by their choices' places. */
static void make_comms(struct choice *all, int n, struct orr_simulated_comm **made)
{
    struct orr_simulated *net = orr_simulated_place()->net;
    int *ranks = calloc((size_t)n, sizeof(*ranks));

    for (int first = 0, next; ranks && first < n; first = next) {
        struct orr_simulated_comm *comm = NULL;

        for (next = first; next < n && all[next].colour == all[first].colour; next++)
            ranks[next - first] = all[next].world;
        if (all[first].colour != MPI_UNDEFINED)
            comm = orr_simulated_comm_new(net, ranks, next - first);
        for (int i = first; i < next; i++)
            made[all[i].rank] = comm;
    }
    free(ranks);
}

int orr_answer_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *ret)
{
    static const char call[] = "MPI_Comm_split";
    struct orr_answers_comm *from = orr_answers_comm(comm, call);
    int n = from->size, rank = from->rank, place = 0;
    struct choice mine = {colour, key, rank,
                          orr_simulated_world_rank(from->simulated, rank)};
    struct choice *all = calloc((size_t)n, sizeof(*all));
    struct orr_simulated_comm **made = calloc((size_t)n, sizeof(struct orr_simulated_comm *));

    if (!all || !made)
        orr_answers_fail(call, "out of memory");
    together_gather(from, 0, &mine, sizeof(mine), all);
    if (rank == 0) {
        qsort(all, (size_t)n, sizeof(*all), compare_choices);
        make_comms(all, n, made);
    }
    /* All are in one process: addresses will do. */
    together_broadcast(from, 0, all, (size_t)n * sizeof(*all));
    together_broadcast(from, 0, made, (size_t)n * sizeof(struct orr_simulated_comm *));
    for (int i = 0; i < n && all[i].rank != rank; i++)
        place = all[i].colour == colour ? place + 1 : 0;
    *ret = made[rank] ? add(made[rank], place)
                      : orr_answers_comm_out(MPI_COMM_NULL);
    free(all);
    free(made);
    return MPI_SUCCESS;
}

int orr_answer_Comm_dup(MPI_Comm comm, MPI_Comm *ret)
{
    return orr_answer_Comm_split(comm, 0, orr_answers_comm(comm, "MPI_Comm_dup")->rank, ret);
}

int orr_answer_Comm_free(MPI_Comm *comm)
{
    orr_answers_comm(*comm, "MPI_Comm_free")->simulated = NULL;
    *comm = orr_answers_comm_out(MPI_COMM_NULL);
    return MPI_SUCCESS;
}

/* How many of the ranks of one are in the other one, at any place or at the same one. */
static int count_common(const struct orr_answers_comm *a, const struct orr_answers_comm *b,
                        bool at_same)
{
    int n = 0;

    for (int i = 0; i < a->size; i++)
        for (int j = 0; j < b->size; j++)
            if ((!at_same || i == j) && orr_simulated_world_rank(a->simulated, i) ==
                                            orr_simulated_world_rank(b->simulated, j))
                n++;
    return n;
}

int orr_answer_Comm_compare(MPI_Comm one, MPI_Comm other, int *result)
{
    struct orr_answers_comm *a = orr_answers_comm(one, "MPI_Comm_compare");
    struct orr_answers_comm *b = orr_answers_comm(other, "MPI_Comm_compare");

    if (a == b)
        *result = MPI_IDENT;
    else if (a->size != b->size || count_common(a, b, false) != a->size)
        *result = MPI_UNEQUAL;
    else
        *result = count_common(a, b, true) == a->size ? MPI_CONGRUENT : MPI_SIMILAR;
    return MPI_SUCCESS;
}

int orr_answer_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag)
{
    (void)orr_answers_comm(comm, "MPI_Comm_get_attr");
    return PMPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag);
}

/* Errors end the program, whatever the handler. */
int orr_answer_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)handler;
    (void)orr_answers_comm(comm, "MPI_Comm_set_errhandler");
    return MPI_SUCCESS;
}

int orr_answer_Comm_set_name(MPI_Comm comm, const char *name)
{
    (void)name;
    (void)orr_answers_comm(comm, "MPI_Comm_set_name");
    return MPI_SUCCESS;
}
