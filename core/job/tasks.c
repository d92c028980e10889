/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/job/tasks.c - see tasks.h. */
#include "core/job/tasks.h"

#include <signal.h>

#include "core/exec/runtime.h"

void orr_runtime_break(struct orr_runtime *rt, enum orr_break where,
                       unsigned long long job)
{
    if (rt->tasks->break_on[where] > 0 &&
        (unsigned long long)rt->tasks->break_on[where] == job)
        raise(SIGTRAP);
}
