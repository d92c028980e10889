// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/datum.hpp - a piece of data without its type, and the context that it belongs
// to. Any thread.
#pragma once

#include <atomic>
#include <exception>
#include <string>
#include <typeinfo>
#include <vector>

#include <orrery/stf/allocator.hpp>
#include <orrery/stf/dot.hpp>
#include <orrery/stf/interface.hpp>
#include <orrery/stf/machine.hpp>
#include <orrery/stf/owner.hpp>

namespace orrery::stf
{

enum class access_mode {
    none = 0,
    read = 1,
    write = 2, // all of it, without reading
    rw = 3,
    relaxed = 4,        // as rw, but neighbours of that mode in any order
    reduce = 9,         // the value becomes the sum of contributions
    reduce_no_init = 16 // they are added to the value
};

namespace detail
{

struct datum;
class recorder;

// What becomes of tasks while they are recorded.
enum class recording_of {
    rounds, // they are submitted, with bodies of their own, and once more each round
    launches, // they are submitted when the scope is launched, not before
    copies, // they are submitted as ever; what can be copied may be launched again
    later, // they are submitted at the scope's end, or when something has to be before
};

// How tasks come to devices: one by one, or as a graph, which the first task of a stage
// launches.
enum class stage { streams, to_launch, launched };

// The tasks between two fences, counted until they have ended, and 1 until the second
// fence.
class epoch
{
  public:
    explicit epoch(std::size_t nbefore = 0) : number(nbefore)
    {
        starpu_sem_init(&over_, 0, 0);
    }
    epoch(const epoch &) = delete;
    epoch &operator=(const epoch &) = delete;
    ~epoch()
    {
        starpu_sem_destroy(&over_);
    }
    void begin()
    {
        left_.fetch_add(1, std::memory_order_relaxed);
    }
    void end()
    {
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            starpu_sem_post(&over_);
    }
    // None is under way, while the epoch goes on.
    bool empty() const
    {
        return left_.load(std::memory_order_acquire) == 1;
    }
    bool over() const
    {
        return left_.load(std::memory_order_acquire) == 0;
    }
    void wait()
    {
        starpu_sem_wait(&over_);
        starpu_sem_post(&over_); // whoever else waits
    }

    const std::size_t number; // of epochs before
    epoch *next = nullptr;

  private:
    std::atomic<std::size_t> left_{1};
    starpu_sem_t over_;
};

// What is common to the copies of a context, and outlives it as long as its data do.
struct context_state : has_owners {
    context_state() = default;
    context_state(const context_state &) = delete;
    context_state &operator=(const context_state &) = delete;
    ~context_state() override;

    void require_open() const
    {
        require(!finalized, "the context is finalized: make another one");
    }
    // Of a body that was run by a worker: told to the next call that waits.
    void keep(std::exception_ptr thrown)
    {
        const lock_guard guard(lock_);
        if (!failure)
            failure = std::move(thrown);
    }
    void tell()
    {
        std::exception_ptr thrown;
        {
            const lock_guard guard(lock_);
            std::swap(thrown, failure);
        }
        if (thrown)
            std::rethrow_exception(thrown);
    }
    void finalize();
    // --- fences ---
    epoch *present() const
    {
        return epoch_.load(std::memory_order_acquire);
    }
    // Ends the present epoch; returns how many there have been.
    std::size_t next_epoch()
    {
        const lock_guard guard(lock_);
        epoch *last = present();
        epoch_ = last->next = new epoch(last->number + 1);
        last->end();
        return last->next->number;
    }
    // The first epochs: whether all of their tasks have ended, or when they have.
    bool are_over(std::size_t n)
    {
        const lock_guard guard(lock_);
        while (oldest->number < n && oldest->over())
            oldest = oldest->next;
        return oldest->number >= n;
    }
    void wait_for_epochs(std::size_t n)
    {
        while (!are_over(n)) {
            epoch *under_way;
            {
                const lock_guard guard(lock_);
                under_way = oldest;
            }
            if (under_way->number < n)
                under_way->wait();
        }
    }
    // --- graphs ---
    // A graph is launched: that takes the submitting thread some time, simulated as well.
    void launch_graph()
    {
        now = stage::launched;
        orrery_graph_launch();
    }
    // What follows is of the next graph, if it is of one.
    void end_stage()
    {
        now = graphs || depth > 0 ? stage::to_launch : stage::streams;
    }
    // --- scopes ---
    void push_scope()
    {
        scopes.push_back(++nscopes);
        if (depth++ == 0)
            end_stage();
    }
    void pop_scope()
    {
        scopes.pop_back();
        if (--depth == 0)
            end_stage();
    }
    bool is_open(unsigned scope) const
    {
        for (const unsigned one : scopes)
            if (one == scope)
                return true;
        return false;
    }
    // Its deinit() is called when the context ends, after those of later ones.
    // What data ask that are to have memory of it is returned.
    ORR_STF_COLD block_source *attach(const block_allocator_untyped &one)
    {
        const lock_guard guard(lock_);
        for (block_source *known = sources; known; known = known->next)
            if (known->allocator == one)
                return known;
        return sources = new block_source(one, sources);
    }
    block_source *source_of(const block_allocator_untyped &one)
    {
        require(static_cast<bool>(one),
                "set_allocator() with a block_allocator that was made of "
                "nothing: make it of a context");
        return attach(one);
    }
    // No data have memory any more.
    ORR_STF_COLD void end_allocators()
    {
        backend_ctx_untyped ctx;

        for (block_source *one = sources; one; one = one->next)
            while (one->nblocks > 0) // a worker has not freed it yet
                orrery_usleep(1.);
        for (block_source *one = sources; one; one = one->next)
            one->allocator.deinit(ctx);
    }
    std::size_t count_data()
    {
        return ndata.fetch_add(1, std::memory_order_relaxed);
    }

    lock lock_;
    datum *first = nullptr;           // [lock_] data that live, linked
    std::vector<handle_t> orphans;    // [lock_] to be written back
    std::exception_ptr failure;       // [lock_]
    std::vector<exec_place> affinity; // the last one is the current place
    block_source *sources = nullptr;  // [lock_] attached, the last one first
    block_source *source = nullptr;   // of data to come; NULL: the runtime
    owned<dot_graph> dot;
    epoch first_epoch;            // the others follow
    epoch *oldest = &first_epoch; // [lock_] those before have ended
    std::atomic<epoch *> epoch_{&first_epoch}; // the last one
    std::atomic<std::size_t> ndata{0};         // made so far
    std::atomic<int> started{0};   // tasks between start() and end()
    recorder *recording = nullptr; // of the innermost scope that has one
    unsigned depth = 0;            // scopes that are open
    std::vector<unsigned> scopes;  // their numbers, from 1 on
    unsigned nscopes = 0;          // so far
    bool pending =
        false;           // a scope is between pop_prologue() and pop_epilogue()
    bool graphs = false; // a graph_ctx: stages are graphs
    stage now = stage::streams;
    bool again =
        false; // tasks of a graph that was launched before are submitted
    bool finalized = false;
};

// A partition into parts, and where each begins in the outermost dimension.
struct plan {
    const spread *how = nullptr; // of a composite place; NULL: even parts
    std::vector<handle_t> parts;
    std::vector<std::size_t> begin; // one more: the end
    std::vector<std::size_t> owner; // the number of its place in the grid
};

struct datum : has_owners {
    explicit datum(co_owned<context_state> context) : state(std::move(context))
    {
        const lock_guard guard(state->lock_);
        next = state->first;
        if (next)
            next->previous = &next;
        previous = &state->first;
        state->first = this;
    }
    datum(const datum &) = delete;
    datum &operator=(const datum &) = delete;
    // The last one that could use the data has gone; tasks may be under way.
    ~datum() override
    {
        const lock_guard guard(state->lock_);

        *previous = next;
        if (next)
            next->previous = previous;
        if (!handle) // finalized, or never registered
            return;
        if (!plans.empty())
            end_plans();
        if (has_home && write_back) {
            starpu_data_wont_use(handle);
            state->orphans.push_back(handle);
        } else {
            starpu_data_unregister_submit(handle);
        }
    }

    // The type of what read() gives of them.
    virtual const std::type_info &constant_view() const = 0;

    // Before the handle ends.
    ORR_STF_COLD void end_plans()
    {
        for (const auto &one : plans)
            starpu_data_partition_clean(
                handle, static_cast<unsigned>(one->parts.size()),
                one->parts.data());
        plans.clear();
    }
    ORR_STF_COLD std::string words() const
    {
        return symbol.empty() ? "data without a symbol" : "`" + symbol + "'";
    }

    // A call that cannot be done with them: why, and the remedy.
    [[noreturn]] ORR_STF_COLD void refuse(const char *why) const
    {
        fail_with("%s%s", words().c_str(), why);
    }

    co_owned<context_state> state;
    handle_t handle = nullptr;
    std::string symbol;
    std::size_t number = 0;             // in graphs
    std::atomic<bool> has_value{false}; // as far as tasks are submitted
    std::atomic<bool> used{false};      // by a task, or the program
    bool has_home = false;              // memory of the program's
    bool write_back = false;
    bool read_only = false;
    access_mode frozen = access_mode::none;
    unsigned scope = 0;  // that they live in; 0: the context
    unsigned pushed = 0; // the scope in which they are used in one mode alone
    access_mode pushed_mode = access_mode::none;
    const spread *copied =
        nullptr; // to the places of that, since it was written
    std::vector<owned<plan>> plans; // into different numbers of parts
    datum *next;
    datum **previous;
};

// Waits for all tasks; then the program's memory has the values, and data have none.
ORR_STF_COLD inline void context_state::finalize()
{
    for (datum *data = first; data; data = data->next)
        if (data->frozen != access_mode::none)
            data->refuse(" is frozen: unfreeze() it before finalize()");
    require(started == 0, "a task was started by start(), and has not ended: "
                          "end() it before finalize()");
    if (starpu_task_wait_for_all() == -EDEADLK)
        fail("finalize() in a callback, where nothing may wait");
    for (datum *data = first; data; data = data->next) {
        if (!data->handle)
            continue; // it could not be registered
        data->end_plans();
        if (data->write_back)
            starpu_data_unregister(data->handle);
        else
            starpu_data_unregister_no_coherency(data->handle);
        data->handle = nullptr;
    }
    for (const handle_t handle : orphans)
        starpu_data_unregister(handle);
    orphans.clear();
    if (sources)
        end_allocators();
    finalized = true;
    if (dot)
        dot->write();
}

// Whoever forgets finalize() gets his values all the same, but learns of no failure.
ORR_STF_COLD inline context_state::~context_state()
{
    try {
        if (!finalized)
            finalize();
    } catch (const std::exception &) {
    }
    while (epoch *one = first_epoch.next) {
        first_epoch.next = one->next;
        delete one;
    }
    while (block_source *one = sources) {
        sources = one->next;
        delete one;
    }
}

} // namespace detail
} // namespace orrery::stf
