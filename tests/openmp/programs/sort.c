/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sort.c - merge sort: quarters are sorted, pairs of them merged by tasks that cut both in two. */
#include "program.h"

static long least;

static int compare(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

/* The first place of which the value is not below. */
static long lower(const unsigned *list, long n, unsigned value)
{
    long at = 0;

    while (n > 0) {
        if (list[at + n / 2] < value) {
            at += n / 2 + 1;
            n -= n / 2 + 1;
        } else {
            n /= 2;
        }
    }
    return at;
}

static void merge(const unsigned *a, long na, const unsigned *b, long nb, unsigned *to)
{
    long cut, other;

    if (na < nb) {
        merge(b, nb, a, na, to);
        return;
    }
    if (na + nb <= least) {
        while (na && nb)
            *to++ = *a <= *b ? (na--, *a++) : (nb--, *b++);
        memcpy(to, na ? a : b, (size_t)(na + nb) * sizeof(*to));
        return;
    }
    cut = na / 2;
    other = lower(b, nb, a[cut]);
#pragma omp task
    merge(a, cut, b, other, to);
#pragma omp task
    merge(a + cut, na - cut, b + other, nb - other, to + cut + other);
#pragma omp taskwait
}

static void sort(unsigned *list, unsigned *room, long n)
{
    long q = n / 4;

    if (n <= least) {
        qsort(list, (size_t)n, sizeof(*list), compare);
        return;
    }
    for (int i = 0; i < 4; i++) {
#pragma omp task
        sort(list + i * q, room + i * q, i < 3 ? q : n - 3 * q);
    }
#pragma omp taskwait
#pragma omp task
    merge(list, q, list + q, q, room);
#pragma omp task
    merge(list + 2 * q, q, list + 3 * q, n - 3 * q, room + 2 * q);
#pragma omp taskwait
    merge(room, 2 * q, room + 2 * q, n - 2 * q, list);
}

int main(int argc, char **argv)
{
    long n = argument(argc, argv, 1, 500000), wrong = 0;
    unsigned *list = malloc((size_t)n * sizeof(*list)), *room = malloc((size_t)n * sizeof(*room));
    unsigned seed = 1;

    if (!list || !room)
        return EXIT_FAILURE;
    for (long i = 0; i < n; i++)
        list[i] = chance(&seed);
    least = n / 40 + 1;
#pragma omp parallel
#pragma omp single
    sort(list, room, n);
    for (long i = 1; i < n; i++)
        wrong += list[i - 1] > list[i];
    free(list);
    free(room);
    return answer("sort", (double)wrong, 0);
}
