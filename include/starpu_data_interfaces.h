/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_data_interfaces.h - data interfaces: matrix, vector and so on. An
 * interface structure has the place and the layout of a copy; there is one per
 * memory node. A table of operations has the methods of an interface.
 * Registration is for application threads, getters for any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <starpu_config.h>
#include <starpu_data.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _cl_event;
struct starpu_codelet;
struct starpu_multiformat_data_interface_ops;

/* The streams of devices, as their own headers define them. */
typedef struct CUstream_st *starpu_cudaStream_t;
typedef struct ihipStream_t *starpu_hipStream_t;

/* -- user-defined interfaces -- */

/* How to copy from one interface to another; each gets (source interface,
 * source node, destination interface, destination node) and returns 0, or
 * -EAGAIN when an asynchronous copy is under way. any_to_any is enough. */
struct starpu_data_copy_methods {
    /* 1 if this pair of nodes can be copied directly, by the handling node given
     * last; else the copy goes through main memory. Asked when data are
     * registered, for pairs of devices. NULL = yes. */
    int (*can_copy)(void *, unsigned, void *, unsigned, unsigned);
    int (*ram_to_ram)(void *, unsigned, void *, unsigned);
    int (*ram_to_cuda)(void *, unsigned, void *, unsigned);
    int (*ram_to_hip)(void *, unsigned, void *, unsigned);
    int (*ram_to_opencl)(void *, unsigned, void *, unsigned);
    int (*ram_to_max_fpga)(void *, unsigned, void *, unsigned);
    int (*cuda_to_ram)(void *, unsigned, void *, unsigned);
    int (*cuda_to_cuda)(void *, unsigned, void *, unsigned);
    int (*hip_to_ram)(void *, unsigned, void *, unsigned);
    int (*hip_to_hip)(void *, unsigned, void *, unsigned);
    int (*opencl_to_ram)(void *, unsigned, void *, unsigned);
    int (*opencl_to_opencl)(void *, unsigned, void *, unsigned);
    int (*max_fpga_to_ram)(void *, unsigned, void *, unsigned);
#ifdef STARPU_USE_CUDA
    int (*ram_to_cuda_async)(void *, unsigned, void *, unsigned,
                             starpu_cudaStream_t);
    int (*cuda_to_ram_async)(void *, unsigned, void *, unsigned,
                             starpu_cudaStream_t);
    int (*cuda_to_cuda_async)(void *, unsigned, void *, unsigned,
                              starpu_cudaStream_t);
#else
    int (*ram_to_cuda_async)(void);
    int (*cuda_to_ram_async)(void);
    int (*cuda_to_cuda_async)(void);
#endif
#ifdef STARPU_USE_HIP
    int (*ram_to_hip_async)(void *, unsigned, void *, unsigned,
                            starpu_hipStream_t);
    int (*hip_to_ram_async)(void *, unsigned, void *, unsigned,
                            starpu_hipStream_t);
    int (*hip_to_hip_async)(void *, unsigned, void *, unsigned,
                            starpu_hipStream_t);
#else
    int (*ram_to_hip_async)(void);
    int (*hip_to_ram_async)(void);
    int (*hip_to_hip_async)(void);
#endif
    int (*ram_to_opencl_async)(void *, unsigned, void *, unsigned,
                               struct _cl_event **);
    int (*opencl_to_ram_async)(void *, unsigned, void *, unsigned,
                               struct _cl_event **);
    int (*opencl_to_opencl_async)(void *, unsigned, void *, unsigned,
                                  struct _cl_event **);
    int (*ram_to_max_fpga_async)(void *, unsigned, void *, unsigned);
    int (*max_fpga_to_ram_async)(void *, unsigned, void *, unsigned);
    /* Uses starpu_interface_copy() with the last argument. */
    int (*any_to_any)(void *, unsigned, void *, unsigned, void *);
};

enum starpu_data_interface_id {
    STARPU_UNKNOWN_INTERFACE_ID = -1,
    STARPU_MATRIX_INTERFACE_ID = 0,
    STARPU_BLOCK_INTERFACE_ID = 1,
    STARPU_VECTOR_INTERFACE_ID = 2,
    STARPU_CSR_INTERFACE_ID = 3,
    STARPU_BCSR_INTERFACE_ID = 4,
    STARPU_VARIABLE_INTERFACE_ID = 5,
    STARPU_VOID_INTERFACE_ID = 6,
    STARPU_MULTIFORMAT_INTERFACE_ID = 7,
    STARPU_COO_INTERFACE_ID = 8,
    STARPU_TENSOR_INTERFACE_ID = 9,
    STARPU_NDIM_INTERFACE_ID = 10,
    STARPU_MAX_INTERFACE_ID = 11 /* first number for user-defined interfaces */
};

/* A data interface. Static; the library writes to it, and borrows it until
 * starpu_shutdown(). register_data_handle and footprint must be there; others may
 * be NULL, and the program ends with a message where one is needed. */
struct starpu_data_interface_ops {
    /* (handle, home node, structure): fills the structures of the nodes that there are,
     * or of all STARPU_MAXNODES, from the given one. The shape is written to each, the
     * place in memory to that of the home node only. Called once. */
    void (*register_data_handle)(starpu_data_handle_t, int, void *);
    /* Frees what that one allocated. Called with the end of the handle. */
    void (*unregister_data_handle)(starpu_data_handle_t);
    /* (structure, node): allocates memory for the data there, and writes the place
     * to the structure. Returns how many bytes, or -ENOMEM. */
    starpu_ssize_t (*allocate_data_on_node)(void *, unsigned);
    /* (structure, node): frees it. The handle may be gone. */
    void (*free_data_on_node)(void *, unsigned);
    /* (structure that is kept, structure of the copy, node): memory of a copy that
     * leaves is kept for other data; moves the place, and what alloc_compare needs,
     * to the first one. NULL: all bytes are copied. */
    void (*cache_data_on_node)(void *, void *, unsigned);
    /* (structure of the new copy, structure that was kept, node): the other way. */
    void (*reuse_data_on_node)(void *, const void *, unsigned);
    /* In StarPU these let two nodes use one memory. They are never called here,
     * where each node has memory of its own (starpu_map_enabled() is 0), and may be
     * NULL. Each gets (source structure, its node, destination structure, its node),
     * owns none of them, and returns 0 or a negative errno: map_data writes an
     * address at which the destination sees the source's memory, unmap_data ends
     * that, and update_map makes what was written on the source's side visible on
     * the other. */
    int (*map_data)(void *, unsigned, void *, unsigned);
    int (*unmap_data)(void *, unsigned, void *, unsigned);
    int (*update_map)(void *, unsigned, void *, unsigned);
    /* (structure): initialises one that is all zeros, before it is registered. */
    void (*init)(void *);
    const struct starpu_data_copy_methods *copy_methods;
    /* The address on a node, NULL if it has none. */
    void *(*handle_to_pointer)(starpu_data_handle_t, unsigned);
    void *(*to_pointer)(void *, unsigned);
    /* Bytes of data, of memory, and at most. */
    size_t (*get_size)(starpu_data_handle_t);
    size_t (*get_alloc_size)(starpu_data_handle_t);
    size_t (*get_max_size)(starpu_data_handle_t);
    /* Hash of the layout: equal hashes cost the same. */
    uint32_t (*footprint)(starpu_data_handle_t);
    /* Hash of the memory needed: equal ones can be exchanged. */
    uint32_t (*alloc_footprint)(starpu_data_handle_t);
    /* 1 if the two interfaces have the same layout. */
    int (*compare)(void *, void *);
    int (*alloc_compare)(void *, void *);
    void (*display)(starpu_data_handle_t, FILE *);
    /* A short description for messages, like snprintf(). */
    starpu_ssize_t (*describe)(void *, char *, size_t);
    /* From starpu_data_interface_get_next_id(). */
    enum starpu_data_interface_id interfaceid;
    /* Of the structure, in bytes. */
    size_t interface_size;
    char is_multiformat;
    /* 1 = freed copies are not kept. */
    char dontcache;
    struct starpu_multiformat_data_interface_ops *(*get_mf_ops)(void *);
    /* (handle, node, &bytes, &count): the value that the node has as one buffer,
     * which the method allocates by starpu_malloc_on_node_flags(node, count, 0) and
     * the caller frees; with NULL for the buffer, the count alone. 0 or a negative
     * errno. */
    int (*pack_data)(starpu_data_handle_t, unsigned, void **, starpu_ssize_t *);
    /* (handle, node, bytes, count): the value becomes that of such a buffer, which
     * stays the caller's; unpack_data frees it as well. 0 or a negative errno. */
    int (*peek_data)(starpu_data_handle_t, unsigned, void *, size_t);
    int (*unpack_data)(starpu_data_handle_t, unsigned, void *, size_t);
    /* In StarPU these send a structure, without the value, to another process that
     * executes tasks. They are never called here, and may be NULL.
     * pack_meta(structure, &bytes, &count) allocates a buffer, which is the
     * caller's; unpack_meta(&structure, bytes, &count) makes a structure of it,
     * which is the caller's, and says how many bytes it has read;
     * free_meta(structure) frees what that one holds. */
    int (*pack_meta)(void *, void **, starpu_ssize_t *);
    int (*unpack_meta)(void **, void *, starpu_ssize_t *);
    int (*free_meta)(void *);
    /* For messages. */
    char *name;
};

/* Registers data of the interface `ops` whose structure is `data_interface`
 * (copied) on `home_node`; -1 = nowhere yet. *handleptr is owned by the caller,
 * who ends it with starpu_data_unregister(). */
void starpu_data_register(starpu_data_handle_t *handleptr, int home_node,
                          void *data_interface,
                          struct starpu_data_interface_ops *ops);
/* Declares that a copy exists on the node as well. */
void starpu_data_ptr_register(starpu_data_handle_t handle, unsigned node);
/* A new handle of the same interface and size without content. */
void starpu_data_register_same(starpu_data_handle_t *handledst,
                               starpu_data_handle_t handlesrc);

/* The address of the data's memory on the node, whatever is in it; NULL without. */
void *starpu_data_handle_to_pointer(starpu_data_handle_t handle, unsigned node);
/* The same on the node of the worker that calls, else where the application has the
 * data. */
void *starpu_data_get_local_ptr(starpu_data_handle_t handle);
/* The interface of a node, borrowed. */
void *starpu_data_get_interface_on_node(starpu_data_handle_t handle,
                                        unsigned memory_node);
/* The number of its interface. */
enum starpu_data_interface_id
starpu_data_get_interface_id(starpu_data_handle_t handle);
/* Bytes of the value. */
size_t starpu_data_get_size(starpu_data_handle_t handle);
/* Bytes of memory that a copy takes. */
size_t starpu_data_get_alloc_size(starpu_data_handle_t handle);
/* What it may grow to: the interface says, else as allocated. */
starpu_ssize_t starpu_data_get_max_size(starpu_data_handle_t handle);
/* The node of the memory that was registered, -1 = none. */
int starpu_data_get_home_node(starpu_data_handle_t handle);

/* A new number for an interface of the application's. */
int starpu_data_interface_get_next_id(void);
/* Gives the table such a number, if it has STARPU_UNKNOWN_INTERFACE_ID. Registering data
 * does so too. */
void starpu_data_register_ops(struct starpu_data_interface_ops *ops);

/* A line about the data: their kind and their lengths. */
void starpu_data_print(starpu_data_handle_t handle, unsigned node,
                       FILE *stream);

/* -- packing: the value on a node as bytes without gaps -- */

/* Stores the value, which the caller has acquired on the node, as *count bytes in a
 * new buffer of the node, not counted against its capacity. The caller frees it with
 * starpu_free_on_node_flags(node, *ptr, *count, 0), or hands it to unpack. With
 * `ptr` NULL there is only the count. 0, or -ENOMEM; data that cannot be packed, or
 * have no memory there, end the program. */
int starpu_data_pack_node(starpu_data_handle_t handle, unsigned node,
                          void **ptr, starpu_ssize_t *count);
/* On the node of the worker that calls, else where the application has the data. */
int starpu_data_pack(starpu_data_handle_t handle, void **ptr,
                     starpu_ssize_t *count);
/* The other way: the value on the node, which the caller has acquired for writing,
 * becomes that of the bytes, which stay the caller's. 0, or -EINVAL after a message
 * when the count is wrong. */
int starpu_data_peek_node(starpu_data_handle_t handle, unsigned node, void *ptr,
                          size_t count);
/* On the node of the worker that calls, else where the application has the data. */
int starpu_data_peek(starpu_data_handle_t handle, void *ptr, size_t count);
/* As starpu_data_peek_node(), and frees the bytes, which were made by pack. */
int starpu_data_unpack_node(starpu_data_handle_t handle, unsigned node,
                            void *ptr, size_t count);
/* On the node of the worker that calls, else where the application has the data. */
int starpu_data_unpack(starpu_data_handle_t handle, void *ptr, size_t count);

/* -- for copy methods -- */

/* Copies `size` bytes between nodes. Addresses are those of the nodes: dev_handle, not
 * ptr. `async_data` is the last argument of any_to_any; NULL: the copy is waited for. 0,
 * -EAGAIN when it is under way, -EIO and -ENODEV when the device failed: the method
 * returns the same. Two devices of different kinds have no way between them. */
int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node,
                          uintptr_t dst, size_t dst_offset, unsigned dst_node,
                          size_t size, void *async_data);
/* Copies `numblocks` runs of `blocksize` bytes, which begin ld_src and ld_dst bytes
 * after each other, and do not overlap. */
int starpu_interface_copy2d(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t blocksize, size_t numblocks, size_t ld_src,
                            size_t ld_dst, void *async_data);
/* Copies numblocks2 of what the form above copies, ld2_src and ld2_dst bytes apart. */
int starpu_interface_copy3d(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t blocksize, size_t numblocks1, size_t ld1_src,
                            size_t ld1_dst, size_t numblocks2, size_t ld2_src,
                            size_t ld2_dst, void *async_data);
/* Copies numblocks3 of these, ld3_src and ld3_dst bytes apart. */
int starpu_interface_copy4d(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t blocksize, size_t numblocks1, size_t ld1_src,
                            size_t ld1_dst, size_t numblocks2, size_t ld2_src,
                            size_t ld2_dst, size_t numblocks3, size_t ld3_src,
                            size_t ld3_dst, void *async_data);

/* The same for any number of dimensions. Offsets, lengths and leading dimensions
 * are in elements; ldn_*[0] is not read. */
int starpu_interface_copynd(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t elemsize, size_t ndim, uint32_t *nn,
                            uint32_t *ldn_src, uint32_t *ldn_dst,
                            void *async_data);
/* For copy methods that call a device's own functions: says that so many bytes were
 * copied. Traces have that already. */
void starpu_interface_data_copy(unsigned src_node, unsigned dst_node,
                                size_t size);
/* Called before such a function starts a copy: stores the time. */
void starpu_interface_start_driver_copy_async(unsigned src_node,
                                              unsigned dst_node, double *start);
/* Called after it, with that time: warns when it took more than 300 us. */
void starpu_interface_end_driver_copy_async(unsigned src_node,
                                            unsigned dst_node, double start);
/* Where `dst_node` sees bytes of `src_node` without a copy: main memories see
 * each other. Else 0, and *ret is -EIO. */
uintptr_t starpu_interface_map(uintptr_t src, size_t src_offset,
                               unsigned src_node, unsigned dst_node,
                               size_t size, int *ret);
/* Ends that; `dst` is what map returned. 0. */
int starpu_interface_unmap(uintptr_t src, size_t src_offset, unsigned src_node,
                           uintptr_t dst, unsigned dst_node, size_t size);
/* Makes what was written on one side visible on the other. 0. */
int starpu_interface_update_map(uintptr_t src, size_t src_offset,
                                unsigned src_node, uintptr_t dst,
                                size_t dst_offset, unsigned dst_node,
                                size_t size);

/* Allocates memory of a node: an address or a device's handle, the caller's; 0 when
 * there is no room. `flags` are those of starpu_malloc_flags(). */
uintptr_t starpu_malloc_on_node_flags(unsigned dst_node, size_t size,
                                      int flags);
/* With the node's default flags. */
uintptr_t starpu_malloc_on_node(unsigned dst_node, size_t size);
/* Frees it; size and flags are those that it was allocated with. 0 is allowed. */
void starpu_free_on_node_flags(unsigned dst_node, uintptr_t addr, size_t size,
                               int flags);
/* With the node's default flags. */
void starpu_free_on_node(unsigned dst_node, uintptr_t addr, size_t size);
/* The STARPU_MALLOC_ flags of the forms without, and of memory for data:
 * PINNED|COUNT unless changed. Before the first allocation on the node, since
 * memory is freed with the present ones. Without STARPU_MALLOC_COUNT memory is not
 * counted against the node's capacity. */
void starpu_malloc_on_node_set_default_flags(unsigned node, int flags);

/* -- matrix: ny columns of nx elements, ld elements apart -- */

extern struct starpu_data_interface_ops starpu_interface_matrix_ops;

struct starpu_matrix_interface {
    enum starpu_data_interface_id id;
    /* Address on CPUs, device pointer or handle elsewhere. */
    uintptr_t ptr;
    /* The device's handle of the memory, and the start inside it. */
    uintptr_t dev_handle;
    size_t offset;
    uint32_t nx;
    uint32_t ny;
    /* Elements from one column to the next. */
    uint32_t ld;
    size_t elemsize;
    /* Bytes of memory behind it. */
    size_t allocsize;
};

/* Registers ny columns of nx elements of elemsize bytes, ld elements from one to the
 * next, at `ptr` on home_node; -1: there is no memory yet. The memory stays the
 * caller's, who leaves it to the library until starpu_data_unregister(); *handle is
 * the caller's. */
void starpu_matrix_data_register(starpu_data_handle_t *handle, int home_node,
                                 uintptr_t ptr, uint32_t ld, uint32_t nx,
                                 uint32_t ny, size_t elemsize);
/* The same with `allocsize` bytes of memory on each node where the library allocates
 * it. */
void starpu_matrix_data_register_allocsize(starpu_data_handle_t *handle,
                                           int home_node, uintptr_t ptr,
                                           uint32_t ld, uint32_t nx,
                                           uint32_t ny, size_t elemsize,
                                           size_t allocsize);
/* Right after registration: the data also have memory at `ptr` on this node, which is
 * the device's memory dev_handle from `offset` bytes on. It stays the caller's. */
void starpu_matrix_ptr_register(starpu_data_handle_t handle, unsigned node,
                                uintptr_t ptr, uintptr_t dev_handle,
                                size_t offset, uint32_t ld);
/* What was registered: lengths in elements, bytes of an element and of memory. Those
 * with `local` are about the node of the worker that calls, else about where the
 * application has the data, which are acquired there. Data of another kind end the
 * program. */
uint32_t starpu_matrix_get_nx(starpu_data_handle_t handle);
uint32_t starpu_matrix_get_ny(starpu_data_handle_t handle);
uint32_t starpu_matrix_get_local_ld(starpu_data_handle_t handle);
uintptr_t starpu_matrix_get_local_ptr(starpu_data_handle_t handle);
size_t starpu_matrix_get_elemsize(starpu_data_handle_t handle);
size_t starpu_matrix_get_allocsize(starpu_data_handle_t handle);
/* For kernels, filters and copy methods: `interface` is a pointer to the structure, as
 * in buffers[i]. A kernel of a processor uses PTR, one of a device DEV_HANDLE and
 * OFFSET. CHECK ends the program if it is of another kind; SET changes this structure
 * only, not those of other nodes. */
#define STARPU_MATRIX_CHECK(interface)                                         \
    STARPU_ASSERT_MSG(((struct starpu_matrix_interface *)(interface))->id ==   \
                          STARPU_MATRIX_INTERFACE_ID,                          \
                      "Error. The given data is not a matrix.")
#define STARPU_MATRIX_GET_PTR(interface)                                       \
    (((struct starpu_matrix_interface *)(interface))->ptr)
#define STARPU_MATRIX_GET_DEV_HANDLE(interface)                                \
    (((struct starpu_matrix_interface *)(interface))->dev_handle)
#define STARPU_MATRIX_GET_OFFSET(interface)                                    \
    (((struct starpu_matrix_interface *)(interface))->offset)
#define STARPU_MATRIX_GET_NX(interface)                                        \
    (((struct starpu_matrix_interface *)(interface))->nx)
#define STARPU_MATRIX_GET_NY(interface)                                        \
    (((struct starpu_matrix_interface *)(interface))->ny)
#define STARPU_MATRIX_GET_LD(interface)                                        \
    (((struct starpu_matrix_interface *)(interface))->ld)
#define STARPU_MATRIX_GET_ELEMSIZE(interface)                                  \
    (((struct starpu_matrix_interface *)(interface))->elemsize)
#define STARPU_MATRIX_GET_ALLOCSIZE(interface)                                 \
    (((struct starpu_matrix_interface *)(interface))->allocsize)
#define STARPU_MATRIX_SET_NX(interface, newnx)                                 \
    do {                                                                       \
        (((struct starpu_matrix_interface *)(interface))->nx) = (newnx);       \
    } while (0)
#define STARPU_MATRIX_SET_NY(interface, newny)                                 \
    do {                                                                       \
        (((struct starpu_matrix_interface *)(interface))->ny) = (newny);       \
    } while (0)
#define STARPU_MATRIX_SET_LD(interface, newld)                                 \
    do {                                                                       \
        (((struct starpu_matrix_interface *)(interface))->ld) = (newld);       \
    } while (0)

/* -- sparse matrix, coordinates -- */

struct starpu_coo_interface {
    enum starpu_data_interface_id id;
    uint32_t *columns;
    uint32_t *rows;
    uintptr_t values;
    uint32_t nx;
    uint32_t ny;
    uint32_t n_values;
    size_t elemsize;
};

extern struct starpu_data_interface_ops starpu_interface_coo_ops;

/* Registers an nx x ny matrix of n_values elements, element i in column columns[i] and
 * row rows[i], as starpu_matrix_data_register() does. */
void starpu_coo_data_register(starpu_data_handle_t *handleptr, int home_node,
                              uint32_t nx, uint32_t ny, uint32_t n_values,
                              uint32_t *columns, uint32_t *rows,
                              uintptr_t values, size_t elemsize);
/* For kernels, as STARPU_MATRIX_GET_PTR and the like; on a device the three arrays are
 * its handles of memory, which begin at 0. */
#define STARPU_COO_GET_COLUMNS(interface)                                      \
    (((struct starpu_coo_interface *)(interface))->columns)
#define STARPU_COO_GET_COLUMNS_DEV_HANDLE(interface)                           \
    (((struct starpu_coo_interface *)(interface))->columns)
#define STARPU_COO_GET_ROWS(interface)                                         \
    (((struct starpu_coo_interface *)(interface))->rows)
#define STARPU_COO_GET_ROWS_DEV_HANDLE(interface)                              \
    (((struct starpu_coo_interface *)(interface))->rows)
#define STARPU_COO_GET_VALUES(interface)                                       \
    (((struct starpu_coo_interface *)(interface))->values)
#define STARPU_COO_GET_VALUES_DEV_HANDLE(interface)                            \
    (((struct starpu_coo_interface *)(interface))->values)
#define STARPU_COO_GET_OFFSET 0
#define STARPU_COO_GET_NX(interface)                                           \
    (((struct starpu_coo_interface *)(interface))->nx)
#define STARPU_COO_GET_NY(interface)                                           \
    (((struct starpu_coo_interface *)(interface))->ny)
#define STARPU_COO_GET_NVALUES(interface)                                      \
    (((struct starpu_coo_interface *)(interface))->n_values)
#define STARPU_COO_GET_ELEMSIZE(interface)                                     \
    (((struct starpu_coo_interface *)(interface))->elemsize)

/* -- block: nz planes of ny columns of nx elements -- */

extern struct starpu_data_interface_ops starpu_interface_block_ops;

struct starpu_block_interface {
    enum starpu_data_interface_id id;
    uintptr_t ptr;
    uintptr_t dev_handle;
    size_t offset;
    uint32_t nx;
    uint32_t ny;
    uint32_t nz;
    /* Elements from one column, and from one plane, to the next. */
    uint32_t ldy;
    uint32_t ldz;
    size_t elemsize;
};

/* Registers nz planes of ny columns of nx elements, ldy elements from a column and ldz
 * from a plane to the next, as starpu_matrix_data_register() does. */
void starpu_block_data_register(starpu_data_handle_t *handle, int home_node,
                                uintptr_t ptr, uint32_t ldy, uint32_t ldz,
                                uint32_t nx, uint32_t ny, uint32_t nz,
                                size_t elemsize);
/* As starpu_matrix_ptr_register(). */
void starpu_block_ptr_register(starpu_data_handle_t handle, unsigned node,
                               uintptr_t ptr, uintptr_t dev_handle,
                               size_t offset, uint32_t ldy, uint32_t ldz);
/* What was registered, as starpu_matrix_get_nx() and the like. */
uint32_t starpu_block_get_nx(starpu_data_handle_t handle);
uint32_t starpu_block_get_ny(starpu_data_handle_t handle);
uint32_t starpu_block_get_nz(starpu_data_handle_t handle);
uint32_t starpu_block_get_local_ldy(starpu_data_handle_t handle);
uint32_t starpu_block_get_local_ldz(starpu_data_handle_t handle);
uintptr_t starpu_block_get_local_ptr(starpu_data_handle_t handle);
size_t starpu_block_get_elemsize(starpu_data_handle_t handle);
/* For kernels, filters and copy methods, as STARPU_MATRIX_CHECK and the like. */
#define STARPU_BLOCK_CHECK(interface)                                          \
    STARPU_ASSERT_MSG(((struct starpu_block_interface *)(interface))->id ==    \
                          STARPU_BLOCK_INTERFACE_ID,                           \
                      "Error. The given data is not a block.")
#define STARPU_BLOCK_GET_PTR(interface)                                        \
    (((struct starpu_block_interface *)(interface))->ptr)
#define STARPU_BLOCK_GET_DEV_HANDLE(interface)                                 \
    (((struct starpu_block_interface *)(interface))->dev_handle)
#define STARPU_BLOCK_GET_OFFSET(interface)                                     \
    (((struct starpu_block_interface *)(interface))->offset)
#define STARPU_BLOCK_GET_NX(interface)                                         \
    (((struct starpu_block_interface *)(interface))->nx)
#define STARPU_BLOCK_GET_NY(interface)                                         \
    (((struct starpu_block_interface *)(interface))->ny)
#define STARPU_BLOCK_GET_NZ(interface)                                         \
    (((struct starpu_block_interface *)(interface))->nz)
#define STARPU_BLOCK_GET_LDY(interface)                                        \
    (((struct starpu_block_interface *)(interface))->ldy)
#define STARPU_BLOCK_GET_LDZ(interface)                                        \
    (((struct starpu_block_interface *)(interface))->ldz)
#define STARPU_BLOCK_GET_ELEMSIZE(interface)                                   \
    (((struct starpu_block_interface *)(interface))->elemsize)

/* -- tensor: nt blocks of nz planes of ny columns of nx elements -- */

extern struct starpu_data_interface_ops starpu_interface_tensor_ops;

struct starpu_tensor_interface {
    enum starpu_data_interface_id id;
    uintptr_t ptr;
    uintptr_t dev_handle;
    size_t offset;
    uint32_t nx;
    uint32_t ny;
    uint32_t nz;
    uint32_t nt;
    /* Elements from one column, plane and block to the next. */
    uint32_t ldy;
    uint32_t ldz;
    uint32_t ldt;
    size_t elemsize;
};

/* Registers nt blocks of nz planes of ny columns of nx elements; ldy, ldz, ldt elements
 * from a column, a plane, a block to the next; as starpu_matrix_data_register() does. */
void starpu_tensor_data_register(starpu_data_handle_t *handle, int home_node,
                                 uintptr_t ptr, uint32_t ldy, uint32_t ldz,
                                 uint32_t ldt, uint32_t nx, uint32_t ny,
                                 uint32_t nz, uint32_t nt, size_t elemsize);
/* As starpu_matrix_ptr_register(). */
void starpu_tensor_ptr_register(starpu_data_handle_t handle, unsigned node,
                                uintptr_t ptr, uintptr_t dev_handle,
                                size_t offset, uint32_t ldy, uint32_t ldz,
                                uint32_t ldt);
/* What was registered, as starpu_matrix_get_nx() and the like. */
uint32_t starpu_tensor_get_nx(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_ny(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_nz(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_nt(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldy(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldz(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldt(starpu_data_handle_t handle);
uintptr_t starpu_tensor_get_local_ptr(starpu_data_handle_t handle);
size_t starpu_tensor_get_elemsize(starpu_data_handle_t handle);
/* For kernels, filters and copy methods, as STARPU_MATRIX_CHECK and the like. */
#define STARPU_TENSOR_CHECK(interface)                                         \
    STARPU_ASSERT_MSG(((struct starpu_tensor_interface *)(interface))->id ==   \
                          STARPU_TENSOR_INTERFACE_ID,                          \
                      "Error. The given data is not a tensor.")
#define STARPU_TENSOR_GET_PTR(interface)                                       \
    (((struct starpu_tensor_interface *)(interface))->ptr)
#define STARPU_TENSOR_GET_DEV_HANDLE(interface)                                \
    (((struct starpu_tensor_interface *)(interface))->dev_handle)
#define STARPU_TENSOR_GET_OFFSET(interface)                                    \
    (((struct starpu_tensor_interface *)(interface))->offset)
#define STARPU_TENSOR_GET_NX(interface)                                        \
    (((struct starpu_tensor_interface *)(interface))->nx)
#define STARPU_TENSOR_GET_NY(interface)                                        \
    (((struct starpu_tensor_interface *)(interface))->ny)
#define STARPU_TENSOR_GET_NZ(interface)                                        \
    (((struct starpu_tensor_interface *)(interface))->nz)
#define STARPU_TENSOR_GET_NT(interface)                                        \
    (((struct starpu_tensor_interface *)(interface))->nt)
#define STARPU_TENSOR_GET_LDY(interface)                                       \
    (((struct starpu_tensor_interface *)(interface))->ldy)
#define STARPU_TENSOR_GET_LDZ(interface)                                       \
    (((struct starpu_tensor_interface *)(interface))->ldz)
#define STARPU_TENSOR_GET_LDT(interface)                                       \
    (((struct starpu_tensor_interface *)(interface))->ldt)
#define STARPU_TENSOR_GET_ELEMSIZE(interface)                                  \
    (((struct starpu_tensor_interface *)(interface))->elemsize)

/* -- array of any number of dimensions -- */

struct starpu_ndim_interface {
    enum starpu_data_interface_id id;
    uintptr_t ptr;
    uintptr_t dev_handle;
    size_t offset;
    size_t allocsize;
    /* Lengths, and elements between neighbours, of each dimension. */
    uint32_t *nn;
    uint32_t *ldn;
    size_t ndim;
    size_t elemsize;
};

extern struct starpu_data_interface_ops starpu_interface_ndim_ops;

/* Data of nn[0] x nn[1] … elements of elemsize bytes; neighbours along dimension
 * i are ldn[i] elements apart, 1 along the first one unless there are gaps. Both
 * arrays have ndim values and are copied; ldn may be NULL with home node -1. 0
 * dimensions are one element. The arrays that the calls below return are the
 * handle's; those with `local` are about the caller's node, where the data are
 * acquired. */
void starpu_ndim_data_register(starpu_data_handle_t *handleptr, int home_node,
                               uintptr_t ptr, uint32_t *ldn, uint32_t *nn,
                               size_t ndim, size_t elemsize);
/* Right after registration: the data also have memory at `ptr` on a node. */
void starpu_ndim_ptr_register(starpu_data_handle_t handle, unsigned node,
                              uintptr_t ptr, uintptr_t dev_handle,
                              size_t offset, uint32_t *ldn);
/* What was registered, as starpu_matrix_get_nx() and the like: the lengths, that of
 * dimension i, and so on. */
uint32_t *starpu_ndim_get_nn(starpu_data_handle_t handle);
uint32_t starpu_ndim_get_ni(starpu_data_handle_t handle, size_t i);
uint32_t *starpu_ndim_get_local_ldn(starpu_data_handle_t handle);
uint32_t starpu_ndim_get_local_ldi(starpu_data_handle_t handle, size_t i);
uintptr_t starpu_ndim_get_local_ptr(starpu_data_handle_t handle);
size_t starpu_ndim_get_ndim(starpu_data_handle_t handle);
size_t starpu_ndim_get_elemsize(starpu_data_handle_t handle);
/* For kernels, filters and copy methods, as STARPU_MATRIX_CHECK and the like. */
#define STARPU_NDIM_CHECK(interface)                                           \
    STARPU_ASSERT_MSG(((struct starpu_ndim_interface *)(interface))->id ==     \
                          STARPU_NDIM_INTERFACE_ID,                            \
                      "Error. The given data is not a ndim.")
#define STARPU_NDIM_GET_PTR(interface)                                         \
    (((struct starpu_ndim_interface *)(interface))->ptr)
#define STARPU_NDIM_GET_DEV_HANDLE(interface)                                  \
    (((struct starpu_ndim_interface *)(interface))->dev_handle)
#define STARPU_NDIM_GET_OFFSET(interface)                                      \
    (((struct starpu_ndim_interface *)(interface))->offset)
#define STARPU_NDIM_GET_NN(interface)                                          \
    (((struct starpu_ndim_interface *)(interface))->nn)
#define STARPU_NDIM_GET_LDN(interface)                                         \
    (((struct starpu_ndim_interface *)(interface))->ldn)
#define STARPU_NDIM_GET_NDIM(interface)                                        \
    (((struct starpu_ndim_interface *)(interface))->ndim)
#define STARPU_NDIM_GET_ELEMSIZE(interface)                                    \
    (((struct starpu_ndim_interface *)(interface))->elemsize)

/* -- vector: nx elements -- */

extern struct starpu_data_interface_ops starpu_interface_vector_ops;

struct starpu_vector_interface {
    enum starpu_data_interface_id id;
    uintptr_t ptr;
    uintptr_t dev_handle;
    size_t offset;
    uint32_t nx;
    size_t elemsize;
    /* Index of the first element in the vector it was cut from. */
    uint32_t slice_base;
    size_t allocsize;
};

/* Registers nx elements of elemsize bytes, as starpu_matrix_data_register() does. */
void starpu_vector_data_register(starpu_data_handle_t *handle, int home_node,
                                 uintptr_t ptr, uint32_t nx, size_t elemsize);
/* The same with `allocsize` bytes of memory on each node where the library allocates
 * it. */
void starpu_vector_data_register_allocsize(starpu_data_handle_t *handle,
                                           int home_node, uintptr_t ptr,
                                           uint32_t nx, size_t elemsize,
                                           size_t allocsize);
/* As starpu_matrix_ptr_register(). */
void starpu_vector_ptr_register(starpu_data_handle_t handle, unsigned node,
                                uintptr_t ptr, uintptr_t dev_handle,
                                size_t offset);
/* What was registered, as starpu_matrix_get_nx() and the like. */
uint32_t starpu_vector_get_nx(starpu_data_handle_t handle);
size_t starpu_vector_get_elemsize(starpu_data_handle_t handle);
size_t starpu_vector_get_allocsize(starpu_data_handle_t handle);
uintptr_t starpu_vector_get_local_ptr(starpu_data_handle_t handle);
/* For kernels, filters and copy methods, as STARPU_MATRIX_CHECK and the like. */
#define STARPU_VECTOR_CHECK(interface)                                         \
    STARPU_ASSERT_MSG(((struct starpu_vector_interface *)(interface))->id ==   \
                          STARPU_VECTOR_INTERFACE_ID,                          \
                      "Error. The given data is not a vector.")
#define STARPU_VECTOR_GET_PTR(interface)                                       \
    (((struct starpu_vector_interface *)(interface))->ptr)
#define STARPU_VECTOR_GET_DEV_HANDLE(interface)                                \
    (((struct starpu_vector_interface *)(interface))->dev_handle)
#define STARPU_VECTOR_GET_OFFSET(interface)                                    \
    (((struct starpu_vector_interface *)(interface))->offset)
#define STARPU_VECTOR_GET_NX(interface)                                        \
    (((struct starpu_vector_interface *)(interface))->nx)
#define STARPU_VECTOR_GET_ELEMSIZE(interface)                                  \
    (((struct starpu_vector_interface *)(interface))->elemsize)
#define STARPU_VECTOR_GET_ALLOCSIZE(interface)                                 \
    (((struct starpu_vector_interface *)(interface))->allocsize)
#define STARPU_VECTOR_GET_SLICE_BASE(interface)                                \
    (((struct starpu_vector_interface *)(interface))->slice_base)
#define STARPU_VECTOR_SET_NX(interface, newnx)                                 \
    do {                                                                       \
        (((struct starpu_vector_interface *)(interface))->nx) = (newnx);       \
    } while (0)

/* -- variable: some bytes -- */

extern struct starpu_data_interface_ops starpu_interface_variable_ops;

struct starpu_variable_interface {
    enum starpu_data_interface_id id;
    uintptr_t ptr;
    uintptr_t dev_handle;
    size_t offset;
    size_t elemsize;
};

/* Registers `size` bytes, as starpu_matrix_data_register() does. */
void starpu_variable_data_register(starpu_data_handle_t *handle, int home_node,
                                   uintptr_t ptr, size_t size);
/* As starpu_matrix_ptr_register(). */
void starpu_variable_ptr_register(starpu_data_handle_t handle, unsigned node,
                                  uintptr_t ptr, uintptr_t dev_handle,
                                  size_t offset);
/* Bytes, and the address on the caller's node, where the data are acquired. */
size_t starpu_variable_get_elemsize(starpu_data_handle_t handle);
uintptr_t starpu_variable_get_local_ptr(starpu_data_handle_t handle);
/* For kernels, filters and copy methods, as STARPU_MATRIX_CHECK and the like. */
#define STARPU_VARIABLE_CHECK(interface)                                       \
    STARPU_ASSERT_MSG(((struct starpu_variable_interface *)(interface))->id == \
                          STARPU_VARIABLE_INTERFACE_ID,                        \
                      "Error. The given data is not a variable.")
#define STARPU_VARIABLE_GET_PTR(interface)                                     \
    (((struct starpu_variable_interface *)(interface))->ptr)
#define STARPU_VARIABLE_GET_OFFSET(interface)                                  \
    (((struct starpu_variable_interface *)(interface))->offset)
#define STARPU_VARIABLE_GET_ELEMSIZE(interface)                                \
    (((struct starpu_variable_interface *)(interface))->elemsize)
#define STARPU_VARIABLE_GET_DEV_HANDLE(interface)                              \
    (((struct starpu_variable_interface *)(interface))->dev_handle)

/* -- void: no data, only order -- */

extern struct starpu_data_interface_ops starpu_interface_void_ops;

/* Registers data without memory: tasks that access them have an order, and nothing is
 * moved. */
void starpu_void_data_register(starpu_data_handle_t *handle);

/* -- sparse matrix, compressed rows -- */

struct starpu_csr_interface {
    enum starpu_data_interface_id id;
    uint32_t nnz;
    uint32_t nrow;
    uintptr_t nzval;
    uint32_t *colind;
    uint32_t *rowptr;
    uint32_t *ram_colind;
    uint32_t *ram_rowptr;
    uint32_t firstentry;
    size_t elemsize;
};

extern struct starpu_data_interface_ops starpu_interface_csr_ops;

/* Registers a matrix of nnz elements in nrow rows, as starpu_matrix_data_register()
 * does: the elements of row i are numbers rowptr[i] - firstentry to
 * rowptr[i + 1] - firstentry - 1 of nzval, in the columns colind[]. */
void starpu_csr_data_register(starpu_data_handle_t *handle, int home_node,
                              uint32_t nnz, uint32_t nrow, uintptr_t nzval,
                              uint32_t *colind, uint32_t *rowptr,
                              uint32_t firstentry, size_t elemsize);
/* What was registered, as starpu_matrix_get_nx() and the like; the arrays are those of
 * the node. */
uint32_t starpu_csr_get_nnz(starpu_data_handle_t handle);
uint32_t starpu_csr_get_nrow(starpu_data_handle_t handle);
uint32_t starpu_csr_get_firstentry(starpu_data_handle_t handle);
uintptr_t starpu_csr_get_local_nzval(starpu_data_handle_t handle);
uint32_t *starpu_csr_get_local_colind(starpu_data_handle_t handle);
uint32_t *starpu_csr_get_local_rowptr(starpu_data_handle_t handle);
size_t starpu_csr_get_elemsize(starpu_data_handle_t handle);
/* For kernels, as STARPU_MATRIX_GET_PTR and the like; RAM is the array in main memory,
 * whatever the node. NZVAL_DEV_HANDLE is the number of elements, as in StarPU: on a
 * device NZVAL itself is the handle of its memory, which begins at 0. */
#define STARPU_CSR_GET_NNZ(interface)                                          \
    (((struct starpu_csr_interface *)(interface))->nnz)
#define STARPU_CSR_GET_NROW(interface)                                         \
    (((struct starpu_csr_interface *)(interface))->nrow)
#define STARPU_CSR_GET_NZVAL(interface)                                        \
    (((struct starpu_csr_interface *)(interface))->nzval)
#define STARPU_CSR_GET_NZVAL_DEV_HANDLE(interface)                             \
    (((struct starpu_csr_interface *)(interface))->nnz)
#define STARPU_CSR_GET_COLIND(interface)                                       \
    (((struct starpu_csr_interface *)(interface))->colind)
#define STARPU_CSR_GET_RAM_COLIND(interface)                                   \
    (((struct starpu_csr_interface *)(interface))->ram_colind)
#define STARPU_CSR_GET_COLIND_DEV_HANDLE(interface)                            \
    (((struct starpu_csr_interface *)(interface))->colind)
#define STARPU_CSR_GET_ROWPTR(interface)                                       \
    (((struct starpu_csr_interface *)(interface))->rowptr)
#define STARPU_CSR_GET_RAM_ROWPTR(interface)                                   \
    (((struct starpu_csr_interface *)(interface))->ram_rowptr)
#define STARPU_CSR_GET_ROWPTR_DEV_HANDLE(interface)                            \
    (((struct starpu_csr_interface *)(interface))->rowptr)
#define STARPU_CSR_GET_OFFSET 0
#define STARPU_CSR_GET_FIRSTENTRY(interface)                                   \
    (((struct starpu_csr_interface *)(interface))->firstentry)
#define STARPU_CSR_GET_ELEMSIZE(interface)                                     \
    (((struct starpu_csr_interface *)(interface))->elemsize)

/* -- the same of dense r x c blocks -- */

struct starpu_bcsr_interface {
    enum starpu_data_interface_id id;
    uint32_t nnz;
    uint32_t nrow;
    uintptr_t nzval;
    uint32_t *colind;
    uint32_t *rowptr;
    uint32_t *ram_colind;
    uint32_t *ram_rowptr;
    uint32_t firstentry;
    uint32_t r;
    uint32_t c;
    size_t elemsize;
};

extern struct starpu_data_interface_ops starpu_interface_bcsr_ops;

/* Registers a matrix of nnz blocks of r rows of c elements in nrow rows of blocks, as
 * starpu_matrix_data_register() does: the blocks of row i are numbers
 * rowptr[i] - firstentry to rowptr[i + 1] - firstentry - 1 of nzval, in the columns
 * colind[]. */
void starpu_bcsr_data_register(starpu_data_handle_t *handle, int home_node,
                               uint32_t nnz, uint32_t nrow, uintptr_t nzval,
                               uint32_t *colind, uint32_t *rowptr,
                               uint32_t firstentry, uint32_t r, uint32_t c,
                               size_t elemsize);
/* What was registered, as starpu_matrix_get_nx() and the like; the arrays are those of
 * the node. */
uint32_t starpu_bcsr_get_nnz(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_nrow(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_firstentry(starpu_data_handle_t handle);
uintptr_t starpu_bcsr_get_local_nzval(starpu_data_handle_t handle);
uint32_t *starpu_bcsr_get_local_colind(starpu_data_handle_t handle);
uint32_t *starpu_bcsr_get_local_rowptr(starpu_data_handle_t handle);
size_t starpu_bcsr_get_elemsize(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_r(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_c(starpu_data_handle_t handle);
/* For kernels, as STARPU_MATRIX_GET_PTR and the like; RAM is the array in main memory,
 * whatever the node. NZVAL_DEV_HANDLE is the number of blocks, as in StarPU: on a
 * device NZVAL itself is the handle of its memory, which begins at 0. */
#define STARPU_BCSR_GET_NNZ(interface)                                         \
    (((struct starpu_bcsr_interface *)(interface))->nnz)
#define STARPU_BCSR_GET_NROW(interface)                                        \
    (((struct starpu_bcsr_interface *)(interface))->nrow)
#define STARPU_BCSR_GET_NZVAL(interface)                                       \
    (((struct starpu_bcsr_interface *)(interface))->nzval)
#define STARPU_BCSR_GET_NZVAL_DEV_HANDLE(interface)                            \
    (((struct starpu_bcsr_interface *)(interface))->nnz)
#define STARPU_BCSR_GET_COLIND(interface)                                      \
    (((struct starpu_bcsr_interface *)(interface))->colind)
#define STARPU_BCSR_GET_RAM_COLIND(interface)                                  \
    (((struct starpu_bcsr_interface *)(interface))->ram_colind)
#define STARPU_BCSR_GET_COLIND_DEV_HANDLE(interface)                           \
    (((struct starpu_bcsr_interface *)(interface))->colind)
#define STARPU_BCSR_GET_ROWPTR(interface)                                      \
    (((struct starpu_bcsr_interface *)(interface))->rowptr)
#define STARPU_BCSR_GET_RAM_ROWPTR(interface)                                  \
    (((struct starpu_bcsr_interface *)(interface))->ram_rowptr)
#define STARPU_BCSR_GET_ROWPTR_DEV_HANDLE(interface)                           \
    (((struct starpu_bcsr_interface *)(interface))->rowptr)
#define STARPU_BCSR_GET_FIRSTENTRY(interface)                                  \
    (((struct starpu_bcsr_interface *)(interface))->firstentry)
#define STARPU_BCSR_GET_R(interface)                                           \
    (((struct starpu_bcsr_interface *)(interface))->r)
#define STARPU_BCSR_GET_C(interface)                                           \
    (((struct starpu_bcsr_interface *)(interface))->c)
#define STARPU_BCSR_GET_ELEMSIZE(interface)                                    \
    (((struct starpu_bcsr_interface *)(interface))->elemsize)
#define STARPU_BCSR_GET_OFFSET 0

/* -- objects in a different form per sort of device -- */

/* Bytes of an object in each form, 0: none; and codelets of one buffer, which has
 * both forms, that make one from the other: cpu_to_X is executed where X's kernels
 * are, X_to_cpu on a processor, each before the first kernel that needs it. The
 * application acquires the form of main memory. */
struct starpu_multiformat_data_interface_ops {
    size_t cpu_elemsize;
    size_t opencl_elemsize;
    struct starpu_codelet *cpu_to_opencl_cl;
    struct starpu_codelet *opencl_to_cpu_cl;
    size_t cuda_elemsize;
    struct starpu_codelet *cpu_to_cuda_cl;
    struct starpu_codelet *cuda_to_cpu_cl;
};

struct starpu_multiformat_interface {
    enum starpu_data_interface_id id;
    void *cpu_ptr;
    void *cuda_ptr;
    void *hip_ptr;
    void *opencl_ptr;
    uint32_t nx;
    struct starpu_multiformat_data_interface_ops *ops;
};

/* Registers `nobjects` objects at ptr, in the form of the home node, as
 * starpu_matrix_data_register() does. Borrows format_ops until the data are
 * unregistered. */
void starpu_multiformat_data_register(
    starpu_data_handle_t *handle, int home_node, void *ptr, uint32_t nobjects,
    struct starpu_multiformat_data_interface_ops *format_ops);

/* For kernels: the objects in the form of one kind of device, of which a kernel has its
 * own, and conversions both; and how many there are. */
#define STARPU_MULTIFORMAT_GET_CPU_PTR(interface)                              \
    (((struct starpu_multiformat_interface *)(interface))->cpu_ptr)
#define STARPU_MULTIFORMAT_GET_CUDA_PTR(interface)                             \
    (((struct starpu_multiformat_interface *)(interface))->cuda_ptr)
#define STARPU_MULTIFORMAT_GET_HIP_PTR(interface)                              \
    (((struct starpu_multiformat_interface *)(interface))->hip_ptr)
#define STARPU_MULTIFORMAT_GET_OPENCL_PTR(interface)                           \
    (((struct starpu_multiformat_interface *)(interface))->opencl_ptr)
#define STARPU_MULTIFORMAT_GET_NX(interface)                                   \
    (((struct starpu_multiformat_interface *)(interface))->nx)

#ifdef __cplusplus
}
#endif
