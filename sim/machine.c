/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/machine.c - see machine.h: opening and closing, and the operations,
 * which are a line or two over transfers, streams and memories.
 */
#include "sim/machine.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/device/cpu/cgroup.h"
#include "sim/costs.h"
#include "sim/describe.h"
#include "sim/links.h"
#include "sim/network_open.h"
#include "sim/node_links.h"

static struct orr_sim_machine *machine_of(struct orr_machine *machine)
{
    return (struct orr_sim_machine *)machine;
}

/* -- operations ----------------------------------------------------------- */

static void charge(double us)
{
    if (orr_self)
        orr_self->debt += us;
}

static bool sim_node_is_main(const struct orr_machine *machine, unsigned node)
{
    return machine->nodes[node].kind == STARPU_CPU_RAM;
}

static unsigned count_main(const struct orr_machine *machine)
{
    unsigned n = 0;

    while (n < machine->nnodes && sim_node_is_main(machine, n))
        n++;
    return n;
}

/* From that size on blocks of main memory that nobody fills are kept apart from malloc's: each
 * would have a header in a page of its own, and what is small would come to lie between them. */
#define APART_FROM ((size_t)64 << 10)

static bool is_apart(const struct orr_sim_memory *memory, size_t size)
{
    return memory->mapped && size >= APART_FROM;
}

/* Main memory may be looked at, and is pinned when a CUDA device is there. */
static int alloc_main(struct orr_machine *machine, unsigned node, size_t size,
                      uintptr_t *ret)
{
    struct orr_sim_memory *memory = &machine_of(machine)->memories[node];
    struct orr_sim_driver_calls calls = {0};
    void *p = NULL;

    if (is_apart(memory, size)) {
        if (orr_sim_memory_alloc(memory, size, ret, &calls) < 0)
            return -ENOMEM;
    } else {
        if (posix_memalign(&p, 64, size ? size : 1) != 0)
            return -ENOMEM;
        *ret = (uintptr_t)p;
    }
    charge(machine->costs.pinned_alloc_per_mib * (double)size / 1048576);
    return 0;
}

static void free_main(struct orr_machine *machine, unsigned node, uintptr_t address, size_t size)
{
    struct orr_sim_memory *memory = &machine_of(machine)->memories[node];
    struct orr_sim_driver_calls calls = {0};

    if (is_apart(memory, size))
        orr_sim_memory_free(memory, address, size, &calls);
    else
        free((void *)address);
}

static void charge_driver(const struct orr_machine *machine,
                          const struct orr_sim_driver_calls *calls)
{
    charge(calls->allocs * machine->costs.device_alloc +
           calls->frees * machine->costs.device_free);
}

/* Half of the memory that this process may have, in bytes. */
static size_t half_of_memory(void)
{
    uint64_t limit = orr_cgroup_read("").bytes;
    double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct rlimit space;

    if (limit && (double)limit < all)
        all = (double)limit;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
        (double)space.rlim_cur < all)
        all = (double)space.rlim_cur;
    return all > 0 ? (size_t)(all / 2) : SIZE_MAX;
}

/* Each simulated node has its copies of the data, in memory of this machine: that of
 * a large one may be more than there is here, and the process be killed. */
static void machine_hold_bytes(struct orr_sim_machine *m, size_t size)
{
    m->held += size;
    if (m->held < m->says_from)
        return;
    m->says_from = SIZE_MAX;
    orr_log_warning(
        "kernels are run, so that data on simulated memory nodes take memory of "
        "this machine: %.1f GiB by now, half of what there is; "
        "ORRERY_SIM_KERNELS=skip needs none, STARPU_LIMIT_CUDA_MEM and its kin "
        "(MiB) make devices smaller",
        (double)m->held / (1 << 30));
}

static int sim_alloc(struct orr_driver *driver, unsigned node, size_t size,
                     uintptr_t *ret)
{
    struct orr_machine *machine = driver->machine;
    struct orr_sim_machine *m = machine_of(machine);
    struct orr_sim_driver_calls calls = {0};
    int error;

    if (sim_node_is_main(machine, node)) {
        error = alloc_main(machine, node, size, ret);
    } else {
        error = orr_sim_memory_alloc(&m->memories[node], size, ret, &calls);
        charge_driver(machine, &calls);
    }
    if (!error)
        machine_hold_bytes(m, size);
    return error;
}

static void sim_free(struct orr_driver *driver, unsigned node,
                     uintptr_t address, size_t size)
{
    struct orr_machine *machine = driver->machine;
    struct orr_sim_machine *m = machine_of(machine);
    struct orr_sim_driver_calls calls = {0};

    m->held -= size;
    if (sim_node_is_main(machine, node)) {
        free_main(machine, node, address, size);
        return;
    }
    orr_sim_memory_free(&m->memories[node], address, size, &calls);
    charge_driver(machine, &calls);
}

/* The bytes of what the simulated machine has on its disk are not here. */
static int sim_object_open(struct orr_driver *driver, unsigned node, void *pos,
                           size_t size, uintptr_t *ret)
{
    struct orr_machine *machine = driver->machine;

    if (!orr_sim_disks_has(machine, &machine_of(machine)->disks, node, pos,
                           size))
        return -ENOENT;
    return sim_alloc(driver, node, size, ret);
}

static void sim_copy_start(struct orr_driver *driver, struct orr_copy *copy)
{
    orr_transfers_start(machine_of(driver->machine)->transfers, copy);
}

static int sim_kernel_start(struct orr_driver *driver,
                            struct orr_kernel *kernel)
{
    return orr_streams_start(machine_of(driver->machine)->streams, kernel);
}

/* The engine goes with the machine that made it, whatever context closes that one.
 * Where others are left on it, main has forgotten to join them. */
static void leave_engine(struct orr_sim_machine *m)
{
    if (!m->exec)
        return;
    orr_sim_exec_quit(&m->user);
    if (!m->owns_exec) {
        orr_self->runtime = NULL;
        return;
    }
    if (m->exec->users) {
        orr_log_error("the simulation ends with the machine that was opened "
                      "first: close the others before");
        abort();
    }
    orr_sim_exec_free(m->exec);
}

/* Frees what there is; also after a failed opening. */
static void sim_close(struct orr_machine *machine)
{
    struct orr_sim_machine *m = machine_of(machine);

    orr_watchdog_stop(m->watchdog);
    for (unsigned i = 0; m->memories && i < machine->nnodes; i++)
        orr_sim_memory_done(&m->memories[i]);
    free(m->memories);
    orr_sim_disks_done(&m->disks);
    orr_streams_free(m->streams);
    orr_transfers_free(m->transfers);
    orr_streaming_free(m->streaming);
    if (m->network)
        m->network->ops->free(m->network);
    orr_node_links_free(m->inside);
    leave_engine(m);
    if (m->stacks)
        m->stacks->ops->free(m->stacks);
    orr_links_done(machine);
    orr_describe_done(machine);
    free(m);
}

static int sim_add_disk(struct orr_machine *machine,
                        const struct orr_disk_options *disk,
                        struct orr_error *err)
{
    return orr_sim_disks_add(machine, &machine_of(machine)->disks, disk, err);
}

static const struct orr_machine_ops sim_machine_ops = {
    .close = sim_close,
    .add_disk = sim_add_disk,
};

/* Copies end by their length in SimGrid, then move their bytes, if they have any,
 * by host addresses. */
static const struct orr_driver_ops sim_driver_ops = {
    .name = "simulated",
    .alloc = sim_alloc,
    .free = sim_free,
    .object_open = sim_object_open,
    .object_close = sim_free,
    .copy_start = sim_copy_start,
    .kernel_start = sim_kernel_start,
};

/* -- opening -------------------------------------------------------------- */

static bool has_cuda(const struct orr_machine *machine)
{
    for (unsigned i = 0; i < machine->nworkers; i++)
        if (machine->workers[i].type == STARPU_CUDA_WORKER)
            return true;
    return false;
}

static int make_memories(struct orr_sim_machine *m)
{
    unsigned n = m->machine.nnodes;

    m->says_from = m->machine.runs_kernels ? half_of_memory() : SIZE_MAX;

    m->memories = calloc(n + m->disks.n, sizeof(*m->memories));
    if (!m->memories)
        return -ENOMEM;
    for (unsigned i = 0; i < n + m->disks.n; i++) {
        bool is_main = i < n && sim_node_is_main(&m->machine, i);

        m->memories[i].real = m->machine.runs_kernels;
        m->memories[i].mapped = is_main && !m->machine.runs_kernels;
        m->memories[i].suballocated =
            i < n && (is_main || m->machine.nodes[i].suballocated);
    }
    return 0;
}

static int make_network(const struct orr_machine_desc *desc,
                        const struct orr_machine_options *options,
                        const unsigned *endpoints, struct orr_sim_machine *m,
                        struct orr_error *err)
{
    bool wanted = true;
    int error = orr_sim_transfers_cost(&wanted, err);

    if (error == 0)
        error = orr_links_make(desc, endpoints, wanted, &m->machine);
    if (error < 0 || !wanted)
        return error;
    error = orr_network_open(desc, options->network, endpoints,
                             m->machine.nnodes + m->disks.n, &m->network, err);
    if (error == 0 && !orr_network_is_simgrids(desc, options->network))
        error = orr_node_links_new(desc, endpoints, m->machine.nnodes + m->disks.n,
                                   &m->inside, err);
    return error;
}

/* The parts that need the machine's tables: transfers, streams, memories. */
static int machine_make_parts(const struct orr_machine_desc *desc,
                              const struct orr_machine_options *options,
                              const unsigned *endpoints,
                              struct orr_sim_machine *m, struct orr_error *err)
{
    struct orr_machine *machine = &m->machine;
    struct orr_sim_exec *engine = orr_sim_exec_current();
    int error = orr_sim_costs(desc, has_cuda(machine), &machine->costs, err);

    if (error == 0 && !engine)
        error = orr_stacks_open(desc, options->contexts, endpoints,
                                machine->nnodes + m->disks.n,
                                orr_fiber_default_size(), &m->stacks, err);
    if (error == 0)
        error = make_network(desc, options, endpoints, m, err);
    if (error == 0)
        error = make_memories(m);
    m->owns_exec = !engine;
    if (error == 0 && !engine)
        error = orr_sim_exec_new(m->stacks, &engine);
    if (error < 0)
        return error;
    m->exec = engine;
    if (!engine->users)
        engine->wake = orr_sim_wake_cost(desc);
    orr_sim_exec_join(engine, &m->user);
    machine->exec = &engine->head;
    error = orr_transfers_new(
        &m->user, m->network, machine->nnodes + m->disks.n, count_main(machine),
        machine->runs_kernels, machine->costs.copy_queue, &m->transfers);
    for (unsigned i = 0; error == 0 && m->network && i < machine->nnodes; i++)
        orr_transfers_set_local(
            m->transfers, i,
            orr_sim_local_copy(desc, endpoints[i], i < count_main(machine)));
    for (unsigned i = 0; error == 0 && i < machine->nnodes; i++)
        orr_transfers_set_first_use(
            m->transfers, i,
            (i < count_main(machine)
                 ? machine->costs.first_use_per_mib
                 : machine->costs.device_first_use_per_mib) /
                (1 << 20));
    if (error == 0)
        error = orr_streaming_new(desc, endpoints, count_main(machine), machine,
                                  engine, &m->streaming);
    if (error == 0)
        orr_transfers_set_streaming(m->transfers, m->streaming, machine->bandwidth,
                                    machine->nnodes);
    if (error == 0)
        error = orr_streams_new(&m->user, machine, m->streaming, &m->streams);
    if (error == 0 && m->owns_exec)
        error = orr_watchdog_start(m->exec, &m->watchdog, err);
    return error;
}

static void add_driver(struct orr_sim_machine *m)
{
    struct orr_machine *machine = &m->machine;

    m->driver = (struct orr_driver){&sim_driver_ops, machine};
    m->drivers[0] = &m->driver;
    machine->drivers = m->drivers;
    machine->ndrivers = 1;
    for (unsigned i = 0; i < machine->nnodes; i++) {
        machine->nodes[i].driver = &m->driver;
        machine->nodes[i].host_addressable = true;
    }
    for (unsigned i = 0; i < machine->nworkers; i++)
        machine->workers[i].driver = &m->driver;
}

int orr_sim_open_desc(const struct orr_machine_desc *desc,
                      const struct orr_machine_options *options,
                      struct orr_machine **ret, struct orr_error *err)
{
    struct orr_sim_machine *m;
    unsigned *endpoints = NULL;
    int error;

    if (orr_self && (orr_self->runtime || !orr_sim_exec_current()))
        return orr_fail(err, -EBUSY,
                        "this thread runs on a simulated machine already");
    m = calloc(1, sizeof(*m));
    if (!m)
        return -ENOMEM;
    m->machine.ops = &sim_machine_ops;
    m->machine.runs_host_functions = true;
    m->machine.kernels_take_their_length = true;
    m->machine.models_energy = true;
    m->machine.runs_kernels = options->run_kernels;
    error = orr_describe(desc, options, &m->machine, &endpoints, err);
    if (error == 0)
        add_driver(m);
    if (error == 0)
        error = orr_sim_disks_find(desc, m->machine.nnodes,
                                   count_main(&m->machine), &endpoints,
                                   &m->disks);
    m->machine.spare_nodes = m->disks.n;
    if (error == 0)
        error = machine_make_parts(desc, options, endpoints, m, err);
    free(endpoints);
    if (error < 0) {
        sim_close(&m->machine);
        return error;
    }
    *ret = &m->machine;
    return 0;
}
