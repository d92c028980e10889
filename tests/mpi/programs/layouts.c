/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/layouts.c - data of an interface of the application's: two ints with
 * something between them, which is no part of the value. Packed by the interface, and
 * described by a datatype of MPI.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "ranks.h"

struct pair {
    int first;
    char between[20];
    int second;
};

/* Its interface: where it lies. */
struct place {
    struct pair *pair;
};

static struct starpu_data_interface_ops ops;

static struct place *place_on(starpu_data_handle_t handle, unsigned node)
{
    return starpu_data_get_interface_on_node(handle, node);
}

static void register_handle(starpu_data_handle_t handle, int home, void *interface)
{
    for (unsigned node = 0; node < STARPU_MAXNODES; node++)
        place_on(handle, node)->pair =
            (int)node == home ? ((struct place *)interface)->pair : NULL;
}

static starpu_ssize_t allocate(void *interface, unsigned node)
{
    struct place *place = interface;

    place->pair = (struct pair *)starpu_malloc_on_node(node, sizeof(*place->pair));
    return place->pair ? (starpu_ssize_t)sizeof(*place->pair) : -ENOMEM;
}

static void release(void *interface, unsigned node)
{
    struct place *place = interface;

    starpu_free_on_node(node, (uintptr_t)place->pair, sizeof(*place->pair));
    place->pair = NULL;
}

static size_t get_size(starpu_data_handle_t handle)
{
    (void)handle;
    return sizeof(struct pair);
}

static uint32_t footprint(starpu_data_handle_t handle)
{
    (void)handle;
    return 1;
}

static void *to_pointer(void *interface, unsigned node)
{
    (void)node;
    return ((struct place *)interface)->pair;
}

static int copy(void *from, unsigned from_node, void *to, unsigned to_node, void *async)
{
    return starpu_interface_copy((uintptr_t)((struct place *)from)->pair, 0, from_node,
                                 (uintptr_t)((struct place *)to)->pair, 0, to_node,
                                 sizeof(struct pair), async);
}

static const struct starpu_data_copy_methods methods = {.any_to_any = copy};

static int npacked, npeeked, ntypes;

static int pack(starpu_data_handle_t handle, unsigned node, void **ptr,
                starpu_ssize_t *count)
{
    const struct pair *pair = place_on(handle, node)->pair;
    int *packed;

    *count = 2 * sizeof(int);
    if (!ptr)
        return 0;
    packed = (int *)starpu_malloc_on_node_flags(node, 2 * sizeof(int), 0);
    packed[0] = pair->first;
    packed[1] = pair->second;
    *ptr = packed;
    npacked++;
    return 0;
}

static int peek(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
    struct pair *pair = place_on(handle, node)->pair;
    const int *packed = ptr;

    EXPECT_EQ(count, 2 * sizeof(int));
    pair->first = packed[0];
    pair->second = packed[1];
    npeeked++;
    return 0;
}

static int unpack(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
    int rc = peek(handle, node, ptr, count);

    starpu_free_on_node_flags(node, (uintptr_t)ptr, count, 0);
    return rc;
}

static starpu_data_handle_t pair_register(struct pair *pair)
{
    struct place place = {pair};
    starpu_data_handle_t handle;

    if (!ops.register_data_handle)
        ops = (struct starpu_data_interface_ops){
            .register_data_handle = register_handle,
            .allocate_data_on_node = allocate,
            .free_data_on_node = release,
            .copy_methods = &methods,
            .to_pointer = to_pointer,
            .get_size = get_size,
            .footprint = footprint,
            .pack_data = pack,
            .peek_data = peek,
            .unpack_data = unpack,
            .interface_size = sizeof(struct place),
            .interfaceid = (enum starpu_data_interface_id)
                starpu_data_interface_get_next_id(),
        };
    starpu_data_register(&handle, STARPU_MAIN_RAM, &place, &ops);
    return handle;
}

/* --- datatypes --- */

static int make_type(MPI_Datatype *type)
{
    MPI_Aint places[2] = {offsetof(struct pair, first), offsetof(struct pair, second)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    int n[2] = {1, 1};

    ntypes++;
    MPI_Type_create_struct(2, n, places, types, type);
    return MPI_Type_commit(type) != MPI_SUCCESS;
}

static int allocate_type(starpu_data_handle_t handle, MPI_Datatype *type)
{
    (void)handle;
    return make_type(type);
}

static int allocate_type_on(starpu_data_handle_t handle, unsigned node, MPI_Datatype *type)
{
    (void)handle;
    (void)node;
    return make_type(type);
}

/* It does not know. */
static int allocate_none(starpu_data_handle_t handle, unsigned node, MPI_Datatype *type)
{
    (void)handle;
    (void)node;
    (void)type;
    return 1;
}

static void free_type(MPI_Datatype *type)
{
    MPI_Type_free(type);
}

/* Sends a pair around, which comes before somebody asks for it if it is early, and looks
 * how. */
static void send_around_once(bool by_type, bool early)
{
    struct pair mine = {ranks_me, "mine", 100 + ranks_me}, theirs = {-1, "theirs", -1};
    starpu_data_handle_t to = pair_register(&mine), from = pair_register(&theirs);
    int before = (ranks_me + ranks_n - 1) % ranks_n;

    npacked = npeeked = ntypes = 0;
    starpu_mpi_isend_detached(to, (ranks_me + 1) % ranks_n, 1, MPI_COMM_WORLD, NULL, NULL);
    if (early)
        starpu_mpi_barrier(MPI_COMM_WORLD);
    starpu_mpi_recv(from, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    starpu_data_unregister(from);
    starpu_data_unregister(to);
    EXPECT_EQ(theirs.first, before);
    EXPECT_EQ(theirs.second, 100 + before);
    EXPECT(strcmp(theirs.between, "theirs") == 0);
    EXPECT_EQ(npacked > 0, !by_type);
    EXPECT_EQ(npeeked > 0, !by_type);
    EXPECT_EQ(ntypes > 0, by_type);
    /* Nobody registers one before all are here. */
    starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void send_around(bool by_type)
{
    send_around_once(by_type, false);
    send_around_once(by_type, true);
}

static void packed(void)
{
    send_around(false);
}

/* From each rank to all, which pass it on; the value is written behind the sends. */
static void send_to_all(bool by_type)
{
    for (int root = 0; root < ranks_n; root++) {
        struct pair pair = {-1, "between", -1};
        starpu_data_handle_t handle = pair_register(&pair);

        npacked = npeeked = ntypes = 0;
        if (ranks_me == root) {
            starpu_data_acquire(handle, STARPU_W);
            for (int r = 0; r < ranks_n; r++)
                if (r != root)
                    starpu_mpi_isend_detached(handle, r, 2, MPI_COMM_WORLD, NULL, NULL);
            pair.first = 7 + root;
            pair.second = 8 + root;
            starpu_data_release(handle);
        } else {
            starpu_mpi_irecv_detached(handle, root, 2, MPI_COMM_WORLD, NULL, NULL);
        }
        starpu_mpi_wait_for_all(MPI_COMM_WORLD);
        starpu_data_unregister(handle);
        EXPECT_EQ(pair.first, 7 + root);
        EXPECT_EQ(pair.second, 8 + root);
        EXPECT(strcmp(pair.between, "between") == 0);
        EXPECT_EQ(npacked + npeeked > 0, !by_type);
        EXPECT_EQ(ntypes > 0, by_type);
        starpu_mpi_barrier(MPI_COMM_WORLD);
    }
}

static void to_all(void)
{
    struct pair pair = {0};
    starpu_data_handle_t handle = pair_register(&pair);

    send_to_all(false);
    starpu_mpi_datatype_register(handle, allocate_type, free_type);
    send_to_all(true);
    starpu_mpi_datatype_node_register(handle, allocate_type_on, free_type);
    send_to_all(true);
    starpu_mpi_datatype_unregister(handle);
    starpu_data_unregister(handle);
}

static void described(void)
{
    struct pair pair = {0};
    starpu_data_handle_t handle = pair_register(&pair);

    EXPECT_EQ(starpu_mpi_interface_datatype_register(ops.interfaceid, allocate_type,
                                                     free_type),
              0);
    send_around(true);
    EXPECT_EQ(starpu_mpi_interface_datatype_node_register(ops.interfaceid, allocate_none,
                                                          free_type),
              0);
    send_around(false);
    EXPECT_EQ(starpu_mpi_interface_datatype_node_register(ops.interfaceid,
                                                          allocate_type_on, free_type),
              0);
    send_around(true);
    EXPECT_EQ(starpu_mpi_interface_datatype_unregister(ops.interfaceid), 0);
    send_around(false);
    EXPECT_EQ(starpu_mpi_datatype_register(handle, allocate_type, free_type), 0);
    send_around(true);
    EXPECT_EQ(starpu_mpi_datatype_node_register(handle, allocate_type_on, free_type), 0);
    send_around(true);
    EXPECT_EQ(starpu_mpi_datatype_unregister(handle), 0);
    send_around(false);
    starpu_data_unregister(handle);
}

RANKS_MAIN({"packed by the interface", packed}, {"described by a datatype", described},
           {"sent to all", to_all})
