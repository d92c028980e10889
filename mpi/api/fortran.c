/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/api/fortran.c - what the module fstarpu_mpi_mod calls: the functions of starpu_mpi.h
 * with MPI's communicators of Fortran, which are integers, and lists that are arrays.
 * Declared by bindings/fortran/fstarpu.txt, of which fstarpu_mpi.h is made.
 */
#include <stdlib.h>
#include <string.h>

#include "bindings/fortran/fstarpu_mpi.h"
#include "core/fortran/list.h"
#include "mpi/answers/answers.h"
#include "mpi/api/api.h"
#include "mpi/insert.h"

typedef void (*callback_fn)(void *);

static callback_fn function(void *address)
{
    return (callback_fn)(uintptr_t)address;
}

/* What is declared as MPI does it, without const. */
static void *mutable(const void *pointer)
{
    return (void *)(uintptr_t)pointer;
}

static void *allocate(size_t n, size_t size, const char *call)
{
    void *memory = calloc(n ? n : 1, size);

    if (memory)
        return memory;
    orr_log_error("%s: out of memory", call);
    abort();
}

/* MPI_COMM_WORLD of mpif.h. */
#ifdef OPEN_MPI
enum { WORLD = 0 };
#else
enum { WORLD = (int)MPI_COMM_WORLD };
#endif

/* Before that Open MPI translates no handle; a function that is run as simulated ranks
 * (orrery_mpi_run_ranks) does without. */
static bool has_begun(void)
{
    int begun = 0;

    PMPI_Initialized(&begun);
    return begun;
}

/* Communicators that were made for a simulated rank are numbers, which MPI does not know. */
static MPI_Comm comm_of(int fortran)
{
    MPI_Comm made = orr_answers_comm_of_number(fortran);

    if (made != MPI_COMM_NULL)
        return made;
    return fortran == WORLD && !has_begun() ? MPI_COMM_WORLD : MPI_Comm_f2c((MPI_Fint)fortran);
}

/* --- begin --- */

/* What a C program's main has. */
struct arguments {
    int argc, initialize, comm_present, comm;
    char **argv;
};

void *fstarpu_mpi_argcv_alloc(int argc, int initialize_mpi, int comm_present, int comm)
{
    struct arguments *arguments = allocate(1, sizeof(*arguments), __func__);

    /* argc does not count the program's name. */
    *arguments = (struct arguments){
        .argc = argc + 1,
        .initialize = initialize_mpi,
        .comm_present = comm_present,
        .comm = comm,
        .argv = allocate((size_t)argc + 2, sizeof(char *), __func__),
    };
    return arguments;
}

void fstarpu_mpi_argcv_set_arg(void *argcv, int i, int l, const char *s)
{
    struct arguments *arguments = argcv;
    char *copy = allocate((size_t)l + 1, 1, __func__);

    memcpy(copy, s, (size_t)l);
    free(arguments->argv[i]);
    arguments->argv[i] = copy;
}

void fstarpu_mpi_argcv_free(void *argcv)
{
    struct arguments *arguments = argcv;

    for (int i = 0; i < arguments->argc; i++)
        free(arguments->argv[i]);
    free(arguments->argv);
    free(arguments);
}

int fstarpu_mpi_init_c(void *argcv)
{
    struct arguments *arguments = argcv;
    /* MPI takes what it knows out of the array, whose texts are ours. */
    int argc = arguments->argc, rc;
    char **list = allocate((size_t)argc + 1, sizeof(*list), __func__), **argv = list;

    memcpy(list, arguments->argv, (size_t)argc * sizeof(*list));
    rc = starpu_mpi_init_comm(&argc, &argv, arguments->initialize,
                              arguments->comm_present && !arguments->initialize
                                  ? comm_of(arguments->comm)
                                  : MPI_COMM_WORLD);
    free(list);
    return rc;
}

/* --- communicators --- */

int fstarpu_mpi_comm_size(int mpi_comm, int *sz)
{
    return starpu_mpi_comm_size(comm_of(mpi_comm), sz);
}

int fstarpu_mpi_comm_rank(int mpi_comm, int *rank)
{
    return starpu_mpi_comm_rank(comm_of(mpi_comm), rank);
}

int fstarpu_mpi_world_comm(void)
{
    return has_begun() ? (int)MPI_Comm_c2f(MPI_COMM_WORLD) : WORLD;
}

int fstarpu_mpi_barrier(int mpi_comm)
{
    return starpu_mpi_barrier(comm_of(mpi_comm));
}

int fstarpu_mpi_wait_for_all(int mpi_comm)
{
    return starpu_mpi_wait_for_all(comm_of(mpi_comm));
}

void fstarpu_mpi_comm_stats_enable(void)
{
    starpu_mpi_comm_stats_enable();
}

void fstarpu_mpi_comm_stats_disable(void)
{
    starpu_mpi_comm_stats_disable();
}

/* --- messages --- */

void *fstarpu_mpi_req_alloc(void)
{
    return allocate(1, sizeof(starpu_mpi_req), __func__);
}

void fstarpu_mpi_req_free(void *req)
{
    free(req);
}

void *fstarpu_mpi_status_alloc(void)
{
    return allocate(1, sizeof(MPI_Status), __func__);
}

void fstarpu_mpi_status_free(void *st)
{
    free(st);
}

int fstarpu_mpi_isend(starpu_data_handle_t dh, void *mpi_req, int dst, int64_t data_tag,
                      int mpi_comm)
{
    return starpu_mpi_isend(dh, mpi_req, dst, data_tag, comm_of(mpi_comm));
}

int fstarpu_mpi_isend_prio(starpu_data_handle_t dh, void *mpi_req, int dst,
                           int64_t data_tag, int prio, int mpi_comm)
{
    return starpu_mpi_isend_prio(dh, mpi_req, dst, data_tag, prio, comm_of(mpi_comm));
}

int fstarpu_mpi_issend(starpu_data_handle_t dh, void *mpi_req, int dst, int64_t data_tag,
                       int mpi_comm)
{
    return starpu_mpi_issend(dh, mpi_req, dst, data_tag, comm_of(mpi_comm));
}

int fstarpu_mpi_issend_prio(starpu_data_handle_t dh, void *mpi_req, int dst,
                            int64_t data_tag, int prio, int mpi_comm)
{
    return starpu_mpi_issend_prio(dh, mpi_req, dst, data_tag, prio, comm_of(mpi_comm));
}

int fstarpu_mpi_irecv(starpu_data_handle_t dh, void *mpi_req, int src, int64_t data_tag,
                      int mpi_comm)
{
    return starpu_mpi_irecv(dh, mpi_req, src, data_tag, comm_of(mpi_comm));
}

int fstarpu_mpi_send(starpu_data_handle_t dh, int dst, int64_t data_tag, int mpi_comm)
{
    return starpu_mpi_send(dh, dst, data_tag, comm_of(mpi_comm));
}

int fstarpu_mpi_send_prio(starpu_data_handle_t dh, int dst, int64_t data_tag, int prio,
                          int mpi_comm)
{
    return starpu_mpi_send_prio(dh, dst, data_tag, prio, comm_of(mpi_comm));
}

int fstarpu_mpi_recv(starpu_data_handle_t dh, int src, int64_t data_tag, int mpi_comm,
                     void *mpi_status)
{
    return starpu_mpi_recv(dh, src, data_tag, comm_of(mpi_comm), mpi_status);
}

int fstarpu_mpi_isend_detached(starpu_data_handle_t dh, int dst, int64_t data_tag,
                               int mpi_comm, void *callback, void *arg)
{
    return starpu_mpi_isend_detached(dh, dst, data_tag, comm_of(mpi_comm),
                                     function(callback), arg);
}

int fstarpu_mpi_isend_detached_prio(starpu_data_handle_t dh, int dst, int64_t data_tag,
                                    int prio, int mpi_comm, void *callback, void *arg)
{
    return starpu_mpi_isend_detached_prio(dh, dst, data_tag, prio, comm_of(mpi_comm),
                                          function(callback), arg);
}

int fstarpu_mpi_issend_detached(starpu_data_handle_t dh, int dst, int64_t data_tag,
                                int mpi_comm, void *callback, void *arg)
{
    return starpu_mpi_issend_detached(dh, dst, data_tag, comm_of(mpi_comm),
                                      function(callback), arg);
}

int fstarpu_mpi_issend_detached_prio(starpu_data_handle_t dh, int dst, int64_t data_tag,
                                     int prio, int mpi_comm, void *callback, void *arg)
{
    return starpu_mpi_issend_detached_prio(dh, dst, data_tag, prio, comm_of(mpi_comm),
                                           function(callback), arg);
}

int fstarpu_mpi_irecv_detached(starpu_data_handle_t dh, int src, int64_t data_tag,
                               int mpi_comm, void *callback, void *arg)
{
    return starpu_mpi_irecv_detached(dh, src, data_tag, comm_of(mpi_comm),
                                     function(callback), arg);
}

int fstarpu_mpi_irecv_detached_sequential_consistency(starpu_data_handle_t dh, int src,
                                                      int64_t data_tag, int mpi_comm,
                                                      void *callback, void *arg,
                                                      int seq_const)
{
    return starpu_mpi_irecv_detached_sequential_consistency(
        dh, src, data_tag, comm_of(mpi_comm), function(callback), arg, seq_const);
}

/* --- messages that notify a tag, of which there is the address --- */

static starpu_tag_t tag_at(const void *address)
{
    starpu_tag_t tag;

    memcpy(&tag, address, sizeof(tag));
    return tag;
}

int fstarpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t dh, int dst,
                                          int64_t data_tag, int mpi_comm, void *starpu_tag)
{
    return starpu_mpi_isend_detached_unlock_tag(dh, dst, data_tag, comm_of(mpi_comm),
                                                tag_at(starpu_tag));
}

int fstarpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t dh, int dst,
                                               int64_t data_tag, int prio, int mpi_comm,
                                               void *starpu_tag)
{
    return starpu_mpi_isend_detached_unlock_tag_prio(
        dh, dst, data_tag, prio, comm_of(mpi_comm), tag_at(starpu_tag));
}

int fstarpu_mpi_irecv_detached_unlock_tag(starpu_data_handle_t dh, int src,
                                          int64_t data_tag, int mpi_comm, void *starpu_tag)
{
    return starpu_mpi_irecv_detached_unlock_tag(dh, src, data_tag, comm_of(mpi_comm),
                                                tag_at(starpu_tag));
}

/* To be freed by the caller. */
static MPI_Comm *comms_of(const int *mpi_comms, int n, const char *call)
{
    MPI_Comm *comms = allocate((size_t)(n > 0 ? n : 0), sizeof(*comms), call);

    for (int i = 0; i < n; i++)
        comms[i] = comm_of(mpi_comms[i]);
    return comms;
}

int fstarpu_mpi_isend_array_detached_unlock_tag(int array_size, void *const *dhs,
                                                const int *dsts, const int64_t *data_tags,
                                                const int *mpi_comms, void *starpu_tag)
{
    MPI_Comm *comms = comms_of(mpi_comms, array_size, __func__);
    int rc = starpu_mpi_isend_array_detached_unlock_tag(
        (unsigned)array_size, mutable(dhs), mutable(dsts), mutable(data_tags), comms,
        tag_at(starpu_tag));

    free(comms);
    return rc;
}

int fstarpu_mpi_isend_array_detached_unlock_tag_prio(int array_size, void *const *dhs,
                                                     const int *dsts,
                                                     const int64_t *data_tags,
                                                     const int *prio, const int *mpi_comms,
                                                     void *starpu_tag)
{
    MPI_Comm *comms = comms_of(mpi_comms, array_size, __func__);
    int rc = starpu_mpi_isend_array_detached_unlock_tag_prio(
        (unsigned)array_size, mutable(dhs), mutable(dsts), mutable(data_tags),
        mutable(prio), comms, tag_at(starpu_tag));

    free(comms);
    return rc;
}

int fstarpu_mpi_irecv_array_detached_unlock_tag(int array_size, void *const *dhs,
                                                const int *srcs, const int64_t *data_tags,
                                                const int *mpi_comms, void *starpu_tag)
{
    MPI_Comm *comms = comms_of(mpi_comms, array_size, __func__);
    int rc = starpu_mpi_irecv_array_detached_unlock_tag(
        (unsigned)array_size, mutable(dhs), mutable(srcs), mutable(data_tags), comms,
        tag_at(starpu_tag));

    free(comms);
    return rc;
}

/* --- receptions under the names of StarPU's module --- */

int fstarpu_mpi_recv_detached(starpu_data_handle_t dh, int src, int64_t data_tag,
                              int mpi_comm, void *callback, void *arg)
{
    return fstarpu_mpi_irecv_detached(dh, src, data_tag, mpi_comm, callback, arg);
}

int fstarpu_mpi_recv_detached_sequential_consistency(starpu_data_handle_t dh, int src,
                                                     int64_t data_tag, int mpi_comm,
                                                     void *callback, void *arg,
                                                     int seq_const)
{
    return fstarpu_mpi_irecv_detached_sequential_consistency(dh, src, data_tag, mpi_comm,
                                                             callback, arg, seq_const);
}

int fstarpu_mpi_recv_detached_unlock_tag(starpu_data_handle_t dh, int src,
                                         int64_t data_tag, int mpi_comm, void *starpu_tag)
{
    return fstarpu_mpi_irecv_detached_unlock_tag(dh, src, data_tag, mpi_comm, starpu_tag);
}

int fstarpu_mpi_recv_array_detached_unlock_tag(int array_size, void *const *dhs,
                                               const int *srcs, const int64_t *data_tags,
                                               const int *mpi_comms, void *starpu_tag)
{
    return fstarpu_mpi_irecv_array_detached_unlock_tag(array_size, dhs, srcs, data_tags,
                                                       mpi_comms, starpu_tag);
}

/* --- insertion --- */

/* The list begins with the communicator's address. */
static MPI_Comm comm_at(void *const *list, const char *call)
{
    int comm;

    if (!list[0]) {
        orr_log_error("%s: the communicator's address is a null pointer: the list begins "
                      "with c_loc(comm), then the codelet",
                      call);
        abort();
    }
    memcpy(&comm, list[0], sizeof(comm));
    return comm_of(comm);
}

static int insert(void *const *list, const char *call)
{
    struct orr_rank *rank = orr_rank_need(call);
    const struct orr_comm *comm = orr_api_comm(rank, comm_at(list, call), call);
    struct orr_insertion insertion;
    int rc = orr_insertion_decode_list(&insertion, call, list + 1);

    return rc ? rc : orr_insert(rank, comm, &insertion);
}

int fstarpu_mpi_task_insert_ret(void *const *arglist)
{
    return insert(arglist, __func__);
}

void fstarpu_mpi_task_insert(void *const *arglist)
{
    if (insert(arglist, __func__))
        orr_runtime_fail(ORR_API_RANK()->rt);
}

void *fstarpu_mpi_task_build(void *const *arglist)
{
    struct orr_rank *rank = ORR_API_RANK();
    const struct orr_comm *comm = orr_api_comm(rank, comm_at(arglist, __func__), __func__);
    struct orr_insertion insertion;

    if (orr_insertion_decode_list(&insertion, __func__, arglist + 1))
        orr_runtime_fail(rank->rt);
    return orr_insert_build(rank, comm, &insertion);
}

void fstarpu_mpi_task_post_build(void *const *arglist)
{
    struct orr_rank *rank = ORR_API_RANK();
    const struct orr_comm *comm = orr_api_comm(rank, comm_at(arglist, __func__), __func__);
    struct orr_insertion insertion;

    if (orr_insertion_decode_list(&insertion, __func__, arglist + 1) ||
        orr_insert_post_build(rank, comm, &insertion))
        orr_runtime_fail(rank->rt);
}

int starpu_mpi_data_selection_get_current_policy(void)
{
    return starpu_mpi_node_selection_get_current_policy();
}

int starpu_mpi_data_selection_set_current_policy(intptr_t policy)
{
    return starpu_mpi_node_selection_set_current_policy((int)policy);
}

/* --- data --- */

void fstarpu_mpi_data_register_comm(starpu_data_handle_t dh, int64_t tag, int rank,
                                    int mpi_comm)
{
    starpu_mpi_data_register_comm(dh, tag, rank, comm_of(mpi_comm));
}

void fstarpu_mpi_data_register(starpu_data_handle_t dh, int64_t tag, int rank)
{
    starpu_mpi_data_register(dh, tag, rank);
}

void fstarpu_mpi_data_set_rank_comm(starpu_data_handle_t dh, int rank, int mpi_comm)
{
    starpu_mpi_data_set_rank_comm(dh, rank, comm_of(mpi_comm));
}

void fstarpu_mpi_data_set_rank(starpu_data_handle_t dh, int rank)
{
    starpu_mpi_data_set_rank(dh, rank);
}

void fstarpu_mpi_data_migrate(int mpi_comm, starpu_data_handle_t dh, int rank)
{
    starpu_mpi_data_migrate(comm_of(mpi_comm), dh, rank);
}

void fstarpu_mpi_get_data_on_node(int mpi_comm, starpu_data_handle_t dh, int node)
{
    starpu_mpi_get_data_on_node(comm_of(mpi_comm), dh, node);
}

void fstarpu_mpi_get_data_on_node_detached(int mpi_comm, starpu_data_handle_t dh, int node,
                                           void *callback, void *arg)
{
    starpu_mpi_get_data_on_node_detached(comm_of(mpi_comm), dh, node, function(callback),
                                         arg);
}

void fstarpu_mpi_cache_flush(int mpi_comm, starpu_data_handle_t dh)
{
    starpu_mpi_cache_flush(comm_of(mpi_comm), dh);
}

void fstarpu_mpi_cache_flush_all_data(int mpi_comm)
{
    starpu_mpi_cache_flush_all_data(comm_of(mpi_comm));
}

int fstarpu_mpi_scatter_detached(void *const *dhs, int cnt, int root, int mpi_comm,
                                 void *scallback, void *sarg, void *rcallback, void *rarg)
{
    return starpu_mpi_scatter_detached(mutable(dhs), cnt, root, comm_of(mpi_comm),
                                       function(scallback), sarg, function(rcallback),
                                       rarg);
}

int fstarpu_mpi_gather_detached(void *const *dhs, int cnt, int root, int mpi_comm,
                                void *scallback, void *sarg, void *rcallback, void *rarg)
{
    return starpu_mpi_gather_detached(mutable(dhs), cnt, root, comm_of(mpi_comm),
                                      function(scallback), sarg, function(rcallback), rarg);
}

/* --- reductions --- */

void fstarpu_mpi_redux_data(int mpi_comm, starpu_data_handle_t dh)
{
    starpu_mpi_redux_data(comm_of(mpi_comm), dh);
}

void fstarpu_mpi_redux_data_prio(int mpi_comm, starpu_data_handle_t dh, int prio)
{
    starpu_mpi_redux_data_prio(comm_of(mpi_comm), dh, prio);
}

void fstarpu_mpi_redux_data_tree(int mpi_comm, starpu_data_handle_t dh, int arity)
{
    starpu_mpi_redux_data_tree(comm_of(mpi_comm), dh, arity);
}

void fstarpu_mpi_redux_data_prio_tree(int mpi_comm, starpu_data_handle_t dh, int prio,
                                      int arity)
{
    starpu_mpi_redux_data_prio_tree(comm_of(mpi_comm), dh, prio, arity);
}
