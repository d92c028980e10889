/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/watched.c - see watched.h. */
#include "core/observe/watched.h"

#include "core/runtime.h"

bool orr_tasks_are_watched(struct orr_runtime *rt)
{
    return orr_is_told(rt, ORR_TOLD_TASK_EXECUTED) ||
           orr_is_told(rt, ORR_TOLD_KERNEL_BEGINS) || rt->calls ||
           rt->breaks || rt->disables_kernels;
}
