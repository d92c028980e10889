/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/remote.c - see remote.h. */
#include "core/remote.h"

#include <errno.h>

#include "core/device/simulated.h"
#include "core/worker/workers.h"

int orr_remote_register(struct orr_runtime *rt,
                        const struct orr_remote_ops *ops)
{
    if (rt->remote && rt->remote != ops)
        return -EBUSY;
    rt->remote = ops;
    return 0;
}

void orr_remote_forget(struct orr_runtime *rt)
{
    rt->remote = NULL;
}

void orr_remote_count_work(const struct orr_runtime *rt, struct orr_remote_work *ret)
{
    *ret = (struct orr_remote_work){0};
    for (unsigned w = 0; w < rt->workers->n; w++) {
        ret->tasks += rt->workers->at[w].ntasks;
        ret->busy_us += rt->workers->at[w].busy_us;
    }
}

const struct orr_cluster_ops *orr_remote_cluster(const struct orr_runtime *rt)
{
    return rt->sim ? rt->sim->cluster : NULL;
}

void orr_remote_tell_message(struct orr_runtime *rt, const struct orr_message_told *told)
{
    ORR_TELL(rt, ORR_TOLD_MESSAGE, .message = told);
}

void orr_remote_tell_clocks(struct orr_runtime *rt, const struct orr_clocks_told *told)
{
    ORR_TELL(rt, ORR_TOLD_CLOCKS, .clocks = told);
}

bool orr_remote_leaves_files(const struct orr_runtime *rt)
{
    static const enum orr_config_id files[] = {ORR_CFG_TRACE, ORR_CFG_REPORT, ORR_CFG_GRAPH,
                                               ORR_CFG_RECORD};

    for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (orr_config_string(&rt->config, files[i]))
            return true;
    return false;
}
