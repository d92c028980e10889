/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/steps/order_cases.c - submission and the ends of jobs, tags. */
#include "core/data/release.h"
#include "core/job/tasks.h"
#include "core/task/again.h"
#include "core/task/tag.h"
#include "core/task/task.h"
#include "tests/steps/cases.h"

/* --- several threads submit --- */

static void submit_two(unsigned thread, unsigned first, unsigned second)
{
    struct orr_job *job = world_job(thread, 2);

    world_use(job, &data[first], STARPU_RW, true);
    world_use(job, &data[second], STARPU_RW, true);
    world_submit(job, -1);
}

static void same_order(unsigned thread)
{
    submit_two(thread, 0, 1);
    submit_two(thread, 0, 1);
    world_help(4);
}

static void opposite_order(unsigned thread)
{
    submit_two(thread, thread, 1 - thread);
    world_submit_one(thread, &data[thread], STARPU_R, -1);
    world_help(4);
}

static void begin_same(void)
{
    world_begin(2);
    for (unsigned i = 0; i < 2; i++)
        world_thread(i, same_order);
}

static void begin_opposite(void)
{
    world_begin(2);
    for (unsigned i = 0; i < 2; i++)
        world_thread(i, opposite_order);
}

/* Readers go together, writers wait for all of them. */
static void read_and_write(unsigned thread)
{
    world_submit_one(thread, &data[0], STARPU_R, -1);
    world_submit_one(thread, &data[0], STARPU_RW, -1);
    world_help(6);
}

static void begin_readers(void)
{
    world_begin(1);
    for (unsigned i = 0; i < 3; i++)
        world_thread(i, read_and_write);
}

/* --- a dependency is declared while the other ends --- */

static struct orr_job *before;
static bool before_ended;

static void check_after(void *arg)
{
    (void)arg;
    STEP_ASSERT(before_ended);
}

static void declare(unsigned thread)
{
    struct orr_job *job;

    if (thread == 0) {
        before_ended = true;
        world_run(1);
        return;
    }
    job = orr_job_new(world, &orr_job_after, 0);
    orr_job_own(job)->callback = check_after;
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    STEP_ASSERT(orr_job_add_dep(world, job, before) == 0);
    orr_job_ref(job);
    orr_job_release(world, job);
    orr_job_wait(world, job);
    orr_job_unref(world, job);
    orr_job_unref(world, before);
}

static void begin_declare(void)
{
    world_begin(1);
    before_ended = false;
    before = world_job(0, 1);
    orr_job_ref(before);
    world_use(before, &data[0], STARPU_RW, true);
    world_submit(before, -1);
    for (unsigned i = 0; i < 2; i++)
        world_thread(i, declare);
}

/* Two wait for a job that ends. */
static void wait_for_job(unsigned thread)
{
    if (thread == 0) {
        world_run(1);
        return;
    }
    orr_job_wait(world, before);
    STEP_ASSERT(world_ended() || orr_job_state(before) == ORR_JOB_DONE);
    orr_job_unref(world, before);
}

static void begin_wait(void)
{
    begin_declare();
}

static void begin_waiters(void)
{
    world_begin(1);
    before = world_job(0, 1);
    orr_job_ref(before);
    orr_job_ref(before);
    world_use(before, &data[0], STARPU_RW, true);
    world_submit(before, -1);
    for (unsigned i = 0; i < 3; i++)
        world_thread(i, wait_for_job);
}

/* --- a task is submitted again while another thread asks whether it has ended --- */

static struct starpu_task *again;
static unsigned nruns;

static void submit_again(void *arg)
{
    (void)arg;
    if (++nruns < 2)
        STEP_ASSERT(orr_task_submit(world, again, true, false) == 0);
}

static void ask(unsigned thread)
{
    if (thread == 0)
        STEP_ASSERT(orr_task_submit(world, again, true, false) == 0);
    else if (orr_again_has_ended(world, again))
        STEP_ASSERT(nruns == 2);
}

static void begin_ask(void)
{
    world_begin(0);
    nruns = 0;
    again = starpu_task_create();
    again->detach = again->destroy = 0;
    again->callback_func = submit_again;
    for (unsigned i = 0; i < 2; i++)
        world_thread(i, ask);
}

static void end_ask(void)
{
    STEP_ASSERT(orr_again_has_ended(world, again));
    orr_task_free(world, again);
}

/* --- tags --- */

enum { TAG = 7, EVENT = 8, OTHER = 9 };

static bool reached;

static void check_reached(void *arg)
{
    (void)arg;
    STEP_ASSERT(reached);
}

/* A job bound to a tag waits for an event that is notified meanwhile. */
static void tags(unsigned thread)
{
    starpu_tag_t ids[] = {EVENT, OTHER};
    struct orr_job *job;

    if (thread > 0) {
        reached = thread == 1 ? true : reached;
        orr_tag_notify(world, thread == 1 ? EVENT : OTHER);
        return;
    }
    job = orr_job_new(world, &orr_job_after, 0);
    orr_job_own(job)->callback = check_reached;
    STEP_ASSERT(orr_tag_declare_deps(world, TAG, 2, ids) == 0);
    STEP_ASSERT(orr_tag_bind(world, TAG, job) == 0);
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    orr_job_ref(job);
    orr_job_release(world, job);
    STEP_ASSERT(orr_tag_wait(world, 2, ids) == 0);
    orr_job_wait(world, job);
    orr_job_unref(world, job);
}

static void begin_tags(void)
{
    world_begin(0);
    reached = false;
    for (unsigned i = 0; i < 3; i++)
        world_thread(i, tags);
}

/* The table outlives the schedule. */
static void end_tags(void)
{
    orr_tags_free(world->tasks->tags);
    STEP_ASSERT(orr_tags_new(&world->tasks->tags) == 0);
}

const struct step_case order_cases[] = {
    {.name = "same-order",
     .claim = "two threads submit jobs on the same two data",
     .begin = begin_same,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "opposite-order",
     .claim = "two threads name the same two data in opposite order",
     .begin = begin_opposite,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "readers",
     .claim = "readers and writers of three threads",
     .begin = begin_readers,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "add-dep",
     .claim = "a dependency is declared while the other job ends",
     .begin = begin_wait,
     .nbounds = 4,
     .nbounds_full = 6},
    {.name = "job-wait",
     .claim = "two wait for a job that ends",
     .begin = begin_waiters,
     .nbounds = 3,
     .nbounds_full = 5},
    {.name = "ask-again",
     .claim =
         "a task is submitted again while it is asked whether it has ended",
     .begin = begin_ask,
     .end = end_ask,
     .nbounds = 3,
     .nbounds_full = 5},
    {.name = "tags",
     .claim = "a tag's job, its waiter and its events",
     .begin = begin_tags,
     .end = end_tags,
     .nbounds = 3,
     .nbounds_full = 4},
    {0},
};
