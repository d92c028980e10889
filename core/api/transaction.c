/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/transaction.c - transactions: tasks in epochs, before each of which the
 * application is asked whether its tasks are to be executed. An internal handle makes
 * the order: the task that asks writes it, the epoch's tasks read it, as one buffer
 * more than they were given. From one thread at a time.
 */
#include "core/api/transaction.h"

#include <errno.h>
#include <stdlib.h>

#include "core/api/api.h"
#include "core/task/transaction.h"

struct starpu_transaction {
    starpu_data_handle_t handle;
    int (*do_start)(void *buffer, void *arg);
    struct _starpu_trs_epoch *epoch; /* of tasks that are submitted now */
};

/* The end of one epoch and the beginning of the next. */
struct transition {
    struct starpu_transaction *transaction;
    struct _starpu_trs_epoch *before, *after; /* NULL: none */
    void *arg;
};

/* Runs when all tasks of the epoch before have ended: asks whether the next one is to
 * be executed. */
static void transaction_ask(void *buffers[], void *cl_arg)
{
    const struct transition *transition = cl_arg;
    const struct starpu_transaction *transaction = transition->transaction;

    (void)buffers;
    free(transition->before);
    if (transition->after && transaction->do_start &&
        !transaction->do_start(NULL, transition->arg))
        atomic_store(&transition->after->cancelled, true);
}

/* Simulated workers execute it too, and no time is counted. */
static struct starpu_codelet codelet = {
    .cpu_funcs = {transaction_ask},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
    .name = "starpu_transaction",
};

static void free_transaction(void *arg)
{
    free(arg);
}

/* Submits the task between the present epoch and `after`. */
static int transaction_submit(struct starpu_transaction *transaction,
                              struct _starpu_trs_epoch *after, void *arg)
{
    struct transition *transition = malloc(sizeof(*transition));
    struct _starpu_trs_epoch *before = transaction->epoch;
    struct starpu_task *task = starpu_task_create();
    int rc;

    if (!transition || !task) {
        orr_log_error("out of memory for a transaction: the program ends");
        abort();
    }
    *transition = (struct transition){transaction, before, after, arg};
    task->cl = &codelet;
    task->handles[0] = transaction->handle;
    task->cl_arg = transition;
    task->cl_arg_size = sizeof(*transition);
    task->cl_arg_free = 1;
    if (!after) {
        task->callback_func = free_transaction;
        task->callback_arg = transaction;
    }
    transaction->epoch = after;
    rc = starpu_task_submit(task);
    if (rc == 0) /* the last task may have freed the transaction */
        return 0;
    transaction->epoch = before;
    task->destroy = 0;
    starpu_task_destroy(task);
    return rc;
}

static void begin_epoch(const char *call,
                        struct starpu_transaction *transaction, void *arg)
{
    struct _starpu_trs_epoch *epoch = calloc(1, sizeof(*epoch));

    if (epoch && transaction_submit(transaction, epoch, arg) == 0)
        return;
    orr_log_error("%s: there is no memory, or no CPU worker any more", call);
    abort();
}

struct starpu_transaction *starpu_transaction_open(int (*do_start_func)(void *,
                                                                        void *),
                                                   void *do_start_arg)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct starpu_transaction *transaction;

    (void)rt;
    if (starpu_cpu_worker_get_count() == 0)
        return NULL;
    transaction = calloc(1, sizeof(*transaction));
    if (!transaction)
        return NULL;
    transaction->do_start = do_start_func;
    starpu_void_data_register(&transaction->handle);
    begin_epoch(__func__, transaction, do_start_arg);
    return transaction;
}

static void expect_open(const char *call, const struct starpu_transaction *trs)
{
    if (trs)
        return;
    orr_log_error("%s: the transaction is NULL: use what "
                  "starpu_transaction_open returned",
                  call);
    abort();
}

void starpu_transaction_next_epoch(struct starpu_transaction *p_trs,
                                   void *do_start_arg)
{
    expect_open(__func__, p_trs);
    begin_epoch(__func__, p_trs, do_start_arg);
}

void starpu_transaction_close(struct starpu_transaction *p_trs)
{
    starpu_data_handle_t handle;

    expect_open(__func__, p_trs);
    handle = p_trs->handle;
    if (transaction_submit(p_trs, NULL, NULL) != 0) {
        orr_log_error("%s: there is no CPU worker any more", __func__);
        abort();
    }
    starpu_data_unregister_submit(handle);
}

/* -- its tasks -- */

int orr_transaction_join(struct starpu_task *task)
{
    struct starpu_transaction *transaction = task->transaction;
    int allocated, n;

    if (!transaction)
        return 0;
    if (!task->cl || task->cl->nbuffers != STARPU_VARIABLE_NBUFFERS) {
        orr_log_error("starpu_task_submit: a task of a transaction has one "
                      "buffer more than it was given: its codelet needs "
                      "nbuffers = STARPU_VARIABLE_NBUFFERS");
        return -EINVAL;
    }
    if (task->trs_epoch) { /* it runs again */
        task->trs_epoch = transaction->epoch;
        return 0;
    }
    n = task->nbuffers;
    allocated = task->dyn_handles ? n : 0;
    starpu_task_insert_data_process_arg(task->cl, task, &allocated, &n,
                                        STARPU_R, transaction->handle);
    task->nbuffers = n;
    task->trs_epoch = transaction->epoch;
    return 0;
}

void orr_transaction_leave(struct starpu_task *task)
{
    if (!task->trs_epoch)
        return;
    task->trs_epoch = NULL;
    task->nbuffers--;
}
