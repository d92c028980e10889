/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/feature_set.h - what random programs may make use of: a name each
 * for the command line, so that what is not mended yet can be left out, and
 * what is new be let in.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* id, name, on by default, sentence */
#define FEATURES(X)                                                             \
    X(DEPS, "deps", 1, "dependencies between tasks")                            \
    X(TAGS, "tags", 1, "dependencies through tags, also on tasks to come")      \
    X(DISORDER, "disorder", 1,                                                  \
      "no sequential consistency per datum, task or buffer, with dependencies " \
      "where an order is needed")                                               \
    X(TWICE, "twice", 1, "a datum several times in a task")                     \
    X(SCRATCH, "scratch", 1, "scratch buffers")                                 \
    X(COMMUTE, "commute", 1, "STARPU_COMMUTE")                                  \
    X(PARTITION, "partition", 1, "data are cut and put together")               \
    X(ACQUIRE, "acquire", 1,                                                    \
      "acquisitions: waiting, held, tried, called back")                        \
    X(PREFETCH, "prefetch", 1, "prefetches")                                    \
    X(WONT_USE, "wont-use", 1, "starpu_data_wont_use")                          \
    X(EVICT, "evict", 1, "starpu_data_evict_from_node")                         \
    X(INVALIDATE, "invalidate", 1, "values are given up")                       \
    X(UNREGISTER, "unregister", 1, "data end and come back before the end")     \
    X(HOMELESS, "homeless", 1, "data without a home node")                      \
    X(PIN, "pin", 1, "tasks on one worker or kind of worker")                   \
    X(SYNCHRONOUS, "synchronous", 1, "synchronous tasks, waits")                \
    X(THREADS, "threads", 1, "several threads submit")                          \
    X(NUMA, "numa", 1, "several nodes of main memory")                          \
    X(TIGHT, "tight", 1, "data that do not fit in the memories")                \
    X(OVERWRITE, "overwrite", 1,                                                \
      "STARPU_W alone on data of which a copy may be under way")                \
    X(VALUELESS, "valueless", 1, "data with a home end without a value")        \
    X(SCRATCH_TIGHT, "scratch-tight", 1,                                        \
      "scratch buffers beside data that do not fit in the memories")            \
    X(CROWD, "crowd", 1, "more than 4 acquisitions of a datum at once")         \
    X(PREFETCH_TIGHT, "prefetch-tight", 1,                                      \
      "prefetches where data do not fit in the memories")                       \
    X(HINT_DISORDER, "hint-disorder", 1,                                        \
      "real machine: prefetches of data that tasks write without order")        \
    X(UNORDERED, "unordered", 1,                                                \
      "no order at all: tasks that only add, which exclude each other")         \
    X(FULL_MAIN, "full-main", 1, "a main memory too small for the data")        \
    X(REDUX, "redux", 1, "STARPU_REDUX")                                        \
    X(FIRST, "first", 1,                                                        \
      "data without a home that the init codelet makes when they are read")     \
    X(ARBITER, "arbiter", 1, "starpu_data_assign_arbiter")                      \
    X(NESTED, "nested", 1, "pieces of data are cut again")                      \
    X(PLACES, "places", 1, "codelets that name a memory node for each buffer")  \
    X(LAYOUTS, "layouts", 1, "all interfaces, not only vectors and variables")  \
    X(MULTIFORMAT, "multiformat", 1, "… those with a form per device, too")     \
    X(OWN, "own", 1, "… and one of the application's own")                      \
    X(FILTERS, "filters", 1, "lists and picked pieces, not only even parts")    \
    X(PLANS, "plans", 1,                                                        \
      "planned partitions, switched by uses and explicitly")                    \
    X(LOOPBACK, "loopback", 1,                                                  \
      "real machine: devices that are threads with memory of their own")        \
    X(DISK, "disk", 1, "a disk for what main memory has no room for")           \
    X(ADVICE, "advice", 1,                                                      \
      "data that are written through, stay off disks, are unimportant")         \
    X(COPY, "copy", 1, "starpu_data_cpy")                                       \
    X(DUPLICATE, "duplicate", 1, "starpu_data_dup_ro")                          \
    X(DOWNGRADE, "downgrade", 1, "starpu_data_release_to")                      \
    X(CHOOSY, "choosy", 1, "can_execute, which refuses some workers")           \
    X(PAUSE, "pause", 1, "tasks that are submitted during a pause")             \
    X(CONTEXTS, "contexts", 1,                                                  \
      "a second scheduling context, whose workers leave and come back")         \
    X(QUEUES, "queues", 1,                                                      \
      "simulated: many tasks of all priorities that are ready at once")

enum feature {
#define FEATURE_ID(id, name, on, sentence) FEATURE_##id,
    FEATURES(FEATURE_ID)
#undef FEATURE_ID
        NFEATURES
};

static inline uint64_t feature_bit(enum feature feature)
{
    return UINT64_C(1) << feature;
}

/* Those that are on by default. */
uint64_t features_default(void);

/* Adds the names, separated by commas, to *set. Returns the name that is
 * unknown, or NULL. */
const char *features_read(const char *names, uint64_t *set);

void features_print(FILE *out);
