/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/steps/transfer_cases.c - requests, memory, copies under way. */
#include "tests/steps/cases.h"

static const struct world_spec
    device = {.ndevices = 1},
    small_device = {.ndevices = 1, .room = 1},
    small_lru = {.ndevices = 1, .room = 1, .eviction = "lru"},
    small_starpu = {.ndevices = 1, .room = 1, .eviction = "starpu"},
    two_devices = {.ndevices = 2},
    peers = {.ndevices = 2, .peers = true, .room = 1},
    numa = {.nram = 2, .ncpus = 1};

static void acquire(unsigned which, enum starpu_data_access_mode mode)
{
    struct datum *datum = &data[which];

    STEP_ASSERT(orr_data_acquire(world, ORR_ACQUIRE, datum->handle, 0, mode) ==
                0);
    if (mode & STARPU_W)
        world_write(datum, 0);
    else
        world_read(datum, 0);
    orr_data_release(world, datum->handle, 0);
}

static void prefetch(unsigned which, unsigned node)
{
    orr_handle_prefetch(world, data[which].handle, node, ORR_PREFETCH);
}

/* --- a request is joined while it ends --- */

static void join(unsigned thread)
{
    if (thread == 0)
        world_submit_one(0, &data[0], STARPU_R, 1);
    else
        prefetch(0, 1);
}

static void begin_join(void)
{
    world_begin(1);
    world_worker(0);
    world_thread(0, join);
    world_thread(1, join);
}

/* The device writes, the application acquires: the value comes back. */
static void bring_back(unsigned thread)
{
    if (thread == 0) {
        world_submit_one(0, &data[0], STARPU_RW, 1);
        acquire(0, STARPU_RW);
    } else {
        prefetch(0, 1);
    }
}

static void begin_bring_back(void)
{
    world_begin(1);
    world_worker(0);
    world_thread(0, bring_back);
    world_thread(1, bring_back);
}

/* --- a write while a copy is under way --- */

/* The copy to device 2 is of the value that device 1 overwrites. */
static void overwrite(unsigned thread)
{
    if (thread == 0) {
        world_submit_one(0, &data[0], STARPU_RW, 1);
        world_submit_one(0, &data[0], STARPU_R, 2);
    } else {
        prefetch(0, 2);
    }
}

static void begin_overwrite(void)
{
    world_begin(1);
    world_worker(0);
    world_worker(1);
    world_thread(0, overwrite);
    world_thread(1, overwrite);
}

/* Who overwrites without reading waits for the copy that comes to it. */
static void overwrite_there(unsigned thread)
{
    if (thread == 0) {
        world_submit_one(0, &data[0], STARPU_W, 1);
        world_submit_one(0, &data[0], STARPU_R, 1);
        acquire(0, STARPU_R);
    } else {
        prefetch(0, 1);
    }
}

static void begin_overwrite_there(void)
{
    world_begin(1);
    world_worker(0);
    world_thread(0, overwrite_there);
    world_thread(1, overwrite_there);
}

/* Threads copy between main memories by themselves. */
static void between_memories(unsigned thread)
{
    if (thread == 0) {
        world_submit_one(0, &data[0], STARPU_RW, 0);
        world_submit_one(0, &data[0], STARPU_RW, 1);
    } else {
        prefetch(0, 1);
    }
}

static void begin_between(void)
{
    world_begin(1);
    world_worker(0);
    world_worker(1);
    world_thread(0, between_memories);
    world_thread(1, between_memories);
}

/* --- a device with room for one datum --- */

static void evict(unsigned thread)
{
    if (thread == 0) {
        world_submit_one(0, &data[0], STARPU_RW, 1);
        world_submit_one(0, &data[1], STARPU_R, 1);
    } else {
        prefetch(0, 1);
        acquire(0, STARPU_R);
    }
}

static void begin_evict(void)
{
    world_begin(2);
    world_worker(0);
    world_thread(0, evict);
    world_thread(1, evict);
}

/* The device is full of a datum that is freed at the moment when another one
 * finds no room. */
static void fill(unsigned thread)
{
    world_submit_one(thread, &data[0], STARPU_RW, 1);
    acquire(0, STARPU_R);
    world_submit_one(thread, &data[1], STARPU_R, 1);
    orr_data_unregister(world, data[0].handle, true);
    data[0].handle = NULL;
}

static void begin_make_room(void)
{
    world_begin(2);
    world_worker(0);
    world_thread(0, fill);
}

/* Prefetches that find no room, and jobs that end. */
static void crowd(unsigned thread)
{
    if (thread == 0) {
        world_submit_one(0, &data[0], STARPU_R, 1);
        prefetch(2, 1);
    } else {
        world_submit_one(1, &data[1], STARPU_RW, 1);
        acquire(1, STARPU_R);
    }
}

static void begin_crowd(void)
{
    world_begin(3);
    world_worker(0);
    world_thread(0, crowd);
    world_thread(1, crowd);
}

/* Full, with a value that is written back while it is written anew. */
static void write_back(unsigned thread)
{
    if (thread == 0) {
        world_submit_one(0, &data[0], STARPU_RW, 1);
        world_submit_one(0, &data[0], STARPU_RW, 1);
    } else {
        prefetch(1, 1);
        world_submit_one(1, &data[1], STARPU_R, 1);
    }
}

static void begin_write_back(void)
{
    world_begin(2);
    world_worker(0);
    world_thread(0, write_back);
    world_thread(1, write_back);
}

/* What fills the first device is the source of a copy to the second. */
static void take_from_peer(unsigned thread)
{
    (void)thread;
    world_submit_one(0, &data[0], STARPU_RW, 1);
    world_submit_one(0, &data[0], STARPU_R, 2);
    world_submit_one(0, &data[1], STARPU_R, 1);
}

static void begin_take_from_peer(void)
{
    world_begin(2);
    world_worker(0);
    world_worker(1);
    world_thread(0, take_from_peer);
}

const struct step_case transfer_cases[] = {
    {.name = "join",
     .claim = "a request is joined while it ends",
     .spec = device,
     .begin = begin_join,
     .nbounds = 3,
     .nbounds_full = 4},
    {.name = "bring-back",
     .claim = "the application acquires what a device writes",
     .spec = device,
     .begin = begin_bring_back,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "overwrite",
     .claim = "a value is copied while it is overwritten elsewhere",
     .spec = two_devices,
     .begin = begin_overwrite,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "overwrite-there",
     .claim = "a value is overwritten where a copy of it comes",
     .spec = device,
     .begin = begin_overwrite_there,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "between-memories",
     .claim = "threads copy between main memories what is overwritten",
     .spec = numa,
     .begin = begin_between,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "evict",
     .claim = "a value is evicted while it is fetched",
     .spec = small_device,
     .begin = begin_evict,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "evict-lru",
     .claim = "the same with ORRERY_EVICTION=lru",
     .spec = small_lru,
     .begin = begin_evict,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "evict-starpu",
     .claim = "the same with ORRERY_EVICTION=starpu",
     .spec = small_starpu,
     .begin = begin_evict,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "crowd-starpu",
     .claim = "prefetches that find no room with ORRERY_EVICTION=starpu",
     .spec = small_starpu,
     .begin = begin_crowd,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "make-room",
     .claim = "memory is freed when a request finds none",
     .spec = small_device,
     .begin = begin_make_room,
     .nbounds = 3,
     .nbounds_full = 4},
    {.name = "peer",
     .claim = "what fills a device is copied to another one",
     .spec = peers,
     .begin = begin_take_from_peer,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "crowd",
     .claim = "prefetches that find no room, and jobs that end",
     .spec = small_device,
     .begin = begin_crowd,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "write-back",
     .claim = "a value is written back while it is written anew",
     .spec = small_device,
     .begin = begin_write_back,
     .nbounds = 2,
     .nbounds_full = 3},
    {0},
};
