/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/loopback.c - data that go to and fro between main memory and
 * loopback devices; status 0 only if all values are right in the end. For
 * test-loopback-faults.py.
 */
#include <starpu.h>

enum { N = 4, LENGTH = 1000, ROUNDS = 5 };

static void add_one(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        v[i]++;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {add_one},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "add_one",
};

int main(void)
{
    static int v[N][LENGTH];
    starpu_data_handle_t handle[N];
    int wrong = 0;

    if (starpu_init(NULL) != 0)
        return 77;
    for (int d = 0; d < N; d++)
        starpu_vector_data_register(&handle[d], STARPU_MAIN_RAM,
                                    (uintptr_t)v[d], LENGTH, sizeof(int));
    for (int round = 0; round < ROUNDS; round++)
        for (int d = 0; d < N; d++)
            if (starpu_task_insert(&cl, STARPU_RW, handle[d], 0) != 0)
                return 2;
    for (int d = 0; d < N; d++)
        starpu_data_unregister(handle[d]);
    starpu_shutdown();
    for (int d = 0; d < N; d++)
        for (int i = 0; i < LENGTH; i++)
            wrong += v[d][i] != ROUNDS;
    return wrong ? 3 : 0;
}
