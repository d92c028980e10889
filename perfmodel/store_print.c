/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/store_print.c - the writer of version-45 model files. No threads,
 * no files: plain data in, text out.
 *
 * Numbers have the formats that StarPU gives them, so that a file which both
 * write in turn shows few differences. Rows keep the order they have.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "core/base/number.h"
#include "perfmodel/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>


#define REAL "%-15e"
#define SIZE "%-15" PRIu64

static void model_print_fit(FILE *f, const struct orr_model_fit *fit)
{
    fprintf(f, "# sumlnx\tsumlnx2\t\tsumlny\t\tsumlnxlny\talpha\t\tbeta\t\tn\t"
               "minx\t\tmaxx\n");
    orr_fprintf(f, REAL "\t" REAL "\t" REAL "\t" REAL "\t" REAL "\t" REAL,
                fit->sumlnx, fit->sumlnx2, fit->sumlny, fit->sumlnxlny, fit->alpha,
                fit->beta);
    fprintf(f, "\t%" PRIu32 "\t" SIZE "\t" SIZE "\n", fit->n, fit->minx,
            fit->maxx);
    orr_fprintf(f, "# a\t\tb\t\tc\n" REAL "\t" REAL "\t" REAL "\n", fit->a, fit->b,
                fit->c);
    if (fit->ncoeff == 0) {
        fprintf(f, "# not multiple-regression-base\n0\n");
        return;
    }
    fprintf(f, "# number of coefficients, then the coefficients\n%u",
            fit->ncoeff);
    for (unsigned i = 0; i < fit->ncoeff; i++)
        orr_fprintf(f, "\t" REAL, fit->coeff[i]);
    fprintf(f, "\n");
}

static void print_origin(FILE *f, enum orr_origin origin, bool ranged)
{
    if (origin != ORR_ORIGIN_UNKNOWN)
        fprintf(f, "# origin: %s%s\n", orr_origin_name(origin),
                ranged ? " ranged" : "");
}

static void model_print_row(FILE *f, const struct orr_model_row *row)
{
    print_origin(f, row->origin, row->ranged);
    orr_fprintf(f,
                "%08" PRIx32 "\t" SIZE "\t" REAL "\t" REAL "\t" REAL "\t" REAL
                "\t" REAL "\t%" PRIu32 "\n",
                row->hash, row->size, row->flops, row->mean, row->dev, row->sum,
                row->sum2, row->n);
}

static void model_print_impl(FILE *f, const struct orr_model_comb *comb,
                             unsigned i)
{
    const struct orr_model_impl *impl = &comb->impls[i];
    char arch[ORR_ARCH_NAME_SIZE];

    orr_arch_name(comb->devices, comb->ndevices, comb->number, i, arch);
    fprintf(f, "#####\n# Model for %s\n# number of entries\n%u\n", arch,
            impl->nrows);
    model_print_fit(f, &impl->fit);
    if (impl->nrows > 0)
        fprintf(f, "# hash\t\tsize\t\tflops\t\tmean (us or J)\tdev (us or J)\t"
                   "sum\t\tsum2\t\tn\n");
    for (unsigned j = 0; j < impl->nrows; j++)
        model_print_row(f, &impl->rows[j]);
    fprintf(f, "\n");
}

static void model_print_device(FILE *f, unsigned index,
                               const struct orr_device *device)
{
    fprintf(f,
            "####################\n# DEV_%u\n"
            "# device type (CPU - 0, CUDA - 1, OpenCL - 2, FPGA - 4, "
            "MPI_MS - 5, TCPIP_MS - 6, HIP - 7)\n%d\n",
            index, device->type);
    fprintf(f, "####################\n# DEV_%u\n# device id\n%d\n", index,
            device->devid);
    fprintf(f, "####################\n# DEV_%u\n# number of cores\n%d\n", index,
            device->ncores);
}

static void model_print_comb(FILE *f, const struct orr_model_comb *comb)
{
    fprintf(f,
            "####################\n# COMB_%u\n"
            "# number of types devices\n%u\n",
            comb->number, comb->ndevices);
    for (unsigned i = 0; i < comb->ndevices; i++)
        model_print_device(f, i, &comb->devices[i]);
    fprintf(f, "##########\n# number of implementations\n%u\n", comb->nimpls);
    for (unsigned i = 0; i < comb->nimpls; i++)
        model_print_impl(f, comb, i);
}

static void model_print_file(FILE *f, const struct orr_model_file *file)
{
    print_origin(f, file->origin, file->ranged);
    fprintf(f, "##################\n# Performance Model Version\n%d\n\n",
            ORR_MODEL_VERSION);
    fprintf(f, "####################\n# COMBs\n# number of combinations\n%u\n",
            file->ncombs);
    for (unsigned i = 0; i < file->ncombs; i++)
        model_print_comb(f, &file->combs[i]);
}

int orr_model_file_format(const struct orr_model_file *file, char **ret_text,
                          size_t *ret_size)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    int failed;

    if (!f)
        return -ENOMEM;
    model_print_file(f, file);
    failed = ferror(f);
    if (fclose(f) || failed) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    *ret_size = size;
    return 0;
}
