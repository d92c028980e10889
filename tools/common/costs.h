/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/costs.h - what machines cost and draw, by a file that the user owns
 * (docs/ADVISE.md): lines such as
 *
 *     machine h100-pcie-4             price=14000EUR idle=350W
 *     device "NVIDIA H100 PCIe 80GB"  price=29000EUR idle=60W busy=350W copy=15W
 *     core "Intel Xeon Silver 4510"   busy=9W
 *
 * A machine's price and power are those of its line, without devices, and of each device.
 * Powers that are not there are those of the machine's description (platforms/power.h).
 * One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "platforms/machine_desc.h"
#include "platforms/power.h"

enum cost_kind { COST_MACHINE, COST_DEVICE, COST_CORE };

struct cost_line {
    enum cost_kind kind;
    char *name; /* owned: a machine's, a model's; "*" of any that has no line */
    double price, idle_w, busy_w, copy_w; /* NaN: not given */
};

struct costs {
    struct cost_line *lines; /* owned */
    size_t n;
    char currency[8]; /* "": no price is given; "USD/h": prices are those of an hour */
};

/* Reads the file. Errors: a message with file and line, and -1. */
int costs_read(const char *path, struct costs *ret);
void costs_done(struct costs *costs);

/* What one machine costs; NaN: a part of it has no figure, the first of which is in
 * `missing`, of powers in `missing_w`. */
struct cost {
    double price;
    double idle_w;   /* when nothing runs */
    double most_w;   /* when all devices and cores work */
    char missing[96];   /* "price of device \"NVIDIA H100 PCIe 80GB\"", "" */
    char missing_w[96]; /* "power of core \"…\"", "" */
};
struct cost cost_of(const struct costs *costs, const struct orr_machine_desc *desc);

/* What the server without devices draws when nothing runs; NaN: not given. */
double cost_server_w(const struct costs *costs,
                     const struct orr_machine_desc *desc);

/* What a core that works draws more than one that does not; NaN: not given. */
double cost_core_w(const struct costs *costs, const struct orr_machine_desc *desc);

/* What a device draws in that state, such as ORR_POWER_BUSY; NaN: not given. */
double cost_device_w(const struct costs *costs, const struct orr_host_desc *host,
                     enum orr_power power);

/* Whether the host is a device. */
bool cost_is_device(const struct orr_host_desc *host);

/* The model of a host of the description; "" without. Borrowed. */
const char *cost_model(const struct orr_machine_desc *desc, const char *host);

/* Whether a price in that currency is that of an hour. */
bool cost_is_hourly(const char *currency);

/* "60000EUR", "0.4USD/h" or "60000"; "3kW", "350 W". Errors: -1, without a message. */
int cost_parse_price(const char *text, double *ret, char currency[8]);
int cost_parse_power(const char *text, double *ret_w);

/* Prints a file in which nothing is filled in, of the parts of these machines. */
void costs_print_form(struct orr_machine_desc *const *machines, size_t n, FILE *out);
