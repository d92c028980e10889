// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/place.hpp - where bodies run (exec_place) and where data are meanwhile
// (data_place). Places are values: compared, ordered, hashed.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include <orrery/stf/config.hpp>
#include <orrery/stf/lock.hpp>

namespace orrery::stf
{

// A position, and the size, of what has up to four dimensions.
struct pos4 {
    ORR_STF_HD constexpr pos4(int x_ = 0, int y_ = 0, int z_ = 0, int t_ = 0)
        : x(x_), y(y_), z(z_), t(t_)
    {
    }
    ORR_STF_HD constexpr int get(std::size_t axis) const
    {
        return axis == 0 ? x : axis == 1 ? y : axis == 2 ? z : t;
    }
    ORR_STF_HD constexpr void set(int axis, int to)
    {
        (axis == 0 ? x : axis == 1 ? y : axis == 2 ? z : t) = to;
    }
    ORR_STF_HD friend constexpr bool operator==(const pos4 &a, const pos4 &b)
    {
        return a.x == b.x && a.y == b.y && a.z == b.z && a.t == b.t;
    }
    int x, y, z, t;
};

struct dim4 : pos4 {
    ORR_STF_HD constexpr dim4(int x_ = 1, int y_ = 1, int z_ = 1, int t_ = 1)
        : pos4(x_, y_, z_, t_)
    {
    }
    ORR_STF_HD constexpr std::size_t size() const
    {
        return static_cast<std::size_t>(x) * y * z * t;
    }
    // The number of a position; the first dimension is the fastest.
    ORR_STF_HD constexpr std::size_t get_index(const pos4 &p) const
    {
        return p.x + static_cast<std::size_t>(x) *
                         (p.y + static_cast<std::size_t>(y) *
                                    (p.z + static_cast<std::size_t>(z) * p.t));
    }
    ORR_STF_HD constexpr pos4 get_position(std::size_t index) const
    {
        return pos4(static_cast<int>(index % x),
                    static_cast<int>(index / x % y),
                    static_cast<int>(index / x / y % z),
                    static_cast<int>(index / x / y / z));
    }
};

namespace detail
{

enum class place_kind {
    host,
    device,
    current, // what the context says, else the first device, else processors
    any,     // what the scheduling policy chooses
    grid,
    affine, // of data: the memory of who executes the task
    managed,
};

} // namespace detail

class exec_place_grid;
class exec_place;
template <class Partitioner> class partitioned_grid;

namespace detail
{

const std::vector<exec_place> *intern_places(std::vector<exec_place> places);

} // namespace detail

// Where a body runs.
class exec_place
{
  public:
    // The first device, or processors where there is none, or what
    // context::push_affinity() says.
    exec_place() = default;

    // Processors.
    static exec_place host()
    {
        return exec_place(detail::place_kind::host, 0);
    }
    // Devices are numbered from 0; one that is not there is an error when a task
    // is submitted.
    static exec_place device(int number)
    {
        return exec_place(detail::place_kind::device, number);
    }
    static exec_place current_device()
    {
        return exec_place();
    }
    // What the scheduling policy chooses (STARPU_SCHED), for each task anew.
    static exec_place any()
    {
        return exec_place(detail::place_kind::any, 0);
    }
    // A device, and a queue of it that is the program's, which work is put into: behind
    // what it has by then, and ordered with the runtime's own queues by events. The
    // program keeps it until the tasks have ended. NULL: as device(number).
    static exec_place cuda_stream(stream_t queue, int number)
    {
        exec_place place = device(number);
        place.queue_ = queue;
        return place;
    }
    // Of the device that CUDA's runtime library names; without one (a C++ compiler, a
    // simulated machine) the first.
    static exec_place cuda_stream(stream_t queue);
    // Not here, with the reason as the compiler's message.
    template <class... A> static exec_place cuda_context(A &&...)
    {
        static_assert(detail::always_false<A...>,
                      "exec_place::cuda_context(): the runtime has one context "
                      "for each device; name device(i)");
        return {};
    }
    template <class... A> static exec_place green_ctx(A &&...)
    {
        static_assert(detail::always_false<A...>,
                      "exec_place::green_ctx(): parts of a device are no "
                      "places here; name device(i)");
        return {};
    }
    template <class... A> static exec_place locality_domain(A &&...)
    {
        static_assert(detail::always_false<A...>,
                      "exec_place::locality_domain(): parts of a device are no "
                      "places here; name device(i)");
        return {};
    }
    // Several places, one task of which runs on all, each with its part.
    static exec_place_grid grid(std::vector<exec_place> places);
    static exec_place_grid grid(std::vector<exec_place> places, dim4 dims);
    static exec_place_grid all_devices();
    // The same, with the partitioner of a parallel_for() that names none. Place:
    // exec_place, or what CUDASTF calls places of one kind.
    template <class Place, class Partitioner>
    static partitioned_grid<Partitioner> grid(std::vector<exec_place> places);
    template <class Place, class Partitioner>
    static partitioned_grid<Partitioner> grid(std::vector<exec_place> places,
                                              dim4 dims);
    template <class Partitioner>
    static partitioned_grid<Partitioner> all_devices();
    static exec_place_grid repeat(const exec_place &place, std::size_t n);

    bool is_host() const
    {
        return kind_ == detail::place_kind::host;
    }
    bool is_device() const
    {
        return kind_ == detail::place_kind::device;
    }
    bool is_any() const
    {
        return kind_ == detail::place_kind::any;
    }
    bool is_grid() const
    {
        return kind_ == detail::place_kind::grid;
    }
    bool is_current() const
    {
        return kind_ == detail::place_kind::current;
    }
    // Of a device.
    int number() const
    {
        return number_;
    }
    // Of cuda_stream(), else NULL.
    stream_t get_queue() const
    {
        return queue_;
    }
    // How many places it is: 1, but for grids.
    std::size_t size() const
    {
        return places_ ? places_->size() : 1;
    }
    exec_place get_place(std::size_t i) const
    {
        detail::require(i < size(), "get_place() of a number that the grid "
                                    "does not have");
        return places_ ? (*places_)[i] : *this;
    }
    exec_place get_place(const pos4 &position) const
    {
        return get_place(dims_.get_index(position));
    }
    dim4 get_dims() const
    {
        return dims_;
    }
    int get_dim(int axis) const
    {
        return dims_.get(static_cast<std::size_t>(axis));
    }

    friend bool operator==(const exec_place &a, const exec_place &b)
    {
        return a.kind_ == b.kind_ && a.number_ == b.number_ &&
               a.queue_ == b.queue_ && a.places_ == b.places_ &&
               a.dims_ == b.dims_;
    }
    friend bool operator!=(const exec_place &a, const exec_place &b)
    {
        return !(a == b);
    }
    friend bool operator<(const exec_place &a, const exec_place &b)
    {
        if (a.kind_ != b.kind_ || a.number_ != b.number_)
            return std::tie(a.kind_, a.number_) < std::tie(b.kind_, b.number_);
        if (a.queue_ != b.queue_)
            return std::less<>()(a.queue_, b.queue_);
        if (a.places_ != b.places_) // grids are never without
            return *a.places_ < *b.places_;
        return std::tie(a.dims_.x, a.dims_.y, a.dims_.z, a.dims_.t) <
               std::tie(b.dims_.x, b.dims_.y, b.dims_.z, b.dims_.t);
    }

  protected:
    exec_place(detail::place_kind kind, int number)
        : kind_(kind), number_(number)
    {
    }

    detail::place_kind kind_ = detail::place_kind::current;
    int number_ = 0;
    stream_t queue_ = nullptr;
    dim4 dims_;
    const std::vector<exec_place> *places_ = nullptr; // of grids; never freed
};

// Several places, as an array of up to four dimensions.
class exec_place_grid : public exec_place
{
  public:
    exec_place_grid(std::vector<exec_place> places, dim4 dims)
        : exec_place(detail::place_kind::grid, 0)
    {
        detail::require(!places.empty(),
                        "a grid of no places: name at least one, or check "
                        "that this machine has devices");
        detail::require(dims.size() == places.size(),
                        "the dimensions of a grid must multiply to the number "
                        "of its places");
        for (const exec_place &place : places)
            detail::require(!place.is_grid() && !place.is_any(),
                            "a grid is made of single places: host(), "
                            "device(i), current_device()");
        dims_ = dims;
        places_ = detail::intern_places(std::move(places));
    }
    exec_place_grid reshape(dim4 dims) const
    {
        return exec_place_grid(*places_, dims);
    }
};

using exec_place_device = exec_place;

// One that knows how a shape is cut for its places; null_partition: as for other grids.
template <class Partitioner> class partitioned_grid : public exec_place_grid
{
  public:
    using partitioner = Partitioner;

    explicit partitioned_grid(const exec_place_grid &grid)
        : exec_place_grid(grid)
    {
    }
    partitioned_grid reshape(dim4 dims) const
    {
        return partitioned_grid(exec_place_grid::reshape(dims));
    }
};

namespace detail
{

// The one of these: places are values without anything to be freed.
ORR_STF_COLD inline const std::vector<exec_place> *
intern_places(std::vector<exec_place> places)
{
    struct known {
        std::vector<exec_place> places;
        const known *next;
    };
    static lock mine;
    static const known *all;
    const lock_guard guard(mine);

    for (const known *one = all; one; one = one->next)
        if (one->places == places)
            return &one->places;
    all = new known{std::move(places), all};
    return &all->places;
}

} // namespace detail

inline exec_place_grid exec_place::grid(std::vector<exec_place> places,
                                        dim4 dims)
{
    return exec_place_grid(std::move(places), dims);
}
inline exec_place_grid exec_place::grid(std::vector<exec_place> places)
{
    const dim4 dims(static_cast<int>(places.size()));
    return exec_place_grid(std::move(places), dims);
}
template <class Place, class Partitioner>
partitioned_grid<Partitioner> exec_place::grid(std::vector<exec_place> places,
                                               dim4 dims)
{
    return partitioned_grid<Partitioner>(grid(std::move(places), dims));
}
template <class Place, class Partitioner>
partitioned_grid<Partitioner> exec_place::grid(std::vector<exec_place> places)
{
    return partitioned_grid<Partitioner>(grid(std::move(places)));
}
template <class Partitioner>
partitioned_grid<Partitioner> exec_place::all_devices()
{
    return partitioned_grid<Partitioner>(all_devices());
}
inline exec_place_grid exec_place::repeat(const exec_place &place,
                                          std::size_t n)
{
    return grid(std::vector<exec_place>(n, place));
}

inline exec_place_grid make_grid(std::vector<exec_place> places)
{
    return exec_place::grid(std::move(places));
}
inline exec_place_grid make_grid(std::vector<exec_place> places, dim4 dims)
{
    return exec_place::grid(std::move(places), dims);
}

namespace detail
{

// The places of a grid at first, first + step, ... before `behind`, in each dimension.
inline exec_place_grid sub_grid(const exec_place_grid &grid, const pos4 &first,
                                const pos4 &step, const pos4 &behind)
{
    std::vector<exec_place> places;
    int n[4];

    for (std::size_t d = 0; d < 4; d++) {
        require(step.get(d) > 0 && first.get(d) >= 0,
                "a part of a grid begins at a position of the grid, and has "
                "tiles or strides of at least 1");
        const int length = behind.get(d) < grid.get_dims().get(d)
                               ? behind.get(d)
                               : grid.get_dims().get(d);
        n[d] = length > first.get(d)
                   ? (length - first.get(d) + step.get(d) - 1) / step.get(d)
                   : 0;
    }
    const dim4 dims(n[0], n[1], n[2], n[3]);
    for (std::size_t i = 0; i < dims.size(); i++) {
        const pos4 at = dims.get_position(i);
        places.push_back(grid.get_place(
            pos4(first.x + at.x * step.x, first.y + at.y * step.y,
                 first.z + at.z * step.z, first.t + at.t * step.t)));
    }
    return exec_place_grid(std::move(places), dims);
}

} // namespace detail

// The places of tile number tile_id of a grid that is cut into tiles.
inline exec_place_grid partition_tile(const exec_place_grid &grid,
                                      dim4 tile_sizes, pos4 tile_id)
{
    const pos4 first(tile_id.x * tile_sizes.x, tile_id.y * tile_sizes.y,
                     tile_id.z * tile_sizes.z, tile_id.t * tile_sizes.t);

    return detail::sub_grid(grid, first, pos4(1, 1, 1, 1),
                            pos4(first.x + tile_sizes.x, first.y + tile_sizes.y,
                                 first.z + tile_sizes.z,
                                 first.t + tile_sizes.t));
}
// Every strides-th place from position tile_id on.
inline exec_place_grid partition_cyclic(const exec_place_grid &grid,
                                        dim4 strides, pos4 tile_id)
{
    return detail::sub_grid(grid, tile_id, strides, grid.get_dims());
}

// Which place of a grid an index of data is for: (index, extents, the grid's).
using get_executor_func_t = pos4 (*)(pos4, dim4, dim4);

namespace detail
{

template <class Partitioner> pos4 executor_of(pos4 at, dim4 data, dim4 grid)
{
    return Partitioner().get_executor(at, data, grid);
}

// Data on several places: each has its part, as `executor` says, or, without, a copy.
// Never freed: places refer to it.
struct spread {
    exec_place grid; // of a copy for each: is_current(), that of the task
    get_executor_func_t executor;
    const spread *next;
};

// The one of these.
inline const spread *intern_spread(const exec_place &grid,
                                   get_executor_func_t executor)
{
    static lock mine;
    static const spread *known;
    const lock_guard guard(mine);

    for (const spread *one = known; one; one = one->next)
        if (one->executor == executor && one->grid == grid)
            return one;
    return known = new spread{grid, executor, known};
}

} // namespace detail

// Where data are while a body runs.
class data_place
{
  public:
    // The memory of who executes the task.
    data_place() = default;

    static data_place affine()
    {
        return data_place();
    }
    static data_place host()
    {
        return data_place(detail::place_kind::host, 0);
    }
    // Memory whose pages go where they are used: the runtime brings all of them there
    // before the task.
    static data_place managed()
    {
        return data_place(detail::place_kind::managed, 0);
    }
    // For parallel_for() on that grid: what is written lies in parts at its places, as
    // the partitioner says; what is only read each of them has as a whole.
    static data_place composite(get_executor_func_t executor,
                                const exec_place_grid &grid)
    {
        detail::require(executor != nullptr,
                        "composite() with a partitioner that is no function");
        return data_place(detail::intern_spread(grid, executor));
    }
    template <class Partitioner, class = decltype(&Partitioner::get_executor)>
    static data_place composite(Partitioner, const exec_place_grid &grid)
    {
        return composite(detail::executor_of<Partitioner>, grid);
    }
    // A copy at each place of the grid, or of that where the task runs, to be read.
    static data_place replicated(const exec_place_grid &grid)
    {
        return data_place(detail::intern_spread(grid, nullptr));
    }
    static data_place replicated()
    {
        return data_place(detail::intern_spread(exec_place(), nullptr));
    }
    static data_place device(int number)
    {
        return data_place(detail::place_kind::device, number);
    }
    static data_place current_device()
    {
        return data_place(detail::place_kind::device, 0);
    }

    // Memory there that is no data's, for deallocate() with the same size; of host() and
    // device(i). Nothing uses it before, so that a queue has nothing to wait for. Without
    // room std::bad_alloc.
    void *allocate(std::ptrdiff_t bytes, stream_t stream = nullptr) const;
    void deallocate(void *memory, std::size_t bytes,
                    stream_t stream = nullptr) const;

    bool is_affine() const
    {
        return kind_ == detail::place_kind::affine;
    }
    bool is_device() const
    {
        return kind_ == detail::place_kind::device;
    }
    bool is_host() const
    {
        return kind_ == detail::place_kind::host;
    }
    bool is_managed() const
    {
        return kind_ == detail::place_kind::managed;
    }
    bool is_composite() const
    {
        return spread_ && spread_->executor;
    }
    bool is_replicated() const
    {
        return spread_ && !spread_->executor;
    }
    // Of a composite or replicated place, else NULL.
    const detail::spread *get_spread() const
    {
        return spread_;
    }
    int number() const
    {
        return number_;
    }
    friend bool operator==(const data_place &a, const data_place &b)
    {
        return a.kind_ == b.kind_ && a.number_ == b.number_ &&
               a.spread_ == b.spread_;
    }
    friend bool operator!=(const data_place &a, const data_place &b)
    {
        return !(a == b);
    }
    friend bool operator<(const data_place &a, const data_place &b)
    {
        return std::tie(a.kind_, a.number_, a.spread_) <
               std::tie(b.kind_, b.number_, b.spread_);
    }

  private:
    data_place(detail::place_kind kind, int number)
        : kind_(kind), number_(number)
    {
    }
    explicit data_place(const detail::spread *how)
        : kind_(detail::place_kind::grid), spread_(how)
    {
    }

    detail::place_kind kind_ = detail::place_kind::affine;
    int number_ = 0;
    const detail::spread *spread_ = nullptr;
};

} // namespace orrery::stf

template <> struct std::hash<orrery::stf::exec_place> {
    std::size_t operator()(const orrery::stf::exec_place &place) const
    {
        std::size_t sum = place.is_host()     ? 1
                          : place.is_device() ? 2
                          : place.is_any()    ? 3
                          : place.is_grid()   ? 4
                                              : 5;
        sum = sum * 31 + static_cast<std::size_t>(place.number());
        sum ^= std::hash<const void *>()(place.get_queue());
        for (std::size_t i = 0; place.is_grid() && i < place.size(); i++)
            sum = sum * 31 + (*this)(place.get_place(i));
        return sum;
    }
};
template <> struct std::hash<orrery::stf::data_place> {
    std::size_t operator()(const orrery::stf::data_place &place) const
    {
        return ((place.is_affine()   ? 1
                 : place.is_device() ? 2
                                     : 3) *
                    31u +
                static_cast<std::size_t>(place.number())) ^
               std::hash<const void *>()(place.get_spread());
    }
};
