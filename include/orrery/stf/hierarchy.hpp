// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/hierarchy.hpp - how the threads of a launch() are arranged: groups within groups,
// independent of each other (par) or able to wait for each other (con).
#pragma once

#include <cstddef>
#include <string>

#include <orrery/stf/error.hpp>
#include <orrery/stf/shape.hpp>

namespace orrery::stf
{

// What part of a machine a level may span.
enum class hw_scope : unsigned {
    none = 0,
    thread = 1,
    block = 2,
    device = 4,
    all = 15
};
constexpr hw_scope operator|(hw_scope a, hw_scope b)
{
    return static_cast<hw_scope>(static_cast<unsigned>(a) |
                                 static_cast<unsigned>(b));
}

// Bytes that the members of a group share.
struct mem {
    explicit constexpr mem(std::size_t n) : bytes(n)
    {
    }
    std::size_t bytes;
};

namespace detail
{

struct no_level {
    static constexpr std::size_t depth = 0;
};

// One level: `Static` threads or groups, 0: as many as `width` says, 0 there: as many
// as suit.
template <bool Sync, std::size_t Static, class Inner> struct level {
    static constexpr bool is_level = true;
    static constexpr bool synchronizable = Sync;
    static constexpr std::size_t static_width = Static;
    static constexpr std::size_t depth = 1 + Inner::depth;
    using inner_type = Inner;

    std::size_t width = Static;
    hw_scope scope = hw_scope::all;
    std::size_t bytes = 0;
    Inner inner{};
};

template <class T, class = void> struct is_level : std::false_type {
};
template <class T>
struct is_level<T, std::void_t<decltype(std::decay_t<T>::is_level)>>
    : std::true_type {
};

template <class... A> struct inner_of {
    using type = no_level;
};
template <class A, class... Rest> struct inner_of<A, Rest...> {
    using type = std::conditional_t<is_level<A>::value, std::decay_t<A>,
                                    typename inner_of<Rest...>::type>;
};

template <class L, class A> void set(L &made, const A &argument)
{
    if constexpr (is_level<A>::value) {
        made.inner = argument;
    } else if constexpr (std::is_same_v<A, hw_scope>) {
        made.scope = argument;
    } else if constexpr (std::is_same_v<A, mem>) {
        made.bytes = argument.bytes;
    } else {
        static_assert(std::is_integral_v<A>,
                      "par() and con() take a width, a hw_scope, mem(bytes), "
                      "and a level inside");
        const auto width = static_cast<std::size_t>(argument);
        require(width > 0, "a level of 0 threads: name at least one");
        require(!L::static_width || L::static_width == width,
                "the width of a level is stated twice, and differs");
        made.width = width;
    }
}

template <bool Sync, std::size_t Static, class... A>
auto make_level(const A &...arguments)
{
    level<Sync, Static, typename inner_of<A...>::type> made;
    (set(made, arguments), ...);
    return made;
}

} // namespace detail

// par(128), par<128>(), par(128, con<32>()), con(256, mem(64), hw_scope::block) …
template <std::size_t Static = 0, class... A> auto par(const A &...arguments)
{
    return detail::make_level<false, Static>(arguments...);
}
template <std::size_t Static = 0, class... A> auto con(const A &...arguments)
{
    return detail::make_level<true, Static>(arguments...);
}

// The thread, and how many there are.
class thread_info
{
  public:
    ORR_STF_HD thread_info(std::size_t id, std::size_t n) : id_(id), n_(n)
    {
    }
    ORR_STF_HD std::size_t thread_id() const
    {
        return id_;
    }
    ORR_STF_HD std::size_t get_num_threads() const
    {
        return n_;
    }

  private:
    std::size_t id_, n_;
};

namespace detail
{

// The indices first, first + step … of a shape, as range-based loops have them.
template <class S> class every
{
  public:
    class iterator
    {
      public:
        ORR_STF_HD iterator(const S *shape, std::size_t at, std::size_t step)
            : shape_(shape), at_(at), step_(step)
        {
        }
        ORR_STF_HD auto operator*() const
        {
            if constexpr (std::tuple_size_v<typename S::coords_t> == 1)
                return std::get<0>(shape_->index_to_coords(at_));
            else
                return shape_->index_to_coords(at_);
        }
        ORR_STF_HD iterator &operator++()
        {
            at_ += step_;
            return *this;
        }
        ORR_STF_HD bool operator!=(const iterator &end) const
        {
            return at_ < end.at_;
        }

      private:
        const S *shape_;
        std::size_t at_, step_;
    };
    ORR_STF_HD every(const S &shape, std::size_t first, std::size_t step)
        : shape_(shape), first_(first), step_(step)
    {
    }
    ORR_STF_HD iterator begin() const
    {
        return {&shape_, first_, step_};
    }
    ORR_STF_HD iterator end() const
    {
        return {&shape_, shape_.size(), step_};
    }

  private:
    S shape_;
    std::size_t first_, step_;
};

// A thread's place in levels of depth D: how wide each is, which member it is in, and
// what the groups share.
template <std::size_t D> struct thread_place {
    std::size_t width[D], rank[D], bytes[D];
    hw_scope scope[D];
    char *storage[D];
};

class
    thread_team; // of host.hpp: threads on a processor that wait for each other

void team_sync(thread_team *team, std::size_t level);

} // namespace detail

// What the body of a launch() gets: the levels from `First` of a hierarchy `Spec` on, as
// this thread is in them.
template <class Spec, std::size_t First, std::size_t Whole>
class thread_hierarchy
{
    static constexpr std::size_t D = Spec::depth;

    template <class L, std::size_t I> struct nth {
        using type = typename nth<typename L::inner_type, I - 1>::type;
    };
    template <class L> struct nth<L, 0> {
        using type = L;
    };

  public:
    ORR_STF_HD thread_hierarchy(const detail::thread_place<Whole> &place,
                                detail::thread_team *team)
        : place_(place), team_(team)
    {
    }

    static constexpr ORR_STF_HD std::size_t depth()
    {
        return D;
    }
    ORR_STF_HD std::size_t size(std::size_t i) const
    {
        return place_.width[First + i];
    }
    ORR_STF_HD std::size_t rank(std::size_t i) const
    {
        return place_.rank[First + i];
    }
    template <std::size_t I> ORR_STF_HD std::size_t size() const
    {
        return static_width<I>() ? static_width<I>() : size(I);
    }
    template <std::size_t I> ORR_STF_HD std::size_t rank() const
    {
        return rank(I);
    }
    // Of all these levels.
    ORR_STF_HD std::size_t size() const
    {
        std::size_t n = 1;
        for (std::size_t i = 0; i < D; i++)
            n *= size(i);
        return n;
    }
    ORR_STF_HD std::size_t rank() const
    {
        std::size_t r = 0;
        for (std::size_t i = 0; i < D; i++)
            r = r * size(i) + rank(i);
        return r;
    }
    // What was stated when the program was compiled, 0: nothing.
    template <std::size_t I>
    static constexpr ORR_STF_HD std::size_t static_width()
    {
        return nth<Spec, I>::type::static_width;
    }
    static constexpr ORR_STF_HD std::size_t static_width(std::size_t i)
    {
        return of_level<0>(i, false);
    }
    static constexpr ORR_STF_HD std::size_t static_with(std::size_t i)
    {
        return static_width(i);
    }
    template <std::size_t I>
    static constexpr ORR_STF_HD bool is_synchronizable()
    {
        return nth<Spec, I>::type::synchronizable;
    }
    static constexpr ORR_STF_HD bool is_synchronizable(std::size_t i)
    {
        return of_level<0>(i, true) != 0;
    }
    ORR_STF_HD hw_scope get_scope(std::size_t i) const
    {
        return place_.scope[First + i];
    }
    ORR_STF_HD std::size_t get_mem(std::size_t i) const
    {
        return place_.bytes[First + i];
    }
    template <class T> ORR_STF_HD slice<T> storage(std::size_t i) const
    {
        return slice<T>(reinterpret_cast<T *>(place_.storage[First + i]),
                        {get_mem(i) / sizeof(T)});
    }

    // Waits for all threads of the group of that level that this one is in.
    ORR_STF_HD void sync(std::size_t i = 0) const;
    template <std::size_t I> ORR_STF_HD void sync() const
    {
        static_assert(is_synchronizable<I>(),
                      "threads of a par() level do not wait for each other: "
                      "make it con()");
        sync(I);
    }
    // The levels below the first one.
    ORR_STF_HD auto inner() const
    {
        static_assert(D > 1, "there is no level inside of the last one");
        return thread_hierarchy<typename Spec::inner_type, First + 1, Whole>(
            place_, team_);
    }
    // The indices of the shape that are this thread's.
    template <class S>
    ORR_STF_HD detail::every<S> apply_partition(const S &s) const
    {
        return {s, rank(), size()};
    }

    ORR_STF_HD std::size_t thread_id() const
    {
        return rank();
    }
    ORR_STF_HD std::size_t get_num_threads() const
    {
        return size();
    }
    ORR_STF_HD operator thread_info() const
    {
        return thread_info(rank(), size());
    }

  private:
    template <std::size_t I>
    static constexpr ORR_STF_HD std::size_t of_level(std::size_t i, bool sync)
    {
        if constexpr (I < D) {
            if (i == I)
                return sync ? is_synchronizable<I>() : static_width<I>();
            return of_level<I + 1>(i, sync);
        } else {
            return 0;
        }
    }

    detail::thread_place<Whole> place_;
    detail::thread_team *team_;
};

// The shape of a view.
template <class V> ORR_STF_HD shape_of<V> shape(const V &view)
{
    return shape_of<V>(view);
}

} // namespace orrery::stf
