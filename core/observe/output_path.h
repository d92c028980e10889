/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/output_path.h - the names of files that a run leaves: those that the
 * environment says, with the rank of the run where several processes are one program and
 * have one environment.
 */
#pragma once

#include "core/base/config.h"

struct orr_runtime;

/* The file that the variable names: NAME.EXT; of one of several processes NAME.rank3.EXT,
 * unless it is a device or a pipe. Owned by the caller. NULL: the variable names none, or,
 * after a message, there is no memory. Any context. */
char *orr_output_path(const struct orr_runtime *rt, enum orr_config_id variable);
