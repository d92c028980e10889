/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/calibrate/devices.c - see devices.h. */
#include "tools/calibrate/devices.h"

#include "tools/calibrate/machine.h"
#include "tools/common/tool.h"

#include "core/device/threads.h"

#include <math.h>
#include <string.h>

/* The worker of the k-th device, or -1. */
static int find_device_worker(const struct orr_machine *machine, unsigned k)
{
    for (unsigned w = 0; w < machine->nworkers; w++)
        if (!orr_node_is_main(&machine->nodes[machine->workers[w].node]) &&
            k-- == 0)
            return (int)w;
    return -1;
}

static int measure_launch_costs(struct orr_machine *machine, unsigned n,
                                double samples[][ORR_LAUNCH_COSTS])
{
    unsigned ndevices = 0;

    while (find_device_worker(machine, ndevices) >= 0)
        ndevices++;
    for (unsigned i = 0; i < n; i++)
        for (unsigned c = 0; c < ORR_LAUNCH_COSTS; c++)
            samples[i][c] = (double)NAN;
    for (unsigned i = 0; ndevices > 0 && i < n; i++) {
        unsigned w = (unsigned)find_device_worker(machine, i % ndevices);
        int rc = orr_launch_sample(machine, w, samples[i]);

        if (rc == 0)
            continue;
        tool_error("%s cannot be measured: %s", machine->workers[w].name,
                   strerror(-rc));
        return -1;
    }
    return (int)ndevices;
}

int calibrate_devices(unsigned n, double samples[][ORR_LAUNCH_COSTS])
{
    struct orr_machine *machine;
    struct orr_exec *exec;
    struct orr_error err = {""};
    int rc = orr_threads_new(NULL, &exec);

    if (rc < 0) {
        tool_error("no threads: %s", strerror(-rc));
        return -1;
    }
    rc = calibrate_machine_open(exec, NULL, &machine, &err);
    if (rc < 0) {
        tool_error("%s", err.text);
    } else {
        rc = measure_launch_costs(machine, n, samples);
        machine->ops->close(machine);
    }
    orr_threads_free(exec);
    return rc < 0 ? -1 : rc;
}
