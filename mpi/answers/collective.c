/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/answers/collective.c - what MPI has for all ranks of a communicator. Barriers go by
 * dissemination, broadcasts and reductions along binomial trees; the others, from each rank
 * to each that needs its bytes, in as many steps as there are ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/answers/together.h"

static void *make(size_t size, const char *call)
{
    void *ret = malloc(size ? size : 1);

    if (!ret)
        orr_answers_fail(call, "no memory for %zu bytes", size);
    return ret;
}

static struct orr_answers_comm *comm_with(MPI_Comm comm, int root, const char *call)
{
    struct orr_answers_comm *found = orr_answers_comm(comm, call);

    if (root < 0 || root >= found->size)
        orr_answers_fail(call, "rank %d is none of the communicator, which has ranks 0 to %d",
                         root, found->size - 1);
    return found;
}

int orr_answer_Barrier(MPI_Comm comm)
{
    struct orr_answers_comm *all = orr_answers_comm(comm, "MPI_Barrier");
    int64_t number = all->ncollectives++;
    int n = all->size;

    for (int step = 1; step < n; step *= 2)
        together_exchange(all, number, (all->rank + n - step) % n, NULL, 0,
                          (all->rank + step) % n, NULL, 0);
    return MPI_SUCCESS;
}

int orr_answer_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    static const char call[] = "MPI_Bcast";
    struct orr_answers_comm *all = comm_with(comm, root, call);
    size_t size = orr_answers_size(count, type);
    void *packed;

    if (orr_answers_is_dense(type)) {
        together_broadcast(all, root, buffer, size);
        return MPI_SUCCESS;
    }
    packed = make(size, call);
    if (all->rank == root)
        orr_answers_pack(buffer, count, type, packed);
    together_broadcast(all, root, packed, size);
    if (all->rank != root)
        orr_answers_unpack(packed, size, buffer, count, type);
    free(packed);
    return MPI_SUCCESS;
}

/* --- reductions --- */

/* Values as they lie in memory, for MPI's operations. */
struct values {
    int count;
    MPI_Datatype type;
    MPI_Op op;
    size_t size;
    const char *call;
};

static struct values values_of(int count, MPI_Datatype type, MPI_Op op, const char *call)
{
    return (struct values){count, type, op, orr_answers_extent(count, type), call};
}

/* higher = lower op higher. */
static void combine(const struct values *v, const void *lower, void *higher)
{
    if (v->count)
        PMPI_Reduce_local(lower, higher, v->count, v->type, v->op);
}

/* The values of all, in the order of ranks, in `mine` of rank 0. */
static void reduce_to_first(struct orr_answers_comm *all, const struct values *v, void **mine)
{
    int64_t number = all->ncollectives++;
    void *other = make(v->size, v->call);

    for (int bit = 1; bit < all->size; bit <<= 1) {
        if (all->rank & bit) {
            together_send(all, number, all->rank - bit, *mine, v->size);
            break;
        }
        if (all->rank + bit < all->size) {
            void *lower = *mine;

            together_receive(all, number, all->rank + bit, other, v->size);
            combine(v, lower, other);
            *mine = other;
            other = lower;
        }
    }
    free(other);
}

/* The rank's values, in memory of their own. */
static void *copy_values(const struct values *v, const void *from, const void *in_place)
{
    void *ret = make(v->size, v->call);

    if (v->size)
        memcpy(ret, from == MPI_IN_PLACE ? in_place : from, v->size);
    return ret;
}

int orr_answer_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                      int root, MPI_Comm comm)
{
    static const char call[] = "MPI_Reduce";
    struct orr_answers_comm *all = comm_with(comm, root, call);
    struct values v = values_of(count, type, op, call);
    void *mine = copy_values(&v, from, to);
    int64_t number;

    reduce_to_first(all, &v, &mine);
    number = all->ncollectives++;
    if (root != 0 && all->rank == 0)
        together_send(all, number, root, mine, v.size);
    if (root != 0 && all->rank == root)
        together_receive(all, number, 0, mine, v.size);
    if (all->rank == root && v.size)
        memcpy(to, mine, v.size);
    free(mine);
    return MPI_SUCCESS;
}

int orr_answer_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm)
{
    static const char call[] = "MPI_Allreduce";
    struct orr_answers_comm *all = orr_answers_comm(comm, call);
    struct values v = values_of(count, type, op, call);
    void *mine = copy_values(&v, from, to);

    reduce_to_first(all, &v, &mine);
    together_broadcast(all, 0, mine, v.size);
    if (v.size)
        memcpy(to, mine, v.size);
    free(mine);
    return MPI_SUCCESS;
}

/* From rank to rank: each has those of the ranks before it, then its own with them. */
static void scan(const void *from, void *to, const struct values *v, MPI_Comm comm,
                 bool inclusive)
{
    struct orr_answers_comm *all = orr_answers_comm(comm, v->call);
    int64_t number = all->ncollectives++;
    void *sum = copy_values(v, from, to), *before = make(v->size, v->call);

    if (all->rank > 0) {
        together_receive(all, number, all->rank - 1, before, v->size);
        combine(v, before, sum);
    }
    if (all->rank + 1 < all->size)
        together_send(all, number, all->rank + 1, sum, v->size);
    if (v->size && inclusive)
        memcpy(to, sum, v->size);
    else if (v->size && all->rank > 0)
        memcpy(to, before, v->size);
    free(sum);
    free(before);
}

int orr_answer_Scan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm)
{
    struct values v = values_of(count, type, op, "MPI_Scan");

    scan(from, to, &v, comm, true);
    return MPI_SUCCESS;
}

int orr_answer_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm)
{
    struct values v = values_of(count, type, op, "MPI_Exscan");

    scan(from, to, &v, comm, false);
    return MPI_SUCCESS;
}

/* --- parts of each rank --- */

/* Elements that lie in memory, a part of them for each rank. */
struct parts {
    char *memory;
    const int *counts, *places; /* by rank, in elements; NULL: `count` of each, in a row */
    int count;
    MPI_Datatype type;
    const char *call;
};

static int count_of(const struct parts *p, int rank)
{
    return p->counts ? p->counts[rank] : p->count;
}

static size_t size_of(const struct parts *p, int rank)
{
    return orr_answers_size(count_of(p, rank), p->type);
}

static char *part_of(const struct parts *p, int rank)
{
    MPI_Aint lower, extent;
    long place = p->places ? p->places[rank] : (long)p->count * rank;

    PMPI_Type_get_extent(p->type, &lower, &extent);
    return p->memory + place * extent;
}

static void *pack_part(const struct parts *p, int rank)
{
    void *ret = make(size_of(p, rank), p->call);

    orr_answers_pack(part_of(p, rank), count_of(p, rank), p->type, ret);
    return ret;
}

static void unpack_part(const struct parts *p, int rank, const void *bytes)
{
    orr_answers_unpack(bytes, size_of(p, rank), part_of(p, rank), count_of(p, rank), p->type);
}

/* One part, as it is sent. */
static void *pack_one(const void *memory, int count, MPI_Datatype type, const char *call)
{
    struct parts p = {(char *)(uintptr_t)memory, NULL, NULL, count, type, call};

    return pack_part(&p, 0);
}

static void receive_part(struct orr_answers_comm *all, int64_t number, const struct parts *to,
                         int from)
{
    void *bytes = make(size_of(to, from), to->call);

    together_receive(all, number, from, bytes, size_of(to, from));
    unpack_part(to, from, bytes);
    free(bytes);
}

static int gather(const void *from, int count, MPI_Datatype type, const struct parts *to,
                  int root, MPI_Comm comm)
{
    struct orr_answers_comm *all = comm_with(comm, root, to->call);
    int64_t number = all->ncollectives++;
    void *mine;

    if (all->rank != root) {
        mine = pack_one(from, count, type, to->call);
        together_send(all, number, root, mine, orr_answers_size(count, type));
        free(mine);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < all->size; i++)
        if (i != root)
            receive_part(all, number, to, i);
    if (from != MPI_IN_PLACE) {
        mine = pack_one(from, count, type, to->call);
        unpack_part(to, root, mine);
        free(mine);
    }
    return MPI_SUCCESS;
}

int orr_answer_Gather(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                      MPI_Datatype to_type, int root, MPI_Comm comm)
{
    struct parts parts = {to, NULL, NULL, to_count, to_type, "MPI_Gather"};

    return gather(from, count, type, &parts, root, comm);
}

int orr_answer_Gatherv(const void *from, int count, MPI_Datatype type, void *to,
                       const int counts[], const int places[], MPI_Datatype to_type, int root,
                       MPI_Comm comm)
{
    struct parts parts = {to, counts, places, 0, to_type, "MPI_Gatherv"};

    return gather(from, count, type, &parts, root, comm);
}

static int scatter(const struct parts *from, void *to, int count, MPI_Datatype type, int root,
                   MPI_Comm comm)
{
    struct orr_answers_comm *all = comm_with(comm, root, from->call);
    struct parts own = {to, NULL, NULL, count, type, from->call};
    int64_t number = all->ncollectives++;

    if (all->rank != root) {
        void *bytes = make(size_of(&own, 0), from->call);

        together_receive(all, number, root, bytes, size_of(&own, 0));
        unpack_part(&own, 0, bytes);
        free(bytes);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < all->size; i++) {
        void *bytes = pack_part(from, i);

        if (i != root)
            together_send(all, number, i, bytes, size_of(from, i));
        else if (to != MPI_IN_PLACE)
            unpack_part(&own, 0, bytes);
        free(bytes);
    }
    return MPI_SUCCESS;
}

int orr_answer_Scatter(const void *from, int from_count, MPI_Datatype from_type, void *to,
                       int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct parts parts = {(char *)(uintptr_t)from, NULL, NULL, from_count, from_type,
                          "MPI_Scatter"};

    return scatter(&parts, to, count, type, root, comm);
}

int orr_answer_Scatterv(const void *from, const int counts[], const int places[],
                        MPI_Datatype from_type, void *to, int count, MPI_Datatype type,
                        int root, MPI_Comm comm)
{
    struct parts parts = {(char *)(uintptr_t)from, counts, places, 0, from_type,
                          "MPI_Scatterv"};

    return scatter(&parts, to, count, type, root, comm);
}

/* In step k each sends to the rank k behind it. */
static int exchange(const struct parts *from, const struct parts *to, MPI_Comm comm)
{
    struct orr_answers_comm *all = orr_answers_comm(comm, to->call);
    int64_t number = all->ncollectives++;
    int n = all->size, self = all->rank;

    for (int k = 0; k < n; k++) {
        int peer = (self + k) % n, source = (self + n - k) % n;
        void *out = pack_part(from, peer), *in = make(size_of(to, source), to->call);

        if (peer == self) {
            unpack_part(to, self, out);
        } else {
            together_exchange(all, number, peer, out, size_of(from, peer), source, in,
                              size_of(to, source));
            unpack_part(to, source, in);
        }
        free(out);
        free(in);
    }
    return MPI_SUCCESS;
}

/* Each part goes to all: it is the same memory for each rank. */
static int gather_all(const void *from, int count, MPI_Datatype type, const struct parts *to,
                      MPI_Comm comm)
{
    struct orr_answers_comm *all = orr_answers_comm(comm, to->call);
    int *places = calloc((size_t)all->size, sizeof(*places)), *counts = malloc(
        (size_t)all->size * sizeof(*counts));
    struct parts mine = {(char *)(uintptr_t)from, counts, places, 0, type, to->call};

    if (!places || !counts)
        orr_answers_fail(to->call, "out of memory");
    if (from == MPI_IN_PLACE) {
        mine.memory = part_of(to, all->rank);
        mine.type = to->type;
        count = count_of(to, all->rank);
    }
    for (int i = 0; i < all->size; i++)
        counts[i] = count;
    (void)exchange(&mine, to, comm);
    free(places);
    free(counts);
    return MPI_SUCCESS;
}

int orr_answer_Allgather(const void *from, int count, MPI_Datatype type, void *to,
                         int to_count, MPI_Datatype to_type, MPI_Comm comm)
{
    struct parts parts = {to, NULL, NULL, to_count, to_type, "MPI_Allgather"};

    return gather_all(from, count, type, &parts, comm);
}

int orr_answer_Allgatherv(const void *from, int count, MPI_Datatype type, void *to,
                          const int counts[], const int places[], MPI_Datatype to_type,
                          MPI_Comm comm)
{
    struct parts parts = {to, counts, places, 0, to_type, "MPI_Allgatherv"};

    return gather_all(from, count, type, &parts, comm);
}

int orr_answer_Alltoall(const void *from, int from_count, MPI_Datatype from_type, void *to,
                        int count, MPI_Datatype type, MPI_Comm comm)
{
    static const char call[] = "MPI_Alltoall";
    struct parts out = {(char *)(uintptr_t)from, NULL, NULL, from_count, from_type, call};
    struct parts in = {to, NULL, NULL, count, type, call};

    if (from == MPI_IN_PLACE)
        orr_answers_fail(call, "MPI_IN_PLACE is not possible where ranks are simulated");
    return exchange(&out, &in, comm);
}

int orr_answer_Alltoallv(const void *from, const int from_counts[], const int from_places[],
                         MPI_Datatype from_type, void *to, const int counts[],
                         const int places[], MPI_Datatype type, MPI_Comm comm)
{
    static const char call[] = "MPI_Alltoallv";
    struct parts out = {(char *)(uintptr_t)from, from_counts, from_places, 0, from_type, call};
    struct parts in = {to, counts, places, 0, type, call};

    if (from == MPI_IN_PLACE)
        orr_answers_fail(call, "MPI_IN_PLACE is not possible where ranks are simulated");
    return exchange(&out, &in, comm);
}
