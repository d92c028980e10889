/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/interfaces/nodes.h - on how many memory nodes data have a structure of
 * their interface. Interfaces of applications fill STARPU_MAXNODES.
 */
#pragma once

#include <starpu.h>

/* Those that there are, and those that may come for these data (disks). */
unsigned orr_interface_nodes(starpu_data_handle_t handle);
