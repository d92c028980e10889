// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/task.hpp - tasks whose body puts work into a queue, with the views of their data
// as types (stream_task<V...>) or not (stream_task<>), and tasks that the host executes.
#pragma once

#include <tuple>

#include <orrery/stf/submit.hpp>

namespace orrery::stf
{

// Two bodies of one task: for processors, and for devices. Both get the same.
template <class H, class D> struct body_variants {
    H host;
    D device;
};
template <class H> struct body_on_host {
    template <class D> body_variants<H, D> on_device(D body) const
    {
        return {host, std::move(body)};
    }
    H host;
};
// Behind ->*: on_host(f).on_device(g), or on_host(f), which real devices do not get.
template <class H> body_on_host<H> on_host(H body)
{
    return {std::move(body)};
}

namespace detail
{

template <class T> struct is_variants : std::false_type {
    static constexpr bool for_devices = true;
};
template <class H, class D>
struct is_variants<body_variants<H, D>> : std::true_type {
    static constexpr bool for_devices = true;
};
template <class H> struct is_variants<body_on_host<H>> : std::true_type {
    static constexpr bool for_devices = false;
};

// --- calls with views ---

template <class V> std::tuple<V> unless_token(const V &view)
{
    return {view};
}
inline std::tuple<> unless_token(const void_interface &)
{
    return {};
}

template <class All> struct call_with_all;
template <class... A> struct call_with_all<std::tuple<A...>> : call_with<A...> {
};
// With the views of all data, or those of all that are no tokens; Lead: what comes first.
template <class Lead, class... V>
using with_all = call_with_all<decltype(std::tuple_cat(
    std::declval<Lead>(), std::declval<std::tuple<V...>>()))>;
template <class Lead, class... V>
using with_some = call_with_all<decltype(std::tuple_cat(
    std::declval<Lead>(), unless_token(std::declval<V>())...))>;

template <class F, class Lead, class... V> constexpr fit fit_of_views()
{
    using all = with_all<Lead, V...>;
    using some = with_some<Lead, V...>;
    constexpr bool accepts =
        all::template accepts<F>() || some::template accepts<F>();

    return decltype(all::template ask<F>(nullptr))::value ||
                   decltype(some::template ask<F>(nullptr))::value
               ? fit::yes
           : accepts ? fit::told
                     : fit::no;
}
template <fit what> constexpr bool fits_views()
{
    static_assert(what != fit::no,
                  "the body does not take what the task gives it: the queue "
                  "first (of a task), then for each data a view, slice<const "
                  "T> of what it read()s and slice<T> of what it writes; "
                  "tokens all or none");
    return what == fit::yes;
}
// The functions of a body.
template <class F> struct functions_of {
    using host = F;
    using device = F;
};
template <class H> struct functions_of<body_on_host<H>> {
    using host = H;
    using device = H;
};
template <class H, class D> struct functions_of<body_variants<H, D>> {
    using host = H;
    using device = D;
};

template <class F, class... L, class... V>
void call(F &f, const std::tuple<L...> &lead, const V &...views)
{
    if constexpr (with_all<std::tuple<L...>, V...>::template takes<F>)
        (void)std::apply([&](const L &...l) { f(l..., views...); }, lead);
    else
        (void)std::apply(f, std::tuple_cat(lead, unless_token(views)...));
}

template <class V> V view_of(void *buffer)
{
    return view_traits<std::remove_const_t<V>>::view(buffer);
}

// What the program can say of a task before its body. Base has the request; a call
// returns the whole, Self.
template <class Self, class Base> class described : public Base
{
  public:
    using Base::Base;

    // Its name in traces and messages, and that of its performance model.
    Self &set_symbol(const std::string &symbol)
    {
        this->request_.named = intern(symbol);
        return self();
    }
    // Larger is more urgent, for policies that look at it.
    Self &set_priority(int priority)
    {
        this->request_.priority = priority;
        return self();
    }
    // Its work, for reports and projections of models.
    Self &set_flops(double flops)
    {
        this->request_.flops = flops;
        return self();
    }

  private:
    Self &self()
    {
        return static_cast<Self &>(*this);
    }
};

// --- the body of a task ---

class task_core;

// F: the function, or a reference to the caller's, who waits then; `task`: his too.
template <class F, class... V> struct task_body {
    using named_by = std::decay_t<F>;
    static constexpr bool variants = is_variants<named_by>::value;
    static constexpr bool has_host = true;
    static constexpr bool has_device = is_variants<named_by>::for_devices;
    // A compiler of CUDA: the function most likely starts kernels.
    static constexpr bool host_if_asked = ORR_STF_CUDA && !variants;
    static constexpr bool shared = false, shaped = false;
    static constexpr const char *kind = "task";

    void on_host(void **buffers)
    {
        if constexpr (variants)
            run(f.host, nullptr, buffers);
        else
            run(f, nullptr, buffers);
    }
    void on_device(void **buffers, stream_t queue)
    {
        if constexpr (!has_device)
            (void)buffers, (void)queue;
        else if constexpr (variants)
            run(f.device, queue, buffers);
        else
            run(f, queue, buffers);
    }
    template <class G> void run(G &g, stream_t stream, void **buffers)
    {
        run(g, stream, buffers, std::index_sequence_for<V...>{});
    }
    template <class G, std::size_t... K>
    void run(G &g, stream_t stream, void **buffers, std::index_sequence<K...>);

    F f;
    task_core *task;
};

// What tasks have in common, whatever types their data have.
class task_core
{
  public:
    task_core(co_owned<context_state> state, exec_place place, bool later)
        : state_(std::move(state)), later_(later)
    {
        set_exec_place(std::move(place));
    }
    task_core(task_core &&) = default;
    task_core &operator=(task_core &&) = default;

    // The view of data number i, while the body runs, or between start() and end().
    template <class V> V get(std::size_t i) const
    {
        require(buffers_ != nullptr || !held_.empty(),
                "get() outside of the task: call it in the body, or between "
                "start() and end()");
        const datum *data = datum_of(i);
        using W = std::remove_const_t<V>;
        require(data != nullptr, "get(i) of data that the task does not use");
        if (data->constant_view() != typeid(typename view_traits<W>::constant))
            data->refuse(" has another view than get() asks for: name the "
                         "type that logical_data<...> has");
        return view_of<V>(buffers_ ? buffers_[i] : interface_of(i));
    }
    // The queue to put work into, while the body runs; else, and on processors, null. Of a
    // grid: that of its first place.
    stream_t get_stream() const
    {
        return stream_;
    }
    // That of place i of the grid: work in it begins when the data are there, and the
    // task ends when it has. Where the runtime has chosen the place, that of the task.
    stream_t get_stream(std::size_t i) const
    {
        const exec_place place = request_.place.get_place(i);
        const machine &m = machine::get();

        if (!sides_ || m.places_any)
            return stream_;
        const int worker = m.worker_of(place);
        return sides_->add(
            place.get_queue() ? place.get_queue() : queue_of(worker), worker);
    }
    stream_t get_stream(const pos4 &position) const
    {
        return get_stream(request_.place.get_dims().get_index(position));
    }
    // How the places of its grid are arranged; 1 of a single place.
    dim4 get_grid_dims() const
    {
        return request_.place.get_dims();
    }
    std::size_t grid_size() const
    {
        return request_.place.size();
    }
    // Makes the device of place i the current one, for calls that depend on it, while
    // the body runs.
    void activate(std::size_t i) const
    {
        const exec_place place = request_.place.get_place(i);
        const machine &m = machine::get();

        if (stream_ && !m.places_any)
            starpu_cuda_set_device(static_cast<unsigned>(
                starpu_worker_get_devid(m.worker_of(place))));
    }
    // That of the task is current again.
    void deactivate() const
    {
        activate(0);
    }
    const exec_place &get_exec_place() const
    {
        return request_.place;
    }
    void set_exec_place(exec_place place)
    {
        for (std::size_t i = 1; i < place.size(); i++)
            require(place.get_place(i).is_host() ==
                        place.get_place(0).is_host(),
                    "a task on a grid of processors and devices: name places "
                    "of one kind, or use parallel_for() or launch()");
        request_.place = std::move(place);
    }

    // Waits until the data are where the task is to run, and takes them.
    void start()
    {
        require(!started_, "start() of a task that was started before");
        state_->require_open();
        settle(*state_);
        require(!owns_bodies(), "start() of a task in a scope that submits its "
                                "tasks again: give it a body by ->*");
        const std::vector<use> all = uses();
        for (const use &u : all)
            check_use(*state_, u, true);
        if (state_->recording)
            runs_once();
        started_ = true;
        state_->started++;
        take(all);
    }
    // Waits for what was put into queues of devices, and gives the data back.
    void end()
    {
        require(started_ && !ended_,
                "end() of a task that was not started, or has ended");
        ended_ = true;
#if ORR_STF_CUDA && !ORR_STF_ON_DEVICE
        if (!machine::get().simulated && held_node() != STARPU_MAIN_RAM)
            cudaStreamSynchronize(nullptr);
#endif
        give_back();
    }

  protected:
    struct hold {
        datum *data;
        int node;
    };

    virtual std::vector<use> uses() const
    {
        std::vector<use> all;
        for (const task_dep_untyped &dep : more_)
            all.push_back({dep.data.get(), dep.mode, dep.place, nullptr});
        return all;
    }
    // Number i of uses(); NULL: there is none.
    virtual const datum *datum_of(std::size_t i) const
    {
        return i < more_.size() ? more_[i].data.get() : nullptr;
    }
    // Whoever forgets end() does not keep the data.
    virtual ~task_core()
    {
        if (state_ && started_ && !ended_)
            give_back();
    }
    void give_back()
    {
        for (const hold &h : held_)
            starpu_data_release_on_node(h.data->handle, h.node);
        held_.clear();
        state_->started--;
    }

    // One after the other in an order that all tasks have.
    void take(std::vector<use> all)
    {
        const int node = held_node();

        order_ = all;
        for (std::size_t i = 1; i < all.size(); i++)
            for (std::size_t k = i;
                 k > 0 && all[k].data->number < all[k - 1].data->number; k--)
                std::swap(all[k], all[k - 1]);
        for (std::size_t i = 0; i < all.size(); i++) {
            uint32_t mode = mode_of(all[i].mode) & STARPU_RW;
            for (; i + 1 < all.size() && all[i + 1].data == all[i].data; i++)
                mode |= mode_of(all[i + 1].mode) & STARPU_RW;
            const int at = machine::get().node_of(all[i].place, node);
            const int err = starpu_data_acquire_on_node(
                all[i].data->handle, at,
                static_cast<starpu_data_access_mode>(mode));
            if (err)
                fail(all[i].data->words() +
                     " cannot be had by a task: " + std::strerror(-err));
            held_.push_back({all[i].data, at});
            if (mode & STARPU_W)
                all[i].data->has_value = true;
        }
    }
    int held_node() const
    {
        const machine &m = machine::get();
        const exec_place place = request_.place.get_place(0);

        if (place.is_device())
            return static_cast<int>(m.at(place.number()).node);
        return place.is_current() && m.ndevices() && !m.places_any
                   ? static_cast<int>(m.at(0).node)
                   : STARPU_MAIN_RAM;
    }
    void *interface_of(std::size_t i) const
    {
        for (const hold &h : held_)
            if (h.data == order_[i].data)
                return starpu_data_get_interface_on_node(
                    h.data->handle, static_cast<unsigned>(h.node));
        fail("get(i) of data that were added after start()");
    }
    // The scope cannot be launched again.
    void runs_once()
    {
        state_->recording->cannot_repeat(request_.named ? request_.named
                                                        : intern("task"));
    }
    // Whether bodies are those of a scope that runs them later.
    bool owns_bodies() const
    {
        return state_->recording &&
               state_->recording->mode() != recording_of::copies;
    }
    void require_not_started() const
    {
        require(!started_, "the task was started by start(): its body is what "
                           "stands before end()");
    }

    co_owned<context_state> state_;
    request request_;
    std::vector<task_dep_untyped> more_; // of add_deps()
    bool later_, started_ = false, ended_ = false;

  private:
    template <class, class...> friend struct task_body;

    static stream_t queue_of(int worker)
    {
        return static_cast<stream_t>(orrery_worker_queue(worker));
    }
    // While the body runs.
    class call_of_body
    {
      public:
        call_of_body(task_core *task, stream_t stream, void **buffers)
            : task_(task)
        {
            if (!task)
                return;
            if (stream && task->grid_size() > 1)
                task->sides_.reset(new side_queues(*task->state_));
            task->buffers_ = buffers;
            task->stream_ = stream;
        }
        call_of_body(const call_of_body &) = delete;
        call_of_body &operator=(const call_of_body &) = delete;
        ~call_of_body()
        {
            if (!task_)
                return;
            task_->buffers_ = nullptr;
            task_->stream_ = nullptr;
            task_->sides_.reset();
        }

      private:
        task_core *task_;
    };

    owned<side_queues> sides_; // of the other places
    void **buffers_ = nullptr; // while the body runs
    stream_t stream_ = nullptr;
    std::vector<hold> held_;
    std::vector<use> order_;
};

template <class F, class... V>
template <class G, std::size_t... K>
void task_body<F, V...>::run(G &g, stream_t stream, void **buffers,
                             std::index_sequence<K...>)
{
    const task_core::call_of_body now(task, stream, buffers);

    call(g, std::tuple<stream_t>(stream), view_of<V>(buffers[K])...);
}

} // namespace detail

// A task of data whose views are V. Its body, behind ->*, puts work into the queue that
// it is given. It runs when the data are there; unless it has captured nothing, or the
// task was made by task_later(), ->* returns when it has run.
template <class... V>
class stream_task
    : public detail::described<stream_task<V...>, detail::task_core>
{
    static constexpr std::size_t N = sizeof...(V);
    using base = detail::described<stream_task<V...>, detail::task_core>;
    using base::later_, base::more_, base::request_, base::state_;

  public:
    stream_task(detail::co_owned<detail::context_state> state, exec_place place,
                bool later, task_dep<V>... deps)
        : base(std::move(state), std::move(place), later), deps_{std::move(
                                                               deps)...}
    {
    }

    // Further data, whose views get() has.
    template <class... D> stream_task &add_deps(D... deps)
    {
        (more_.push_back(std::move(deps)), ...);
        return *this;
    }

    template <class F> void operator->*(F &&f)
    {
        using B = std::decay_t<F>;

        using H = typename detail::functions_of<B>::host;
        using D = typename detail::functions_of<B>::device;
        using lead = std::tuple<stream_t>;
        constexpr detail::fit host = detail::fit_of_views<H, lead, V...>();
        constexpr detail::fit device = detail::fit_of_views<D, lead, V...>();

        this->require_not_started();
        if constexpr (detail::fits_views<host>() &&
                      detail::fits_views<device>()) {
            if (!later_ && !std::is_empty_v<B>)
                detail::settle(*state_);
            if (later_ || std::is_empty_v<B> || this->owns_bodies()) {
                submit(detail::task_body<B, V...>{std::forward<F>(f), nullptr},
                       false);
                return;
            }
            if (state_->recording) {
                if constexpr (std::is_copy_constructible_v<B>)
                    keep(detail::task_body<B, V...>{f, nullptr});
                else
                    this->runs_once();
            }
            submit(detail::task_body<F &, V...>{f, this}, true);
        }
    }

  private:
    template <class...> friend class stream_task;

    // What the scope submits again.
    template <class Body> void keep(Body body)
    {
        const std::vector<detail::use> all = uses();

        detail::record_body(*state_, request_, all.data(),
                            static_cast<unsigned>(all.size()), std::move(body));
    }
    template <class Body> void submit(Body body, bool wait)
    {
        detail::use few[N + 1];
        std::vector<detail::use> many;
        const detail::use *all = few;

        request_.wait = wait;
        for (std::size_t i = 0; i < N; i++)
            few[i] = {deps_[i].data.get(), deps_[i].mode, deps_[i].place,
                      nullptr};
        if (!more_.empty()) {
            many = uses();
            all = many.data();
        }
        detail::submit_body(*state_, request_, all,
                            static_cast<unsigned>(N + more_.size()),
                            std::move(body));
    }
    std::vector<detail::use> uses() const override
    {
        std::vector<detail::use> all;
        for (std::size_t i = 0; i < N; i++)
            all.push_back(
                {deps_[i].data.get(), deps_[i].mode, deps_[i].place, nullptr});
        for (const task_dep_untyped &dep : more_)
            all.push_back({dep.data.get(), dep.mode, dep.place, nullptr});
        return all;
    }

    const detail::datum *datum_of(std::size_t i) const override
    {
        return i < N ? deps_[i].data.get() : base::datum_of(i - N);
    }

    task_dep_untyped deps_[N];
};

// A task of data that are only known when the program runs: add_deps(), then start(),
// get<V>(i), get_stream(), end(); or a body that gets the queue alone.
template <>
class stream_task<> : public detail::described<stream_task<>, detail::task_core>
{
    using base = detail::described<stream_task<>, detail::task_core>;

  public:
    using base::base;

    // Forgets the types.
    template <class V, class... W>
    stream_task(stream_task<V, W...> &&typed)
        : base(typed.state_, typed.request_.place, typed.later_)
    {
        request_ = typed.request_;
        for (const task_dep_untyped &dep : typed.deps_)
            more_.push_back(dep);
        for (const task_dep_untyped &dep : typed.more_)
            more_.push_back(dep);
    }

    template <class... D> stream_task &add_deps(D... deps)
    {
        (more_.push_back(std::move(deps)), ...);
        return *this;
    }
    template <class F> void operator->*(F &&f)
    {
        using B = std::decay_t<F>;
        const std::vector<detail::use> all = uses();
        const auto n = static_cast<unsigned>(all.size());

        require_not_started();
        if (!later_ && !std::is_empty_v<B>)
            detail::settle(*state_);
        request_.wait = !later_ && !std::is_empty_v<B> && !owns_bodies();
        if (request_.wait && state_->recording) {
            if constexpr (std::is_copy_constructible_v<B>)
                detail::record_body(*state_, request_, all.data(), n,
                                    detail::task_body<B>{f, nullptr});
            else
                runs_once();
        }
        if (request_.wait)
            detail::submit_body(*state_, request_, all.data(), n,
                                detail::task_body<F &>{f, this});
        else
            detail::submit_body(
                *state_, request_, all.data(), n,
                detail::task_body<B>{std::forward<F>(f), nullptr});
    }
};

template <class... V> using graph_task = stream_task<V...>;
template <class... V> using unified_task = stream_task<V...>;

namespace detail
{

// --- what the host executes ---

template <class F, class... V> struct host_body {
    using named_by = F;
    static constexpr bool has_host = true, has_device = false;
    static constexpr bool host_if_asked = false, shared = false, shaped = false;
    static constexpr const char *kind = "host_launch";

    void on_host(void **buffers)
    {
        run(buffers, std::index_sequence_for<V...>{});
    }
    template <std::size_t... K>
    void run(void **buffers, std::index_sequence<K...>)
    {
        (void)buffers;
        call(f, std::tuple<>(), view_of<V>(buffers[K])...);
    }

    F f;
};

// Data of a construct.
template <class... D> class construct
{
  public:
    construct(co_owned<context_state> state, exec_place place, D... deps)
        : state_(std::move(state)), deps_(std::move(deps)...)
    {
        request_.place = std::move(place);
    }
    construct(construct &&) = default;

  protected:
    static constexpr std::size_t N = sizeof...(D);

    void fill(use *uses) const
    {
        fill(uses, std::index_sequence_for<D...>{});
    }
    template <std::size_t... K>
    void fill(use *uses, std::index_sequence<K...>) const
    {
        ((uses[K] = {std::get<K>(deps_).data.get(), std::get<K>(deps_).mode,
                     std::get<K>(deps_).place, nullptr}),
         ...);
    }

    co_owned<context_state> state_;
    request request_;
    std::tuple<D...> deps_;
};

} // namespace detail

// A body that is copied, and executed by a processor when its data are there.
template <class... V>
class host_launch_scope
    : public detail::described<host_launch_scope<V...>,
                               detail::construct<task_dep<V>...>>
{
    using base = detail::described<host_launch_scope<V...>,
                                   detail::construct<task_dep<V>...>>;

  public:
    using base::base;

    template <class F> void operator->*(F &&f)
    {
        using B = std::decay_t<F>;
        detail::use uses[sizeof...(V) + 1];

        static_assert(detail::host_has<B>,
                      "host_launch() takes a lambda that is not __device__");
        constexpr detail::fit fit =
            detail::fit_of_views<B, std::tuple<>, V...>();

        this->fill(uses);
        if constexpr (detail::fits_views<fit>())
            detail::submit_body(*this->state_, this->request_, uses,
                                sizeof...(V),
                                detail::host_body<B, V...>{std::forward<F>(f)});
    }
};

} // namespace orrery::stf
