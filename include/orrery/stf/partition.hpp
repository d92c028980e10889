// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/partition.hpp - how an index space is spread over the places of a grid: each
// partitioner's apply() gives the part of one place, get_executor() the place of one
// index. The outermost dimension is the one that is cut.
#pragma once

#include <orrery/stf/place.hpp>
#include <orrery/stf/shape.hpp>

namespace orrery::stf
{

// What partitioners are derived from, users' own too.
struct partitioner_base {
};

// The part of a box whose outermost indices are tiles of `tile` indices, every
// `places`-th from number `first` on.
template <std::size_t D> class tiled_box
{
  public:
    using coords_t = detail::coordinates<D>;

    ORR_STF_HD tiled_box(const box<D> &whole, std::size_t tile,
                         std::size_t first, std::size_t places)
        : part_(whole), lo_(whole.begin(D - 1)), tile_(tile), first_(first),
          places_(places)
    {
        const std::size_t n = whole.extent(D - 1);
        const std::size_t round = tile * places, rest = n % round;
        const std::size_t mine = rest > first * tile ? rest - first * tile : 0;

        part_.set(D - 1, 0, n / round * tile + (mine < tile ? mine : tile));
    }
    ORR_STF_HD std::size_t size() const
    {
        return part_.size();
    }
    ORR_STF_HD coords_t index_to_coords(std::size_t index) const
    {
        coords_t at = part_.index_to_coords(index);
        std::size_t &outer = std::get<D - 1>(at);

        outer =
            lo_ + (outer / tile_ * places_ + first_) * tile_ + outer % tile_;
        return at;
    }

  private:
    box<D> part_;
    std::size_t lo_, tile_, first_, places_;
};

// One contiguous part for each place, of about the same size.
struct blocked_partition : partitioner_base {
    template <std::size_t D>
    static box<D> apply(const box<D> &whole, pos4 position, dim4 grid)
    {
        const std::size_t n = whole.extent(D - 1), places = grid.size();
        const std::size_t block = (n + places - 1) / places;
        const std::size_t lo = block * grid.get_index(position);
        box<D> part = whole;

        part.set(D - 1, whole.begin(D - 1) + (lo < n ? lo : n),
                 whole.begin(D - 1) + (lo + block < n ? lo + block : n));
        return part;
    }
    static pos4 get_executor(pos4 at, dim4 data, dim4 grid)
    {
        const std::size_t places = grid.size();
        const int outer = data.t > 1 ? 3 : data.z > 1 ? 2 : data.y > 1 ? 1 : 0;
        const std::size_t n = static_cast<std::size_t>(data.get(outer));

        return grid.get_position(static_cast<std::size_t>(at.get(outer)) /
                                 ((n + places - 1) / places));
    }
};

// Tiles of TILE indices to the places in turn.
template <std::size_t TILE> struct tiled_partition : partitioner_base {
    static_assert(TILE > 0, "tiles have at least one index");

    template <std::size_t D>
    static tiled_box<D> apply(const box<D> &whole, pos4 position, dim4 grid)
    {
        return tiled_box<D>(whole, TILE, grid.get_index(position), grid.size());
    }
    static pos4 get_executor(pos4 at, dim4 data, dim4 grid)
    {
        const int outer = data.t > 1 ? 3 : data.z > 1 ? 2 : data.y > 1 ? 1 : 0;

        return grid.get_position(static_cast<std::size_t>(at.get(outer)) /
                                 TILE % grid.size());
    }
};

// One index to each place in turn.
using cyclic_partition = tiled_partition<1>;

// All of it to each place: of no use but for one place.
struct null_partition : partitioner_base {
};

} // namespace orrery::stf
