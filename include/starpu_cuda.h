/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_cuda.h - CUDA helpers for kernels. This build has no CUDA backend
 * (STARPU_USE_CUDA is not defined), so nothing is declared; code that needs
 * them is already under #ifdef STARPU_USE_CUDA.
 */
#pragma once

#include <starpu_config.h>
