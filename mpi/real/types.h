/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/real/types.h - datatypes of MPI for parts, made once per layout. */
#pragma once

#include <mpi.h>

#include "mpi/parts.h"

enum { NTYPES = 256 };

struct type {
    struct orr_part *parts; /* simplified, addresses relative to the first; NULL: none */
    unsigned n;
    MPI_Datatype type;
};

struct types {
    struct type kept[NTYPES]; /* by hash; the next place where that is taken */
    unsigned n;
};

/* What the parts are for a call of MPI: an address, a count and a committed datatype,
 * which stays valid for this call; that of contiguous ones is MPI_BYTE. Errors: -EINVAL
 * for more than INT_MAX repetitions in one level; -ENOMEM; -EIO. */
int types_find(struct types *types, const struct orr_part *parts, unsigned n,
               void **address, int *count, MPI_Datatype *type);
void types_free(struct types *types);
