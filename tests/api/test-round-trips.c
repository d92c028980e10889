/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-round-trips.c - data of every interface, with every length from one
 * word on and with gaps, go between all pairs of memory nodes and back: as they are,
 * packed, copied to others, duplicated, in pieces of both sorts. No task computes:
 * what a node holds is what copies have brought there. Each word, and each gap, is
 * compared in main memory.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <orrery.h>
#include <starpu.h>

#include "../loopback/use.h"
#include "../random/shape_calls.h"
#include "../rng.h"
#include "../suite.h"

/* -- machines -- */

struct setting {
    const char *name, *value;
};

/* What each machine has beside a disk, and a sort of memory that it must have then. */
static const struct machine {
    const char *name;
    const char *loopback; /* devices, or NULL */
    struct setting settings[8];
    int memory;
} machines[] = {
#ifdef ON_OPENCL
    {"OpenCL devices", "1 seed=3", {{"STARPU_NCPU", "1"}}, STARPU_OPENCL_RAM},
#else
    {"devices that copy to each other",
     "2 peers seed=3",
     {{"STARPU_NCPU", "2"}},
     LOOPBACK_RAM},
    {"NUMA nodes and devices",
     "2 seed=3",
     {{"HWLOC_SYNTHETIC", "pack:2 [numa] core:2 pu:1"},
      {"STARPU_USE_NUMA", "1"}},
     LOOPBACK_RAM},
    {"simulated GPUs",
     NULL,
     {{"ORRERY_MACHINE", TEST_MACHINE},
      {"ORRERY_SIM_KERNELS", "run"},
      {"ORRERY_ASSUME", "kernel[*] = 50us"}},
     STARPU_CUDA_RAM},
    {"GPUs of both vendors and NUMA nodes",
     NULL,
     {{"ORRERY_CUDA_LIBRARY", CUDA_STANDIN},
      {"ORRERY_HIP_LIBRARY", HIP_STANDIN},
      {"GPU_STANDIN", "devices=2 delay=5 seed=3"},
      {"STARPU_NHIP", "1"},
      {"HWLOC_SYNTHETIC", "pack:2 [numa] core:2 pu:1"},
      {"STARPU_USE_NUMA", "1"}},
     STARPU_HIP_RAM},
#endif
};

enum { NMACHINES = sizeof(machines) / sizeof(machines[0]) };

static const struct machine *machine;
static char folder[64];
static unsigned nnodes; /* the disk is the last one */

static void open_machine(int i)
{
    machine = &machines[i];
    for (const struct setting *s = machine->settings; s->name; s++)
        setenv(s->name, s->value, 1);
    if (machine->loopback)
        loopback_use(machine->loopback);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    (void)snprintf(folder, sizeof(folder), "/tmp/orr-trips-%d", (int)getpid());
    nnodes = (unsigned)starpu_disk_register(&starpu_disk_unistd_ops, folder,
                                            32 << 20) +
             1;
    ck_assert_uint_eq(nnodes, starpu_memory_nodes_get_count());
    ck_assert_uint_gt(starpu_memory_nodes_get_count_by_kind(
                          (enum starpu_node_kind)machine->memory),
                      0);
}

static void close_machine(void)
{
    starpu_shutdown();
    (void)rmdir(folder);
}

/* -- interfaces -- */

/* Beside those of layout.h: vectors of the application's with fewer methods. */
enum { BY_PAIRS = NLAYOUTS, WITHIN_MAIN, NKINDS };

static const char *const names[NKINDS] = {"vector",
                                          "variable",
                                          "matrix",
                                          "block",
                                          "tensor",
                                          "ndim",
                                          "CSR",
                                          "BCSR",
                                          "COO",
                                          "void",
                                          "multiformat",
                                          "own",
                                          "own with a method per pair",
                                          "own without devices"};

static int (*copy_any)(void *, unsigned, void *, unsigned, void *);

static int copy_now(void *src, unsigned src_node, void *dst, unsigned dst_node)
{
    return copy_any(src, src_node, dst, dst_node, NULL);
}

static const struct starpu_data_copy_methods methods[] = {
    {.ram_to_ram = copy_now,
     .ram_to_cuda = copy_now,
     .cuda_to_ram = copy_now,
     .cuda_to_cuda = copy_now,
     .ram_to_hip = copy_now,
     .hip_to_ram = copy_now,
     .hip_to_hip = copy_now,
     .ram_to_opencl = copy_now,
     .opencl_to_ram = copy_now,
     .opencl_to_opencl = copy_now},
    {.ram_to_ram = copy_now},
};
static struct starpu_data_interface_ops own_vectors[2];

static void make_own_vectors(void)
{
    copy_any = starpu_interface_vector_ops.copy_methods->any_to_any;
    for (int i = 0; i < 2; i++) {
        own_vectors[i] = starpu_interface_vector_ops;
        own_vectors[i].interfaceid = STARPU_UNKNOWN_INTERFACE_ID;
        own_vectors[i].copy_methods = &methods[i];
    }
}

static enum starpu_node_kind kind_of(unsigned node)
{
    return starpu_node_get_kind(node);
}

static bool is_main(unsigned node)
{
    return kind_of(node) == STARPU_CPU_RAM;
}

static bool can_be_on(int kind, unsigned node)
{
    bool on_disk = kind_of(node) == STARPU_DISK_RAM;

    switch (kind) {
    case BY_PAIRS:
        return (int)kind_of(node) != LOOPBACK_RAM;
    case WITHIN_MAIN:
        return on_disk || is_main(node);
    default:
        return true;
    }
}

static bool can_be_packed(int kind)
{
    return kind != NOTHING && kind != MULTIFORMAT && kind != OWN;
}

/* What converts them runs where the machine's kernels do: not on stand-ins. */
static bool is_convertible(void)
{
    return orrery_is_simulated() ||
           starpu_memory_nodes_get_count_by_kind(FORM_MEMORY) == 0;
}

/* -- data -- */

struct datum {
    int kind;
    struct shape shape;
    int home;
    uint64_t *memory; /* owned: at home; NULL: it has none */
    uint64_t *words;  /* owned: the value */
    size_t nwords;
    starpu_data_handle_t handle;
};

static uint64_t rng;

static unsigned draw(unsigned n)
{
    return (unsigned)(rng_next(&rng) % n);
}

static uint32_t draw_length(void)
{
    static const uint32_t lengths[] = {1, 2, 3, 5, 7, 13};

    return lengths[draw(6)];
}

static struct shape draw_shape(int kind, unsigned most)
{
    static const unsigned char ndims[NKINDS] = {
        [VECTOR] = 1,   [VARIABLE] = 1,    [MATRIX] = 2,      [BLOCK] = 3,
        [TENSOR] = 4,   [NDIM] = MAX_DIMS, [CSR] = 2,         [BCSR] = 2,
        [COO] = 1,      [NOTHING] = 1,     [MULTIFORMAT] = 1, [OWN] = 1,
        [BY_PAIRS] = 1, [WITHIN_MAIN] = 1};
    struct shape s = {
        .layout = (unsigned char)(kind < NLAYOUTS ? kind : VECTOR),
        .ndim = ndims[kind],
        .nn = {1, 1, 1, 1, 1},
    };

    if (kind == NDIM)
        s.ndim = (unsigned char)(1 + draw(MAX_DIMS));
    for (int k = 0; k < s.ndim; k++)
        s.nn[k] = draw_length();
    s.nn[s.ndim - 1] *= 1 + draw(most);
    if (kind == BCSR)
        s.nn[0] *= BLOCK_WORDS;
    if (kind == NOTHING)
        s.nn[0] = 0;
    if (s.ndim > 1 && kind != CSR && kind != BCSR)
        s.pad = (uint16_t)draw(4);
    return s;
}

static void *get(size_t n, size_t size)
{
    void *at = calloc(n + 1, size);

    if (!at)
        abort();
    return at;
}

static void change(struct datum *d)
{
    for (size_t i = 0; i < d->nwords; i++)
        d->words[i] = rng_next(&rng);
}

static void register_own_vector(struct datum *d)
{
    struct starpu_vector_interface given = {
        .id = STARPU_VECTOR_INTERFACE_ID,
        .ptr = (uintptr_t)d->memory,
        .dev_handle = (uintptr_t)d->memory,
        .nx = d->shape.nn[0],
        .elemsize = 8,
        .allocsize = d->nwords * 8,
    };

    starpu_data_register(&d->handle, d->home, &given,
                         &own_vectors[d->kind - BY_PAIRS]);
}

/* home: -1 or a node of main memory. */
static struct datum make_datum(int kind, struct shape shape, int home)
{
    struct datum d = {.kind = kind, .shape = shape, .home = home};

    d.nwords = shape_words(&shape);
    d.words = get(d.nwords, sizeof(*d.words));
    change(&d);
    if (home >= 0 && kind != NOTHING) {
        d.memory = get(shape_home(&shape), sizeof(*d.memory));
        fill_home(&shape, d.memory, d.words);
    }
    if (kind < NLAYOUTS)
        register_shape(&d.handle, home, &shape, d.memory);
    else
        register_own_vector(&d);
    return d;
}

/* A home that is nowhere or in a node of main memory. */
static int draw_home(void)
{
    unsigned node = draw(nnodes + 1);

    return node < nnodes && is_main(node) ? (int)node : (int)draw(2) - 1;
}

static struct datum draw_datum(int kind)
{
    return make_datum(kind, draw_shape(kind, 1), draw_home());
}

/* Why a datum is not what it should be: printf style, into a buffer that stays. */
static void complain(const struct datum *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(const struct datum *d, const char *format, ...)
{
    char said[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(said, sizeof(said), format, args);
    va_end(args);
    ck_abort_msg(
        "%s of %u x %u x %u x %u x %u words, gaps of %u, home %d, on %s: %s",
        names[d->kind], d->shape.nn[0], d->shape.nn[1], d->shape.nn[2],
        d->shape.nn[3], d->shape.nn[4], d->shape.pad, d->home, machine->name,
        said);
}

static void free_datum(struct datum *d)
{
    uint64_t *home = get(d->nwords, sizeof(*home));

    starpu_data_unregister(d->handle);
    if (d->memory && (!read_home(&d->shape, d->memory, home) ||
                      memcmp(home, d->words, d->nwords * sizeof(*home)) != 0))
        complain(d, "is another at home, or its gaps are");
    free(home);
    free(d->memory);
    free(d->words);
}

/* What a handle has on a node of main memory, which is acquired. */
static struct view look(starpu_data_handle_t handle, unsigned node)
{
    return view_of(starpu_data_get_interface_on_node(handle, node), node);
}

static bool view_has(const struct view *v, const uint64_t *words)
{
    size_t n = view_words(v);
    uint64_t *now = get(n, sizeof(*now));
    bool same;

    view_copy(v, now, false);
    same = memcmp(now, words, n * sizeof(*now)) == 0 && view_has_indices(v);
    free(now);
    return same;
}

/* -- acquisitions in all forms -- */

struct acquired {
    starpu_data_handle_t handle;
    int node, done;
};

static void release_it(void *arg)
{
    struct acquired *a = arg;

    starpu_data_release_on_node(a->handle, a->node);
    __atomic_store_n(&a->done, 1, __ATOMIC_RELEASE);
}

static void call_back(starpu_data_handle_t handle, unsigned node,
                      enum starpu_data_access_mode mode)
{
    struct acquired a = {handle, (int)node, 0};

    ck_assert_int_eq(
        starpu_data_acquire_on_node_cb(handle, (int)node, mode, release_it, &a),
        0);
    while (!__atomic_load_n(&a.done, __ATOMIC_ACQUIRE)) {
        starpu_task_wait_for_all();
        starpu_sleep(1e-5f);
    }
}

/* The value is on the node, and, unless it is only read, nowhere else. */
static void visit(starpu_data_handle_t handle, unsigned node,
                  enum starpu_data_access_mode mode)
{
    switch (draw(5)) {
    case 0:
        call_back(handle, node, mode);
        return;
    case 1:
        starpu_data_prefetch_on_node(handle, node, 1);
        break;
    case 2:
        starpu_data_fetch_on_node(handle, node, 0);
        break;
    case 3:
        if (starpu_data_acquire_on_node_try(handle, (int)node, mode) == 0) {
            starpu_data_release_on_node(handle, (int)node);
            return;
        }
        break;
    default:
        break;
    }
    ck_assert_int_eq(starpu_data_acquire_on_node(handle, (int)node, mode), 0);
    if (mode & STARPU_W)
        starpu_data_release_to_on_node(handle, STARPU_R, (int)node);
    starpu_data_release_on_node(handle, (int)node);
}

static void go(const struct datum *d, unsigned node)
{
    visit(d->handle, node, STARPU_RW);
    if (d->kind == NOTHING)
        return;
    for (unsigned other = 0; other < nnodes; other++)
        if (starpu_data_is_on_node(d->handle, other) != (other == node))
            complain(d, "goes to node %u, and node %u is not as that says",
                     node, other);
}

/* A new value, from main memory. */
static void fill(struct datum *d)
{
    struct view v;

    ck_assert_int_eq(
        starpu_data_acquire_on_node(d->handle, STARPU_MAIN_RAM, STARPU_W), 0);
    change(d);
    if (d->kind != NOTHING) {
        v = look(d->handle, STARPU_MAIN_RAM);
        view_copy(&v, d->words, true);
        view_set_indices(&v);
    }
    starpu_data_release_on_node(d->handle, STARPU_MAIN_RAM);
}

static void check(const struct datum *d, unsigned from, unsigned to)
{
    struct view v;

    ck_assert_int_eq(
        starpu_data_acquire_on_node(d->handle, STARPU_MAIN_RAM, STARPU_R), 0);
    if (d->kind != NOTHING) {
        v = look(d->handle, STARPU_MAIN_RAM);
        if (!view_has(&v, d->words))
            complain(d, "from node %u to node %u it changes", from, to);
    }
    starpu_data_release_on_node(d->handle, STARPU_MAIN_RAM);
}

/* -- the trips -- */

typedef void trip_func(int kind, unsigned from, unsigned to);

/* Calls `trip' for all pairs of nodes where data of the kind can be, or for about
 * `most' pairs per node. */
static void for_pairs(int kind, unsigned most, trip_func *trip)
{
    if (kind == MULTIFORMAT && !is_convertible())
        return;
    for (unsigned from = 0; from < nnodes; from++)
        for (unsigned to = 0; to < nnodes; to++)
            if (can_be_on(kind, from) && can_be_on(kind, to) &&
                draw(nnodes) < most)
                trip(kind, from, to);
}

static void run(int i, unsigned most, trip_func *trip)
{
    make_own_vectors();
    open_machine(i);
    rng = rng_of((uint64_t)i);
    for (int kind = 0; kind < NKINDS; kind++)
        for_pairs(kind, most, trip);
    close_machine();
}

static void travel(int kind, unsigned from, unsigned to)
{
    struct datum d = draw_datum(kind);

    fill(&d);
    go(&d, from);
    go(&d, to);
    check(&d, from, to);
    free_datum(&d);
}

START_TEST(values_travel_between_all_nodes)
{
    run(_i, STARPU_MAXNODES, travel);
}
END_TEST

static unsigned draw_main(void)
{
    unsigned node = draw(nnodes);

    return is_main(node) ? node : STARPU_MAIN_RAM;
}

/* Packed data are the indices of sparse ones, then the words. */
static uint64_t *packed_words(const struct datum *d, void *bytes,
                              starpu_ssize_t count)
{
    size_t n[2], size = d->nwords * sizeof(uint64_t);

    shape_indices(&d->shape, n);
    if ((size_t)count != size + (n[0] + n[1]) * sizeof(uint32_t))
        complain(d, "is packed in %zd bytes", (ssize_t)count);
    return (uint64_t *)((char *)bytes + (size_t)count - size);
}

static void travel_packed(int kind, unsigned from, unsigned to)
{
    struct datum d;
    unsigned main;
    void *bytes = NULL;
    starpu_ssize_t count;
    char *words;

    if (!can_be_packed(kind))
        return;
    d = draw_datum(kind);
    main = draw_main();
    fill(&d);
    go(&d, from);
    starpu_data_acquire_on_node(d.handle, (int)main, STARPU_RW);
    ck_assert_int_eq(starpu_data_pack_node(d.handle, main, &bytes, &count), 0);
    words = (char *)packed_words(&d, bytes, count);
    if (memcmp(words, d.words, d.nwords * sizeof(uint64_t)) != 0)
        complain(&d, "from node %u is packed as another", from);
    change(&d);
    memcpy(words, d.words, d.nwords * sizeof(uint64_t));
    if (draw(2)) {
        ck_assert_int_eq(
            starpu_data_peek_node(d.handle, main, bytes, (size_t)count), 0);
        starpu_free_on_node_flags(main, (uintptr_t)bytes, (size_t)count, 0);
    } else {
        ck_assert_int_eq(
            starpu_data_unpack_node(d.handle, main, bytes, (size_t)count), 0);
    }
    starpu_data_release_on_node(d.handle, (int)main);
    go(&d, to);
    check(&d, from, to);
    free_datum(&d);
}

START_TEST(packed_values_travel)
{
    run(_i, 3, travel_packed);
}
END_TEST

/* The tasks that copy run where they like. */
static bool can_be_everywhere(int kind)
{
    for (unsigned node = 0; node < nnodes; node++)
        if (!can_be_on(kind, node))
            return false;
    return true;
}

static void travel_copied(int kind, unsigned from, unsigned to)
{
    struct datum d, other, duplicate;
    struct shape shape;

    if (!can_be_everywhere(kind))
        return;
    d = draw_datum(kind);
    shape = d.shape;
    if (shape.ndim > 1 && kind != CSR && kind != BCSR)
        shape.pad = (uint16_t)draw(4);
    other = make_datum(kind, shape, draw_home());
    fill(&d);
    fill(&other);
    go(&d, from);
    go(&other, to);
    ck_assert_int_eq(
        starpu_data_cpy(other.handle, d.handle, (int)draw(2), NULL, NULL), 0);
    memcpy(other.words, d.words, d.nwords * sizeof(*d.words));
    check(&other, from, to);
    go(&d, from);
    duplicate = d;
    duplicate.words = get(d.nwords, sizeof(*d.words));
    memcpy(duplicate.words, d.words, d.nwords * sizeof(*d.words));
    ck_assert_int_eq(
        starpu_data_dup_ro(&duplicate.handle, d.handle, (int)draw(2)), 0);
    fill(&d);
    visit(duplicate.handle, to, STARPU_R);
    check(&duplicate, from, to);
    check(&d, 0, 0);
    starpu_data_unregister(duplicate.handle);
    free(duplicate.words);
    free_datum(&other);
    free_datum(&d);
}

START_TEST(copies_of_values_travel)
{
    run(_i, 3, travel_copied);
}
END_TEST

/* -- pieces -- */

static bool draw_cut(const struct datum *d, struct cut *ret)
{
    const struct shape *shape = &d->shape;
    bool by_rows = d->kind == CSR || d->kind == BCSR;

    /* Where to cut such a matrix says what was registered. */
    if (d->kind >= NLAYOUTS || (by_rows && d->home < 0))
        return false;
    for (int i = 0; i < 50; i++) {
        ret->axis = (unsigned char)draw(shape->ndim);
        ret->style = (unsigned char)draw(3);
        ret->n = (unsigned char)(1 + draw(MAX_PIECES));
        if (ret->style == PICKED)
            ret->n = (unsigned char)(shape->nn[ret->axis] <= MAX_PIECES
                                         ? shape->nn[ret->axis]
                                         : 0);
        if (shape_can_be_cut(shape, ret))
            return true;
    }
    return false;
}

/* A piece goes there, and has another value when it comes back. */
static void travel_piece(struct datum *d, const struct cut *cut, unsigned i,
                         starpu_data_handle_t piece, unsigned to)
{
    struct view dense = view_dense(&d->shape, d->words);
    struct view mine = cut_view(&dense, cut, i), now;
    uint64_t *words = get(view_words(&mine), sizeof(*words));

    view_copy(&mine, words, false);
    visit(piece, to, STARPU_RW);
    ck_assert_int_eq(
        starpu_data_acquire_on_node(piece, STARPU_MAIN_RAM, STARPU_RW), 0);
    now = look(piece, STARPU_MAIN_RAM);
    if (!view_has(&now, words))
        complain(d, "piece %u of %u along %u, style %u, changes by node %u", i,
                 cut->n, cut->axis, cut->style, to);
    for (size_t k = 0; k < view_words(&mine); k++)
        words[k] = rng_next(&rng);
    view_copy(&now, words, true);
    view_copy(&mine, words, true);
    free(words);
    starpu_data_release_on_node(piece, STARPU_MAIN_RAM);
}

/* The value is somewhere, and is in the end. */
static void cut(struct datum *d, unsigned from, unsigned to)
{
    struct filter filter;
    struct cut cut;

    if (!draw_cut(d, &cut))
        return;
    starpu_data_partition(d->handle, make_filter(&d->shape, &cut, &filter));
    for (unsigned i = 0; i < cut.n; i++) {
        starpu_data_handle_t piece = starpu_data_get_child(d->handle, (int)i);

        travel_piece(d, &cut, i, piece, to);
        visit(piece, draw(2) ? from : to, STARPU_RW);
    }
    starpu_data_unpartition(d->handle, (int)(draw(2) ? from : to));
}

/* With or without being asked for explicitly. */
static void cut_by_plan(struct datum *d, unsigned from, unsigned to)
{
    starpu_data_handle_t pieces[MAX_PIECES];
    struct filter filter;
    struct cut cut;

    if (!draw_cut(d, &cut))
        return;
    starpu_data_partition_plan(d->handle, make_filter(&d->shape, &cut, &filter),
                               pieces);
    for (int round = 0; round < 2; round++) {
        if (draw(2))
            starpu_data_partition_submit(d->handle, cut.n, pieces);
        for (unsigned i = 0; i < cut.n; i++) {
            travel_piece(d, &cut, i, pieces[i], to);
            visit(pieces[i], draw(2) ? from : to, STARPU_RW);
        }
        if (draw(2))
            starpu_data_unpartition_submit(d->handle, cut.n, pieces,
                                           draw(2) ? d->home : -1);
        visit(d->handle, from, STARPU_RW);
        check(d, from, to);
    }
    starpu_data_partition_clean(d->handle, cut.n, pieces);
}

static void travel_pieces(int kind, unsigned from, unsigned to)
{
    struct datum d = draw_datum(kind);

    fill(&d);
    go(&d, from);
    cut(&d, from, to);
    check(&d, from, to);
    free_datum(&d);
}

START_TEST(pieces_travel)
{
    run(_i, 3, travel_pieces);
}
END_TEST

static void travel_planned(int kind, unsigned from, unsigned to)
{
    struct datum d = draw_datum(kind);

    fill(&d);
    go(&d, from);
    cut_by_plan(&d, from, to);
    check(&d, from, to);
    free_datum(&d);
}

START_TEST(planned_pieces_travel)
{
    run(_i, 3, travel_planned);
}
END_TEST

/* -- homes that are devices -- */

/* Bytes of the node and of main memory. */
static void copy_bytes(void *main, uintptr_t there, unsigned node, size_t size,
                       bool to_main)
{
    if (to_main)
        starpu_interface_copy(there, 0, node, (uintptr_t)main, 0, 0, size,
                              NULL);
    else
        starpu_interface_copy((uintptr_t)main, 0, 0, there, 0, node, size,
                              NULL);
}

static void travel_from_home(int kind, unsigned home, unsigned to)
{
    struct shape shape = draw_shape(kind, 1);
    size_t size = shape_home(&shape) * sizeof(uint64_t);
    uint64_t *image, *now;
    uintptr_t there;
    struct datum d = {.kind = kind, .shape = shape, .home = (int)home};

    if (kind > NDIM || (int)kind_of(home) == STARPU_OPENCL_RAM ||
        kind_of(home) == STARPU_DISK_RAM)
        return;
    d.nwords = shape_words(&shape);
    d.words = get(d.nwords, sizeof(*d.words));
    image = get(size, 1);
    change(&d);
    fill_home(&shape, image, d.words);
    there = starpu_malloc_on_node(home, size);
    ck_assert_uint_ne(there, 0);
    copy_bytes(image, there, home, size, false);
    register_shape(&d.handle, (int)home, &shape, (uint64_t *)there);
    go(&d, to);
    check(&d, home, to);
    cut(&d, home, to);
    cut_by_plan(&d, home, to);
    check(&d, home, to);
    fill(&d);
    go(&d, to);
    starpu_data_unregister(d.handle);
    copy_bytes(image, there, home, size, true);
    now = get(d.nwords, sizeof(*now));
    if (!read_home(&shape, image, now) ||
        memcmp(now, d.words, d.nwords * sizeof(*now)) != 0)
        complain(&d, "is another at home after node %u, or its gaps are", to);
    free(now);
    starpu_free_on_node(home, there, size);
    free(image);
    free(d.words);
}

START_TEST(values_return_to_homes_on_devices)
{
    run(_i, 3, travel_from_home);
}
END_TEST

SUITE_MAIN(round_trips)
{
    Suite *suite = suite_create("round trips");

#define EACH(test)                                                             \
    do {                                                                       \
        TCase *tcase = tcase_create(#test);                                    \
                                                                               \
        tcase_set_timeout(tcase, 120);                                         \
        tcase_add_loop_test(tcase, test, 0, NMACHINES);                        \
        suite_add_tcase(suite, tcase);                                         \
    } while (0)
    EACH(values_travel_between_all_nodes);
    EACH(packed_values_travel);
    EACH(copies_of_values_travel);
    EACH(pieces_travel);
    EACH(planned_pieces_travel);
    EACH(values_return_to_homes_on_devices);
    return suite_main(suite);
}
