/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* health.c - villages in a tree, each with patients of its own and those that its children
 * send on: for each of many days a task per village, which waits for its children. */
#include "program.h"

enum { CHILDREN = 4 };

struct village {
    struct village *children[CHILDREN];
    unsigned seed;
    long patients, sent, healed;
};

static struct village *new_village(int levels, unsigned seed)
{
    struct village *village = calloc(1, sizeof(*village));

    if (!village)
        abort();
    village->seed = seed;
    for (int i = 0; levels > 1 && i < CHILDREN; i++)
        village->children[i] = new_village(levels - 1, seed * 5 + (unsigned)i + 1);
    return village;
}

/* Some get ill, some are healed here, the others are for the parent. */
static void day_here(struct village *village, int work)
{
    long ill = village->patients;

    for (int i = 0; i < work; i++)
        ill += chance(&village->seed) % 64 == 0;
    village->sent = ill / 3;
    village->healed += ill - village->sent;
    village->patients = 0;
}

static void day(struct village *village, int work)
{
    for (int i = 0; i < CHILDREN && village->children[i]; i++) {
        struct village *child = village->children[i];

#pragma omp task firstprivate(child)
        day(child, work);
    }
#pragma omp taskwait
    for (int i = 0; i < CHILDREN && village->children[i]; i++)
        village->patients += village->children[i]->sent;
    day_here(village, work);
}

static long healed(const struct village *village)
{
    long all = village->healed;

    for (int i = 0; i < CHILDREN && village->children[i]; i++)
        all += healed(village->children[i]);
    return all;
}

static void free_village(struct village *village)
{
    for (int i = 0; village && i < CHILDREN; i++)
        free_village(village->children[i]);
    free(village);
}

int main(int argc, char **argv)
{
    int days = (int)argument(argc, argv, 1, 10), work = (int)argument(argc, argv, 2, 50000);
    struct village *land = new_village(4, 1), *other = new_village(4, 1);
    double result, right;

#pragma omp parallel
#pragma omp single
    for (int d = 0; d < days; d++)
        day(land, work);
    for (int d = 0; d < days; d++)
        day(other, work); /* outside of regions tasks are executed at once */
    result = (double)healed(land);
    right = (double)healed(other);
    free_village(land);
    free_village(other);
    return answer("health", result, right);
}
