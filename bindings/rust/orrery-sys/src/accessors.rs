// SPDX-License-Identifier: LGPL-2.1-or-later
// Made by bindings/rust/generate.py of the headers in include/: do not edit.
use super::bindings::*;
use std::os::raw::c_void;

/// `ptr` of a `starpu_matrix_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MATRIX_GET_PTR(interface: *const c_void) -> usize {
    (*(interface as *const starpu_matrix_interface)).ptr
}

/// `dev_handle` of a `starpu_matrix_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MATRIX_GET_DEV_HANDLE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_matrix_interface)).dev_handle
}

/// `offset` of a `starpu_matrix_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MATRIX_GET_OFFSET(interface: *const c_void) -> usize {
    (*(interface as *const starpu_matrix_interface)).offset
}

/// `nx` of a `starpu_matrix_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MATRIX_GET_NX(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_matrix_interface)).nx
}

/// `ny` of a `starpu_matrix_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MATRIX_GET_NY(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_matrix_interface)).ny
}

/// `ld` of a `starpu_matrix_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MATRIX_GET_LD(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_matrix_interface)).ld
}

/// `elemsize` of a `starpu_matrix_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MATRIX_GET_ELEMSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_matrix_interface)).elemsize
}

/// `allocsize` of a `starpu_matrix_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MATRIX_GET_ALLOCSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_matrix_interface)).allocsize
}

/// `columns` of a `starpu_coo_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_COO_GET_COLUMNS(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_coo_interface)).columns
}

/// `columns` of a `starpu_coo_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_COO_GET_COLUMNS_DEV_HANDLE(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_coo_interface)).columns
}

/// `rows` of a `starpu_coo_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_COO_GET_ROWS(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_coo_interface)).rows
}

/// `rows` of a `starpu_coo_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_COO_GET_ROWS_DEV_HANDLE(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_coo_interface)).rows
}

/// `values` of a `starpu_coo_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_COO_GET_VALUES(interface: *const c_void) -> usize {
    (*(interface as *const starpu_coo_interface)).values
}

/// `values` of a `starpu_coo_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_COO_GET_VALUES_DEV_HANDLE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_coo_interface)).values
}

/// `nx` of a `starpu_coo_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_COO_GET_NX(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_coo_interface)).nx
}

/// `ny` of a `starpu_coo_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_COO_GET_NY(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_coo_interface)).ny
}

/// `n_values` of a `starpu_coo_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_COO_GET_NVALUES(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_coo_interface)).n_values
}

/// `elemsize` of a `starpu_coo_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_COO_GET_ELEMSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_coo_interface)).elemsize
}

/// `ptr` of a `starpu_block_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BLOCK_GET_PTR(interface: *const c_void) -> usize {
    (*(interface as *const starpu_block_interface)).ptr
}

/// `dev_handle` of a `starpu_block_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BLOCK_GET_DEV_HANDLE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_block_interface)).dev_handle
}

/// `offset` of a `starpu_block_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BLOCK_GET_OFFSET(interface: *const c_void) -> usize {
    (*(interface as *const starpu_block_interface)).offset
}

/// `nx` of a `starpu_block_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BLOCK_GET_NX(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_block_interface)).nx
}

/// `ny` of a `starpu_block_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BLOCK_GET_NY(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_block_interface)).ny
}

/// `nz` of a `starpu_block_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BLOCK_GET_NZ(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_block_interface)).nz
}

/// `ldy` of a `starpu_block_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BLOCK_GET_LDY(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_block_interface)).ldy
}

/// `ldz` of a `starpu_block_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BLOCK_GET_LDZ(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_block_interface)).ldz
}

/// `elemsize` of a `starpu_block_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BLOCK_GET_ELEMSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_block_interface)).elemsize
}

/// `ptr` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_PTR(interface: *const c_void) -> usize {
    (*(interface as *const starpu_tensor_interface)).ptr
}

/// `dev_handle` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_DEV_HANDLE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_tensor_interface)).dev_handle
}

/// `offset` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_OFFSET(interface: *const c_void) -> usize {
    (*(interface as *const starpu_tensor_interface)).offset
}

/// `nx` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_NX(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_tensor_interface)).nx
}

/// `ny` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_NY(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_tensor_interface)).ny
}

/// `nz` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_NZ(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_tensor_interface)).nz
}

/// `nt` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_NT(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_tensor_interface)).nt
}

/// `ldy` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_LDY(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_tensor_interface)).ldy
}

/// `ldz` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_LDZ(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_tensor_interface)).ldz
}

/// `ldt` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_LDT(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_tensor_interface)).ldt
}

/// `elemsize` of a `starpu_tensor_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_TENSOR_GET_ELEMSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_tensor_interface)).elemsize
}

/// `ptr` of a `starpu_ndim_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_NDIM_GET_PTR(interface: *const c_void) -> usize {
    (*(interface as *const starpu_ndim_interface)).ptr
}

/// `dev_handle` of a `starpu_ndim_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_NDIM_GET_DEV_HANDLE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_ndim_interface)).dev_handle
}

/// `offset` of a `starpu_ndim_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_NDIM_GET_OFFSET(interface: *const c_void) -> usize {
    (*(interface as *const starpu_ndim_interface)).offset
}

/// `nn` of a `starpu_ndim_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_NDIM_GET_NN(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_ndim_interface)).nn
}

/// `ldn` of a `starpu_ndim_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_NDIM_GET_LDN(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_ndim_interface)).ldn
}

/// `ndim` of a `starpu_ndim_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_NDIM_GET_NDIM(interface: *const c_void) -> usize {
    (*(interface as *const starpu_ndim_interface)).ndim
}

/// `elemsize` of a `starpu_ndim_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_NDIM_GET_ELEMSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_ndim_interface)).elemsize
}

/// `ptr` of a `starpu_vector_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VECTOR_GET_PTR(interface: *const c_void) -> usize {
    (*(interface as *const starpu_vector_interface)).ptr
}

/// `dev_handle` of a `starpu_vector_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VECTOR_GET_DEV_HANDLE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_vector_interface)).dev_handle
}

/// `offset` of a `starpu_vector_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VECTOR_GET_OFFSET(interface: *const c_void) -> usize {
    (*(interface as *const starpu_vector_interface)).offset
}

/// `nx` of a `starpu_vector_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VECTOR_GET_NX(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_vector_interface)).nx
}

/// `elemsize` of a `starpu_vector_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VECTOR_GET_ELEMSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_vector_interface)).elemsize
}

/// `allocsize` of a `starpu_vector_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VECTOR_GET_ALLOCSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_vector_interface)).allocsize
}

/// `slice_base` of a `starpu_vector_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VECTOR_GET_SLICE_BASE(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_vector_interface)).slice_base
}

/// `ptr` of a `starpu_variable_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VARIABLE_GET_PTR(interface: *const c_void) -> usize {
    (*(interface as *const starpu_variable_interface)).ptr
}

/// `offset` of a `starpu_variable_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VARIABLE_GET_OFFSET(interface: *const c_void) -> usize {
    (*(interface as *const starpu_variable_interface)).offset
}

/// `elemsize` of a `starpu_variable_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VARIABLE_GET_ELEMSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_variable_interface)).elemsize
}

/// `dev_handle` of a `starpu_variable_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_VARIABLE_GET_DEV_HANDLE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_variable_interface)).dev_handle
}

/// `nnz` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_NNZ(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_csr_interface)).nnz
}

/// `nrow` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_NROW(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_csr_interface)).nrow
}

/// `nzval` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_NZVAL(interface: *const c_void) -> usize {
    (*(interface as *const starpu_csr_interface)).nzval
}

/// `nnz` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_NZVAL_DEV_HANDLE(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_csr_interface)).nnz
}

/// `colind` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_COLIND(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_csr_interface)).colind
}

/// `ram_colind` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_RAM_COLIND(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_csr_interface)).ram_colind
}

/// `colind` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_COLIND_DEV_HANDLE(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_csr_interface)).colind
}

/// `rowptr` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_ROWPTR(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_csr_interface)).rowptr
}

/// `ram_rowptr` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_RAM_ROWPTR(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_csr_interface)).ram_rowptr
}

/// `rowptr` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_ROWPTR_DEV_HANDLE(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_csr_interface)).rowptr
}

/// `firstentry` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_FIRSTENTRY(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_csr_interface)).firstentry
}

/// `elemsize` of a `starpu_csr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_CSR_GET_ELEMSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_csr_interface)).elemsize
}

/// `nnz` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_NNZ(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_bcsr_interface)).nnz
}

/// `nrow` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_NROW(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_bcsr_interface)).nrow
}

/// `nzval` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_NZVAL(interface: *const c_void) -> usize {
    (*(interface as *const starpu_bcsr_interface)).nzval
}

/// `nnz` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_NZVAL_DEV_HANDLE(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_bcsr_interface)).nnz
}

/// `colind` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_COLIND(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_bcsr_interface)).colind
}

/// `ram_colind` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_RAM_COLIND(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_bcsr_interface)).ram_colind
}

/// `colind` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_COLIND_DEV_HANDLE(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_bcsr_interface)).colind
}

/// `rowptr` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_ROWPTR(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_bcsr_interface)).rowptr
}

/// `ram_rowptr` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_RAM_ROWPTR(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_bcsr_interface)).ram_rowptr
}

/// `rowptr` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_ROWPTR_DEV_HANDLE(interface: *const c_void) -> *mut u32 {
    (*(interface as *const starpu_bcsr_interface)).rowptr
}

/// `firstentry` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_FIRSTENTRY(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_bcsr_interface)).firstentry
}

/// `r` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_R(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_bcsr_interface)).r
}

/// `c` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_C(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_bcsr_interface)).c
}

/// `elemsize` of a `starpu_bcsr_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_BCSR_GET_ELEMSIZE(interface: *const c_void) -> usize {
    (*(interface as *const starpu_bcsr_interface)).elemsize
}

/// `cpu_ptr` of a `starpu_multiformat_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MULTIFORMAT_GET_CPU_PTR(interface: *const c_void) -> *mut c_void {
    (*(interface as *const starpu_multiformat_interface)).cpu_ptr
}

/// `cuda_ptr` of a `starpu_multiformat_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MULTIFORMAT_GET_CUDA_PTR(interface: *const c_void) -> *mut c_void {
    (*(interface as *const starpu_multiformat_interface)).cuda_ptr
}

/// `hip_ptr` of a `starpu_multiformat_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MULTIFORMAT_GET_HIP_PTR(interface: *const c_void) -> *mut c_void {
    (*(interface as *const starpu_multiformat_interface)).hip_ptr
}

/// `opencl_ptr` of a `starpu_multiformat_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MULTIFORMAT_GET_OPENCL_PTR(interface: *const c_void) -> *mut c_void {
    (*(interface as *const starpu_multiformat_interface)).opencl_ptr
}

/// `nx` of a `starpu_multiformat_interface`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn STARPU_MULTIFORMAT_GET_NX(interface: *const c_void) -> u32 {
    (*(interface as *const starpu_multiformat_interface)).nx
}
