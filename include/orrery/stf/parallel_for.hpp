// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/parallel_for.hpp - a body for each index of a shape: loops on processors, which
// all of them share where there are many indices, a kernel on devices.
#pragma once

#include <atomic>

#include <orrery/stf/partition.hpp>
#include <orrery/stf/parts.hpp>
#include <orrery/stf/task.hpp>
#if ORR_STF_CUDA
#    include <orrery/stf/cuda.hpp>
#endif

namespace orrery::stf
{
namespace detail
{

// From so many indices on, processors share them: below, the meeting of the gang costs
// more than it saves.
inline constexpr std::size_t shared_from = 32768;

// --- what a body is called with ---

template <class D> struct argument;

// What one processor has contributed to a reduction.
template <class V, class Op> struct argument<task_dep<V, Op>> {
    using T = typename owning_container_of<V>::type;
    argument(void *, const part &)
    {
        Op::init_op(sum);
    }
    T &get()
    {
        return sum;
    }
    T sum;
};

template <class D> inline constexpr bool is_reduction = false;
template <class V, class Op>
inline constexpr bool is_reduction<task_dep<V, Op>> = !std::is_void_v<Op>;
template <class V>
inline constexpr bool is_reduction<task_dep<V, void>> = false;

// A view, by value.
template <class V> struct argument<task_dep<V, void>> {
    argument(void *buffer, const part &p) : view(part_view<V>(buffer, p))
    {
    }
    V &get()
    {
        return view;
    }
    V view;
};

// --- loops ---

// The first dimension innermost.
template <std::size_t D> struct nest {
    template <class S, class F, class... I>
    static inline void walk(const S &shape, F &at, I... outer)
    {
        const std::size_t behind = shape.end(D - 1);
        for (std::size_t i = shape.begin(D - 1); i < behind; i++)
            nest<D - 1>::walk(shape, at, i, outer...);
    }
};
template <> struct nest<0> {
    template <class S, class F, class... I>
    static inline void walk(const S &, F &at, I... index)
    {
        at(index...);
    }
};

// The part of rank `rank` of `size`.
template <std::size_t D>
box<D> share(const box<D> &whole, std::size_t rank, std::size_t size)
{
    box<D> part = whole;
    std::size_t cut = D - 1;

    for (std::size_t d = D; d-- > 0;)
        if (whole.extent(cut) < 4 * size && whole.extent(d) > whole.extent(cut))
            cut = d;
    const std::size_t n = whole.extent(cut), lo = whole.begin(cut);
    part.set(cut, lo + n * rank / size, lo + n * (rank + 1) / size);
    return part;
}

template <class S, class F>
void walk_share(const S &shape, std::size_t rank, std::size_t size, F at)
{
    if constexpr (has_bounds<S>::value) {
        const box<S::dimensions> &whole = shape;
        nest<S::dimensions>::walk(size > 1 ? share(whole, rank, size) : whole,
                                  at);
    } else {
        const std::size_t n = shape.size();
        for (std::size_t i = n * rank / size; i < n * (rank + 1) / size; i++)
            std::apply(at, shape.index_to_coords(i));
    }
}

// --- reductions over the processors of a gang ---

// One value for each rank, and how many ranks have not ended. Made by the first rank
// that comes to it.
template <class Values> class partials
{
  public:
    partials() = default;
    partials(const partials &) // before the task begins: there are none
    {
    }
    partials &operator=(const partials &) = delete;
    ~partials()
    {
        delete at_.load(std::memory_order_relaxed);
    }
    // NULL, unless the caller is the last one: then all values, by rank.
    std::vector<owned<Values>> *put(std::size_t rank, std::size_t size,
                                    const Values &values)
    {
        table &all = get(size);

        all.of_rank[rank].reset(new Values(values));
        return all.left.fetch_sub(1, std::memory_order_acq_rel) == 1
                   ? &all.of_rank
                   : nullptr;
    }

  private:
    struct table {
        explicit table(std::size_t n) : of_rank(n), left(n)
        {
        }
        std::vector<owned<Values>> of_rank;
        std::atomic<std::size_t> left;
    };
    table &get(std::size_t size)
    {
        table *known = at_.load(std::memory_order_acquire);

        if (known)
            return *known;
        auto *made = new table(size);
        if (at_.compare_exchange_strong(known, made, std::memory_order_acq_rel))
            return *made;
        delete made;
        return *known;
    }

    std::atomic<table *> at_{nullptr};
};

// The value of the data before anything is added to it.
template <class D> void begin_sum(access_mode mode, void *buffer)
{
    if constexpr (is_reduction<D>) {
        using V = typename D::view;
        const V view = view_of<V>(buffer);

        if (mode == access_mode::reduce)
            D::reducer::init_op(owning_container_of<V>::get(view));
    }
    (void)mode, (void)buffer;
}
template <class D> void add_up(void *buffer, argument<D> &one)
{
    if constexpr (is_reduction<D>) {
        using V = typename D::view;
        const V view = view_of<V>(buffer);

        D::reducer::apply_op(owning_container_of<V>::get(view), one.get());
    }
    (void)buffer, (void)one;
}

// --- the body ---

// The coordinates, then what it is given of the data.
template <class Coordinates, class... D> struct with_index;
template <class... C, class... D>
struct with_index<std::tuple<C...>, D...>
    : call_with<C..., decltype(std::declval<argument<D> &>().get())...> {
};
template <class F, class Coordinates, class... D> struct host_takes_index;
template <class F, class... C, class... D>
struct host_takes_index<F, std::tuple<C...>, D...>
    : std::bool_constant<fits_host<
          F, C..., decltype(std::declval<argument<D> &>().get())...>()> {
};

// D: a task_dep for each of the data.
template <class S, class F, class... D> struct for_body {
    using named_by = F;
    static constexpr bool has_host =
        host_takes_index<F, typename S::coords_t, D...>::value;
    static constexpr bool has_device = device_has<F>;
    static constexpr bool host_if_asked = false;
    static constexpr bool reduces = (is_reduction<D> || ...);
    static constexpr bool shared = has_host, shaped = true;
    static constexpr const char *kind = "parallel_for";
    using arguments = std::tuple<argument<D>...>;
    using all = std::index_sequence_for<D...>;

    void on_host(void **buffers)
    {
        const int rank = starpu_combined_worker_get_rank();
        const int size = starpu_combined_worker_get_size();

        if constexpr (has_host)
            on_host(buffers, rank < 0 ? 0 : static_cast<std::size_t>(rank),
                    size < 1 ? 1 : static_cast<std::size_t>(size), all{});
    }
    void on_device(void **buffers, stream_t queue)
    {
#if ORR_STF_CUDA
        if constexpr (has_device)
            cuda_for<S, F, D...>(shape, f, modes, parts, buffers, queue);
#endif
        (void)buffers, (void)queue;
    }

    template <std::size_t... K>
    void on_host(void **buffers, std::size_t rank, std::size_t size,
                 std::index_sequence<K...>)
    {
        arguments mine{argument<D>(buffers[K], parts[K])...};

        sweep(mine, rank, size);
        if constexpr (reduces) {
            if (size == 1) {
                (begin_sum<D>(modes[K], buffers[K]), ...);
                (add_up<D>(buffers[K], std::get<K>(mine)), ...);
            } else if (auto *ranks = sums.put(rank, size, mine)) {
                // The order of the ranks, whoever ends last.
                (begin_sum<D>(modes[K], buffers[K]), ...);
                for (auto &one : *ranks)
                    (add_up<D>(buffers[K], std::get<K>(*one)), ...);
            }
        }
        (void)buffers;
    }
    // A function of its own: what is used in the loops is in registers there, and would
    // not be if it had to outlive the calls that follow.
    __attribute__((noinline)) void sweep(arguments &mine, std::size_t rank,
                                         std::size_t size)
    {
        loop(mine, rank, size);
    }
    // Each of the data becomes a variable of its own.
    template <class... Bound>
    inline void loop(arguments &mine, std::size_t rank, std::size_t size,
                     Bound &...bound)
    {
        constexpr std::size_t k = sizeof...(Bound);

        if constexpr (k < sizeof...(D)) {
            auto here = std::get<k>(mine).get();
            loop(mine, rank, size, bound..., here);
            std::get<k>(mine).get() = here;
        } else {
            F function(f);
            (void)mine;
            walk_share(shape, rank, size,
                       [&](auto... index) { function(index..., bound...); });
        }
    }

    S shape;
    F f;
    access_mode modes[sizeof...(D) + 1];
    part parts[sizeof...(D) + 1];
    struct no_sums {
    };
    std::conditional_t<reduces, partials<arguments>, no_sums> sums;
};

// The shape as bodies are compiled for it: of data with their bounds, a box.
template <class S> decltype(auto) plain(const S &shape)
{
    if constexpr (has_bounds<S>::value)
        return static_cast<const box<S::dimensions> &>(shape);
    else
        return static_cast<const S &>(shape);
}

// A partitioner where the program names none.
struct default_partition : blocked_partition {
};
// Where it names no place either: there is nothing to cut, and no code for it.
struct one_place : default_partition {
};

template <class P, class = void> struct has_executor : std::false_type {
};
template <class P>
struct has_executor<P, std::void_t<decltype(&P::get_executor)>>
    : std::true_type {
};

template <class Part, class S>
auto part_of(const S &shape, std::size_t i, dim4 grid)
{
    const pos4 at = grid.get_position(i);

    return Part::apply(plain(shape), at, grid);
}

// Of data that are used as a whole the places of a grid have their turns one after the
// other, each with the value that the one before has left.
inline access_mode of_later_part(access_mode mode)
{
    return mode == access_mode::write    ? access_mode::rw
           : mode == access_mode::reduce ? access_mode::reduce_no_init
                                         : mode;
}

} // namespace detail

// A body for each index of a shape; it is copied, and runs when the data are there.
template <class Part, class S, class... D>
class parallel_for_scope
    : public detail::described<parallel_for_scope<Part, S, D...>,
                               detail::construct<D...>>
{
    using base = detail::described<parallel_for_scope<Part, S, D...>,
                                   detail::construct<D...>>;

  public:
    parallel_for_scope(detail::co_owned<detail::context_state> state,
                       exec_place place, S shape, D... deps)
        : base(std::move(state), std::move(place), std::move(deps)...),
          shape_(std::move(shape))
    {
    }

    template <class F> void operator->*(F &&f)
    {
        using B = std::decay_t<F>;
        using with = detail::with_index<typename S::coords_t, D...>;
        using host_asks = detail::host_may_ask<B>;
        constexpr detail::fit fit = detail::opaque<B>
                                        ? detail::fit::yes
                                        : with::template fit_of<host_asks>();
        constexpr bool copyable = std::is_copy_constructible_v<B>;

        static_assert(fit != detail::fit::no,
                      "the body of parallel_for() takes an index (size_t) for "
                      "each dimension of the shape, then for each data a view, "
                      "and T& for what it reduce()s");
        static_assert(copyable, "the body of parallel_for() is copied to each "
                                "processor and device: what it captures must "
                                "be copyable");
        static_assert(!detail::refers<host_asks>,
                      "the body of parallel_for() captures references, and "
                      "runs when nobody knows whether they are still there: "
                      "capture by value (ORR_STF_TRUST_CAPTURES, defined, "
                      "allows it)");
        if constexpr (fit == detail::fit::yes && copyable)
            run(std::forward<F>(f));
    }

  private:
    template <class F> void run(F &&f)
    {
        if constexpr (!std::is_same_v<Part, detail::one_place>)
            if (this->request_.place.is_grid()) {
                run_on_grid(f);
                return;
            }
        submit(detail::plain(shape_), std::forward<F>(f), false, 0);
    }
    template <class F> void run_on_grid(const F &f)
    {
        const exec_place place = this->request_.place;

        on_grid_ = true;
        if (any_in_parts(std::index_sequence_for<D...>{}))
            run_in_parts(place, f, std::index_sequence_for<D...>{});
        else
            run_in_turn(place, f);
        this->request_.place = place;
    }
    template <class F> void run_in_turn(const exec_place &place, const F &f)
    {
        if constexpr (detail::has_bounds<S>::value ||
                      !std::is_same_v<Part, detail::default_partition>) {
            for (std::size_t i = 0; i < place.size(); i++) {
                this->request_.place = place.get_place(i);
                submit(detail::part_of<Part>(shape_, i, place.get_dims()), f,
                       i > 0, i);
            }
        } else {
            detail::fail("a shape of your own on a grid of places: name a "
                         "partitioner whose apply() cuts it");
        }
    }

    // --- each place has its part of some data ---

    // What is written at a composite place, too.
    static bool is_in_parts(const task_dep_untyped &dep)
    {
        return dep.in_parts_ ||
               (dep.place.is_composite() && detail::writes(dep.mode));
    }
    template <std::size_t... K>
    bool any_in_parts(std::index_sequence<K...>) const
    {
        return (is_in_parts(std::get<K>(this->deps_)) || ...);
    }
    // The partitioner that the program names must cut as the data lie.
    static void require_same_cut(const exec_place &place,
                                 const detail::spread *how)
    {
        constexpr bool any = std::is_same_v<Part, detail::default_partition>;
        bool same = any;

        if constexpr (!any && detail::has_executor<Part>::value)
            same = detail::executor_of<Part> == how->executor;
        detail::require(same, "data at a composite place and the partitioner "
                              "of parallel_for() are cut differently: leave "
                              "the latter out, or name it for both");
        detail::require(how->grid == place,
                        "data at a composite place are on another grid than "
                        "the parallel_for(): it runs where the data are");
    }
    // The plan of data number K. How long they are in the last dimension; 0: they are
    // not in parts.
    template <std::size_t K> std::size_t plan(const exec_place &place)
    {
        auto &dep = std::get<K>(this->deps_);
        using V = typename std::decay_t<decltype(dep)>::view;

        if (!is_in_parts(dep))
            return 0;
        const detail::spread *how =
            dep.place.is_composite() ? dep.place.get_spread() : nullptr;
        if (how)
            require_same_cut(place, how);
        else
            detail::require(std::is_base_of_v<blocked_partition, Part>,
                            "in_parts() is for the blocked_partition; for "
                            "others name data_place::composite()");
        if constexpr (detail::can_be_cut<V>) {
            detail::check_use(
                *this->state_,
                {dep.data.get(), dep.mode, data_place::affine(), nullptr},
                false);
            plans_[K] = &detail::plan_of<V>(*dep.data, place.size(), how);
        } else {
            detail::fail("in_parts(), and composite places, are for slices of "
                         "up to three dimensions");
        }
        return plans_[K]->begin.back();
    }
    template <class F, std::size_t... K>
    void run_in_parts(const exec_place &place, const F &f,
                      std::index_sequence<K...>)
    {
        if constexpr (!detail::has_bounds<S>::value) {
            detail::fail("in_parts(), and composite places, are for shapes "
                         "with bounds");
        } else {
            constexpr std::size_t outer = S::dimensions - 1;
            box<S::dimensions> mine = detail::plain(shape_);
            const std::size_t n = mine.end(outer);

            detail::require(mine.begin(outer) == 0 && n >= place.size(),
                            "in_parts(), and composite places, are for shapes "
                            "whose last dimension begins at 0 and has an index "
                            "for each place");
            for (const std::size_t length : {n, plan<K>(place)...})
                detail::require(length == 0 || length == n,
                                "data in parts are as long in their last "
                                "dimension as the shape");
            const detail::plan &cut = the_cut();
            for (std::size_t i = 0; i < cut.owner.size(); i++) {
                mine.set(outer, cut.begin[i], cut.begin[i + 1]);
                this->request_.place = place.get_place(cut.owner[i]);
                submit(mine, f, i > 0, i);
            }
        }
    }
    // All data in parts are cut at the same indices.
    const detail::plan &the_cut() const
    {
        const detail::plan *any = nullptr;

        for (const detail::plan *one : plans_) {
            detail::require(!any || !one || any->begin == one->begin,
                            "data in parts that are cut at different indices: "
                            "name the same place for all");
            any = one ? one : any;
        }
        return *any;
    }

    template <class Shape, class F>
    void submit(const Shape &shape, F &&f, bool later_part, std::size_t number)
    {
        constexpr std::size_t n = base::N;
        using B = detail::for_body<Shape, std::decay_t<F>, D...>;
        detail::use uses[n + 1];
        B body{shape, std::forward<F>(f), {}, {}, {}};

        this->fill(uses);
        for (std::size_t i = 0; i < n; i++) {
            if (on_grid_ && uses[i].place.is_composite())
                uses[i].place = data_place::affine();
            if (const detail::plan *cut = plans_[i]) {
                uses[i].part = cut->parts[number];
                body.parts[i] = {cut->begin[number], cut->begin.back()};
            } else if (later_part) {
                uses[i].mode = detail::of_later_part(uses[i].mode);
            }
            body.modes[i] = uses[i].mode;
        }
        this->request_.indices = shape.size();
        this->request_.gang = B::shared && detail::machine::get().gang >= 0 &&
                              this->request_.indices >= detail::shared_from;
        detail::submit_body(*this->state_, this->request_, uses, n,
                            std::move(body));
    }

    S shape_;
    const detail::plan *plans_[sizeof...(D) + 1] = {}; // NULL: not in parts
    bool on_grid_ = false;
};

} // namespace orrery::stf
