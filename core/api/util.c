/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/util.c - the machine's clock. Any thread. */
#include "core/api/api.h"
#include "core/api/poll.h"
#include "core/device/clock.h"

double starpu_timing_now(void)
{
    ORR_QUESTION();
    struct orr_runtime *rt;

    orr_poll_clock();
    rt = orr_runtime_current(__func__);

    return rt ? orr_exec_now(rt->exec) + orr_poll_ahead()
              : orr_wall_time_s() * 1e6;
}
