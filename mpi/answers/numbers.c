/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/answers/numbers.c - numbers of Fortran's for handles. Of one that was made here it is the
 * handle itself, whether that is a pointer or an int; others are MPI's own. MPICH's handles are
 * such numbers, and it has no functions for this.
 */
#include "mpi/answers/answers.h"

#ifdef OPEN_MPI

/* Handles of groups, requests and communicators are between these: group.c, point.c, comm.c. */
static const intptr_t first_own = 0x5d000000, end_own = 0x60000000;

static bool is_own(intptr_t handle)
{
    return handle >= first_own && handle < end_own;
}

MPI_Comm orr_answer_Comm_f2c(MPI_Fint number)
{
    return is_own(number) ? (MPI_Comm)(intptr_t)number : MPI_Comm_f2c(number);
}

MPI_Fint orr_answer_Comm_c2f(MPI_Comm comm)
{
    return is_own((intptr_t)comm) ? (MPI_Fint)(intptr_t)comm
                                  : MPI_Comm_c2f(orr_answers_comm_in(comm));
}

MPI_Group orr_answer_Group_f2c(MPI_Fint number)
{
    return is_own(number) ? (MPI_Group)(intptr_t)number : MPI_Group_f2c(number);
}

MPI_Fint orr_answer_Group_c2f(MPI_Group group)
{
    return is_own((intptr_t)group) ? (MPI_Fint)(intptr_t)group : MPI_Group_c2f(group);
}

MPI_Request orr_answer_Request_f2c(MPI_Fint number)
{
    return is_own(number) ? (MPI_Request)(intptr_t)number : MPI_Request_f2c(number);
}

MPI_Fint orr_answer_Request_c2f(MPI_Request request)
{
    return is_own((intptr_t)request) ? (MPI_Fint)(intptr_t)request
                                     : MPI_Request_c2f(orr_answers_request_in(request));
}

/* Open MPI's own look for the number inside of the group. */
void orr_answer_of_group_incl(const MPI_Fint *group, const MPI_Fint *n, const MPI_Fint *ranks,
                              MPI_Fint *ret, MPI_Fint *error)
{
    MPI_Group made;

    *error = orr_answer_Group_incl(orr_answer_Group_f2c(*group), *n, ranks, &made);
    *ret = orr_answer_Group_c2f(made);
}

void orr_answer_of_group_excl(const MPI_Fint *group, const MPI_Fint *n, const MPI_Fint *ranks,
                              MPI_Fint *ret, MPI_Fint *error)
{
    MPI_Group made;

    *error = orr_answer_Group_excl(orr_answer_Group_f2c(*group), *n, ranks, &made);
    *ret = orr_answer_Group_c2f(made);
}

#define OF_TWO(name, function)                                                 \
    void orr_answer_of_##name(const MPI_Fint *one, const MPI_Fint *other, MPI_Fint *ret, \
                              MPI_Fint *error)                                 \
    {                                                                          \
        MPI_Group made;                                                        \
                                                                               \
        *error = function(orr_answer_Group_f2c(*one), orr_answer_Group_f2c(*other), &made); \
        *ret = orr_answer_Group_c2f(made);                                     \
    }
OF_TWO(group_union, orr_answer_Group_union)
OF_TWO(group_intersection, orr_answer_Group_intersection)
OF_TWO(group_difference, orr_answer_Group_difference)
#undef OF_TWO

#endif
