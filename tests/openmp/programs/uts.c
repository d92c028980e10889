/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* uts.c - counts a tree that is unbalanced by chance: a task per node, in a taskgroup. */
#include "program.h"

static long nodes, right;
static int work;

/* How many children the node has; it is looked at for a while. */
static int children_of(unsigned seed, int depth)
{
    unsigned value = seed;

    for (int i = 0; i < work; i++)
        (void)chance(&value);
    return depth == 0 ? 40 : value % 100 < 22 ? 4 : 0;
}

static unsigned child_seed(unsigned seed, int which)
{
    seed += (unsigned)which * 2654435761u;
    (void)chance(&seed);
    return seed;
}

static void visit(unsigned seed, int depth)
{
    int n = children_of(seed, depth);

#pragma omp atomic
    nodes++;
    for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
        visit(child_seed(seed, i), depth + 1);
    }
}

static void count(unsigned seed, int depth)
{
    int n = children_of(seed, depth);

    right++;
    for (int i = 0; i < n; i++)
        count(child_seed(seed, i), depth + 1);
}

int main(int argc, char **argv)
{
    unsigned seed = (unsigned)argument(argc, argv, 1, 19);

    work = (int)argument(argc, argv, 2, 100000);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    visit(seed, 0);
    count(seed, 0);
    return answer("uts", (double)nodes, (double)right);
}
