/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-disk-hdf5.c - disks that are files of HDF5's, on the real machine:
 * data that main memory has no room for, and datasets that are data.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>
#include <hdf5.h>
#include <starpu.h>

#include "tests/suite.h"

/* Four times the 4 MiB of main memory. */
enum { N = 64, NX = 64 * 1024 };

static char directory[] = "/tmp/orrery-test-hdf5-XXXXXX";

static void make_directory(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
    ck_assert_int_eq(rmdir(directory), 0); /* nothing is left in it */
}

static void open_machine(void)
{
    setenv("STARPU_NCPU", "2", 1);
    setenv("STARPU_LIMIT_CPU_MEM", "4", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static int add_disk(char *path)
{
    int node = starpu_disk_register(&starpu_disk_hdf5_ops, path, -1);

    ck_assert_int_ge(node, 1);
    return node;
}

/* -- out of core -- */

static void fill(void *buffers[], void *arg)
{
    unsigned *to = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);

    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] = (unsigned)(uintptr_t)arg + i;
}

static struct starpu_codelet cl_fill = {
    .cpu_funcs = {fill},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .name = "fill",
};

static unsigned wrong_of(const unsigned *at, unsigned first)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < NX; i++)
        wrong += at[i] != first + i;
    return wrong;
}

static void compute(struct starpu_data_interface_ops *ops, int node)
{
    starpu_data_handle_t data[N];

    for (unsigned d = 0; d < N; d++) {
        struct starpu_vector_interface vector = {
            .id = STARPU_VECTOR_INTERFACE_ID,
            .nx = NX,
            .elemsize = sizeof(unsigned),
            .allocsize = NX * sizeof(unsigned),
        };

        starpu_data_register(&data[d], -1, &vector, ops);
        ck_assert_int_eq(starpu_task_insert(&cl_fill, STARPU_W, data[d],
                                            STARPU_CL_ARGS_NFREE,
                                            (void *)(uintptr_t)d, (size_t)0, 0),
                         0);
    }
    for (unsigned d = 0; d < N; d++) {
        ck_assert_int_eq(starpu_data_acquire(data[d], STARPU_R), 0);
        ck_assert_uint_eq(wrong_of(starpu_data_get_local_ptr(data[d]), d), 0);
        starpu_data_release(data[d]);
    }
    ck_assert_uint_ge(starpu_memory_get_used((unsigned)node), 8 << 20);
    for (unsigned d = 0; d < N; d++)
        starpu_data_unregister(data[d]);
    ck_assert_uint_eq(starpu_memory_get_used((unsigned)node), 0);
}

/* In a file that is made in the directory, and one that is named. */
START_TEST(data_without_room_in_memory_go_to_a_file)
{
    char path[sizeof(directory) + 16];

    snprintf(path, sizeof(path), "%s/own.h5", directory);
    open_machine();
    compute(&starpu_interface_vector_ops, add_disk(_i ? path : directory));
    starpu_shutdown();
    ck_assert_int_ne(access(path, F_OK), 0);
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

START_TEST(packed_data_go_there)
{
    static const struct starpu_data_copy_methods methods = {.ram_to_ram =
                                                                copy_in_memory};
    struct starpu_data_interface_ops packed = starpu_interface_vector_ops;

    packed.copy_methods = &methods;
    packed.interfaceid = starpu_data_interface_get_next_id();
    open_machine();
    compute(&packed, add_disk(directory));
    starpu_shutdown();
}
END_TEST

START_TEST(the_environment_names_a_file)
{
    setenv("STARPU_DISK_SWAP", directory, 1);
    setenv("STARPU_DISK_SWAP_BACKEND", "hdf5", 1);
    open_machine();
    ck_assert_int_ge(starpu_disk_swap_node, 1);
    compute(&starpu_interface_vector_ops, starpu_disk_swap_node);
    starpu_shutdown();
}
END_TEST

/* -- datasets -- */

static void make_file(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t n = NX, square[2] = {2, 2};
    hid_t row = H5Screate_simple(1, &n, NULL);
    hid_t table = H5Screate_simple(2, square, NULL);
    hid_t dataset = H5Dcreate2(file, "numbers", H5T_NATIVE_UINT, row,
                               H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    unsigned *numbers = malloc(NX * sizeof(*numbers));

    for (unsigned i = 0; i < NX; i++)
        numbers[i] = 7 + i;
    ck_assert_int_ge(H5Dwrite(dataset, H5T_NATIVE_UINT, H5S_ALL, H5S_ALL,
                              H5P_DEFAULT, numbers),
                     0);
    free(numbers);
    H5Dclose(dataset);
    H5Dclose(H5Dcreate2(file, "table", H5T_NATIVE_UINT, table, H5P_DEFAULT,
                        H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(row);
    H5Sclose(table);
    H5Fclose(file);
}

static unsigned wrong_in_file(const char *path, unsigned first)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, "numbers", H5P_DEFAULT);
    unsigned *numbers = malloc(NX * sizeof(*numbers)), wrong;

    ck_assert_int_ge(H5Dread(dataset, H5T_NATIVE_UINT, H5S_ALL, H5S_ALL,
                             H5P_DEFAULT, numbers),
                     0);
    wrong = wrong_of(numbers, first);
    free(numbers);
    H5Dclose(dataset);
    H5Fclose(file);
    return wrong;
}

START_TEST(a_dataset_is_data)
{
    char path[sizeof(directory) + 16], name[] = "numbers", table[] = "table";
    char nothing[] = "nothing";
    size_t bytes = NX * sizeof(unsigned);
    starpu_data_handle_t handle;
    unsigned disk;
    void *object;

    snprintf(path, sizeof(path), "%s/own.h5", directory);
    make_file(path);
    open_machine();
    disk = (unsigned)add_disk(path);
    ck_assert_ptr_null(starpu_disk_open(disk, nothing, 1));
    ck_assert_ptr_null(starpu_disk_open(disk, name, bytes + 1));
    ck_assert_ptr_null(starpu_disk_open(disk, table, 4));
    object = starpu_disk_open(disk, name, bytes);
    ck_assert_ptr_nonnull(object);
    starpu_vector_data_register(&handle, (int)disk, (uintptr_t)object, NX,
                                sizeof(unsigned));
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_R), 0);
    ck_assert_uint_eq(wrong_of(starpu_data_get_local_ptr(handle), 7), 0);
    starpu_data_release(handle);
    ck_assert_int_eq(starpu_task_insert(&cl_fill, STARPU_W, handle,
                                        STARPU_CL_ARGS_NFREE, (void *)100,
                                        (size_t)0, 0),
                     0);
    starpu_data_unregister(handle);
    starpu_disk_close(disk, object, bytes);
    starpu_shutdown();
    ck_assert_uint_eq(wrong_in_file(path, 100), 0);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
    char path[] = "/proc/no/file.h5", text[sizeof(directory) + 16];
    FILE *file;

    setenv("STARPU_SILENT", "1", 1);
    open_machine();
    ck_assert_int_eq(starpu_disk_register(&starpu_disk_hdf5_ops, path, -1),
                     -ENOENT);
    ck_assert_int_eq(starpu_disk_register(&starpu_disk_hdf5_ops, NULL, -1),
                     -ENOENT);
    snprintf(text, sizeof(text), "%s/text", directory);
    file = fopen(text, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs("not of HDF5's", file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(starpu_disk_register(&starpu_disk_hdf5_ops, text, -1),
                     -ENOENT);
    starpu_shutdown();
    ck_assert_int_eq(unlink(text), 0);
}
END_TEST

/* No file of the process may have more than 8 MiB, of 16 that are needed. */
static void fill_a_full_disk(void)
{
    const struct rlimit limit = {8 << 20, 8 << 20};
    starpu_data_handle_t data;

    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    unsetenv("STARPU_SILENT");
    open_machine();
    add_disk(directory);
    for (unsigned d = 0; d < N; d++) {
        starpu_vector_data_register(&data, -1, 0, NX, sizeof(unsigned));
        starpu_task_insert(&cl_fill, STARPU_W, data, 0);
    }
    starpu_task_wait_for_all();
    exit(0);
}

/* Once, without HDF5's own messages; and the file does not stay (remove_directory). */
START_TEST(a_full_file_system_is_said)
{
    static char text[65536];
    int said[2], status;
    size_t n = 0;
    ssize_t got;
    pid_t pid;
    char *room;

    ck_assert_int_eq(pipe(said), 0);
    pid = fork();
    if (pid == 0) {
        dup2(said[1], 2);
        close(said[0]);
        close(said[1]);
        fill_a_full_disk();
    }
    close(said[1]);
    while ((got = read(said[0], text + n, sizeof(text) - 1 - n)) > 0)
        n += (size_t)got;
    close(said[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 1, "0x%x\n%.4000s",
                  (unsigned)status, text);
    room = strstr(text, "has no room for 262144 bytes");
    ck_assert_msg(room != NULL, "%.4000s", text);
    ck_assert_msg(!strstr(room + 1, "has no room for 262144 bytes"), "%.4000s",
                  text);
    ck_assert_msg(!strstr(text, "HDF5-DIAG"), "%.4000s", text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("disks of HDF5's");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, make_directory, remove_directory);
    tcase_add_loop_test(tcase, data_without_room_in_memory_go_to_a_file, 0, 2);
    tcase_add_test(tcase, packed_data_go_there);
    tcase_add_test(tcase, the_environment_names_a_file);
    tcase_add_test(tcase, a_full_file_system_is_said);
    tcase_add_test(tcase, a_dataset_is_data);
    tcase_add_test(tcase, what_is_no_file_is_refused);
    suite_add_tcase(suite, tcase);
    return suite_main(suite);
}
