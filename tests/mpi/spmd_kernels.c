/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/spmd_kernels.c - see spmd_program.h: data of all shapes, and what tasks do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/splitmix.h"
#include "tests/mpi/spmd_program.h"

static uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t seed = a * 31 + b;

    return orr_splitmix(&seed);
}

/* --- elements, wherever they lie --- */

struct elements {
    uint64_t *at;
    unsigned n, row, ld;
};

static struct elements elements_of(void *interface)
{
    struct starpu_vector_interface *v = interface; /* the number is first in all */
    uint64_t *at;

    if (v->id == STARPU_MATRIX_INTERFACE_ID) {
        unsigned nx = (unsigned)STARPU_MATRIX_GET_NX(interface);

        at = (uint64_t *)STARPU_MATRIX_GET_PTR(interface);
        return (struct elements){at, nx * (unsigned)STARPU_MATRIX_GET_NY(interface), nx,
                                 (unsigned)STARPU_MATRIX_GET_LD(interface)};
    }
    if (v->id == STARPU_CSR_INTERFACE_ID) {
        at = (uint64_t *)STARPU_CSR_GET_NZVAL(interface);
        return (struct elements){at, STARPU_CSR_GET_NNZ(interface), 1, 1};
    }
    at = (uint64_t *)STARPU_VECTOR_GET_PTR(interface);
    return (struct elements){at, (unsigned)STARPU_VECTOR_GET_NX(interface), 1, 1};
}

static uint64_t *element(const struct elements *e, unsigned i)
{
    return &e->at[i / e->row * e->ld + i % e->row];
}

/* All follow from two numbers. */
static void fill(const struct elements *e, uint64_t base, uint64_t step)
{
    for (unsigned i = 0; i < e->n; i++)
        *element(e, i) = base + i * step;
}

static bool is_filled(const struct elements *e, uint64_t base, uint64_t step)
{
    for (unsigned i = 0; i < e->n; i++)
        if (*element(e, i) != base + i * step)
            return false;
    return true;
}

static uint64_t ends_of(const struct elements *e, uint64_t h)
{
    return mixed(mixed(h, *element(e, 0)), *element(e, e->n - 1));
}

/* --- data --- */

/* Of a matrix: rows, and the leading dimension of the application's memory. */
enum { ROW = 6, LD = 8 };

static void register_sparse(struct datum *d, int node)
{
    if (d->values) {
        d->columns = calloc(d->n, sizeof(*d->columns));
        d->rows = calloc(2, sizeof(*d->rows));
        d->rows[1] = d->n;
    }
    starpu_csr_data_register(&d->handle, node, d->n, 1, (uintptr_t)d->values, d->columns,
                             d->rows, 0, sizeof(*d->values));
}

void spmd_register_shape(struct datum *d, bool has_memory)
{
    unsigned ld = has_memory ? LD : ROW;
    int node = has_memory ? STARPU_MAIN_RAM : -1;

    if (has_memory)
        d->values = calloc(d->n * LD, sizeof(*d->values));
    switch (d->shape) {
    case SPMD_MATRIX:
        starpu_matrix_data_register(&d->handle, node, (uintptr_t)d->values, ld, ROW,
                                    d->n / ROW, sizeof(*d->values));
        break;
    case SPMD_SPARSE:
        register_sparse(d, node);
        break;
    default:
        starpu_vector_data_register(&d->handle, node, (uintptr_t)d->values, d->n,
                                    sizeof(*d->values));
    }
    starpu_data_set_reduction_methods(d->handle, &spmd_add, &spmd_zero);
}

static struct elements elements_here(const struct datum *d)
{
    return elements_of(starpu_data_get_interface_on_node(d->handle, STARPU_MAIN_RAM));
}

void spmd_fill(struct datum *d, const uint64_t *expected)
{
    struct elements e = elements_here(d);

    fill(&e, expected[0], expected[1]);
}

bool spmd_is_filled(const struct datum *d, const uint64_t *expected)
{
    struct elements e = elements_here(d);

    return is_filled(&e, expected[0], expected[1]);
}

uint64_t *spmd_expected(struct datum *d, int rank)
{
    return d->expected[d->owner == SPMD_EVERY_RANK ? rank : 0];
}

/* --- kernels --- */

/* Memory of the task's own. */
static void use_scratch(struct elements *e, uint64_t h)
{
    fill(e, h, 3);
    if (!is_filled(e, h, 3)) {
        fprintf(stderr, "scratch memory of two tasks is one\n");
        abort();
    }
}

static void mix(void *buffers[], void *arg)
{
    const struct starpu_task *task = starpu_task_get_current();
    unsigned n = STARPU_TASK_GET_NBUFFERS(task);
    struct elements e;
    uint64_t h;

    starpu_codelet_unpack_args(arg, &h);
    for (unsigned i = 0; i < n; i++) {
        e = elements_of(buffers[i]);
        if (STARPU_TASK_GET_MODE(task, i) & STARPU_SCRATCH)
            use_scratch(&e, h);
        else if (STARPU_TASK_GET_MODE(task, i) & STARPU_R)
            h = ends_of(&e, h);
    }
    for (unsigned i = 0; i < n; i++) {
        e = elements_of(buffers[i]);
        if (STARPU_TASK_GET_MODE(task, i) & STARPU_W &&
            !(STARPU_TASK_GET_MODE(task, i) & STARPU_SCRATCH))
            fill(&e, mixed(h, i), mixed(h, i + 100));
    }
}

static uint64_t ends_expected(struct datum *d, int rank, uint64_t h)
{
    const uint64_t *e = spmd_expected(d, rank);

    return mixed(mixed(h, e[0]), e[0] + (d->n - 1) * e[1]);
}

void spmd_expect_task(struct datum **d, const uint32_t *modes, unsigned n, uint64_t salt,
                      int rank)
{
    uint64_t h = salt;

    for (unsigned i = 0; i < n; i++)
        if (modes[i] & STARPU_R)
            h = ends_expected(d[i], rank, h);
    for (unsigned i = 0; i < n; i++)
        if (modes[i] & STARPU_W) {
            uint64_t *e = spmd_expected(d[i], rank);

            e[0] = mixed(h, i);
            e[1] = mixed(h, i + 100);
        }
}

static void contribute(void *buffers[], void *arg)
{
    struct elements to = elements_of(buffers[0]), read;
    uint64_t salt;

    starpu_codelet_unpack_args(arg, &salt);
    if (STARPU_TASK_GET_NBUFFERS(starpu_task_get_current()) > 1) {
        read = elements_of(buffers[1]);
        salt = ends_of(&read, salt);
    }
    for (unsigned i = 0; i < to.n; i++)
        *element(&to, i) += salt + i;
}

void spmd_expect_contribution(struct datum *d, struct datum *read, uint64_t salt)
{
    d->expected[0][0] += read ? ends_expected(read, 0, salt) : salt;
    d->expected[0][1] += 1;
}

static void shift(void *buffers[], void *arg)
{
    struct elements e = elements_of(buffers[0]);
    uint64_t salt;

    starpu_codelet_unpack_args(arg, &salt);
    for (unsigned i = 0; i < e.n; i++)
        *element(&e, i) += salt;
}

static void set_zero(void *buffers[], void *arg)
{
    struct elements e = elements_of(buffers[0]);

    (void)arg;
    fill(&e, 0, 0);
}

static void add(void *buffers[], void *arg)
{
    struct elements to = elements_of(buffers[0]), from = elements_of(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < to.n; i++)
        *element(&to, i) += *element(&from, i);
}

struct starpu_codelet spmd_task = {.cpu_funcs = {mix},
                                   .nbuffers = STARPU_VARIABLE_NBUFFERS,
                                   .name = "task"};
struct starpu_codelet spmd_redux[2] = {
    {.cpu_funcs = {contribute}, .nbuffers = 1, .modes = {STARPU_REDUX}, .name = "redux"},
    {.cpu_funcs = {contribute},
     .nbuffers = 2,
     .modes = {STARPU_REDUX, STARPU_R},
     .name = "redux of what is read"},
};
struct starpu_codelet spmd_mpi_redux[2] = {
    {.cpu_funcs = {contribute},
     .nbuffers = 1,
     .modes = {STARPU_RW | STARPU_COMMUTE},
     .name = "contribute"},
    {.cpu_funcs = {contribute},
     .nbuffers = 2,
     .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
     .name = "contribute what is read"},
};
struct starpu_codelet spmd_shift = {.cpu_funcs = {shift},
                                    .nbuffers = 1,
                                    .modes = {STARPU_RW},
                                    .name = "shift"};
struct starpu_codelet spmd_zero = {.cpu_funcs = {set_zero},
                                   .nbuffers = 1,
                                   .modes = {STARPU_W},
                                   .name = "zero"};
struct starpu_codelet spmd_add = {.cpu_funcs = {add},
                                  .nbuffers = 2,
                                  .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
                                  .name = "add"};
