/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/project_rates.h - the rates of devices that times are projected
 * from and to, as options or descriptions of machines say. One thread.
 */
#pragma once

#include "perfmodel/arch.h"
#include "perfmodel/project.h"
#include "perfmodel/rate_text.h"
#include "platforms/machine_desc.h"

#define PROJECT_NTYPES 8

/* Those of a machine. */
struct project_rates {
    const char *peak, *bandwidth; /* texts of options, borrowed, or NULL */
    bool is_double, tensor;       /* which peaks are taken from descriptions */
    struct orr_rates of[PROJECT_NTYPES]; /* as the texts say; 0: they do not */
};

/* Reads the texts, of the options --<prefix>peak and --<prefix>bandwidth. Errors:
 * -EINVAL with a message; -ENOMEM. */
int project_rates_read(struct project_rates *rates, const char *prefix);

/* The rates of a device: as given, else as the description states, which may be
 * NULL; 0: neither does. Those of its MAIN are of one core. */
struct orr_rates project_rates_of(const struct project_rates *rates,
                                  const struct orr_machine_desc *desc,
                                  const struct orr_device *device);

/* The prefix of hosts of devices of the type in descriptions: "CUDA". */
const char *project_host_prefix(int type);

/* A rate that a device of the type may have, for messages. */
const char *project_rate_example(int type, enum orr_rate_of of);
