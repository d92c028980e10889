/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/select.h - which rank executes a task whose data do not say it: policies, which must
 * decide alike on all ranks.
 */
#pragma once

#include <stddef.h>

#include <starpu.h>

struct orr_comm;
struct orr_insertion;
struct orr_rank;

/* Returns a rank of the communicator of `size` ranks, in which the caller is `me`. */
typedef int orr_policy(int me, int size, struct starpu_data_descr *data, int n);

/* 0, which is always there, takes the rank with most bytes, the lowest one of equals. */
enum { ORR_MOST_POLICIES = 24 };

struct orr_policies {
    orr_policy *at[ORR_MOST_POLICIES]; /* NULL: none; of 0 as well */
    int current;
};

/* A number for the policy. Errors, after a message that names `call`: -ENOSPC. */
int orr_policies_add(struct orr_rank *rank, orr_policy *policy, const char *call);

/* Errors, after a message: -EINVAL, there is none of that number, or it is 0. */
int orr_policies_remove(struct orr_rank *rank, int number, const char *call);
int orr_policies_set_current(struct orr_rank *rank, int number, const char *call);

/* What policy `number` says of data, -1: the current one. -EINVAL, after a message: there
 * is none, or it says no rank. */
int orr_policies_choose(struct orr_rank *rank, const struct orr_comm *comm, int number,
                        struct starpu_data_descr *data, unsigned n, const char *call);
