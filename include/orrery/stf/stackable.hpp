// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/stackable.hpp - contexts inside of each other: scopes, and loops whose tasks are
// submitted again in each round, without the program doing so. Data of outer scopes are
// used inside as they are; the runtime orders all of it.
#pragma once

#include <orrery/stf/context.hpp>

namespace orrery::stf
{

// Data of a stackable context.
template <class V> class stackable_logical_data : public logical_data<V>
{
  public:
    stackable_logical_data() = default;
    stackable_logical_data(logical_data<V> data)
        : logical_data<V>(std::move(data))
    {
    }
    // The data will be used so in this scope, first at that place.
    void push(access_mode mode, data_place place = data_place::affine()) const
    {
        detail::datum &data = *this->get_datum();

        detail::check_use(*data.state, {&data, mode, place, nullptr}, false);
        detail::require(data.state->depth > 0,
                        "push() of data outside of a scope: push the context "
                        "before");
        if (!place.is_affine() && mode != access_mode::write)
            starpu_data_prefetch_on_node(
                data.handle,
                static_cast<unsigned>(detail::machine::get().node_of(place)),
                1);
    }
    // Tasks may only read() them from now on.
    void set_read_only() const
    {
        this->get_datum()->read_only = true;
    }
    stackable_logical_data &set_symbol(const std::string &symbol)
    {
        logical_data<V>::set_symbol(symbol);
        return *this;
    }
};

// A scope of a stackable context, from where it is made to its end.
class graph_scope_guard
{
  public:
    explicit graph_scope_guard(std::shared_ptr<detail::context_state> state)
        : state_(std::move(state))
    {
        state_->depth++;
    }
    graph_scope_guard(const graph_scope_guard &) = delete;
    graph_scope_guard &operator=(const graph_scope_guard &) = delete;
    ~graph_scope_guard()
    {
        state_->depth--;
    }

  private:
    std::shared_ptr<detail::context_state> state_;
};

namespace detail
{

// The tasks that are submitted while it lives, and again when `another` says so. What
// bodies refer to must outlive the scope.
class loop_scope
{
  public:
    explicit loop_scope(std::shared_ptr<context_state> state)
        : state_(std::move(state))
    {
        require(!state_->recording, "a loop scope inside of another one: the "
                                    "inner loop has to be one of the "
                                    "program's");
        state_->recording = &tasks_;
        state_->depth++;
    }
    loop_scope(const loop_scope &) = delete;
    loop_scope &operator=(const loop_scope &) = delete;
    ~loop_scope()
    {
        leave();
    }

  protected:
    // Of destructors, which do not throw: failures are told at finalize().
    template <class F> void run_rounds(F another) noexcept
    {
        leave();
        try {
            while (another())
                tasks_.submit_all(*state_);
            (void)starpu_task_wait_for_all();
        } catch (...) {
            state_->keep(std::current_exception());
        }
    }

    std::shared_ptr<context_state> state_;
    recorder tasks_;

  private:
    void leave()
    {
        if (state_->recording != &tasks_)
            return;
        state_->recording = nullptr;
        state_->depth--;
    }
};

// What update_cond() submits: writes what the condition returns.
template <class F> struct condition {
    template <class... V>
    ORR_STF_HD void operator()(std::size_t, scalar_view<int> out,
                               const V &...views)
    {
        *out = f(views...) ? 1 : 0;
    }
    F f;
};
template <class F> inline constexpr bool host_has<condition<F>> = host_has<F>;
template <class F>
inline constexpr bool device_has<condition<F>> = device_has<F>;
template <class F, class Out, class... D>
struct host_takes_index<condition<F>, std::tuple<std::size_t>, Out, D...>
    : std::bool_constant<fits_host<F, typename D::view...>()> {
};

} // namespace detail

// As many rounds as the program says.
class repeat_scope : detail::loop_scope
{
  public:
    repeat_scope(std::shared_ptr<detail::context_state> state, std::size_t n)
        : loop_scope(std::move(state)), left_(n)
    {
        detail::require(n > 0, "repeat_graph_scope(0): the tasks of the scope "
                               "have been submitted once at its end");
    }
    ~repeat_scope()
    {
        run_rounds([this] { return --left_ > 0; });
    }

  private:
    std::size_t left_;
};

// Rounds until the condition of update_cond() is false.
class while_scope : detail::loop_scope
{
  public:
    explicit while_scope(context ctx, std::shared_ptr<detail::context_state> s)
        : loop_scope(std::move(s)), ctx_(std::move(ctx)),
          goes_on_(ctx_.logical_data(shape_of<scalar_view<int>>()))
    {
        goes_on_.set_symbol("while");
    }
    ~while_scope()
    {
        run_rounds([this] {
            if (!goes_on_.get_datum()->has_value)
                detail::fail("a while_graph_scope() without update_cond(): "
                             "nothing says when it ends");
            // What skipped kernels would say is not known.
            if (!detail::machine::get().runs_bodies)
                return --assumed_ > 0;
            return ctx_.wait(goes_on_) != 0;
        });
    }
    // The body returns whether there is another round. At the end of the scope.
    template <class... D> auto update_cond(D... deps)
    {
        return condition_scope<D...>{
            ctx_.parallel_for(box<1>(1), goes_on_.write(), std::move(deps)...)};
    }
    // How many rounds there are where kernels are skipped: 1, unless this says so.
    void assume_rounds(std::size_t n)
    {
        detail::require(n > 0, "assume_rounds(0): there is one at least");
        assumed_ = n;
    }

  private:
    template <class... D> struct condition_scope {
        template <class F> void operator->*(F &&f)
        {
            scope.set_symbol("while")->*detail::condition<std::decay_t<F>>{
                                            std::forward<F>(f)};
        }
        parallel_for_scope<detail::default_partition, box<1>,
                           task_dep<scalar_view<int>>, D...>
            scope;
    };

    context ctx_;
    logical_data<scalar_view<int>> goes_on_;
    std::size_t assumed_ = 1;
};

class stackable_ctx : public context
{
  public:
    using context::context;

    template <class... A> auto logical_data(A &&...arguments)
    {
        return wrapped(context::logical_data(std::forward<A>(arguments)...));
    }
    template <class T, class... I> auto logical_data(I... extents)
    {
        return wrapped(context::logical_data<T>(extents...));
    }
    // Data that live in this scope.
    template <class V> auto logical_data_no_export(const shape_of<V> &shape)
    {
        return wrapped(context::logical_data(shape));
    }
    template <class T, class... I> auto logical_data_no_export(I... extents)
    {
        return wrapped(context::logical_data<T>(extents...));
    }
    auto token()
    {
        return wrapped(context::token());
    }

    void push()
    {
        state()->require_open();
        state()->depth++;
    }
    void pop()
    {
        detail::require(state()->depth > 0, "pop() without push()");
        state()->depth--;
    }
    graph_scope_guard graph_scope()
    {
        return graph_scope_guard(state());
    }
    repeat_scope repeat_graph_scope(std::size_t rounds)
    {
        return repeat_scope(state(), rounds);
    }
    while_scope while_graph_scope()
    {
        return while_scope(*this, state());
    }
    stream_t fence()
    {
        require_outermost("fence()");
        return context::fence();
    }
    template <class V> auto wait(const stf::logical_data<V> &data)
    {
        require_outermost("wait()");
        return context::wait(data);
    }
    void finalize()
    {
        require_outermost("finalize()");
        context::finalize();
    }

  private:
    template <class V>
    static stackable_logical_data<V> wrapped(stf::logical_data<V> data)
    {
        return stackable_logical_data<V>(std::move(data));
    }
    void require_outermost(const char *call) const
    {
        if (state()->depth > 0)
            detail::fail(std::string(call) +
                         " inside of a scope: pop() it before");
    }
};

} // namespace orrery::stf
