/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/choice.c - the kernel's own list of processors, and which of
 * them workers take. See topology.h.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "core/device/cpu/topology.h"

#include "core/device/cpu/topology_private.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CPUS = 8192 }; /* what a kernel can be built for */

static unsigned all_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_CONF);

    return n > 0 ? (unsigned)n : 1;
}

int orr_cpus_from_affinity(struct orr_cpus *ret, struct orr_error *err)
{
    size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
    cpu_set_t *set = CPU_ALLOC(MAX_CPUS);
    struct orr_cpu *cpus = NULL;
    unsigned n = 0;
    int rc = -ENOMEM;

    if (!set)
        return rc;
    if (sched_getaffinity(0, size, set) < 0) {
        rc = orr_fail(err, -ENODEV,
                      "the kernel does not report its processors: %s",
                      strerror(errno));
        goto free_set;
    }
    cpus = calloc((size_t)CPU_COUNT_S(size, set), sizeof(*cpus));
    if (!cpus)
        goto free_set;
    for (int i = 0; i < MAX_CPUS; i++)
        if (CPU_ISSET_S((size_t)i, size, set))
            cpus[n++] = (struct orr_cpu){
                .number = i, .core = (unsigned)i, .position = (unsigned)i};
    *ret = (struct orr_cpus){.n = n,
                             .cpus = cpus,
                             .nall = all_processors(),
                             .ncores = all_processors()};
    rc = 0;
free_set:
    CPU_FREE(set);
    return rc;
}

void orr_cpus_done(struct orr_cpus *cpus)
{
    free(cpus->cpus);
    *cpus = (struct orr_cpus){0};
}

/* Rounded up: a part of a processor is worth a worker. */
unsigned orr_cpus_quota(const struct orr_cgroup *limits)
{
    return limits->cpus > 0 && limits->cpus < MAX_CPUS
               ? (unsigned)ceil(limits->cpus)
               : 0;
}

size_t orr_memories_limit(const struct orr_cgroup *limits, unsigned n,
                          struct orr_memory *memories)
{
    double all = 0, part;

    for (unsigned i = 0; i < n; i++)
        all += (double)memories[i].size;
    if (!limits->bytes || (all > 0 && (double)limits->bytes >= all))
        return 0;
    part = (double)limits->bytes / all;
    for (unsigned i = 0; all > 0 && i < n; i++)
        memories[i].size = (size_t)((double)memories[i].size * part);
    if (n == 1)
        memories[0].size = (size_t)limits->bytes;
    return (size_t)limits->bytes;
}

void *orr_pages_alloc(size_t size)
{
    void *address;

    return posix_memalign(&address, (size_t)sysconf(_SC_PAGESIZE),
                          size ? size : 1)
               ? NULL
               : address;
}

/* -- by position -- */

static unsigned position_of(const struct orr_cpu *cpu, bool core)
{
    return core ? cpu->core : cpu->position;
}

static const struct orr_cpu *cpus_find(const struct orr_cpus *cpus, bool core,
                                       unsigned position)
{
    for (unsigned i = 0; i < cpus->n; i++)
        if (position_of(&cpus->cpus[i], core) == position)
            return &cpus->cpus[i];
    return NULL;
}

static unsigned cpus_count_all(const struct orr_cpus *cpus, bool core)
{
    return core ? cpus->ncores : cpus->nall;
}

/* Positions that may be used, as a list of the user's: "0 4-7". */
static void print_usable(const struct orr_cpus *cpus, bool core, char *text,
                         size_t size)
{
    unsigned n = cpus_count_all(cpus, core);
    size_t length = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < n && length < size; i++) {
        unsigned first = i;

        if (!cpus_find(cpus, core, i))
            continue;
        while (i + 1 < n && cpus_find(cpus, core, i + 1))
            i++;
        length += (size_t)snprintf(text + length, size - length,
                                   i > first ? "%s%u-%u" : "%s%u",
                                   length ? " " : "", first, i);
    }
}

int orr_cpus_at(const struct orr_cpus *cpus, bool core, unsigned position,
                const char *setting, const struct orr_cpu **ret,
                struct orr_error *err)
{
    const char *what = core ? "core" : "processor";
    unsigned n = cpus_count_all(cpus, core);
    char usable[200];

    *ret = cpus_find(cpus, core, position);
    if (*ret)
        return 0;
    if (position >= n)
        return orr_fail(err, -EINVAL,
                        "%s names %s %u, but there are only 0 to %u", setting,
                        what, position, n - 1);
    print_usable(cpus, core, usable, sizeof(usable));
    return orr_fail(
        err, -EINVAL,
        "%s names %s %u, which is not among those that this process was given "
        "(by taskset, a batch system or a launcher): choose from %s, or set "
        "STARPU_WORKERS_GETBIND=0 to use all",
        setting, what, position, usable);
}

int orr_cpus_bindid(const struct orr_cpus *cpus, const unsigned *bindid,
                    unsigned worker, const struct orr_cpu **ret,
                    struct orr_error *err)
{
    char setting[64];

    snprintf(setting, sizeof(setting), "starpu_conf.workers_bindid[%u]",
             worker);
    return orr_cpus_at(cpus, false, bindid[worker], setting, ret, err);
}

/* -- lists -- */

/* A list being read. */
struct reader {
    const char *at;
    const struct orr_cpus *cpus;
    bool cores;
    const char *what; /* for messages, as what follows */
    char setting[200];
    struct orr_error *err;
};

static int read_position(struct reader *reader, unsigned *ret)
{
    char *end;
    unsigned long value;

    if (!isdigit((unsigned char)*reader->at))
        return orr_fail(reader->err, -EINVAL,
                        "%s is broken at \"%s\"; give numbers of %s and "
                        "ranges such as \"0 2 4-7\"",
                        reader->setting, reader->at, reader->what);
    value = strtoul(reader->at, &end, 10); /* ULONG_MAX beyond */
    reader->at = end;
    *ret = value < UINT_MAX ? (unsigned)value : UINT_MAX;
    return 0;
}

static void skip_separators(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\n,");
}

static int take(const struct orr_cpu *cpu, struct orr_cpu_choice *choice)
{
    struct orr_cpu *taken =
        realloc(choice->cpus, (choice->n + 1) * sizeof(*taken));

    if (!taken)
        return -ENOMEM;
    choice->cpus = taken;
    taken[choice->n++] = *cpu;
    return 0;
}

/* All that may be used from there on. */
static int take_rest(const struct reader *reader, unsigned first,
                     struct orr_cpu_choice *choice)
{
    unsigned before = choice->n,
             n = cpus_count_all(reader->cpus, reader->cores);
    const struct orr_cpu *cpu;
    int rc = 0;

    for (unsigned i = first; rc == 0 && i < n; i++) {
        cpu = cpus_find(reader->cpus, reader->cores, i);
        if (cpu)
            rc = take(cpu, choice);
    }
    if (rc == 0 && choice->n == before) /* says why */
        rc = orr_cpus_at(reader->cpus, reader->cores, first, reader->setting,
                         &cpu, reader->err);
    return rc;
}

/* One number, a range "2-5", or an open one "2-": the processors, or the first one of
 * each core. */
static int take_range(struct reader *reader, struct orr_cpu_choice *choice)
{
    const struct orr_cpu *cpu;
    unsigned first = 0, last;
    int rc = read_position(reader, &first);

    if (rc < 0)
        return rc;
    last = first;
    if (*reader->at == '-') {
        reader->at++;
        if (!isdigit((unsigned char)*reader->at))
            return take_rest(reader, first, choice);
        rc = read_position(reader, &last);
        if (rc == 0 && last < first)
            rc = orr_fail(reader->err, -EINVAL,
                          "%s has a range of %s that goes backwards",
                          reader->setting, reader->what);
    }
    for (unsigned i = first; rc == 0 && i <= last; i++) {
        rc = orr_cpus_at(reader->cpus, reader->cores, i, reader->setting, &cpu,
                         reader->err);
        if (rc == 0)
            rc = take(cpu, choice);
    }
    return rc;
}

static int choose_listed(const struct orr_cpus *cpus, const char *list,
                         bool cores, struct orr_cpu_choice *ret,
                         struct orr_error *err)
{
    struct reader reader = {.at = list,
                            .cpus = cpus,
                            .cores = cores,
                            .what = cores ? "cores" : "processors",
                            .err = err};
    struct orr_cpu_choice choice = {0, 0, NULL};
    int rc = 0;

    snprintf(reader.setting, sizeof(reader.setting), "%s=\"%s\"",
             cores ? "STARPU_WORKERS_COREID" : "STARPU_WORKERS_CPUID", list);
    skip_separators(&reader);
    if (!*reader.at)
        rc = orr_fail(err, -EINVAL, "%s names no %s: unset it", reader.setting,
                      reader.what);
    while (rc == 0 && *reader.at) {
        rc = take_range(&reader, &choice);
        skip_separators(&reader);
    }
    if (rc < 0) {
        free(choice.cpus);
        return rc;
    }
    choice.usual = choice.n;
    *ret = choice;
    return 0;
}

/* Adds the processors of the ranks from `first` to `last`. */
static void take_ranks(const struct orr_cpus *cpus, int avoid, unsigned first,
                       unsigned last, struct orr_cpu_choice *choice)
{
    for (unsigned i = 0; i < cpus->n; i++) {
        const struct orr_cpu *cpu = &cpus->cpus[i];

        if (cpu->rank >= first && cpu->rank <= last &&
            (avoid < 0 || cpu->core != (unsigned)avoid))
            choice->cpus[choice->n++] = *cpu;
    }
}

static int choose_usual(const struct orr_cpus *cpus, unsigned per_core,
                        int avoid, struct orr_cpu_choice *ret,
                        struct orr_error *err)
{
    struct orr_cpu_choice choice = {0, 0, NULL};
    unsigned highest = 0;

    choice.cpus = calloc(cpus->n, sizeof(*choice.cpus));
    if (!choice.cpus)
        return -ENOMEM;
    for (unsigned i = 0; i < cpus->n; i++)
        if (cpus->cpus[i].rank > highest)
            highest = cpus->cpus[i].rank;
    take_ranks(cpus, avoid, 0, per_core - 1, &choice);
    choice.usual = choice.n;
    if (cpus->quota && cpus->quota < choice.usual)
        choice.usual = cpus->quota;
    for (unsigned rank = per_core; rank <= highest; rank++)
        take_ranks(cpus, avoid, rank, rank, &choice);
    if (choice.n == 0) {
        free(choice.cpus);
        return orr_fail(err, -ENODEV,
                        "the only core is the main thread's: unset "
                        "STARPU_MAIN_THREAD_BIND");
    }
    *ret = choice;
    return 0;
}

int orr_cpus_choose(const struct orr_cpus *cpus,
                    const struct orr_cpu_request *request,
                    struct orr_cpu_choice *ret, struct orr_error *err)
{
    if (request->cpus)
        return choose_listed(cpus, request->cpus, false, ret, err);
    if (request->cores)
        return choose_listed(cpus, request->cores, true, ret, err);
    return choose_usual(cpus, request->per_core ? request->per_core : 1,
                        request->avoid, ret, err);
}

int orr_cpus_find(const char *synthetic, struct orr_cpus *ret,
                  struct orr_error *err)
{
    struct orr_topology_input input = {.synthetic = synthetic};
    struct orr_topology *topology;
    int rc = orr_topology_open(&input, &topology, err);

    if (rc < 0)
        return rc;
    rc = orr_topology_cpus(topology, ret, err);
    orr_topology_close(topology);
    return rc;
}
