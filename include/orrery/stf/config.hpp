// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/config.hpp - what the compiler knows: functions for devices, the type of a
// queue, which bodies have code for what.
#pragma once

// clang for CUDA without CUDA's headers, which define this.
#if defined(__clang__) && defined(__CUDA__) && !defined(__host__)
#    include <orrery/stf/clang.hpp>
#endif

#include <type_traits>
#include <utility>

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
struct CUgraphExec_st;

namespace orrery::stf
{

// The queue of a device, as CUDA has it; null where a body runs on processors.
using stream_t = CUstream_st *;
// What launch_graph() launches, by the name that CUDA has for its own.
using graph_exec_t = CUgraphExec_st *;

namespace detail
{

// Made of anything, by a conversion that is worse than any of a parameter's own.
struct from_any {
    template <class T> from_any(T &&);
};
// F, and beside it a function that takes whatever F does not. Where both could be called
// the compiler finds neither better: this one in the object, F in the arguments. So it is
// said whether F takes A..., and F's body is not looked at.
template <class F, class... A> struct body_or_rest : F {
    using F::operator();
    void operator()(std::conditional_t<false, A, from_any>...);
};

// Whether a body can be called: not, or not since it does not compile, of which the
// compiler has told.
enum class fit { no, told, yes };

// A call with A..., of which compilers have as little to tell as possible when it is
// the body that does not compile: each level of templates would be three lines.
template <class... A> struct call_with {
    // By ask<F>(nullptr): whether F can be called so, which compiles its body.
    template <class F>
    static auto ask(F *f)
        -> decltype((void)(*f)(std::declval<A>()...), std::true_type());
    template <class F> static std::false_type ask(...);

    // By refuses<F>(nullptr), of bodies that are lambdas: whether F does not take A...
    template <class F>
    static auto refuses(F *)
        -> decltype(std::declval<body_or_rest<F, A...> &>()(
                        std::declval<A>()...),
                    std::true_type());
    template <class F> static std::false_type refuses(...);

    // The same, and whether it returns what becomes an R.
    template <class R, class F>
    static auto ask_for(F *f)
        -> std::is_convertible<decltype((*f)(std::declval<A>()...)), R>;
    template <class R, class F> static std::false_type ask_for(...);

    template <class F>
    static constexpr bool takes = decltype(ask<F>(nullptr))::value;
    // Whether F, a lambda, takes A..., whatever its body does with them: where it does, and
    // cannot be called, the compiler has told why. Asked before ask(): clang holds that
    // a function with an error in its body takes nothing. g++ and nvcc hold that it can
    // be called.
    template <class F> static constexpr bool accepts()
    {
#if defined(__clang__)
        if constexpr (std::is_class_v<F> && !std::is_final_v<F>)
            return !decltype(refuses<F>(nullptr))::value;
        else
            return false;
#else
        return false;
#endif
    }
    template <class F> static constexpr fit fit_of()
    {
        constexpr bool accepts = call_with::accepts<F>();

        return decltype(ask<F>(nullptr))::value ? fit::yes
               : accepts                        ? fit::told
                                                : fit::no;
    }
};

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

// What the host asks in its place; void cannot be called.
template <class F> using host_may_ask = std::conditional_t<opaque<F>, void, F>;

// Whether F, a body that is copied and runs later, captures references, as far as that can
// be seen: a member that is one takes the standard layout from a class, and hardly anything
// else does that can be copied as bytes. Not seen beside what cannot. nvcc refuses it by
// itself of bodies for devices.
template <class F>
inline constexpr bool refers =
#if defined(ORR_STF_TRUST_CAPTURES)
    false;
#else
    !std::is_standard_layout_v<F> && std::is_trivially_copyable_v<F>;
#endif

// Whether the host has code for a body that it is to call with A...
template <class F, class... A> constexpr bool fits_host()
{
#if defined(__clang__) && ORR_STF_CUDA
    return call_with<A...>::template takes<F>;
#else
    return host_has<F>;
#endif
}

template <class...> inline constexpr bool always_false = false;

} // namespace detail
} // namespace orrery::stf
