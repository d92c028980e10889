/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/answers/answers.h - MPI for a rank that is simulated: what the functions do that an
 * application calls, and what a rank knows of its communicators and requests.
 *
 * The functions have MPI's arguments and results. They are not exported: images/ puts them
 * in the place of MPI's in the rank's image of the program. What is local (datatypes,
 * operations, packing) is that of the MPI that the library was built for, which runs with
 * one process.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/answers/list.h"
#include "mpi/simulated/letters.h"

/* A communicator, as this rank sees it. */
struct orr_answers_comm {
    struct orr_simulated_comm *simulated; /* NULL: freed */
    int rank, size;
    int64_t ncollectives; /* begun */
};

/* What an MPI_Request stands for. */
struct orr_answers_request {
    struct orr_letter letter;
    bool used;
    bool is_null;      /* to or from MPI_PROC_NULL */
    void *packed;      /* owned; NULL: the bytes are those of the application */
    void *buffer;      /* where packed ones go */
    int count;
    MPI_Datatype type;
    struct orr_answers_plan *plan; /* owned: of a persistent one; NULL … */
    bool idle;                     /* … which was not started, or has ended */
    struct orr_answers_task *task; /* owned: of a collective call; NULL: it is a message */
};

struct orr_answers_group {
    int n;
    int ranks[]; /* of the communicator of all */
};

struct orr_answers {
    bool begun, ended; /* MPI_Init, MPI_Finalize */
    int threads;       /* level that MPI_Init_thread was asked for */
    struct orr_answers_comm *comms; /* the first are MPI_COMM_WORLD and MPI_COMM_SELF */
    size_t ncomms;
    struct orr_answers_request **requests;
    size_t nrequests;
    struct orr_answers_group **groups; /* NULLs among them were freed */
    size_t ngroups;
    struct orr_answers_task *tasks; /* collective calls that go on, in contexts of their own */
};

/* A communicator that was made for this rank, by the number that it has in Fortran;
 * MPI_COMM_NULL: it is none of these, or the rank is not simulated. */
MPI_Comm orr_answers_comm_of_number(int number);

/* Those of the calling rank, made at first. Freed by orr_answers_end, which the rank's last
 * call precedes. */
struct orr_answers *orr_answers(void);
void orr_answers_end(void);

/* Ends the process, after a message with the call, and the rank. */
_Noreturn void orr_answers_fail(const char *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A handle of the application's as it is here, and one that it gets: what it has for MPI's
 * own may be a copy (mpi/images/image.h). */
MPI_Comm orr_answers_comm_in(MPI_Comm comm);
MPI_Comm orr_answers_comm_out(MPI_Comm comm);
MPI_Request orr_answers_request_in(MPI_Request request);
MPI_Request orr_answers_request_out(MPI_Request request);

/* The communicator; the process ends if it is none. The result stays until a communicator
 * is made. */
struct orr_answers_comm *orr_answers_comm(MPI_Comm comm, const char *call);

/* The same for calls of StarPU-MPI's interface; NULL: it is none. */
struct orr_simulated_comm *orr_answers_simulated(MPI_Comm comm);

/* A request that has not been used yet, or not since it ended, and its handle. */
struct orr_answers_request *orr_answers_request_new(MPI_Request *handle, const char *call);

/* --- collective calls that go on by themselves: later.c --- */

/* The communicator of the call that the calling context is; NULL: it is none. */
struct orr_answers_comm *orr_answers_task_comm(const struct orr_answers *answers);
/* It has ended: frees it. */
void orr_answers_task_free(struct orr_answers_task *task);

/* --- memory that MPI's datatypes describe --- */

/* Bytes of `count` of them: as they are sent, and as they lie. */
size_t orr_answers_size(int count, MPI_Datatype type);
size_t orr_answers_extent(int count, MPI_Datatype type);
/* Whether the bytes lie as they are sent. */
bool orr_answers_is_dense(MPI_Datatype type);
/* From the application's memory to bytes, and back. */
void orr_answers_pack(const void *from, int count, MPI_Datatype type, void *bytes);
void orr_answers_unpack(const void *bytes, size_t size, void *to, int count,
                        MPI_Datatype type);

/* The function that stands for the one of MPI of that name, NULL: none does. */
typedef void (*orr_answer)(void);
orr_answer orr_answers_find(const char *name);

/* The same of a process that pretends to be one rank of several. */
orr_answer orr_answers_find_alone(const char *name);

/* --- the functions --- */

#define ORR_ANSWER(name) __typeof__(MPI_##name) orr_answer_##name;
ORR_ANSWERS(ORR_ANSWER) ORR_ANSWERS_NUMBERS(ORR_ANSWER)
#undef ORR_ANSWER

/* Those of Fortran's: a group and ranks, or two groups. */
#ifdef OPEN_MPI
void orr_answer_of_group_incl(const MPI_Fint *group, const MPI_Fint *n, const MPI_Fint *ranks,
                              MPI_Fint *ret, MPI_Fint *error);
void orr_answer_of_group_excl(const MPI_Fint *group, const MPI_Fint *n, const MPI_Fint *ranks,
                              MPI_Fint *ret, MPI_Fint *error);
void orr_answer_of_group_union(const MPI_Fint *one, const MPI_Fint *other, MPI_Fint *ret,
                               MPI_Fint *error);
void orr_answer_of_group_intersection(const MPI_Fint *one, const MPI_Fint *other, MPI_Fint *ret,
                                      MPI_Fint *error);
void orr_answer_of_group_difference(const MPI_Fint *one, const MPI_Fint *other, MPI_Fint *ret,
                                    MPI_Fint *error);
#endif
