/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/spmd.h - random programs of several ranks, beside what one rank would compute
 * alone. All ranks make the same calls, which a seed gives; in the end each owner compares
 * its data with what the sequential program has.
 *
 * The calls go through functions that two files have: spmd_loopback.c, with all ranks in
 * this process, and spmd_mpi.c, through the public interface under mpirun. Ranks are those
 * of the communicator in use.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

enum spmd_comm {
    SPMD_WORLD,
    SPMD_TWIN,   /* the same ranks in the same order */
    SPMD_TURNED, /* … in the other order */
    SPMD_HALVES, /* even and odd ranks apart */
    SPMD_COMMS
};

struct spmd_insert {
    struct starpu_codelet *cl;
    struct starpu_data_descr *data;
    int n;
    uint64_t salt;             /* the kernel's argument, STARPU_VALUE */
    int on_node;               /* -1: not said */
    starpu_data_handle_t on_data; /* NULL: not said */
    int priority;
    bool in_halves;            /* built, submitted, and the rest */
};

enum spmd_end { SPMD_DETACHED, SPMD_WAITED, SPMD_LATER };

struct spmd_message {
    starpu_data_handle_t handle;
    int peer;
    int64_t tag;
    int priority;     /* of sends */
    bool synchronous; /* of sends */
    enum spmd_end end;
    atomic_int *done; /* of detached ones: grows by one at the end; NULL: not */
};

/* A rank's calls. */
void spmd_use(enum spmd_comm comm);
int spmd_rank(void);
int spmd_size(void);
void spmd_register(starpu_data_handle_t handle, int64_t tag, int owner);
int spmd_insert(const struct spmd_insert *insert);
void spmd_flush(starpu_data_handle_t handle);
void spmd_flush_all(void);
void spmd_cache(bool on);
void spmd_migrate(starpu_data_handle_t handle, int to);
void spmd_copy(starpu_data_handle_t to, starpu_data_handle_t from, bool waits,
               atomic_int *done);
void spmd_get(starpu_data_handle_t handle, int to, bool waits);
void spmd_get_everywhere(starpu_data_handle_t handle);
/* *done grows by one when this rank's messages have ended, if it has any. */
void spmd_gather(starpu_data_handle_t *handles, int n, int root, atomic_int *done);
void spmd_scatter(starpu_data_handle_t *handles, int n, int root, atomic_int *done);
void spmd_reduce(starpu_data_handle_t handle, int arity);
/* They return a request to finish if that is to be done later, else NULL. */
void *spmd_send(const struct spmd_message *message);
void *spmd_receive(const struct spmd_message *message);
void spmd_finish(void *request, bool polls);
/* So many sends of the datum's value will come. */
void spmd_expect(starpu_data_handle_t handle, int nsends);
void spmd_cooperate(bool on);
void spmd_barrier(void);
void spmd_wait_all(void);

enum {
    SPMD_EVERY_RANK = -2,
    SPMD_LARGE = 10000 /* of elements: a few such data fill a small memory */
};

/* Runs the calling rank's part of a program; returns how many data are wrong here, after a
 * message for the first ones. The largest datum has `most_elements`. */
int spmd_run(uint64_t seed, int ncalls, unsigned most_elements);
