// SPDX-License-Identifier: LGPL-2.1-or-later
// cudastf/cudastf.h - what the reference card of CUDASTF's documentation includes.
#pragma once

#include <cuda/experimental/stf.cuh>
