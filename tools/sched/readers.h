/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/sched/readers.h - which variables a policy reads, and where its rule comes
 * from. One thread.
 */
#pragma once

#include <stdbool.h>

#include "core/base/config.h"

/* The variable at place `i` of those that the policy reads; false: there are no
 * more. */
bool readers_variable(const char *policy, unsigned i,
                      struct orr_config_row *ret);

/* The publication with the policy's rule; NULL: StarPU's documentation. */
const char *readers_source(const char *policy);
