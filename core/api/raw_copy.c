/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/raw_copy.c - what copy methods of interfaces are written on: copies
 * of bytes between memory nodes, and memory that two nodes see. Any thread, no
 * lock.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/api/api.h"
#include "core/device/driver.h"

/* -- copying -- */

static bool has_bytes(const struct orr_raw_copy *raw)
{
    for (unsigned i = 0; i < raw->levels; i++)
        if (raw->n[i] == 0)
            return false;
    return raw->size > 0;
}

/* Whether the address is NULL on a node where that is no place. */
static bool address_is_null_on(uintptr_t address, unsigned node)
{
    return !address &&
           (node == STARPU_MAIN_RAM ||
            ORR_API_RUNTIME()->machine->nodes[node].host_addressable);
}

/* Ends the program if one of the addresses is NULL where memory is needed: data that
 * were registered for estimates alone have none. */
static void check_addresses(const char *call, const struct orr_raw_copy *raw)
{
    bool source = address_is_null_on(raw->src, raw->src_node);

    if ((!source && !address_is_null_on(raw->dst, raw->dst_node)) ||
        !has_bytes(raw))
        return;
    orr_log_error(
        "%s: what is to be copied %s NULL on memory node %u: data that "
        "were registered without memory are for estimates only",
        call, source ? "is at" : "would go to",
        source ? raw->src_node : raw->dst_node);
    if (orr_runtime_current(call))
        orr_runtime_fail(ORR_API_RUNTIME());
    abort();
}

static int raw_copy_bytes(const char *call, const struct orr_raw_copy *raw,
                          void *async_data)
{
    /* Before starpu_init there is main memory. */
    bool within_main =
        raw->src_node == STARPU_MAIN_RAM && raw->dst_node == STARPU_MAIN_RAM;

    if (!within_main) {
        (void)orr_api_node(call, raw->src_node);
        (void)orr_api_node(call, raw->dst_node);
    }
    check_addresses(call, raw);
    if (!within_main)
        return orr_machine_raw_copy(ORR_API_RUNTIME()->machine, raw,
                                    async_data);
    orr_host_raw_copy(raw);
    return 0;
}

/* Ends the program if a step is shorter than what the level below it has: levels may
 * not overlap. */
static void check_steps(const char *call, const struct orr_raw_copy *raw)
{
    size_t src = raw->size, dst = raw->size;

    for (unsigned i = 0; i < raw->levels; i++) {
        if (raw->n[i] > 1 &&
            (raw->src_step[i] < src || raw->dst_step[i] < dst)) {
            orr_log_error("%s: leading dimensions of %zu and %zu bytes are "
                          "less than the %zu and %zu that they step over",
                          call, raw->src_step[i], raw->dst_step[i], src, dst);
            abort();
        }
        src = raw->src_step[i] * raw->n[i];
        dst = raw->dst_step[i] * raw->n[i];
    }
}

int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node,
                          uintptr_t dst, size_t dst_offset, unsigned dst_node,
                          size_t size, void *async_data)
{
    const struct orr_raw_copy raw = {
        .src = src,
        .dst = dst,
        .src_offset = src_offset,
        .dst_offset = dst_offset,
        .src_node = src_node,
        .dst_node = dst_node,
        .size = size,
    };

    return raw_copy_bytes(__func__, &raw, async_data);
}

int starpu_interface_copy2d(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t blocksize, size_t numblocks, size_t ld_src,
                            size_t ld_dst, void *async_data)
{
    const struct orr_raw_copy raw = {
        .src = src,
        .dst = dst,
        .src_offset = src_offset,
        .dst_offset = dst_offset,
        .src_node = src_node,
        .dst_node = dst_node,
        .size = blocksize,
        .levels = 1,
        .n = {numblocks},
        .src_step = {ld_src},
        .dst_step = {ld_dst},
    };

    check_steps(__func__, &raw);
    return raw_copy_bytes(__func__, &raw, async_data);
}

int starpu_interface_copy3d(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t blocksize, size_t numblocks1, size_t ld1_src,
                            size_t ld1_dst, size_t numblocks2, size_t ld2_src,
                            size_t ld2_dst, void *async_data)
{
    const struct orr_raw_copy raw = {
        .src = src,
        .dst = dst,
        .src_offset = src_offset,
        .dst_offset = dst_offset,
        .src_node = src_node,
        .dst_node = dst_node,
        .size = blocksize,
        .levels = 2,
        .n = {numblocks1, numblocks2},
        .src_step = {ld1_src, ld2_src},
        .dst_step = {ld1_dst, ld2_dst},
    };

    check_steps(__func__, &raw);
    return raw_copy_bytes(__func__, &raw, async_data);
}

int starpu_interface_copy4d(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t blocksize, size_t numblocks1, size_t ld1_src,
                            size_t ld1_dst, size_t numblocks2, size_t ld2_src,
                            size_t ld2_dst, size_t numblocks3, size_t ld3_src,
                            size_t ld3_dst, void *async_data)
{
    const struct orr_raw_copy raw = {
        .src = src,
        .dst = dst,
        .src_offset = src_offset,
        .dst_offset = dst_offset,
        .src_node = src_node,
        .dst_node = dst_node,
        .size = blocksize,
        .levels = 3,
        .n = {numblocks1, numblocks2, numblocks3},
        .src_step = {ld1_src, ld2_src, ld3_src},
        .dst_step = {ld1_dst, ld2_dst, ld3_dst},
    };

    check_steps(__func__, &raw);
    return raw_copy_bytes(__func__, &raw, async_data);
}

/* Dimensions beyond those that one raw copy has are copied one index at a time. */
static int copy_outer(struct orr_raw_copy *raw, size_t dim, size_t elemsize,
                      const uint32_t *nn, const uint32_t *ldn_src,
                      const uint32_t *ldn_dst, void *async_data)
{
    struct orr_raw_copy part = *raw;
    int result = 0;

    if (dim <= ORR_RAW_LEVELS)
        return raw_copy_bytes("starpu_interface_copynd", raw, async_data);
    for (uint32_t i = 0; i < nn[dim]; i++) {
        int rc = copy_outer(&part, dim - 1, elemsize, nn, ldn_src, ldn_dst,
                            async_data);

        if (rc && (rc != -EAGAIN || !result))
            result = rc;
        part.src_offset += ldn_src[dim] * elemsize;
        part.dst_offset += ldn_dst[dim] * elemsize;
    }
    return result;
}

int starpu_interface_copynd(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t elemsize, size_t ndim, uint32_t *nn,
                            uint32_t *ldn_src, uint32_t *ldn_dst,
                            void *async_data)
{
    struct orr_raw_copy raw = {
        .src = src,
        .dst = dst,
        .src_offset = src_offset * elemsize,
        .dst_offset = dst_offset * elemsize,
        .src_node = src_node,
        .dst_node = dst_node,
    };

    if (ndim == 0)
        return starpu_interface_copy(src, src_offset, src_node, dst, dst_offset,
                                     dst_node, elemsize, async_data);
    raw.size = nn[0] * elemsize;
    for (size_t i = 1; i < ndim && i <= ORR_RAW_LEVELS; i++) {
        raw.n[i - 1] = nn[i];
        raw.src_step[i - 1] = ldn_src[i] * elemsize;
        raw.dst_step[i - 1] = ldn_dst[i] * elemsize;
        raw.levels++;
    }
    return copy_outer(&raw, ndim - 1, elemsize, nn, ldn_src, ldn_dst,
                      async_data);
}

/* Traces have the runtime's own copies, with their true lengths. */
void starpu_interface_data_copy(unsigned src_node, unsigned dst_node,
                                size_t size)
{
    (void)size;
    (void)orr_api_node(__func__, src_node);
    (void)orr_api_node(__func__, dst_node);
}

void starpu_interface_start_driver_copy_async(unsigned src_node,
                                              unsigned dst_node, double *start)
{
    (void)src_node;
    (void)dst_node;
    *start = starpu_timing_now();
}

void starpu_interface_end_driver_copy_async(unsigned src_node,
                                            unsigned dst_node, double start)
{
    const double long_us = 300;

    if (starpu_timing_now() - start > long_us)
        orr_log_warning("handing over a copy from memory node %u to %u took "
                        "more than %.0f us: is the memory pinned?",
                        src_node, dst_node, long_us);
}

/* -- memory of one node that another one sees -- */

static bool is_main(const char *call, unsigned node)
{
    return orr_node_is_main(orr_api_node(call, node));
}

/* The driver that could do that between two nodes that are not both main memory, which
 * all processors see. */
static struct orr_driver *mapper(unsigned src_node, unsigned dst_node)
{
    return orr_machine_copier(ORR_API_RUNTIME()->machine, src_node, dst_node);
}

static _Noreturn void raw_map_refuse(const char *call, unsigned src_node,
                                     unsigned dst_node)
{
    orr_log_error("%s: memory node %u cannot see memory of node %u: only what "
                  "starpu_interface_map has mapped may be given",
                  call, dst_node, src_node);
    abort();
}

uintptr_t starpu_interface_map(uintptr_t src, size_t src_offset,
                               unsigned src_node, unsigned dst_node,
                               size_t size, int *ret)
{
    bool here = is_main(__func__, src_node) && is_main(__func__, dst_node);
    struct orr_driver *driver = mapper(src_node, dst_node);

    *ret = here ? 0 : -EIO;
    if (here)
        return src + src_offset;
    return driver->ops->map ? driver->ops->map(driver, src, src_offset,
                                               src_node, dst_node, size, ret)
                            : 0;
}

int starpu_interface_unmap(uintptr_t src, size_t src_offset, unsigned src_node,
                           uintptr_t dst, unsigned dst_node, size_t size)
{
    bool here = is_main(__func__, src_node) && is_main(__func__, dst_node);
    struct orr_driver *driver = mapper(src_node, dst_node);

    if (here)
        return 0;
    if (!driver->ops->unmap)
        raw_map_refuse(__func__, src_node, dst_node);
    return driver->ops->unmap(driver, src, src_offset, src_node, dst, dst_node,
                              size);
}

int starpu_interface_update_map(uintptr_t src, size_t src_offset,
                                unsigned src_node, uintptr_t dst,
                                size_t dst_offset, unsigned dst_node,
                                size_t size)
{
    const struct orr_raw_copy raw = {
        .src = src,
        .dst = dst,
        .src_offset = src_offset,
        .dst_offset = dst_offset,
        .src_node = src_node,
        .dst_node = dst_node,
        .size = size,
    };
    bool here = is_main(__func__, src_node) && is_main(__func__, dst_node);
    struct orr_driver *driver = mapper(src_node, dst_node);

    if (here)
        return 0;
    if (!driver->ops->update_map)
        raw_map_refuse(__func__, src_node, dst_node);
    return driver->ops->update_map(driver, &raw);
}
