/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/control.c - programs to watch while they run: progress, data that come and
 * go for nothing, an interrupt; test-control.py looks at what they print and leave.
 *
 * usage: control some N | for-ever [FILE] | come-and-go N
 */
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, GPU = 1 };

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet some = {
    .cpu_funcs = {nothing}, .cuda_funcs = {nothing}, .name = "some"};

/* Asynchronous, so that its worker brings data meanwhile. */
static struct starpu_codelet alone = {.cuda_funcs = {nothing},
                                      .cuda_flags = {STARPU_CUDA_ASYNC},
                                      .nbuffers = 1,
                                      .modes = {STARPU_RW},
                                      .name = "alone"};

static struct starpu_codelet gemm = {.cuda_funcs = {nothing},
                                     .nbuffers = 2,
                                     .modes = {STARPU_RW, STARPU_R},
                                     .name = "gemm"};

static void need(int rc, const char *call)
{
    if (rc == 0)
        return;
    fprintf(stderr, "control: %s: %s\n", call, strerror(-rc));
    exit(9);
}

static void run_some(int n)
{
    for (int i = 0; i < n; i++)
        need(starpu_task_insert(&some, 0), "starpu_task_insert");
    starpu_task_wait_for_all();
}

/* In virtual time; the other end looks for "ready", here or in that file. */
static void run_for_ever(const char *path)
{
    for (int i = 0;; i++) {
        FILE *out = i == 3 && path ? fopen(path, "w") : stdout;

        run_some(20);
        if (i == 3 && out)
            fputs("ready\n", out);
        fflush(stdout);
        if (out && out != stdout)
            fclose(out);
    }
}

/* One task runs for long, gemm comes after it; meanwhile the data A(3,4) and B are
 * brought to the GPU, which has room for one of them, n times in turn. */
static void come_and_go(int n)
{
    starpu_data_handle_t token, big[2];
    static char bytes[2][3 * MIB], byte;

    starpu_variable_data_register(&token, STARPU_MAIN_RAM, (uintptr_t)&byte, 1);
    for (int i = 0; i < 2; i++)
        starpu_vector_data_register(&big[i], STARPU_MAIN_RAM,
                                    (uintptr_t)bytes[i], 3 * MIB, 1);
    starpu_data_set_name(big[0], "A");
    starpu_data_set_coordinates(big[0], 2, 3, 4);
    starpu_data_set_name(big[1], "B");
    run_some(1);
    need(starpu_task_insert(&alone, STARPU_RW, token, 0), "starpu_task_insert");
    need(starpu_task_insert(&gemm, STARPU_RW, token, STARPU_R, big[0], 0),
         "starpu_task_insert");
    for (int i = 0; i < n; i++)
        need(starpu_data_fetch_on_node(big[i % 2], GPU, 0),
             "starpu_data_fetch_on_node");
    starpu_task_wait_for_all();
    for (int i = 0; i < 2; i++)
        starpu_data_unregister(big[i]);
    starpu_data_unregister(token);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 0;

    need(starpu_init(NULL), "starpu_init");
    if (!strcmp(what, "some"))
        run_some(n);
    else if (!strcmp(what, "for-ever"))
        run_for_ever(argc > 2 ? argv[2] : NULL);
    else if (!strcmp(what, "come-and-go"))
        come_and_go(n);
    else
        return 2;
    puts("done");
    starpu_shutdown();
    return 0;
}
