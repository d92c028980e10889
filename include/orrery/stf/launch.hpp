// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/launch.hpp - a body for each thread of a hierarchy: loops, or threads that take
// turns, on processors; blocks and threads on devices.
#pragma once

#include <orrery/stf/parallel_for.hpp>
#include <orrery/stf/team.hpp>

namespace orrery::stf
{

template <class Spec, std::size_t First, std::size_t Whole>
ORR_STF_HD void thread_hierarchy<Spec, First, Whole>::sync(std::size_t i) const
{
#if ORR_STF_ON_DEVICE
    detail::device_sync(place_, First + i);
#else
    if (!is_synchronizable(i))
        detail::fail("sync() of a par() level: its threads do not wait for "
                     "each other; make it con()");
    detail::team_sync(team_, First + i);
#endif
}

namespace detail
{

// Widths where the program leaves them open: on processors there is no use for many.
inline constexpr std::size_t host_groups = 64, host_threads = 32;

// The levels of a specification, one after the other.
template <std::size_t D> struct flat_levels {
    std::size_t width[D], bytes[D];
    hw_scope scope[D];
    bool sync[D];

    // The outermost level whose threads wait for each other; D: there is none.
    std::size_t first_sync() const
    {
        for (std::size_t i = 0; i < D; i++)
            if (sync[i])
                return i;
        return D;
    }
    std::size_t threads(std::size_t from, std::size_t behind) const
    {
        std::size_t n = 1;
        for (std::size_t i = from; i < behind; i++)
            n *= width[i];
        return n;
    }
    // The level from which on threads are those of a block of a device: the first one
    // that synchronizes; without one, the last.
    std::size_t block() const
    {
        const std::size_t first = first_sync();
        return first == D ? D - 1 : first;
    }
    void require_block() const;
};

// Whether a device can have it: groups that wait for each other are in one block.
template <std::size_t D> void flat_levels<D>::require_block() const
{
    const std::size_t outer = block(), n = threads(outer, D);

    if (n > 1024)
        fail_with("a group of %zu threads that wait for each other is larger "
                  "than a block of a device (1024): put a par() level around "
                  "it",
                  n);
    for (std::size_t i = 0; i < D; i++) {
        const std::size_t members = threads(i, D);
        if (bytes[i] && i < outer)
            fail("memory that several blocks of a device share: state mem() "
                 "at a con() level, or at one inside of it");
        if (sync[i] && members < n &&
            !(members <= 32 ? (members & (members - 1)) == 0
                            : members % 32 == 0 && n / members <= 15))
            fail_with(
                "groups of %zu threads inside of a block: take a power of "
                "two up to 32, or a multiple of 32, at most 15 of them",
                members);
    }
}

template <std::size_t I, std::size_t D, class L>
void flatten(flat_levels<D> &flat, const L &level)
{
    if constexpr (L::depth > 0) {
        flat.width[I] = level.width;
        flat.bytes[I] = level.bytes;
        flat.scope[I] = level.scope;
        flat.sync[I] = L::synchronizable;
        flatten<I + 1>(flat, level.inner);
    }
}

template <class Spec> flat_levels<Spec::depth> flat(const Spec &spec)
{
    flat_levels<Spec::depth> levels{};

    flatten<0>(levels, spec);
    for (std::size_t i = 1; i < Spec::depth; i++)
        if (levels.sync[i - 1] && !levels.sync[i])
            fail("a par() level inside of a con() one: the threads of a "
                 "group that wait for each other do so at each level inside");
    return levels;
}

// The part of a launch on one of several places: its share of the outermost level.
struct launch_part {
    std::size_t first = 0, behind = 0; // members of the outermost level
};

template <class Spec, class F, class... D> struct launch_body {
    static constexpr std::size_t depth = Spec::depth;
    using named_by = F;
    using levels_t = flat_levels<depth>;
    using hierarchy = thread_hierarchy<Spec, 0, depth>;
    static constexpr bool has_host =
        fits_host<F, hierarchy, typename D::view...>();
    static constexpr bool has_device = device_has<F>;
    static constexpr bool host_if_asked = false, shaped = true;
    // The groups of an outermost par() go to several processors.
    static constexpr bool shared = has_host && !Spec::synchronizable;
    static constexpr const char *kind = "launch";

    void on_host(void **buffers)
    {
        const int rank = starpu_combined_worker_get_rank();
        const int size = starpu_combined_worker_get_size();

        if constexpr (has_host)
            on_host(rank < 0 ? 0 : static_cast<std::size_t>(rank),
                    size < 1 ? 1 : static_cast<std::size_t>(size), buffers,
                    std::index_sequence_for<D...>{});
    }
    void on_device(void **buffers, stream_t queue)
    {
#if ORR_STF_CUDA
        if constexpr (has_device)
            cuda_launch<hierarchy, F, D...>(levels, part, f, buffers, queue);
#endif
        (void)buffers, (void)queue;
    }

    template <std::size_t... K>
    void on_host(std::size_t rank, std::size_t size, void **buffers,
                 std::index_sequence<K...>)
    {
        (void)buffers;
        const auto views =
            std::make_tuple(view_of<typename D::view>(buffers[K])...);
        const std::size_t outer = levels.first_sync();
        const std::size_t members = levels.threads(outer, depth);
        // Groups of independent threads, each a number of its own.
        const std::size_t per_member = outer ? levels.threads(1, outer) : 1;
        const std::size_t n = part.behind - part.first;
        const std::size_t from = (part.first + n * rank / size) * per_member;
        const std::size_t behind =
            (part.first + n * (rank + 1) / size) * per_member;
        memory common(levels);
        owned<thread_team> team;

        if (members > 1)
            team.reset(new thread_team(
                outer, std::vector<std::size_t>(levels.width + outer,
                                                levels.width + depth)));
        // An outermost con() is one group, whatever part of it is asked for.
        for (std::size_t group = outer ? from : 0; group < (outer ? behind : 1);
             group++)
            run_group(group, members, common, team.get(), views);
    }

  private:
    // What groups of each level share.
    class memory
    {
      public:
        explicit memory(const levels_t &levels) : levels_(levels)
        {
            for (std::size_t i = 0; i < depth; i++)
                of_level_[i].resize(levels.bytes[i] * groups(i));
        }
        // Of the group of that level that the thread is in.
        char *at(std::size_t i, const std::size_t *ranks)
        {
            std::size_t group = 0;
            for (std::size_t k = 0; k < i; k++)
                group = group * levels_.width[k] + ranks[k];
            return of_level_[i].data() + group * levels_.bytes[i];
        }

      private:
        std::size_t groups(std::size_t i) const
        {
            return levels_.threads(0, i);
        }
        const levels_t &levels_;
        std::vector<char> of_level_[depth];
    };

    template <class Views>
    void run_group(std::size_t group, std::size_t members, memory &common,
                   thread_team *team, const Views &views)
    {
        auto run = [&](std::size_t member) {
            thread_place<depth> place;
            std::size_t number = group * members + member;

            for (std::size_t i = depth; i-- > 0;) {
                place.width[i] = levels.width[i];
                place.scope[i] = levels.scope[i];
                place.bytes[i] = levels.bytes[i];
                place.rank[i] = number % levels.width[i];
                number /= levels.width[i];
            }
            for (std::size_t i = 0; i < depth; i++)
                place.storage[i] = common.at(i, place.rank);
            const hierarchy th(place, team);
            std::apply([&](const auto &...view) { f(th, view...); }, views);
        };
        if (team)
            team->execute(run);
        else
            run(0);
    }

  public:
    levels_t levels;
    launch_part part;
    F f;
};

} // namespace detail

// A body for each thread; it is copied, and runs when the data are there.
template <class Spec, class... D>
class launch_scope : public detail::described<launch_scope<Spec, D...>,
                                              detail::construct<D...>>
{
    using base =
        detail::described<launch_scope<Spec, D...>, detail::construct<D...>>;

  public:
    launch_scope(detail::co_owned<detail::context_state> state,
                 exec_place place, Spec spec, D... deps)
        : base(std::move(state), std::move(place), std::move(deps)...),
          levels_(detail::flat(spec))
    {
        static_assert(!(detail::is_reduction<D> || ...),
                      "reduce() is for parallel_for(): a launch() adds up by "
                      "itself, in rw() data");
    }

    template <class F> void operator->*(F &&f)
    {
        using B = std::decay_t<F>;
        using host_asks = detail::host_may_ask<B>;
        using with = detail::call_with<thread_hierarchy<Spec, 0, Spec::depth>,
                                       typename D::view...>;
        constexpr detail::fit fit = detail::opaque<B>
                                        ? detail::fit::yes
                                        : with::template fit_of<host_asks>();

        static_assert(fit != detail::fit::no,
                      "the body of launch() takes a thread hierarchy "
                      "(auto), then a view for each data");
        static_assert(!detail::refers<host_asks>,
                      "the body of launch() captures references, and runs when "
                      "nobody knows whether they are still there: capture by "
                      "value (ORR_STF_TRUST_CAPTURES, defined, allows it)");
        if constexpr (fit == detail::fit::yes)
            run(std::forward<F>(f));
    }

  private:
    template <class F> void run(F &&f)
    {
        const exec_place place = this->request_.place;
        const std::size_t n = place.size();

        set_widths(place, detail::device_has<std::decay_t<F>>);
        if (goes_to_device<std::decay_t<F>>(place))
            levels_.require_block();
        const std::size_t outer = levels_.width[0];
        if (Spec::synchronizable && n > 1)
            detail::fail("a launch() on several places whose outermost level "
                         "is con(): threads of two devices cannot wait for "
                         "each other; put a par() level around it");
        for (std::size_t i = 0; i < n; i++) {
            this->request_.place = place.get_place(i);
            submit({outer * i / n, outer * (i + 1) / n}, f, i > 0);
        }
        this->request_.place = place;
    }
    // Whether it is certain that a device, or what stands for one, gets it.
    template <class F> bool goes_to_device(const exec_place &place) const
    {
        const detail::machine &m = detail::machine::get();
        exec_place first = place.get_place(0);

        if (first.is_current() && !this->state_->affinity.empty())
            first = this->state_->affinity.back();
        return !m.places_any && (detail::device_has<F> || m.simulated) &&
               (first.is_device() || (first.is_current() && m.ndevices() > 0));
    }
    // Those that the program leaves open.
    void set_widths(const exec_place &place, bool device)
    {
        const bool host = place.is_host() || !device;

        for (std::size_t i = 0; i < Spec::depth; i++) {
            if (levels_.width[i])
                continue;
            if (levels_.sync[i])
                levels_.width[i] = host ? detail::host_threads : 256;
            else
                levels_.width[i] =
                    (host ? detail::host_groups : 128) * place.size();
        }
    }
    template <class F>
    void submit(detail::launch_part part, const F &f, bool later_part)
    {
        constexpr std::size_t n = base::N;
        using B = detail::launch_body<Spec, F, D...>;
        detail::use uses[n + 1];

        this->fill(uses);
        for (std::size_t i = 0; later_part && i < n; i++)
            uses[i].mode = detail::of_later_part(uses[i].mode);
        this->request_.indices =
            levels_.threads(1, Spec::depth) * (part.behind - part.first);
        this->request_.gang = B::shared && detail::machine::get().gang >= 0;
        detail::submit_body(*this->state_, this->request_, uses, n,
                            B{levels_, part, f});
    }

    detail::flat_levels<Spec::depth> levels_;
};

} // namespace orrery::stf
