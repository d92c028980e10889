/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/job/watched.c - see watched.h. */
#include "core/job/watched.h"

#include "core/exec/runtime.h"
#include "core/job/tasks.h"
#include "core/worker/workers.h"

bool orr_tasks_are_watched(struct orr_runtime *rt)
{
    return orr_is_told(rt, ORR_TOLD_TASK_EXECUTED) ||
           orr_is_told(rt, ORR_TOLD_KERNEL_BEGINS) ||
           orr_is_told(rt, ORR_TOLD_CALL) ||
           rt->tasks->breaks || rt->workers->disables_kernels;
}
