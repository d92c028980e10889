// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/logical_data.hpp - data of a context, by the view that bodies get of them, and
// how a task uses them.
#pragma once

#include <orrery/stf/datum.hpp>
#include <orrery/stf/reducer.hpp>

namespace orrery::stf
{

namespace detail
{

// Data with their shape.
template <class V> struct typed_datum : datum {
    typed_datum(co_owned<context_state> context, const shape_of<V> &extents)
        : datum(std::move(context)), shape(extents)
    {
    }
    const std::type_info &constant_view() const override
    {
        return typeid(typename view_traits<V>::constant);
    }
    // Before its first use.
    void take_memory_of(block_source *source)
    {
        if (used.load(std::memory_order_relaxed))
            refuse(" has been used: set_allocator() before");
        register_again<V>(&handle, source);
        if (!symbol.empty())
            starpu_data_set_name(handle, symbol.c_str());
    }
    shape_of<V> shape;
};

} // namespace detail

// One use of data by a task, without the type of the view: what ld.read() and the like
// convert to.
struct task_dep_untyped {
    detail::co_owned<detail::datum> data;
    access_mode mode = access_mode::none;
    data_place place;
    bool in_parts_ = false; // of task_dep::in_parts()
};

// The same with the view that the body gets, and the operator of a reduction.
template <class V, class Op = void> struct task_dep : task_dep_untyped {
    using view = V;
    using reducer = Op;

    // On a grid of places each one gets its part along the last dimension, where the
    // indices of a blocked_partition are, and uses no other: so parts are written side
    // by side.
    task_dep in_parts() const
    {
        task_dep same = *this;
        same.in_parts_ = true;
        return same;
    }
};

namespace detail
{

// What x.read() and the like return; without a reduction.
template <class T>
inline constexpr bool is_use =
    std::is_base_of_v<task_dep_untyped, std::decay_t<T>>;
template <class T> inline constexpr bool is_plain_use = false;
template <class V> inline constexpr bool is_plain_use<task_dep<V, void>> = true;

// What a call returns that does not compile: what follows it has no further errors.
struct refused_call {
    template <class F> void operator->*(F &&)
    {
    }
    template <class... A> refused_call &set_symbol(A &&...)
    {
        return *this;
    }
    template <class... A> refused_call &set_priority(A &&...)
    {
        return *this;
    }
    template <class... A> refused_call &set_flops(A &&...)
    {
        return *this;
    }
};

// Whether Op is an operator of values T.
template <class Op, class T, class = void>
inline constexpr bool reduces_values = false;
template <class Op, class T>
inline constexpr bool reduces_values<
    Op, T,
    std::void_t<decltype(Op::init_op(std::declval<T &>())),
                decltype(Op::apply_op(std::declval<T &>(),
                                      std::declval<const T &>()))>> = true;

} // namespace detail

// Data that tasks use. Copies are the same data; when the last one has gone the value
// goes to the program's memory, where the data have some, until finalize().
template <class V> class logical_data
{
  public:
    using view_type = V;
    using shape_type = shape_of<V>;

    logical_data() = default;
    explicit logical_data(detail::co_owned<detail::typed_datum<V>> data)
        : data_(std::move(data))
    {
    }

    task_dep<typename detail::view_traits<V>::constant>
    read(data_place place = data_place::affine()) const
    {
        return {{data_, access_mode::read, place, false}};
    }
    // All of it is written, nothing read.
    task_dep<V> write(data_place place = data_place::affine()) const
    {
        return changed(access_mode::write, place);
    }
    task_dep<V> rw(data_place place = data_place::affine()) const
    {
        return changed(access_mode::rw, place);
    }
    // As rw(), but tasks that use the data so one after the other may swap.
    task_dep<V> relaxed(data_place place = data_place::affine()) const
    {
        return changed(access_mode::relaxed, place);
    }
    // The value becomes the sum of what the indices of a parallel_for contribute.
    template <class Op>
    auto reduce(Op, data_place place = data_place::affine()) const
    {
        return reduced<Op>(access_mode::reduce, place);
    }
    // It is added to the value.
    template <class Op>
    auto reduce(Op, no_init, data_place place = data_place::affine()) const
    {
        return reduced<Op>(access_mode::reduce_no_init, place);
    }

    const shape_of<V> &shape() const
    {
        return datum().shape;
    }
    // Its name in traces, graphs and messages.
    logical_data &set_symbol(const std::string &symbol)
    {
        datum().symbol = symbol;
        starpu_data_set_name(datum().handle, symbol.c_str());
        return *this;
    }
    const std::string &get_symbol() const
    {
        return datum().symbol;
    }
    // Whether the program's memory gets the value in the end: yes, where there is
    // some.
    void set_write_back(bool wanted)
    {
        detail::require(!wanted || datum().has_home,
                        "set_write_back(true): data of a shape have no memory "
                        "of the program's to write to");
        datum().write_back = wanted;
    }
    // Where copies of the data get their memory from, before their first use. Parts on
    // a grid of places have the runtime's.
    void set_allocator(const block_allocator_untyped &allocator)
    {
        static_assert(!std::is_same_v<V, void_interface>,
                      "set_allocator() of a token, which has no memory");
        datum().take_memory_of(datum().state->source_of(allocator));
    }
    // No task will use the data for long: their copies leave full memories first.
    void wont_use() const
    {
        starpu_data_wont_use(datum().handle);
    }
    bool is_set() const
    {
        return static_cast<bool>(data_);
    }
    // For calls of the runtime's own interface.
    starpu_data_handle_t get_handle() const
    {
        return datum().handle;
    }
    const detail::co_owned<detail::typed_datum<V>> &get_datum() const
    {
        return data_;
    }

    // Neither copies nor equal contents are asked for: the same data.
    friend bool operator==(const logical_data &a, const logical_data &b)
    {
        return a.data_ == b.data_;
    }

  private:
    detail::typed_datum<V> &datum() const
    {
        detail::require(static_cast<bool>(data_),
                        "a logical_data that no context has made: assign "
                        "ctx.logical_data(…) to it");
        return *data_;
    }
    task_dep<V> changed(access_mode mode, data_place place) const
    {
        static_assert(!detail::view_traits<V>::read_only,
                      "data of const elements are read only: use read(), or "
                      "make them of memory that is not const");
        return {{data_, mode, place, false}};
    }
    template <class Op> auto reduced(access_mode mode, data_place place) const
    {
        static_assert(detail::has_owner<V>::value,
                      "reduce() is for single values: scalar_view<T>, or a "
                      "view for which owning_container_of is specialised");
        if constexpr (detail::has_owner<V>::value) {
            using T = typename owning_container_of<V>::type;
            constexpr bool fits = detail::reduces_values<Op, T>;

            static_assert(fits, "the operator of reduce() has static functions "
                                "init_op(T &) and apply_op(T &, const T &), of "
                                "the type of the value: "
                                "reducer::sum<double>{} of doubles");
            if constexpr (fits)
                return task_dep<V, Op>{{data_, mode, place, false}};
            else
                return detail::refused_call();
        } else {
            return detail::refused_call();
        }
    }

    detail::co_owned<detail::typed_datum<V>> data_;
};

} // namespace orrery::stf
