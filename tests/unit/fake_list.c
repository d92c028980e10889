/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/fake_list.c - the policies, without those that need a whole runtime. */
#include <errno.h>

#include "core/policies/dm.h"
#include "core/policies/policies.h"
#include "core/sched/script.h"

const struct orr_sched_ops *const orr_sched_builtin[] = {
    &orr_sched_eager,     &orr_sched_prio,       &orr_sched_random,
    &orr_sched_lws,       &orr_sched_ws,         &orr_sched_dm.ops,
    &orr_sched_dmda.ops,  &orr_sched_dmdap.ops,  &orr_sched_dmdar.ops,
    &orr_sched_dmdas.ops, &orr_sched_dmdasd.ops, &orr_sched_pheft,
    &orr_sched_peager,    NULL,
};

/* No interpreter. */
bool orr_script_is_one(const char *name)
{
    (void)name;
    return false;
}

int orr_script_new(const char *path, const struct orr_sched_ops **ret,
                   struct orr_error *err)
{
    (void)ret;
    return orr_fail(err, -ENOTSUP, "%s: no scripts here", path);
}

void orr_script_free(const struct orr_sched_ops *ops)
{
    (void)ops;
}
