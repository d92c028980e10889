/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/insert.c - tasks that all ranks insert. The thread that submits them. */
#include "mpi/insert.h"
#include "core/api/insertion.h"
#include "mpi/api/api.h"
#include "mpi/select.h"

/* The header's macros of these names add file and line. */
#undef starpu_mpi_task_insert
#undef starpu_mpi_insert_task
#undef starpu_mpi_task_build

static int insert(MPI_Comm native, const char *call, struct starpu_codelet *cl, va_list ap)
{
    struct orr_rank *rank = orr_rank_need(call);
    const struct orr_comm *comm = orr_api_comm(rank, native, call);
    struct orr_insertion insertion;
    int rc = orr_insertion_decode(&insertion, call, cl, ap);

    return rc ? rc : orr_insert(rank, comm, &insertion);
}

int starpu_mpi_task_insert(MPI_Comm comm, struct starpu_codelet *codelet, ...)
{
    va_list ap;
    int rc;

    va_start(ap, codelet);
    rc = insert(comm, __func__, codelet, ap);
    va_end(ap);
    return rc;
}

int starpu_mpi_insert_task(MPI_Comm comm, struct starpu_codelet *codelet, ...)
{
    va_list ap;
    int rc;

    va_start(ap, codelet);
    rc = insert(comm, __func__, codelet, ap);
    va_end(ap);
    return rc;
}

/* --- in halves --- */

struct starpu_task *starpu_mpi_task_build_v(MPI_Comm comm, struct starpu_codelet *codelet,
                                            va_list varg_list)
{
    struct orr_rank *rank = ORR_API_RANK();
    const struct orr_comm *c = orr_api_comm(rank, comm, __func__);
    struct orr_insertion insertion;

    if (orr_insertion_decode(&insertion, "starpu_mpi_task_build", codelet, varg_list))
        return NULL;
    return orr_insert_build(rank, c, &insertion);
}

struct starpu_task *starpu_mpi_task_build(MPI_Comm comm, struct starpu_codelet *codelet,
                                          ...)
{
    struct starpu_task *task;
    va_list ap;

    va_start(ap, codelet);
    task = starpu_mpi_task_build_v(comm, codelet, ap);
    va_end(ap);
    return task;
}

int starpu_mpi_task_post_build_v(MPI_Comm comm, struct starpu_codelet *codelet,
                                 va_list varg_list)
{
    struct orr_rank *rank = ORR_API_RANK();
    const struct orr_comm *c = orr_api_comm(rank, comm, __func__);
    struct orr_insertion insertion;
    int rc = orr_insertion_decode(&insertion, "starpu_mpi_task_post_build", codelet,
                                  varg_list);

    return rc ? rc : orr_insert_post_build(rank, c, &insertion);
}

int starpu_mpi_task_post_build(MPI_Comm comm, struct starpu_codelet *codelet, ...)
{
    va_list ap;
    int rc;

    va_start(ap, codelet);
    rc = starpu_mpi_task_post_build_v(comm, codelet, ap);
    va_end(ap);
    return rc;
}

int starpu_mpi_task_exchange_data_before_execution(
    MPI_Comm comm, struct starpu_task *task, struct starpu_data_descr *descrs,
    struct starpu_mpi_task_exchange_params *params)
{
    struct orr_rank *rank = ORR_API_RANK();
    const struct orr_comm *c = orr_api_comm(rank, comm, __func__);
    struct orr_part_in part;
    unsigned n;
    int rc;

    orr_api_pointer(rank, task, "task", __func__);
    n = (unsigned)STARPU_TASK_GET_NBUFFERS(task);
    for (unsigned i = 0; i < n; i++) {
        descrs[i].handle = STARPU_TASK_GET_HANDLE(task, i);
        descrs[i].mode = STARPU_TASK_GET_MODE(task, i);
    }
    rc = orr_insert_decide(rank, c, -1, STARPU_MPI_NODE_SELECTION_CURRENT_POLICY, descrs, n,
                           task->priority, __func__, &part);
    if (rc)
        return rc;
    *params = (struct starpu_mpi_task_exchange_params){
        .do_execute = part.executes,
        .xrank = part.executor,
        .priority = part.priority,
    };
    orr_insert_before(rank, c, &part, descrs, n, __func__);
    return 0;
}

int starpu_mpi_task_exchange_data_after_execution(
    MPI_Comm comm, struct starpu_data_descr *descrs, unsigned nb_data,
    struct starpu_mpi_task_exchange_params params)
{
    struct orr_rank *rank = ORR_API_RANK();
    struct orr_part_in part = {
        .executor = params.xrank,
        .executes = params.do_execute,
        .priority = params.priority,
    };

    orr_insert_after(rank, orr_api_comm(rank, comm, __func__), &part, descrs, nb_data,
                     __func__);
    return 0;
}

/* --- policies --- */

int starpu_mpi_node_selection_register_policy(
    starpu_mpi_select_node_policy_func_t policy_func)
{
    struct orr_rank *rank = ORR_API_RANK();

    orr_api_pointer(rank, (const void *)(uintptr_t)policy_func, "policy", __func__);
    return orr_api_must(rank, orr_policies_add(rank, policy_func, __func__));
}

int starpu_mpi_node_selection_unregister_policy(int policy)
{
    struct orr_rank *rank = ORR_API_RANK();

    return orr_api_must(rank, orr_policies_remove(rank, policy, __func__));
}

int starpu_mpi_node_selection_get_current_policy(void)
{
    return ORR_API_RANK()->policies.current;
}

int starpu_mpi_node_selection_set_current_policy(int policy)
{
    struct orr_rank *rank = ORR_API_RANK();

    return orr_api_must(rank, orr_policies_set_current(rank, policy, __func__));
}

/* --- the application's function --- */

int starpu_mpi_pre_submit_hook_register(void (*f)(struct starpu_task *))
{
    struct orr_rank *rank = ORR_API_RANK();

    if (rank->hook)
        orr_rank_fail(rank, "%s: there is a function already: call "
                            "starpu_mpi_pre_submit_hook_unregister first",
                      __func__);
    rank->hook = f;
    return 0;
}

int starpu_mpi_pre_submit_hook_unregister(void)
{
    ORR_API_RANK()->hook = NULL;
    return 0;
}
