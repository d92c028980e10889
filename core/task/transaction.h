/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/transaction.h - the epoch of a transaction, as tasks see it;
 * core/api/transaction.c has the rest.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct _starpu_trs_epoch {
    atomic_bool cancelled; /* set before its tasks are ready */
};
