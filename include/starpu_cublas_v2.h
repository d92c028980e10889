/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_cublas_v2.h - the cuBLAS handle of a CUDA worker. This build has no driver for it
 * (STARPU_USE_CUDA is not defined), so nothing is declared; code that needs it
 * is already under #ifdef STARPU_USE_CUDA.
 */
#pragma once

#include <starpu_config.h>
