/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_heteroprio.h - settings of contexts with the policy heteroprio, for the
 * callback of a context's policy (starpu_conf.sched_policy_callback,
 * STARPU_SCHED_CTX_POLICY_INIT). In automatic mode, which
 * STARPU_HETEROPRIO_USE_AUTO_CALIBRATION=0 turns off, only those of locality are used.
 * Buckets, and their positions in the order of an architecture, are numbered from 0 to
 * 99; what is out of range, or another policy, ends the program with a message.
 */
#pragma once

#include <stdio.h>

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In StarPU, how many tasks a worker takes before it can execute them; not used here. */
#define STARPU_HETEROPRIO_MAX_PREFETCH 2

/* By which score automatic mode orders its buckets
 * (STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY). */
enum starpu_autoheteroprio_priority_ordering_policy {
    STARPU_HETEROPRIO_NOD_TIME_COMBINATION,
    STARPU_HETEROPRIO_BEST_NODS_SCORE,
    STARPU_HETEROPRIO_BEST_NODS,
    STARPU_HETEROPRIO_URT_PURE,
    STARPU_HETEROPRIO_URT,
    STARPU_HETEROPRIO_URT_2,
    STARPU_HETEROPRIO_URT_DOT_DIFF_PURE,
    STARPU_HETEROPRIO_URT_DOT_DIFF_PURE_2,
    STARPU_HETEROPRIO_URT_DOT_REL_DIFF_PURE,
    STARPU_HETEROPRIO_URT_DOT_REL_DIFF_PURE_2,
    STARPU_HETEROPRIO_URT_DOT_DIFF_2,
    STARPU_HETEROPRIO_URT_DOT_DIFF_3,
    STARPU_HETEROPRIO_URT_DOT_DIFF_4,
    STARPU_HETEROPRIO_URT_DOT_DIFF_5,
    STARPU_HETEROPRIO_URT_DOT_DIFF_6,
    STARPU_HETEROPRIO_URT_DOT_DIFF_7,
    STARPU_HETEROPRIO_URT_DOT_DIFF_8,
    STARPU_HETEROPRIO_URT_DOT_DIFF_9,
    STARPU_HETEROPRIO_URT_DOT_DIFF_10,
    STARPU_HETEROPRIO_URT_DOT_DIFF_11,
    STARPU_HETEROPRIO_URTS_PER_SECONDS,
    STARPU_HETEROPRIO_URTS_PER_SECONDS_2,
    STARPU_HETEROPRIO_URTS_PER_SECONDS_DIFF,
    STARPU_HETEROPRIO_URTS_TIME_RELEASED_DIFF,
    STARPU_HETEROPRIO_URTS_TIME_COMBINATION,
    STARPU_HETEROPRIO_NODS_PER_SECOND,
    STARPU_HETEROPRIO_NODS_TIME_RELEASED,
    STARPU_HETEROPRIO_NODS_TIME_RELEASED_DIFF,
};
#define STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY_COUNT 28

static const char starpu_autoheteroprio_priority_ordering_policy_names
    [STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY_COUNT][64]
    __attribute__((unused)) = {
        "NOD_TIME_COMBINATION",
        "BEST_NODS_SCORE",
        "BEST_NODS",
        "URT_PURE",
        "URT",
        "URT_2",
        "URT_DOT_DIFF_PURE",
        "URT_DOT_DIFF_PURE_2",
        "URT_DOT_REL_DIFF_PURE",
        "URT_DOT_REL_DIFF_PURE_2",
        "URT_DOT_DIFF_2",
        "URT_DOT_DIFF_3",
        "URT_DOT_DIFF_4",
        "URT_DOT_DIFF_5",
        "URT_DOT_DIFF_6",
        "URT_DOT_DIFF_7",
        "URT_DOT_DIFF_8",
        "URT_DOT_DIFF_9",
        "URT_DOT_DIFF_10",
        "URT_DOT_DIFF_11",
        "URTS_PER_SECONDS",
        "URTS_PER_SECONDS_2",
        "URTS_PER_SECONDS_DIFF",
        "URTS_TIME_RELEASED_DIFF",
        "URTS_TIME_COMBINATION",
        "NODS_PER_SECOND",
        "NODS_TIME_RELEASED",
        "NODS_TIME_RELEASED_DIFF",
};

/* How many buckets workers of the architecture look at. */
void starpu_heteroprio_set_nb_prios(unsigned sched_ctx_id,
                                    enum starpu_worker_archtype arch,
                                    unsigned max_prio);
/* The position (source_prio < max_prio, 0 first) at which they look at a bucket. Tasks
 * are in the bucket that is their priority. */
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

/* Locality: a bucket has a list per group of workers, and tasks are pushed to the
 * group whose memory suits their data (STARPU_LAHETEROPRIO_PUSH). It is on from the
 * start with STARPU_HETEROPRIO_USE_LA=1; what is queued stays when it changes. */
void starpu_heteroprio_set_use_locality(unsigned sched_ctx_id,
                                        unsigned use_locality);
/* A group per memory node that has workers, 10 at most; locality is on. Without this
 * call the first push makes them. */
void starpu_heteroprio_map_wgroup_memory_nodes(unsigned sched_ctx_id);
/* A line per group: its node, how many workers it has, how many tasks are queued there,
 * and the other groups, the nearest first. */
void starpu_heteroprio_print_wgroups(FILE *stream, unsigned sched_ctx_id);

#ifdef __cplusplus
}
#endif
