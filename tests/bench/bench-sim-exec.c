/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-sim-exec.c - what the simulator's events cost in real time,
 * next to SimGrid's own in the same process. One line per measurement: name,
 * value, unit and, where there is one, the ratio to bare SimGrid.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/device/open.h"
#include "sim/machine.h"
#include "tests/bench/bare-events.h"
#include "tests/bench/bench.h"
#include "tests/unit/sim-machine.h"

enum { NCONTEXTS = 12, SLEEPS = 100000, NGPU = 6, COPIES = 30000, RUNS = 5 };

static struct orr_machine *machine;
static struct orr_exec *exec;

static double wall(void)
{
    return bench_now_ns(CLOCK_MONOTONIC) * 1e-9;
}

static void open_machine(void)
{
    struct orr_machine_desc *desc =
        sim_desc_new(&(struct sim_spec){.ncpu = NGPU + 1,
                                        .ncuda = NGPU,
                                        .bandwidth = 5e9,
                                        .latency = 1e-5,
                                        .bus = 10e9});
    struct orr_machine_options options = sim_options();

    if (orr_sim_open_desc(desc, &options, &machine, NULL) < 0)
        exit(EXIT_FAILURE);
    sim_desc_free(desc);
    exec = machine->exec;
}

static void close_machine(void)
{
    machine->ops->close(machine);
}

/* -- bodies --------------------------------------------------------------- */

static void sleeper(void *arg)
{
    unsigned i = *(unsigned *)arg;

    for (unsigned k = 0; k < SLEEPS; k++)
        exec->ops->sleep(exec, 1 + (i + k) % 7);
}

static struct orr_context *partner;
static unsigned turns;

static void answer(void *arg)
{
    while (turns < SLEEPS) {
        exec->ops->park(exec, ORR_FOREVER);
        exec->ops->wake(exec, arg);
    }
}

struct engine {
    struct orr_copy copy; /* first */
    unsigned k;
    struct orr_context *waiter;
    unsigned *nrunning;
};

static void next_copy(struct orr_copy *copy)
{
    struct engine *e = (struct engine *)copy;

    if (++e->k == COPIES) {
        if (--*e->nrunning == 0)
            exec->ops->wake(exec, e->waiter);
        return;
    }
    copy->size = 1000000 * (1 + e->k % 7);
    orr_machine_copy_start(machine, copy);
}

/* -- measurements, seconds each ------------------------------------------- */

static double sleeps(void)
{
    struct orr_context *contexts[NCONTEXTS];
    unsigned numbers[NCONTEXTS];
    double begin;

    open_machine();
    begin = wall();
    for (unsigned i = 0; i < NCONTEXTS; i++) {
        numbers[i] = i;
        exec->ops->spawn(exec, NULL, -1, sleeper, &numbers[i], &contexts[i]);
    }
    for (unsigned i = 0; i < NCONTEXTS; i++)
        exec->ops->join(exec, contexts[i]);
    begin = wall() - begin;
    close_machine();
    return begin;
}

static double lonely_sleeps(void)
{
    double begin;

    open_machine();
    begin = wall();
    for (unsigned k = 0; k < NCONTEXTS * SLEEPS; k++)
        exec->ops->sleep(exec, 1);
    begin = wall() - begin;
    close_machine();
    return begin;
}

static double parks(void)
{
    double begin;

    open_machine();
    turns = 0;
    exec->ops->spawn(exec, NULL, -1, answer, orr_self, &partner);
    begin = wall();
    while (turns < SLEEPS) {
        turns++;
        exec->ops->wake(exec, partner);
        exec->ops->park(exec, ORR_FOREVER);
    }
    begin = wall() - begin;
    close_machine();
    return begin;
}

static double copies(void)
{
    struct engine engines[NGPU];
    unsigned nrunning = NGPU;
    double begin;

    open_machine();
    begin = wall();
    for (unsigned i = 0; i < NGPU; i++) {
        engines[i] = (struct engine){
            .copy = {.dst = 1 + i, .size = 1000000, .done = next_copy},
            .waiter = orr_self,
            .nrunning = &nrunning};
        orr_machine_copy_start(machine, &engines[i].copy);
    }
    while (nrunning > 0)
        exec->ops->park(exec, ORR_FOREVER);
    begin = wall() - begin;
    close_machine();
    return begin;
}

static void nothing(void *arg)
{
    (void)arg;
}

static double spawns(void)
{
    double begin;

    open_machine();
    begin = wall();
    for (unsigned i = 0; i < 2000; i++) {
        struct orr_context *context;

        exec->ops->spawn(exec, NULL, -1, nothing, NULL, &context);
        exec->ops->join(exec, context);
    }
    begin = wall() - begin;
    close_machine();
    return begin;
}

static double rounds(void)
{
    double begin = wall();

    open_machine();
    close_machine();
    return wall() - begin;
}

static double bare_sleep(void)
{
    return bare_sleeps(NCONTEXTS, SLEEPS);
}

static double bare_copy(void)
{
    return bare_copies(NGPU, COPIES);
}

static double median(double (*measure)(void))
{
    double times[RUNS];

    for (int i = 0; i < RUNS; i++)
        times[i] = measure();
    return bench_median(times, RUNS);
}

int main(void)
{
    double sleep_s = median(sleeps), bare_sleep_s = median(bare_sleep);
    double copy_s = median(copies), bare_copy_s = median(bare_copy);

    printf("sim-sleep %.1f ns ratio %.3f\n", sleep_s * 1e9 / NCONTEXTS / SLEEPS,
           sleep_s / bare_sleep_s);
    printf("sim-sleep-alone %.1f ns\n",
           median(lonely_sleeps) * 1e9 / NCONTEXTS / SLEEPS);
    printf("sim-park-wake %.1f ns\n", median(parks) * 1e9 / SLEEPS / 2);
    printf("sim-copy %.3f us ratio %.3f\n", copy_s * 1e6 / NGPU / COPIES,
           copy_s / bare_copy_s);
    printf("sim-spawn-join %.3f us\n", median(spawns) * 1e6 / 2000);
    printf("sim-open-close %.1f us\n", median(rounds) * 1e6);
    printf("bare-sleep %.1f ns\n", bare_sleep_s * 1e9 / NCONTEXTS / SLEEPS);
    printf("bare-copy %.3f us\n", bare_copy_s * 1e6 / NGPU / COPIES);
    return EXIT_SUCCESS;
}
