/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/optimise/owners.c - see owners.h. */
#include "tools/optimise/owners.h"

#include <stdlib.h>

#include "tools/common/tool.h"

/* How often each rank is in a weighted pattern, on average. */
enum { TURNS = 4 };

static int owners_size(struct owners *owners, unsigned rows, unsigned columns)
{
    owners->rows = rows;
    owners->columns = columns;
    owners->of = calloc((size_t)rows * columns, sizeof(*owners->of));
    return owners->of ? 0 : tool_fail(-1, "out of memory");
}

int owners_grid(unsigned p, unsigned q, struct owners *ret)
{
    *ret = (struct owners){.p = p, .q = q};
    snprintf(ret->name, sizeof(ret->name), "%ux%u", p, q);
    if (owners_size(ret, p, q) < 0)
        return -1;
    for (unsigned i = 0; i < p * q; i++)
        ret->of[i] = i;
    return 0;
}

/* The number of the pair among those of 0 … r - 1. */
static unsigned pair_of(unsigned a, unsigned b, unsigned r)
{
    unsigned low = a < b ? a : b, high = a < b ? b : a;

    return low * (2 * r - low - 1) / 2 + high - low - 1;
}

/* Diagonals of r (r - 1) rows give each of a row's pairs a turn. */
static int put_symmetric(struct owners *ret, unsigned r, unsigned npairs, int further)
{
    snprintf(ret->name, sizeof(ret->name), "symmetric of %ux%u", r, r);
    if (owners_size(ret, further ? r : r * (r - 1), r) < 0)
        return -1;
    for (unsigned x = 0; x < ret->rows; x++)
        for (unsigned j = 0; j < r; j++) {
            unsigned i = x % r, turn = x / r;

            ret->of[x * r + j] = i != j    ? pair_of(i, j, r)
                                 : further ? npairs + i % (r / 2)
                                           : pair_of(i, (i + 1 + turn) % r, r);
        }
    return 0;
}

int owners_symmetric(unsigned n, struct owners *ret)
{
    *ret = (struct owners){0};
    for (unsigned r = 3; r * (r - 1) / 2 <= n; r++)
        if (r * (r - 1) / 2 == n)
            return put_symmetric(ret, r, n, 0);
    for (unsigned r = 2; r * r / 2 <= n; r += 2)
        if (r * r / 2 == n)
            return put_symmetric(ret, r, r * (r - 1) / 2, 1);
    return 1;
}

/* The rank that is furthest behind what its weight gives it of k turns. */
static unsigned next_turn(unsigned n, const double *weights, const unsigned *had, unsigned k,
                          double sum)
{
    unsigned next = 0;
    double most = 0;

    for (unsigned r = 0; r < n; r++) {
        double behind = weights[r] / sum * (k + 1) - had[r];

        if (r == 0 || behind > most + 1e-9) {
            most = behind;
            next = r;
        }
    }
    return next;
}

int owners_weighted(unsigned n, const double *weights, int by_columns, struct owners *ret)
{
    unsigned turns = TURNS * n, *had = calloc(n, sizeof(*had));
    double sum = 0;

    *ret = (struct owners){0};
    snprintf(ret->name, sizeof(ret->name), "weighted %s", by_columns ? "columns" : "rows");
    for (unsigned r = 0; r < n; r++)
        sum += weights[r];
    if (!had || owners_size(ret, by_columns ? 1 : turns, by_columns ? turns : 1) < 0) {
        free(had);
        return tool_fail(-1, "out of memory");
    }
    for (unsigned k = 0; k < turns; k++) {
        ret->of[k] = next_turn(n, weights, had, k, sum);
        had[ret->of[k]]++;
    }
    free(had);
    return 0;
}

void owners_put(const struct owners *owners, FILE *out)
{
    fprintf(out, "%u %u\n", owners->rows, owners->columns);
    for (unsigned i = 0; i < owners->rows; i++)
        for (unsigned j = 0; j < owners->columns; j++)
            fprintf(out, "%u%c", owners->of[i * owners->columns + j],
                    j + 1 < owners->columns ? ' ' : '\n');
}

void owners_done(struct owners *owners)
{
    free(owners->of);
    *owners = (struct owners){0};
}
