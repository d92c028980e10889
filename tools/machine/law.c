/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/law.c - see law.h. No state. */
#include "tools/machine/law.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    double work; /* flop of a tile of side n, as a part of n³ */
} kernels[MACHINE_NKERNELS] = {
    [MACHINE_POTRF] = {"potrf", 1. / 3},
    [MACHINE_TRSM] = {"trsm", 1},
    [MACHINE_SYRK] = {"syrk", 1},
    [MACHINE_GEMM] = {"gemm", 2},
};

bool machine_law_kernel(const char *symbol, enum machine_kernel *ret_kernel,
                        bool *ret_is_double)
{
    static const char example[] = "chol_model_";
    bool is_double = symbol[0] == 'd';

    if (strncmp(symbol, example, sizeof(example) - 1) == 0)
        symbol += sizeof(example) - 1;
    else if (is_double || symbol[0] == 's')
        symbol++;
    else
        return false;
    for (unsigned k = 0; k < MACHINE_NKERNELS; k++)
        if (strcmp(symbol, kernels[k].name) == 0) {
            *ret_kernel = k;
            *ret_is_double = is_double;
            return true;
        }
    return false;
}

double machine_law_side(enum machine_kernel kernel, double flops)
{
    return cbrt(flops / kernels[kernel].work);
}

double machine_law_us(const struct machine_device *device,
                      enum machine_kernel kernel, bool is_double, double flops)
{
    const struct machine_law *law = &device->laws[is_double][kernel];
    double n = machine_law_side(kernel, flops);

    return law->launch + law->chain * n +
           flops / law->rate * (1 + law->half / n) * 1e6;
}
