// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/machine.hpp - the runtime, which the first context starts and the end of the
// program stops, and what its machine has.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <orrery/stf/environment.hpp>
#include <orrery/stf/place.hpp>
#include <orrery/stf/runtime.hpp>

namespace orrery::stf::detail
{

class machine
{
  public:
    struct device {
        int worker;
        unsigned node;
    };

    // Starts the runtime at the first call. One that the program has started by
    // starpu_init() is used, and lives on until the program ends.
    static machine &get()
    {
        static machine one;
        return one;
    }

    // Worker and memory of a device; an error where there is none of that number.
    const device &at(int number) const
    {
        if (number < 0 || number >= ndevices())
            absent(number);
        return devices[static_cast<std::size_t>(number)];
    }
    int ndevices() const
    {
        return static_cast<int>(devices.size());
    }
    // The worker of a place that is a single one and not any().
    int worker_of(const exec_place &place) const
    {
        return at(place.is_device() ? place.number() : 0).worker;
    }
    // The node of data that are placed there. Pages of managed memory, and copies of
    // replicated data, are where the task is.
    int node_of(const data_place &place) const
    {
        if (place.is_affine() || place.is_managed() || place.get_spread())
            return STARPU_SPECIFIC_NODE_LOCAL;
        return place.is_device() ? static_cast<int>(at(place.number()).node)
                                 : STARPU_MAIN_RAM;
    }

    // The same where no task is that would say where.
    int node_of(const data_place &place, int otherwise) const
    {
        const int node = node_of(place);
        return node == STARPU_SPECIFIC_NODE_LOCAL ? otherwise : node;
    }
    // The other way round; affine(): no place of a program's is there.
    data_place place_of(unsigned node) const
    {
        if (node == STARPU_MAIN_RAM)
            return data_place::host();
        for (std::size_t i = 0; i < devices.size(); i++)
            if (devices[i].node == node)
                return data_place::device(static_cast<int>(i));
        return data_place::affine();
    }

    // Whether tasks of that symbol have a model of their own: where times are known or
    // measured. Elsewhere the runtime would warn that they are not.
    ORR_STF_COLD bool uses_model(const std::string &name) const
    {
        const char *calibrate = std::getenv("STARPU_CALIBRATE");

        return simulated || (calibrate && std::atoi(calibrate) > 0) ||
               orrery_knows_kernel(nullptr, name.c_str()) == 1;
    }

    std::vector<device> devices; // CUDA's, then HIP's
    int gang = -1; // all processors as one worker; -1: there is one
    unsigned processors = 0;
    bool simulated = false;
    bool runs_bodies = true; // kernels are not skipped
    bool places_any = false; // ORRERY_STF_PLACE=any

  private:
    ORR_STF_COLD machine()
    {
        read_environment();
        tell_of_environment();
        const int err = starpu_init(nullptr);
        if (err)
            fail_with("the runtime does not start: %s; `orrery env` says what "
                      "is set",
                      std::strerror(-err));
        simulated = orrery_is_simulated();
        runs_bodies = orrery_runs_kernels();
        add(STARPU_CUDA_WORKER);
        add(STARPU_HIP_WORKER);
        int cpus[STARPU_NMAXWORKERS];
        processors = starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, cpus,
                                                   STARPU_NMAXWORKERS);
        if (processors > 1)
            gang = starpu_combined_worker_assign_workerid(
                static_cast<int>(processors), cpus);
    }
    // A body that calls exit() leaves the runtime as it is.
    ORR_STF_COLD ~machine()
    {
        if (!starpu_task_get_current())
            starpu_shutdown();
    }
    machine(const machine &) = delete;
    machine &operator=(const machine &) = delete;

    [[noreturn]] ORR_STF_COLD void absent(int number) const
    {
        fail_with("device %d is not there: this %smachine has %d; "
                  "exec_place::any(), ORRERY_STF_PLACE=any or "
                  "ORRERY_MACHINE=h100-pcie-4 make programs run here",
                  number, simulated ? "simulated " : "", ndevices());
    }
    ORR_STF_COLD void read_environment()
    {
        const char *place = std::getenv("ORRERY_STF_PLACE");

        if (!place || !*place)
            return;
        if (std::strcmp(place, "any") != 0)
            fail_with("ORRERY_STF_PLACE=%s is unknown; give any, or leave it "
                      "unset",
                      place);
        places_any = true;
    }
    // The first worker of each device of a type.
    ORR_STF_COLD void add(starpu_worker_archtype type)
    {
        int workers[STARPU_NMAXWORKERS];
        const unsigned n =
            starpu_worker_get_ids_by_type(type, workers, STARPU_NMAXWORKERS);

        for (unsigned i = 0; i < n; i++) {
            const unsigned node = starpu_worker_get_memory_node(
                static_cast<unsigned>(workers[i]));
            bool known = false;
            for (const device &other : devices)
                known = known || other.node == node;
            if (!known)
                devices.push_back({workers[i], node});
        }
    }
};

} // namespace orrery::stf::detail

namespace orrery::stf
{

// All devices of the machine; its processors where there is none.
inline exec_place_grid exec_place::all_devices()
{
    const int n = detail::machine::get().ndevices();
    std::vector<exec_place> places;

    for (int i = 0; i < n; i++)
        places.push_back(device(i));
    if (places.empty())
        places.push_back(host());
    return grid(std::move(places));
}

inline exec_place exec_place::cuda_stream(stream_t queue)
{
    int number = 0;

#if ORR_STF_CUDA && defined(CUDART_VERSION)
#    if CUDART_VERSION >= 12080
    const detail::machine &m = detail::machine::get();
    int device = 0;
    if (!m.simulated && cudaStreamGetDevice(queue, &device) == cudaSuccess)
        for (int i = 0; i < m.ndevices(); i++)
            if (starpu_worker_get_devid(m.at(i).worker) == device)
                number = i;
#    endif
#endif
    return cuda_stream(queue, number);
}

namespace detail
{

inline unsigned node_to_allocate(const data_place &place)
{
    require(place.is_host() || place.is_device(),
            "allocate() and deallocate() at a place that is not one memory: "
            "name data_place::host() or device(i)");
    return static_cast<unsigned>(machine::get().node_of(place));
}

} // namespace detail

inline void *data_place::allocate(std::ptrdiff_t bytes, stream_t) const
{
    const unsigned node = detail::node_to_allocate(*this);
    const uintptr_t at =
        starpu_malloc_on_node(node, static_cast<std::size_t>(bytes));

    if (!at)
        throw std::bad_alloc();
    return reinterpret_cast<void *>(at);
}
// A device has it until what uses it has ended, for which the caller has waited.
inline void data_place::deallocate(void *memory, std::size_t bytes,
                                   stream_t) const
{
    starpu_free_on_node(detail::node_to_allocate(*this),
                        reinterpret_cast<uintptr_t>(memory), bytes);
}

} // namespace orrery::stf
