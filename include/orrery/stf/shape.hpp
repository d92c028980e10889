// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/shape.hpp - index spaces: the shapes of data, boxes, their inner parts. A shape
// has size(), coords_t (a tuple), and index_to_coords(i); those with bounds, begin(d)
// and end(d), are walked by loops inside each other, the first dimension innermost.
#pragma once

#include <orrery/stf/slice.hpp>

namespace orrery::stf
{

namespace detail
{

template <std::size_t, class T> struct repeated {
    using type = T;
};
template <class> struct tuple_of;
template <std::size_t... K> struct tuple_of<std::index_sequence<K...>> {
    using type = std::tuple<typename repeated<K, std::size_t>::type...>;
};
template <std::size_t D>
using coordinates = typename tuple_of<std::make_index_sequence<D>>::type;

template <class S, class = void> struct has_bounds : std::false_type {
};
template <class S>
struct has_bounds<S, std::void_t<decltype(S::dimensions),
                                 decltype(std::declval<const S &>().begin(0))>>
    : std::true_type {
};

} // namespace detail

// The indices from lo on, before hi.
struct bounds {
    ORR_STF_HD bounds(std::size_t first, std::size_t behind)
        : lo(first), hi(behind)
    {
    }
    std::size_t lo, hi;
};

// D ranges of indices.
template <std::size_t D = 1> class box
{
  public:
    static constexpr std::size_t dimensions = D;
    using coords_t = detail::coordinates<D>;

    box() = default;
    // Each dimension from 0 on.
    ORR_STF_HD box(const std::size_t (&extents)[D])
    {
        for (std::size_t d = 0; d < D; d++)
            hi_[d] = extents[d];
    }
    ORR_STF_HD box(const bounds (&ranges)[D])
    {
        for (std::size_t d = 0; d < D; d++)
            set(d, ranges[d].lo, ranges[d].hi);
    }
    template <class... I,
              class = std::enable_if_t<sizeof...(I) == D &&
                                       (std::is_integral_v<I> && ...)>>
    ORR_STF_HD box(I... extents)
    {
        const std::size_t n[] = {static_cast<std::size_t>(extents)...};
        for (std::size_t d = 0; d < D; d++)
            hi_[d] = n[d];
    }

    ORR_STF_HD void set(std::size_t d, std::size_t lo, std::size_t hi)
    {
        lo_[d] = lo;
        hi_[d] = hi < lo ? lo : hi;
    }
    ORR_STF_HD std::size_t begin(std::size_t d) const
    {
        return lo_[d];
    }
    ORR_STF_HD std::size_t end(std::size_t d) const
    {
        return hi_[d];
    }
    ORR_STF_HD std::size_t extent(std::size_t d) const
    {
        return hi_[d] - lo_[d];
    }
    static constexpr ORR_STF_HD std::size_t rank()
    {
        return D;
    }
    ORR_STF_HD std::size_t size() const
    {
        std::size_t n = 1;
        for (std::size_t d = 0; d < D; d++)
            n *= extent(d);
        return n;
    }
    ORR_STF_HD coords_t index_to_coords(std::size_t index) const
    {
        std::size_t at[D] = {};
        for (std::size_t d = 0; d < D; d++) {
            at[d] = lo_[d] + index % extent(d);
            index /= extent(d);
        }
        return tuple(at, std::make_index_sequence<D>{});
    }

  private:
    template <std::size_t... K>
    static ORR_STF_HD coords_t tuple(const std::size_t *at,
                                     std::index_sequence<K...>)
    {
        return coords_t(at[K]...);
    }

    std::size_t lo_[D] = {};
    std::size_t hi_[D] = {};
};
template <class... I, class = std::enable_if_t<(std::is_integral_v<I> && ...)>>
box(I...) -> box<sizeof...(I)>;
template <std::size_t D> box(const std::size_t (&)[D]) -> box<D>;
template <std::size_t D> box(const bounds (&)[D]) -> box<D>;

// Of a view: what all copies of the data have in common.
template <class V> class shape_of;

template <class T, std::size_t D> class shape_of<slice<T, D>> : public box<D>
{
  public:
    using box<D>::box;
    shape_of() = default;
    explicit ORR_STF_HD shape_of(const slice<T, D> &view)
    {
        for (std::size_t d = 0; d < D; d++)
            this->set(d, 0, view.extent(d));
    }
};

// One index, since there is one value.
template <class T> class shape_of<scalar_view<T>> : public box<1>
{
  public:
    ORR_STF_HD shape_of() : box<1>(std::size_t{1})
    {
    }
    explicit ORR_STF_HD shape_of(const scalar_view<T> &)
        : box<1>(std::size_t{1})
    {
    }
};

template <> class shape_of<void_interface> : public box<1>
{
  public:
    ORR_STF_HD shape_of() : box<1>(std::size_t{0})
    {
    }
    explicit ORR_STF_HD shape_of(const void_interface &)
        : box<1>(std::size_t{0})
    {
    }
};

// A box without k indices at each of its ends.
template <std::size_t K, std::size_t D> box<D> inner(const box<D> &whole)
{
    box<D> part;

    for (std::size_t d = 0; d < D; d++) {
        const std::size_t lo = whole.begin(d) + K;
        part.set(d, lo, whole.end(d) > lo + K ? whole.end(d) - K : lo);
    }
    return part;
}

} // namespace orrery::stf
