/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/answers/later.c - collective calls that do not wait: a context of its own makes the
 * call that waits, and then ends the request's letter. Its letters have numbers that the
 * communicator has given when it was called, so that ranks may make other collective calls
 * meanwhile, in one order. One thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "mpi/answers/answers.h"

#include "core/base/wait.h"
#include "core/remote.h"

/* Numbers that one call takes at most. */
enum { NUMBERS = 2 };

/* What a call has of one side. */
struct side {
    void *memory;
    int count;
    const int *counts, *places;
    MPI_Datatype type;
};

struct orr_answers_task {
    struct orr_answers_task *next;
    struct orr_context *context;
    struct orr_letter *letter;       /* the request's */
    struct orr_answers_comm members; /* as the communicator was, with numbers of its own */
    int (*run)(const struct orr_answers_task *task);
    struct side from, to;
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

struct orr_answers_comm *orr_answers_task_comm(const struct orr_answers *answers)
{
    for (struct orr_answers_task *task = answers->tasks; task; task = task->next)
        if (task->context == orr_self)
            return &task->members;
    return NULL;
}

static void task_body(void *arg)
{
    struct orr_answers_task *task = arg;

    (void)task->run(task);
    orr_letter_end(task->letter);
    orr_context_end();
}

void orr_answers_task_free(struct orr_answers_task *task)
{
    static const struct orr_awaited awaited = {.noun = "a collective call of MPI"};
    struct orr_answers_task **at = &orr_answers()->tasks;

    orr_context_join(&awaited, task->context);
    while (*at != task)
        at = &(*at)->next;
    *at = task->next;
    free(task);
}

/* Begins the call that `like` describes. */
static int begin(const struct orr_answers_task *like, const char *call, MPI_Request *handle)
{
    struct orr_answers_comm *comm = orr_answers_comm(like->comm, call);
    struct orr_answers_request *request = orr_answers_request_new(handle, call);
    struct orr_answers_task *task = malloc(sizeof(*task));
    struct orr_context init = {.name = call, .program = orr_self->program};
    struct orr_exec *exec = orr_self->exec;

    if (!task)
        orr_answers_fail(call, "out of memory");
    *task = *like;
    task->members = *comm;
    comm->ncollectives += NUMBERS;
    *request = (struct orr_answers_request){
        .used = true, .task = task, .letter = {.peer = ORR_ANY}};
    task->letter = &request->letter;
    task->next = orr_answers()->tasks;
    orr_answers()->tasks = task;
    if (exec->ops->spawn(exec, &init, -1, task_body, task, &task->context))
        orr_answers_fail(call, "out of memory");
    return MPI_SUCCESS;
}

/* --- the calls --- */

static int run_barrier(const struct orr_answers_task *t)
{
    return orr_answer_Barrier(t->comm);
}

int orr_answer_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return begin(&(struct orr_answers_task){.run = run_barrier, .comm = comm}, "MPI_Ibarrier",
                 request);
}

static int run_bcast(const struct orr_answers_task *t)
{
    return orr_answer_Bcast(t->to.memory, t->to.count, t->to.type, t->root, t->comm);
}

int orr_answer_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                      MPI_Request *request)
{
    return begin(&(struct orr_answers_task){.run = run_bcast,
                                            .to = {buffer, count, NULL, NULL, type},
                                            .root = root,
                                            .comm = comm},
                 "MPI_Ibcast", request);
}

/* What reduces has one count and type for both sides. */
static int begin_reduction(int (*run)(const struct orr_answers_task *task), const void *from,
                           const struct side *to, MPI_Op op, int root, MPI_Comm comm,
                           const char *call, MPI_Request *request)
{
    return begin(&(struct orr_answers_task){.run = run,
                                            .from = {.memory = (void *)(uintptr_t)from},
                                            .to = *to,
                                            .op = op,
                                            .root = root,
                                            .comm = comm},
                 call, request);
}

static int run_reduce(const struct orr_answers_task *t)
{
    return orr_answer_Reduce(t->from.memory, t->to.memory, t->to.count, t->to.type, t->op,
                             t->root, t->comm);
}

int orr_answer_Ireduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                       int root, MPI_Comm comm, MPI_Request *request)
{
    return begin_reduction(run_reduce, from, &(struct side){to, count, NULL, NULL, type}, op,
                           root, comm, "MPI_Ireduce", request);
}

static int run_allreduce(const struct orr_answers_task *t)
{
    return orr_answer_Allreduce(t->from.memory, t->to.memory, t->to.count, t->to.type, t->op,
                                t->comm);
}

int orr_answer_Iallreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm, MPI_Request *request)
{
    return begin_reduction(run_allreduce, from, &(struct side){to, count, NULL, NULL, type}, op,
                           0, comm, "MPI_Iallreduce", request);
}

static int run_scan(const struct orr_answers_task *t)
{
    return orr_answer_Scan(t->from.memory, t->to.memory, t->to.count, t->to.type, t->op,
                           t->comm);
}

int orr_answer_Iscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm, MPI_Request *request)
{
    return begin_reduction(run_scan, from, &(struct side){to, count, NULL, NULL, type}, op, 0,
                           comm, "MPI_Iscan", request);
}

static int run_exscan(const struct orr_answers_task *t)
{
    return orr_answer_Exscan(t->from.memory, t->to.memory, t->to.count, t->to.type, t->op,
                             t->comm);
}

int orr_answer_Iexscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Request *request)
{
    return begin_reduction(run_exscan, from, &(struct side){to, count, NULL, NULL, type}, op, 0,
                           comm, "MPI_Iexscan", request);
}

/* Of what is moved each side has its own. */
static int begin_move(int (*run)(const struct orr_answers_task *task), const struct side *from,
                      const struct side *to, int root, MPI_Comm comm, const char *call,
                      MPI_Request *request)
{
    return begin(&(struct orr_answers_task){
                     .run = run, .from = *from, .to = *to, .root = root, .comm = comm},
                 call, request);
}

#define FROM(n, counts, places)                                                \
    &(struct side){(void *)(uintptr_t)from, n, counts, places, from_type}
#define TO(n, counts, places)                                                  \
    &(struct side){to, n, counts, places, to_type}

static int run_gather(const struct orr_answers_task *t)
{
    return orr_answer_Gather(t->from.memory, t->from.count, t->from.type, t->to.memory,
                             t->to.count, t->to.type, t->root, t->comm);
}

int orr_answer_Igather(const void *from, int from_count, MPI_Datatype from_type, void *to,
                       int to_count, MPI_Datatype to_type, int root, MPI_Comm comm,
                       MPI_Request *request)
{
    return begin_move(run_gather, FROM(from_count, NULL, NULL), TO(to_count, NULL, NULL), root,
                      comm, "MPI_Igather", request);
}

static int run_gatherv(const struct orr_answers_task *t)
{
    return orr_answer_Gatherv(t->from.memory, t->from.count, t->from.type, t->to.memory,
                              t->to.counts, t->to.places, t->to.type, t->root, t->comm);
}

int orr_answer_Igatherv(const void *from, int from_count, MPI_Datatype from_type, void *to,
                        const int counts[], const int places[], MPI_Datatype to_type, int root,
                        MPI_Comm comm, MPI_Request *request)
{
    return begin_move(run_gatherv, FROM(from_count, NULL, NULL), TO(0, counts, places), root,
                      comm, "MPI_Igatherv", request);
}

static int run_scatter(const struct orr_answers_task *t)
{
    return orr_answer_Scatter(t->from.memory, t->from.count, t->from.type, t->to.memory,
                              t->to.count, t->to.type, t->root, t->comm);
}

int orr_answer_Iscatter(const void *from, int from_count, MPI_Datatype from_type, void *to,
                        int to_count, MPI_Datatype to_type, int root, MPI_Comm comm,
                        MPI_Request *request)
{
    return begin_move(run_scatter, FROM(from_count, NULL, NULL), TO(to_count, NULL, NULL), root,
                      comm, "MPI_Iscatter", request);
}

static int run_scatterv(const struct orr_answers_task *t)
{
    return orr_answer_Scatterv(t->from.memory, t->from.counts, t->from.places, t->from.type,
                               t->to.memory, t->to.count, t->to.type, t->root, t->comm);
}

int orr_answer_Iscatterv(const void *from, const int counts[], const int places[],
                         MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type,
                         int root, MPI_Comm comm, MPI_Request *request)
{
    return begin_move(run_scatterv, FROM(0, counts, places), TO(to_count, NULL, NULL), root,
                      comm, "MPI_Iscatterv", request);
}

static int run_allgather(const struct orr_answers_task *t)
{
    return orr_answer_Allgather(t->from.memory, t->from.count, t->from.type, t->to.memory,
                                t->to.count, t->to.type, t->comm);
}

int orr_answer_Iallgather(const void *from, int from_count, MPI_Datatype from_type, void *to,
                          int to_count, MPI_Datatype to_type, MPI_Comm comm,
                          MPI_Request *request)
{
    return begin_move(run_allgather, FROM(from_count, NULL, NULL), TO(to_count, NULL, NULL), 0,
                      comm, "MPI_Iallgather", request);
}

static int run_allgatherv(const struct orr_answers_task *t)
{
    return orr_answer_Allgatherv(t->from.memory, t->from.count, t->from.type, t->to.memory,
                                 t->to.counts, t->to.places, t->to.type, t->comm);
}

int orr_answer_Iallgatherv(const void *from, int from_count, MPI_Datatype from_type, void *to,
                           const int counts[], const int places[], MPI_Datatype to_type,
                           MPI_Comm comm, MPI_Request *request)
{
    return begin_move(run_allgatherv, FROM(from_count, NULL, NULL), TO(0, counts, places), 0,
                      comm, "MPI_Iallgatherv", request);
}

static int run_alltoall(const struct orr_answers_task *t)
{
    return orr_answer_Alltoall(t->from.memory, t->from.count, t->from.type, t->to.memory,
                               t->to.count, t->to.type, t->comm);
}

int orr_answer_Ialltoall(const void *from, int from_count, MPI_Datatype from_type, void *to,
                         int to_count, MPI_Datatype to_type, MPI_Comm comm,
                         MPI_Request *request)
{
    return begin_move(run_alltoall, FROM(from_count, NULL, NULL), TO(to_count, NULL, NULL), 0,
                      comm, "MPI_Ialltoall", request);
}

static int run_alltoallv(const struct orr_answers_task *t)
{
    return orr_answer_Alltoallv(t->from.memory, t->from.counts, t->from.places, t->from.type,
                                t->to.memory, t->to.counts, t->to.places, t->to.type, t->comm);
}

int orr_answer_Ialltoallv(const void *from, const int from_counts[], const int from_places[],
                          MPI_Datatype from_type, void *to, const int counts[],
                          const int places[], MPI_Datatype to_type, MPI_Comm comm,
                          MPI_Request *request)
{
    return begin_move(run_alltoallv, FROM(0, from_counts, from_places), TO(0, counts, places),
                      0, comm, "MPI_Ialltoallv", request);
}
