/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/bounded.c - see bounded.h. */
#include "bounded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machines.h"

enum { KNOWN = 0x1234, UNKNOWN = 0x5678 };

char bounded_folder[64];

static uint32_t footprint_of(struct starpu_task *task)
{
    return task->cl_arg ? UNKNOWN : KNOWN;
}

struct starpu_perfmodel bounded_model = {
    .type = STARPU_HISTORY_BASED,
    .symbol = "bounded",
    .footprint = footprint_of,
};

static void write_comb(FILE *f, int type, int devid, double mean, double dev)
{
    fprintf(f, "1\n%d\n%d\n1\n1\n1\n", type, devid);
    fprintf(f, "0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n");
    fprintf(f, "%08x 8 0 %g %g %g %g 10\n", KNOWN, mean, dev, 10 * mean,
            10 * (mean * mean + dev * dev));
}

static void write_model(const char *host)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/codelets/45/bounded.%s", bounded_folder,
             host);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "45\n3\n");
    write_comb(f, 0, 0, 100, 20);
    write_comb(f, 1, 0, 20, 0);
    write_comb(f, 1, 1, 20, 0);
    ck_assert_int_eq(fclose(f), 0);
}

void bounded_make_folder(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s%s", bounded_folder, name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

void bounded_setup(void)
{
    strcpy(bounded_folder, "/tmp/orrery-bound-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(bounded_folder));
    bounded_make_folder("/codelets");
    bounded_make_folder("/codelets/45");
    write_model("toy");
}

void bounded_teardown(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", bounded_folder);
    ck_assert_int_eq(system(command), 0);
}

void bounded_start(int i)
{
    machine_choose(i);
    setenv("STARPU_HOSTNAME", "toy", 1);
    setenv("STARPU_PERF_MODEL_DIR", bounded_folder, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

char *bounded_path_of(char *path, const char *name)
{
    snprintf(path, 96, "%s/%s", bounded_folder, name);
    return path;
}
