/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-disks.c - disks as memory nodes, on each machine: data that main
 * memory has no room for, files that are data, disks of the application's own,
 * and what goes wrong. The simulated machines have one disk.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machines.h"

enum { KIB = 1024, MIB = 1024 * KIB };

/* Data of 256 KiB, four times what fits into the 4 MiB of main memory; the GPUs
 * have 1 MiB each. */
enum { NDATA = 64, NX = 64 * KIB, ROUNDS = 3 };

static char directory[] = "/tmp/orrery-test-disks-XXXXXX";
static char nothing[] = "nothing", unwritable[] = "/proc/no/disk";

static void make_directory(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
    /* Nothing is left in it, however the test ended. */
    ck_assert_int_eq(rmdir(directory), 0);
}

static void open_small(int machine)
{
    setenv("STARPU_LIMIT_CPU_MEM", "4", 1);
    setenv("STARPU_LIMIT_CUDA_MEM", "1", 1);
    machine_open(machine);
}

static int add_disk(struct starpu_disk_ops *ops, starpu_ssize_t size)
{
    int node = starpu_disk_register(ops, directory, size);

    ck_assert_int_ge(node, 1);
    return node;
}

/* -- kernels: unsigned numbers, so that sums may wrap -- */

static void fill(void *buffers[], void *arg)
{
    unsigned *to = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);

    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] = (unsigned)(uintptr_t)arg + i;
}

static void add(void *buffers[], void *arg)
{
    unsigned *to = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const unsigned *from = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] += from[i];
}

static struct starpu_codelet cl_fill = {
    .cpu_funcs = {fill},
    .cuda_funcs = {fill},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .name = "k",
};

static struct starpu_codelet cl_add = {
    .cpu_funcs = {add},
    .cuda_funcs = {add},
    .nbuffers = 2,
    .modes = {STARPU_RW, STARPU_R},
    .name = "k",
};

static void submit_fill(starpu_data_handle_t handle, unsigned first)
{
    ck_assert_int_eq(starpu_task_insert(&cl_fill, STARPU_W, handle,
                                        STARPU_CL_ARGS_NFREE,
                                        (void *)(uintptr_t)first, (size_t)0, 0),
                     0);
}

static void submit_add(starpu_data_handle_t to, starpu_data_handle_t from)
{
    ck_assert_int_eq(
        starpu_task_insert(&cl_add, STARPU_RW, to, STARPU_R, from, 0), 0);
}

/* Each value is first + slope * i at place i. */
struct line {
    unsigned first, slope;
};

static void check_line(starpu_data_handle_t handle, struct line line)
{
    const unsigned *at;
    unsigned wrong = 0;

    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_R), 0);
    at = starpu_data_get_local_ptr(handle);
    for (unsigned i = 0; i < NX; i++)
        wrong += at[i] != line.first + line.slope * i;
    starpu_data_release(handle);
    ck_assert_uint_eq(wrong, 0);
}

static void submit_rounds(starpu_data_handle_t *data, struct line *lines)
{
    for (unsigned d = 0; d < NDATA; d++) {
        submit_fill(data[d], 7 * d);
        lines[d] = (struct line){7 * d, 1};
    }
    for (unsigned r = 0; r < ROUNDS; r++)
        for (unsigned d = 0; d < NDATA; d++) {
            unsigned from = (d + 1 + r * 11) % NDATA;

            submit_add(data[d], data[from]);
            lines[d].first += lines[from].first;
            lines[d].slope += lines[from].slope;
        }
}

/* -- more data than main memory -- */

static void compute_out_of_core(int machine, struct starpu_disk_ops *ops,
                                struct starpu_data_interface_ops *interface)
{
    starpu_data_handle_t data[NDATA];
    struct line lines[NDATA];
    int node;

    open_small(machine);
    node = add_disk(ops, -1);
    for (unsigned d = 0; d < NDATA; d++) {
        struct starpu_vector_interface vector = {
            .id = STARPU_VECTOR_INTERFACE_ID,
            .nx = NX,
            .elemsize = sizeof(unsigned),
            .allocsize = NX * sizeof(unsigned),
        };

        starpu_data_register(&data[d], -1, &vector, interface);
    }
    submit_rounds(data, lines);
    for (unsigned d = 0; d < NDATA; d++)
        check_line(data[d], lines[d]);
    ck_assert_uint_ge(starpu_memory_get_used((unsigned)node), 8 * MIB);
    ck_assert_uint_le(starpu_memory_get_used(STARPU_MAIN_RAM), 4 * MIB);
    for (unsigned d = 0; d < NDATA; d++)
        starpu_data_unregister(data[d]);
    ck_assert_uint_eq(starpu_memory_get_used((unsigned)node), 0);
    starpu_shutdown();
}

START_TEST(data_without_room_in_memory_go_to_a_disk)
{
    compute_out_of_core(_i, &starpu_disk_unistd_ops,
                        &starpu_interface_vector_ops);
}
END_TEST

START_TEST(through_stdio)
{
    compute_out_of_core(_i, &starpu_disk_stdio_ops,
                        &starpu_interface_vector_ops);
}
END_TEST

START_TEST(past_the_cache)
{
    compute_out_of_core(_i, &starpu_disk_unistd_o_direct_ops,
                        &starpu_interface_vector_ops);
}
END_TEST

static int copy_in_memory(void *src, unsigned src_node, void *dst,
                          unsigned dst_node)
{
    const struct starpu_vector_interface *from = src, *to = dst;

    (void)src_node;
    (void)dst_node;
    memcpy((void *)to->ptr, (void *)from->ptr, from->nx * from->elemsize);
    return 0;
}

/* Interfaces without any_to_any are packed, also where they have no method at all. */
START_TEST(packed_data_go_to_a_disk)
{
    static const struct starpu_data_copy_methods none = {.ram_to_ram = NULL},
                                                 methods = {.ram_to_ram =
                                                                copy_in_memory};
    const struct starpu_data_copy_methods *const all[] = {&methods, &none, NULL};

    for (int i = 0; i < 3; i++) {
        struct starpu_data_interface_ops interface =
            starpu_interface_vector_ops;

        interface.copy_methods = all[i];
        interface.interfaceid = starpu_data_interface_get_next_id();
        compute_out_of_core(_i, &starpu_disk_unistd_ops, &interface);
    }
}
END_TEST

START_TEST(the_environment_names_a_disk)
{
    starpu_data_handle_t data[NDATA];
    struct line lines[NDATA];

    setenv("STARPU_DISK_SWAP", directory, 1);
    setenv("STARPU_DISK_SWAP_BACKEND", "stdio", 1);
    setenv("STARPU_DISK_SWAP_SIZE", "16", 1);
    open_small(_i);
    ck_assert_int_ge(starpu_disk_swap_node, 1);
    ck_assert_int_eq(starpu_node_get_kind((unsigned)starpu_disk_swap_node),
                     STARPU_DISK_RAM);
    ck_assert_int_eq(starpu_memory_get_total((unsigned)starpu_disk_swap_node),
                     16 * MIB);
    for (unsigned d = 0; d < NDATA; d++)
        starpu_vector_data_register(&data[d], -1, 0, NX, sizeof(unsigned));
    submit_rounds(data, lines);
    for (unsigned d = 0; d < NDATA; d++) {
        check_line(data[d], lines[d]);
        starpu_data_unregister(data[d]);
    }
    starpu_shutdown();
}
END_TEST

enum { MANY = STARPU_NMAXBUFS };

static void add_all(void *buffers[], void *arg)
{
    for (unsigned i = 0; i < MANY; i++)
        *(unsigned *)STARPU_VARIABLE_GET_PTR(buffers[i]) += i;
    (void)arg;
}

/* Main memory has no limit: jobs have nothing of what they would need where it had. */
START_TEST(tasks_of_many_data_run_beside_a_disk)
{
    struct starpu_codelet cl = {.cpu_funcs = {add_all},
                                .nbuffers = MANY,
                                .flags = STARPU_CODELET_SIMGRID_EXECUTE};
    starpu_data_handle_t data[MANY];
    unsigned values[MANY] = {0};

    machine_choose(_i);
    setenv("STARPU_DISK_SWAP", directory, 1);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_NCUDA", "0", 1);
    setenv("STARPU_PREFETCH", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    for (unsigned i = 0; i < MANY; i++) {
        starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&values[i], sizeof(values[i]));
        cl.modes[i] = STARPU_RW;
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        for (unsigned i = 0; i < MANY; i++)
            task->handles[i] = data[i];
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < MANY; i++) {
        starpu_data_unregister(data[i]);
        ck_assert_uint_eq(values[i], ROUNDS * i);
    }
    starpu_shutdown();
}
END_TEST

/* Pieces of partitioned data leave like others. */
START_TEST(pieces_go_to_a_disk)
{
    enum { NWHOLES = 8, NPIECES = 8 };
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = NPIECES};
    starpu_data_handle_t wholes[NWHOLES];

    open_small(_i);
    (void)add_disk(&starpu_disk_unistd_ops, -1);
    for (unsigned w = 0; w < NWHOLES; w++) {
        starpu_vector_data_register(&wholes[w], -1, 0, NX * 4, 4);
        submit_fill(wholes[w], w);
    }
    for (unsigned w = 0; w < NWHOLES; w++) {
        starpu_data_partition(wholes[w], &halves);
        for (unsigned p = 0; p < NPIECES; p++)
            submit_add(
                starpu_data_get_child(wholes[w], (int)p),
                starpu_data_get_child(wholes[w], (int)(NPIECES - 1 - p)));
        starpu_data_unpartition(wholes[w], STARPU_MAIN_RAM);
    }
    for (unsigned w = 0; w < NWHOLES; w++) {
        const unsigned piece = NX * 4 / NPIECES;
        const unsigned *at;
        unsigned wrong = 0; /* each assertion is a message to who runs tests */

        ck_assert_int_eq(starpu_data_acquire(wholes[w], STARPU_R), 0);
        at = starpu_data_get_local_ptr(wholes[w]);
        for (unsigned i = 0; i < NPIECES * piece; i++) {
            unsigned p = i / piece, other = NPIECES - 1 - p;
            unsigned mine = w + i, theirs = w + other * piece + i % piece;

            /* The second half adds what the first one has become. */
            wrong += at[i] !=
                     (p < NPIECES / 2 ? mine + theirs : 2 * mine + theirs);
        }
        ck_assert_uint_eq(wrong, 0);
        starpu_data_release(wholes[w]);
        starpu_data_unregister(wholes[w]);
    }
    starpu_shutdown();
}
END_TEST

/* -- where a value is -- */

static void bring(starpu_data_handle_t datum, int node)
{
    ck_assert_int_eq(starpu_data_acquire_on_node(datum, node, STARPU_R), 0);
    starpu_data_release_on_node(datum, node);
}

START_TEST(a_disk_is_a_memory_node)
{
    starpu_data_handle_t before, datum;
    char name[32];
    unsigned nodes, disk;
    struct line line = {5, 1};
    double before_us;

    open_small(_i);
    nodes = starpu_memory_nodes_get_count();
    before_us = starpu_transfer_predict(STARPU_MAIN_RAM, nodes - 1, MIB);
    starpu_vector_data_register(&before, -1, 0, NX, sizeof(unsigned));
    submit_fill(before, 5);
    disk = (unsigned)add_disk(&starpu_disk_unistd_ops, 32 * MIB);
    ck_assert_uint_eq(disk, nodes);
    /* It has no part in the bus that GPUs share. */
    ck_assert_double_eq(
        starpu_transfer_predict(STARPU_MAIN_RAM, nodes - 1, MIB), before_us);
    ck_assert_uint_eq(starpu_memory_nodes_get_count(), nodes + 1);
    ck_assert_uint_eq(starpu_memory_nodes_get_count_by_kind(STARPU_DISK_RAM),
                      1);
    ck_assert_int_eq(starpu_node_get_kind(disk), STARPU_DISK_RAM);
    ck_assert_int_eq(starpu_memory_node_get_devid(disk), 0);
    (void)starpu_memory_node_get_name(disk, name, sizeof(name));
    ck_assert_str_eq(name, "Disk 0");
    ck_assert_int_eq(starpu_memory_get_total(disk), 32 * MIB);
    ck_assert_double_gt(starpu_transfer_bandwidth(STARPU_MAIN_RAM, disk), 0);
    ck_assert_double_gt(starpu_transfer_bandwidth(disk, STARPU_MAIN_RAM), 0);

    /* What there was before the disk may go there. */
    bring(before, (int)disk);
    ck_assert_uint_eq(starpu_data_is_on_node(before, disk), 1);
    (void)starpu_data_evict_from_node(before, STARPU_MAIN_RAM);
    ck_assert_uint_eq(
        starpu_data_test_if_allocated_on_node(before, STARPU_MAIN_RAM), 0);
    check_line(before, line);
    starpu_data_unregister(before);

    /* By hand. */
    starpu_vector_data_register(&datum, -1, 0, NX, sizeof(unsigned));
    ck_assert_uint_eq(starpu_data_get_ooc_flag(datum), 1);
    submit_fill(datum, 5);
    ck_assert_int_eq(starpu_data_acquire_on_node(datum, (int)disk, STARPU_R),
                     0);
    ck_assert_uint_eq(starpu_data_is_on_node(datum, disk), 1);
    starpu_data_release_on_node(datum, (int)disk);
    (void)starpu_data_evict_from_node(datum, STARPU_MAIN_RAM);
    ck_assert_uint_eq(
        starpu_data_test_if_allocated_on_node(datum, STARPU_MAIN_RAM), 0);
    check_line(datum, line);
    starpu_data_unregister(datum);
    starpu_shutdown();
}
END_TEST

/* Where main memory has no limit, data need not leave it: they have no place for
 * disks that come later, and say so. */
START_TEST(without_a_limit_data_know_the_disks_that_there_are)
{
    starpu_data_handle_t before, piece;
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    unsigned disk;

    machine_open(_i);
    starpu_vector_data_register(&before, -1, 0, NX, sizeof(unsigned));
    submit_fill(before, 5);
    disk = (unsigned)add_disk(&starpu_disk_unistd_ops, 32 * MIB);
    ck_assert_int_eq(starpu_data_acquire_on_node(before, (int)disk, STARPU_R),
                     -EINVAL);
    ck_assert_uint_eq(starpu_data_is_on_node(before, disk), 0);
    ck_assert_int_lt(starpu_data_evict_from_node(before, disk), 0);
    starpu_data_partition(before, &halves);
    piece = starpu_data_get_child(before, 1);
    ck_assert_int_eq(starpu_data_acquire_on_node(piece, (int)disk, STARPU_R),
                     -EINVAL);
    starpu_data_unpartition(before, STARPU_MAIN_RAM);
    check_line(before, (struct line){5, 1});
    starpu_data_unregister(before);
    starpu_shutdown();
}
END_TEST

/* Each value leaves main memory, and the disk that it was on, before it goes to
 * the next one. They share a folder. */
START_TEST(data_go_from_disk_to_disk)
{
    enum { NVALUES = 5, NDISKS = 3 };
    starpu_data_handle_t data[NVALUES];
    int disks[NDISKS];

    open_small(_i);
    for (int d = 0; d < NDISKS; d++)
        disks[d] = add_disk(
            d % 2 ? &starpu_disk_stdio_ops : &starpu_disk_unistd_ops, 32 * MIB);
    for (int i = 0; i < NVALUES; i++) {
        starpu_vector_data_register(&data[i], -1, 0, NX, sizeof(unsigned));
        submit_fill(data[i], 10 + (unsigned)i);
    }
    for (int round = 0; round < 2 * NDISKS; round++)
        for (int i = 0; i < NVALUES; i++) {
            int to = disks[(round + i) % NDISKS];
            int from = disks[(round + i + NDISKS - 1) % NDISKS];

            bring(data[i], to);
            ck_assert_uint_eq(starpu_data_is_on_node(data[i], (unsigned)to), 1);
            (void)starpu_data_evict_from_node(data[i], STARPU_MAIN_RAM);
            if (round > 0)
                ck_assert_int_eq(
                    starpu_data_evict_from_node(data[i], (unsigned)from), 0);
            ck_assert_uint_eq(
                starpu_data_test_if_allocated_on_node(data[i], STARPU_MAIN_RAM),
                0);
        }
    for (int i = 0; i < NVALUES; i++) {
        check_line(data[i], (struct line){10 + (unsigned)i, 1});
        starpu_data_unregister(data[i]);
    }
    starpu_shutdown();
}
END_TEST

/* The others have to go. */
START_TEST(data_may_be_kept_from_disks)
{
    enum { NKEPT = 4 };
    starpu_data_handle_t data[NDATA];
    struct line lines[NDATA];
    unsigned disk;

    open_small(_i);
    disk = (unsigned)add_disk(&starpu_disk_unistd_ops, -1);
    for (unsigned d = 0; d < NDATA; d++) {
        starpu_vector_data_register(&data[d], -1, 0, NX, sizeof(unsigned));
        starpu_data_set_ooc_flag(data[d], d >= NKEPT);
        ck_assert_uint_eq(starpu_data_get_ooc_flag(data[d]), d >= NKEPT);
    }
    submit_rounds(data, lines);
    for (unsigned d = 0; d < NDATA; d++) {
        check_line(data[d], lines[d]);
        if (d < NKEPT)
            ck_assert_uint_eq(
                starpu_data_test_if_allocated_on_node(data[d], disk), 0);
    }
    for (unsigned d = 0; d < NDATA; d++)
        starpu_data_unregister(data[d]);
    starpu_shutdown();
}
END_TEST

/* -- files that are there -- */

static void write_file(const char *path, size_t bytes)
{
    FILE *file = fopen(path, "w");
    size_t written = 0;

    ck_assert_ptr_nonnull(file);
    for (unsigned i = 0; i < bytes / sizeof(i); i++)
        written += fwrite(&i, 1, sizeof(i), file);
    ck_assert_uint_eq(written, bytes / sizeof(unsigned) * sizeof(unsigned));
    ck_assert_int_eq(fclose(file), 0);
}

static unsigned number_in_file(const char *path, unsigned i)
{
    FILE *file = fopen(path, "r");
    unsigned number;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, (long)(i * sizeof(i)), SEEK_SET), 0);
    ck_assert_uint_eq(fread(&number, sizeof(number), 1, file), 1);
    ck_assert_int_eq(fclose(file), 0);
    return number;
}

static unsigned count_open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned n = 0;

    ck_assert_ptr_nonnull(folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

/* shows starpu_disk_close */
START_TEST(a_file_is_data)
{
    static struct starpu_disk_ops *const all[] = {
        &starpu_disk_stdio_ops, &starpu_disk_unistd_ops,
        &starpu_disk_unistd_o_direct_ops};
    size_t bytes = NX * sizeof(unsigned);
    starpu_data_handle_t file, one;
    char path[sizeof(directory) + 16], name[] = "numbers";
    unsigned disk, nfiles;
    void *object;

    if (machine_simulated(_i))
        return; /* what its disk has is not here */
    machine_open(_i);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    for (unsigned o = 0; o < 3; o++) {
        write_file(path, bytes);
        disk = (unsigned)add_disk(all[o], -1);
        nfiles = count_open_files();
        ck_assert_ptr_null(starpu_disk_open(disk, nothing, bytes));
        ck_assert_ptr_null(starpu_disk_open(disk, name, bytes + 1));
        object = starpu_disk_open(disk, name, bytes);
        ck_assert_ptr_nonnull(object);
        starpu_vector_data_register(&file, (int)disk, (uintptr_t)object, NX,
                                    sizeof(unsigned));
        starpu_vector_data_register(&one, -1, 0, NX, sizeof(unsigned));
        submit_fill(one, 100);
        submit_add(file, one);
        starpu_data_unregister(one);
        starpu_data_unregister(file);
        starpu_disk_close(disk, object, bytes);
        ck_assert_uint_eq(count_open_files(), nfiles);
        for (unsigned i = 0; i < NX; i += 1009)
            ck_assert_uint_eq(number_in_file(path, i), 100 + 2 * i);
        ck_assert_int_eq(unlink(path), 0);
    }
    starpu_shutdown();
}
END_TEST

/* Simulated, those of this host stand for those of the machine. */
START_TEST(only_files_that_are_there_are_opened)
{
    const size_t bytes = NX * sizeof(unsigned);
    char path[sizeof(directory) + 16], name[] = "numbers";
    unsigned disk;
    void *object;

    machine_open(_i);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    write_file(path, bytes);
    disk = (unsigned)add_disk(&starpu_disk_unistd_ops, -1);
    ck_assert_ptr_null(starpu_disk_open(disk, nothing, bytes));
    ck_assert_ptr_null(starpu_disk_open(disk, name, bytes + 1));
    object = starpu_disk_open(disk, name, bytes);
    ck_assert_ptr_nonnull(object);
    starpu_disk_close(disk, object, bytes);
    ck_assert_int_eq(unlink(path), 0);
    starpu_shutdown();
}
END_TEST

/* A directory that is made is removed, with those above it that were made. */
START_TEST(directories_are_made_and_removed)
{
    char path[sizeof(directory) + 16];
    struct stat status;

    if (machine_simulated(_i))
        return;
    machine_open(_i);
    snprintf(path, sizeof(path), "%s/a/b", directory);
    ck_assert_int_ge(starpu_disk_register(&starpu_disk_unistd_ops, path, -1),
                     1);
    ck_assert_int_eq(stat(path, &status), 0);
    starpu_shutdown();
    snprintf(path, sizeof(path), "%s/a", directory);
    ck_assert_int_ne(stat(path, &status), 0);
}
END_TEST

enum { BY_EXIT, BY_ABORT, BY_INTERRUPT, BY_TERMINATION, BY_MISTAKE, NWAYS };

static void end_by(int way)
{
    if (way == BY_EXIT)
        exit(0);
    if (way == BY_ABORT)
        abort();
    if (way == BY_MISTAKE)
        (void)starpu_disk_open(STARPU_MAIN_RAM, nothing, 1);
    raise(way == BY_INTERRUPT ? SIGINT : SIGTERM);
}

/* A run with two disks that ends so; returns its status. */
static int run_that_ends(int way, char *made, char *kept)
{
    pid_t child = fork();
    int status;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        signal(SIGINT, SIG_DFL); /* Check has its own */
        signal(SIGTERM, SIG_DFL);
        machine_open(0);
        if (starpu_disk_register(&starpu_disk_unistd_ops, made, -1) > 0 &&
            starpu_disk_register(&starpu_disk_stdio_ops, kept, -1) > 0)
            end_by(way);
        _exit(99);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

/* What was there before stays, and so does what somebody else has put there. */
START_TEST(directories_are_removed_however_the_run_ends)
{
    static const int signals[NWAYS] = {
        [BY_ABORT] = SIGABRT,
        [BY_INTERRUPT] = SIGINT,
        [BY_TERMINATION] = SIGTERM,
        [BY_MISTAKE] = SIGABRT,
    };
    char made[sizeof(directory) + 16], above[sizeof(directory) + 16],
        kept[sizeof(directory) + 16], file[sizeof(directory) + 16];

    snprintf(made, sizeof(made), "%s/a/b", directory);
    snprintf(above, sizeof(above), "%s/a", directory);
    snprintf(kept, sizeof(kept), "%s/kept", directory);
    snprintf(file, sizeof(file), "%s/a/file", directory);
    ck_assert_int_eq(mkdir(kept, 0700), 0);
    for (unsigned others = 0; others < 2; others++) {
        int status;

        if (others) {
            ck_assert_int_eq(mkdir(above, 0700), 0);
            write_file(file, 1);
        }
        status = run_that_ends(_i, made, kept);
        ck_assert_int_eq(WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                         signals[_i]);
        ck_assert(signals[_i] || WEXITSTATUS(status) == 0);
        ck_assert_int_ne(access(made, F_OK), 0);
        ck_assert_int_eq(access(above, F_OK), others ? 0 : -1);
    }
    ck_assert_int_eq(unlink(file), 0);
    ck_assert_int_eq(rmdir(above), 0);
    ck_assert_int_eq(rmdir(kept), 0);
}
END_TEST

/* -- disks of one's own -- */

static struct {
    unsigned nplugged, nobjects, nread, nwritten;
    unsigned fails_at; /* the n-th write is short; 0: none */
} own;

static void *own_plug(void *parameter, starpu_ssize_t size)
{
    (void)size;
    own.nplugged++;
    return parameter;
}

static void own_unplug(void *base)
{
    (void)base;
    own.nplugged--;
}

static void *own_alloc(void *base, size_t size)
{
    (void)base;
    __atomic_fetch_add(&own.nobjects, 1, __ATOMIC_RELAXED);
    return malloc(size);
}

static void own_free(void *base, void *obj, size_t size)
{
    (void)base;
    (void)size;
    __atomic_fetch_sub(&own.nobjects, 1, __ATOMIC_RELAXED);
    free(obj);
}

static int own_read(void *base, void *obj, void *buf, off_t offset, size_t size)
{
    (void)base;
    own.nread++;
    memcpy(buf, (char *)obj + offset, size);
    return (int)size; /* as read(2) */
}

static int own_write(void *base, void *obj, const void *buf, off_t offset,
                     size_t size)
{
    (void)base;
    if (++own.nwritten == own.fails_at)
        return (int)size / 2;
    memcpy((char *)obj + offset, buf, size);
    return 0;
}

static struct starpu_disk_ops own_ops = {
    .plug = own_plug,
    .unplug = own_unplug,
    .alloc = own_alloc,
    .free = own_free,
    .read = own_read,
    .write = own_write,
};

START_TEST(applications_have_their_own_disks)
{
    compute_out_of_core(_i, &own_ops, &starpu_interface_vector_ops);
    if (!machine_simulated(_i)) {
        ck_assert_uint_gt(own.nwritten, NDATA / 2);
        ck_assert_uint_gt(own.nread, NDATA / 2);
    }
    ck_assert_uint_eq(own.nplugged, 0);
    ck_assert_uint_eq(own.nobjects, 0);
}
END_TEST

/* A copy that failed is made again. */
START_TEST(a_short_write_is_made_again)
{
    own.fails_at = 10;
    compute_out_of_core(_i, &own_ops, &starpu_interface_vector_ops);
}
END_TEST

static int always_short(void *base, void *obj, const void *buf, off_t offset,
                        size_t size)
{
    /* The first two are those that measure the disk. */
    if (++own.nwritten > 2)
        return -ENOSPC;
    memcpy((char *)obj + offset, buf, size);
    (void)base;
    return 0;
}

/* The run ends with a message. */
START_TEST(a_disk_that_does_not_write_ends_the_run)
{
    own_ops.write = always_short;
    if (machine_simulated(_i))
        exit(1);
    compute_out_of_core(_i, &own_ops, &starpu_interface_vector_ops);
}
END_TEST

/* Main memory and the disk hold 20 MiB, the data are 16 and what a task needs. */
START_TEST(a_disk_of_limited_size_is_full)
{
    starpu_data_handle_t data[NDATA];
    struct line lines[NDATA];
    unsigned disk;

    open_small(_i);
    disk = (unsigned)add_disk(&starpu_disk_unistd_ops, 16 * MIB);
    for (unsigned d = 0; d < NDATA; d++)
        starpu_vector_data_register(&data[d], -1, 0, NX, sizeof(unsigned));
    submit_rounds(data, lines);
    for (unsigned d = 0; d < NDATA; d++)
        check_line(data[d], lines[d]);
    ck_assert_uint_le(starpu_memory_get_used(disk), 16 * MIB);
    for (unsigned d = 0; d < NDATA; d++)
        starpu_data_unregister(data[d]);
    starpu_shutdown();
}
END_TEST

/* No file of the process may have more than 8 MiB, of 12 that are needed. */
static void fill_a_full_disk(int machine)
{
    const struct rlimit limit = {8 * MIB, 8 * MIB};
    starpu_data_handle_t data[NDATA];

    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    open_small(machine);
    unsetenv("STARPU_SILENT");
    add_disk(&starpu_disk_unistd_ops, -1);
    for (unsigned d = 0; d < NDATA; d++) {
        starpu_vector_data_register(&data[d], -1, 0, NX, sizeof(unsigned));
        submit_fill(data[d], 7 * d);
    }
    starpu_task_wait_for_all();
    exit(0);
}

static unsigned count(const char *text, const char *words)
{
    unsigned n = 0;

    for (; (text = strstr(text, words)); text++)
        n++;
    return n;
}

/* The file system has no room: that is said once, and who has what. */
START_TEST(a_full_file_system_ends_the_run)
{
    static char text[65536];
    int said[2], status;
    size_t n = 0;
    ssize_t got;
    pid_t pid;

    if (machine_simulated(_i)) /* writes nothing */
        return;
    ck_assert_int_eq(pipe(said), 0);
    pid = fork();
    if (pid == 0) {
        dup2(said[1], 2);
        close(said[0]);
        close(said[1]);
        fill_a_full_disk(_i);
    }
    close(said[1]);
    while ((got = read(said[0], text + n, sizeof(text) - 1 - n)) > 0)
        n += (size_t)got;
    close(said[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 1, "0x%x\n%s",
                  (unsigned)status, text);
    ck_assert_msg(count(text, directory) == 1, "%s", text);
    ck_assert_msg(strstr(text, "has no room for 262144 bytes"), "%s", text);
    ck_assert_msg(strstr(text, "to be copied to memory node 1, which has no"), "%s", text);
}
END_TEST

/* -- misuse -- */

START_TEST(what_is_no_disk_is_refused)
{
    struct starpu_disk_ops lacks = own_ops;
    int last = -1;

    lacks.write = NULL;
    machine_open(_i);
    ck_assert_int_eq(starpu_disk_register(NULL, directory, -1), -EINVAL);
    ck_assert_int_eq(starpu_disk_register(&lacks, directory, -1), -EINVAL);
    ck_assert_int_eq(
        starpu_disk_register(&own_ops, directory, STARPU_DISK_SIZE_MIN - 1),
        -EINVAL);
    if (!machine_simulated(_i)) {
        ck_assert_int_eq(
            starpu_disk_register(&starpu_disk_unistd_ops, unwritable, -1),
            -ENOENT);
        ck_assert_int_eq(
            starpu_disk_register(&starpu_disk_unistd_ops, NULL, -1), -ENOENT);
    }
    /* Four are possible, the simulated machine has three. */
    for (int n = 0; n < (machine_simulated(_i) ? 3 : 4); n++)
        last = add_disk(&own_ops, -1);
    /* It has no way to open what is there. */
    ck_assert_ptr_null(starpu_disk_open((unsigned)last, nothing, 1));
    ck_assert_int_eq(starpu_disk_register(&own_ops, directory, -1), -ENOSPC);
    starpu_shutdown();
}
END_TEST

/* Nothing leads to the disk of this machine, or nothing back from it. */
static void open_machine_with_route(int machine, const char *route)
{
    char path[] = "/tmp/orrery-test-disks-XXXXXX.xml";
    int fd = mkstemps(path, 4);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_gt(
        dprintf(fd,
                "<?xml version='1.0'?><!DOCTYPE platform SYSTEM "
                "'https://simgrid.org/simgrid.dtd'><platform version='4.1'>"
                "<zone id='AS0' routing='Full'><host id='MAIN' speed='1f'/>"
                "<host id='CPU0' speed='1Gf'/><host id='RAM' speed='1f'/>"
                "<host id='DISK0' speed='1f'/>"
                "<link id='sata' bandwidth='1GBps' latency='1us'/>%s"
                "</zone></platform>",
                route),
        0);
    close(fd);
    machine_choose(machine);
    setenv("ORRERY_MACHINE", path, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    unlink(path);
}

START_TEST(a_disk_without_routes_is_refused)
{
    static const char *const routes[] = {
        "",
        "<route src='RAM' dst='DISK0' symmetrical='NO'><link_ctn id='sata'/>"
        "</route>",
        "<route src='DISK0' dst='RAM' symmetrical='NO'><link_ctn id='sata'/>"
        "</route>",
    };

    open_machine_with_route(NMACHINES - 1, routes[_i]);
    ck_assert_int_eq(
        starpu_disk_register(&starpu_disk_unistd_ops, directory, -1), -ENOENT);
    ck_assert_uint_eq(starpu_memory_nodes_get_count(), 1);
    starpu_shutdown();
}
END_TEST

START_TEST(main_memory_has_no_objects)
{
    machine_open(_i);
    (void)starpu_disk_open(STARPU_MAIN_RAM, nothing, 1);
}
END_TEST

SUITE_MAIN(disks)
{
    Suite *suite = suite_create("disks");
    TCase *tcase = tcase_create("disks"), *ends = tcase_create("ends");

    tcase_set_timeout(tcase, 120);
    tcase_set_timeout(ends, 120);
    tcase_add_checked_fixture(tcase, make_directory, remove_directory);
    tcase_add_loop_test(tcase, data_without_room_in_memory_go_to_a_disk, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, through_stdio, 0, NMACHINES);
    tcase_add_loop_test(tcase, past_the_cache, 0, NMACHINES);
    tcase_add_loop_test(tcase, packed_data_go_to_a_disk, 0, NMACHINES);
    tcase_add_loop_test(tcase, the_environment_names_a_disk, 0, NMACHINES);
    tcase_add_loop_test(tcase, pieces_go_to_a_disk, 0, NMACHINES);
    tcase_add_loop_test(tcase, a_disk_is_a_memory_node, 0, NMACHINES);
    tcase_add_loop_test(tcase,
                        without_a_limit_data_know_the_disks_that_there_are, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, data_go_from_disk_to_disk, 0, NMACHINES);
    tcase_add_loop_test(tcase, data_may_be_kept_from_disks, 0, NMACHINES);
    tcase_add_loop_test(tcase, a_file_is_data, 0, NMACHINES);
    tcase_add_loop_test(tcase, only_files_that_are_there_are_opened, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, directories_are_made_and_removed, 0, NMACHINES);
    tcase_add_loop_test(tcase, directories_are_removed_however_the_run_ends, 0,
                        NWAYS);
    tcase_add_loop_test(tcase, applications_have_their_own_disks, 0, NMACHINES);
    tcase_add_loop_test(tcase, a_short_write_is_made_again, 0, NMACHINES);
    tcase_add_loop_test(tcase, a_disk_of_limited_size_is_full, 0, NMACHINES);
    tcase_add_loop_test(tcase, tasks_of_many_data_run_beside_a_disk, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, a_full_file_system_ends_the_run, 0, NMACHINES);
    tcase_add_loop_test(tcase, what_is_no_disk_is_refused, 0, NMACHINES);
    tcase_add_loop_test(tcase, a_disk_without_routes_is_refused, 0, 3);
    tcase_add_loop_exit_test(ends, a_disk_that_does_not_write_ends_the_run, 1,
                             0, NMACHINES);
    tcase_add_loop_test_raise_signal(ends, main_memory_has_no_objects, SIGABRT,
                                     0, NMACHINES);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, ends);
    return suite_main(suite);
}
