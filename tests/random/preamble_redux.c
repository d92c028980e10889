/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/preamble_redux.c - what printed programs reduce with. */

static void add_up(void *buffers[], void *arg)
{
    uint64_t *to = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const uint64_t *from = (const uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] += from[i];
}

static void zero(void *buffers[], void *arg)
{
    (void)arg;
    memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 0,
           STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(uint64_t));
}

static struct starpu_codelet redux_cl = {
    .cpu_funcs = {add_up},
    .cuda_funcs = {add_up},
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
    .name = "ten",
};

static struct starpu_codelet init_cl = {
    .cpu_funcs = {zero},
    .cuda_funcs = {zero},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .name = "one",
};
