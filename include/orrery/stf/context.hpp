// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/context.hpp - what a program submits tasks to. Its copies are the same context;
// any thread may submit.
#pragma once

#include <orrery/stf/allocators.hpp>
#include <orrery/stf/freeze.hpp>
#include <orrery/stf/launch.hpp>
#include <orrery/stf/parallel_for.hpp>

namespace orrery::stf
{

namespace detail
{

template <class T>
inline constexpr bool is_place = std::is_base_of_v<exec_place, std::decay_t<T>>;
// What x.read() returns, or the place before it, as task() has them.
template <class T>
inline constexpr bool is_of_task = is_place<T> || is_plain_use<std::decay_t<T>>;
template <class T>
inline constexpr bool is_refused =
    std::is_same_v<std::decay_t<T>, refused_call>;
// An error that was told, or is told now.
template <class... A> constexpr bool tell_of_uses()
{
    constexpr bool told = (is_refused<A> || ...);

    static_assert(told, "what a task uses is said as x.read(), x.write(), "
                        "x.rw(), behind the place if it has one; x.reduce(op) "
                        "is for parallel_for()");
    return told;
}
template <class S, class = void> struct is_shape : std::false_type {
};
template <class S>
struct is_shape<S, std::void_t<typename S::coords_t>> : std::true_type {
};
template <class S, class... D> constexpr bool fits_loop()
{
    constexpr bool shape = is_shape<S>::value, uses = (is_use<D> && ...);
    constexpr bool told = (is_refused<D> || ...) || is_refused<S>;

    static_assert(shape || told, "parallel_for() takes a shape before the "
                                 "data: x.shape(), box<2>({n, m})");
    static_assert(!shape || uses || told,
                  "what a parallel_for() uses is said as x.read(), x.write(), "
                  "x.rw(), x.reduce(op), behind the shape");
    return shape && uses;
}

// Whether data can be made of a value alone: of an array, of a container that stays where
// it is, of a view, of a shape.
template <class T, class = void> inline constexpr bool has_shape = false;
template <class T>
inline constexpr bool has_shape<
    T, std::void_t<decltype(shape_of<T>(std::declval<const T &>()))>> = true;
template <class T> inline constexpr bool is_data_shape = false;
template <class V> inline constexpr bool is_data_shape<shape_of<V>> = true;
template <class T, class = void> inline constexpr bool is_container = false;
template <class T>
inline constexpr bool
    is_container<T, std::void_t<decltype(std::declval<T>().data()),
                                decltype(std::declval<T>().size())>> = true;
template <class T>
inline constexpr bool
    makes_data = std::is_array_v<std::remove_reference_t<T>> ||
                 std::is_integral_v<T> || has_shape<std::decay_t<T>> ||
                 is_data_shape<std::decay_t<T>> ||
                 (is_container<T> && std::is_lvalue_reference_v<T>);

template <class T>
inline constexpr bool is_partitioner =
    std::is_base_of_v<partitioner_base, std::decay_t<T>>;

// The partitioner of a grid that has one, unless the program names another one.
template <class Place, class Cut, class = void> struct own_partitioner {
    using type = Cut;
};
template <class Place>
struct own_partitioner<Place, default_partition,
                       std::void_t<typename Place::partitioner>> {
    using type = std::conditional_t<
        std::is_same_v<typename Place::partitioner, null_partition>,
        default_partition, typename Place::partitioner>;
};
template <class Place, class Cut>
using partitioner_of = typename own_partitioner<Place, Cut>::type;

// What repeat() makes: the body, behind ->*, is called as long as it goes.
template <class Context, class Goes> struct rounds {
    template <class F> void operator->*(F &&f)
    {
        for (std::size_t i = 0; goes(i); i++)
            f(ctx, i);
    }
    Context ctx;
    Goes goes;
};

} // namespace detail

// A part of the program, a box in graphs, until the object ends or end() is called.
class dot_section
{
  public:
    explicit dot_section(detail::co_owned<detail::context_state> state,
                         const std::string &name)
        : state_(std::move(state))
    {
        if (state_->dot)
            orrery_drawing_begin_section(state_->dot->get(), name.c_str());
    }
    dot_section(dot_section &&) = default;
    ~dot_section()
    {
        end();
    }
    void end()
    {
        if (state_ && state_->dot)
            orrery_drawing_end_section(state_->dot->get());
        state_.reset();
    }

  private:
    detail::co_owned<detail::context_state> state_;
};

// The tasks of a context that were submitted before a fence(). Where a queue of a device is
// asked for, to be synchronized, they are waited for first.
class fence_queue
{
  public:
    explicit fence_queue(detail::co_owned<detail::context_state> state)
        : state_(std::move(state)), nepochs_(state_->next_epoch())
    {
    }
    // Whether all have ended.
    bool ready() const
    {
        return state_->are_over(nepochs_);
    }
    // Until all have ended; throws what a body has thrown.
    void wait() const
    {
        if (!ready() && starpu_task_get_current())
            detail::fail("a fence in a callback, where nothing may wait");
        state_->wait_for_epochs(nepochs_);
        state_->tell();
    }
    operator stream_t() const
    {
        wait();
        return nullptr;
    }

  private:
    detail::co_owned<detail::context_state> state_;
    std::size_t nepochs_;
};

// The runtime, which contexts share as long as the program lives: contexts after each
// other find it, its memory and its models as the one before has left them.
class async_resources_handle
{
};

class context
{
  public:
    // The first one starts the runtime, on the machine that ORRERY_MACHINE names, else
    // the real one.
    context() : state_(new detail::context_state)
    {
        detail::machine::get();
        if (detail::dot_graph::file())
            state_->dot =
                detail::owned<detail::dot_graph>(new detail::dot_graph);
        if (const block_allocator_untyped chosen = detail::chosen_allocator())
            set_allocator(chosen);
    }
    explicit context(const async_resources_handle &) : context()
    {
    }
    // Work that a caller's queue has before is not waited for.
    explicit context(stream_t, const async_resources_handle & = {}) : context()
    {
    }

    // --- data ---

    // Of an array; the program's memory is the data's until finalize().
    template <class T, std::size_t N>
    auto logical_data(T (&array)[N], data_place place = data_place::host())
    {
        return logical_data(flat(array), std::move(place));
    }
    template <class T>
    auto logical_data(T *array, std::size_t n,
                      data_place place = data_place::host())
    {
        return logical_data(make_slice(array, n), std::move(place));
    }
    // Of a std::vector, a std::array and their like, which must stay where they are.
    template <
        class C, class = std::void_t<decltype(std::declval<C &>().size())>,
        class T = std::remove_pointer_t<decltype(std::declval<C &>().data())>>
    auto logical_data(C &container, data_place place = data_place::host())
    {
        return logical_data(make_slice<T>(container.data(), container.size()),
                            std::move(place));
    }
    // Of a view: a slice, a scalar_view, a format of the program's own.
    template <class V, class = std::void_t<
                           decltype(shape_of<V>(std::declval<const V &>()))>>
    stf::logical_data<V> logical_data(const V &view,
                                      data_place place = data_place::host())
    {
        detail::require(!place.get_spread(),
                        "logical_data() of memory at a composite or replicated "
                        "place: that of a program is at one, host() or "
                        "device(i)");
        const int home = detail::machine::get().node_of(place, STARPU_MAIN_RAM);
        auto data = add<V>(shape_of<V>(view), home, &view);

        data->has_home = true;
        data->write_back = !detail::view_traits<V>::read_only;
        data->has_value = true;
        return stf::logical_data<V>(std::move(data));
    }
    // Of a shape: there is no value until a task has written one.
    template <class V>
    stf::logical_data<V> logical_data(const shape_of<V> &shape)
    {
        return stf::logical_data<V>(add<V>(shape, -1, nullptr));
    }
    // Of n... elements.
    template <class T, class... I,
              class = std::enable_if_t<(std::is_integral_v<I> && ...) &&
                                       sizeof...(I) != 0>>
    stf::logical_data<slice<T, sizeof...(I)>> logical_data(I... extents)
    {
        return logical_data(shape_of<slice<T, sizeof...(I)>>(extents...));
    }
    template <class X, class = std::enable_if_t<!detail::makes_data<X>>>
    detail::refused_call logical_data(X &&)
    {
        static_assert(detail::always_false<X>,
                      "logical_data() is made of an array, a pointer and a "
                      "count, a slice, a container that is a variable, a "
                      "shape, or a view with a data_format of its own");
        return {};
    }
    // Data without memory, which order the tasks that use them.
    stf::logical_data<void_interface> token()
    {
        auto data = add<void_interface>({}, -1, nullptr);

        data->has_value = true;
        return stf::logical_data<void_interface>(std::move(data));
    }
    stf::logical_data<void_interface> logical_token()
    {
        return token();
    }

    // --- tasks ---

    template <class... V>
    stream_task<V...> task(exec_place place, task_dep<V>... d)
    {
        return {state_, std::move(place), false, std::move(d)...};
    }
    template <class... V> stream_task<V...> task(task_dep<V>... d)
    {
        return {state_, exec_place(), false, std::move(d)...};
    }
    template <class... A,
              class = std::enable_if_t<!(detail::is_of_task<A> && ...)>>
    detail::refused_call task(A &&...)
    {
        (void)detail::tell_of_uses<A...>();
        return {};
    }
    // A task whose body owns what it needs: it captures by value. It runs when its
    // data are there, and the call does not wait for it.
    template <class... V>
    stream_task<V...> task_later(exec_place place, task_dep<V>... d)
    {
        return {state_, std::move(place), true, std::move(d)...};
    }
    template <class... V> stream_task<V...> task_later(task_dep<V>... d)
    {
        return {state_, exec_place(), true, std::move(d)...};
    }
    // A body that a processor executes when its data are there.
    template <class... V> host_launch_scope<V...> host_launch(task_dep<V>... d)
    {
        return {state_, exec_place::host(), std::move(d)...};
    }
    template <class... A, class = std::enable_if_t<
                              !(detail::is_plain_use<std::decay_t<A>> && ...)>>
    detail::refused_call host_launch(A &&...)
    {
        (void)detail::tell_of_uses<A...>();
        return {};
    }
#if ORR_STF_CUDA
    // A task whose body returns a cuda_kernel_desc, or a vector of them.
    template <class... V>
    cuda_kernel_scope<V...> cuda_kernel(exec_place place, task_dep<V>... d)
    {
        return cuda_kernel_scope<V...>(task(std::move(place), std::move(d)...));
    }
    template <class... V> cuda_kernel_scope<V...> cuda_kernel(task_dep<V>... d)
    {
        return cuda_kernel_scope<V...>(task(std::move(d)...));
    }
    template <class... A> auto cuda_kernel_chain(A... arguments)
    {
        return cuda_kernel(std::move(arguments)...);
    }
#endif
    // ([partitioner], [place], shape, data...): a body for each index.
    template <class First, class... Rest>
    auto parallel_for(First &&first, Rest &&...rest)
    {
        return loop<detail::one_place>(exec_place(), std::forward<First>(first),
                                       std::forward<Rest>(rest)...);
    }
    // ([hierarchy], [place], data...): a body for each thread.
    template <class... A> auto launch(A &&...arguments)
    {
        return launched(par(con()), exec_place(),
                        std::forward<A>(arguments)...);
    }

    // --- waiting ---

    // Waits for all tasks, and brings data to the program's memory. Once.
    void finalize()
    {
        state_->require_open();
        detail::settle(*state_);
        state_->finalize();
        state_->tell();
    }
    // Tasks start when they are submitted; the next ones are of another graph, if they
    // are of one.
    void submit()
    {
        state_->require_open();
        detail::settle(*state_);
        state_->end_stage();
    }
    // What is submitted so far, to be waited for. Does not wait itself.
    fence_queue fence()
    {
        state_->require_open();
        detail::settle(*state_);
        state_->end_stage();
        return fence_queue(state_);
    }
    fence_queue task_fence()
    {
        return fence();
    }
    // Waits for the value of the data, and returns it.
    template <class V> auto wait(const stf::logical_data<V> &data)
    {
        static_assert(detail::has_owner<V>::value ||
                          std::is_same_v<V, void_interface>,
                      "wait() returns one value: of a slice, use "
                      "host_launch(), or freeze() and get()");
        detail::require(data.is_set(), "wait() for data that no context has "
                                       "made");
        detail::settle(*state_);
        detail::hold_on_host hold(*state_, *data.get_datum());

        state_->end_stage();
        state_->tell();
        if constexpr (detail::has_owner<V>::value) {
            const V view = hold.template view<V>();
            typename owning_container_of<V>::type value =
                owning_container_of<V>::get(view);
            return value;
        }
    }
    // Tasks after it are of the next stage, which is a graph of its own in a graph_ctx.
    // Data order tasks, whatever their stage.
    void change_stage()
    {
        state_->require_open();
        detail::settle(*state_);
        state_->end_stage();
    }

    // The body gets the context and the number of the round.
    auto repeat(std::size_t n)
    {
        const auto goes = [n](std::size_t i) { return i < n; };
        return detail::rounds<context, decltype(goes)>{*this, goes};
    }
    template <class Condition,
              class = std::enable_if_t<std::is_invocable_r_v<bool, Condition>>>
    auto repeat(Condition condition)
    {
        auto goes = [condition](std::size_t) mutable { return condition(); };
        return detail::rounds<context, decltype(goes)>{*this, goes};
    }

    // --- data without tasks ---

    // The data as they are now, or from now on the program's to change (rw), until
    // unfreeze().
    template <class V>
    frozen_logical_data<V> freeze(const stf::logical_data<V> &data,
                                  access_mode mode = access_mode::read,
                                  data_place place = data_place::host())
    {
        return {state_, data.get_datum(), mode, place};
    }

    // --- memory ---

    // Where data that are made from now on get their memory from.
    void set_allocator(const block_allocator_untyped &allocator)
    {
        state_->require_open();
        state_->source = state_->source_of(allocator);
    }
    // Has its deinit() called by finalize(), after those attached later.
    void attach_allocator(const block_allocator_untyped &allocator)
    {
        state_->require_open();
        state_->attach(allocator);
    }
    template <class P, class = detail::allocator_pointer<P>>
    block_allocator_untyped attach_allocator(P allocator)
    {
        block_allocator_untyped one(std::move(allocator));
        attach_allocator(one);
        return one;
    }
    // Each allocation is one of the device's.
    block_allocator_untyped get_uncached_allocator() const
    {
        return detail::rooted::make(detail::way::uncached);
    }
    // What set_allocator() has said; else the runtime's, which keeps what data leave
    // for data of the same lengths.
    block_allocator_untyped get_default_allocator() const
    {
        return state_->source ? state_->source->allocator
                              : block_allocator_untyped();
    }

    // --- where, and what it is called ---

    // The place of tasks that name none.
    void push_affinity(exec_place place)
    {
        state_->affinity.push_back(std::move(place));
    }
    void pop_affinity()
    {
        detail::require(!state_->affinity.empty(),
                        "pop_affinity() without push_affinity()");
        state_->affinity.pop_back();
    }
    stf::dot_section dot_section(const std::string &name)
    {
        return stf::dot_section(state_, name);
    }
    async_resources_handle &async_resources() const
    {
        static async_resources_handle one;
        return one;
    }
    friend bool operator==(const context &a, const context &b)
    {
        return a.state_ == b.state_;
    }

  protected:
    const detail::co_owned<detail::context_state> &state() const
    {
        return state_;
    }

  private:
    template <class T, std::size_t N> static slice<T> flat(T (&array)[N])
    {
        return slice<T>(array, {N});
    }
    template <class T, std::size_t N, std::size_t M>
    static slice<T, 2> flat(T (&array)[N][M])
    {
        return slice<T, 2>(&array[0][0], {M, N});
    }
    template <class V>
    detail::co_owned<detail::typed_datum<V>> add(const shape_of<V> &shape,
                                                 int home, const V *view)
    {
        state_->require_open();
        detail::co_owned<detail::typed_datum<V>> data(
            new detail::typed_datum<V>(state_, shape));
        data->number = state_->count_data();
        detail::view_traits<V>::register_data(&data->handle, home, shape, view);
        if constexpr (!std::is_same_v<V, void_interface>)
            if (state_->source)
                data->take_memory_of(state_->source);
        return data;
    }

    // Takes places and partitioners off the front.
    template <class Part, class First, class... Rest>
    auto loop(exec_place place, First &&first, Rest &&...rest)
    {
        using Cut = std::conditional_t<std::is_same_v<Part, detail::one_place>,
                                       detail::default_partition, Part>;

        if constexpr (detail::is_place<First>)
            return loop<detail::partitioner_of<std::decay_t<First>, Cut>>(
                exec_place(first), std::forward<Rest>(rest)...);
        else if constexpr (detail::is_partitioner<First>)
            return loop<std::decay_t<First>>(std::move(place),
                                             std::forward<Rest>(rest)...);
        else if constexpr (detail::fits_loop<std::decay_t<First>, Rest...>())
            return parallel_for_scope<Part, std::decay_t<First>,
                                      std::decay_t<Rest>...>(
                state_, std::move(place), first, std::forward<Rest>(rest)...);
        else
            return detail::refused_call();
    }
    // Takes the place and the hierarchy off the front.
    template <class Spec, class First, class... Rest>
    auto launched(Spec spec, exec_place place, First &&first, Rest &&...rest)
    {
        if constexpr (detail::is_place<First>)
            return launched(spec, exec_place(first),
                            std::forward<Rest>(rest)...);
        else if constexpr (detail::is_level<First>::value)
            return launched(first, std::move(place),
                            std::forward<Rest>(rest)...);
        else if constexpr (detail::is_use<First> &&
                           (detail::is_use<Rest> && ...))
            return launch_scope<Spec, std::decay_t<First>,
                                std::decay_t<Rest>...>(
                state_, std::move(place), spec, first,
                std::forward<Rest>(rest)...);
        else {
            (void)detail::tell_of_uses<First, Rest...>();
            return detail::refused_call();
        }
    }
    template <class Spec> auto launched(Spec spec, exec_place place)
    {
        return launch_scope<Spec>(state_, std::move(place), spec);
    }

    detail::co_owned<detail::context_state> state_;
};

// In CUDASTF these differ in how they order work; here the runtime does.
class stream_ctx : public context
{
  public:
    using context::context;
};
// Tasks of a stage are a graph: it is launched by the first one, which takes the
// submitting thread some time, simulated as well (ORRERY_STF_GRAPH_LAUNCH), and ends at
// change_stage(), and where the program waits.
class graph_ctx : public context
{
  public:
    graph_ctx()
    {
        make_graphs();
    }
    explicit graph_ctx(const async_resources_handle &handle) : context(handle)
    {
        make_graphs();
    }
    explicit graph_ctx(stream_t stream,
                       const async_resources_handle &handle = {})
        : context(stream, handle)
    {
        make_graphs();
    }

  private:
    void make_graphs()
    {
        state()->graphs = true;
        state()->end_stage();
    }
};

} // namespace orrery::stf
