// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/reducer.hpp - operators of reductions: init_op() makes a value that changes
// nothing, apply_op() adds one value to another. Users' own look alike.
#pragma once

#include <limits>

#include <orrery/stf/config.hpp>

namespace orrery::stf
{

// After an operator of reduce(): the value that the data have is added, too.
struct no_init {
};

namespace reducer
{

#define ORR_STF_REDUCER(name, neutral, statement)                              \
    template <class T> struct name {                                           \
        static ORR_STF_HD void init_op(T &dst)                                 \
        {                                                                      \
            dst = static_cast<T>(neutral);                                     \
        }                                                                      \
        static ORR_STF_HD void apply_op(T &dst, const T &src)                  \
        {                                                                      \
            statement;                                                         \
        }                                                                      \
    };

ORR_STF_REDUCER(sum, 0, dst += src)
ORR_STF_REDUCER(product, 1, dst *= src)
ORR_STF_REDUCER(logical_and, true, dst = dst && src)
ORR_STF_REDUCER(logical_or, false, dst = dst || src)
ORR_STF_REDUCER(bitwise_and, ~T(0), dst &= src)
ORR_STF_REDUCER(bitwise_or, 0, dst |= src)
ORR_STF_REDUCER(bitwise_xor, 0, dst ^= src)
#undef ORR_STF_REDUCER

namespace detail
{

template <class T> constexpr T smallest()
{
    return std::numeric_limits<T>::has_infinity
               ? -std::numeric_limits<T>::infinity()
               : std::numeric_limits<T>::lowest();
}
template <class T> constexpr T largest()
{
    return std::numeric_limits<T>::has_infinity
               ? std::numeric_limits<T>::infinity()
               : std::numeric_limits<T>::max();
}

} // namespace detail

template <class T> struct maxval {
    static ORR_STF_HD void init_op(T &dst)
    {
        constexpr T least = detail::smallest<T>();
        dst = least;
    }
    static ORR_STF_HD void apply_op(T &dst, const T &src)
    {
        if (src > dst)
            dst = src;
    }
};
template <class T> struct minval {
    static ORR_STF_HD void init_op(T &dst)
    {
        constexpr T most = detail::largest<T>();
        dst = most;
    }
    static ORR_STF_HD void apply_op(T &dst, const T &src)
    {
        if (src < dst)
            dst = src;
    }
};

} // namespace reducer
} // namespace orrery::stf
