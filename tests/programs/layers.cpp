/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* layers.cpp - the shape of a training library: a layer of C++ over StarPU, with handles
 * that end by themselves, codelets that a template makes, tiles of tensors, and graphs of
 * forward and backward passes that are submitted without waiting.
 *
 *     layers [BATCHES WIDTH ROUNDS]
 */
#include "expect.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <starpu.h>

namespace {

class Runtime {
public:
    Runtime()
    {
        starpu_conf conf;

        EXPECT(starpu_conf_init(&conf) == 0);
        conf.ncuda = 0; /* it was built without */
        status = starpu_init(&conf);
    }
    ~Runtime()
    {
        if (status == 0)
            starpu_shutdown();
    }
    Runtime(const Runtime &) = delete;
    Runtime &operator=(const Runtime &) = delete;

    int status;
};

/* A matrix of floats that the library keeps. */
class Tensor {
public:
    Tensor(unsigned rows, unsigned columns) : handle(make(rows, columns), forget) {}
    operator starpu_data_handle_t() const { return handle.get(); }

private:
    static starpu_data_handle_t make(unsigned rows, unsigned columns)
    {
        starpu_data_handle_t made;

        starpu_matrix_data_register(&made, -1, 0, rows, rows, columns, sizeof(float));
        return made;
    }
    static void forget(starpu_data_handle_t handle) { starpu_data_unregister_submit(handle); }

    std::shared_ptr<std::remove_pointer_t<starpu_data_handle_t>> handle;
};

/* A codelet with a model under its name. */
class Codelet {
public:
    Codelet(const char *name, starpu_cpu_func_t function) : name("layers_" + std::string(name))
    {
        starpu_codelet_init(&codelet);
        std::memset(&model, 0, sizeof(model));
        model.type = STARPU_HISTORY_BASED;
        model.symbol = this->name.c_str();
        codelet.name = this->name.c_str();
        codelet.cpu_funcs[0] = function;
        codelet.where = STARPU_CPU;
        codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
        codelet.model = &model;
    }
    template <class... Accesses> void operator()(Accesses... accesses)
    {
        EXPECT(starpu_task_insert(&codelet, accesses..., 0) == 0);
    }

private:
    std::string name;
    starpu_perfmodel model;
    starpu_codelet codelet;
};

struct View {
    explicit View(void *buffer)
        : data(reinterpret_cast<float *>(STARPU_MATRIX_GET_PTR(buffer))),
          rows(STARPU_MATRIX_GET_NX(buffer)), columns(STARPU_MATRIX_GET_NY(buffer)),
          ld(STARPU_MATRIX_GET_LD(buffer))
    {
    }
    float &operator()(unsigned i, unsigned j) const { return data[j * ld + i]; }

    float *data;
    unsigned rows, columns, ld;
};

void fill(void *buffers[], void *arg)
{
    View x(buffers[0]);
    float value;

    starpu_codelet_unpack_args(arg, &value);
    for (unsigned j = 0; j < x.columns; j++)
        for (unsigned i = 0; i < x.rows; i++)
            x(i, j) = value;
}

/* y += a x, where a may be transposed. */
void multiply(void *buffers[], void *arg)
{
    View a(buffers[0]), x(buffers[1]), y(buffers[2]);
    int transposed;

    starpu_codelet_unpack_args(arg, &transposed);
    for (unsigned j = 0; j < y.columns; j++)
        for (unsigned i = 0; i < y.rows; i++) {
            float sum = 0;

            for (unsigned k = 0; k < x.rows; k++)
                sum += (transposed ? a(k, i) : a(i, k)) * x(k, j);
            y(i, j) += sum;
        }
}

/* g += d x^T: what a weight has to do with an error. */
void outer(void *buffers[], void *)
{
    View d(buffers[0]), x(buffers[1]), g(buffers[2]);

    for (unsigned j = 0; j < g.columns; j++)
        for (unsigned i = 0; i < g.rows; i++) {
            float sum = 0;

            for (unsigned k = 0; k < d.columns; k++)
                sum += d(i, k) * x(j, k);
            g(i, j) += sum;
        }
}

void activate(void *buffers[], void *)
{
    View x(buffers[0]);

    for (unsigned j = 0; j < x.columns; j++)
        for (unsigned i = 0; i < x.rows; i++)
            x(i, j) = x(i, j) > 0 ? x(i, j) : 0;
}

void step(void *buffers[], void *)
{
    View w(buffers[0]), g(buffers[1]);

    for (unsigned j = 0; j < w.columns; j++)
        for (unsigned i = 0; i < w.rows; i++)
            w(i, j) -= g(i, j) / 1024;
}

Codelet fill_cl("fill", fill), multiply_cl("multiply", multiply), outer_cl("outer", outer),
    activate_cl("activate", activate), step_cl("step", step);

void set(const Tensor &x, float value)
{
    fill_cl(STARPU_W, starpu_data_handle_t(x), STARPU_VALUE, &value, sizeof(value));
}

void add_product(const Tensor &a, const Tensor &x, const Tensor &y, int transposed)
{
    multiply_cl(STARPU_R, starpu_data_handle_t(a), STARPU_R, starpu_data_handle_t(x),
                STARPU_RW, starpu_data_handle_t(y), STARPU_VALUE, &transposed,
                sizeof(transposed));
}

/* One round over all batches: forward through both layers, backward, one step. */
void train(const std::vector<Tensor> &batches, const Tensor &first, const Tensor &second,
           unsigned width)
{
    Tensor g1(width, width), g2(width, width);

    set(g1, 0);
    set(g2, 0);
    for (const Tensor &x : batches) {
        Tensor hidden(width, 8), output(width, 8), back(width, 8);

        set(hidden, 0);
        set(output, 0);
        set(back, 0);
        add_product(first, x, hidden, 0);
        activate_cl(STARPU_RW, starpu_data_handle_t(hidden));
        add_product(second, hidden, output, 0);
        add_product(second, output, back, 1);
        outer_cl(STARPU_R, starpu_data_handle_t(output), STARPU_R,
                 starpu_data_handle_t(hidden), STARPU_RW | STARPU_COMMUTE,
                 starpu_data_handle_t(g2));
        outer_cl(STARPU_R, starpu_data_handle_t(back), STARPU_R, starpu_data_handle_t(x),
                 STARPU_RW | STARPU_COMMUTE, starpu_data_handle_t(g1));
    }
    step_cl(STARPU_RW, starpu_data_handle_t(first), STARPU_R, starpu_data_handle_t(g1));
    step_cl(STARPU_RW, starpu_data_handle_t(second), STARPU_R, starpu_data_handle_t(g2));
}

/* All places of a tensor have one value, so a number each tells what training makes. */
void train_alone(float &first, float &second, unsigned nbatches, unsigned width)
{
    float n = static_cast<float>(width), g1 = 0, g2 = 0;

    for (unsigned b = 0; b < nbatches; b++) {
        float x = 1 / n, hidden = first * x * n, output, back;

        hidden = hidden > 0 ? hidden : 0;
        output = second * hidden * n;
        back = second * output * n;
        g2 += output * hidden * 8;
        g1 += back * x * 8;
    }
    first -= g1 / 1024;
    second -= g2 / 1024;
}

} // namespace

int main(int argc, char **argv)
{
    unsigned nbatches = argc == 4 ? static_cast<unsigned>(std::atoi(argv[1])) : 6;
    unsigned width = argc == 4 ? static_cast<unsigned>(std::atoi(argv[2])) : 32;
    int nrounds = argc == 4 ? std::atoi(argv[3]) : 3;
    Runtime runtime;

    if (runtime.status == -ENODEV)
        return 77;
    EXPECT(runtime.status == 0);
    {
        Tensor first(width, width), second(width, width);
        float right[2] = {1 / 64.f, 1 / 32.f};
        std::vector<Tensor> batches;

        set(first, right[0]);
        set(second, right[1]);
        for (unsigned b = 0; b < nbatches; b++) {
            batches.emplace_back(width, 8);
            set(batches.back(), 1 / static_cast<float>(width));
        }
        for (int round = 0; round < nrounds; round++) {
            train(batches, first, second, width);
            train_alone(right[0], right[1], nbatches, width);
        }
        starpu_task_wait_for_all();
        EXPECT(starpu_data_acquire(first, STARPU_R) == 0);
        EXPECT_RESULT(std::fabs(*static_cast<float *>(starpu_data_get_local_ptr(first)) -
                                right[0]) < 1e-4f);
        starpu_data_release(first);
        EXPECT(starpu_data_acquire(second, STARPU_R) == 0);
        EXPECT_RESULT(std::fabs(*static_cast<float *>(starpu_data_get_local_ptr(second)) -
                                right[1]) < 1e-4f);
        starpu_data_release(second);
    }
    return 0;
}
