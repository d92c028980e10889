/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/energy.h - the energy of a simulated run, by what its machine draws in each state:
 * figures of the description (platforms/power.h) and of the user's file (costs.h), which come
 * first. docs/ENERGY.md has the formula. One thread.
 */
#pragma once

#include <stddef.h>

#include "tools/common/costs.h"
#include "tools/common/report.h"

/* A machine with edits, or the nodes of a cluster, and what they draw. */
struct powers;

/* Reads them; `machine` as -m takes it, NULL: that of ORRERY_MACHINE; `edits`, NULL: those of
 * ORRERY_SET; `costs` is borrowed, NULL: none. *ret is for powers_close, and NULL where no power is
 * known of the machine, or it is none, or a cluster of nodes that differ. Errors: -1, out of
 * memory, after a message; a machine that cannot be read is left to who runs it. */
int powers_open(const char *machine, const char *edits, const struct costs *costs,
                struct powers **ret);
void powers_close(struct powers *powers);

/* The same of each machine of a list with each of nedits edits, machine by machine; *ret is for
 * powers_close_all. Machines without powers are read once. */
int powers_open_all(char *const *machines, size_t nmachines, char *const *edits, size_t nedits,
                    const struct costs *costs, struct powers ***ret);
void powers_close_all(struct powers **powers, size_t n);

/* Of a command with the option --costs: reads its file (NULL: none) into *ret_costs, which is for
 * costs_done once *ret is closed, and opens the machine's powers. Refuses the file for a real run.
 * Returns an exit code, with a message that begins with the command. */
int powers_choose(const char *command, const char *costs_path, const char *machine,
                  const char *edits, struct costs *ret_costs, struct powers **ret);

struct energy {
    double joules; /* NaN: the power of a part that it needs is not known */
    double idle_j; /* what the machine draws when nothing runs, for as long as the run took */
    double copy_j; /* what copies took more; 0 where no power of copies is known */
    char missing[96]; /* the first part without a power: "power of core \"…\""; "" */
};

/* What the machine draws when nothing runs, W; what a worker ("CUDA 0 (big)") draws more while it
 * executes that kernel. NaN: not known. */
double powers_idle_w(const struct powers *powers);
double powers_kernel_w(const struct powers *powers, const char *worker, const char *kernel);

/* What an hour of it costs, of a cluster of all nodes; NaN: prices are none of an hour, or a part
 * has none. */
double powers_hour_price(const struct powers *powers);

/* What a file of the user's says of them in words of ORRERY_POWERS, for policies that weigh
 * energy; NULL: nothing, or no memory. Owned by the caller. */
char *powers_words(const struct powers *powers);

struct energy energy_of(const struct powers *powers, const struct report *report);

/* Adds it to the report of a simulated run, as `energy`. NULL powers: nothing. */
void energy_add(struct report *report, const struct powers *powers);

/* "  --costs FILE ..." for help texts. */
#define COSTS_HELP                                                                      \
    "      --costs FILE         powers of parts (docs/ENERGY.md), for the energy\n" \
    "                             of runs\n"
