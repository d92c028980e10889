/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/choice.c - the kernel's own list of processors, and which of
 * them workers take. See topology.h.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "core/device/cpu/topology.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
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
                      "the kernel does not say which processors "
                      "there are: %s",
                      strerror(errno));
        goto free_set;
    }
    cpus = calloc((size_t)CPU_COUNT_S(size, set), sizeof(*cpus));
    if (!cpus)
        goto free_set;
    for (int i = 0; i < MAX_CPUS; i++)
        if (CPU_ISSET_S((size_t)i, size, set))
            cpus[n++] = (struct orr_cpu){i, 0};
    *ret = (struct orr_cpus){
        .n = n, .cpus = cpus, .ncores = all_processors(), .nmemories = 1};
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

/* A list being read. */
struct reader {
    const char *text, *at;
    unsigned limit; /* positions are below */
    struct orr_error *err;
};

static int read_position(struct reader *reader, unsigned *ret)
{
    char *end;
    unsigned long value;

    if (!isdigit((unsigned char)*reader->at))
        return orr_fail(reader->err, -EINVAL,
                        "processor list \"%s\" is broken at \"%s\"; give "
                        "numbers and ranges such as \"0 2 4-7\"",
                        reader->text, reader->at);
    errno = 0;
    value = strtoul(reader->at, &end, 10);
    if (errno || value >= reader->limit)
        return orr_fail(reader->err, -EINVAL,
                        "processor list \"%s\" names processor %lu, but there "
                        "are only 0 to %u",
                        reader->text, value, reader->limit - 1);
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
                      "processor list \"%s\" has a range that goes backwards",
                      reader->text);
    return rc;
}

/* Adds the range's processors; the array grows. */
static int take_range(const struct orr_cpus *cpus, unsigned first,
                      unsigned last, struct orr_cpu_choice *choice)
{
    unsigned n = choice->n + last - first + 1;
    int *numbers = realloc(choice->numbers, n * sizeof(*numbers));

    if (!numbers)
        return -ENOMEM;
    choice->numbers = numbers;
    for (unsigned i = first; i <= last; i++)
        numbers[choice->n++] = cpus->cpus[i].number;
    return 0;
}

static int choose_listed(const struct orr_cpus *cpus, const char *list,
                         struct orr_cpu_choice *ret, struct orr_error *err)
{
    struct reader reader = {list, list, cpus->n, err};
    struct orr_cpu_choice choice = {0, 0, NULL};
    int rc = 0;

    skip_separators(&reader);
    if (!*reader.at)
        rc = orr_fail(err, -EINVAL, "the processor list is empty");
    while (rc == 0 && *reader.at) {
        unsigned first = 0, last = 0;

        rc = read_range(&reader, &first, &last);
        if (rc == 0)
            rc = take_range(cpus, first, last, &choice);
        skip_separators(&reader);
    }
    if (rc < 0) {
        free(choice.numbers);
        return rc;
    }
    choice.usual = choice.n;
    *ret = choice;
    return 0;
}

int orr_cpus_choose(const struct orr_cpus *cpus, const char *list,
                    struct orr_cpu_choice *ret, struct orr_error *err)
{
    struct orr_cpu_choice choice = {0, 0, NULL};

    if (list)
        return choose_listed(cpus, list, ret, err);
    choice.numbers = calloc(cpus->n, sizeof(*choice.numbers));
    if (!choice.numbers)
        return -ENOMEM;
    for (unsigned rank = 0; choice.n < cpus->n; rank++) {
        for (unsigned i = 0; i < cpus->n; i++)
            if (cpus->cpus[i].rank == rank)
                choice.numbers[choice.n++] = cpus->cpus[i].number;
        if (rank == 0)
            choice.usual = choice.n;
    }
    *ret = choice;
    return 0;
}
