// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/slice.hpp - views of data, which bodies get: slices of any number of
// dimensions, single values, and nothing at all (tokens). They own no memory.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <orrery/stf/config.hpp>
#include <orrery/stf/error.hpp>

#if defined(CUDASTF_BOUNDSCHECK) && !defined(ORR_STF_BOUNDS_CHECK)
#    define ORR_STF_BOUNDS_CHECK 1
#endif

namespace orrery::stf
{

// D dimensions of elements of T. Neighbours of the first one lie side by side, those
// of dimension d stride(d) elements apart.
template <class T, std::size_t D = 1> class slice
{
    static_assert(D > 0, "a slice has at least one dimension");

  public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;

    slice() = default;
    // Without gaps.
    ORR_STF_HD slice(T *data, const std::size_t (&extents)[D]) : data_(data)
    {
        for (std::size_t d = 0; d < D; d++) {
            extent_[d] = extents[d];
            stride_[d] = d ? stride_[d - 1] * extents[d - 1] : 1;
        }
    }
    // The strides of all dimensions but the first one.
    template <std::size_t N>
    ORR_STF_HD slice(T *data, const std::size_t (&extents)[D],
                     const std::size_t (&strides)[N])
        : data_(data)
    {
        static_assert(N == D - 1, "a stride for each dimension but the first");
        for (std::size_t d = 0; d < D; d++) {
            extent_[d] = extents[d];
            stride_[d] = d ? strides[d - 1] : 1;
        }
    }
    // A slice is also one that is only read.
    template <class U, class = std::enable_if_t<std::is_same_v<const U, T> &&
                                                !std::is_same_v<U, T>>>
    ORR_STF_HD slice(const slice<U, D> &other) : data_(other.data_handle())
    {
        for (std::size_t d = 0; d < D; d++) {
            extent_[d] = other.extent(d);
            stride_[d] = other.stride(d);
        }
    }

    ORR_STF_HD T *data_handle() const
    {
        return data_;
    }
    ORR_STF_HD std::size_t extent(std::size_t d) const
    {
        return extent_[d];
    }
    ORR_STF_HD std::size_t stride(std::size_t d) const
    {
        return d ? stride_[d] : 1;
    }
    ORR_STF_HD std::size_t size() const
    {
        std::size_t n = 1;
        for (std::size_t d = 0; d < D; d++)
            n *= extent_[d];
        return n;
    }
    static constexpr ORR_STF_HD std::size_t rank()
    {
        return D;
    }
    // No gap between any two elements.
    ORR_STF_HD bool contiguous() const
    {
        for (std::size_t d = 1; d < D; d++)
            if (stride_[d] != stride(d - 1) * extent_[d - 1])
                return false;
        return true;
    }

    // This as a part of a longer one that begins so far before it in the last
    // dimension: indices are those of the whole.
    ORR_STF_HD slice as_part(std::size_t begin, std::size_t whole) const
    {
        slice longer = *this;
        longer.data_ -= begin * stride(D - 1);
        longer.extent_[D - 1] = whole;
        return longer;
    }

    template <class... I> ORR_STF_HD T &operator()(I... index) const
    {
        static_assert(sizeof...(I) == D, "an index for each dimension");
        if constexpr (sizeof...(I) == D)
            return at(std::index_sequence_for<I...>{},
                      static_cast<std::size_t>(index)...);
        else
            return *data_;
    }
    template <class I> ORR_STF_HD T &operator[](I index) const
    {
        static_assert(D == 1, "[] is for slices of one dimension");
        return (*this)(index);
    }

  private:
    template <std::size_t... K, class... I>
    ORR_STF_HD T &at(std::index_sequence<K...>, I... index) const
    {
#if defined(ORR_STF_BOUNDS_CHECK)
        if (!((index < extent_[K]) && ...))
            out_of_bounds();
#endif
        return data_[((K ? index * stride_[K] : index) + ...)];
    }
    static ORR_STF_HD void out_of_bounds()
    {
#if ORR_STF_ON_DEVICE
        asm("trap;");
#else
        detail::fail("an index of a slice is out of bounds: compare it with "
                     "extent(), or the shape with that of the data");
#endif
    }

    T *data_ = nullptr;
    std::size_t extent_[D] = {};
    std::size_t stride_[D] = {};
};

// A value by its address.
template <class T> struct scalar_view {
    using element_type = T;

    scalar_view() = default;
    ORR_STF_HD scalar_view(T *value) : addr(value)
    {
    }
    template <class U, class = std::enable_if_t<std::is_same_v<const U, T> &&
                                                !std::is_same_v<U, T>>>
    ORR_STF_HD scalar_view(const scalar_view<U> &other) : addr(other.addr)
    {
    }
    ORR_STF_HD T &operator*() const
    {
        return *addr;
    }
    ORR_STF_HD T *operator->() const
    {
        return addr;
    }

    T *addr = nullptr;
};

// The view of a token.
struct void_interface {
};

namespace detail
{

template <class T, std::size_t D, std::size_t... K, class Extents>
slice<T, D> sliced(T *data, const Extents &extents, const std::size_t *strides,
                   std::index_sequence<K...>)
{
    const std::size_t n[D] = {
        static_cast<std::size_t>(std::get<K>(extents))...};

    if (!strides)
        return slice<T, D>(data, n);
    if constexpr (D > 1) {
        std::size_t between[D - 1];
        for (std::size_t d = 0; d + 1 < D; d++)
            between[d] = strides[d];
        return slice<T, D>(data, n, between);
    } else {
        return slice<T, D>(data, n);
    }
}

} // namespace detail

// Of a tuple of extents, and the strides of all dimensions but the first one; without
// strides there are no gaps.
template <class T, class... E, class... S>
slice<T, sizeof...(E)> make_slice(T *data, const std::tuple<E...> &extents,
                                  S... strides)
{
    constexpr std::size_t D = sizeof...(E);
    static_assert(sizeof...(S) == 0 || sizeof...(S) == D - 1,
                  "make_slice() takes no strides, or one for each dimension "
                  "but the first");
    const std::size_t given[sizeof...(S) + 1] = {
        static_cast<std::size_t>(strides)..., 0};

    return detail::sliced<T, D>(data, extents, sizeof...(S) ? given : nullptr,
                                std::make_index_sequence<D>{});
}
template <class T> slice<T> make_slice(T *data, std::size_t n)
{
    return slice<T>(data, {n});
}

// What ctx.wait() returns of data with this view; data without such a type cannot be
// waited for, nor be reduced to.
template <class V> struct owning_container_of {
};
namespace detail
{

template <class V, class = void> struct has_owner : std::false_type {
};
template <class V>
struct has_owner<V, std::void_t<typename owning_container_of<V>::type>>
    : std::true_type {
};

} // namespace detail

template <class T> struct owning_container_of<scalar_view<T>> {
    using type = std::remove_const_t<T>;
    static ORR_STF_HD T &get(const scalar_view<T> &view)
    {
        return *view.addr;
    }
};

} // namespace orrery::stf
