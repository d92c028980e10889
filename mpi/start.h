/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/start.h - the begin of a request: its call, its place in its channel, its turn. */
#pragma once

#include "mpi/request.h"

/* Starts a request; *ret (which a detached one does not need) is freed by
 * orr_request_wait or orr_request_test. Errors, after a message: -EINVAL (no datum, no
 * such rank), -ENOMEM. Any context of the run. */
int orr_request_start(struct orr_rank *rank, const struct orr_request_call *call,
                      struct orr_request **ret);

/* Only makes it, with the same errors: its place in its channel and its turn are the
 * caller's to see to. */
int orr_request_prepare(struct orr_rank *rank, const struct orr_request_call *call,
                        struct orr_request **ret);
