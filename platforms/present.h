/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/present.h - this very machine, as well as it is known: calibrated
 * if that was done, else as hwloc sees it. Any thread.
 */
#pragma once

#include "platforms/machine_desc.h"

/* Describes the machine the caller runs on, as orr_machine_desc_discover()
 * does. `host` is the name under which its files and models are kept, NULL or
 * empty: the system's. If <host>.machine.xml is in the bus/ of a sampling directory, and
 * has the processors and devices that this process may use, it is the
 * description; if it has others, only its runtime costs count. (CUDA and OpenCL devices
 * that hwloc does not see are taken for present.) *ret_calibrated
 * (may be NULL): the file that was used, owned by the caller, or NULL. Errors:
 * as there; a broken file is one. */
int orr_machine_desc_present(const char *const *sampling_dirs, const char *host,
                             struct orr_machine_desc **ret,
                             char **ret_calibrated, struct orr_error *err);
