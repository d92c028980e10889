/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* alignment.c - scores of all pairs of sequences: all threads of the region create tasks, in a
 * worksharing loop. */
#include "program.h"

enum { LONGEST = 512 };

static int n, length;
static char *letters;

static const char *sequence(int i)
{
    return letters + (size_t)i * LONGEST;
}

static int best(int a, int b)
{
    return a > b ? a : b;
}

/* The longest common subsequence. */
static int score(const char *a, const char *b)
{
    int line[LONGEST + 1] = {0};

    for (int i = 0; i < length; i++) {
        int before = 0;

        for (int j = 0; j < length; j++) {
            int here = line[j + 1];

            line[j + 1] = a[i] == b[j] ? before + 1 : best(line[j], here);
            before = here;
        }
    }
    return line[length];
}

int main(int argc, char **argv)
{
    unsigned seed = 7;
    long total = 0, right = 0;

    n = (int)argument(argc, argv, 1, 16);
    length = (int)argument(argc, argv, 2, 300);
    letters = malloc((size_t)n * LONGEST);
    if (!letters || length > LONGEST)
        return EXIT_FAILURE;
    for (size_t i = 0; i < (size_t)n * LONGEST; i++)
        letters[i] = "ACGT"[chance(&seed) % 4];
#pragma omp parallel
#pragma omp for schedule(dynamic)
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
#pragma omp task firstprivate(i, j)
            {
                int found = score(sequence(i), sequence(j));

#pragma omp atomic
                total += found;
            }
        }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            right += score(sequence(i), sequence(j));
    free(letters);
    return answer("alignment", (double)total, (double)right);
}
