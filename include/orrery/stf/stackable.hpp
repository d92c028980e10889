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
    // The data will be used so in this scope, first at that place: of those pushed to
    // be read, tasks in it may only read() them.
    void push(access_mode mode, data_place place = data_place::affine()) const
    {
        detail::datum &data = *this->get_datum();

        detail::check_use(*data.state, {&data, mode, place, nullptr}, false);
        detail::require(data.state->depth > 0,
                        "push() of data outside of a scope: push the context "
                        "before");
        data.pushed = data.state->scopes.back();
        data.pushed_mode = mode;
        const int node = detail::machine::get().node_of(place, -1);
        // Tasks that write them may be submitted later.
        if (node >= 0 && mode != access_mode::write && !data.state->recording)
            starpu_data_prefetch_on_node(data.handle,
                                         static_cast<unsigned>(node), 1);
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
    explicit graph_scope_guard(detail::co_owned<detail::context_state> state)
        : state_(std::move(state))
    {
        state_->push_scope();
    }
    graph_scope_guard(const graph_scope_guard &) = delete;
    graph_scope_guard &operator=(const graph_scope_guard &) = delete;
    ~graph_scope_guard()
    {
        state_->pop_scope();
    }

  private:
    detail::co_owned<detail::context_state> state_;
};

namespace detail
{

// A loop whose rounds are not those of the program.
class looping : public has_owners
{
  public:
    // Before its first round.
    virtual void begin() = 0;
    // Whether there is another one.
    virtual bool goes_on() = 0;
};

// What the tasks of a scope are, in their order, and the scopes and loops in it: they are
// submitted once more in each round, or when the scope is launched. One thread at a time.
class recorded_tasks : public recorder
{
  public:
    // In the scope `outer`, or NULL. Inside of what is submitted later nothing is
    // submitted now; inside of what runs several times all does.
    recorded_tasks(recorded_tasks *outer, recording_of wanted)
        : recorder(outer && outer->mode_ != recording_of::copies ? outer->mode_
                                                                 : wanted),
          outer_(outer), begun_(outer && outer->mode_ == recording_of::later &&
                                        wanted == recording_of::later
                                    ? outer->begun_
                                    : begun_mode(wanted))
    {
    }
    recorded_tasks(const recorded_tasks &) = delete;
    recorded_tasks &operator=(const recorded_tasks &) = delete;
    ~recorded_tasks() override
    {
        for (const entry &one : tasks_)
            if (one.what.arg)
                one.what.type->drop(one.what.arg);
    }
    bool note(context_state &state, const job &j) override
    {
        // It runs now, and once.
        if (mode_ == recording_of::later && !j.type->copy)
            begin(state);
        const bool waits =
            mode_ == recording_of::launches || mode_ == recording_of::later;
        if (waits) {
            state.require_open();
            for (unsigned i = 0; i < j.nuses; i++) {
                check_use(state, j.uses[i], false);
                if (writes(j.uses[i].mode))
                    j.uses[i].data->has_value.store(true,
                                                    std::memory_order_relaxed);
            }
            (void)target(state, j);
        }
        add(j, mode_ != recording_of::copies);
        return waits;
    }
    void begin(context_state &state) override
    {
        if (mode_ != recording_of::later)
            return;
        if (outer_)
            outer_->begin(state);
        mode_ = begun_;
        // What a condition waits for is before scopes inside of this one.
        recorder *const innermost = std::exchange(state.recording, nullptr);
        try {
            submit_entries(state);
        } catch (...) {
            state.recording = innermost;
            throw;
        }
        state.recording = innermost;
    }
    // `must`: an error if the body cannot be copied. Else the scope is no longer one
    // that can be launched again.
    void add(const job &j, bool must)
    {
        entry one{j, {}, {}, nullptr, nullptr};

        for (unsigned i = 0; i < j.nuses; i++) {
            one.keep.push_back(co_owned<datum>(j.uses[i].data));
            one.uses.push_back(j.uses[i]);
        }
        if (!j.type->copy && must)
            fail("the body of `" + j.named->name +
                 "' is in a scope that runs it several times: what it captures "
                 "must be copyable");
        if (!j.type->copy) {
            cannot_repeat(j.named);
            return;
        }
        if (j.arg)
            one.what.arg = j.type->copy(j.arg);
        one.what.checked = true; // here, or when it was submitted
        tasks_.push_back(std::move(one));
    }
    void add_loop(co_owned<recorded_tasks> rounds, co_owned<looping> rule)
    {
        note_once(*rounds);
        tasks_.push_back({{}, {}, {}, std::move(rounds), std::move(rule)});
    }
    void add_scope(co_owned<recorded_tasks> tasks)
    {
        add_loop(std::move(tasks), nullptr);
    }
    void submit_all(context_state &state) const;
    // All rounds but the first, which the program has submitted.
    void submit_rounds(context_state &state, looping &rule) const
    {
        while (rule.goes_on())
            submit_all(state);
    }
    bool empty() const
    {
        return tasks_.empty();
    }
    void cannot_repeat(const symbol *task) override
    {
        once_ = task;
    }
    // A task that cannot be submitted again; NULL: all can.
    const symbol *once() const
    {
        return once_;
    }

  private:
    struct entry {
        job what; // with a body of its own; of loops not used
        std::vector<co_owned<datum>> keep;
        std::vector<use> uses;
        co_owned<recorded_tasks> rounds; // of a loop or scope, else NULL
        co_owned<looping> rule;          // of a loop
    };
    static recording_of begun_mode(recording_of wanted)
    {
        return wanted == recording_of::later ? recording_of::copies : wanted;
    }
    void note_once(const recorded_tasks &inside)
    {
        if (inside.once_)
            once_ = inside.once_;
    }
    void submit_entries(context_state &state) const;

    std::vector<entry> tasks_;
    recorded_tasks *outer_;
    const recording_of begun_; // the mode after begin()
    const symbol *once_ = nullptr;
};

inline void recorded_tasks::submit_all(context_state &state) const
{
    const bool outer = state.again;

    state.again = true;
    submit_entries(state);
    state.again = outer;
}
inline void recorded_tasks::submit_entries(context_state &state) const
{
    for (const entry &one : tasks_) {
        if (one.rounds && !one.rule) {
            one.rounds->submit_entries(state);
            continue;
        }
        if (one.rule) {
            one.rule->begin();
            one.rounds->submit_all(state);
            one.rounds->submit_rounds(state, *one.rule);
            continue;
        }
        job j = one.what;

        j.uses = one.uses.data();
        if (j.arg) {
            j.arg = j.type->copy(j.arg);
            j.owned = true;
        }
        try {
            submit(state, j);
        } catch (...) {
            if (j.arg)
                j.type->drop(j.arg);
            throw;
        }
    }
}

// A scope whose tasks are recorded, until leave(). Scopes end in the reverse order.
class recording_scope
{
  public:
    recording_scope(co_owned<context_state> state, recording_of mode)
        : state_(std::move(state)), outer_(state_->recording),
          tasks_(new recorded_tasks(outer(), mode))
    {
        state_->require_open();
        require(!state_->pending, "a scope while another one is between "
                                  "pop_prologue() and pop_epilogue()");
        state_->recording = tasks_.get();
        state_->push_scope();
    }
    recording_scope(const recording_scope &) = delete;
    recording_scope &operator=(const recording_scope &) = delete;
    ~recording_scope()
    {
        leave();
    }
    // Tasks after it are of the scope around.
    void leave()
    {
        if (left_)
            return;
        left_ = true;
        state_->recording = outer_;
        state_->pop_scope();
    }
    // Whether tasks of the scope around are not submitted now, nor are its own then.
    bool is_launched_later() const
    {
        return outer_ && (outer_->mode() == recording_of::launches ||
                          outer_->mode() == recording_of::later);
    }
    context_state &state() const
    {
        return *state_;
    }
    const co_owned<context_state> &shared_state() const
    {
        return state_;
    }
    recorded_tasks *outer() const
    {
        return static_cast<recorded_tasks *>(outer_);
    }
    const co_owned<recorded_tasks> &tasks() const
    {
        return tasks_;
    }

  private:
    co_owned<context_state> state_;
    recorder *outer_; // of the scope around
    co_owned<recorded_tasks> tasks_;
    bool left_ = false;
};

// The tasks that are submitted while it lives, and again as the rule says; those of
// loops inside of it, too. What bodies refer to must outlive the scope.
class loop_scope
{
  public:
    explicit loop_scope(co_owned<context_state> state)
        : scope_(std::move(state), recording_of::rounds)
    {
    }

  protected:
    // Of destructors, which do not throw: failures are told at finalize().
    void end(co_owned<looping> rule) noexcept
    {
        context_state &state = scope_.state();

        try {
            // A child of the graph around it.
            const stage now = state.now;
            scope_.leave();
            if (state.now == stage::to_launch)
                state.now = now;
            if (!scope_.is_launched_later()) {
                scope_.tasks()->submit_rounds(state, *rule);
                (void)starpu_task_wait_for_all();
            }
            if (scope_.outer())
                scope_.outer()->add_loop(scope_.tasks(), std::move(rule));
            if (state.depth == 0)
                state.end_stage();
        } catch (...) {
            state.keep(std::current_exception());
        }
    }

  private:
    recording_scope scope_;
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
    class counted : public detail::looping
    {
      public:
        explicit counted(std::size_t n) : n_(n), left_(n)
        {
        }
        void begin() override
        {
            left_ = n_;
        }
        bool goes_on() override
        {
            return --left_ > 0;
        }

      private:
        std::size_t n_, left_;
    };

  public:
    repeat_scope(detail::co_owned<detail::context_state> state, std::size_t n)
        : loop_scope(std::move(state)), rule_(new counted(n))
    {
        detail::require(n > 0, "repeat_graph_scope(0): the tasks of the scope "
                               "have been submitted once at its end");
    }
    ~repeat_scope()
    {
        end(rule_);
    }

  private:
    detail::co_owned<counted> rule_;
};

// Rounds until the condition of update_cond() is false.
class while_scope : detail::loop_scope
{
    class conditional : public detail::looping
    {
      public:
        explicit conditional(context ctx)
            : ctx_(std::move(ctx)),
              flag_(ctx_.logical_data(shape_of<scalar_view<int>>()))
        {
            flag_.set_symbol("while");
        }
        void begin() override
        {
            left_ = assumed;
        }
        bool goes_on() override
        {
            if (!flag_.get_datum()->has_value)
                detail::fail("a while_graph_scope() without update_cond(): "
                             "nothing says when it ends");
            // What skipped kernels would say is not known.
            if (!detail::machine::get().runs_bodies)
                return --left_ > 0;
            const detail::stage now = ctx_.get_stage();
            const bool again = ctx_.wait(flag_) != 0;
            ctx_.set_stage(now); // the graph goes on
            return again;
        }
        const logical_data<scalar_view<int>> &flag() const
        {
            return flag_;
        }
        context &ctx()
        {
            return ctx_;
        }
        void assume(std::size_t n)
        {
            assumed = left_ = n;
        }

      private:
        class staged : public context
        {
          public:
            explicit staged(context ctx) : context(std::move(ctx))
            {
            }
            detail::stage get_stage() const
            {
                return state()->now;
            }
            void set_stage(detail::stage now)
            {
                state()->now = now;
            }
        };

        staged ctx_;
        logical_data<scalar_view<int>> flag_;
        std::size_t assumed = 1, left_ = 1;
    };

  public:
    explicit while_scope(context ctx, detail::co_owned<detail::context_state> s)
        : loop_scope(std::move(s)), rule_(new conditional(std::move(ctx)))
    {
    }
    ~while_scope()
    {
        end(rule_);
    }
    // The body returns whether there is another round. At the end of the scope.
    template <class... D> auto update_cond(D... deps)
    {
        return condition_scope<D...>{rule_->ctx().parallel_for(
            box<1>(1), rule_->flag().write(), std::move(deps)...)};
    }
    // How many rounds there are where kernels are skipped: 1, unless this says so.
    void assume_rounds(std::size_t n)
    {
        detail::require(n > 0, "assume_rounds(0): there is one at least");
        rule_->assume(n);
    }

  private:
    template <class... D> struct condition_scope {
        template <class F> void operator->*(F &&f)
        {
            using B = std::decay_t<F>;
            using host_asks = detail::host_may_ask<B>;
            using with = detail::call_with<typename D::view...>;
            constexpr detail::fit fit =
                detail::opaque<B> ? detail::fit::yes
                                  : with::template fit_of<host_asks>();
            constexpr bool says_bool =
                detail::opaque<B> ||
                decltype(with::template ask_for<bool, host_asks>(
                    nullptr))::value;

            static_assert(fit == detail::fit::told || says_bool,
                          "the body of update_cond() takes a view for "
                          "each data, and returns a bool");
            if constexpr (says_bool)
                scope.set_symbol("while")->*detail::condition<std::decay_t<F>>{
                                                std::forward<F>(f)};
        }
        parallel_for_scope<detail::one_place, box<1>,
                           task_dep<scalar_view<int>>, D...>
            scope;
    };

    detail::co_owned<conditional> rule_;
};

// --- scopes that are launched ---

namespace detail
{

// What has been recorded of a scope, from pop_prologue() to pop_epilogue().
class popped_scope : public has_owners
{
  public:
    // `done`: its tasks have been submitted once, which was the first launch.
    popped_scope(co_owned<context_state> state, co_owned<recorded_tasks> tasks,
                 bool done)
        : state_(std::move(state)), tasks_(std::move(tasks)), done_(done)
    {
        state_->pending = true;
    }
    popped_scope(const popped_scope &) = delete;
    popped_scope &operator=(const popped_scope &) = delete;
    ~popped_scope() override
    {
        end();
    }
    void launch()
    {
        if (ended_)
            fail("launch() after pop_epilogue(): the scope has ended");
        if (done_) {
            done_ = false;
            return;
        }
        if (tasks_->once())
            fail("launch() of a scope with the task `" + tasks_->once()->name +
                 "', which cannot run again: what its body captures must be "
                 "copyable, and it must have a body");
        if (tasks_->empty())
            return;
        state_->now = stage::to_launch;
        tasks_->submit_all(*state_);
        state_->end_stage();
    }
    void end()
    {
        if (!ended_)
            state_->pending = false;
        ended_ = true;
    }
    bool ended() const
    {
        return ended_;
    }

  private:
    co_owned<context_state> state_;
    co_owned<recorded_tasks> tasks_;
    bool done_, ended_ = false;
};

} // namespace detail

// The tasks of a scope that was popped by pop_prologue(), to be launched any number of
// times before pop_epilogue(). Copies are the same.
class launchable_graph_handle
{
  public:
    launchable_graph_handle() = default;
    explicit launchable_graph_handle(
        detail::co_owned<detail::popped_scope> scope)
        : scope_(std::move(scope))
    {
    }
    void launch()
    {
        get().launch();
    }
    // The runtime orders launches, and nobody else's work.
    stream_t stream() const
    {
        (void)get();
        return nullptr;
    }
    // For launch_graph(), until the scope ends. A toolkit's cudaGraphLaunch() must not get
    // it: no CUDA graph is made.
    graph_exec_t exec() const
    {
        detail::popped_scope &scope = get();
#if ORR_STF_CUDA
        (void)scope;
        detail::fail("exec() of a launchable graph: no CUDA graph is made of "
                     "the tasks; launch() submits them");
#else
        return reinterpret_cast<graph_exec_t>(&scope);
#endif
    }
    void *graph() const
    {
        (void)get();
        detail::fail("graph() of a launchable graph: no CUDA graph is made of "
                     "the tasks; launch() submits them");
    }
    bool valid() const
    {
        return scope_ && !scope_->ended();
    }

  private:
    detail::popped_scope &get() const
    {
        detail::require(valid(), "a launchable graph whose scope has ended, "
                                 "or that pop_prologue() has not made");
        return *scope_;
    }

    detail::co_owned<detail::popped_scope> scope_;
};

// As launch() of the graph that exec() has returned.
inline void launch_graph(graph_exec_t exec)
{
    detail::require(exec != nullptr, "launch_graph() of nothing: give it what "
                                     "exec() returns");
    reinterpret_cast<detail::popped_scope *>(exec)->launch();
}

// The same; the scope ends with the last copy.
class launchable_graph
{
  public:
    launchable_graph() = default;
    explicit launchable_graph(detail::co_owned<detail::popped_scope> scope)
        : scope_(std::move(scope)), handle_(scope_)
    {
    }
    void launch()
    {
        handle_.launch();
    }
    stream_t stream() const
    {
        return handle_.stream();
    }
    graph_exec_t exec() const
    {
        return handle_.exec();
    }
    void *graph() const
    {
        return handle_.graph();
    }
    bool valid() const
    {
        return handle_.valid();
    }
    void reset()
    {
        *this = launchable_graph();
    }

  private:
    detail::co_owned<detail::popped_scope> scope_;
    launchable_graph_handle handle_;
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
    // Data that live in this scope: after its end they are used no more.
    template <class V> auto logical_data_no_export(const shape_of<V> &shape)
    {
        auto data = wrapped(context::logical_data(shape));

        detail::require(state()->depth > 0, "logical_data_no_export() outside "
                                            "of a scope: push() before");
        data.get_datum()->scope = state()->scopes.back();
        return data;
    }
    template <class T, class... I> auto logical_data_no_export(I... extents)
    {
        return logical_data_no_export(shape_of<slice<T, sizeof...(I)>>(
            static_cast<std::size_t>(extents)...));
    }
    auto token()
    {
        return wrapped(context::token());
    }

    // Tasks of a scope are a graph: one launch at its end, with those of scopes inside. But
    // where one must run at once, since its body refers to the program's variables, those
    // before it start, and those after it when they are submitted.
    void push()
    {
        open_->scopes.push_back(detail::owned<detail::recording_scope>(
            new detail::recording_scope(state(), detail::recording_of::later)));
    }
    void pop()
    {
        const detail::owned<detail::recording_scope> scope = popped("pop()");

        if (!scope->is_launched_later())
            scope->tasks()->begin(*state());
        scope->leave();
        if (scope->outer())
            scope->outer()->add_scope(scope->tasks());
    }
    // As pop(), but the tasks of the scope run when they are launched, which may be never,
    // once or more often, until pop_epilogue(). If some had to start before, that was the
    // first launch.
    launchable_graph_handle pop_prologue()
    {
        open_->prologue = to_launch("pop_prologue()");
        return launchable_graph_handle(open_->prologue);
    }
    void pop_epilogue()
    {
        detail::require(open_->prologue && !open_->prologue->ended(),
                        "pop_epilogue() without pop_prologue()");
        open_->prologue->end();
        open_->prologue.reset();
    }
    launchable_graph pop_prologue_shared()
    {
        return launchable_graph(to_launch("pop_prologue_shared()"));
    }
    graph_scope_guard graph_scope()
    {
        require_no_prologue("graph_scope()");
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
    fence_queue fence()
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
    friend class launchable_graph_scope;

    detail::owned<detail::recording_scope> popped(const char *call)
    {
        require_no_prologue(call);
        if (open_->scopes.empty())
            detail::fail(std::string(call) + " without push()");
        detail::owned<detail::recording_scope> scope =
            std::move(open_->scopes.back());
        open_->scopes.pop_back();
        return scope;
    }
    detail::co_owned<detail::popped_scope> to_launch(const char *call)
    {
        const detail::owned<detail::recording_scope> scope = popped(call);

        scope->leave();
        detail::settle(*state()); // launches are behind the scope around
        return detail::co_owned<detail::popped_scope>(new detail::popped_scope(
            state(), scope->tasks(),
            scope->tasks()->mode() != detail::recording_of::later));
    }
    void require_no_prologue(const char *call) const
    {
        if (state()->pending)
            detail::fail(std::string(call) + " between pop_prologue() and "
                                             "pop_epilogue()");
    }
    template <class V>
    static stackable_logical_data<V> wrapped(stf::logical_data<V> data)
    {
        return stackable_logical_data<V>(std::move(data));
    }
    void require_outermost(const char *call) const
    {
        require_no_prologue(call);
        if (state()->depth > 0)
            detail::fail(std::string(call) +
                         " inside of a scope: pop() it before");
    }

    // By push() and pop_prologue(); of all copies of the context.
    struct open : detail::has_owners {
        ~open() override
        {
            while (!scopes.empty())
                scopes.pop_back();
        }
        std::vector<detail::owned<detail::recording_scope>> scopes;
        detail::co_owned<detail::popped_scope> prologue;
    };
    detail::co_owned<open> open_{new open};
};

// A scope whose tasks run when it is launched, each time anew, and not before. What
// bodies refer to must outlive it.
class launchable_graph_scope
{
  public:
    explicit launchable_graph_scope(stackable_ctx &ctx)
        : scope_(new detail::recording_scope(ctx.state(),
                                             detail::recording_of::launches))
    {
    }
    // The first launch ends what belongs to the scope.
    void launch()
    {
        handle().launch();
    }
    stream_t stream()
    {
        return handle().stream();
    }
    graph_exec_t exec()
    {
        return handle().exec();
    }
    void *graph()
    {
        return handle().graph();
    }

  private:
    launchable_graph_handle &handle()
    {
        if (!handle_.valid()) {
            scope_->leave();
            handle_ = launchable_graph_handle(
                detail::co_owned<detail::popped_scope>(new detail::popped_scope(
                    scope_->shared_state(), scope_->tasks(), false)));
        }
        return handle_;
    }

    detail::owned<detail::recording_scope> scope_;
    launchable_graph_handle handle_;
};

} // namespace orrery::stf
