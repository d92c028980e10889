/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nqueens.c - in how many ways n queens do not threaten each other: a task per row of the first
 * columns, untied, that adds up atomically. */
#include "program.h"

enum { MOST = 16, DEPTH = 2 };

static long total;

static int fits(const int *rows, int column)
{
    for (int c = 0; c < column; c++) {
        int apart = rows[c] - rows[column];

        if (apart == 0 || apart == column - c || apart == c - column)
            return 0;
    }
    return 1;
}

static long count(int *rows, int column, int n)
{
    long found = 0;

    if (column == n)
        return 1;
    for (rows[column] = 0; rows[column] < n; rows[column]++)
        if (fits(rows, column))
            found += count(rows, column + 1, n);
    return found;
}

struct board {
    int rows[MOST];
};

static void place(struct board board, int column, int n)
{
    if (column == DEPTH) {
        long found = count(board.rows, column, n);

#pragma omp atomic
        total += found;
        return;
    }
    for (int row = 0; row < n; row++) {
        board.rows[column] = row;
        if (!fits(board.rows, column))
            continue;
#pragma omp task untied firstprivate(board, column, n)
        place(board, column + 1, n);
    }
#pragma omp taskwait
}

int main(int argc, char **argv)
{
    static const long right[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200};
    int n = (int)argument(argc, argv, 1, 10);
    struct board board = {{0}};

    if (n < 4 || n > 12)
        return EXIT_FAILURE;
#pragma omp parallel
#pragma omp single
    place(board, 0, n);
    return answer("nqueens", (double)total, (double)right[n]);
}
