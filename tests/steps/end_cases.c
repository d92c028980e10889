/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/steps/end_cases.c - the ends of handles. */
#include "tests/steps/cases.h"

static const struct world_spec device = {.ndevices = 1},
                               small_device = {.ndevices = 1, .room = 1};

static void doom(unsigned which)
{
    struct orr_handle *handle = data[which].handle;

    data[which].handle = NULL;
    orr_data_unregister_submit(world, handle);
}

/* --- an acquisition is released while the datum is unregistered --- */

static void got(void *arg)
{
    (void)arg;
}

static struct orr_handle *acquired;

static void release(unsigned thread)
{
    if (thread == 0)
        orr_data_release(world, acquired, 0);
    else
        doom(0);
}

static int acquire_later(enum starpu_data_access_mode mode)
{
    struct orr_acquisition how = {
        .call = ORR_ACQUIRE_CB, .callback = got, .sequential = true};

    return orr_data_acquire_with(world, acquired, 0, mode, &how);
}

static void begin_release(void)
{
    world_begin(1);
    acquired = data[0].handle;
    STEP_ASSERT(acquire_later(STARPU_R) == 0);
    world_thread(0, release);
    world_thread(1, release);
}

/* Two acquisitions, the second of which waits for the first. */
static void acquire_and_end(unsigned thread)
{
    if (thread == 0) {
        orr_data_release(world, acquired, 0);
        return;
    }
    STEP_ASSERT(orr_data_acquire(world, ORR_ACQUIRE, acquired, 0, STARPU_RW) ==
                0);
    world_write(&data[0], 0);
    orr_data_release(world, acquired, 0);
    doom(0);
}

static void begin_acquire(void)
{
    world_begin(1);
    acquired = data[0].handle;
    STEP_ASSERT(acquire_later(STARPU_RW) == 0);
    world_thread(0, acquire_and_end);
    world_thread(1, acquire_and_end);
}

/* --- the last user is a copy, which the machine ends --- */

static void copy_is_last(unsigned thread)
{
    (void)thread;
    world_submit_one(0, &data[0], STARPU_RW, 1);
    STEP_ASSERT(
        orr_data_acquire(world, ORR_ACQUIRE, data[0].handle, 0, STARPU_R) == 0);
    orr_data_release(world, data[0].handle, 0);
    STEP_ASSERT(
        orr_data_acquire(world, ORR_ACQUIRE, data[0].handle, 0, STARPU_W) == 0);
    world_write(&data[0], 0);
    orr_data_release(world, data[0].handle, 0);
    orr_handle_prefetch(world, data[0].handle, 1, ORR_PREFETCH);
    doom(0);
}

static void begin_copy_is_last(void)
{
    world_begin(1);
    world_worker(0);
    world_thread(0, copy_is_last);
}

/* --- the application waits for the end, others use the datum --- */

static void unregister(unsigned thread)
{
    if (thread == 0) {
        world_submit_one(0, &data[0], STARPU_RW, 1);
        world_submit_one(0, &data[1], STARPU_R, 1); /* evicts */
        orr_data_unregister(world, data[0].handle, true);
        STEP_ASSERT(data[0].home[0] == data[0].value);
        STEP_ASSERT(data[0].home[1] == ~data[0].value);
        data[0].handle = NULL;
    } else {
        orr_handle_prefetch(world, data[1].handle, 1, ORR_PREFETCH);
        orr_data_wont_use(world, data[1].handle);
    }
}

static void begin_unregister(void)
{
    world_begin(2);
    world_worker(0);
    world_thread(0, unregister);
    world_thread(1, unregister);
}

/* --- a value is forgotten --- */

static void invalidate(unsigned thread)
{
    (void)thread;
    world_submit_one(0, &data[0], STARPU_RW, 1);
    data[0].unknown = true;
    orr_data_invalidate(world, data[0].handle, false);
    world_submit_one(0, &data[0], STARPU_W, 1);
    STEP_ASSERT(
        orr_data_acquire(world, ORR_ACQUIRE, data[0].handle, 0, STARPU_R) == 0);
    world_read(&data[0], 0);
    orr_data_release(world, data[0].handle, 0);
}

static void begin_invalidate(void)
{
    world_begin(1);
    world_worker(0);
    world_thread(0, invalidate);
}

const struct step_case end_cases[] = {
    {.name = "release-unregister",
     .claim = "an acquisition is released while its datum is unregistered",
     .spec = device,
     .begin = begin_release,
     .nbounds = 4,
     .nbounds_full = 6},
    {.name = "acquire-unregister",
     .claim = "one acquires, releases and unregisters while another releases",
     .spec = device,
     .begin = begin_acquire,
     .nbounds = 3,
     .nbounds_full = 4},
    {.name = "copy-is-last",
     .claim = "a copy is the last user of a datum",
     .spec = device,
     .begin = begin_copy_is_last,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "unregister",
     .claim = "a datum on a full device is unregistered",
     .spec = small_device,
     .begin = begin_unregister,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "invalidate",
     .claim = "a value on a device is forgotten",
     .spec = device,
     .begin = begin_invalidate,
     .nbounds = 2,
     .nbounds_full = 3},
    {0},
};
