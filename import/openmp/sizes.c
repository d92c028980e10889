/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/openmp/sizes.c - see reader.h: sizes of data. A depend clause names an address,
 * which stands for data that the program knows; what is known here is the block of memory
 * that has it, an allocation or a variable. The data in one block share it alike: a block
 * for each tile, tiles one behind the other in one block, and tiles in a matrix by rows have
 * the right sizes so.
 */
#include "import/openmp/reader.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/grow.h"

int omp_note_place(struct omp_reader *r, size_t datum, const struct omp_use *use)
{
    struct omp_place *place;

    if (orr_grow(&r->places, &r->roomplaces, datum + 1, sizeof(*r->places)))
        return -ENOMEM;
    place = &r->places[datum];
    place->address = use->address;
    place->datum = datum;
    if (use->bytes > place->bytes) { /* of several blocks that were there, the largest */
        place->begin = use->begin;
        place->bytes = use->bytes;
    }
    return 0;
}

static int compare_places(const void *a, const void *b)
{
    const struct omp_place *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->datum < y->datum ? -1 : x->datum > y->datum;
}

/* Those from `first` on that are in one block; returns where the next one begins. Data of
 * several sets of siblings may have one address. */
static size_t share_block(struct omp_reader *r, const struct omp_place *places, size_t first,
                          size_t n)
{
    size_t end = first, naddresses = 0;
    uint64_t bytes = 0;

    for (; end < n && places[end].begin == places[first].begin; end++) {
        naddresses += end == first || places[end].address != places[end - 1].address;
        bytes = places[end].bytes > bytes ? places[end].bytes : bytes;
    }
    bytes = bytes > naddresses ? bytes / naddresses : bytes > 0;
    for (size_t i = first; i < end; i++)
        r->flow->data[places[i].datum].bytes = bytes;
    return end;
}

int omp_settle_sizes(struct omp_reader *r)
{
    size_t n = r->flow->ndata, nknown = 0;
    double bytes = 0;
    int rc;

    qsort(r->places, n, sizeof(*r->places), compare_places);
    for (size_t i = 0; i < n;) {
        if (r->places[i].bytes)
            i = share_block(r, r->places, i, n);
        else
            i++;
    }
    for (size_t d = 0; d < n; d++) {
        nknown += r->flow->data[d].bytes > 0;
        bytes += (double)r->flow->data[d].bytes;
    }
    rc = nknown ? flow_note(r->flow,
                            "%zu of %zu data have the size of their memory (%.1f MiB in all), which "
                            "data in one allocation or variable share alike",
                            nknown, n, bytes / (1 << 20))
                : 0;
    if (!rc && nknown < n)
        rc = flow_note(r->flow,
                       "%zu data are in memory that is no allocation and no variable, such as "
                       "stacks: they have no size, and are not transferred",
                       n - nknown);
    return rc;
}
