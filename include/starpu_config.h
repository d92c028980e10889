/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_config.h - version, maxima and features, as the preprocessor sees
 * them. Nothing here depends on whether the machine is real or simulated:
 * STARPU_SIMGRID is never defined, ask orrery_is_simulated() when running.
 */
#pragma once

#include <sys/types.h>

/* The version of the interface that these headers follow. */
#define STARPU_MAJOR_VERSION   1
#define STARPU_MINOR_VERSION   4
#define STARPU_RELEASE_VERSION 99

#define STARPU_USE_CPU 1

/* There is starpu_openmp.h, on real and simulated machines. */
#define STARPU_OPENMP 1

/* There is the module fstarpu_mod, for a Fortran compiler. */
#define STARPU_HAVE_FC 1

/* Workers tell when they sleep: starpu_worker_set_going_to_sleep_callback. */
#define STARPU_WORKER_CALLBACKS 1

/* Upper limits. They fix the size of public structures and appear in #if, so
 * they are literals; the library itself sizes its arrays by the machine. */
#define STARPU_MAXNODES           64
#define STARPU_NMAXBUFS           8
#define STARPU_NMAXWORKERS        256
#define STARPU_MAXIMPLEMENTATIONS 4
#define STARPU_NMAX_SCHED_CTXS    10
#define STARPU_MAXCPUS            256
#define STARPU_MAXNUMANODES       16
#define STARPU_MAXCUDADEVS        16
#define STARPU_MAXHIPDEVS         16
#define STARPU_MAXOPENCLDEVS      16
#define STARPU_MAXMAXFPGADEVS     12
#define STARPU_FXT_MAX_FILES      64

/* The system below. */
#ifdef __linux__
#    define STARPU_LINUX_SYS     1
#    define STARPU_HAVE_MALLOC_H 1
#    define STARPU_USE_ERAND48_R 1
#endif
#ifdef __APPLE__
#    define STARPU_HAVE_DARWIN 1
#endif
#define STARPU_HAVE_UNISTD_H           1
#define STARPU_HAVE_HDF5               1 /* starpu_disk_hdf5_ops is there */
#define STARPU_HAVE_SETENV             1
#define STARPU_HAVE_UNSETENV           1
#define STARPU_HAVE_POSIX_MEMALIGN     1
#define STARPU_HAVE_STRUCT_TIMESPEC    1
#define STARPU_HAVE_STRERROR_R         1
#define STARPU_HAVE_NEARBYINTF         1
#define STARPU_HAVE_RINTF              1
#define STARPU_USE_DRAND48             1
#define STARPU_HAVE_PTHREAD_SPIN_LOCK  1
#define STARPU_HAVE_PTHREAD_BARRIER    1
#define STARPU_HAVE_PTHREAD_SETNAME_NP 1

/* A zeroed lock, condition or rwlock is an initialised one. */
#define STARPU_PTHREAD_MUTEX_INITIALIZER_ZERO  1
#define STARPU_PTHREAD_COND_INITIALIZER_ZERO   1
#define STARPU_PTHREAD_RWLOCK_INITIALIZER_ZERO 1

/* The compiler. */
#ifdef __GNUC__
#    define STARPU_HAVE_STATEMENT_EXPRESSIONS        1
#    define STARPU_HAVE_SYNC_BOOL_COMPARE_AND_SWAP   1
#    define STARPU_HAVE_SYNC_BOOL_COMPARE_AND_SWAP_8 1
#    define STARPU_HAVE_SYNC_VAL_COMPARE_AND_SWAP    1
#    define STARPU_HAVE_SYNC_VAL_COMPARE_AND_SWAP_8  1
#    define STARPU_HAVE_SYNC_FETCH_AND_ADD           1
#    define STARPU_HAVE_SYNC_FETCH_AND_ADD_8         1
#    define STARPU_HAVE_SYNC_FETCH_AND_OR            1
#    define STARPU_HAVE_SYNC_FETCH_AND_OR_8          1
#    define STARPU_HAVE_SYNC_LOCK_TEST_AND_SET       1
#    define STARPU_HAVE_SYNC_SYNCHRONIZE             1
#    define STARPU_HAVE_ATOMIC_COMPARE_EXCHANGE_N    1
#    define STARPU_HAVE_ATOMIC_COMPARE_EXCHANGE_N_8  1
#    define STARPU_HAVE_ATOMIC_EXCHANGE_N            1
#    define STARPU_HAVE_ATOMIC_EXCHANGE_N_8          1
#    define STARPU_HAVE_ATOMIC_FETCH_ADD             1
#    define STARPU_HAVE_ATOMIC_FETCH_ADD_8           1
#    define STARPU_HAVE_ATOMIC_FETCH_OR              1
#    define STARPU_HAVE_ATOMIC_FETCH_OR_8            1
#    define STARPU_HAVE_ATOMIC_TEST_AND_SET          1
#    define __starpu_func__                          __func__
#    define __starpu_inline                          __inline__
#else
#    define __starpu_func__ __func__
#    define __starpu_inline inline
#endif
/* Of the definition of a function in a header, behind its declaration: compilers put it
 * in place, and the library exports it as well (core/api/inlines.c), for what reads
 * declarations alone, as bindings of other languages are made. */
#ifdef _ORR_DEFINE_INLINES
#    define _ORR_INLINE
#elif defined(__cplusplus)
#    define _ORR_INLINE inline
#elif defined(__GNUC__)
#    define _ORR_INLINE                                                        \
        extern __inline__ __attribute__((__gnu_inline__, __always_inline__))
#else
#    define _ORR_INLINE extern inline
#endif
#if defined(__cplusplus) && __cplusplus >= 201103L
#    define STARPU_HAVE_CXX11 1
#endif

/* Where hwloc's headers are there, so are the types that some functions return. A
 * compiler for another processor may see the first of them alone.
 * _ORR_LEAN is for this library's own sources, of which few need the headers of others
 * that take half the time of reading these: hwloc's, Khronos' and math.h. */
#if defined(__has_include) && !defined(_ORR_LEAN)
#    if __has_include(<hwloc.h>) && __has_include(<hwloc/autogen/config.h>)
#        define STARPU_HAVE_HWLOC      1
#        define STARPU_PARALLEL_WORKER 1
#    endif
#endif

/* Likewise Khronos' header, for programs with OpenCL kernels. The library has its
 * side in any build, and opens OpenCL when it runs. */
#if defined(__has_include) && !defined(__CUDACC__) && !defined(__HIPCC__) &&          \
    !defined(_ORR_LEAN)
#    if __has_include(<CL/cl.h>) || __has_include(<OpenCL/cl.h>)
#        define STARPU_USE_OPENCL 1
#    endif
#endif

/* Likewise the headers of CUDA's toolkit, of NVML and of HIP. */
#ifdef __has_include
#    if __has_include(<cuda_runtime_api.h>) && __has_include(<cuda.h>)
#        define STARPU_USE_CUDA              1
#        define STARPU_HAVE_CUDA_MEMCPY_PEER 1
#        if __has_include(<nvml.h>)
#            define STARPU_HAVE_NVML_H 1
#        endif
#        if __has_include(<cublasLt.h>)
#            define STARPU_HAVE_LIBCUBLASLT 1
#        endif
#        if __has_include(<cusparse.h>)
#            define STARPU_HAVE_LIBCUSPARSE 1
#        endif
#        if __has_include(<cusolverDn.h>) && __has_include(<cusolverRf.h>)
#            define STARPU_HAVE_LIBCUSOLVER 1
#        endif
#    endif
#    if __has_include(<hip/hip_runtime_api.h>)
#        define STARPU_USE_HIP 1
#        if __has_include(<hipblas/hipblas.h>)
#            define STARPU_USE_HIPBLAS 1
#        endif
#    endif
#endif

/* A size, or a negative errno. */
typedef ssize_t starpu_ssize_t;
