/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_data_filters.h - cutting a piece of data into children that tasks
 * use on their own. The handle must be idle. Application threads only.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_data_interfaces.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How to cut. Static or local; read during the call only. */
struct starpu_data_filter {
    /* Fills the child's interface from the parent's, once per node. */
    void (*filter_func)(void *, void *, struct starpu_data_filter *, unsigned,
                        unsigned);
    /* How many, unless get_nchildren returns it. */
    unsigned nchildren;
    unsigned (*get_nchildren)(struct starpu_data_filter *,
                              starpu_data_handle_t);
    /* NULL = children have the parent's interface. */
    struct starpu_data_interface_ops *(*get_child_ops)(
        struct starpu_data_filter *, unsigned);
    /* For filter_func. */
    unsigned filter_arg;
    void *filter_arg_ptr;
};

/* Cuts; the parent cannot be used until it is put together again. */
void starpu_data_partition(starpu_data_handle_t initial_handle,
                           struct starpu_data_filter *f);
/* Waits for the children's tasks, brings all to `gathering_node`, frees the
 * children. */
void starpu_data_unpartition(starpu_data_handle_t root_data,
                             unsigned gathering_node);

/* Children are borrowed. */
starpu_data_handle_t starpu_data_get_child(starpu_data_handle_t handle,
                                           unsigned i);
int starpu_data_get_nb_children(starpu_data_handle_t handle);
/* Walks down: `depth` indices of type unsigned. */
starpu_data_handle_t starpu_data_get_sub_data(starpu_data_handle_t root_data,
                                              unsigned depth, ...);
starpu_data_handle_t starpu_data_vget_sub_data(starpu_data_handle_t root_data,
                                               unsigned depth, va_list pa);

/* Cut, then cut each child, and so on: struct starpu_data_filter * each. */
void starpu_data_map_filters(starpu_data_handle_t root_data, unsigned nfilters,
                             ...);
void starpu_data_vmap_filters(starpu_data_handle_t root_data, unsigned nfilters,
                              va_list pa);
void starpu_data_map_filters_parray(starpu_data_handle_t root_handle,
                                    int nfilters,
                                    struct starpu_data_filter **filters);
void starpu_data_map_filters_array(starpu_data_handle_t root_handle,
                                   int nfilters,
                                   struct starpu_data_filter *filters);

/* Cuts `n` elements into `nparts`, larger parts first: the length of part
 * `id` and its start in bytes, with `blocksize` elements per step. */
void starpu_filter_nparts_compute_chunk_size_and_offset(
    unsigned n, unsigned nparts, size_t elemsize, unsigned id,
    unsigned blocksize, unsigned *chunk_size, size_t *offset);

/* -- matrices: along x, along y; the _shadow forms overlap by filter_arg_ptr
 * (an integer) elements on either side -- */
void starpu_matrix_filter_block(void *father_interface, void *child_interface,
                                struct starpu_data_filter *f, unsigned id,
                                unsigned nparts);
void starpu_matrix_filter_block_shadow(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
void starpu_matrix_filter_vertical_block(void *father_interface,
                                         void *child_interface,
                                         struct starpu_data_filter *f,
                                         unsigned id, unsigned nparts);
void starpu_matrix_filter_vertical_block_shadow(void *father_interface,
                                                void *child_interface,
                                                struct starpu_data_filter *f,
                                                unsigned id, unsigned nparts);
/* Columns as vectors, starting from filter_arg_ptr (an integer). */
void starpu_matrix_filter_pick_vector_y(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts);
struct starpu_data_interface_ops *
starpu_matrix_filter_pick_vector_child_ops(struct starpu_data_filter *f,
                                           unsigned child);

/* -- vectors: equal parts; parts of the lengths in filter_arg_ptr (long or
 * uint32_t); two parts, the first of filter_arg elements -- */
void starpu_vector_filter_block(void *father_interface, void *child_interface,
                                struct starpu_data_filter *f, unsigned id,
                                unsigned nparts);
void starpu_vector_filter_block_shadow(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
void starpu_vector_filter_list_long(void *father_interface,
                                    void *child_interface,
                                    struct starpu_data_filter *f, unsigned id,
                                    unsigned nparts);
void starpu_vector_filter_list(void *father_interface, void *child_interface,
                               struct starpu_data_filter *f, unsigned id,
                               unsigned nparts);
void starpu_vector_filter_divide_in_2(void *father_interface,
                                      void *child_interface,
                                      struct starpu_data_filter *f, unsigned id,
                                      unsigned nparts);
/* Elements as variables, starting from filter_arg_ptr (an integer). */
void starpu_vector_filter_pick_variable(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts);
struct starpu_data_interface_ops *
starpu_vector_filter_pick_variable_child_ops(struct starpu_data_filter *f,
                                             unsigned child);

/* -- blocks: along x, y, z -- */
void starpu_block_filter_block(void *father_interface, void *child_interface,
                               struct starpu_data_filter *f, unsigned id,
                               unsigned nparts);
void starpu_block_filter_block_shadow(void *father_interface,
                                      void *child_interface,
                                      struct starpu_data_filter *f, unsigned id,
                                      unsigned nparts);
void starpu_block_filter_vertical_block(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts);
void starpu_block_filter_vertical_block_shadow(void *father_interface,
                                               void *child_interface,
                                               struct starpu_data_filter *f,
                                               unsigned id, unsigned nparts);
void starpu_block_filter_depth_block(void *father_interface,
                                     void *child_interface,
                                     struct starpu_data_filter *f, unsigned id,
                                     unsigned nparts);
void starpu_block_filter_depth_block_shadow(void *father_interface,
                                            void *child_interface,
                                            struct starpu_data_filter *f,
                                            unsigned id, unsigned nparts);
/* Planes as matrices, starting from filter_arg_ptr (an integer). */
void starpu_block_filter_pick_matrix_z(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
void starpu_block_filter_pick_matrix_y(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
struct starpu_data_interface_ops *
starpu_block_filter_pick_matrix_child_ops(struct starpu_data_filter *f,
                                          unsigned child);

#ifdef __cplusplus
}
#endif
