// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/config.hpp - what the compiler knows: functions for devices, the type of a
// queue, which bodies have code for what.
#pragma once

#include <type_traits>

// A compiler of CUDA: nvcc, or clang with CUDA sources.
#if defined(__CUDACC__) || defined(__CUDA__)
#    define ORR_STF_CUDA 1
#    define ORR_STF_HD   __host__ __device__
#else
#    define ORR_STF_CUDA 0
#    define ORR_STF_HD
#endif

// Whether this is compiled for a device: no exceptions, no host there.
#if defined(__CUDA_ARCH__)
#    define ORR_STF_ON_DEVICE 1
#else
#    define ORR_STF_ON_DEVICE 0
#endif

struct CUstream_st;

namespace orrery::stf {

// The queue of a device, as CUDA has it; null where a body runs on processors.
using stream_t = CUstream_st *;

namespace detail {

// nvcc says of a lambda with __device__ that only devices have its code.
#if defined(__NVCC__)
template <class F>
inline constexpr bool host_has =
    __nv_is_extended_host_device_lambda_closure_type(F) ||
    !__nv_is_extended_device_lambda_closure_type(F);
template <class F>
inline constexpr bool device_has =
    __nv_is_extended_device_lambda_closure_type(F) ||
    __nv_is_extended_host_device_lambda_closure_type(F);
// Of these the host may not ask what they return.
template <class F>
inline constexpr bool opaque =
    __nv_is_extended_device_lambda_closure_type(F) ||
    __nv_is_extended_host_device_lambda_closure_type(F);
#else
template <class F> inline constexpr bool host_has = true;
template <class F> inline constexpr bool device_has = false;
template <class F> inline constexpr bool opaque = false;
#endif

template <class...> inline constexpr bool always_false = false;

} // namespace detail
} // namespace orrery::stf
