/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/methods.c - see methods.h. */
#include "core/device/methods.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/device/driver.h"

typedef int (*sync_method_t)(void *, unsigned, void *, unsigned);
typedef int (*async_method_t)(void);

/* The methods of two kinds of memory, as offsets. */
struct pair {
    enum starpu_node_kind src, dst;
    size_t sync, async;
};

#define METHODS(from, to, name)                                                \
    {                                                                          \
        STARPU_##from##_RAM, STARPU_##to##_RAM,                                \
            offsetof(struct starpu_data_copy_methods, name),                   \
            offsetof(struct starpu_data_copy_methods, name##_async)            \
    }

static const struct pair pairs[] = {
    METHODS(CPU, CUDA, ram_to_cuda),
    METHODS(CUDA, CPU, cuda_to_ram),
    METHODS(CUDA, CUDA, cuda_to_cuda),
    METHODS(CPU, HIP, ram_to_hip),
    METHODS(HIP, CPU, hip_to_ram),
    METHODS(HIP, HIP, hip_to_hip),
    METHODS(CPU, OPENCL, ram_to_opencl),
    METHODS(OPENCL, CPU, opencl_to_ram),
    METHODS(OPENCL, OPENCL, opencl_to_opencl),
    METHODS(CPU, MAX_FPGA, ram_to_max_fpga),
    METHODS(MAX_FPGA, CPU, max_fpga_to_ram),
};

static const struct pair *find_pair(const struct orr_machine *machine,
                                    unsigned src_node, unsigned dst_node)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i].src == machine->nodes[src_node].kind &&
            pairs[i].dst == machine->nodes[dst_node].kind)
            return &pairs[i];
    return NULL;
}

static sync_method_t sync_of(const struct starpu_data_copy_methods *methods,
                             const struct pair *pair)
{
    return *(const sync_method_t *)(const void *)((const char *)methods +
                                                  pair->sync);
}

static async_method_t async_of(const struct starpu_data_copy_methods *methods,
                               const struct pair *pair)
{
    return *(const async_method_t *)(const void *)((const char *)methods +
                                                   pair->async);
}

bool orr_methods_copy(const struct orr_machine *machine,
                      const struct starpu_data_interface_ops *ops,
                      unsigned src_node, unsigned dst_node)
{
    const struct starpu_data_copy_methods *methods = ops->copy_methods;
    const struct pair *pair = find_pair(machine, src_node, dst_node);

    return methods->any_to_any || !pair || sync_of(methods, pair) ||
           (async_of(methods, pair) && !machine->nodes[src_node].copies_wait &&
            !machine->nodes[dst_node].copies_wait);
}

bool orr_methods_queue(const struct orr_machine *machine,
                       const struct starpu_data_interface_ops *ops,
                       unsigned src_node, unsigned dst_node)
{
    const struct starpu_data_copy_methods *methods = ops->copy_methods;
    const struct pair *pair = find_pair(machine, src_node, dst_node);

    return methods && !machine->nodes[src_node].copies_wait &&
           !machine->nodes[dst_node].copies_wait &&
           (methods->any_to_any || (pair && async_of(methods, pair)));
}

static _Noreturn void
copy_method_missing(const struct orr_machine *machine,
                    const struct starpu_data_interface_ops *ops,
                    unsigned src_node, unsigned dst_node)
{
    const struct pair *pair = find_pair(machine, src_node, dst_node);
    bool waits = pair && ops->copy_methods && async_of(ops->copy_methods, pair);

    orr_log_error(
        "interface %d%s%s has %s method that copies from memory node "
        "%u (%s) to %u (%s)%s: give its copy_methods an any_to_any, "
        "written on starpu_interface_copy",
        (int)ops->interfaceid, ops->name ? " " : "", ops->name ? ops->name : "",
        waits ? "only an asynchronous" : "no", src_node,
        machine->nodes[src_node].name, dst_node, machine->nodes[dst_node].name,
        waits ? ", and the copy is to be a synchronous one" : "");
    abort();
}

static int copy_on_host(const struct orr_machine *machine,
                        const struct starpu_data_interface_ops *ops, void *src,
                        unsigned src_node, void *dst, unsigned dst_node)
{
    const struct starpu_data_copy_methods *methods = ops->copy_methods;

    if (methods->ram_to_ram)
        (void)methods->ram_to_ram(src, src_node, dst, dst_node);
    else if (methods->any_to_any)
        (void)methods->any_to_any(src, src_node, dst, dst_node, NULL);
    else
        copy_method_missing(machine, ops, src_node, dst_node);
    return 0;
}

/* Only what failed or is under way is a result: methods of applications may
 * return anything else. */
static int result_of(int rc)
{
    return rc == -EAGAIN || rc == -EIO || rc == -ENODEV ? rc : 0;
}

int orr_copy_by_methods(struct orr_machine *machine,
                        const struct starpu_data_interface_ops *ops, void *src,
                        unsigned src_node, void *dst, unsigned dst_node,
                        struct orr_async *async)
{
    const struct starpu_data_copy_methods *methods = ops->copy_methods;
    const struct pair *pair = find_pair(machine, src_node, dst_node);
    sync_method_t own = pair && methods ? sync_of(methods, pair) : NULL;
    struct orr_driver *driver;

    if (!methods)
        copy_method_missing(machine, ops, src_node, dst_node);
    if (machine->nodes[src_node].host_addressable &&
        machine->nodes[dst_node].host_addressable)
        return copy_on_host(machine, ops, src, src_node, dst, dst_node);
    driver = orr_machine_copier(machine, src_node, dst_node);
    if (async && pair && async_of(methods, pair) && driver->ops->call_method)
        return result_of(
            driver->ops->call_method(driver, async_of(methods, pair), src,
                                     src_node, dst, dst_node, async));
    if (methods->any_to_any && (async || !own))
        return result_of(
            methods->any_to_any(src, src_node, dst, dst_node, async));
    if (!own)
        copy_method_missing(machine, ops, src_node, dst_node);
    return result_of(own(src, src_node, dst, dst_node));
}
