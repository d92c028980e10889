/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/steps/admission_cases.c - jobs that wait for memory: core/data/admit.c.
 * Whoever is forgotten is a deadlock, who holds a part while it waits as well. */
#include "core/job/count.h"
#include "core/loop/loop.h"
#include "core/task/task.h"
#include "core/worker/worker.h"
#include "tests/steps/cases.h"

static const struct world_spec
    two = {.ndevices = 1, .room = 2},
    two_lru = {.ndevices = 1, .room = 2, .eviction = "lru"},
    two_starpu = {.ndevices = 1, .room = 2, .eviction = "starpu"},
    loops = {.ndevices = 1, .room = 2, .loops = true},
    numa = {.nram = 2, .ncpus = 2, .ram_room = 1, .loops = true};

static void submit_two(unsigned thread, unsigned first, unsigned second)
{
    struct orr_job *job = world_job(thread, 2);

    world_use(job, &data[first], STARPU_RW, true);
    world_use(job, &data[second], STARPU_R, true);
    world_submit(job, 1);
}

/* Each of the jobs needs all memory that there is. */
static void whole(unsigned thread)
{
    if (thread == 0) {
        submit_two(0, 0, 1);
    } else {
        submit_two(1, 2, 0);
        world_submit_one(1, &data[2], STARPU_R, 1);
    }
}

static void begin_whole(void)
{
    world_begin(3);
    world_worker(0);
    world_thread(0, whole);
    world_thread(1, whole);
}

/* What a job waits for is full of what the application takes away. */
static void unregister(unsigned thread)
{
    if (thread == 0) {
        world_submit_one(0, &data[0], STARPU_RW, 1);
        world_submit_one(0, &data[3], STARPU_RW, 1);
        orr_data_unregister(world, data[0].handle, true);
        data[0].handle = NULL;
    } else {
        submit_two(1, 1, 2);
    }
}

static void begin_unregister(void)
{
    world_begin(4);
    world_worker(0);
    world_thread(0, unregister);
    world_thread(1, unregister);
}

/* --- with the workers' own loop, which puts jobs aside --- */

static unsigned nleft;

static void finish(unsigned ntasks)
{
    STEP_ASSERT(orr_wait_for_n(world, "a test", 0) == 0);
    if (--nleft)
        return;
    STEP_ASSERT(world_ended() == ntasks);
    orr_workers_stop(world);
}

static void begin_loops(unsigned ndata, void (*body)(unsigned))
{
    world_begin(ndata);
    nleft = 2;
    world_thread(0, body);
    world_thread(1, body);
}

static void tasks(unsigned thread)
{
    struct datum *const both[] = {&data[2 * thread], &data[1]};

    world_task(2, both, STARPU_RW, 0);
    finish(2);
}

static void begin_tasks(void)
{
    begin_loops(3, tasks);
}

/* Two workers of a memory that has room for the datum of one. */
static void beside(unsigned thread)
{
    world_task(1, (struct datum *[]){&data[thread]}, STARPU_RW,
               (int)(2 + thread));
    finish(2);
}

static void begin_beside(void)
{
    begin_loops(2, beside);
}

const struct step_case admission_cases[] = {
    {.name = "whole",
     .claim = "two jobs of which each needs the whole memory",
     .spec = two,
     .begin = begin_whole,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "whole-lru",
     .claim = "the same with ORRERY_EVICTION=lru",
     .spec = two_lru,
     .begin = begin_whole,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "whole-starpu",
     .claim = "the same with ORRERY_EVICTION=starpu",
     .spec = two_starpu,
     .begin = begin_whole,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "full-unregister",
     .claim = "data are unregistered while a job waits for their memory",
     .spec = two,
     .begin = begin_unregister,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "whole-tasks",
     .claim = "the worker's own loop, and two tasks",
     .spec = loops,
     .begin = begin_tasks,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "beside",
     .claim = "two workers of a main memory that is too small for both",
     .spec = numa,
     .begin = begin_beside,
     .nbounds = 2,
     .nbounds_full = 3},
    {0},
};
