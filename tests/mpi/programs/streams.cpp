/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/streams.cpp - a program in C++ with a stream, an exception and an
 * object that is made before main. Compiled without -fPIC it has a copy of std::cout.
 */
#include <iostream>
#include <stdexcept>
#include <string>
#include <starpu_mpi.h>

static const std::string greeting = "rank ";

int main()
{
    int rank;

    if (starpu_mpi_init_conf(nullptr, nullptr, 1, MPI_COMM_WORLD, nullptr))
        return 77;
    rank = starpu_mpi_world_rank();
    try {
        throw std::runtime_error(std::to_string(rank));
    } catch (const std::exception &error) {
        std::cout << greeting << error.what() << std::endl;
    }
    starpu_mpi_barrier(MPI_COMM_WORLD);
    starpu_mpi_shutdown();
    return 0;
}
