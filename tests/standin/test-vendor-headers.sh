#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tests/standin/test-vendor-headers.sh - where a toolkit is installed: what the
# library declares by itself agrees with the vendor's header, and programs that use
# the public headers compile with those, as C, C++ and CUDA.
#
# Usage: test-vendor-headers.sh C-COMPILER C++-COMPILER SOURCE_ROOT
# Prints TAP. NVCC and HIP_INCLUDE in the environment lead to other toolkits.

if [ $# -ne 3 ]; then
    echo "usage: $0 C-COMPILER C++-COMPILER SOURCE_ROOT" >&2
    exit 2
fi
cc=$1
cxx=$2
root=$3
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
n=0
failed=0

# check CLAIM COMMAND...
check() {
    n=$((n + 1))
    claim=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then
        echo "ok $n - $claim"
    else
        failed=$((failed + 1))
        echo "not ok $n - $claim"
        sed 's/^/# /' "$scratch/said"
    fi
}

cat >"$scratch/cuda.c" <<'END'
#include <starpu.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>
#ifndef STARPU_USE_CUDA
#error "STARPU_USE_CUDA is not defined"
#endif
static int move(void *src, unsigned from, void *dst, unsigned to,
                cudaStream_t stream)
{
    return starpu_cuda_copy_async_sync(src, from, dst, to, 8, stream,
                                       cudaMemcpyHostToDevice);
}
void kernel(void *buffers[], void *arg);
void kernel(void *buffers[], void *arg)
{
    struct starpu_data_copy_methods methods;
    cublasHandle_t blas = starpu_cublas_get_local_handle();
    cudaError_t status = cudaStreamSynchronize(starpu_cuda_get_local_stream());
    (void)buffers;
    (void)arg;
    methods.ram_to_cuda_async = move;
    if (status != cudaSuccess || !blas || !methods.ram_to_cuda_async ||
        !starpu_cuda_get_device_properties(0)->totalGlobalMem)
        STARPU_CUDA_REPORT_ERROR(status);
}
END
cat >"$scratch/hip.c" <<'END'
#include <starpu.h>
#ifndef STARPU_USE_HIP
#error "STARPU_USE_HIP is not defined"
#endif
void kernel(void *buffers[], void *arg);
void kernel(void *buffers[], void *arg)
{
    hipStream_t stream = starpu_hip_get_local_stream();
    (void)buffers;
    (void)arg;
    if (!stream || !starpu_hip_get_device_properties(0)->totalGlobalMem)
        STARPU_HIP_REPORT_ERROR(hipErrorOutOfMemory);
}
END
strict='-Wall -Wextra -Werror -fsyntax-only'

# alone COMMAND... - whether the vendor's headers compile without ours: a toolkit may
# be there in part, or be one which this compiler refuses.
alone()
{
    "$@" >/dev/null 2>&1 && return
    echo "# skipped: does not compile by itself: $*"
    return 1
}

# The folder of the headers which that compiler reads: its place does not tell, since
# it may be called by a script elsewhere.
headers_of_nvcc()
{
    : >"$scratch/empty.cu"
    "$nvcc" -x cu -M "$scratch/empty.cu" 2>/dev/null | tr ' \\' '\n\n' |
        sed -n 's,/cuda_runtime\.h$,,p' | head -n 1
}

nvcc=${NVCC:-$(command -v nvcc)}
include=
[ -z "$nvcc" ] || include=$(headers_of_nvcc)
if [ -n "$include" ]; then
    printf '#include <cuda.h>\n' >"$scratch/driver.c"
    printf '#include <%s>\n' cuda_runtime_api.h cublas_v2.h cusolverDn.h \
        cusolverRf.h cusolverSp.h >"$scratch/runtime.c"
    plain="-fsyntax-only -isystem $include"
    alone $cc $plain "$scratch/driver.c" &&
        check "the driver's declarations are those of cuda.h" \
            $cc -std=gnu11 $strict -I"$root" -I"$root/include" \
            -isystem "$include" "$root/tests/standin/abi-cuda.c"
    if alone $cc $plain "$scratch/runtime.c"; then
        check "a program in C compiles with CUDA's headers" \
            $cc -std=gnu11 $strict -I"$root/include" -isystem "$include" \
            "$scratch/cuda.c"
        check "a program in C++ compiles with CUDA's headers" \
            $cxx -x c++ -std=gnu++17 $strict -I"$root/include" \
            -isystem "$include" "$scratch/cuda.c"
        alone "$nvcc" -x cu -c "$scratch/runtime.c" -o "$scratch/alone.o" &&
            check "a program in CUDA compiles" \
                "$nvcc" -x cu -I"$root/include" -c "$scratch/cuda.c" \
                -o "$scratch/cuda.o"
    fi
fi
include=${HIP_INCLUDE:-/usr/include}
printf '#define __HIP_PLATFORM_AMD__ 1\n#include <hip/hip_runtime_api.h>\n' \
    >"$scratch/driver.c"
if [ -e "$include/hip/hip_runtime_api.h" ] &&
    alone $cc -fsyntax-only -isystem "$include" "$scratch/driver.c"; then
    check "the driver's declarations are those of HIP's header" \
        $cc -std=gnu11 $strict -I"$root" -isystem "$include" \
        "$root/tests/standin/abi-hip.c"
    check "a program in C compiles with HIP's header" \
        $cc -std=gnu11 $strict -I"$root/include" -isystem "$include" \
        "$scratch/hip.c"
    check "a program in C++ compiles with HIP's header" \
        $cxx -x c++ -std=gnu++17 $strict -I"$root/include" \
        -isystem "$include" "$scratch/hip.c"
fi
if [ $n -eq 0 ]; then
    echo "1..0 # SKIP no headers of CUDA's nvcc, and none of HIP in $include"
    exit 0
fi
echo "1..$n"
[ "$failed" -eq 0 ]
