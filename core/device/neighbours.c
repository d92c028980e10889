/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/neighbours.c - see neighbours.h. */
#include "core/device/neighbours.h"

#include <errno.h>
#include <stdlib.h>

/* The least of n distances that is not below `from`. */
static unsigned least_distance(const unsigned *distances, unsigned n,
                               unsigned from)
{
    unsigned least = ORR_FAR;

    for (unsigned i = 0; i < n; i++)
        if (distances[i] >= from && distances[i] < least)
            least = distances[i];
    return least;
}

/* Fills n workers: w, then the others by their distances from it, of which there are a
 * few. */
static void order_by_distance(const unsigned *distances, unsigned n, unsigned w,
                              unsigned *ret)
{
    unsigned from = 0, filled = 0;

    ret[filled++] = w;
    while (filled < n) {
        unsigned at = least_distance(distances, n, from);

        for (unsigned offset = 1; offset < n; offset++)
            if (distances[(w + offset) % n] == at)
                ret[filled++] = (w + offset) % n;
        from = at + 1;
    }
}

int orr_neighbours_fill(struct orr_machine *machine,
                        unsigned (*distance)(const void *arg, unsigned a,
                                             unsigned b),
                        const void *arg)
{
    unsigned n = machine->nworkers;
    unsigned *all = calloc((size_t)n * n + 1, sizeof(*all));
    unsigned *far = calloc((size_t)n * n + 1, sizeof(*far));

    if (!all || !far) {
        free(all);
        free(far);
        return -ENOMEM;
    }
    for (unsigned w = 0; w < n; w++) {
        for (unsigned other = 0; other < n; other++)
            far[(size_t)w * n + other] =
                other == w ? 0 : distance(arg, w, other);
        order_by_distance(&far[(size_t)w * n], n, w, &all[(size_t)w * n]);
    }
    machine->neighbours = all;
    machine->distances = far;
    return 0;
}
