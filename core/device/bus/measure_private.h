/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/bus/measure_private.h - what measure.c and concurrent.c share.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/wait.h"
#include "core/device/bus/measure.h"
#include "core/device/mailbox.h"

enum {
    ORR_BUS_MAX_SIZES = 16,
    ORR_BUS_MOST = 128, /* samples of a size per block */
};

/* The samples of one size in all blocks. */
struct orr_bus_series {
    size_t size;
    double *us;       /* owned */
    unsigned *starts; /* owned: of each block, and the end */
    unsigned n;
};

struct orr_bus_measurer {
    struct orr_machine *machine;
    const struct orr_bus_options *options;
    unsigned nsizes;
    size_t sizes[ORR_BUS_MAX_SIZES];
};

/* Two buffers and a copy between them. */
struct orr_bus_probe {
    struct orr_copy copy; /* first */
    uintptr_t from, to;
    struct orr_machine *machine;
    struct orr_waiter waiter;
    struct orr_mailbox mailbox; /* that the waiter serves */
};

/* For copies by the calling context. Errors: -ENOMEM. */
int orr_probe_init(struct orr_machine *machine, const struct orr_bus_link *link,
                   size_t size, struct orr_bus_probe *probe);
void orr_probe_done(struct orr_machine *machine,
                    const struct orr_bus_link *link, size_t size,
                    struct orr_bus_probe *probe);

/* Copies once and returns the µs until the copy had been started. Blocks until it
 * has ended. */
double orr_probe_start(struct orr_machine *machine, struct orr_bus_probe *probe,
                       size_t size);

/* Copies `times` times in turn and returns the µs of one. Blocks. */
double orr_probe_time(struct orr_machine *machine, struct orr_bus_probe *probe,
                      size_t size, unsigned times);

/* How often others took the calling context's processor; 0 in simulation. */
unsigned long orr_bus_preemptions(const struct orr_machine *machine);

/* The processor where the k-th of several copies of the link at once is
 * started in a run; -1: any. */
int orr_bus_progress_cpu(const struct orr_machine *machine,
                         const struct orr_bus_link *link, unsigned k);

/* The largest size that is measured of the link. */
size_t orr_bus_largest(const struct orr_bus_measurer *m,
                       const struct orr_bus_link *link);

/* n series for the measurer's sizes in turn. NULL without memory. */
struct orr_bus_series *orr_bus_series_new(const struct orr_bus_measurer *m,
                                          size_t n);
void orr_bus_series_free(struct orr_bus_series *series, size_t n);

/* `scratch` has room for all samples. */
struct orr_bus_estimate orr_bus_estimate_of(const struct orr_bus_series *series,
                                            unsigned blocks, double *scratch);

/* Whether the link's estimate is the pair's: pinned memory counts where there
 * is some, since that is what a run uses; a node has no link to itself. */
bool orr_bus_link_counts(const struct orr_bus_measures *measures,
                         const struct orr_bus_link *link);

/* Adds the groups; the links have been measured alone. Errors: -ENOMEM,
 * -EAGAIN. */
int orr_bus_measure_groups(const struct orr_bus_measurer *m,
                           struct orr_bus_measures *measures);
