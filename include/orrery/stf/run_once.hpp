// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/run_once.hpp - what a function has returned for its arguments is kept: data that
// several parts of a program need are computed once.
#pragma once

#include <sched.h>

#include <atomic>
#include <tuple>
#include <vector>

#include <orrery/stf/context.hpp>

namespace orrery::stf
{
namespace detail
{

// Arguments are compared by ==; these are hashed by what they refer to, others by
// std::hash.
template <class T> std::size_t hash_of(const T &value)
{
    return std::hash<T>{}(value);
}
template <class V> std::size_t hash_of(const logical_data<V> &data)
{
    return std::hash<const void *>{}(data.get_datum().get());
}
inline std::size_t hash_of(const context &)
{
    return 0;
}

// What one function has returned, by its arguments. Any thread.
template <class R, class... A> class memo
{
  public:
    // The call is made without a lock: the function may ask for other results of its own.
    template <class F> R get(const std::tuple<A...> &key, F &f)
    {
        entry &one = find(key);
        const auto self = pthread_self();

        while (!take(one)) {
            if (one.state == computing && pthread_equal(one.by, self))
                fail(
                    "a function that run_once() calls asks for its own result");
            if (one.state == known)
                return *one.result;
            sched_yield(); // another thread computes it
        }
        one.by = self;
        one.state = computing;
        try {
            one.result.reset(new R(std::apply(f, key)));
        } catch (...) {
            one.state = unknown;
            throw;
        }
        one.state = known;
        return *one.result;
    }

  private:
    enum state { unknown, taken, computing, known };
    struct entry {
        std::tuple<A...> key;
        std::size_t hash;
        owned<R> result;
        std::atomic<int> state{unknown};
        pthread_t by{};
        owned<entry> next;
    };

    static bool take(entry &one)
    {
        int expected = unknown;
        return one.state.compare_exchange_strong(expected, taken);
    }
    static std::size_t hash(const A &...a)
    {
        std::size_t h = 0;
        ((h = h * 1000003 + hash_of(a)), ...);
        return h;
    }
    entry &find(const std::tuple<A...> &key)
    {
        const std::size_t h = std::apply(hash, key);
        const lock_guard guard(lock_);

        if (n_ >= lists_.size())
            grow();
        owned<entry> *at = &lists_[h % lists_.size()];
        for (; *at; at = &(*at)->next)
            if ((*at)->hash == h && (*at)->key == key)
                return **at;
        at->reset(new entry{key, h, {}, {unknown}, {}, {}});
        n_++;
        return **at;
    }
    void grow()
    {
        std::vector<owned<entry>> old(lists_.size() * 2 + 16);

        old.swap(lists_);
        for (owned<entry> &list : old)
            while (list) {
                owned<entry> one = std::move(list);
                list = std::move(one->next);
                auto &to = lists_[one->hash % lists_.size()];
                one->next = std::move(to);
                to = std::move(one);
            }
    }

    lock lock_;
    std::vector<owned<entry>> lists_;
    std::size_t n_ = 0;
};

template <class... A> class once
{
  public:
    explicit once(A... arguments) : key_(std::move(arguments)...)
    {
    }
    // What f(arguments...) has returned when it was called first. Functions are told apart
    // by their types: what they capture may only be what does not change the result.
    template <class F> auto operator->*(F &&f)
    {
        using R = std::decay_t<std::invoke_result_t<F &, const A &...>>;
        static_assert(!std::is_void_v<R>,
                      "a function of run_once() returns its result");
        return memo_of<std::decay_t<F>, R>().get(key_, f);
    }

  private:
    template <class F, class R> static memo<R, A...> &memo_of()
    {
        static memo<R, A...> one;
        return one;
    }
    std::tuple<A...> key_;
};

} // namespace detail

// run_once(arguments...)->*f calls f(arguments...) once for arguments that are equal, and
// returns what it has returned, as long as the program lives. Data belong to a context:
// it is one of the arguments.
template <class... A> auto run_once(A... arguments)
{
    return detail::once<A...>(std::move(arguments)...);
}

} // namespace orrery::stf
