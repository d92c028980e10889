/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/transaction.h - tasks that belong to a transaction. */
#pragma once

struct starpu_task;

/* The task is about to be submitted: it joins its transaction's present epoch,
 * if it has a transaction. Errors, with a message: -EINVAL. */
int orr_transaction_join(struct starpu_task *task);

/* The task's submission was refused: undoes orr_transaction_join. */
void orr_transaction_leave(struct starpu_task *task);
