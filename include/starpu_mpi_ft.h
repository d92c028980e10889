/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_mpi_ft.h - checkpoints: values of data and of the application, as of one point of
 * submission, are copied to other ranks. Of the thread that inserts tasks; all ranks make
 * these calls alike. Functions return 0, or a negative errno after a message. A later run
 * goes on from checkpoints that are in files: orrery_mpi.h.
 */
#pragma once

#include <starpu.h>
#include <starpu_mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a checkpoint has. */
typedef struct _starpu_mpi_checkpoint_template *starpu_mpi_checkpoint_template_t;

/* Between starpu_mpi_init and starpu_mpi_shutdown. The latter waits for what was submitted,
 * and frees all templates. */
int starpu_mpi_checkpoint_init(void);
int starpu_mpi_checkpoint_shutdown(void);

/* A template with a number and a domain, which are the application's, and its entries,
 * ended by 0: STARPU_R, a handle, the rank that gets a copy; STARPU_DATA_ARRAY, an array of
 * handles, their number, the rank; or STARPU_VALUE, an address, a size, a tag, and a
 * function from a rank to that which gets its copy. Data were registered with a tag and a
 * rank before, and are there as long as checkpoints are made; so are variables. */
int starpu_mpi_checkpoint_template_register(starpu_mpi_checkpoint_template_t *cp_template,
                                            int cp_id, int cp_domain, ...);
/* The same step by step: an empty one, entries, and that there are no more, for which all
 * ranks wait for each other. */
int starpu_mpi_checkpoint_template_create(starpu_mpi_checkpoint_template_t *cp_template,
                                          int cp_id, int cp_domain);
int starpu_mpi_checkpoint_template_add_entry(starpu_mpi_checkpoint_template_t *cp_template,
                                             ...);
int starpu_mpi_checkpoint_template_freeze(starpu_mpi_checkpoint_template_t *cp_template);

/* A checkpoint: of data the values behind all tasks that were submitted before it, of
 * variables those at the call. Data that nobody wrote since the last one are not sent again.
 * starpu_mpi_wait_for_all waits until it is complete. Its tasks, which copy data, have this
 * priority. */
int starpu_mpi_checkpoint_template_submit(starpu_mpi_checkpoint_template_t cp_template,
                                          int prio);
/* Writes the entries to stderr. */
int starpu_mpi_checkpoint_template_print(starpu_mpi_checkpoint_template_t cp_template);

/* For programs that call them: which checkpoints are made does not depend on it. */
static inline int starpu_mpi_ft_turn_on(void)
{
    return 0;
}

static inline int starpu_mpi_ft_turn_off(void)
{
    return 0;
}

#ifdef __cplusplus
}
#endif
