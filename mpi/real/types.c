/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mpi/real/types.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* More bytes than a count of MPI has are so many of these, and a rest. */
enum { LARGE = 1 << 30 };

/* Each of these replaces *type, freeing what it was. 0, or a code of MPI's. */
static int replace(MPI_Datatype *type, MPI_Datatype by, int code)
{
    if (*type != MPI_BYTE)
        MPI_Type_free(type);
    *type = by;
    return code;
}

static int contiguous(MPI_Datatype *type, size_t n)
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int code = MPI_Type_contiguous((int)n, *type, &made);

    return replace(type, made, code);
}

static int bytes_type(size_t size, MPI_Datatype *type)
{
    MPI_Datatype parts[2] = {MPI_BYTE, MPI_BYTE};
    int lengths[2] = {1, (int)(size % LARGE)}, code;
    MPI_Aint at[2] = {0, (MPI_Aint)(size - size % LARGE)};

    *type = MPI_BYTE;
    if (size <= INT_MAX)
        return contiguous(type, size);
    code = contiguous(&parts[0], LARGE);
    if (!code)
        code = contiguous(&parts[0], size / LARGE);
    if (!code)
        code = MPI_Type_create_struct(2, lengths, at, parts, type);
    if (parts[0] != MPI_BYTE && parts[0] != MPI_DATATYPE_NULL)
        MPI_Type_free(&parts[0]);
    return code;
}

static int part_type(const struct orr_part *part, MPI_Datatype *type)
{
    int code = bytes_type(part->size, type);

    for (unsigned i = 0; i < part->levels && !code; i++) {
        MPI_Datatype made = MPI_DATATYPE_NULL;

        code = MPI_Type_create_hvector((int)part->n[i], 1, (MPI_Aint)part->step[i],
                                       *type, &made);
        code = replace(type, made, code);
    }
    return code;
}

/* A code of MPI's, or -1 without memory. */
static int parts_type(const struct orr_part *parts, unsigned n, MPI_Datatype *type)
{
    MPI_Datatype *types = calloc(n, sizeof(MPI_Datatype));
    MPI_Aint *at = calloc(n, sizeof(*at));
    int *ones = calloc(n, sizeof(*ones));
    int code = types && at && ones ? 0 : -1;
    unsigned made = 0;

    for (; made < n && !code; made++) {
        ones[made] = 1;
        at[made] = (MPI_Aint)(uintptr_t)parts[made].address;
        code = part_type(&parts[made], &types[made]);
    }
    if (!code)
        code = MPI_Type_create_struct((int)n, ones, at, types, type);
    if (!code)
        code = MPI_Type_commit(type);
    for (unsigned i = 0; i < made; i++)
        if (types[i] != MPI_BYTE && types[i] != MPI_DATATYPE_NULL)
            MPI_Type_free(&types[i]);
    free(types);
    free(at);
    free(ones);
    return code;
}

void types_free(struct types *types)
{
    for (unsigned i = 0; i < NTYPES; i++) {
        if (!types->kept[i].parts)
            continue;
        /* Those that are in use now, MPI frees later. */
        MPI_Type_free(&types->kept[i].type);
        free(types->kept[i].parts);
        types->kept[i].parts = NULL;
    }
    types->n = 0;
}

static unsigned hash_of(const struct orr_part *parts, unsigned n)
{
    const unsigned char *bytes = (const unsigned char *)parts;
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < n * sizeof(*parts); i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return (unsigned)(hash >> 32) % NTYPES;
}

/* The parts as they are kept, without those that are empty; *ret_n may be 0. NULL: no
 * memory. */
static struct orr_part *key_of(const struct orr_part *parts, unsigned n,
                               unsigned *ret_n, void **address)
{
    struct orr_part *key = calloc(n + 1, sizeof(*key));

    *ret_n = 0;
    *address = NULL;
    for (unsigned i = 0; i < n && key; i++) {
        struct orr_part simple = orr_part_simplified(&parts[i]);
        struct orr_part *into = &key[*ret_n];

        if (simple.size == 0)
            continue;
        if (*ret_n == 0)
            *address = simple.address;
        /* Field by field: the structure may have holes, which stay zero. */
        into->address = (void *)((uintptr_t)simple.address - (uintptr_t)*address);
        into->size = simple.size;
        into->levels = simple.levels;
        for (unsigned j = 0; j < simple.levels; j++) {
            into->n[j] = simple.n[j];
            into->step[j] = simple.step[j];
        }
        (*ret_n)++;
    }
    return key;
}

static bool has_large_count(const struct orr_part *key, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < key[i].levels; j++)
            if (key[i].n[j] > INT_MAX)
                return true;
    return false;
}

int types_find(struct types *types, const struct orr_part *parts, unsigned n,
               void **address, int *count, MPI_Datatype *type)
{
    size_t bytes = orr_parts_bytes(parts, n);
    struct orr_part *key;
    unsigned at, used;
    int code;

    *count = (int)bytes;
    *type = MPI_BYTE;
    if (bytes <= INT_MAX && orr_parts_contiguous(parts, n, address))
        return 0;
    *count = 1;
    key = key_of(parts, n, &used, address);
    if (!key)
        return -ENOMEM;
    at = hash_of(key, used);
    while (types->kept[at].parts) {
        if (types->kept[at].n == used &&
            memcmp(types->kept[at].parts, key, used * sizeof(*key)) == 0) {
            *type = types->kept[at].type;
            free(key);
            return 0;
        }
        at = (at + 1) % NTYPES;
    }
    if (has_large_count(key, used)) {
        free(key);
        return -EINVAL;
    }
    code = parts_type(key, used, type);
    if (code) {
        free(key);
        return code == -1 ? -ENOMEM : -EIO;
    }
    /* Whoever uses more layouts than are kept makes them anew: the table is emptied. */
    if (types->n >= NTYPES / 2) {
        types_free(types);
        at = hash_of(key, used);
    }
    types->kept[at] = (struct type){key, used, *type};
    types->n++;
    return 0;
}
