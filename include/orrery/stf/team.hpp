// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/team.hpp - the threads of a launch() on a processor. Those that can wait for each
// other have stacks of their own and take turns on one thread of the system: the order
// is always the same.
#pragma once

#include <ucontext.h>

#include <exception>
#include <vector>

#include <orrery/stf/hierarchy.hpp>

namespace orrery::stf::detail
{

class thread_team
{
  public:
    // `widths` of the levels from the first synchronizable one, number `first`, on.
    thread_team(std::size_t first, std::vector<std::size_t> widths)
        : first_(first), widths_(std::move(widths))
    {
        for (const std::size_t width : widths_)
            n_ *= width;
        if (n_ > most)
            fail_with("a group of %zu threads that wait for each other, on a "
                      "processor: at most %zu; put a par() level around it",
                      n_, std::size_t{most});
        threads_.resize(n_);
        waits_.resize(widths_.size());
        stacks_ = new char[n_ * stack_bytes];
    }

    thread_team(const thread_team &) = delete;
    thread_team &operator=(const thread_team &) = delete;
    ~thread_team()
    {
        delete[] stacks_;
    }

    // Calls run(rank) for each rank, as threads.
    template <class F> void execute(F &run)
    {
        call_ = [](void *f, std::size_t rank) { (*static_cast<F *>(f))(rank); };
        function_ = &run;
        for (std::size_t k = 0; k < waits_.size(); k++)
            waits_[k].assign(groups(k), {});
        for (std::size_t i = 0; i < n_; i++)
            prepare(i);
        take_turns();
        if (thrown_)
            std::rethrow_exception(std::exchange(thrown_, nullptr));
    }
    void sync(std::size_t level)
    {
        if (level < first_)
            fail("sync() of a par() level: its threads do not wait for each "
                 "other; make it con()");
        const std::size_t k = level - first_, members = n_ / groups(k);
        wait &mine = waits_[k][current_ / members];
        const std::size_t round = mine.round;

        moved_ = true;
        if (++mine.arrived == members) {
            mine.arrived = 0;
            mine.round++;
            return;
        }
        while (mine.round == round)
            swapcontext(&threads_[current_].context, &main_);
        moved_ = true;
    }

  private:
    static constexpr std::size_t most = 16384, stack_bytes = 65536;

    struct thread {
        ucontext_t context;
        bool ended;
    };
    struct wait {
        std::size_t arrived = 0, round = 0;
    };

    // How many groups level k has.
    std::size_t groups(std::size_t k) const
    {
        std::size_t n = 1;
        for (std::size_t i = 0; i < k; i++)
            n *= widths_[i];
        return n;
    }
    void prepare(std::size_t i)
    {
        thread &t = threads_[i];
        const auto self = reinterpret_cast<std::uintptr_t>(this);

        t.ended = false;
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = stacks_ + i * stack_bytes;
        t.context.uc_stack.ss_size = stack_bytes;
        t.context.uc_link = &main_;
        makecontext(&t.context, reinterpret_cast<void (*)()>(begin), 2,
                    static_cast<unsigned>(self >> 32),
                    static_cast<unsigned>(self));
    }
    static void begin(unsigned high, unsigned low)
    {
        auto *team = reinterpret_cast<thread_team *>(
            static_cast<std::uintptr_t>(high) << 32 | low);

        try {
            team->call_(team->function_, team->current_);
        } catch (...) {
            team->thrown_ = std::current_exception();
        }
        team->threads_[team->current_].ended = true;
        team->moved_ = true;
    }
    void take_turns()
    {
        for (std::size_t left = n_; left > 0 && !thrown_;) {
            moved_ = false;
            for (std::size_t i = 0; i < n_ && !thrown_; i++) {
                if (threads_[i].ended)
                    continue;
                current_ = i;
                swapcontext(&main_, &threads_[i].context);
                left -= threads_[i].ended;
            }
            if (!moved_)
                fail("threads of a launch() wait in sync() for others of their "
                     "group that have returned: all have to call it");
        }
    }

    const std::size_t first_;
    const std::vector<std::size_t> widths_;
    std::size_t n_ = 1, current_ = 0;
    bool moved_ = false;
    void (*call_)(void *, std::size_t) = nullptr;
    void *function_ = nullptr;
    std::exception_ptr thrown_;
    ucontext_t main_{};
    std::vector<thread> threads_;
    std::vector<std::vector<wait>> waits_; // of each level, of its groups
    char *stacks_ = nullptr;
};

inline void team_sync(thread_team *team, std::size_t level)
{
    if (team)
        team->sync(level);
}

} // namespace orrery::stf::detail
