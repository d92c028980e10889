/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/quiet.c - see quiet.h. */
#include "tools/common/quiet.h"

#include "core/device/clock.h"
#include "tools/common/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* More than a scheduler of processes gives one before the next. */
static const double spin_s = 0.05;

/* Less of a processor, and times are those of two programs. */
static const double quiet_share = 0.95;

struct quiet quiet_measure(void)
{
    struct quiet quiet = {.load = (double)NAN};
    double began = orr_wall_time_s(), used = orr_thread_time_us(), now;
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    do
        now = orr_wall_time_s();
    while (now < began + spin_s);
    quiet.share = fmin(1, (orr_thread_time_us() - used) / 1e6 / (now - began));
    if (getloadavg(&quiet.load, 1) != 1)
        quiet.load = (double)NAN;
    quiet.processors = n > 0 ? (unsigned)n : 1;
    return quiet;
}

bool quiet_is(const struct quiet *quiet)
{
    return quiet->share >= quiet_share && !(quiet->load > quiet->processors);
}

void quiet_print(const struct quiet *quiet)
{
    printf("this machine is %s: a thread that computes gets %.0f %% of a "
           "processor, load %.1f on %u\n",
           quiet_is(quiet) ? "quiet" : "busy", 100 * quiet->share, quiet->load,
           quiet->processors);
}

void quiet_begin(bool json)
{
    struct quiet quiet;

    if (json)
        return;
    quiet = quiet_measure();
    quiet_print(&quiet);
}

json_t *quiet_json(const struct quiet *quiet)
{
    return json_pack("{s:b, s:o, s:o}", "quiet", quiet_is(quiet), "share",
                     tool_json_number(quiet->share), "load",
                     tool_json_number(quiet->load));
}
