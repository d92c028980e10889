// SPDX-License-Identifier: LGPL-2.1-or-later
// lambdas.cpp - kernels that are lambdas with captures, behind one codelet; handles
// that are objects; an exception that ends the program's own scope.
#include "expect.h"

#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <starpu.h>

using Kernel = std::function<void(void **)>;

static void call(void *buffers[], void *arg)
{
    (*static_cast<Kernel *>(arg))(buffers);
}

struct Runtime {
    Runtime()
    {
        if (starpu_init(nullptr) != 0)
            throw std::runtime_error("no machine");
    }
    ~Runtime()
    {
        starpu_shutdown();
    }
};

template <class T> class Vector
{
  public:
    explicit Vector(std::size_t n) : values(n)
    {
        starpu_vector_data_register(&handle, STARPU_MAIN_RAM,
                                    reinterpret_cast<uintptr_t>(values.data()),
                                    static_cast<uint32_t>(n), sizeof(T));
    }
    ~Vector()
    {
        starpu_data_unregister(handle);
    }
    Vector(const Vector &) = delete;
    Vector &operator=(const Vector &) = delete;

    // What the tasks have made of it.
    std::vector<T> read() const
    {
        EXPECT(starpu_data_acquire(handle, STARPU_R) == 0);
        std::vector<T> copy = values;
        starpu_data_release(handle);
        return copy;
    }

    starpu_data_handle_t handle = nullptr;

  private:
    std::vector<T> values;
};

static starpu_perfmodel model;
static starpu_codelet codelet;

// Submits a kernel that owns what it has captured until its task has ended.
static void submit(std::vector<starpu_data_descr> data, Kernel kernel)
{
    auto *owned = new Kernel(std::move(kernel));

    EXPECT(starpu_task_insert(&codelet, STARPU_CL_ARGS_NFREE, owned,
                              sizeof(*owned), STARPU_DATA_MODE_ARRAY,
                              data.data(), data.size(),
                              STARPU_CALLBACK_WITH_ARG_NFREE,
                              static_cast<void (*)(void *)>([](void *arg) {
                                  delete static_cast<Kernel *>(arg);
                              }),
                              owned, 0) == 0);
}

template <class T> static T *pointer(void *buffer)
{
    return reinterpret_cast<T *>(STARPU_VECTOR_GET_PTR(buffer));
}

static void compute()
{
    constexpr unsigned n = 1000;
    Runtime runtime;
    Vector<int> x(n), y(n);
    auto factor = std::make_shared<int>(3);

    submit({{x.handle, STARPU_W}}, [](void **b) {
        std::iota(pointer<int>(b[0]), pointer<int>(b[0]) + n, 0);
    });
    for (int round = 0; round < 4; round++)
        submit({{x.handle, STARPU_R}, {y.handle, round ? STARPU_RW : STARPU_W}},
               [factor, round](void **b) {
                   for (unsigned i = 0; i < n; i++)
                       pointer<int>(b[1])[i] =
                           (round ? pointer<int>(b[1])[i] : 0) +
                           *factor * pointer<int>(b[0])[i];
               });
    const std::vector<int> result = y.read();
    for (unsigned i = 0; i < n; i++)
        EXPECT_RESULT(result[i] == 12 * static_cast<int>(i));
    throw std::runtime_error("data and runtime are closed on the way");
}

int main()
{
    model.type = STARPU_HISTORY_BASED;
    model.symbol = "call";
    starpu_codelet_init(&codelet);
    codelet.name = "call";
    codelet.model = &model;
    codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
    codelet.cpu_funcs[0] = call;
    codelet.cuda_funcs[0] = call;
    try {
        compute();
    } catch (const std::runtime_error &) {
        return 0;
    }
    return 1;
}
