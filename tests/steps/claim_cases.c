/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/steps/claim_cases.c - who has data whose order does not say it. */
#include "tests/steps/cases.h"

#define COMMUTE (STARPU_RW | STARPU_COMMUTE)

static void submit(unsigned thread, unsigned n, const unsigned *which,
                   uint32_t mode, bool ordered, uint8_t refusals)
{
    struct orr_job *job = world_job(thread, n);

    for (unsigned i = 0; i < n; i++)
        world_use(job, &data[which[i]], mode, ordered);
    job->claims.refusals = refusals;
    world_submit(job, -1);
}

/* --- philosophers: each uses two data of three --- */

static void commuting(unsigned thread)
{
    submit(thread, 2, (unsigned[]){thread, (thread + 1) % 3}, COMMUTE, true, 0);
    world_help(3);
}

static void unordered(unsigned thread)
{
    submit(thread, 2, (unsigned[]){thread, (thread + 1) % 3}, STARPU_RW, false,
           0);
    world_help(3);
}

/* They have been refused so often that they keep what they get. */
static void keeping(unsigned thread)
{
    submit(thread, 2, (unsigned[]){thread, (thread + 1) % 3}, COMMUTE, true, 8);
    world_help(3);
}

static void sit_down(void (*body)(unsigned))
{
    world_begin(3);
    for (unsigned i = 0; i < 3; i++)
        world_thread(i, body);
}

static void begin_commuting(void)
{
    sit_down(commuting);
}

static void begin_unordered(void)
{
    sit_down(unordered);
}

static void begin_keeping(void)
{
    sit_down(keeping);
}

/* --- a job that holds the data ends while others come --- */

static void give_back(unsigned thread)
{
    if (thread == 0)
        world_run(1);
    else
        submit(thread, 1, (unsigned[]){0}, COMMUTE, true, 0);
    world_help(3);
}

static void begin_give_back(void)
{
    world_begin(1);
    submit(3, 1, (unsigned[]){0}, COMMUTE, true, 0);
    for (unsigned i = 0; i < 3; i++)
        world_thread(i, give_back);
}

/* Job 3 waits for both data, which jobs 1 and 2 give back at once, while
 * another one comes. */
static void serve(unsigned thread)
{
    if (thread < 2)
        world_run(thread + 1);
    else
        submit(thread, 1, (unsigned[]){0}, COMMUTE, true, 0);
    world_help(4);
}

static void serve_with(uint8_t refusals)
{
    world_begin(2);
    submit(3, 1, (unsigned[]){0}, COMMUTE, true, 0);
    submit(3, 1, (unsigned[]){1}, COMMUTE, true, 0);
    submit(3, 2, (unsigned[]){0, 1}, COMMUTE, true, refusals);
    for (unsigned i = 0; i < 3; i++)
        world_thread(i, serve);
}

static void begin_serve(void)
{
    serve_with(0);
}

/* … it becomes one that keeps, meanwhile. */
static void begin_keepers(void)
{
    serve_with(7);
}

/* Readers that share a claim, and a writer that must not starve nor meet
 * them. */
static void share(unsigned thread)
{
    submit(thread, 1, (unsigned[]){0}, thread ? STARPU_R : STARPU_RW, false, 0);
    world_help(3);
}

static void begin_share(void)
{
    world_begin(1);
    for (unsigned i = 0; i < 3; i++)
        world_thread(i, share);
}

/* --- the first access that is not ordered --- */

/* Thread 0 ends a writer, after which another passes without a claim, while
 * the first commuting access comes. */
static void mix(unsigned thread)
{
    if (thread == 0)
        world_run(1);
    else
        submit(thread, 1, (unsigned[]){0}, thread == 1 ? COMMUTE : STARPU_RW,
               thread == 1, 0);
    world_help(4);
}

static void begin_mix(void)
{
    world_begin(1);
    submit(3, 1, (unsigned[]){0}, STARPU_RW, true, 0);
    submit(3, 1, (unsigned[]){0}, STARPU_RW, true, 0);
    for (unsigned i = 0; i < 3; i++)
        world_thread(i, mix);
}

/* One that had to wait decides to pass, the other one makes that wrong. */
static void decide(unsigned thread)
{
    if (thread == 0)
        world_run(1);
    else
        submit(thread, 1, (unsigned[]){0}, STARPU_RW, false, 0);
    world_help(3);
}

static void begin_decide(void)
{
    world_begin(1);
    submit(2, 1, (unsigned[]){0}, STARPU_RW, true, 0);
    submit(2, 1, (unsigned[]){0}, STARPU_RW, true, 0);
    for (unsigned i = 0; i < 2; i++)
        world_thread(i, decide);
}

/* One passes, the other one makes that wrong. */
static void pass(unsigned thread)
{
    submit(thread, 1, (unsigned[]){0}, STARPU_RW, thread == 0, 0);
    world_help(2);
}

static void begin_pass(void)
{
    world_begin(1);
    for (unsigned i = 0; i < 2; i++)
        world_thread(i, pass);
}

const struct step_case claim_cases[] = {
    {.name = "philosophers",
     .claim = "three commuting jobs, each with two of three data",
     .begin = begin_commuting,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "unordered",
     .claim = "the same without order",
     .begin = begin_unordered,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "keepers-only",
     .claim = "the same by jobs that keep what they get",
     .begin = begin_keeping,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "give-back",
     .claim = "a claim is given back while others come for it",
     .begin = begin_give_back,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "serve",
     .claim = "two data are given back at once to one who waits for both",
     .begin = begin_serve,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "keepers",
     .claim = "one becomes a keeper meanwhile",
     .begin = begin_keepers,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "shared-claims",
     .claim = "readers and a writer without order",
     .begin = begin_share,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "decide",
     .claim = "… while another that had to wait decides to pass",
     .begin = begin_decide,
     .nbounds = 3,
     .nbounds_full = 5},
    {.name = "pass",
     .claim = "the first access without order comes while another passes",
     .begin = begin_pass,
     .nbounds = 4,
     .nbounds_full = 5},
    {.name = "mixed",
     .claim = "the first access without order comes while a job passes",
     .begin = begin_mix,
     .nbounds = 2,
     .nbounds_full = 3},
    {0},
};
