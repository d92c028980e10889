/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/energy-tasks.c - independent tasks that a processor executes with less energy than
 * a device does, as their energy model says; with an argument they have none. One thread.
 */
#include <stdio.h>

#include <starpu.h>

enum { NTASKS = 40 };

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static double joules(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
    (void)task;
    (void)nimpl;
    return arch->devices[0].type == STARPU_CPU_WORKER ? 0.064 : 0.25;
}

static struct starpu_perfmodel energy = {.type = STARPU_PER_ARCH, .arch_cost_function = joules};
static struct starpu_perfmodel times = {.type = STARPU_HISTORY_BASED, .symbol = "energy_tasks"};

static struct starpu_codelet codelet = {.cpu_funcs = {nothing},
                                        .cuda_funcs = {nothing},
                                        .model = &times,
                                        .energy_model = &energy,
                                        .name = "energy_tasks"};

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        codelet.energy_model = NULL;
    if (starpu_init(NULL) != 0)
        return 1;
    for (int i = 0; i < NTASKS; i++)
        if (starpu_task_insert(&codelet, 0) != 0)
            return 1;
    starpu_task_wait_for_all();
    starpu_shutdown();
    return 0;
}
