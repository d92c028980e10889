/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/options.h - SimGrid's options of a description, network/ and so on.
 */
#pragma once

#include "platforms/machine_desc.h"

/* The value of the option "network/latency-factor", written so, also where the
 * file writes latency_factor (version 3); `usual` where it does not set it. Words
 * for switches are 1 and 0; NaN: neither such a word nor a number. */
double orr_sim_option(const struct orr_machine_desc *desc, const char *id,
                      double usual);
