/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/answers/list.h - the functions of MPI that there are answers for, without "MPI_":
 * ORR_ANSWERS(X) is X(name) for each. Those that are local to a process are MPI's own
 * (images/). */
#pragma once

/* Numbers of Fortran's and handles: functions of Open MPI, whose handles are pointers. */
#ifdef OPEN_MPI
#    define ORR_ANSWERS_NUMBERS(X)                                             \
        X(Comm_f2c) X(Comm_c2f) X(Group_f2c) X(Group_c2f) X(Request_f2c)       \
        X(Request_c2f)
#else
#    define ORR_ANSWERS_NUMBERS(X)
#endif

/* Functions of Fortran's, by their names there, which look into handles themselves. */
#ifdef OPEN_MPI
#    define ORR_ANSWERS_FORTRAN(X)                                             \
        X(group_incl) X(group_excl) X(group_union) X(group_intersection) X(group_difference)
#else
#    define ORR_ANSWERS_FORTRAN(X)
#endif

#define ORR_ANSWERS(X)                                                         \
    X(Init)                                                                    \
    X(Init_thread)                                                             \
    X(Initialized)                                                             \
    X(Finalize)                                                                \
    X(Finalized)                                                               \
    X(Query_thread)                                                            \
    X(Is_thread_main)                                                          \
    X(Abort)                                                                   \
    X(Wtime)                                                                   \
    X(Get_processor_name)                                                      \
    X(Comm_rank)                                                               \
    X(Comm_size)                                                               \
    X(Comm_dup)                                                                \
    X(Comm_split)                                                              \
    X(Comm_create)                                                             \
    X(Comm_group)                                                              \
    X(Group_size)                                                              \
    X(Group_rank)                                                              \
    X(Group_free)                                                              \
    X(Group_translate_ranks)                                                   \
    X(Group_compare)                                                           \
    X(Group_incl)                                                              \
    X(Group_excl)                                                              \
    X(Group_union)                                                             \
    X(Group_intersection)                                                      \
    X(Group_difference)                                                        \
    X(Comm_free)                                                               \
    X(Comm_compare)                                                            \
    X(Comm_get_attr)                                                           \
    X(Comm_set_errhandler)                                                     \
    X(Comm_set_name)                                                           \
    X(Send)                                                                    \
    X(Ssend)                                                                   \
    X(Rsend)                                                                   \
    X(Isend)                                                                   \
    X(Issend)                                                                  \
    X(Recv)                                                                    \
    X(Irecv)                                                                   \
    X(Sendrecv)                                                                \
    X(Probe)                                                                   \
    X(Iprobe)                                                                  \
    X(Wait)                                                                    \
    X(Waitall)                                                                 \
    X(Waitany)                                                                 \
    X(Test)                                                                    \
    X(Testall)                                                                 \
    X(Testany)                                                                 \
    X(Cancel)                                                                  \
    X(Request_free)                                                            \
    X(Send_init)                                                               \
    X(Ssend_init)                                                              \
    X(Rsend_init)                                                              \
    X(Recv_init)                                                               \
    X(Start)                                                                   \
    X(Startall)                                                                \
    X(Barrier)                                                                 \
    X(Bcast)                                                                   \
    X(Reduce)                                                                  \
    X(Allreduce)                                                               \
    X(Scan)                                                                    \
    X(Exscan)                                                                  \
    X(Gather)                                                                  \
    X(Gatherv)                                                                 \
    X(Scatter)                                                                 \
    X(Scatterv)                                                                \
    X(Allgather)                                                               \
    X(Allgatherv)                                                              \
    X(Alltoall)                                                                \
    X(Alltoallv)                                                               \
    X(Ibarrier)                                                                \
    X(Ibcast)                                                                  \
    X(Ireduce)                                                                 \
    X(Iallreduce)                                                              \
    X(Iscan)                                                                   \
    X(Iexscan)                                                                 \
    X(Igather)                                                                 \
    X(Igatherv)                                                                \
    X(Iscatter)                                                                \
    X(Iscatterv)                                                               \
    X(Iallgather)                                                              \
    X(Iallgatherv)                                                             \
    X(Ialltoall)                                                               \
    X(Ialltoallv)
