/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-disk-places.c - planned partitions of data that main memory has no room
 * for, whose parts' places are no ranges of dense data: cut by filters of the
 * application's out of sparse matrices and data of its own, or leaving something out.
 * On each machine.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"

enum { KIB = 1024 };

/* Data of at least 256 KiB, a quarter more than fits into the 4 MiB of main
 * memory; the GPUs have 2 MiB each. */
enum { NDATA = 20, NX = 64 * KIB, NPARTS = 4, LENGTH = NX / NPARTS };

/* Rows of sparse matrices, blocks of matrices of blocks, what is left out behind each
 * part of a vector. */
enum { NROWS = 256, SIDE = 64, NBLOCKS = NX / SIDE / SIDE, GAP = 100 };

static char directory[] = "/tmp/orrery-test-disk-places-XXXXXX";

/* `path`: the description of the simulated machine, NULL: the usual one. */
static void open_small(int machine, const char *path)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
    setenv("STARPU_LIMIT_CPU_MEM", "4", 1);
    setenv("STARPU_LIMIT_CUDA_MEM", "2", 1);
    machine_choose(machine);
    if (path)
        setenv("ORRERY_MACHINE", path, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_ge(starpu_disk_register(&starpu_disk_unistd_ops, directory,
                                          64 * KIB * KIB),
                     1);
}

static void close_all(void)
{
    starpu_shutdown();
    ck_assert_int_eq(rmdir(directory), 0);
}

/* --- an interface of the application's: two arrays and a number --- */

struct pair {
    uint32_t start; /* in the whole, of its first element */
    uint32_t n;
    uint32_t *first;
    uint32_t *second;
};

static struct pair *pair_on(starpu_data_handle_t handle, unsigned node)
{
    return starpu_data_get_interface_on_node(handle, node);
}

static void pair_register(starpu_data_handle_t handle, int home,
                          void *interface)
{
    (void)home;
    for (unsigned node = 0; node < STARPU_MAXNODES; node++)
        *pair_on(handle, node) = *(struct pair *)interface;
}

static starpu_ssize_t pair_allocate(void *interface, unsigned node)
{
    struct pair *pair = interface;
    size_t bytes = pair->n * sizeof(uint32_t);
    uintptr_t first = starpu_malloc_on_node(node, bytes);
    uintptr_t second = first ? starpu_malloc_on_node(node, bytes) : 0;

    if (!second) {
        if (first)
            starpu_free_on_node(node, first, bytes);
        return -ENOMEM;
    }
    pair->first = (uint32_t *)first;
    pair->second = (uint32_t *)second;
    return (starpu_ssize_t)(2 * bytes);
}

static void pair_free(void *interface, unsigned node)
{
    struct pair *pair = interface;
    size_t bytes = pair->n * sizeof(uint32_t);

    starpu_free_on_node(node, (uintptr_t)pair->first, bytes);
    starpu_free_on_node(node, (uintptr_t)pair->second, bytes);
}

static size_t pair_size(starpu_data_handle_t handle)
{
    return 2 * pair_on(handle, STARPU_MAIN_RAM)->n * sizeof(uint32_t);
}

static uint32_t pair_footprint(starpu_data_handle_t handle)
{
    return pair_on(handle, STARPU_MAIN_RAM)->n;
}

static int pair_copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
                     void *async_data)
{
    struct pair *from = src, *to = dst;
    size_t bytes = from->n * sizeof(uint32_t);
    int first = starpu_interface_copy((uintptr_t)from->first, 0, src_node,
                                      (uintptr_t)to->first, 0, dst_node, bytes,
                                      async_data);
    int second = starpu_interface_copy((uintptr_t)from->second, 0, src_node,
                                       (uintptr_t)to->second, 0, dst_node,
                                       bytes, async_data);

    return first ? first : second;
}

static const struct starpu_data_copy_methods pair_methods = {.any_to_any =
                                                                 pair_copy};

static struct starpu_data_interface_ops pair_ops = {
    .register_data_handle = pair_register,
    .allocate_data_on_node = pair_allocate,
    .free_data_on_node = pair_free,
    .copy_methods = &pair_methods,
    .get_size = pair_size,
    .footprint = pair_footprint,
    .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
    .interface_size = sizeof(struct pair),
};

/* --- filters --- */

static void cut_pair(void *father, void *child, struct starpu_data_filter *f,
                     unsigned id, unsigned n)
{
    const struct pair *whole = father;
    struct pair *part = child;

    (void)f, (void)n;
    part->start = whole->start + id * LENGTH;
    part->n = LENGTH;
    part->first = whole->first ? whole->first + id * LENGTH : NULL;
    part->second = whole->second ? whole->second + id * LENGTH : NULL;
}

/* The last GAP elements of each quarter are nobody's. */
static void leave_gaps(void *father, void *child, struct starpu_data_filter *f,
                       unsigned id, unsigned n)
{
    const struct starpu_vector_interface *whole = father;
    struct starpu_vector_interface *part = child;
    size_t offset = (size_t)id * LENGTH * whole->elemsize;

    (void)f, (void)n;
    *part = *whole;
    part->nx = LENGTH - GAP;
    part->allocsize = part->nx * part->elemsize;
    part->ptr = whole->ptr ? whole->ptr + offset : 0;
    part->dev_handle = whole->dev_handle;
    part->offset = whole->offset + offset;
}

static void cut_coo(void *father, void *child, struct starpu_data_filter *f,
                    unsigned id, unsigned n)
{
    const struct starpu_coo_interface *whole = father;
    struct starpu_coo_interface *part = child;

    (void)f, (void)n;
    *part = *whole;
    part->n_values = LENGTH;
    part->columns += whole->columns ? id * LENGTH : 0;
    part->rows += whole->rows ? id * LENGTH : 0;
    part->values += whole->values ? id * LENGTH * whole->elemsize : 0;
}

/* The application knows that all rows have equally many elements. */
static void cut_csr(void *father, void *child, struct starpu_data_filter *f,
                    unsigned id, unsigned n)
{
    const struct starpu_csr_interface *whole = father;
    struct starpu_csr_interface *part = child;

    (void)f, (void)n;
    *part = *whole;
    part->nnz = LENGTH;
    part->nrow = NROWS / NPARTS;
    part->firstentry = id * LENGTH;
    part->colind += whole->colind ? id * LENGTH : 0;
    part->rowptr += whole->rowptr ? id * (NROWS / NPARTS) : 0;
    part->nzval += whole->nzval ? id * LENGTH * whole->elemsize : 0;
}

/* --- data of each sort --- */

enum sort { PAIR, GAPS, COO, CSR, BLOCKS, NSORTS };

static const struct {
    struct starpu_data_filter filter;
    unsigned step, length; /* from one part to the next, of a part */
} sorts[NSORTS] = {
    [PAIR] = {{.filter_func = cut_pair, .nchildren = NPARTS}, LENGTH, LENGTH},
    [GAPS] = {{.filter_func = leave_gaps, .nchildren = NPARTS},
              LENGTH,
              LENGTH - GAP},
    [COO] = {{.filter_func = cut_coo, .nchildren = NPARTS}, LENGTH, LENGTH},
    [CSR] = {{.filter_func = cut_csr, .nchildren = NPARTS}, LENGTH, LENGTH},
    [BLOCKS] = {{.filter_func = starpu_bcsr_filter_canonical_block,
                 .nchildren = NBLOCKS,
                 .get_child_ops = starpu_bcsr_filter_canonical_block_child_ops},
                SIDE *SIDE,
                SIDE *SIDE},
};

static void declare(starpu_data_handle_t *handle, enum sort sort)
{
    struct pair pair = {.n = NX};

    switch (sort) {
    case PAIR:
        starpu_data_register(handle, -1, &pair, &pair_ops);
        break;
    case GAPS:
        starpu_vector_data_register(handle, -1, 0, NX, sizeof(uint32_t));
        break;
    case COO:
        starpu_coo_data_register(handle, -1, NX, NX, NX, NULL, NULL, 0,
                                 sizeof(uint32_t));
        break;
    case CSR:
        starpu_csr_data_register(handle, -1, NX, NROWS, 0, NULL, NULL, 0,
                                 sizeof(uint32_t));
        break;
    default:
        starpu_bcsr_data_register(handle, -1, NBLOCKS, 1, 0, NULL, NULL, 0,
                                  SIDE, SIDE, sizeof(uint32_t));
        break;
    }
}

/* The arrays of the data on a node, with how many elements each. */
struct arrays {
    uint32_t *at[3];
    unsigned n[3];
};

static struct arrays of_rows(uintptr_t values, unsigned n, uint32_t *columns,
                             unsigned nnz, uint32_t *rows, unsigned nrow)
{
    return (struct arrays){{(uint32_t *)values, columns, rows},
                           {n, nnz, nrow + 1}};
}

static struct arrays arrays_of(void *interface, enum sort sort, int is_part)
{
    const struct starpu_bcsr_interface *b = interface;
    const struct starpu_csr_interface *c = interface;
    const struct starpu_coo_interface *o = interface;
    const struct starpu_vector_interface *v = interface;
    const struct pair *p = interface;

    switch (sort) {
    case PAIR:
        return (struct arrays){{p->first, p->second}, {p->n, p->n}};
    case GAPS:
        return (struct arrays){{(uint32_t *)v->ptr}, {(unsigned)v->nx}};
    case COO:
        return (struct arrays){{(uint32_t *)o->values, o->columns, o->rows},
                               {o->n_values, o->n_values, o->n_values}};
    case CSR:
        return of_rows(c->nzval, c->nnz, c->colind, c->nnz, c->rowptr, c->nrow);
    default:
        if (is_part)
            return (struct arrays){
                {(uint32_t *)STARPU_MATRIX_GET_PTR(interface)}, {SIDE * SIDE}};
        return of_rows(b->nzval, b->nnz * SIDE * SIDE, b->colind, b->nnz,
                       b->rowptr, b->nrow);
    }
}

/* --- kernels: values are multiples of their place, indices stay what they are --- */

struct work {
    enum sort sort;
    int part; /* -1: the whole */
    uint32_t by;
};

static void fill(void *buffers[], void *arg)
{
    const struct work *work = arg;
    struct arrays a = arrays_of(buffers[0], work->sort, 0);

    for (unsigned k = 0; k < 3; k++)
        for (unsigned i = 0; i < a.n[k] && a.at[k]; i++)
            a.at[k][i] = k ? 7 * k + i : work->by + i;
}

static void change(void *buffers[], void *arg)
{
    const struct work *work = arg;
    struct arrays a = arrays_of(buffers[0], work->sort, work->part >= 0);

    for (unsigned i = 0; i < a.n[0]; i++)
        a.at[0][i] = a.at[0][i] * 3 + work->by;
}

static struct starpu_codelet cl_fill = {.cpu_funcs = {fill},
                                        .cuda_funcs = {fill},
                                        .nbuffers = 1,
                                        .modes = {STARPU_W},
                                        .name = "k"};
static struct starpu_codelet cl_change = {.cpu_funcs = {change},
                                          .cuda_funcs = {change},
                                          .nbuffers = 1,
                                          .modes = {STARPU_RW},
                                          .name = "k"};

struct datum {
    enum sort sort;
    starpu_data_handle_t whole, parts[NBLOCKS];
    uint32_t *expected; /* its values now */
};

static struct datum data[NDATA];

static void submit_to(struct starpu_codelet *cl, starpu_data_handle_t handle,
                      const struct datum *datum, int part, uint32_t by,
                      int worker)
{
    struct starpu_task *task = starpu_task_create();
    struct work *work = malloc(sizeof(*work));

    *work = (struct work){datum->sort, part, by};
    task->cl = cl;
    task->handles[0] = handle;
    task->cl_arg = work;
    task->cl_arg_free = 1;
    task->execute_on_a_specific_worker = worker >= 0;
    task->workerid = worker >= 0 ? (unsigned)worker : 0;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static void submit(struct starpu_codelet *cl, starpu_data_handle_t handle,
                   const struct datum *datum, int part, uint32_t by)
{
    submit_to(cl, handle, datum, part, by, -1);
}

static void change_whole(struct datum *datum, uint32_t by)
{
    submit(&cl_change, datum->whole, datum, -1, by);
    for (unsigned i = 0; i < NX; i++)
        datum->expected[i] = datum->expected[i] * 3 + by;
}

static void change_part(struct datum *datum, unsigned part, uint32_t by)
{
    unsigned start = part * sorts[datum->sort].step;

    submit(&cl_change, datum->parts[part], datum, (int)part, by);
    for (unsigned i = start; i < start + sorts[datum->sort].length; i++)
        datum->expected[i] = datum->expected[i] * 3 + by;
}

static unsigned nparts_of(const struct datum *datum)
{
    return sorts[datum->sort].filter.nchildren;
}

static void begin(struct datum *datum, enum sort sort, uint32_t first)
{
    struct starpu_data_filter filter = sorts[sort].filter;

    datum->sort = sort;
    declare(&datum->whole, sort);
    submit(&cl_fill, datum->whole, datum, -1, first);
    datum->expected = malloc(NX * sizeof(uint32_t));
    for (unsigned i = 0; i < NX; i++)
        datum->expected[i] = first + i;
    starpu_data_partition_plan(datum->whole, &filter, datum->parts);
}

static void end(struct datum *datum)
{
    struct arrays a;

    ck_assert_int_eq(starpu_data_acquire(datum->whole, STARPU_R), 0);
    a = arrays_of(
        starpu_data_get_interface_on_node(datum->whole, STARPU_MAIN_RAM),
        datum->sort, 0);
    ck_assert_uint_eq(a.n[0], NX);
    for (unsigned i = 0; i < NX; i++)
        ck_assert_msg(a.at[0][i] == datum->expected[i],
                      "sort %d, value %u: %u, not %u", datum->sort, i,
                      a.at[0][i], datum->expected[i]);
    for (unsigned k = 1; k < 3; k++)
        for (unsigned i = 0; i < a.n[k] && a.at[k]; i++)
            ck_assert_msg(a.at[k][i] == 7 * k + i,
                          "sort %d, index %u of %u: %u", datum->sort, i, k,
                          a.at[k][i]);
    starpu_data_release(datum->whole);
    starpu_data_partition_clean(datum->whole, nparts_of(datum), datum->parts);
    starpu_data_unregister(datum->whole);
    free(datum->expected);
}

static unsigned draw(uint64_t *seed, unsigned n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(*seed >> 33) % n;
}

static void use_somehow(struct datum *datum, uint64_t *seed)
{
    unsigned n = nparts_of(datum), part = draw(seed, n);

    switch (draw(seed, 5)) {
    case 0:
        change_whole(datum, draw(seed, 100));
        break;
    case 1:
        change_part(datum, part, draw(seed, 100));
        break;
    case 2:
        change_part(datum, part, draw(seed, 100));
        starpu_data_partition_readonly_downgrade_submit(datum->whole, n,
                                                        datum->parts);
        if (draw(seed, 2))
            starpu_data_partition_readwrite_upgrade_submit(datum->whole, n,
                                                           datum->parts);
        break;
    case 3:
        starpu_data_prefetch_on_node(datum->parts[part],
                                     draw(seed, 2) ? STARPU_MAIN_RAM : 1, 1);
        break;
    default:
        for (unsigned i = 0; i < n; i++)
            change_part(datum, i, draw(seed, 100));
        break;
    }
}

static void use_all(enum sort first, enum sort last, int machine)
{
    uint64_t seed = (uint64_t)machine + 1;

    open_small(machine, NULL);
    for (unsigned i = 0; i < NDATA; i++)
        begin(&data[i], (enum sort)(first + i % (last - first + 1)), i * 1000);
    for (unsigned turn = 0; turn < 3 * NDATA; turn++)
        use_somehow(&data[draw(&seed, NDATA)], &seed);
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < NDATA; i++)
        end(&data[i]);
    close_all();
}

START_TEST(parts_of_data_of_the_application_leave)
{
    use_all(PAIR, PAIR, _i);
}
END_TEST

START_TEST(what_parts_leave_out_leaves_and_comes_back)
{
    use_all(GAPS, GAPS, _i);
}
END_TEST

START_TEST(parts_of_sparse_matrices_leave)
{
    use_all(COO, BLOCKS, _i);
}
END_TEST

START_TEST(parts_of_all_sorts_leave)
{
    use_all(PAIR, BLOCKS, _i);
}
END_TEST

/* What is there already leaves. */
static void fill_memory(void)
{
    starpu_data_handle_t others[15];

    for (unsigned i = 0; i < 15; i++) {
        starpu_vector_data_register(&others[i], -1, 0, NX, sizeof(uint32_t));
        submit_to(&cl_fill, others[i], &(struct datum){.sort = GAPS}, -1, 0, 0);
    }
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < 15; i++)
        starpu_data_unregister(others[i]);
}

/* Memory that is counted for the application: values without another copy are written
 * to the disk for it, which is waited for. */
START_TEST(values_leave_for_counted_memory)
{
    enum { N = 15, ROOM = 2 * KIB * KIB };
    const int count = STARPU_MALLOC_COUNT;
    struct datum filled[N];
    void *memory;

    open_small(_i, NULL);
    for (unsigned i = 0; i < N; i++) {
        filled[i] = (struct datum){.sort = GAPS};
        starpu_vector_data_register(&filled[i].whole, -1, 0, NX,
                                    sizeof(uint32_t));
        submit_to(&cl_fill, filled[i].whole, &filled[i], -1, i, 0);
    }
    starpu_task_wait_for_all();
    ck_assert_int_eq(starpu_malloc_flags(&memory, ROOM, count), 0);
    starpu_free_flags(memory, ROOM, count);
    ck_assert_int_eq(starpu_malloc_flags(&memory, 3 * ROOM, count), -ENOMEM);
    for (unsigned i = 0; i < N; i++) {
        const uint32_t *values;

        ck_assert_int_eq(starpu_data_acquire(filled[i].whole, STARPU_R), 0);
        values = (uint32_t *)starpu_vector_get_local_ptr(filled[i].whole);
        ck_assert_uint_eq(values[0], i);
        ck_assert_uint_eq(values[NX - 1], i + NX - 1);
        starpu_data_release(filled[i].whole);
        starpu_data_unregister(filled[i].whole);
    }
    close_all();
}
END_TEST

/* Simulated: what a switch copies within main memory takes as long as a processor needs
 * to read and write it, 1 MiB in two parts at 10 GB/s, or what the machine states. */
static double time_of_join(const char *cost, const char *machine)
{
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    struct datum datum = {.sort = GAPS};
    double start;

    setenv("STARPU_SIMGRID_TRANSFER_COST", cost, 1);
    setenv("STARPU_SIMGRID_CUDA_MALLOC_COST", "0", 1);
    open_small(FIRST_SIMULATED, machine);
    starpu_vector_data_register(&datum.whole, -1, 0, 256 * KIB,
                                sizeof(uint32_t));
    starpu_data_partition_plan(datum.whole, &halves, datum.parts);
    /* Then the parts have memory of their own. */
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; i < 2; i++)
            submit_to(&cl_fill, datum.parts[i], &datum, (int)i, i, 0);
        starpu_task_wait_for_all();
        if (turn == 0)
            fill_memory();
    }
    start = starpu_timing_now();
    submit_to(&cl_change, datum.whole, &datum, -1, 1, 0);
    starpu_task_wait_for_all();
    start = starpu_timing_now() - start;
    starpu_data_partition_clean(datum.whole, 2, datum.parts);
    starpu_data_unregister(datum.whole);
    close_all();
    return start;
}

START_TEST(copies_within_main_memory_take_their_time)
{
    double took = time_of_join("1", NULL);

    ck_assert_double_ge(took, 1048576 * 2 / 10e3);
    ck_assert_double_le(took, 1048576 * 2 / 10e3 + 100);
}
END_TEST

/* Writes the usual description to `to`, with that at the host RAM. */
static void state(const char *text, char *to)
{
    static const char host[] = "<host id=\"RAM\" speed=\"1f\"";
    FILE *in = fopen(TEST_MACHINE, "r"), *out;
    char line[512];
    int fd = mkstemps(to, 4);

    ck_assert_int_ge(fd, 0);
    out = fdopen(fd, "w");
    while (fgets(line, sizeof(line), in)) {
        if (strstr(line, host))
            snprintf(line, sizeof(line), "%s>%s</host>\n", host, text);
        fputs(line, out);
    }
    fclose(in);
    ck_assert_int_eq(fclose(out), 0);
}

START_TEST(copies_within_main_memory_take_what_the_machine_states)
{
    char path[] = "/tmp/orrery-test-disk-places-XXXXXX.xml";
    double took;

    state("<prop id=\"orrery-copy-bandwidth\" value=\"1e9\"/>"
          "<prop id=\"orrery-copy-latency\" value=\"5e-4\"/>",
          path);
    took = time_of_join("1", path);
    ck_assert_double_ge(took, 500 + 1048576 / 1e3);
    ck_assert_double_le(took, 500 + 1048576 / 1e3 + 100);
    unlink(path);
}
END_TEST

START_TEST(copies_within_main_memory_take_none_where_copies_cost_nothing)
{
    ck_assert_double_le(time_of_join("0", NULL), 100);
}
END_TEST

SUITE_MAIN(disk_places)
{
    Suite *suite = suite_create("disk-places");
    TCase *tc = tcase_create("disk-places");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, parts_of_data_of_the_application_leave, 0, 1);
    tcase_add_loop_test(tc, what_parts_leave_out_leaves_and_comes_back, 0, 3);
    tcase_add_loop_test(tc, parts_of_sparse_matrices_leave, 0, 1);
    tcase_add_loop_test(tc, parts_of_all_sorts_leave, 0, NMACHINES);
    tcase_add_loop_test(tc, values_leave_for_counted_memory, 0, NMACHINES);
    tcase_add_test(tc, copies_within_main_memory_take_their_time);
    tcase_add_test(tc, copies_within_main_memory_take_what_the_machine_states);
    tcase_add_test(
        tc, copies_within_main_memory_take_none_where_copies_cost_nothing);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
