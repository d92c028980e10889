/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/neighbours.c - see neighbours.h. */
#include "core/device/neighbours.h"

#include <errno.h>
#include <stdlib.h>

struct neighbour {
    unsigned worker, distance, offset;
};

static int neighbour_compare(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;

    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->offset < y->offset ? -1 : 1;
}

int orr_neighbours_fill(struct orr_machine *machine,
                        unsigned (*distance)(const void *arg, unsigned a,
                                             unsigned b),
                        const void *arg)
{
    unsigned n = machine->nworkers;
    struct neighbour *room = calloc((size_t)n + 1, sizeof(*room));
    unsigned *all = calloc((size_t)n * n + 1, sizeof(*all));
    unsigned *far = calloc((size_t)n * n + 1, sizeof(*far));

    for (unsigned w = 0; room && all && far && w < n; w++) {
        for (unsigned offset = 0; offset < n; offset++) {
            unsigned other = (w + offset) % n;

            room[offset] = (struct neighbour){
                other, offset ? distance(arg, w, other) : 0, offset};
            far[(size_t)w * n + other] = room[offset].distance;
        }
        /* The worker itself stays in front. */
        if (n > 1)
            qsort(room + 1, n - 1, sizeof(*room), neighbour_compare);
        for (unsigned i = 0; i < n; i++)
            all[(size_t)w * n + i] = room[i].worker;
    }
    if (room && all && far) {
        machine->neighbours = all;
        machine->distances = far;
    } else {
        free(all);
        free(far);
    }
    free(room);
    return machine->neighbours ? 0 : -ENOMEM;
}
