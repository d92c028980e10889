/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/preamble_redux.c - what printed programs reduce with. */

static void add_up(void *buffers[], void *arg)
{
    (void)arg;
    views_add(buffers[0], buffers[1]);
}

static void zero(void *buffers[], void *arg)
{
    (void)arg;
    view_clear(buffers[0]);
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
