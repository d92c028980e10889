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

/* How to cut. It stays the caller's, and is read during the call only. */
struct starpu_data_filter {
    /* (structure of the parent, structure of the child, this filter, number of the
     * child, how many there are): fills the child's structure, once per node. It
     * must not wait. */
    void (*filter_func)(void *, void *, struct starpu_data_filter *, unsigned,
                        unsigned);
    /* How many, unless get_nchildren returns it. */
    unsigned nchildren;
    unsigned (*get_nchildren)(struct starpu_data_filter *,
                              starpu_data_handle_t);
    /* NULL = children have the parent's interface. */
    struct starpu_data_interface_ops *(*get_child_ops)(
        struct starpu_data_filter *, unsigned);
    /* For filter_func; the library does not look at them. */
    unsigned filter_arg;
    void *filter_arg_ptr;
};

/* Waits for the parent's tasks and cuts; the parent cannot be used until it is
 * put together again. Children are in its memory on each node where it has some,
 * with the value that is there; nothing is moved, but for the value of data of
 * which some part belongs to no child, or to several: to main memory. */
void starpu_data_partition(starpu_data_handle_t initial_handle,
                           struct starpu_data_filter *f);
/* Waits for the children's tasks, brings their values to `gathering_node` (to
 * main memory first if the parent has no memory there any more; -1: to main
 * memory, unless they are complete somewhere), frees the children. The parent's
 * value is on all nodes where it is complete then. */
void starpu_data_unpartition(starpu_data_handle_t root_data,
                             unsigned gathering_node);

/* Child i of data that are partitioned: borrowed, it ends with the partition. One that
 * there is not ends the program. */
starpu_data_handle_t starpu_data_get_child(starpu_data_handle_t handle,
                                           unsigned i);
/* How many there are; 0 of data that are not partitioned, or as planned only. */
int starpu_data_get_nb_children(starpu_data_handle_t handle);
/* The child of a child …: `depth` indices of type unsigned; with 0 the data
 * themselves. */
starpu_data_handle_t starpu_data_get_sub_data(starpu_data_handle_t root_data,
                                              unsigned depth, ...);
/* The same with a list of arguments. */
starpu_data_handle_t starpu_data_vget_sub_data(starpu_data_handle_t root_data,
                                               unsigned depth, va_list pa);

/* Partitions the data by the first filter, each child by the second one, and so on;
 * `...` are `nfilters` values of type struct starpu_data_filter *. */
void starpu_data_map_filters(starpu_data_handle_t root_data, unsigned nfilters,
                             ...);
/* The same with a list of arguments. */
void starpu_data_vmap_filters(starpu_data_handle_t root_data, unsigned nfilters,
                              va_list pa);
/* With an array of pointers. */
void starpu_data_map_filters_parray(starpu_data_handle_t root_handle,
                                    int nfilters,
                                    struct starpu_data_filter **filters);
/* With an array of filters. */
void starpu_data_map_filters_array(starpu_data_handle_t root_handle,
                                   int nfilters,
                                   struct starpu_data_filter *filters);

/* -- planned partitions: the whole and its parts in turns, without waiting --
 *
 * A plan makes the handles of the parts. Tasks, acquisitions, prefetches and
 * invalidations that use the whole, or a part of one of its plans, are submitted
 * in any order: the library submits the switch that they need before them, unless
 * the mode has STARPU_NOPLAN or the codelet the flag STARPU_CODELET_NOPLANS. A
 * whole that is only read and parts that are only read go together, of several
 * plans, too. A task may not write data and use a part of them. The data need
 * sequential consistency; parts can be planned again. Any thread; none of these
 * calls waits for tasks, but a plan whose data have no memory in their home node
 * yet may. Calls that do not fit what was submitted before end the program with a
 * message. */

/* Plans a partition: children[] gets as many handles as the filter makes parts. They
 * belong to the plan, and the application does not unregister them. */
void starpu_data_partition_plan(starpu_data_handle_t initial_handle,
                                struct starpu_data_filter *f,
                                starpu_data_handle_t *children);
/* Ends a plan, unpartitioning the data if they are partitioned so: the children
 * are freed when their tasks are done. Before the whole is unregistered, and after
 * plans of the children. */
void starpu_data_partition_clean(starpu_data_handle_t root_data,
                                 unsigned nparts,
                                 starpu_data_handle_t *children);
/* The same; gather_node is the data's home node or -1. */
void starpu_data_partition_clean_node(starpu_data_handle_t root_data,
                                      unsigned nparts,
                                      starpu_data_handle_t *children,
                                      int gather_node);

/* Switches by explicit calls, which take effect in the order of submission;
 * `children` are all those of a plan, in its order. This one: from the whole to
 * parts that can be written. No other plan may be in use. */
void starpu_data_partition_submit(starpu_data_handle_t initial_handle,
                                  unsigned nparts,
                                  starpu_data_handle_t *children);
/* To parts that can be read, as the whole still can. */
void starpu_data_partition_readonly_submit(starpu_data_handle_t initial_handle,
                                           unsigned nparts,
                                           starpu_data_handle_t *children);
/* From parts that can be read, those of one plan only, to parts that can be written. */
void starpu_data_partition_readwrite_upgrade_submit(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children);
/* From parts that can be written to parts that can be read. */
void starpu_data_partition_readonly_downgrade_submit(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children);
/* Back to the whole; gathering_node is the data's home node or -1. */
void starpu_data_unpartition_submit(starpu_data_handle_t initial_handle,
                                    unsigned nparts,
                                    starpu_data_handle_t *children,
                                    int gathering_node);
/* The same, but the parts can still be read. */
void starpu_data_unpartition_readonly_submit(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children, int gathering_node);
/* As starpu_data_partition_submit(). With sequential_consistency 0 the switch takes
 * no place in the order of the whole, which keeps its value; what it has to wait for
 * is then up to the caller. */
void starpu_data_partition_submit_sequential_consistency(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children, int sequential_consistency);
/* As starpu_data_partition_readonly_submit(), with that. */
void starpu_data_partition_readonly_submit_sequential_consistency(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children, int sequential_consistency);
/* As starpu_data_unpartition_submit(), with that. */
void starpu_data_unpartition_submit_sequential_consistency(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children, int gathering_node,
    int sequential_consistency);
/* The same; callback_func(callback_arg) is called, in any context, when the switch
 * is done. The argument stays the caller's. */
void starpu_data_unpartition_submit_sequential_consistency_cb(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children, int gather_node, int sequential_consistency,
    void (*callback_func)(void *), void *callback_arg);

/* Cuts `n` elements into `nparts`, larger parts first: the length of part
 * `id` and its start in bytes, with `blocksize` elements per step. */
void starpu_filter_nparts_compute_chunk_size_and_offset(
    unsigned n, unsigned nparts, size_t elemsize, unsigned id,
    unsigned blocksize, unsigned *chunk_size, size_t *offset);

/* What follows is for filter_func, and for get_child_ops where its name ends in
 * _child_ops: that is to be set, too, where the children have another interface than
 * the parent. "Parts" are as equal as can be, the first ones one element larger than
 * the others. */

/* -- matrices -- */

/* Parts along x. */
void starpu_matrix_filter_block(void *father_interface, void *child_interface,
                                struct starpu_data_filter *f, unsigned id,
                                unsigned nparts);
/* Parts along x that overlap: filter_arg_ptr is a number of elements, cast to a
 * pointer, that each has more on either side. The parent has these at its ends. What
 * overlaps is to be read only. */
void starpu_matrix_filter_block_shadow(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Parts along y. */
void starpu_matrix_filter_vertical_block(void *father_interface,
                                         void *child_interface,
                                         struct starpu_data_filter *f,
                                         unsigned id, unsigned nparts);
/* Parts along y that overlap. */
void starpu_matrix_filter_vertical_block_shadow(void *father_interface,
                                                void *child_interface,
                                                struct starpu_data_filter *f,
                                                unsigned id, unsigned nparts);
/* Columns as vectors, starting from filter_arg_ptr (an integer). */
void starpu_matrix_filter_pick_vector_y(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts);
/* Vectors: the get_child_ops of pick_vector_y. */
struct starpu_data_interface_ops *
starpu_matrix_filter_pick_vector_child_ops(struct starpu_data_filter *f,
                                           unsigned child);
/* One element as a variable: filter_arg_ptr has a uint32_t index for each
 * dimension, x first; one child. */
void starpu_matrix_filter_pick_variable(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts);
/* Variables: the get_child_ops of pick_variable. */
struct starpu_data_interface_ops *
starpu_matrix_filter_pick_variable_child_ops(struct starpu_data_filter *f,
                                             unsigned child);

/* -- vectors -- */

/* Parts. */
void starpu_vector_filter_block(void *father_interface, void *child_interface,
                                struct starpu_data_filter *f, unsigned id,
                                unsigned nparts);
/* Parts that overlap, as of matrices. */
void starpu_vector_filter_block_shadow(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Parts of the lengths that are in the array filter_arg_ptr, of type long. */
void starpu_vector_filter_list_long(void *father_interface,
                                    void *child_interface,
                                    struct starpu_data_filter *f, unsigned id,
                                    unsigned nparts);
/* The same, of type uint32_t. */
void starpu_vector_filter_list(void *father_interface, void *child_interface,
                               struct starpu_data_filter *f, unsigned id,
                               unsigned nparts);
/* Two children: the first one has filter_arg elements, the second one the others. */
void starpu_vector_filter_divide_in_2(void *father_interface,
                                      void *child_interface,
                                      struct starpu_data_filter *f, unsigned id,
                                      unsigned nparts);
/* Elements as variables, starting from filter_arg_ptr (an integer). */
void starpu_vector_filter_pick_variable(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts);
/* Variables. */
struct starpu_data_interface_ops *
starpu_vector_filter_pick_variable_child_ops(struct starpu_data_filter *f,
                                             unsigned child);

/* -- blocks: along x, y, z -- */

/* Parts along x. */
void starpu_block_filter_block(void *father_interface, void *child_interface,
                               struct starpu_data_filter *f, unsigned id,
                               unsigned nparts);
/* Parts along x that overlap, as of matrices. */
void starpu_block_filter_block_shadow(void *father_interface,
                                      void *child_interface,
                                      struct starpu_data_filter *f, unsigned id,
                                      unsigned nparts);
/* Parts along y. */
void starpu_block_filter_vertical_block(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts);
/* Parts along y that overlap. */
void starpu_block_filter_vertical_block_shadow(void *father_interface,
                                               void *child_interface,
                                               struct starpu_data_filter *f,
                                               unsigned id, unsigned nparts);
/* Parts along z. */
void starpu_block_filter_depth_block(void *father_interface,
                                     void *child_interface,
                                     struct starpu_data_filter *f, unsigned id,
                                     unsigned nparts);
/* Parts along z that overlap. */
void starpu_block_filter_depth_block_shadow(void *father_interface,
                                            void *child_interface,
                                            struct starpu_data_filter *f,
                                            unsigned id, unsigned nparts);
/* Planes of one z as matrices of x and y, starting from z = filter_arg_ptr (an
 * integer). */
void starpu_block_filter_pick_matrix_z(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Planes of one y as matrices of x and z, starting from y = filter_arg_ptr. */
void starpu_block_filter_pick_matrix_y(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Matrices: for both. */
struct starpu_data_interface_ops *
starpu_block_filter_pick_matrix_child_ops(struct starpu_data_filter *f,
                                          unsigned child);
/* One element as a variable, as of matrices. */
void starpu_block_filter_pick_variable(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Variables. */
struct starpu_data_interface_ops *
starpu_block_filter_pick_variable_child_ops(struct starpu_data_filter *f,
                                            unsigned child);

/* -- tensors: along x, y, z, t -- */

/* Parts along x. */
void starpu_tensor_filter_block(void *father_interface, void *child_interface,
                                struct starpu_data_filter *f, unsigned id,
                                unsigned nparts);
/* Parts along x that overlap, as of matrices. */
void starpu_tensor_filter_block_shadow(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Parts along y. */
void starpu_tensor_filter_vertical_block(void *father_interface,
                                         void *child_interface,
                                         struct starpu_data_filter *f,
                                         unsigned id, unsigned nparts);
/* Parts along y that overlap. */
void starpu_tensor_filter_vertical_block_shadow(void *father_interface,
                                                void *child_interface,
                                                struct starpu_data_filter *f,
                                                unsigned id, unsigned nparts);
/* Parts along z. */
void starpu_tensor_filter_depth_block(void *father_interface,
                                      void *child_interface,
                                      struct starpu_data_filter *f, unsigned id,
                                      unsigned nparts);
/* Parts along z that overlap. */
void starpu_tensor_filter_depth_block_shadow(void *father_interface,
                                             void *child_interface,
                                             struct starpu_data_filter *f,
                                             unsigned id, unsigned nparts);
/* Parts along t. */
void starpu_tensor_filter_time_block(void *father_interface,
                                     void *child_interface,
                                     struct starpu_data_filter *f, unsigned id,
                                     unsigned nparts);
/* Parts along t that overlap. */
void starpu_tensor_filter_time_block_shadow(void *father_interface,
                                            void *child_interface,
                                            struct starpu_data_filter *f,
                                            unsigned id, unsigned nparts);
/* What has one t as a block of x, y, z, starting from t = filter_arg_ptr (an
 * integer). */
void starpu_tensor_filter_pick_block_t(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* What has one z as a block of x, y, t, starting from z = filter_arg_ptr. */
void starpu_tensor_filter_pick_block_z(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* What has one y as a block of x, z, t, starting from y = filter_arg_ptr. */
void starpu_tensor_filter_pick_block_y(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Blocks: for the three of them. */
struct starpu_data_interface_ops *
starpu_tensor_filter_pick_block_child_ops(struct starpu_data_filter *f,
                                          unsigned child);
/* One element as a variable, as of matrices. */
void starpu_tensor_filter_pick_variable(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts);
/* Variables. */
struct starpu_data_interface_ops *
starpu_tensor_filter_pick_variable_child_ops(struct starpu_data_filter *f,
                                             unsigned child);

/* -- any number of dimensions; of data of one dimension filter_arg may be anything -- */

/* Parts along dimension filter_arg, of the same interface. */
void starpu_ndim_filter_block(void *father_interface, void *child_interface,
                              struct starpu_data_filter *f, unsigned id,
                              unsigned nparts);
/* The same, overlapping, as of matrices. */
void starpu_ndim_filter_block_shadow(void *father_interface,
                                     void *child_interface,
                                     struct starpu_data_filter *f, unsigned id,
                                     unsigned nparts);
/* Parts of data of 4 dimensions along filter_arg, as tensors. */
void starpu_ndim_filter_to_tensor(void *father_interface, void *child_interface,
                                  struct starpu_data_filter *f, unsigned id,
                                  unsigned nparts);
/* Tensors. */
struct starpu_data_interface_ops *
starpu_ndim_filter_to_tensor_child_ops(struct starpu_data_filter *f,
                                       unsigned child);
/* Parts of data of 3 dimensions along filter_arg, as blocks. */
void starpu_ndim_filter_to_block(void *father_interface, void *child_interface,
                                 struct starpu_data_filter *f, unsigned id,
                                 unsigned nparts);
/* Blocks. */
struct starpu_data_interface_ops *
starpu_ndim_filter_to_block_child_ops(struct starpu_data_filter *f,
                                      unsigned child);
/* Parts of data of 2 dimensions along filter_arg, as matrices. */
void starpu_ndim_filter_to_matrix(void *father_interface, void *child_interface,
                                  struct starpu_data_filter *f, unsigned id,
                                  unsigned nparts);
/* Matrices. */
struct starpu_data_interface_ops *
starpu_ndim_filter_to_matrix_child_ops(struct starpu_data_filter *f,
                                       unsigned child);
/* Parts of data of 1 dimension, as vectors. */
void starpu_ndim_filter_to_vector(void *father_interface, void *child_interface,
                                  struct starpu_data_filter *f, unsigned id,
                                  unsigned nparts);
/* Vectors. */
struct starpu_data_interface_ops *
starpu_ndim_filter_to_vector_child_ops(struct starpu_data_filter *f,
                                       unsigned child);
/* Data of 0 dimensions, one element, as one variable. */
void starpu_ndim_filter_to_variable(void *father_interface,
                                    void *child_interface,
                                    struct starpu_data_filter *f, unsigned id,
                                    unsigned nparts);
/* Variables. */
struct starpu_data_interface_ops *
starpu_ndim_filter_to_variable_child_ops(struct starpu_data_filter *f,
                                         unsigned child);
/* What has one index along dimension filter_arg, starting from filter_arg_ptr (an
 * integer): data of a dimension less, of the same interface. */
void starpu_ndim_filter_pick_ndim(void *father_interface, void *child_interface,
                                  struct starpu_data_filter *f, unsigned id,
                                  unsigned nparts);
/* The same of data of 5 dimensions, as tensors. In these typed forms, where the
 * first dimension of the parts would have gaps, which only ndim data may have, the
 * program ends. */
void starpu_ndim_filter_5d_pick_tensor(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Of data of 4 dimensions, as blocks. */
void starpu_ndim_filter_4d_pick_block(void *father_interface,
                                      void *child_interface,
                                      struct starpu_data_filter *f, unsigned id,
                                      unsigned nparts);
/* Of data of 3 dimensions, as matrices. */
void starpu_ndim_filter_3d_pick_matrix(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Of data of 2 dimensions, as vectors. */
void starpu_ndim_filter_2d_pick_vector(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Of data of 1 dimension, as variables. */
void starpu_ndim_filter_1d_pick_variable(void *father_interface,
                                         void *child_interface,
                                         struct starpu_data_filter *f,
                                         unsigned id, unsigned nparts);
/* One element as a variable: filter_arg_ptr has a uint32_t index for each
 * dimension. */
void starpu_ndim_filter_pick_variable(void *father_interface,
                                      void *child_interface,
                                      struct starpu_data_filter *f, unsigned id,
                                      unsigned nparts);
/* Tensors: for 5d_pick_tensor. */
struct starpu_data_interface_ops *
starpu_ndim_filter_pick_tensor_child_ops(struct starpu_data_filter *f,
                                         unsigned child);
/* Blocks: for 4d_pick_block. */
struct starpu_data_interface_ops *
starpu_ndim_filter_pick_block_child_ops(struct starpu_data_filter *f,
                                        unsigned child);
/* Matrices: for 3d_pick_matrix. */
struct starpu_data_interface_ops *
starpu_ndim_filter_pick_matrix_child_ops(struct starpu_data_filter *f,
                                         unsigned child);
/* Vectors: for 2d_pick_vector. */
struct starpu_data_interface_ops *
starpu_ndim_filter_pick_vector_child_ops(struct starpu_data_filter *f,
                                         unsigned child);
/* Variables: for 1d_pick_variable and pick_variable. */
struct starpu_data_interface_ops *
starpu_ndim_filter_pick_variable_child_ops(struct starpu_data_filter *f,
                                           unsigned child);

/* -- sparse matrices, registered in main memory -- */

/* Ranges of rows, as equal in rows as can be, whatever is in these. Children point
 * into the arrays of the parent, of which rowptr is read in main memory. */
void starpu_csr_filter_vertical_block(void *father_interface,
                                      void *child_interface,
                                      struct starpu_data_filter *f, unsigned id,
                                      unsigned nparts);
/* The same; rows of blocks are not cut. */
void starpu_bcsr_filter_vertical_block(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts);
/* Each block as a matrix of c x r; there are as many as _get_nchildren says. */
void starpu_bcsr_filter_canonical_block(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts);
/* The get_nchildren of that: the number of blocks. */
unsigned
starpu_bcsr_filter_canonical_block_get_nchildren(struct starpu_data_filter *f,
                                                 starpu_data_handle_t handle);
/* Matrices. */
struct starpu_data_interface_ops *
starpu_bcsr_filter_canonical_block_child_ops(struct starpu_data_filter *f,
                                             unsigned child);

#ifdef __cplusplus
}
#endif
