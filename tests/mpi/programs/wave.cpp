/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/wave.cpp - a wave through blocks that belong to the ranks in turn, in C++:
 * objects that are made before main and end behind it, exceptions, kernels that allocate.
 * wave_nf.f90 is the same in Fortran.
 */
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#include <starpu_mpi.h>

#include "wave.h"

namespace
{
constexpr int nblocks = 12, nsteps = 6, size = 100;

const std::string name = std::string("wave ") + "step";

void step(void **buffers, void *)
{
    auto *at = reinterpret_cast<double *>(STARPU_VECTOR_GET_PTR(buffers[0]));
    auto *left = reinterpret_cast<double *>(STARPU_VECTOR_GET_PTR(buffers[1]));
    auto *right = reinterpret_cast<double *>(STARPU_VECTOR_GET_PTR(buffers[2]));
    std::vector<double> before(at, at + size);

    for (int i = 0; i < size; i++)
        at[i] += (i ? before[i - 1] : left[size - 1]) + (i < size - 1 ? before[i + 1] : right[0]);
}

class Block
{
public:
    Block(int number, int rank, int nranks) : owner(number % nranks)
    {
        if (owner == rank)
            values.assign(size, number);
        starpu_vector_data_register(&handle, owner == rank ? STARPU_MAIN_RAM : -1,
                                    reinterpret_cast<uintptr_t>(values.data()), size,
                                    sizeof(double));
        starpu_mpi_data_register_comm(handle, number, owner, MPI_COMM_WORLD);
    }
    Block(const Block &) = delete;
    ~Block()
    {
        starpu_data_unregister(handle);
    }
    starpu_data_handle_t handle = nullptr;

private:
    int owner;
    std::vector<double> values;
};

void insert(starpu_codelet *codelet, const std::vector<std::unique_ptr<Block>> &blocks, int i)
{
    const int left = (i + nblocks - 1) % nblocks, right = (i + 1) % nblocks;

    if (starpu_mpi_task_insert(MPI_COMM_WORLD, codelet, STARPU_RW, blocks[i]->handle, STARPU_R,
                               blocks[left]->handle, STARPU_R, blocks[right]->handle,
                               STARPU_PRIORITY, i % 3, 0))
        throw std::runtime_error("an insertion");
}

void run()
{
    const int rank = starpu_mpi_world_rank(), nranks = starpu_mpi_world_size();
    starpu_codelet codelet{};
    std::vector<std::unique_ptr<Block>> blocks;

    codelet.cpu_funcs[0] = step;
    codelet.cuda_funcs[0] = step; /* simulated */
    codelet.nbuffers = 3;
    codelet.modes[0] = STARPU_RW;
    codelet.modes[1] = codelet.modes[2] = STARPU_R;
    codelet.name = name.c_str();
    for (int i = 0; i < nblocks; i++)
        blocks.push_back(std::make_unique<Block>(i, rank, nranks));
    for (int t = 0; t < nsteps; t++)
        for (int i = 0; i < nblocks; i++)
            insert(&codelet, blocks, i);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}
} // namespace

int app_main(int argc, char **argv)
{
    if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, nullptr))
        return 77;
    try {
        run();
        throw std::runtime_error("is caught");
    } catch (const std::runtime_error &error) {
        if (std::string(error.what()) != "is caught")
            return 1;
    }
    starpu_mpi_shutdown();
    return 0;
}
