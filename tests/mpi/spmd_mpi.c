/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/spmd_mpi.c - the calls of spmd.h by the public interface, and a main for
 * mpirun: TAP by rank 0. usage: spmd-mpi [FIRST [NUMBER [CALLS]]]
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu_mpi.h>

#include "tests/mpi/spmd.h"

static void must(int rc)
{
    if (rc)
        abort();
}

int spmd_rank(void)
{
    return starpu_mpi_world_rank();
}

int spmd_size(void)
{
    return starpu_mpi_world_size();
}

void spmd_register(starpu_data_handle_t handle, int64_t tag, int owner)
{
    starpu_mpi_data_register(handle, tag, owner);
}

int spmd_insert(const struct spmd_insert *i)
{
    if (i->on_data)
        return starpu_mpi_task_insert(
            MPI_COMM_WORLD, i->cl, STARPU_DATA_MODE_ARRAY, i->data, i->n, STARPU_VALUE,
            &i->salt, sizeof(i->salt), STARPU_PRIORITY, i->priority,
            STARPU_EXECUTE_ON_DATA, i->on_data, 0);
    return starpu_mpi_task_insert(MPI_COMM_WORLD, i->cl, STARPU_DATA_MODE_ARRAY, i->data,
                                  i->n, STARPU_VALUE, &i->salt, sizeof(i->salt),
                                  STARPU_PRIORITY, i->priority, STARPU_EXECUTE_ON_NODE,
                                  i->on_node, 0);
}

void spmd_flush(starpu_data_handle_t handle)
{
    starpu_mpi_cache_flush(MPI_COMM_WORLD, handle);
}

void spmd_flush_all(void)
{
    starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
}

void spmd_cache(bool on)
{
    starpu_mpi_cache_set(on);
}

void spmd_migrate(starpu_data_handle_t handle, int to)
{
    starpu_mpi_data_migrate(MPI_COMM_WORLD, handle, to);
}

void spmd_copy(starpu_data_handle_t to, starpu_data_handle_t from, bool waits)
{
    must(starpu_mpi_data_cpy(to, from, MPI_COMM_WORLD, !waits, NULL, NULL));
}

void spmd_get(starpu_data_handle_t handle, int to, bool waits)
{
    must(waits ? starpu_mpi_get_data_on_node(MPI_COMM_WORLD, handle, to)
               : starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, handle, to, NULL,
                                                      NULL));
}

void spmd_reduce(starpu_data_handle_t handle, int arity)
{
    must(starpu_mpi_redux_data_tree(MPI_COMM_WORLD, handle, arity));
}

void spmd_send(starpu_data_handle_t handle, int to, int64_t tag, int priority,
               bool synchronous, bool waits)
{
    starpu_mpi_req request;

    if (waits) {
        must(synchronous ? starpu_mpi_issend_prio(handle, &request, to, tag, priority,
                                                  MPI_COMM_WORLD)
                         : starpu_mpi_isend_prio(handle, &request, to, tag, priority,
                                                 MPI_COMM_WORLD));
        must(starpu_mpi_wait(&request, MPI_STATUS_IGNORE));
    } else if (synchronous) {
        must(starpu_mpi_issend_detached_prio(handle, to, tag, priority, MPI_COMM_WORLD,
                                             NULL, NULL));
    } else {
        must(starpu_mpi_isend_detached_prio(handle, to, tag, priority, MPI_COMM_WORLD, NULL,
                                            NULL));
    }
}

void spmd_receive(starpu_data_handle_t handle, int from, int64_t tag, bool waits)
{
    must(waits ? starpu_mpi_recv(handle, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
               : starpu_mpi_irecv_detached(handle, from, tag, MPI_COMM_WORLD, NULL, NULL));
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
    must(starpu_mpi_barrier(MPI_COMM_WORLD));
}

void spmd_wait_all(void)
{
    must(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int n = argc > 2 ? atoi(argv[2]) : 20, ncalls = argc > 3 ? atoi(argv[3]) : 60;
    int wrong = 0, all = 0, level, me;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
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
    MPI_Finalize();
    return all != 0;
}
