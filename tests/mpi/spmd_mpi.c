/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/spmd_mpi.c - the calls of spmd.h by the public interface, and a main for
 * mpirun: TAP by rank 0. usage: spmd-mpi [FIRST [NUMBER [CALLS]]]
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu_mpi.h>

#include "tests/mpi/spmd.h"

static void must(int rc)
{
    if (rc)
        abort();
}

/* Made before starpu_mpi_init_conf, by enum spmd_comm, and the one in use. */
static MPI_Comm comms[SPMD_COMMS], used;

static void make_comms(void)
{
    int me;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    comms[SPMD_WORLD] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[SPMD_TWIN]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comms[SPMD_TURNED]);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &comms[SPMD_HALVES]);
}

static void free_comms(void)
{
    for (int i = SPMD_WORLD + 1; i < SPMD_COMMS; i++)
        MPI_Comm_free(&comms[i]);
}

void spmd_use(enum spmd_comm comm)
{
    used = comms[comm];
}

static void count(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

int spmd_rank(void)
{
    int ret;

    must(starpu_mpi_comm_rank(used, &ret));
    return ret;
}

int spmd_size(void)
{
    int ret;

    must(starpu_mpi_comm_size(used, &ret));
    return ret;
}

void spmd_register(starpu_data_handle_t handle, int64_t tag, int owner)
{
    starpu_mpi_data_register_comm(handle, tag, owner, used);
}

/* The arguments of an insertion, on which rank or datum last. */
#define ARGUMENTS(i, kind, value)                                                          \
    STARPU_DATA_MODE_ARRAY, (i)->data, (i)->n, STARPU_VALUE, &(i)->salt,                   \
        sizeof((i)->salt), STARPU_PRIORITY, (i)->priority, kind, value, 0

static int insert_in_halves(const struct spmd_insert *i)
{
    struct starpu_task *task;

    if (i->on_data)
        task = starpu_mpi_task_build(used, i->cl,
                                     ARGUMENTS(i, STARPU_EXECUTE_ON_DATA, i->on_data));
    else
        task = starpu_mpi_task_build(used, i->cl,
                                     ARGUMENTS(i, STARPU_EXECUTE_ON_NODE, i->on_node));
    if (task)
        must(starpu_task_submit(task));
    if (i->on_data)
        return starpu_mpi_task_post_build(
            used, i->cl, ARGUMENTS(i, STARPU_EXECUTE_ON_DATA, i->on_data));
    return starpu_mpi_task_post_build(used, i->cl,
                                      ARGUMENTS(i, STARPU_EXECUTE_ON_NODE, i->on_node));
}

int spmd_insert(const struct spmd_insert *i)
{
    if (i->in_halves)
        return insert_in_halves(i);
    if (i->on_data)
        return starpu_mpi_task_insert(used, i->cl,
                                      ARGUMENTS(i, STARPU_EXECUTE_ON_DATA, i->on_data));
    return starpu_mpi_task_insert(used, i->cl,
                                  ARGUMENTS(i, STARPU_EXECUTE_ON_NODE, i->on_node));
}

void spmd_flush(starpu_data_handle_t handle)
{
    starpu_mpi_cache_flush(used, handle);
}

void spmd_flush_all(void)
{
    starpu_mpi_cache_flush_all_data(used);
}

void spmd_cache(bool on)
{
    starpu_mpi_cache_set(on);
}

void spmd_migrate(starpu_data_handle_t handle, int to)
{
    starpu_mpi_data_migrate(used, handle, to);
}

void spmd_copy(starpu_data_handle_t to, starpu_data_handle_t from, bool waits,
               atomic_int *done)
{
    must(starpu_mpi_data_cpy(to, from, used, !waits, done ? count : NULL, done));
}

void spmd_get(starpu_data_handle_t handle, int to, bool waits)
{
    must(waits ? starpu_mpi_get_data_on_node(used, handle, to)
               : starpu_mpi_get_data_on_node_detached(used, handle, to, NULL,
                                                      NULL));
}

void spmd_get_everywhere(starpu_data_handle_t handle)
{
    starpu_mpi_get_data_on_all_nodes_detached(used, handle);
}

void spmd_gather(starpu_data_handle_t *handles, int n, int root, atomic_int *done)
{
    must(starpu_mpi_gather_detached(handles, n, root, used, count, done, count, done));
}

void spmd_scatter(starpu_data_handle_t *handles, int n, int root, atomic_int *done)
{
    must(starpu_mpi_scatter_detached(handles, n, root, used, count, done, count, done));
}

void spmd_reduce(starpu_data_handle_t handle, int arity)
{
    must(starpu_mpi_redux_data_tree(used, handle, arity));
}

static void send_detached(const struct spmd_message *m)
{
    void (*callback)(void *) = m->done ? count : NULL;

    if (m->synchronous)
        must(starpu_mpi_issend_detached_prio(m->handle, m->peer, m->tag, m->priority, used,
                                             callback, m->done));
    else
        must(starpu_mpi_isend_detached_prio(m->handle, m->peer, m->tag, m->priority, used,
                                            callback, m->done));
}

/* Owned by who finishes it. */
static starpu_mpi_req *new_request(void)
{
    starpu_mpi_req *request = calloc(1, sizeof(*request));

    if (!request)
        abort();
    return request;
}

static void *end(const struct spmd_message *m, starpu_mpi_req *request)
{
    if (m->end == SPMD_LATER)
        return request;
    spmd_finish(request, false);
    return NULL;
}

void *spmd_send(const struct spmd_message *m)
{
    starpu_mpi_req *request;

    if (m->end == SPMD_DETACHED)
        return send_detached(m), NULL;
    request = new_request();
    must(m->synchronous ? starpu_mpi_issend_prio(m->handle, request, m->peer, m->tag,
                                                 m->priority, used)
                        : starpu_mpi_isend_prio(m->handle, request, m->peer, m->tag,
                                                m->priority, used));
    return end(m, request);
}

void *spmd_receive(const struct spmd_message *m)
{
    starpu_mpi_req *request;

    if (m->end == SPMD_DETACHED) {
        must(starpu_mpi_irecv_detached(m->handle, m->peer, m->tag, used,
                                       m->done ? count : NULL, m->done));
        return NULL;
    }
    request = new_request();
    must(starpu_mpi_irecv(m->handle, request, m->peer, m->tag, used));
    return end(m, request);
}

void spmd_finish(void *arg, bool polls)
{
    starpu_mpi_req *request = arg;
    int done = 0;

    if (!polls)
        must(starpu_mpi_wait(request, MPI_STATUS_IGNORE));
    while (polls && !done) {
        must(starpu_mpi_test(request, &done, MPI_STATUS_IGNORE));
        sched_yield();
    }
    free(request);
}

void spmd_expect(starpu_data_handle_t handle, int nsends)
{
    starpu_mpi_coop_sends_data_handle_nb_sends(handle, nsends);
}

void spmd_cooperate(bool on)
{
    starpu_mpi_coop_sends_set_use(on);
}

void spmd_barrier(void)
{
    must(starpu_mpi_barrier(used));
}

void spmd_wait_all(void)
{
    must(starpu_mpi_wait_for_all(used));
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int n = argc > 2 ? atoi(argv[2]) : 20, ncalls = argc > 3 ? atoi(argv[3]) : 60;
    int wrong = 0, all = 0, level, me;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    make_comms();
    must(starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL));
    me = starpu_mpi_world_rank();
    for (int i = 0; i < n; i++) {
        int here = spmd_run(first + (uint64_t)i, ncalls, 700);

        if (here)
            printf("# seed %llu, rank %d: %d data are wrong\n",
                   (unsigned long long)first + (unsigned)i, me, here);
        wrong += here;
    }
    starpu_mpi_shutdown();
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("1..1\n%sok 1 - %d random programs\n", all ? "not " : "", n);
    free_comms();
    MPI_Finalize();
    return all != 0;
}
