/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/steps/partition_cases.c - data are cut in two, which live in one block,
 * while that is written back and evicted. A piece is one word of the datum: the
 * first one rises by one, the second one, which is its complement, falls.
 */
#include <starpu_data_filters.h>

#include "core/data/plan.h"
#include "tests/steps/cases.h"

static const struct world_spec
    small_device = {.ndevices = 1, .room = 1},
    small_lru = {.ndevices = 1, .room = 1, .eviction = "lru"},
    small_starpu = {.ndevices = 1, .room = 1, .eviction = "starpu"},
    two_devices = {.ndevices = 2, .peers = true, .room = 1, .eviction = "lru"},
    no_device = {.ndevices = 0};

static void cut(void)
{
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};

    STEP_ASSERT(orr_data_partition(world, "starpu_data_partition",
                                   data[0].handle, &halves) == 0);
}

static void change(unsigned which, unsigned node)
{
    struct orr_handle *piece = data[0].handle->children[which];

    STEP_ASSERT(
        orr_data_acquire(world, ORR_ACQUIRE, piece, (int)node, STARPU_RW) == 0);
    *(uint64_t *)orr_handle_pointer(piece, node) += which == 0 ? 1 : -1ULL;
    orr_data_release(world, piece, (int)node);
}

/* Nothing that uses it is under way when that is called. */
static void join(unsigned node)
{
    orr_data_unpartition(world, data[0].handle, node);
    data[0].value++;
}

/* Device 1 has the only copy, and is to have another datum. */
static void split(unsigned thread)
{
    if (thread == 1) {
        world_submit_one(1, &data[1], STARPU_R, 1);
        return;
    }
    world_submit_one(0, &data[0], STARPU_RW, 1);
    cut();
    change(0, 1);
    change(1, 1);
    join(1);
    world_submit_one(0, &data[0], STARPU_RW, 1);
}

static void begin_split(void)
{
    world_begin(2);
    world_worker(0);
    world_thread(0, split);
    world_thread(1, split);
}

/* The device begins to write the datum back, or does, while it is cut. */
static void cut_at_once(unsigned thread)
{
    (void)thread;
    world_submit_one(0, &data[0], STARPU_RW, 1);
    world_submit_one(0, &data[1], STARPU_R, 1);
    cut();
    change(1, 0);
    change(0, 0);
    join(0);
}

static void begin_cut(void)
{
    world_begin(2);
    world_worker(0);
    world_thread(0, cut_at_once);
}

/* The pieces are written in two places, and one is thrown out by hand. */
static void scatter(unsigned thread)
{
    if (thread == 1) {
        world_submit_one(1, &data[1], STARPU_RW, 1);
        world_submit_one(1, &data[1], STARPU_R, 2);
        return;
    }
    world_submit_one(0, &data[0], STARPU_RW, 1);
    cut();
    change(0, 0);
    change(1, 2);
    (void)orr_node_try_evict(data[0].handle->children[0], 1);
    join(0);
    world_submit_one(0, &data[0], STARPU_R, 1);
}

static void begin_scatter(void)
{
    world_begin(2);
    world_worker(0);
    world_worker(1);
    world_thread(0, scatter);
    world_thread(1, scatter);
}

/* --- planned, while an invalidation frees the memory --- */

static struct orr_handle *homeless; /* whose memory is the library's */

static void plan_or_invalidate(unsigned thread)
{
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t parts[2];

    if (thread == 1) {
        orr_data_invalidate_submit(world, homeless, false);
        return;
    }
    STEP_ASSERT(orr_plan_new(world, homeless, &halves, parts) == 0);
    orr_plan_clean(world, orr_handle_plan(orr_handle_of(parts[0])));
}

static void begin_plan(void)
{
    struct starpu_vector_interface vector = {
        .id = STARPU_VECTOR_INTERFACE_ID,
        .nx = DATUM_SIZE,
        .elemsize = 1,
        .allocsize = DATUM_SIZE,
    };

    world_begin(1);
    STEP_ASSERT(orr_handle_new(world, NULL, -1, &vector, &starpu_interface_vector_ops,
                               &homeless) == 0);
    STEP_ASSERT(orr_data_acquire(world, ORR_ACQUIRE, homeless, 0, STARPU_W) == 0);
    orr_data_release(world, homeless, 0);
    world_thread(0, plan_or_invalidate);
    world_thread(1, plan_or_invalidate);
}

static void end_plan(void)
{
    orr_data_unregister(world, homeless, false);
}

const struct step_case partition_cases[] = {
    {.name = "split",
     .claim = "data are cut, written and joined while their block is evicted",
     .spec = small_device,
     .begin = begin_split,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "split-lru",
     .claim = "the same with ORRERY_EVICTION=lru",
     .spec = small_lru,
     .begin = begin_split,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "split-starpu",
     .claim = "the same with ORRERY_EVICTION=starpu",
     .spec = small_starpu,
     .begin = begin_split,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "cut",
     .claim = "data are cut while they are written back",
     .spec = small_lru,
     .begin = begin_cut,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "scatter",
     .claim = "pieces of a block are written elsewhere while it is evicted",
     .spec = two_devices,
     .begin = begin_scatter,
     .nbounds = 2,
     .nbounds_full = 3},
    {.name = "plan",
     .claim = "data are planned while their memory is freed",
     .spec = no_device,
     .begin = begin_plan,
     .end = end_plan,
     .nbounds = 2,
     .nbounds_full = 3},
    {0},
};
