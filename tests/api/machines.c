/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/machines.c - see machines.h. */
#include "machines.h"

#include <stdlib.h>
#include <string.h>

#include <orrery.h>

static const char *const policies[] = {"lws", "eager", "dmda",
                                       "lws", "dmdas", "prio"};

int machine_simulated(int i)
{
    return i >= FIRST_SIMULATED;
}

int machine_count(void)
{
    const char *machines = getenv("TEST_MACHINES");

    return machines && strcmp(machines, "real") == 0
               ? FIRST_SIMULATED
               : (int)(sizeof(policies) / sizeof(*policies));
}

const char *machine_ncpus(void)
{
    const char *ncpus = getenv("TEST_NCPU");

    return ncpus ? ncpus : "2";
}

void machine_choose(int i)
{
    const char *policy = getenv("TEST_SCHED");

    setenv("STARPU_SCHED", policy ? policy : policies[i], 1);
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_NCPU", machine_ncpus(), 1);
    unsetenv("STARPU_PERF_MODEL_DIR");
    if (!machine_simulated(i))
        return;
    setenv("ORRERY_MACHINE", TEST_MACHINE, 1);
    setenv("ORRERY_SIM_KERNELS", "run", 1);
    setenv("ORRERY_ASSUME", "kernel[k] = 50us", 1);
}

void machine_open(int i)
{
    machine_choose(i);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(orrery_is_simulated(), machine_simulated(i));
}
