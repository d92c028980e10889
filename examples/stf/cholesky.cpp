// SPDX-License-Identifier: LGPL-2.1-or-later
// cholesky.cpp - a tiled Cholesky factorisation whose tasks the policy places: the same
// kernels, models and result as ../cholesky, in a fifth of the lines.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cblas.h>

#include <orrery/stf.hpp>

using namespace orrery::stf;

extern "C" void spotrf_(const char *uplo, const int *n, float *a, const int *lda,
                        int *info);

namespace {

using tile = slice<float, 2>;
using tile_read = slice<const float, 2>;

int rows(const tile_read &t)
{
    return static_cast<int>(t.extent(0));
}
int ld(const tile_read &t)
{
    return static_cast<int>(t.stride(1));
}

void potrf(stream_t, tile a)
{
    const int n = rows(a), lda = ld(a);
    int info = 0;

    spotrf_("L", &n, a.data_handle(), &lda, &info);
    if (info != 0)
        throw error("the matrix is not positive definite");
}
void trsm(stream_t, tile_read a, tile b)
{
    cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                rows(b), rows(b), 1.f, a.data_handle(), ld(a), b.data_handle(),
                ld(b));
}
void syrk(stream_t, tile_read a, tile c)
{
    cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, rows(c), rows(c), -1.f,
                a.data_handle(), ld(a), 1.f, c.data_handle(), ld(c));
}
void gemm(stream_t, tile_read a, tile_read b, tile c)
{
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows(c), rows(c),
                rows(c), -1.f, a.data_handle(), ld(a), b.data_handle(), ld(b),
                1.f, c.data_handle(), ld(c));
}

struct matrix {
    matrix(context &ctx, float *memory, std::size_t order, std::size_t tiles)
        : b(order / tiles), n(tiles)
    {
        for (std::size_t j = 0; j < n; j++)
            for (std::size_t i = 0; i < n; i++)
                at.push_back(ctx.logical_data(
                    make_slice(memory + i * b + j * b * order,
                               std::tuple{b, b}, order)));
    }
    logical_data<tile> &operator()(std::size_t i, std::size_t j)
    {
        return at[i + j * n];
    }
    std::size_t b, n;
    std::vector<logical_data<tile>> at;
};

void factorise(context &ctx, matrix &A)
{
    const auto any = exec_place::any();
    const double b = static_cast<double>(A.b);
    const int n = static_cast<int>(A.n);

    for (int k = 0; k < n; k++) {
        const auto K = static_cast<std::size_t>(k);

        ctx.task(any, A(K, K).rw())
                .set_symbol("chol_model_potrf")
                .set_priority(2 * n - 2 * k)
                .set_flops(b * b * b / 3)->*on_host(potrf);
        for (std::size_t m = K + 1; m < A.n; m++)
            ctx.task(any, A(K, K).read(), A(m, K).rw())
                    .set_symbol("chol_model_trsm")
                    .set_priority(2 * n - 2 * k - static_cast<int>(m))
                    .set_flops(b * b * b)->*on_host(trsm);
        A(K, K).wont_use();
        for (std::size_t j = K + 1; j < A.n; j++) {
            ctx.task(any, A(j, K).read(), A(j, j).rw())
                    .set_symbol("chol_model_syrk")
                    .set_priority(2 * n - 2 * k - static_cast<int>(j))
                    .set_flops(b * b * (b + 1))->*on_host(syrk);
            for (std::size_t m = j + 1; m < A.n; m++)
                ctx.task(any, A(m, K).read(), A(j, K).read(), A(m, j).rw())
                        .set_symbol("chol_model_gemm")
                        .set_priority(2 * n - 2 * k - static_cast<int>(m + j))
                        .set_flops(2 * b * b * b)->*on_host(gemm);
            A(j, K).wont_use();
        }
    }
}

// An element below the diagonal, or on it.
float element(std::size_t i, std::size_t j, std::size_t order)
{
    const double noise = std::sin(static_cast<double>(3 * i + 7 * j));

    return static_cast<float>(noise) + (i == j ? static_cast<float>(order) : 0);
}

// How far L Lᵀ is from the matrix, along the last row and the diagonal.
double error_of(const float *L, std::size_t order)
{
    double worst = 0.;

    for (std::size_t j = 0; j < order; j++)
        for (const std::size_t i : {order - 1, j}) {
            double sum = 0.;
            for (std::size_t k = 0; k <= j; k++)
                sum += static_cast<double>(L[i + k * order]) *
                       static_cast<double>(L[j + k * order]);
            worst = std::fmax(worst, std::fabs(sum - element(i, j, order)));
        }
    return worst / static_cast<double>(order);
}

std::size_t number(const char *text)
{
    const long value = text ? std::atol(text) : 0;

    if (value > 0)
        return static_cast<std::size_t>(value);
    std::fputs("usage: cholesky [SIZE [TILES]]: a matrix of order SIZE (1920), a "
               "multiple of TILES (8)\n"
               "example: orrery run -m h100-pcie-4 -s dmdas -- cholesky 9600 10\n",
               stderr);
    std::exit(2);
}

} // namespace

int main(int argc, char **argv)
{
    const std::size_t order = number(argc > 1 ? argv[1] : "1920");
    const std::size_t tiles = number(argc > 2 ? argv[2] : "8");
    void *memory = nullptr;
    context ctx;
    const bool real = orrery_runs_kernels();
    // Where kernels are skipped a large matrix takes no memory.
    const int flags = real ? STARPU_MALLOC_PINNED
                           : STARPU_MALLOC_PINNED |
                                 STARPU_MALLOC_SIMULATION_FOLDED;

    if (order % tiles != 0)
        number(nullptr);
    openblas_set_num_threads(1);
    if (starpu_malloc_flags(&memory, order * order * sizeof(float), flags) != 0) {
        std::fputs("no memory for the matrix\n", stderr);
        return 1;
    }
    auto *a = static_cast<float *>(memory);
    for (std::size_t j = 0; real && j < order; j++)
        for (std::size_t i = 0; i < order; i++)
            a[i + j * order] = i < j ? 0.f : element(i, j, order);
    matrix A(ctx, a, order, tiles);

    const double start = starpu_timing_now();
    factorise(ctx, A);
    ctx.fence().wait();
    const double us = starpu_timing_now() - start;
    const double n = static_cast<double>(order);
    std::printf("# size\tms\tGFlop/s\n%zu\t%.3f\t%.1f\n", order, us / 1000,
                n * n * n / 3 / us / 1000);
    ctx.finalize();

    const double off = real ? error_of(a, order) : 0.;
    if (real)
        std::printf("# off by %.1e: %s\n", off, off < 1e-5 ? "right" : "WRONG");
    starpu_free_flags(memory, order * order * sizeof(float), flags);
    return off < 1e-5 ? 0 : 1;
}
