/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/draw.c - see draw.h. */
#include "core/base/draw.h"

#include <math.h>

#include "core/base/splitmix.h"

/* FNV-1a, with an end of the text. */
uint64_t orr_draw_key(uint64_t key, const char *text)
{
    for (; text && *text; text++)
        key = (key ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (key ^ 0xff) * UINT64_C(0x100000001b3);
}

#define NINE_OF_TEN 1.6449 /* standard deviations about the median */
#define PI          3.14159265358979323846

/* Box and Muller, "A note on the generation of random normal deviates", 1958. */
static double draw_normal(uint64_t draw, uint64_t key)
{
    uint64_t state = draw, mixed = orr_splitmix(&state) ^ key;
    double u = orr_splitmix_unit(&mixed), v = orr_splitmix_unit(&mixed);

    return sqrt(-2 * log(1 - u)) * cos(2 * PI * v);
}

double orr_draw_factor(uint64_t draw, uint64_t key, double error)
{
    return exp(log1p(error) / NINE_OF_TEN * draw_normal(draw, key));
}
