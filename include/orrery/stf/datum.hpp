// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/datum.hpp - a piece of data without its type, and the context that it belongs
// to. Any thread.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <orrery/stf/dot.hpp>
#include <orrery/stf/interface.hpp>
#include <orrery/stf/machine.hpp>

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

// What is common to the copies of a context, and outlives it as long as its data do.
struct context_state {
    context_state() = default;
    context_state(const context_state &) = delete;
    context_state &operator=(const context_state &) = delete;
    ~context_state();

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
    std::size_t count_data()
    {
        return ndata.fetch_add(1, std::memory_order_relaxed);
    }

    lock lock_;
    datum *first = nullptr;           // [lock_] data that live, linked
    std::vector<handle_t> orphans;    // [lock_] to be written back
    std::exception_ptr failure;       // [lock_]
    std::vector<exec_place> affinity; // the last one is the current place
    std::unique_ptr<dot_graph> dot;
    std::atomic<std::size_t> ndata{0}; // made so far
    std::atomic<int> started{0};       // tasks between start() and end()
    recorder *recording = nullptr;     // of the innermost loop scope
    unsigned depth = 0;                // scopes that are open
    bool finalized = false;
};

// A partition into parts, and where each begins in the outermost dimension.
struct plan {
    std::vector<handle_t> parts;
    std::vector<std::size_t> begin; // one more: the end
};

struct datum : std::enable_shared_from_this<datum> {
    explicit datum(std::shared_ptr<context_state> context)
        : state(std::move(context))
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
    virtual ~datum()
    {
        const lock_guard guard(state->lock_);

        *previous = next;
        if (next)
            next->previous = previous;
        if (!handle) // finalized, or never registered
            return;
        end_plans();
        if (has_home && write_back) {
            starpu_data_wont_use(handle);
            state->orphans.push_back(handle);
        } else {
            starpu_data_unregister_submit(handle);
        }
    }

    // Before the handle ends.
    void end_plans()
    {
        for (const auto &one : plans)
            starpu_data_partition_clean(
                handle, static_cast<unsigned>(one->parts.size()),
                one->parts.data());
        plans.clear();
    }
    std::string words() const
    {
        return symbol.empty() ? "data without a symbol" : "`" + symbol + "'";
    }

    std::shared_ptr<context_state> state;
    handle_t handle = nullptr;
    std::string symbol;
    std::size_t number = 0;             // in graphs
    std::atomic<bool> has_value{false}; // as far as tasks are submitted
    bool has_home = false;              // memory of the program's
    bool write_back = false;
    bool read_only = false;
    access_mode frozen = access_mode::none;
    std::vector<std::unique_ptr<plan>> plans; // into different numbers of parts
    datum *next;
    datum **previous;
};

// Waits for all tasks; then the program's memory has the values, and data have none.
inline void context_state::finalize()
{
    for (datum *data = first; data; data = data->next)
        if (data->frozen != access_mode::none)
            fail(data->words() + " is frozen: unfreeze() it before finalize()");
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
    finalized = true;
    if (dot)
        dot->write();
}

// Whoever forgets finalize() gets his values all the same, but learns of no failure.
inline context_state::~context_state()
{
    if (finalized)
        return;
    try {
        finalize();
    } catch (const std::exception &) {
    }
}

} // namespace detail
} // namespace orrery::stf
