// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/interface.hpp - how views of data are known to the runtime: registered by
// view_traits, and made again of what a kernel is given. Formats of the program's own
// specialise shape_of and data_format.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <orrery/stf/runtime.hpp>
#include <orrery/stf/shape.hpp>

namespace orrery::stf
{

// How data of a program's own view V lie in memory: in one or more blocks, each
// without gaps. To be specialised, beside shape_of<V>, which must be trivially
// copyable and made of a view by shape_of<V>(view):
//   static constexpr std::size_t blocks;                 // how many
//   static std::size_t bytes(const shape_of<V> &, std::size_t block);
//   static void *address(const V &, std::size_t block);
//   static V view(const shape_of<V> &, void *const *addresses);
template <class V> struct data_format;

namespace detail
{

using handle_t = starpu_data_handle_t;

inline uint32_t narrow(std::size_t n)
{
    if (n > UINT32_MAX)
        fail_with("data with %zu elements along one dimension: at most "
                  "4294967295, so give them one dimension more",
                  n);
    return static_cast<uint32_t>(n);
}

template <class T> uintptr_t address_of(T *data)
{
    return reinterpret_cast<uintptr_t>(data);
}

// The runtime's operations on data of its interfaces.
inline starpu_data_interface_ops &ops_of(starpu_vector_interface *)
{
    return starpu_interface_vector_ops;
}
inline starpu_data_interface_ops &ops_of(starpu_matrix_interface *)
{
    return starpu_interface_matrix_ops;
}
inline starpu_data_interface_ops &ops_of(starpu_block_interface *)
{
    return starpu_interface_block_ops;
}
inline starpu_data_interface_ops &ops_of(starpu_tensor_interface *)
{
    return starpu_interface_tensor_ops;
}
inline starpu_data_interface_ops &ops_of(starpu_ndim_interface *)
{
    return starpu_interface_ndim_ops;
}
inline starpu_data_interface_ops &ops_of(starpu_variable_interface *)
{
    return starpu_interface_variable_ops;
}

// --- data of formats that the program defines ---

struct block_source;

// Of allocator.hpp. 0: there is no room.
uintptr_t take_block(block_source *from, unsigned node, std::size_t bytes);
void give_block(block_source *from, unsigned node, uintptr_t at,
                std::size_t bytes);

template <class V> struct format_interface {
    enum starpu_data_interface_id id;
    block_source *source; // of its memory; NULL: the runtime
    shape_of<V> shape;
    uintptr_t block[data_format<V>::blocks];
};

template <class V> struct format_ops {
    using format = data_format<V>;
    using interface = format_interface<V>;
    static constexpr std::size_t blocks = format::blocks;
    static_assert(std::is_trivially_copyable_v<shape_of<V>>,
                  "the shape of data of an own format must be trivially "
                  "copyable: the runtime copies it to each memory");

    static interface *on(handle_t handle, unsigned node)
    {
        return static_cast<interface *>(
            starpu_data_get_interface_on_node(handle, node));
    }
    static void add(handle_t handle, int home, void *given)
    {
        for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
            interface *local = on(handle, node);
            if (!local)
                continue;
            *local = *static_cast<interface *>(given);
            if (static_cast<int>(node) != home)
                for (uintptr_t &block : local->block)
                    block = 0;
        }
    }
    static starpu_ssize_t allocate(void *at, unsigned node)
    {
        auto *local = static_cast<interface *>(at);
        starpu_ssize_t sum = 0;

        for (std::size_t b = 0; b < blocks; b++) {
            const std::size_t bytes = format::bytes(local->shape, b);
            local->block[b] = take_block(local->source, node, bytes);
            if (!local->block[b] && bytes) {
                drop(local, node, b);
                return -ENOMEM;
            }
            sum += static_cast<starpu_ssize_t>(bytes);
        }
        return sum;
    }
    static void drop(interface *local, unsigned node, std::size_t n)
    {
        for (std::size_t b = 0; b < n; b++)
            give_block(local->source, node, local->block[b],
                       format::bytes(local->shape, b));
    }
    static void release(void *at, unsigned node)
    {
        drop(static_cast<interface *>(at), node, blocks);
    }
    static int copy(void *from, unsigned from_node, void *to, unsigned to_node,
                    void *async)
    {
        auto *source = static_cast<interface *>(from);
        auto *target = static_cast<interface *>(to);
        int ret = 0;

        for (std::size_t b = 0; b < blocks; b++) {
            const int err = starpu_interface_copy(
                source->block[b], 0, from_node, target->block[b], 0, to_node,
                format::bytes(source->shape, b), async);
            if (err && (err != -EAGAIN || !ret))
                ret = err;
        }
        return ret;
    }
    static std::size_t size(handle_t handle)
    {
        std::size_t sum = 0;
        for (std::size_t b = 0; b < blocks; b++)
            sum += format::bytes(on(handle, STARPU_MAIN_RAM)->shape, b);
        return sum;
    }
    static uint32_t footprint(handle_t handle)
    {
        return starpu_hash_crc32c_be_n(&on(handle, STARPU_MAIN_RAM)->shape,
                                       sizeof(shape_of<V>), 0);
    }
    static int compare(void *a, void *b)
    {
        for (std::size_t k = 0; k < blocks; k++)
            if (format::bytes(static_cast<interface *>(a)->shape, k) !=
                format::bytes(static_cast<interface *>(b)->shape, k))
                return 0;
        return 1;
    }
    // Data that have a source of their own give their memory back to it.
    static starpu_data_interface_ops *table(bool sourced)
    {
        static starpu_data_copy_methods methods;
        static starpu_data_interface_ops ops, of_source;
        static char name[] = "orrery::stf";
        static const bool made = [] {
            methods.any_to_any = copy;
            ops.register_data_handle = add;
            ops.allocate_data_on_node = allocate;
            ops.free_data_on_node = release;
            ops.copy_methods = &methods;
            ops.get_size = size;
            ops.footprint = footprint;
            ops.compare = compare;
            ops.interfaceid = STARPU_UNKNOWN_INTERFACE_ID;
            ops.interface_size = sizeof(interface);
            ops.name = name;
            starpu_data_register_ops(&ops);
            of_source = ops;
            of_source.dontcache = 1;
            return true;
        }();
        (void)made;
        return sourced ? &of_source : &ops;
    }
};

template <class V, class = void> struct has_format : std::false_type {
};
template <class V>
struct has_format<V, std::void_t<decltype(data_format<V>::blocks)>>
    : std::true_type {
};

// --- what all views have ---

// constant: what read() gives; register_data: the memory of `view` is that of the
// data on node `home`, -1: there is none yet; view: of a buffer of a kernel.
template <class V> struct view_traits {
    static_assert(has_format<V>::value,
                  "no data have this view: specialise "
                  "orrery::stf::shape_of and data_format for it");
    using constant = V;
    static constexpr bool read_only = false;

    static void register_data(handle_t *handle, int home,
                              const shape_of<V> &shape, const V *view)
    {
        format_interface<V> given{};

        given.id = format_ops<V>::table(false)->interfaceid;
        given.shape = shape;
        for (std::size_t b = 0; view && b < data_format<V>::blocks; b++)
            given.block[b] = address_of(data_format<V>::address(*view, b));
        starpu_data_register(handle, home, &given, format_ops<V>::table(false));
    }
    static V view(void *buffer)
    {
        auto *local = static_cast<format_interface<V> *>(buffer);
        void *blocks[data_format<V>::blocks];

        for (std::size_t b = 0; b < data_format<V>::blocks; b++)
            blocks[b] = reinterpret_cast<void *>(local->block[b]);
        return data_format<V>::view(local->shape, blocks);
    }
};

template <std::size_t D> struct dense_interface {
    using type = starpu_ndim_interface;
};
template <> struct dense_interface<1> {
    using type = starpu_vector_interface;
};
template <> struct dense_interface<2> {
    using type = starpu_matrix_interface;
};
template <> struct dense_interface<3> {
    using type = starpu_block_interface;
};
template <> struct dense_interface<4> {
    using type = starpu_tensor_interface;
};

template <class T, std::size_t D> struct view_traits<slice<T, D>> {
    using constant = slice<const T, D>;
    using interface = typename dense_interface<D>::type;
    static constexpr bool read_only = std::is_const_v<T>;

    static void register_data(handle_t *handle, int home,
                              const shape_of<slice<T, D>> &shape,
                              const slice<T, D> *view)
    {
        static_assert(std::is_trivially_copyable_v<std::remove_const_t<T>>,
                      "elements of a slice are copied as bytes between "
                      "memories: their type must be trivially copyable");
        uint32_t n[D], ld[D];
        const uintptr_t at = view ? address_of(view->data_handle()) : 0;

        for (std::size_t d = 0; d < D; d++) {
            n[d] = narrow(shape.extent(d));
            ld[d] = d == 0   ? 1
                    : view   ? narrow(view->stride(d))
                    : d == 1 ? n[0]
                             : narrow(std::size_t{ld[d - 1]} * n[d - 1]);
        }
        if constexpr (D == 1)
            starpu_vector_data_register(handle, home, at, n[0], sizeof(T));
        else if constexpr (D == 2)
            starpu_matrix_data_register(handle, home, at, ld[1], n[0], n[1],
                                        sizeof(T));
        else if constexpr (D == 3)
            starpu_block_data_register(handle, home, at, ld[1], ld[2], n[0],
                                       n[1], n[2], sizeof(T));
        else if constexpr (D == 4)
            starpu_tensor_data_register(handle, home, at, ld[1], ld[2], ld[3],
                                        n[0], n[1], n[2], n[3], sizeof(T));
        else
            starpu_ndim_data_register(handle, home, at, ld, n, D, sizeof(T));
    }
    static slice<T, D> view(void *buffer)
    {
        if constexpr (D == 1) {
            auto *v = static_cast<starpu_vector_interface *>(buffer);
            return {pointer(v->ptr), {v->nx}};
        } else if constexpr (D == 2) {
            auto *m = static_cast<starpu_matrix_interface *>(buffer);
            return {pointer(m->ptr), {m->nx, m->ny}, {m->ld}};
        } else if constexpr (D == 3) {
            auto *b = static_cast<starpu_block_interface *>(buffer);
            return {pointer(b->ptr), {b->nx, b->ny, b->nz}, {b->ldy, b->ldz}};
        } else if constexpr (D == 4) {
            auto *t = static_cast<starpu_tensor_interface *>(buffer);
            return {pointer(t->ptr),
                    {t->nx, t->ny, t->nz, t->nt},
                    {t->ldy, t->ldz, t->ldt}};
        } else {
            auto *a = static_cast<starpu_ndim_interface *>(buffer);
            std::size_t n[D], ld[D - 1];
            for (std::size_t d = 0; d < D; d++)
                n[d] = a->nn[d];
            for (std::size_t d = 1; d < D; d++)
                ld[d - 1] = a->ldn[d];
            return {pointer(a->ptr), n, ld};
        }
    }

  private:
    static T *pointer(uintptr_t at)
    {
        return reinterpret_cast<T *>(at);
    }
};

template <class T> struct view_traits<scalar_view<T>> {
    using constant = scalar_view<const T>;
    using interface = starpu_variable_interface;
    static constexpr bool read_only = std::is_const_v<T>;

    static void register_data(handle_t *handle, int home,
                              const shape_of<scalar_view<T>> &,
                              const scalar_view<T> *view)
    {
        static_assert(std::is_trivially_copyable_v<std::remove_const_t<T>>,
                      "the value of a scalar_view is copied as bytes between "
                      "memories: its type must be trivially copyable");
        starpu_variable_data_register(
            handle, home, view ? address_of(view->addr) : 0, sizeof(T));
    }
    static scalar_view<T> view(void *buffer)
    {
        return reinterpret_cast<T *>(
            static_cast<starpu_variable_interface *>(buffer)->ptr);
    }
};

template <> struct view_traits<void_interface> {
    using constant = void_interface;
    static constexpr bool read_only = false;

    static void register_data(handle_t *handle, int,
                              const shape_of<void_interface> &,
                              const void_interface *)
    {
        starpu_void_data_register(handle);
    }
    static void_interface view(void *)
    {
        return {};
    }
};

} // namespace detail
} // namespace orrery::stf
