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
            cpus[n++] = (struct orr_cpu){i, 0, (unsigned)i, 0};
    *ret = (struct orr_cpus){.n = n, .cpus = cpus, .ncores = all_processors()};
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

/* A list being read. */
struct reader {
    const char *text, *at;
    const char *what; /* "processor" or "core" */
    unsigned limit;   /* positions are below */
    struct orr_error *err;
};

static int read_position(struct reader *reader, unsigned *ret)
{
    char *end;
    unsigned long value;

    if (!isdigit((unsigned char)*reader->at))
        return orr_fail(reader->err, -EINVAL,
                        "%s list \"%s\" is broken at \"%s\"; give "
                        "numbers and ranges such as \"0 2 4-7\"",
                        reader->what, reader->text, reader->at);
    errno = 0;
    value = strtoul(reader->at, &end, 10);
    if (errno || value >= reader->limit)
        return orr_fail(reader->err, -EINVAL,
                        "%s list \"%s\" names %s %lu, but there are only 0 "
                        "to %u",
                        reader->what, reader->text, reader->what, value,
                        reader->limit - 1);
    reader->at = end;
    *ret = (unsigned)value;
    return 0;
}

static void skip_separators(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\n,");
}

/* One number, a range "2-5", or an open one "2-". */
static int read_range(struct reader *reader, unsigned *ret_first,
                      unsigned *ret_last)
{
    int rc = read_position(reader, ret_first);

    if (rc < 0)
        return rc;
    *ret_last = *ret_first;
    if (*reader->at != '-')
        return 0;
    reader->at++;
    if (!isdigit((unsigned char)*reader->at)) {
        *ret_last = reader->limit - 1;
        return 0;
    }
    rc = read_position(reader, ret_last);
    if (rc == 0 && *ret_last < *ret_first)
        rc = orr_fail(reader->err, -EINVAL,
                      "%s list \"%s\" has a range that goes backwards",
                      reader->what, reader->text);
    return rc;
}

/* Adds the first processor of each core of the range, or each processor; the
 * array grows. */
static int take_range(const struct orr_cpus *cpus, bool cores, unsigned first,
                      unsigned last, struct orr_cpu_choice *choice)
{
    unsigned n = choice->n + last - first + 1;
    struct orr_cpu *taken = realloc(choice->cpus, n * sizeof(*taken));

    if (!taken)
        return -ENOMEM;
    choice->cpus = taken;
    for (unsigned i = first; i <= last; i++)
        taken[choice->n++] = cores ? *orr_cpus_core(cpus, i) : cpus->cpus[i];
    return 0;
}

static unsigned cpus_count_cores(const struct orr_cpus *cpus)
{
    unsigned n = 0;

    for (unsigned i = 0; i < cpus->n; i++)
        n += cpus->cpus[i].rank == 0;
    return n;
}

static int choose_listed(const struct orr_cpus *cpus, const char *list,
                         bool cores, struct orr_cpu_choice *ret,
                         struct orr_error *err)
{
    struct reader reader = {list, list, cores ? "core" : "processor",
                            cores ? cpus_count_cores(cpus) : cpus->n, err};
    struct orr_cpu_choice choice = {0, 0, NULL};
    int rc = 0;

    skip_separators(&reader);
    if (!*reader.at)
        rc = orr_fail(err, -EINVAL, "the %s list is empty", reader.what);
    while (rc == 0 && *reader.at) {
        unsigned first = 0, last = 0;

        rc = read_range(&reader, &first, &last);
        if (rc == 0)
            rc = take_range(cpus, cores, first, last, &choice);
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

const struct orr_cpu *orr_cpus_core(const struct orr_cpus *cpus, unsigned core)
{
    for (unsigned i = 0; i < cpus->n; i++)
        if (cpus->cpus[i].rank == 0 && core-- == 0)
            return &cpus->cpus[i];
    return NULL;
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
