/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_heteroprio.h - settings of contexts with the policy heteroprio, for the
 * callback of a context's policy (starpu_conf.sched_policy_callback,
 * STARPU_SCHED_CTX_POLICY_INIT). Not used in automatic mode:
 * STARPU_HETEROPRIO_USE_AUTO_CALIBRATION=0. Buckets and places are numbered from 0
 * to 99; what is out of range, or another policy, ends the program with a message.
 */
#pragma once

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tasks that a worker takes ahead. */
#define STARPU_HETEROPRIO_MAX_PREFETCH 2

/* How many buckets workers of the architecture look at. */
void starpu_heteroprio_set_nb_prios(unsigned sched_ctx_id,
                                    enum starpu_worker_archtype arch,
                                    unsigned max_prio);
/* At which place (source_prio < max_prio) they look at a bucket. Tasks are in the
 * bucket that is their priority. */
void starpu_heteroprio_set_mapping(unsigned sched_ctx_id,
                                   enum starpu_worker_archtype arch,
                                   unsigned source_prio,
                                   unsigned dest_bucket_id);
/* The architecture is the fastest one for the bucket. */
void starpu_heteroprio_set_faster_arch(unsigned sched_ctx_id,
                                       enum starpu_worker_archtype arch,
                                       unsigned bucket_id);
/* The architecture takes tasks of the bucket only while there are at least that
 * many for each worker of the fastest one. */
void starpu_heteroprio_set_arch_slow_factor(unsigned sched_ctx_id,
                                            enum starpu_worker_archtype arch,
                                            unsigned bucket_id,
                                            float slow_factor);

#ifdef __cplusplus
}
#endif
