/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/optimise/owners.h - distributions of a matrix of blocks over ranks: patterns of owners
 * that are repeated in both directions. One thread.
 */
#pragma once

#include <stdio.h>

struct owners {
    char name[48];          /* "4x4", "symmetric, 6x4" */
    unsigned p, q;          /* of a grid of ranks; 0, 0: it is none */
    unsigned rows, columns; /* of the pattern */
    unsigned *of;           /* owned: row by row, the rank of each block */
};

/* Rank i mod p * q + j mod q owns block (i, j). -1, after a message, without memory; so do
 * the next two. */
int owners_grid(unsigned p, unsigned q, struct owners *ret);

/* Symmetric block-cyclic: rank {a, b} owns the blocks of rows a mod r and columns b mod r and
 * those of rows b mod r and columns a mod r, so that a column of blocks, which a symmetric
 * factorisation needs as a row as well, goes to fewer ranks (Beaumont, Eyraud-Dubois, Vérité
 * & Langou, "Symmetric block-cyclic distribution: fewer communications leads to faster dense
 * Cholesky factorization", SC 2022). Of r (r - 1) / 2 ranks the diagonal of the pattern is
 * theirs in turn, of r² / 2, r even, that of r / 2 further ones. Returns 1 where n is neither. */
int owners_symmetric(unsigned n, struct owners *ret);

/* Rows, or columns, in turn, as many of each rank as its weight says: of ranks that differ. */
int owners_weighted(unsigned n, const double *weights, int by_columns, struct owners *ret);

/* Writes "rows columns" and the rows, a line each. */
void owners_put(const struct owners *owners, FILE *out);

void owners_done(struct owners *owners);
