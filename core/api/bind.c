/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/bind.c - processors: where workers are bound, binding threads of the
 * application. The topology is read at the first such call; simulated,
 * it has a processor for each worker, and nothing is bound. Any thread.
 */
#include "core/api/bind.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/combined.h"
#include "core/api/state.h"
#include "core/device/cpu/topology.h"
#include "core/worker/workers.h"

/* What is bound to a processor. OUTSIDE: nothing, this process was not given it. */
enum use { FREE, WORKER, ACTIVE, PASSIVE, OUTSIDE };

struct orr_api_topology {
    struct orr_topology *topology; /* owned, only read */
    struct orr_topology
        *here;            /* owned; simulated: this machine's, where the memory
                                    * of the application is; else NULL */
    struct orr_cpus cpus; /* [const] */
    struct orr_lock lock; /* rank ORR_RANK_RUNTIME, for the rest */
    enum use *uses;       /* [lock] owned, one per processor */
    char (*names)[32];    /* [lock] owned, of threads put there */
    int **workers;        /* [lock] owned, lists that were asked for */
    struct starpu_tree *tree; /* [lock] owned, or NULL */
};

void orr_api_topology_free(struct orr_api_topology *topology)
{
    if (!topology)
        return;
    for (unsigned i = 0; topology->workers && i < topology->cpus.n; i++)
        free(topology->workers[i]);
    if (topology->tree)
        starpu_tree_free(topology->tree);
    free(topology->tree);
    free(topology->workers);
    free(topology->names);
    free(topology->uses);
    orr_cpus_done(&topology->cpus);
    orr_topology_close(topology->topology);
    orr_topology_close(topology->here);
    free(topology);
}

/* The position of the processor with the kernel's number, -1 without. */
static int position_of(const struct orr_api_topology *topology, int number)
{
    for (unsigned i = 0; number >= 0 && i < topology->cpus.n; i++)
        if (topology->cpus.cpus[i].number == number)
            return (int)i;
    return -1;
}

/* The number of the worker's processor, -1 without. Simulated: those that compute come
 * first, as they are numbered, then one for each device. */
static int processor_of(const struct orr_worker *worker)
{
    const struct orr_runtime *rt = worker->runtime;
    int number = worker->desc->cpu;

    if (!rt->sim)
        return number;
    if (worker->desc->node < rt->nodes->nram)
        return worker->desc->devid;
    number = -1;
    for (unsigned w = 0; w <= worker->id; w++)
        number += rt->workers->at[w].desc->node >= rt->nodes->nram &&
                  rt->workers->at[w].desc->stream == 0;
    for (unsigned w = 0; w < rt->workers->n; w++)
        number += rt->workers->at[w].desc->node < rt->nodes->nram;
    return number;
}

/* hwloc's text of a machine that has them. */
static void describe_simulated(const struct orr_runtime *rt, char *text,
                               size_t size)
{
    unsigned n = 0, nram = rt->nodes->nram;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (processor_of(&rt->workers->at[w]) >= (int)n)
            n = (unsigned)processor_of(&rt->workers->at[w]) + 1;
    if (nram > 1 && n % nram == 0)
        snprintf(text, size, "numa:%u core:%u pu:1", nram, n / nram);
    else
        snprintf(text, size, "core:%u pu:1", n);
}

static void topology_note_uses(struct orr_api_topology *topology,
                               const struct orr_runtime *rt)
{
    const struct orr_cpus *usable = rt->machine->usable;

    for (unsigned i = 0; usable && i < topology->cpus.n; i++)
        topology->uses[i] = OUTSIDE;
    for (unsigned i = 0; usable && i < usable->n; i++) {
        int position = position_of(topology, usable->cpus[i].number);

        if (position >= 0)
            topology->uses[position] = FREE;
    }
    for (unsigned w = 0; w < rt->workers->n; w++) {
        int position = position_of(topology, processor_of(&rt->workers->at[w]));

        if (position >= 0)
            topology->uses[position] = WORKER;
    }
}

static struct orr_api_topology *topology_new(const struct orr_runtime *rt)
{
    struct orr_api_topology *new = calloc(1, sizeof(*new));
    struct orr_topology_input input = {.ignore_affinity = true};
    struct orr_error err = {0};
    char simulated[64];

    if (!new)
        return NULL;
    orr_lock_init(&new->lock, ORR_RANK_RUNTIME);
    if (rt->sim && orr_topology_open(&input, &new->here, &err) < 0)
        goto fail;
    if (rt->sim) {
        describe_simulated(rt, simulated, sizeof(simulated));
        input.synthetic = simulated;
    }
    if (orr_topology_open(&input, &new->topology, &err) < 0 ||
        orr_topology_cpus(new->topology, &new->cpus, &err) < 0)
        goto fail;
    new->uses = calloc(new->cpus.n, sizeof(*new->uses));
    new->names = calloc(new->cpus.n, sizeof(*new->names));
    new->workers = calloc(new->cpus.n, sizeof(*new->workers));
    if (!new->uses || !new->names || !new->workers)
        goto fail;
    topology_note_uses(new, rt);
    return new;
fail:
    orr_api_topology_free(new);
    return NULL;
}

static struct orr_api_topology *topology_of(const char *call)
{
    struct orr_api_state *state = orr_api_state(call);
    struct orr_api_topology *now = atomic_load(&state->topology), *fresh;

    if (now)
        return now;
    fresh = topology_new(orr_runtime_need(call));
    if (!fresh) {
        orr_log_error("%s: the topology of this machine cannot be read", call);
        abort();
    }
    if (atomic_compare_exchange_strong(&state->topology, &now, fresh))
        return fresh;
    orr_api_topology_free(fresh); /* another thread was faster */
    return now;
}

/* -- workers -- */

unsigned orr_api_worker_count(void)
{
    struct orr_runtime *rt = orr_runtime_current(__func__);

    return rt ? rt->workers->n : 0;
}

int orr_api_worker_position(unsigned worker)
{
    int cpu = processor_of(orr_api_worker("starpu_worker_get_bindid", worker));

    return cpu < 0 ? -1
                   : position_of(topology_of("starpu_worker_get_bindid"), cpu);
}

int starpu_worker_get_bindid(int workerid)
{
    ORR_QUESTION();

    (void)orr_api_worker(__func__, workerid);
    return orr_api_worker_position((unsigned)workerid);
}

int starpu_bindid_get_workerids(int bindid, int **workerids)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct orr_api_topology *topology = topology_of(__func__);
    int *list = calloc(rt->workers->n + 1, sizeof(*list)), n = 0;

    if (!list) {
        orr_log_error("%s: out of memory", __func__);
        abort();
    }
    *workerids = NULL;
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (bindid >= 0 && orr_api_worker_position(w) == bindid)
            list[n++] = (int)w;
    if (n > 0) {
        orr_lock(&topology->lock);
        if (!topology->workers[bindid]) {
            topology->workers[bindid] = list;
            list = NULL;
        }
        *workerids = topology->workers[bindid];
        orr_unlock(&topology->lock);
    }
    free(list);
    return n;
}

/* -- numbers of processors -- */

int starpu_cpu_os_index(int cpuid)
{
    ORR_QUESTION();
    struct orr_api_topology *topology = topology_of(__func__);

    return cpuid >= 0 && (unsigned)cpuid < topology->cpus.n
               ? topology->cpus.cpus[cpuid].number
               : -1;
}

int starpu_get_pu_os_index(unsigned logical_index)
{
    return starpu_cpu_os_index((int)logical_index);
}

long starpu_get_memory_location_bitmap(void *ptr, size_t size)
{
    ORR_QUESTION();
    const struct orr_api_topology *topology = topology_of(__func__);

    return ptr && size
               ? orr_topology_located(topology->here ? topology->here
                                                     : topology->topology,
                                      ptr, size)
               : -1;
}

/* -- hwloc -- */

struct orr_topology *orr_api_topology(const char *call)
{
    return topology_of(call)->topology;
}

int orr_api_worker_processor(const char *call, int workerid)
{
    return processor_of(orr_api_worker(call, workerid));
}

void starpu_display_bindings(void)
{
    starpu_topology_print(stdout);
    fflush(stdout);
}

/* -- binding threads of the application -- */

/* The next processor that no worker and no active thread has; the first one of this
 * process when all are taken. */
static unsigned next_free(const struct orr_api_topology *topology)
{
    unsigned first = topology->cpus.n;

    for (unsigned i = 0; i < topology->cpus.n; i++) {
        if (topology->uses[i] == FREE)
            return i;
        if (topology->uses[i] != OUTSIDE && first == topology->cpus.n)
            first = i;
    }
    return first < topology->cpus.n ? first : 0;
}

/* A free processor of the preferred cores, -1 without. */
static int preferred_free(const struct orr_api_topology *topology,
                          const unsigned *preferred, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < topology->cpus.n; i++)
            if (topology->cpus.cpus[i].core == preferred[k] &&
                topology->uses[i] == FREE)
                return (int)i;
    return -1;
}

static int shared(const struct orr_api_topology *topology)
{
    for (unsigned i = 0; i < topology->cpus.n; i++)
        if (topology->uses[i] == PASSIVE)
            return (int)i;
    return -1;
}

unsigned starpu_get_next_bindid(unsigned flags, unsigned *preferred,
                                unsigned npreferred)
{
    ORR_QUESTION();
    struct orr_api_topology *topology = topology_of(__func__);
    bool active = flags & STARPU_THREAD_ACTIVE;
    int found;

    orr_lock(&topology->lock);
    found = preferred_free(topology, preferred, preferred ? npreferred : 0);
    if (found < 0 && !active)
        found = shared(topology);
    if (found < 0)
        found = (int)next_free(topology);
    if (topology->uses[found] == FREE)
        topology->uses[found] = active ? ACTIVE : PASSIVE;
    orr_unlock(&topology->lock);
    return (unsigned)found;
}

/* In a simulation this binds the one thread that everything runs on. */
bool orr_api_bind_self(const int *numbers, unsigned n)
{
    int most = -1;
    cpu_set_t *set;
    size_t size;
    int rc;

    for (unsigned i = 0; i < n; i++)
        if (numbers[i] > most)
            most = numbers[i];
    if (most < 0 || orr_self->exec->one_thread)
        return true;
    set = CPU_ALLOC((size_t)most + 1);
    size = CPU_ALLOC_SIZE((size_t)most + 1);
    if (!set)
        return false;
    CPU_ZERO_S(size, set);
    for (unsigned i = 0; i < n; i++)
        if (numbers[i] >= 0)
            CPU_SET_S((size_t)numbers[i], size, set);
    rc = sched_setaffinity(0, size, set);
    CPU_FREE(set);
    return rc == 0;
}

unsigned orr_api_object_of(int type, int cpu)
{
    return orr_topology_object(topology_of(__func__)->topology, type, cpu);
}

static void bind_to(const char *call, int position)
{
    int number = position < 0 ? -1 : starpu_cpu_os_index(position);

    if (orr_api_bind_self(&number, 1))
        return;
    orr_log_warning("%s: the thread could not be bound to processor %d; it "
                    "runs where it did",
                    call, position);
}

/* Notes that the calling thread is on the processor now; returns whether another thread
 * was there before. */
static bool processor_note_use(struct orr_api_topology *topology,
                               unsigned position, bool active, const char *name)
{
    enum use now = active ? ACTIVE : PASSIVE, before;
    bool same, taken;

    orr_lock(&topology->lock);
    before = topology->uses[position];
    same = strncmp(topology->names[position], name,
                   sizeof(*topology->names) - 1) == 0;
    taken = topology->names[position][0]
                ? !same && (active || before != PASSIVE)
                : before == WORKER;
    if (before != WORKER)
        topology->uses[position] = now;
    snprintf(topology->names[position], sizeof(*topology->names), "%s", name);
    orr_unlock(&topology->lock);
    return taken;
}

int starpu_bind_thread_on(int cpuid, unsigned flags, const char *name)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct orr_api_topology *topology = topology_of(__func__);

    if (!name) {
        orr_log_error("%s: the name of the thread is NULL", __func__);
        abort();
    }
    if (cpuid < 0 || rt->exec->one_thread ||
        orr_config_bool(&rt->config, ORR_CFG_WORKERS_NOBIND))
        return 0;
    if ((unsigned)cpuid >= topology->cpus.n) {
        orr_log_error("%s: there is no processor %d, they are numbered 0 to %u",
                      __func__, cpuid, topology->cpus.n - 1);
        return -1;
    }
    bind_to(__func__, cpuid);
    if (!processor_note_use(topology, (unsigned)cpuid,
                            (flags & STARPU_THREAD_ACTIVE) != 0, name))
        return 0;
    orr_log_warning("%s: processor %d of thread %s has another thread already; "
                    "starpu_get_next_bindid finds a free one",
                    __func__, cpuid, name);
    return -1;
}

void starpu_bind_thread_on_cpu(int cpuid)
{
    ORR_QUESTION();
    bind_to(__func__, cpuid);
}

/* Binds the calling thread to all processors of a combined worker. */
static void bind_to_all(const char *call, const struct orr_combined *combined)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    int numbers[STARPU_NMAXWORKERS];

    for (unsigned i = 0; i < combined->size; i++)
        numbers[i] = rt->workers->at[combined->members[i]].desc->cpu;
    if (orr_api_bind_self(numbers, combined->size))
        return;
    orr_log_warning("%s: the thread could not be bound to the processors of "
                    "combined worker %u; it runs where it did",
                    call, combined->id);
}

void starpu_bind_thread_on_worker(unsigned workerid)
{
    ORR_QUESTION();

    if (starpu_worker_is_combined_worker((int)workerid))
        bind_to_all(__func__, orr_api_combined(__func__, workerid));
    else
        bind_to(__func__, orr_api_worker_position(workerid));
}

/* To the one that starpu_init has kept for main, if any. */
void starpu_bind_thread_on_main(void)
{
    ORR_QUESTION();
    int cpu = ORR_API_RUNTIME()->machine->main_cpu - 1;

    if (cpu >= 0)
        bind_to(__func__, position_of(topology_of(__func__), cpu));
}

/* -- the tree of processors -- */

static unsigned processors_of_core(const struct orr_cpus *cpus, unsigned first)
{
    unsigned n = 1;

    while (first + n < cpus->n &&
           cpus->cpus[first + n].core == cpus->cpus[first].core)
        n++;
    return n;
}

/* Cores below the root, their processors below them. */
static struct starpu_tree *processor_tree_make(const struct orr_cpus *cpus)
{
    struct starpu_tree *root = calloc(1, sizeof(*root));
    unsigned ncores = 0, core = 0;

    if (!root)
        return NULL;
    for (unsigned i = 0; i < cpus->n; i += processors_of_core(cpus, i))
        ncores++;
    starpu_tree_insert(root, 0, 0, 0, 0, NULL);
    starpu_tree_prepare_children(ncores, root);
    for (unsigned i = 0; i < cpus->n; core++) {
        struct starpu_tree *node = &root->nodes[core];
        unsigned n = processors_of_core(cpus, i);

        starpu_tree_insert(node, 1, 1, 0, 0, root);
        starpu_tree_prepare_children(n, node);
        for (unsigned k = 0; k < n; k++, i++)
            starpu_tree_insert(&node->nodes[k], (int)i, 2, 1, 0, node);
    }
    return root;
}

struct starpu_tree *starpu_workers_get_tree(void)
{
    ORR_QUESTION();
    struct orr_api_topology *topology = topology_of(__func__);
    struct starpu_tree *tree, *fresh = processor_tree_make(&topology->cpus);

    orr_lock(&topology->lock);
    if (!topology->tree) {
        topology->tree = fresh;
        fresh = NULL;
    }
    tree = topology->tree;
    orr_unlock(&topology->lock);
    if (fresh) {
        starpu_tree_free(fresh);
        free(fresh);
    }
    return tree;
}
