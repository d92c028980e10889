/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/remote.c - see remote.h. */
#include "core/remote.h"

#include <errno.h>

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
