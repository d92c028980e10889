/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/fake/fake-run.c - see fake-run.h. */
#include "fake-run.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/exec.h"
#include "tests/rng.h"

struct fake_tally fake_tally;

static char directory[64];
static fake_duration duration;
static uint64_t noise;

/* --- kernels --- */

static void kernel(unsigned impl)
{
    unsigned w = (unsigned)starpu_worker_get_id();
    double us = duration(w, impl, fake_tally.n[w]);

    fake_tally.n[w]++;
    fake_tally.impls[w][impl]++;
    fake_tally.us[w] += us;
    /* The fake machine lets the kernel take this time. */
    orr_self->debt += us;
}

static void kernel_0(void **buffers, void *arg)
{
    (void)buffers;
    (void)arg;
    kernel(0);
}

void fake_kernel_1(void **buffers, void *arg)
{
    (void)buffers;
    (void)arg;
    kernel(1);
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "kernel"};

/* The machine calls the CPU functions whatever the worker. */
struct starpu_codelet fake_codelet = {
    .cpu_funcs = {kernel_0},
    .cuda_funcs = {kernel_0},
    .cuda_flags = {STARPU_CUDA_ASYNC, STARPU_CUDA_ASYNC},
    .where = STARPU_CUDA,
    .model = &model,
    .name = "kernel",
};

double fake_noise(double spread)
{
    return 1 + spread * (2 * (double)(rng_next(&noise) >> 11) * 0x1p-53 - 1);
}

/* --- the directory --- */

static int unlink_one(const char *path, const struct stat *status, int flag,
                      struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

void fake_directory_remove(void)
{
    if (*directory)
        nftw(directory, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
    *directory = '\0';
}

void fake_directory(void)
{
    fake_directory_remove();
    strcpy(directory, "/tmp/orrery-fake-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

void fake_model_file(const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/codelets", directory);
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/codelets/45", directory);
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/codelets/45/%s", directory, name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* --- runs --- */

static void set_number(const char *name, int value)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", value);
    setenv(name, text, 1);
}

void fake_start(const struct fake_options *options)
{
    setenv("ORRERY_MACHINE", options->machine ? options->machine : "fake", 1);
    setenv("STARPU_PERF_MODEL_DIR", directory, 1);
    setenv("STARPU_HOME", directory, 1);
    setenv("STARPU_SCHED", options->sched, 1);
    set_number("STARPU_CALIBRATE", options->calibrate);
    set_number("STARPU_NCUDA", (int)options->ncuda);
    set_number("STARPU_NCPU", (int)options->ncpu);
    if (!getenv("ORRERY_FAKE_LOUD"))
        setenv("STARPU_SILENT", "1", 1);
    duration = options->duration;
    noise = 1;
    memset(&fake_tally, 0, sizeof(fake_tally));
    fake_codelet.where = STARPU_CUDA | (options->ncpu ? STARPU_CPU : 0);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

void fake_stop(void)
{
    starpu_shutdown();
}

static void submit(void)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &fake_codelet;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

double fake_waves(unsigned long n, unsigned long w)
{
    double start = starpu_timing_now();

    while (n > 0) {
        unsigned long wave = n < w ? n : w;

        for (unsigned long i = 0; i < wave; i++)
            submit();
        starpu_task_wait_for_all();
        n -= wave;
    }
    return starpu_timing_now() - start;
}
