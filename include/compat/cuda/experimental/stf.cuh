// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cuda/experimental/stf.cuh - CUDASTF's names for orrery/stf.hpp, so that programs for
 * CUDASTF compile unchanged where this folder comes first in the include path, with
 * nvcc, and with a C++ compiler alone where their bodies are for the host.
 * docs/STF.md says what differs.
 */
#pragma once

// Programs for CUDASTF count on its header for these.
#include <memory>
#include <string>
#include <vector>

#include <orrery/stf.hpp>

#if !ORR_STF_CUDA
// What a source for nvcc has in front of bodies, and calls in them.
#    ifndef __host__
#        define __host__
#    endif
#    ifndef __device__
#        define __device__
#    endif
#    if !defined(__DRIVER_TYPES_H__) && !defined(CUDART_VERSION)
#        include <cstring>
typedef struct CUstream_st *cudaStream_t;
// Queues of processors: what is put into them is done at once.
inline int cudaStreamSynchronize(cudaStream_t)
{
    return 0;
}
// What exec() of a launchable scope returns.
typedef struct CUgraphExec_st *cudaGraphExec_t;
inline int cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t)
{
    orrery::stf::launch_graph(graph);
    return 0;
}
inline int cudaMemsetAsync(void *at, int value, std::size_t n, cudaStream_t)
{
    std::memset(at, value, n);
    return 0;
}
#    endif
#endif

namespace cuda::experimental {
namespace stf = orrery::stf;
namespace places = orrery::stf;
}
