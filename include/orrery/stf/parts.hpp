// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/parts.hpp - data that a grid of places uses in parts, cut along their outermost
// dimension: each place has its own, and writes it beside the others. A part is planned
// once; the runtime switches between the whole and its parts as tasks use them.
#pragma once

#include <orrery/stf/logical_data.hpp>

namespace orrery::stf::detail
{

// Where a part begins in the outermost dimension, and how long that is; 0: it is none.
struct part {
    std::size_t begin = 0, whole = 0;
};

// The view of a part has the indices of the whole: those that are not in it are not to
// be used.
template <class V> V whole_of(const V &view, const part &)
{
    return view;
}
template <class T, std::size_t D>
slice<T, D> whole_of(const slice<T, D> &view, const part &p)
{
    return p.whole ? view.as_part(p.begin, p.whole) : view;
}
template <class V> V part_view(void *buffer, const part &p)
{
    return whole_of(view_traits<std::remove_const_t<V>>::view(buffer), p);
}

// How data with a view are cut, and how long a part is. No other views are.
template <class V> struct cut {
    static constexpr bool possible = false;
};
template <class T> struct cut<slice<T, 1>> {
    static constexpr bool possible = true;
    static constexpr auto filter = starpu_vector_filter_block;
    static std::size_t length(handle_t part)
    {
        return starpu_vector_get_nx(part);
    }
};
template <class T> struct cut<slice<T, 2>> {
    static constexpr bool possible = true;
    static constexpr auto filter = starpu_matrix_filter_vertical_block;
    static std::size_t length(handle_t part)
    {
        return starpu_matrix_get_ny(part);
    }
};
template <class T> struct cut<slice<T, 3>> {
    static constexpr bool possible = true;
    static constexpr auto filter = starpu_block_filter_depth_block;
    static std::size_t length(handle_t part)
    {
        return starpu_block_get_nz(part);
    }
};

// The plan of data with that view in n parts. One thread at a time.
template <class V> const plan &plan_of(datum &data, std::size_t n)
{
    for (const auto &known : data.plans)
        if (known->parts.size() == n)
            return *known;
    starpu_data_filter filter{};
    auto made = std::make_unique<plan>();
    std::size_t begin = 0;

    filter.filter_func = cut<V>::filter;
    filter.nchildren = static_cast<unsigned>(n);
    made->parts.resize(n);
    starpu_data_partition_plan(data.handle, &filter, made->parts.data());
    for (const handle_t part : made->parts) {
        made->begin.push_back(begin);
        begin += cut<V>::length(part);
    }
    made->begin.push_back(begin);
    data.plans.push_back(std::move(made));
    return *data.plans.back();
}

} // namespace orrery::stf::detail
