/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * orrery_mpi.h - what is not in the StarPU-MPI interface: a program goes on from a
 * checkpoint of an earlier run of it, and says how much work its ranks have.
 */
#pragma once

#include <starpu_mpi_ft.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gives the data and variables of the template the values that they had in the newest
 * complete checkpoint of a template with its number and domain, in the folder
 * ORRERY_MPI_CHECKPOINT_DIR; *ret_step is the number of that checkpoint: the first one
 * in a folder is 1, each starpu_mpi_checkpoint_template_submit makes the next. The
 * thread that inserts tasks; all ranks call it, as many as there were then, after all that
 * was submitted before has ended. The template is registered as it was then, with the same
 * entries, owners aside. A checkpoint with damaged files is left out, after a warning.
 *
 * Returns 0; -ENOENT: there is none, or no folder is given; or, after a message: -EINVAL,
 * the template is not frozen, or the checkpoint is one of another number of ranks or of
 * another template; -EIO and others of the system, -ENOMEM, -EDEADLK in a callback. Then no
 * value has changed, and all ranks get the same result but for the last one. */
int orrery_mpi_checkpoint_restore(starpu_mpi_checkpoint_template_t cp_template,
                                  int *ret_step);

/* Runs a program of several ranks in this process, on a simulated cluster: main(rank, arg)
 * once for each, on contexts of one simulation, in virtual time. `cluster` is what
 * ORRERY_MACHINE would say (docs/CLUSTERS.md); NULL: what it says. Each of the calls starts
 * and shuts down the library for itself, as processes of an mpirun do, with starpu_mpi_init
 * or starpu_mpi_init_conf; for those functions MPI_COMM_WORLD is all ranks. Variables of the
 * program are one for all ranks: what a rank has of its own, `arg` leads to. Rank 0 runs on
 * the calling thread, outside of any run. Other calls of MPI are not answered: see
 * docs/MPI.md of programs that make them.
 *
 * Returns 0 when all have returned; or, after a message: -EBUSY, the library is initialised
 * here; -EINVAL, the name is none of a cluster; -ENOMEM. */
int orrery_mpi_run_ranks(const char *cluster, void (*main)(int rank, void *arg), void *arg);

/* What ranks compare that balance data (starpu_mpi_lb.h): `us` returns how many
 * microseconds this rank has needed since the last comparison, or whatever else the
 * application measures its work by. Called by the thread that inserts tasks. NULL: the time
 * that has passed. After starpu_mpi_init, on all ranks. */
void orrery_mpi_lb_set_elapsed(double (*us)(void));

#ifdef __cplusplus
}
#endif
