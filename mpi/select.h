/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/select.h - which rank executes a task whose data do not say it: policies, which must
 * decide alike on all ranks.
 */
#pragma once

#include "mpi/members.h"

struct orr_comm;
struct orr_insertion;
struct orr_rank;

/* A number for the policy. Errors, after a message that names `call`: -ENOSPC. */
int orr_policies_add(struct orr_rank *rank, orr_policy *policy, const char *call);

/* Errors, after a message: -EINVAL, there is none of that number, or it is 0. */
int orr_policies_remove(struct orr_rank *rank, int number, const char *call);
int orr_policies_set_current(struct orr_rank *rank, int number, const char *call);

/* What policy `number` says of data, -1: the current one. -EINVAL, after a message: there
 * is none, or it says no rank. */
int orr_policies_choose(struct orr_rank *rank, const struct orr_comm *comm, int number,
                        struct starpu_data_descr *data, unsigned n, const char *call);
