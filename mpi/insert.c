/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/insert.c - see insert.h. */
#include "mpi/insert.h"

#include <errno.h>

#include "core/api/insertion.h"
#include "core/base/log.h"
#include "mpi/balance.h"
#include "mpi/cache.h"
#include "mpi/check.h"
#include "mpi/datum.h"
#include "mpi/move.h"
#include "mpi/rank.h"
#include "mpi/redux.h"
#include "mpi/select.h"

static struct orr_datum *datum_of(const struct starpu_data_descr *d)
{
    return d->handle ? orr_datum_of(orr_handle_of(d->handle)) : NULL;
}

static bool is_written(const struct starpu_data_descr *d)
{
    return d->mode & STARPU_W && !(d->mode & STARPU_MPI_REDUX);
}

static bool is_read(const struct starpu_data_descr *d)
{
    return d->mode & STARPU_R && !(d->mode & (STARPU_MPI_REDUX | STARPU_SCRATCH));
}

static bool decides(const struct starpu_data_descr *d)
{
    return !(d->mode & STARPU_MPI_REDUX) && d->mode & (STARPU_W | STARPU_REDUX);
}

/* --- who executes --- */

/* Data of which each rank has its own are written on each rank. */
static int check_per_rank(struct starpu_data_descr *data, unsigned n, const char *call)
{
    for (unsigned i = 0; i < n; i++) {
        const struct orr_datum *datum = datum_of(&data[i]);

        if (datum && datum->owner != ORR_EVERY_RANK &&
            !(data[i].mode & STARPU_SCRATCH)) {
            orr_log_error("%s: the task writes data of which each rank has its own "
                          "(STARPU_MPI_PER_NODE), so that each rank executes it, but "
                          "tag %lld belongs to rank %d alone",
                          call, (long long)datum->tag, datum->owner);
            return -EINVAL;
        }
    }
    return 0;
}

int orr_insert_decide(struct orr_rank *rank, const struct orr_comm *comm, int node,
                      int policy, struct starpu_data_descr *data, unsigned n, int priority,
                      const char *call, struct orr_part_in *ret)
{
    int executor = ORR_NO_RANK;
    bool differ = false, each = false;

    for (unsigned i = 0; i < n; i++) {
        const struct orr_datum *datum = datum_of(&data[i]);

        if (!decides(&data[i]))
            continue;
        if (!data[i].handle)
            return -EINVAL;
        if (!datum || datum->owner == ORR_NO_RANK)
            continue;
        each |= datum->owner == ORR_EVERY_RANK;
        differ |= executor != ORR_NO_RANK && executor != datum->owner;
        executor = datum->owner;
    }
    if (each && check_per_rank(data, n, call))
        orr_runtime_fail(rank->rt);
    if (each)
        executor = ORR_EVERY_RANK;
    else if (node >= 0)
        executor = node;
    else if (differ || executor == ORR_NO_RANK)
        executor = orr_policies_choose(rank, comm, policy, data, n, call);
    if (executor >= comm->size)
        return orr_log_error("%s: rank %d is to execute the task, and the communicator has "
                             "ranks 0 to %d",
                             call, executor, comm->size - 1),
               -EINVAL;
    if (executor == -EINVAL)
        return -EINVAL;
    *ret = (struct orr_part_in){
        .executor = executor,
        .executes = executor == comm->rank || executor == ORR_EVERY_RANK,
        .priority = priority,
    };
    return 0;
}

/* --- the messages --- */

static void need_tag(struct orr_rank *rank, const struct orr_datum *datum, unsigned number,
                     const char *call)
{
    if (datum && datum->owner != ORR_NO_RANK && datum->tag >= 0)
        return;
    orr_rank_fail(rank, "%s: datum %u of the task goes from one rank to another, and has "
                        "no %s: call starpu_mpi_data_register on all ranks first",
                  call, number, datum && datum->tag >= 0 ? "rank" : "tag");
}

void orr_insert_before(struct orr_rank *rank, const struct orr_comm *comm,
                       const struct orr_part_in *part, struct starpu_data_descr *data,
                       unsigned n, const char *call)
{
    for (unsigned i = 0; i < n; i++) {
        struct orr_datum *datum = datum_of(&data[i]);

        if (datum)
            orr_redux_before(datum, data[i].mode, call);
        if (!is_read(&data[i]) || !data[i].handle ||
            (datum && (datum->owner == part->executor || datum->owner == ORR_EVERY_RANK)))
            continue;
        if (part->executes && part->executor >= 0) {
            need_tag(rank, datum, i, call);
            orr_move_receive(datum, comm, part->priority, call);
        } else if (datum && datum->owner == comm->rank) {
            need_tag(rank, datum, i, call);
            orr_move_send(datum, comm, part->executor, part->priority,
                          data[i].mode & STARPU_SSEND, call);
        }
    }
}

/* What was written goes back to its owner, if that is another rank. */
static void send_back(struct orr_rank *rank, const struct orr_comm *comm,
                      const struct orr_part_in *part, struct starpu_data_descr *d,
                      unsigned number, const char *call)
{
    struct orr_datum *datum = datum_of(d);

    if (part->executor < 0 || (datum && (datum->owner == part->executor ||
                                         datum->owner == ORR_EVERY_RANK)))
        return;
    if (part->executes) {
        need_tag(rank, datum, number, call);
        orr_move_give(datum, comm, datum->owner, part->priority, call);
    } else if (datum && datum->owner == comm->rank) {
        need_tag(rank, datum, number, call);
        orr_move_take(datum, comm, part->executor, part->priority, call);
    }
}

void orr_insert_after(struct orr_rank *rank, const struct orr_comm *comm,
                      const struct orr_part_in *part, struct starpu_data_descr *data,
                      unsigned n, const char *call)
{
    for (unsigned i = 0; i < n; i++) {
        struct orr_datum *datum = datum_of(&data[i]);

        if (!data[i].handle)
            continue;
        if (datum && data[i].mode & (STARPU_REDUX | STARPU_MPI_REDUX))
            orr_redux_contributed(datum, part->executor, call);
        else if (is_written(&data[i]))
            send_back(rank, comm, part, &data[i], i, call);
    }
    for (unsigned i = 0; i < n; i++) {
        struct orr_datum *datum = datum_of(&data[i]);

        if (!datum)
            continue;
        if (is_written(&data[i])) {
            orr_cache_written(datum);
            datum->leftover |= part->executes;
        } else if (part->executes && is_read(&data[i]))
            orr_move_drop(datum, part->executor);
    }
}

/* --- calls --- */

static int decide(struct orr_rank *rank, const struct orr_comm *comm,
                  struct orr_insertion *insertion, struct orr_part_in *ret)
{
    int node = -1;

    if (insertion->where == ORR_INSERT_ON_NODE) {
        node = insertion->node;
    } else if (insertion->where == ORR_INSERT_ON_DATA) {
        const struct orr_datum *datum =
            insertion->on ? orr_datum_of(orr_handle_of(insertion->on)) : NULL;

        if (!datum || datum->owner < 0) {
            orr_log_error("%s: STARPU_EXECUTE_ON_DATA: the datum has no rank", 
                          insertion->call);
            return -EINVAL;
        }
        node = datum->owner;
    }
    return orr_insert_decide(rank, comm, node, insertion->policy, insertion->data,
                             insertion->ndata, insertion->priority, insertion->call, ret);
}

/* The task may be gone on return, so the application looks at it before. */
static int submit(struct orr_rank *rank, struct starpu_task *task)
{
    if (rank->hook)
        rank->hook(task);
    return starpu_task_submit(task);
}

/* No task is made of it. Most insertions are of this kind where there are many ranks, and
 * most lists have nothing that was to be freed with the task: the macros give file and line
 * to each. */
static void drop(const struct orr_insertion *insertion)
{
    for (unsigned i = 0; i < insertion->nargs; i++) {
        int tag = insertion->args[i].tag;

        if (tag != STARPU_TASK_FILE && tag != STARPU_TASK_LINE && tag != STARPU_PRIORITY) {
            orr_insertion_drop(insertion);
            return;
        }
    }
}

/* For the record of the run. */
static void note_skipped(struct orr_rank *rank, bool executes)
{
    if (!orr_is_told(rank->rt, ORR_TOLD_CALL))
        return;
    if (executes)
        orr_rank_record_skipped(rank);
    else
        atomic_fetch_add_explicit(&rank->nskipped, 1, memory_order_relaxed);
}

int orr_insert(struct orr_rank *rank, const struct orr_comm *comm,
               struct orr_insertion *insertion)
{
    struct orr_part_in part;
    struct starpu_task *task = NULL;
    int rc;

    orr_check_inserted(rank, comm, insertion);
    rc = decide(rank, comm, insertion, &part);
    if (rc) {
        drop(insertion);
        orr_insertion_end(insertion);
        return rc;
    }
    orr_insert_before(rank, comm, &part, insertion->data, insertion->ndata,
                      insertion->call);
    note_skipped(rank, part.executes);
    if (!part.executes)
        drop(insertion);
    else if ((rc = orr_insertion_make(insertion, &task)) == 0 &&
             (rc = submit(rank, task)) == -ENODEV) {
        orr_log_error("%s: rank %d executes the task \"%s\", and has no worker for it",
                      insertion->call, comm->rank, starpu_task_get_name(task));
        task->destroy = 0;
        starpu_task_destroy(task);
    }
    if (rc == 0)
        orr_insert_after(rank, comm, &part, insertion->data, insertion->ndata,
                         insertion->call);
    if (rc == 0 && rank->balance && comm->number == 0)
        orr_balance_inserted(rank, insertion, part.executes);
    orr_insertion_end(insertion);
    return rc;
}

struct starpu_task *orr_insert_build(struct orr_rank *rank, const struct orr_comm *comm,
                                     struct orr_insertion *insertion)
{
    struct orr_part_in part;
    struct starpu_task *task = NULL;

    orr_check_inserted(rank, comm, insertion);
    if (decide(rank, comm, insertion, &part) == 0) {
        orr_insert_before(rank, comm, &part, insertion->data, insertion->ndata,
                          insertion->call);
        note_skipped(rank, part.executes);
        if (part.executes)
            (void)orr_insertion_make(insertion, &task);
        else
            drop(insertion);
    } else {
        drop(insertion);
    }
    orr_insertion_end(insertion);
    return task;
}

int orr_insert_post_build(struct orr_rank *rank, const struct orr_comm *comm,
                          struct orr_insertion *insertion)
{
    struct orr_part_in part;
    int rc = decide(rank, comm, insertion, &part);

    if (rc == 0)
        orr_insert_after(rank, comm, &part, insertion->data, insertion->ndata,
                         insertion->call);
    orr_insertion_end(insertion);
    return rc;
}
