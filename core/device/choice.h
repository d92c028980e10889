/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/choice.h - which devices of a driver are used: as many as were
 * asked for, of the numbers that were. While a machine is opened, by main.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"

struct orr_device_choice {
    const char *kind;      /* "OpenCL" */
    const char *variable;  /* that has `ids`: "STARPU_WORKERS_OPENCLID" */
    const char *ids;       /* numbers such as "1 0" or "1,0", or NULL */
    const unsigned *first; /* starpu_conf's numbers, before these, or NULL */
    int wanted;            /* how many; below 0: all */
    unsigned there, max;   /* how many there are; that are ever used */
    const bool *spared;    /* by number: used if it is named only; or NULL */
    const char *hint;      /* behind the warning that there are fewer */
};

/* Fills chosen[max], and says how many. Errors: -EINVAL with a message. */
int orr_device_choose(const struct orr_device_choice *choice, unsigned *chosen,
                      unsigned *ret_n, struct orr_error *err);

/* A PCI address as all drivers write it: "0000:3B:00.0" becomes "3b:00.0", since
 * a domain is told only where there are several. */
void orr_device_bus_shorten(char *bus);
