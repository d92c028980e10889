/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* common.c - the parts of the programs that run on one thread: see programs.h. */
#include "programs.h"

void sweep_block(const long *left, const long *own, const long *right,
                 long *result)
{
    for (int i = 0; i < BLOCK; i++) {
        long before = i > 0 ? own[i - 1] : left ? left[BLOCK - 1] : 0;
        long after = i + 1 < BLOCK ? own[i + 1] : right ? right[0] : 0;

        result[i] = (before + 2 * own[i] + after) % 1000003;
    }
}

void factor_diagonal(double (*a)[SIDE])
{
    for (int k = 0; k < SIDE; k++)
        for (int i = k + 1; i < SIDE; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < SIDE; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
}

void solve_row(double (*diagonal)[SIDE], double (*a)[SIDE])
{
    for (int k = 0; k < SIDE; k++)
        for (int i = k + 1; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                a[i][j] -= diagonal[i][k] * a[k][j];
}

void solve_column(double (*diagonal)[SIDE], double (*a)[SIDE])
{
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++) {
            a[i][k] /= diagonal[k][k];
            for (int j = k + 1; j < SIDE; j++)
                a[i][j] -= a[i][k] * diagonal[k][j];
        }
}

void update_block(double (*column)[SIDE], double (*row)[SIDE],
                  double (*a)[SIDE])
{
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++)
            for (int j = 0; j < SIDE; j++)
                a[i][j] -= column[i][k] * row[k][j];
}

int is_safe(const int *board, int row, int column)
{
    for (int i = 0; i < row; i++)
        if (board[i] == column || board[i] - column == row - i ||
            column - board[i] == row - i)
            return 0;
    return 1;
}

unsigned long make_item(int i)
{
    unsigned long item = (unsigned long)i;

    for (int n = 0; n < 100; n++)
        item = item * 6364136223846793005UL + 1442695040888963407UL;
    return item;
}
