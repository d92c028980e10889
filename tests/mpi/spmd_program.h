/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/spmd_program.h - a random program: its data, with what they are to hold, its
 * kernels (spmd_kernels.c), its calls (spmd_calls.c, spmd_lives.c).
 */
#pragma once

#include "tests/mpi/spmd.h"

enum {
    NDATA = 10,   /* each with an owner, known to all ranks */
    NEACH = 3,    /* each rank has its own */
    NPRIVATE = 3, /* two ranks know them, the others pass NULL */
    NALL = NDATA + NEACH + NPRIVATE,
    MOST_RANKS = 8,
    MOST_DATA = 3,   /* of a task */
    MOST_PENDING = 6 /* messages to be waited for */
};

enum spmd_shape {
    SPMD_VECTOR,
    SPMD_MATRIX, /* with a leading dimension where it is registered */
    SPMD_SPARSE, /* sent packed */
    SPMD_SHAPES
};

struct datum {
    starpu_data_handle_t handle; /* NULL: this rank does not know it */
    enum spmd_shape shape;
    unsigned n;
    uint64_t *values;            /* the application's memory, of the first owner; owned */
    uint32_t *columns, *rows;    /* of a sparse one */
    int first_owner, owner;
    int partner;                 /* of those that two ranks know */
    uint64_t expected[MOST_RANKS][2]; /* by rank, of those that each has: what the value is
                                       * made of … */
};

struct program {
    int me, size;
    bool is_everywhere; /* all ranks run it */
    bool may_plan;      /* a plan needs memory at once, which may be in use where it is small */
    uint64_t random;
    unsigned most_elements;
    struct datum data[NALL];
    starpu_data_handle_t scratch; /* no other rank knows it */
    int64_t tag;                  /* of messages, so few that they meet */
    int64_t next_tag;             /* of data */
    uint64_t salt;
    void *pending[MOST_PENDING];
    unsigned npending;
    atomic_int done;        /* what has told of its end … */
    int ndone;              /* … and is to */
    int wrong;
};

unsigned spmd_pick(struct program *p, unsigned n);
/* One of n data, from number `first` on. */
struct datum *spmd_pick_datum(struct program *p, unsigned first, unsigned n);
/* One of the first NDATA, but that. */
struct datum *spmd_pick_other(struct program *p, const struct datum *not_this);
/* … of the same length and shape. */
struct datum *spmd_pick_alike(struct program *p, const struct datum *like);

/* What a rank has of the value, which is expected[0] + i * expected[1]. */
uint64_t *spmd_expected(struct datum *d, int rank);

/* Registers it, with memory that this rank has, or with none. */
void spmd_register_shape(struct datum *d, bool has_memory);
/* Fills that, or compares it; where the datum may be used. */
void spmd_fill(struct datum *d, const uint64_t *expected);
bool spmd_is_filled(const struct datum *d, const uint64_t *expected);
/* Waits until it may be read here, and compares. */
void spmd_look(struct program *p, struct datum *d);

/* --- kernels --- */

/* h of what is read goes into what is written. */
extern struct starpu_codelet spmd_task;
/* The same of one datum, and of the two that follow: adds salt + i, and a hash of the
 * second datum if there is one, to element i. */
extern struct starpu_codelet spmd_redux[2], spmd_mpi_redux[2];
/* Adds the salt to each element. */
extern struct starpu_codelet spmd_shift;
extern struct starpu_codelet spmd_zero, spmd_add;

/* What spmd_task computes, on a rank. */
void spmd_expect_task(struct datum **d, const uint32_t *modes, unsigned n, uint64_t salt,
                      int rank);
/* … and a contribution; read: NULL, or the second datum. */
void spmd_expect_contribution(struct datum *d, struct datum *read, uint64_t salt);

/* --- calls --- */

/* Inserts it, and aborts if that returns another value. */
void spmd_must_insert(const struct spmd_insert *insert, int rc);
/* The datum's owner, if it has one, or each rank, writes it. */
void spmd_write(struct program *p, struct datum *d);
/* A task reads it on some rank, and writes another one, but not `whole`. */
void spmd_read(struct program *p, struct datum *d, const struct datum *whole);

void spmd_call_insert(struct program *p);
void spmd_call_finish(struct program *p);
void spmd_finish_all(struct program *p);

/* A call, and how often it is made among others. */
struct spmd_call {
    unsigned weight;
    void (*make)(struct program *p);
};
/* Ended by NULL. */
extern const struct spmd_call spmd_calls[], spmd_lives[];
