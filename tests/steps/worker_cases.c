/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/steps/worker_cases.c - workers in their own loop, which fall asleep
 * while tasks and requests come. */
#include "core/job/count.h"
#include "core/loop/loop.h"
#include "core/task/task.h"
#include "core/worker/worker.h"
#include "tests/steps/cases.h"

static unsigned nthreads_left;

/* The last thread waits for all tasks and stops the workers. */
static void finish(unsigned ntasks)
{
    STEP_ASSERT(orr_wait_for_n(world, "a test", 0) == 0);
    if (--nthreads_left)
        return;
    STEP_ASSERT(world_ended() == ntasks);
    orr_workers_stop(world);
}

static void begin(unsigned ndata, unsigned nthreads, void (*body)(unsigned))
{
    world_begin(ndata);
    nthreads_left = nthreads;
    for (unsigned i = 0; i < nthreads; i++)
        world_thread(i, body);
}

/* --- tasks are pushed --- */

static void push(unsigned thread)
{
    (void)thread;
    world_task(0, NULL, 0, -1);
    world_task(0, NULL, 0, -1);
    finish(2);
}

static void begin_push(void)
{
    begin(0, 1, push);
}

/* A worker falls asleep with a task of its own in its list. */
static void push_local(unsigned thread)
{
    (void)thread;
    world_task(0, NULL, 0, 1);
    world_task(0, NULL, 0, -1);
    finish(2);
}

static void begin_push_local(void)
{
    begin(0, 1, push_local);
}

static void push_two(unsigned thread)
{
    (void)thread;
    world_task(0, NULL, 0, -1);
    finish(2);
}

static void begin_push_two(void)
{
    begin(0, 2, push_two);
}

/* --- requests are queued --- */

static void kick(unsigned thread)
{
    (void)thread;
    world_task(1, (struct datum *[]){&data[0]}, STARPU_RW, 1);
    world_task(1, (struct datum *[]){&data[0]}, STARPU_RW, 0);
    finish(2);
}

static void begin_kick(void)
{
    begin(1, 1, kick);
}

/* A prefetch to a memory whose two workers sleep. */
static void kick_sleepers(unsigned thread)
{
    (void)thread;
    orr_handle_prefetch(world, data[0].handle, 1, ORR_PREFETCH);
    orr_handle_wait_idle(world, data[0].handle, false);
    finish(0);
}

static void begin_kick_sleepers(void)
{
    begin(1, 1, kick_sleepers);
}

/* The same data for a worker and a device that is full. */
static void device(unsigned thread)
{
    (void)thread;
    world_task(1, (struct datum *[]){&data[0]}, STARPU_RW, 1);
    world_task(1, (struct datum *[]){&data[1]}, STARPU_RW, 1);
    world_task(2, (struct datum *[]){&data[0], &data[1]}, STARPU_R, 0);
    finish(3);
}

static void begin_device(void)
{
    begin(2, 1, device);
}

const struct step_case worker_cases[] = {
    {.name = "push",
     .claim = "two workers fall asleep while two tasks come",
     .spec = {.ncpus = 2, .loops = true},
     .begin = begin_push,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "push-local",
     .claim = "… one of them for one worker",
     .spec = {.ncpus = 2, .loops = true},
     .begin = begin_push_local,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "push-two",
     .claim = "two threads push to one worker, and wait",
     .spec = {.ncpus = 1, .loops = true},
     .begin = begin_push_two,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "kick",
     .claim = "tasks whose data move between two main memories",
     .spec = {.nram = 2, .ncpus = 1, .loops = true},
     .begin = begin_kick,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "kick-sleepers",
     .claim = "a request comes while both workers of a memory fall asleep",
     .spec = {.nram = 2, .ncpus = 2, .loops = true},
     .begin = begin_kick_sleepers,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "device",
     .claim = "a worker and a device that is full",
     .spec = {.ncpus = 1, .ndevices = 1, .room = 1, .loops = true},
     .begin = begin_device,
     .nbounds = 2,
     .nbounds_full = 3},
    {0},
};
