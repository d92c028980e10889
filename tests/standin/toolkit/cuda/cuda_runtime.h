/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/toolkit/cuda/cuda_runtime.h - see cuda_runtime_api.h. */
#pragma once

#include <cuda_runtime_api.h>
