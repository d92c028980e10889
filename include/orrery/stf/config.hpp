// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/config.hpp - what the compiler knows: functions for devices, the type of a
// queue, which bodies have code for what.
#pragma once

// clang for CUDA without CUDA's headers, which define this.
#if defined(__clang__) && defined(__CUDA__) && !defined(__host__)
#    include <orrery/stf/clang.hpp>
#endif

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

// What is seldom called, or takes long anyway: no part of its callers, and small.
#if defined(__GNUC__)
#    define ORR_STF_COLD   __attribute__((cold, noinline))
#    define ORR_STF_PRINTF __attribute__((format(printf, 1, 2)))
#else
#    define ORR_STF_COLD
#    define ORR_STF_PRINTF
#endif

struct CUstream_st;

namespace orrery::stf
{

// The queue of a device, as CUDA has it; null where a body runs on processors.
using stream_t = CUstream_st *;

namespace detail
{

// nvcc says of a lambda with __device__ that only devices have its code.
#if defined(__NVCC__)
template <class F>
inline constexpr bool
    host_has = __nv_is_extended_host_device_lambda_closure_type(F) ||
               !__nv_is_extended_device_lambda_closure_type(F);
template <class F>
inline constexpr bool
    device_has = __nv_is_extended_device_lambda_closure_type(F) ||
                 __nv_is_extended_host_device_lambda_closure_type(F);
// Of these the host may not ask what they return.
template <class F>
inline constexpr bool
    opaque = __nv_is_extended_device_lambda_closure_type(F) ||
             __nv_is_extended_host_device_lambda_closure_type(F);
#else
// clang does not say it, but lets the host ask whether it may call a body: fits_host.
template <class F> inline constexpr bool host_has = true;
template <class F> inline constexpr bool device_has = ORR_STF_CUDA;
template <class F> inline constexpr bool opaque = ORR_STF_CUDA;
#endif

// Whether the host has code for a body that it is to call with A...
template <class F, class... A> constexpr bool fits_host()
{
#if defined(__clang__) && ORR_STF_CUDA
    return std::is_invocable_v<F &, A...>;
#else
    return host_has<F>;
#endif
}

template <class...> inline constexpr bool always_false = false;

} // namespace detail
} // namespace orrery::stf
