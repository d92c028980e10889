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

// --- where data are cut ---

// An even block for each place, the first ones longer by one where there is a rest.
inline void cut_even(plan &made, std::size_t n, std::size_t places)
{
    std::size_t begin = 0;

    for (std::size_t i = 0; i < places; i++) {
        made.begin.push_back(begin);
        made.owner.push_back(i);
        begin += n / places + (i < n % places);
    }
    made.begin.push_back(n);
}

inline constexpr std::size_t most_parts = 1024;

// Neighbours in the outermost dimension that have the same place are one part.
inline void cut_by_executor(plan &made, const spread &how, dim4 dims, int outer)
{
    const int n = dims.get(static_cast<std::size_t>(outer));
    const dim4 grid = how.grid.get_dims();

    for (int i = 0; i < n; i++) {
        pos4 first, last(dims.x - 1, dims.y - 1, dims.z - 1, dims.t - 1);
        first.set(outer, i);
        last.set(outer, i);
        const std::size_t owner =
            grid.get_index(how.executor(first, dims, grid));
        require(owner == grid.get_index(how.executor(last, dims, grid)),
                "composite data are cut along their last dimension: this "
                "partitioner's get_executor() cuts another one");
        require(owner < grid.size(), "get_executor() of a partitioner names a "
                                     "place that is not in the grid");
        if (!made.owner.empty() && made.owner.back() == owner)
            continue;
        require(made.owner.size() < most_parts,
                "composite data in more than 1024 parts: take larger tiles");
        made.begin.push_back(static_cast<std::size_t>(i));
        made.owner.push_back(owner);
    }
    made.begin.push_back(static_cast<std::size_t>(n));
}

// --- planning that ---

// `elements` of the data, from which the part begins `skipped` elements behind.
template <class I> void place_part(I &part, const I &whole, std::size_t skipped)
{
    if (!whole.dev_handle)
        return;
    if (whole.ptr)
        part.ptr = whole.ptr + skipped * whole.elemsize;
    part.dev_handle = whole.dev_handle;
    part.offset = whole.offset + skipped * whole.elemsize;
}
inline void cut_out(starpu_vector_interface &part,
                    const starpu_vector_interface &whole, std::size_t begin,
                    uint32_t n)
{
    part.nx = n;
    part.slice_base = whole.slice_base + static_cast<uint32_t>(begin);
    part.allocsize = n * whole.elemsize;
    place_part(part, whole, begin);
}
inline void cut_out(starpu_matrix_interface &part,
                    const starpu_matrix_interface &whole, std::size_t begin,
                    uint32_t n)
{
    part.ny = n;
    part.allocsize = std::size_t{whole.nx} * n * whole.elemsize;
    place_part(part, whole, begin * whole.ld);
}
inline void cut_out(starpu_block_interface &part,
                    const starpu_block_interface &whole, std::size_t begin,
                    uint32_t n)
{
    part.nz = n;
    place_part(part, whole, begin * whole.ldz);
}

// A filter of the runtime: part number `id` as the plan says.
template <class I>
void filter_by_plan(void *whole, void *part, starpu_data_filter *filter,
                    unsigned id, unsigned)
{
    const plan &made = *static_cast<plan *>(filter->filter_arg_ptr);
    const auto &from = *static_cast<const I *>(whole);
    auto &to = *static_cast<I *>(part);

    to = from;
    to.ptr = to.dev_handle = 0;
    to.offset = 0;
    cut_out(to, from, made.begin[id],
            static_cast<uint32_t>(made.begin[id + 1] - made.begin[id]));
}

inline dim4 dims_of(const starpu_vector_interface &whole)
{
    return dim4(static_cast<int>(whole.nx));
}
inline dim4 dims_of(const starpu_matrix_interface &whole)
{
    return dim4(static_cast<int>(whole.nx), static_cast<int>(whole.ny));
}
inline dim4 dims_of(const starpu_block_interface &whole)
{
    return dim4(static_cast<int>(whole.nx), static_cast<int>(whole.ny),
                static_cast<int>(whole.nz));
}

// Whether data with a view can be cut.
template <class V> inline constexpr bool can_be_cut = false;
template <class T, std::size_t D>
inline constexpr bool can_be_cut<slice<T, D>> = D <= 3;

// The plan of data with that view: even parts for `places` places, or as a composite
// place says. One thread at a time.
template <class V>
const plan &plan_of(datum &data, std::size_t places, const spread *how)
{
    using I = typename view_traits<V>::interface;

    for (const auto &known : data.plans)
        if (known->how == how && (how || known->parts.size() == places))
            return *known;
    const dim4 dims = dims_of(*static_cast<I *>(
        starpu_data_get_interface_on_node(data.handle, STARPU_MAIN_RAM)));
    constexpr int outer = std::is_same_v<I, starpu_vector_interface>   ? 0
                          : std::is_same_v<I, starpu_matrix_interface> ? 1
                                                                       : 2;
    starpu_data_filter filter{};
    owned<plan> made(new plan);

    require(dims.get(outer) >= 0, "data in parts have at most 2147483647 "
                                  "indices in their last dimension");
    made->how = how;
    if (how)
        cut_by_executor(*made, *how, dims, outer);
    else
        cut_even(*made, static_cast<std::size_t>(dims.get(outer)), places);
    filter.filter_func = filter_by_plan<I>;
    filter.filter_arg_ptr = made.get();
    filter.nchildren = static_cast<unsigned>(made->owner.size());
    made->parts.resize(made->owner.size());
    starpu_data_partition_plan(data.handle, &filter, made->parts.data());
    data.plans.push_back(std::move(made));
    return *data.plans.back();
}

} // namespace orrery::stf::detail
