/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_mpi_lb.h - data move from ranks that are slow to ranks that are fast, so that the
 * tasks which write them do. Of the thread that inserts tasks; all ranks
 * make these calls alike, and insert all tasks, with numbers (STARPU_TAG_ONLY) that grow.
 */
#pragma once

#include <starpu.h>
#include <starpu_mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the application tells a policy. Arrays are malloc()ed there, and freed by the
 * policy. */
struct starpu_mpi_lb_conf {
    /* Stores the ranks with which this one may exchange data, and their number. */
    void (*get_neighbors)(int **neighbor_ids, int *nneighbors);
    /* Stores data that rank `dst_node` could take over, all of one place, and their number;
     * 0: none. */
    void (*get_data_unit_to_migrate)(starpu_data_handle_t **handle_unit, int *nhandles,
                                     int dst_node);
};

/* Begins to balance, between starpu_mpi_init and the first task. The policy's name is that
 * of STARPU_MPI_LB, if it is set. NULL or "help": names are printed, and none is used. */
void starpu_mpi_lb_init(const char *lb_policy_name, struct starpu_mpi_lb_conf *);
/* Ends it; all data are with those again that owned them at first. */
void starpu_mpi_lb_shutdown(void);

#ifdef __cplusplus
}
#endif
