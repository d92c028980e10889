/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_task_bundle.h - groups of tasks that a scheduler should place
 * together: dm and its kin look where all members that are still to be placed
 * would end first.
 */
#pragma once

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_perfmodel_arch;
struct starpu_task;
struct _starpu_task_bundle;
typedef struct _starpu_task_bundle *starpu_task_bundle_t;

/* An open bundle without tasks. */
void starpu_task_bundle_create(starpu_task_bundle_t *bundle);
/* Adds a task that was not submitted and is in no bundle. 0, -EPERM for a bundle
 * that was closed, -EINVAL, -ENOMEM. */
int starpu_task_bundle_insert(starpu_task_bundle_t bundle,
                              struct starpu_task *task);
/* Takes a task out, as its end does. 0, -ENOENT when it is no member. */
int starpu_task_bundle_remove(starpu_task_bundle_t bundle,
                              struct starpu_task *task);
/* No more tasks are added: the bundle is freed with its last one. */
void starpu_task_bundle_close(starpu_task_bundle_t bundle);

/* Microseconds of all members that are still to be placed, on that architecture with
 * that implementation; what is unknown counts as 0. */
double starpu_task_bundle_expected_length(starpu_task_bundle_t bundle,
                                          struct starpu_perfmodel_arch *arch,
                                          unsigned nimpl);
/* Joules of all members there; what is unknown counts as 0. */
double starpu_task_bundle_expected_energy(starpu_task_bundle_t bundle,
                                          struct starpu_perfmodel_arch *arch,
                                          unsigned nimpl);
/* Microseconds to bring all that they read to the node, each datum once. */
double
starpu_task_bundle_expected_data_transfer_time(starpu_task_bundle_t bundle,
                                               unsigned memory_node);

#ifdef __cplusplus
}
#endif
