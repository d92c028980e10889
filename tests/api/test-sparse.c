/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-sparse.c - sparse matrices, values as bytes, what data tell of their
 * memory and their kind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"
#include "silence.h"

/* --- packing --- */

START_TEST(data_are_packed_without_gaps_and_unpacked)
{
    int matrix[3][4] = {{1, 2, -1, -1}, {3, 4, -1, -1}, {5, 6, -1, -1}};
    const int packed[] = {1, 2, 3, 4, 5, 6}, other[] = {9, 8, 7, 6, 5, 4};
    starpu_data_handle_t handle;
    starpu_ssize_t count = 0;
    void *bytes = NULL;

    machine_open(_i);
    starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)matrix, 4,
                                2, 3, sizeof(int));
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    ck_assert_int_eq(starpu_data_pack(handle, NULL, &count), 0);
    ck_assert_int_eq(count, sizeof(packed));
    ck_assert_int_eq(starpu_data_pack(handle, &bytes, &count), 0);
    ck_assert_mem_eq(bytes, packed, sizeof(packed));
    memcpy(bytes, other, sizeof(other));
    ck_assert_int_eq(starpu_data_peek(handle, bytes, (size_t)count), 0);
    ck_assert_int_eq(matrix[1][0], 7);
    ck_assert_int_eq(matrix[1][2], -1);
    memcpy(bytes, packed, sizeof(packed));
    ck_assert_int_eq(starpu_data_unpack(handle, bytes, (size_t)count), 0);
    ck_assert_int_eq(matrix[2][1], 6);
    ck_assert_int_eq(starpu_data_pack_node(handle, 0, &bytes, &count), 0);
    memcpy(bytes, other, sizeof(other));
    ck_assert_int_eq(starpu_data_peek_node(handle, 0, bytes, (size_t)count), 0);
    ck_assert_int_eq(matrix[0][0], 9);
    memcpy(bytes, packed, sizeof(packed));
    ck_assert_int_eq(starpu_data_unpack_node(handle, 0, bytes, (size_t)count),
                     0);
    ck_assert_int_eq(matrix[0][0], 1);
    silence_begin();
    ck_assert_int_eq(starpu_data_peek(handle, matrix, 5), -EINVAL);
    ck_assert_ptr_nonnull(strstr(silence_end(), "5 bytes for data of 24"));
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* --- sparse matrices --- */

static void double_rows(void *buffers[], void *arg)
{
    double *values = (double *)STARPU_CSR_GET_NZVAL(buffers[0]);
    uint32_t *rowptr = STARPU_CSR_GET_ROWPTR(buffers[0]);

    ck_assert_uint_eq(STARPU_CSR_GET_NROW(buffers[0]), 3);
    ck_assert_uint_eq(STARPU_CSR_GET_COLIND(buffers[0])[3], 2);
    for (uint32_t row = 0; row < 3; row++)
        for (uint32_t i = rowptr[row]; i < rowptr[row + 1]; i++)
            values[i] *= 2 + row;
    (void)arg;
}

static void double_blocks(void *buffers[], void *arg)
{
    int *values = (int *)STARPU_BCSR_GET_NZVAL(buffers[0]);

    (void)arg;
    for (uint32_t i = 0;
         i < 2 * STARPU_BCSR_GET_R(buffers[0]) * STARPU_BCSR_GET_C(buffers[0]);
         i++)
        values[i] *= 2;
}

static void double_values(void *buffers[], void *arg)
{
    float *values = (float *)STARPU_COO_GET_VALUES(buffers[0]);

    (void)arg;
    ck_assert_uint_eq(STARPU_COO_GET_ROWS(buffers[0])[1], 5);
    for (uint32_t i = 0; i < STARPU_COO_GET_NVALUES(buffers[0]); i++)
        values[i] *= 2;
}

static void run_on_all(starpu_data_handle_t handle,
                       void (*func)(void **, void *))
{
    static struct starpu_codelet codelets[3];
    static int n;
    struct starpu_codelet *cl = &codelets[n++];

    *cl = (struct starpu_codelet){.cpu_funcs = {func},
                                  .cuda_funcs = {func},
                                  .nbuffers = 1,
                                  .modes = {STARPU_RW},
                                  .name = "k"};
    for (int w = 0; w < (int)starpu_worker_get_count(); w++)
        ck_assert_int_eq(starpu_task_insert(cl, STARPU_RW, handle,
                                            STARPU_EXECUTE_ON_WORKER, w, 0),
                         0);
}

START_TEST(sparse_matrices_travel_to_all_workers_and_back)
{
    double values[] = {1, 1, 1, 1};
    int blocks[] = {1, 2, 3, 4, 5, 6, 7, 8};
    float points[] = {1, 2};
    uint32_t colind[] = {0, 1, 1, 2}, rowptr[] = {0, 2, 3, 4};
    uint32_t bcol[] = {0, 1}, brow[] = {0, 1, 2}, rows[] = {0, 5}, factor;
    starpu_data_handle_t csr, bcsr, coo;

    machine_open(_i);
    factor = 1u << starpu_worker_get_count();
    starpu_csr_data_register(&csr, 0, 4, 3, (uintptr_t)values, colind, rowptr,
                             0, sizeof(*values));
    starpu_bcsr_data_register(&bcsr, 0, 2, 2, (uintptr_t)blocks, bcol, brow, 0,
                              2, 2, sizeof(*blocks));
    starpu_coo_data_register(&coo, 0, 6, 6, 2, rows, rows, (uintptr_t)points,
                             sizeof(*points));
    ck_assert_uint_eq(starpu_csr_get_nnz(csr), 4);
    ck_assert_uint_eq(starpu_csr_get_nrow(csr), 3);
    ck_assert_uint_eq(starpu_csr_get_firstentry(csr), 0);
    ck_assert_uint_eq(starpu_csr_get_elemsize(csr), sizeof(double));
    ck_assert_ptr_eq(starpu_csr_get_local_colind(csr), colind);
    ck_assert_ptr_eq(starpu_csr_get_local_rowptr(csr), rowptr);
    ck_assert_uint_eq(starpu_csr_get_local_nzval(csr), (uintptr_t)values);
    ck_assert_uint_eq(starpu_bcsr_get_nnz(bcsr), 2);
    ck_assert_uint_eq(starpu_bcsr_get_nrow(bcsr), 2);
    ck_assert_uint_eq(starpu_bcsr_get_r(bcsr), 2);
    ck_assert_uint_eq(starpu_bcsr_get_c(bcsr), 2);
    ck_assert_uint_eq(starpu_bcsr_get_firstentry(bcsr), 0);
    ck_assert_uint_eq(starpu_bcsr_get_elemsize(bcsr), sizeof(int));
    ck_assert_ptr_eq(starpu_bcsr_get_local_colind(bcsr), bcol);
    ck_assert_ptr_eq(starpu_bcsr_get_local_rowptr(bcsr), brow);
    ck_assert_uint_eq(starpu_bcsr_get_local_nzval(bcsr), (uintptr_t)blocks);
    ck_assert_uint_eq(starpu_data_get_size(csr), 4 * 8 + 4 * 4 + 4 * 4);
    ck_assert_uint_eq(starpu_data_get_size(coo), 6 * 6 * 4);
    ck_assert_uint_eq(starpu_data_get_alloc_size(coo), 2 * 12);
    ck_assert_int_eq(starpu_data_get_interface_id(coo),
                     STARPU_COO_INTERFACE_ID);
    run_on_all(csr, double_rows);
    run_on_all(bcsr, double_blocks);
    run_on_all(coo, double_values);
    starpu_data_unregister(csr);
    starpu_data_unregister(bcsr);
    starpu_data_unregister(coo);
    ck_assert_double_eq(values[0], factor);
    ck_assert_double_gt(values[2], factor);
    ck_assert_int_eq(blocks[7], 8 * (int)factor);
    ck_assert_int_eq((int)points[1], 2 * (int)factor);
    starpu_shutdown();
}
END_TEST

/* StarPU's hashes of tasks with such data, from its users' model files. */
static void expect_none(void *buffers[], void *arg)
{
    (void)arg;
    ck_assert_uint_eq(STARPU_CSR_GET_NNZ(buffers[0]), 0);
    ck_assert_uint_eq(STARPU_CSR_GET_ROWPTR(buffers[0])[4], 0);
}

/* Of what has no elements there is no array. */
START_TEST(matrices_without_values_travel)
{
    uint32_t rowptr[5] = {0};
    starpu_data_handle_t csr, bcsr, coo;

    machine_open(_i);
    starpu_csr_data_register(&csr, STARPU_MAIN_RAM, 0, 4, 0, NULL, rowptr, 0,
                             sizeof(double));
    starpu_bcsr_data_register(&bcsr, STARPU_MAIN_RAM, 0, 4, 0, NULL, rowptr, 0,
                              2, 2, sizeof(double));
    starpu_coo_data_register(&coo, STARPU_MAIN_RAM, 4, 4, 0, NULL, NULL, 0,
                             sizeof(double));
    run_on_all(csr, expect_none);
    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
        starpu_data_prefetch_on_node(bcsr, node, 0);
        starpu_data_prefetch_on_node(coo, node, 0);
    }
    starpu_data_unregister(csr);
    starpu_data_unregister(bcsr);
    starpu_data_unregister(coo);
    starpu_shutdown();
}
END_TEST

START_TEST(footprints_of_sparse_data_are_those_of_starpu)
{
    static struct starpu_codelet cl = {
        .where = STARPU_CPU, .nbuffers = 1, .modes = {STARPU_R}};
    uint32_t index[101] = {0};
    double values[100] = {0};
    starpu_data_handle_t handles[3];
    const uint32_t known[] = {0x3f066703, 0x050566a3, 0x0385a2aa};

    machine_open(0);
    starpu_csr_data_register(&handles[0], 0, 100, 5, (uintptr_t)values, index,
                             index, 0, 8);
    starpu_bcsr_data_register(&handles[1], 0, 10, 5, (uintptr_t)values, index,
                              index, 0, 2, 3, 8);
    starpu_coo_data_register(&handles[2], 0, 10, 20, 10, index, index,
                             (uintptr_t)values, 8);
    for (int i = 0; i < 3; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        task->handles[0] = handles[i];
        ck_assert_uint_eq(starpu_task_data_footprint(task), known[i]);
        task->destroy = 0;
        starpu_task_destroy(task);
        starpu_data_unregister(handles[i]);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(sparse_data_are_packed_indices_first)
{
    double values[] = {1, 2};
    uint32_t colind[] = {3, 4}, rowptr[] = {0, 1, 2};
    starpu_data_handle_t handle;
    starpu_ssize_t count;
    void *bytes;

    machine_open(_i);
    starpu_csr_data_register(&handle, 0, 2, 2, (uintptr_t)values, colind,
                             rowptr, 0, sizeof(*values));
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    ck_assert_int_eq(starpu_data_pack(handle, &bytes, &count), 0);
    ck_assert_int_eq(count, 8 + 12 + 16);
    ck_assert_mem_eq(bytes, colind, 8);
    ck_assert_mem_eq((char *)bytes + 8, rowptr, 12);
    ck_assert_mem_eq((char *)bytes + 20, values, 16);
    values[1] = 0;
    ck_assert_int_eq(starpu_data_unpack(handle, bytes, (size_t)count), 0);
    ck_assert_double_eq(values[1], 2);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(coordinates_are_packed_with_their_values)
{
    double values[] = {1, 2}, others[] = {0, 0};
    uint32_t columns[] = {3, 4}, rows[] = {0, 1}, no_columns[2], no_rows[2];
    starpu_data_handle_t handle, other;
    starpu_ssize_t count;
    void *bytes;

    machine_open(_i);
    starpu_coo_data_register(&handle, 0, 9, 9, 2, columns, rows,
                             (uintptr_t)values, sizeof(*values));
    starpu_coo_data_register(&other, 0, 9, 9, 2, no_columns, no_rows,
                             (uintptr_t)others, sizeof(*others));
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_R), 0);
    ck_assert_int_eq(starpu_data_pack(handle, NULL, &count), 0);
    ck_assert_int_eq(count, 8 + 8 + 16);
    ck_assert_int_eq(starpu_data_pack(handle, &bytes, &count), 0);
    ck_assert_int_eq(count, 8 + 8 + 16);
    ck_assert_mem_eq(bytes, columns, 8);
    ck_assert_mem_eq((char *)bytes + 8, rows, 8);
    ck_assert_mem_eq((char *)bytes + 16, values, 16);
    starpu_data_release(handle);
    ck_assert_int_eq(starpu_data_acquire(other, STARPU_W), 0);
    ck_assert_int_eq(starpu_data_peek(other, bytes, (size_t)count), 0);
    ck_assert_mem_eq(others, values, sizeof(values));
    ck_assert_mem_eq(no_columns, columns, sizeof(columns));
    others[0] = 0;
    ck_assert_int_eq(starpu_data_unpack(other, bytes, (size_t)count), 0);
    ck_assert_mem_eq(others, values, sizeof(values));
    ck_assert_mem_eq(no_rows, rows, sizeof(rows));
    starpu_data_release(other);
    starpu_data_unregister(handle);
    starpu_data_unregister(other);
    starpu_shutdown();
}
END_TEST

/* --- data --- */

START_TEST(data_tell_where_they_have_memory)
{
    int x = 3;
    starpu_data_handle_t handle, lazy;

    machine_open(_i);
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    starpu_variable_data_register(&lazy, -1, 0, sizeof(x));
    ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(handle, 0), 1);
    ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(lazy, 0), 0);
    ck_assert_uint_eq(starpu_data_test_if_mapped_on_node(handle, 0), 0);
    starpu_data_acquire(lazy, STARPU_W);
    ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(lazy, 0), 1);
    starpu_data_release(lazy);
    starpu_data_deinitialize(lazy);
    ck_assert_uint_eq(starpu_data_is_on_node(lazy, 0), 0);
    starpu_data_acquire(lazy, STARPU_W);
    starpu_data_release(lazy);
    starpu_data_deinitialize_submit(lazy);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(starpu_data_is_on_node(lazy, 0), 0);
    starpu_data_unregister(lazy);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* Whether it has memory on all nodes, or on none but that of its home. */
static void check_memory(starpu_data_handle_t handle, unsigned there)
{
    for (unsigned n = 0; n < starpu_memory_nodes_get_count(); n++) {
        int at_home = (int)n == starpu_data_get_home_node(handle);

        ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(handle, n),
                          there || at_home);
        ck_assert_uint_eq(starpu_data_is_on_node(handle, n), 0);
    }
}

static void write_everywhere(starpu_data_handle_t handle)
{
    for (unsigned n = 0; n < starpu_memory_nodes_get_count(); n++) {
        ck_assert_int_eq(starpu_data_acquire_on_node(handle, (int)n, STARPU_W),
                         0);
        starpu_data_release_on_node(handle, (int)n);
    }
}

START_TEST(invalidation_frees_memory_and_the_other_keeps_it)
{
    int x = 3;
    starpu_data_handle_t data[2];

    machine_open(_i);
    starpu_variable_data_register(&data[0], 0, (uintptr_t)&x, sizeof(x));
    starpu_variable_data_register(&data[1], -1, 0, sizeof(x));
    for (int i = 0; i < 2; i++) {
        write_everywhere(data[i]);
        starpu_data_deinitialize(data[i]);
        check_memory(data[i], 1);
        write_everywhere(data[i]);
        starpu_data_deinitialize_submit(data[i]);
        starpu_task_wait_for_all();
        check_memory(data[i], 1);
        starpu_data_invalidate(data[i]);
        check_memory(data[i], 0);
        write_everywhere(data[i]);
        starpu_data_invalidate_submit(data[i]);
        starpu_task_wait_for_all();
        check_memory(data[i], 0);
        write_everywhere(data[i]);
        starpu_data_unregister(data[i]);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(data_describe_themselves)
{
    int x[6];
    char text[64] = "";
    starpu_data_handle_t handle;
    FILE *file = tmpfile();

    machine_open(_i);
    starpu_matrix_data_register(&handle, 0, (uintptr_t)x, 2, 2, 3, 4);
    starpu_data_print(handle, 0, file);
    rewind(file);
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
    ck_assert_str_eq(text, "Matrix M2x3x4\n");
    fclose(file);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* shows starpu_data_interface_get_next_id */
START_TEST(tables_of_operations_get_a_number_once)
{
    struct starpu_data_interface_ops ops = starpu_interface_vector_ops;
    int id;

    ops.interfaceid = STARPU_UNKNOWN_INTERFACE_ID;
    starpu_data_register_ops(&ops);
    id = (int)ops.interfaceid;
    ck_assert_int_ge(id, STARPU_MAX_INTERFACE_ID);
    starpu_data_register_ops(&ops);
    ck_assert_int_eq(ops.interfaceid, id);
    ck_assert_int_eq(starpu_data_interface_get_next_id(), id + 1);
}
END_TEST

START_TEST(arrays_of_any_dimensions_are_copied)
{
    int from[2][3][4], to[2][2][2];
    uint32_t nn[] = {2, 2, 2}, src[] = {1, 4, 12}, dst[] = {1, 2, 4};
    double start = -1;
    int rc = 0;

    for (int i = 0; i < 24; i++)
        (&from[0][0][0])[i] = i;
    machine_open(_i);
    ck_assert_int_eq(starpu_interface_copynd((uintptr_t)from, 1, 0,
                                             (uintptr_t)to, 0, 0, sizeof(int),
                                             3, nn, src, dst, NULL),
                     0);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq((&to[0][0][0])[i],
                         1 + i % 2 + i / 2 % 2 * 4 + i / 4 * 12);
    starpu_interface_data_copy(0, 0, 4);
    starpu_interface_start_driver_copy_async(0, 0, &start);
    ck_assert_double_ge(start, 0);
    unsetenv("STARPU_SILENT");
    starpu_interface_end_driver_copy_async(0, 0, start);
    /* Main memory is seen as it is, a device's not at all. */
    ck_assert_uint_eq(starpu_interface_map((uintptr_t)from, 4, 0, 0, 4, &rc),
                      (uintptr_t)&from[0][0][1]);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(starpu_interface_update_map((uintptr_t)from, 4, 0,
                                                 (uintptr_t)&from[0][0][1], 0,
                                                 0, 4),
                     0);
    ck_assert_int_eq(starpu_interface_unmap((uintptr_t)from, 4, 0,
                                            (uintptr_t)&from[0][0][1], 0, 4),
                     0);
    if (starpu_memory_nodes_get_count() > 1) {
        ck_assert_uint_eq(
            starpu_interface_map((uintptr_t)from, 0, 0, 1, 4, &rc), 0);
        ck_assert_int_eq(rc, -EIO);
    }
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(sparse)
{
    Suite *suite = suite_create("sparse");
    TCase *each = tcase_create("on each machine");
    TCase *once = tcase_create("once");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, once);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(data_are_packed_without_gaps_and_unpacked);
    EACH(sparse_matrices_travel_to_all_workers_and_back);
    EACH(matrices_without_values_travel);
    EACH(sparse_data_are_packed_indices_first);
    EACH(coordinates_are_packed_with_their_values);
    EACH(data_tell_where_they_have_memory);
    EACH(invalidation_frees_memory_and_the_other_keeps_it);
    EACH(data_describe_themselves);
    EACH(arrays_of_any_dimensions_are_copied);
    tcase_add_test(once, footprints_of_sparse_data_are_those_of_starpu);
    tcase_add_test(once, tables_of_operations_get_a_number_once);
    return suite_main(suite);
}
