/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/policies/heteroprio_public.c - starpu_heteroprio_*: settings of buckets. Any thread. */
#include "core/policies/heteroprio.h"

#include <stdlib.h>

#include <starpu_heteroprio.h>

#include "core/api/api.h"
#include "core/api/ctx.h"

static struct orr_sched *sched_of(const char *call, unsigned sched_ctx_id)
{
    struct orr_sched *sched = orr_api_sched(call, sched_ctx_id);

    if (orr_heteroprio_is(sched))
        return sched;
    orr_log_error("%s: the policy of context %u is %s: choose heteroprio", call,
                  sched_ctx_id, sched->ops->name);
    abort();
}

static void heteroprio_refuse_if(const char *call, const char *trouble)
{
    if (!trouble)
        return;
    orr_log_error("%s: %s", call, trouble);
    abort();
}

void starpu_heteroprio_set_nb_prios(unsigned sched_ctx_id,
                                    enum starpu_worker_archtype arch,
                                    unsigned max_prio)
{
    heteroprio_refuse_if(
        __func__, orr_heteroprio_set_count(sched_of(__func__, sched_ctx_id),
                                           (unsigned)arch, max_prio));
}

void starpu_heteroprio_set_mapping(unsigned sched_ctx_id,
                                   enum starpu_worker_archtype arch,
                                   unsigned source_prio,
                                   unsigned dest_bucket_id)
{
    heteroprio_refuse_if(
        __func__,
        orr_heteroprio_set_place(sched_of(__func__, sched_ctx_id),
                                 (unsigned)arch, source_prio, dest_bucket_id));
}

void starpu_heteroprio_set_faster_arch(unsigned sched_ctx_id,
                                       enum starpu_worker_archtype arch,
                                       unsigned bucket_id)
{
    heteroprio_refuse_if(
        __func__, orr_heteroprio_set_base(sched_of(__func__, sched_ctx_id),
                                          (unsigned)arch, bucket_id));
}

void starpu_heteroprio_set_arch_slow_factor(unsigned sched_ctx_id,
                                            enum starpu_worker_archtype arch,
                                            unsigned bucket_id,
                                            float slow_factor)
{
    heteroprio_refuse_if(
        __func__, orr_heteroprio_set_slow(sched_of(__func__, sched_ctx_id),
                                          (unsigned)arch, bucket_id,
                                          (double)slow_factor));
}

void starpu_heteroprio_set_use_locality(unsigned sched_ctx_id,
                                        unsigned use_locality)
{
    orr_heteroprio_set_locality(sched_of(__func__, sched_ctx_id),
                                use_locality != 0);
}

void starpu_heteroprio_map_wgroup_memory_nodes(unsigned sched_ctx_id)
{
    heteroprio_refuse_if(
        __func__, orr_heteroprio_map_groups(sched_of(__func__, sched_ctx_id)));
}

void starpu_heteroprio_print_wgroups(FILE *stream, unsigned sched_ctx_id)
{
    orr_heteroprio_print_groups(sched_of(__func__, sched_ctx_id), stream);
}
