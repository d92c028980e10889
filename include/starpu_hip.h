/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_hip.h - HIP helpers for kernels. This build has no driver for it
 * (STARPU_USE_HIP is not defined), so nothing is declared; code that needs it
 * is already under #ifdef STARPU_USE_HIP.
 */
#pragma once

#include <starpu_config.h>
