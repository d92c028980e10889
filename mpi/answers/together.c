/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/answers/together.c - see together.h. */
#include "mpi/answers/together.h"

#include <stdlib.h>
#include <string.h>

static struct orr_letter letter_of(struct orr_answers_comm *comm, int64_t number, int peer,
                                   const void *bytes, size_t size)
{
    return (struct orr_letter){
        .comm = comm->simulated,
        .realm = ORR_LETTERS_OF_COLLECTIVES,
        .self = comm->rank,
        .peer = peer,
        .tag = number,
        .bytes = (void *)(uintptr_t)bytes,
        .size = size,
    };
}

static void begin_send(struct orr_letter *letter)
{
    if (orr_letter_send(letter) < 0)
        orr_answers_fail("a collective call of MPI", "no memory for %zu bytes", letter->size);
}

void together_send(struct orr_answers_comm *comm, int64_t number, int to, const void *bytes,
                   size_t size)
{
    struct orr_letter letter = letter_of(comm, number, to, bytes, size);

    begin_send(&letter);
    orr_letter_wait(&letter);
}

static void check_size(const struct orr_letter *in)
{
    if (in->moved != in->size)
        orr_answers_fail("a collective call of MPI",
                         "rank %d has sent %zu bytes, where %zu were to come: all ranks have "
                         "to make the same calls, with the same counts",
                         in->source, in->moved, in->size);
}

void together_receive(struct orr_answers_comm *comm, int64_t number, int from, void *room,
                      size_t size)
{
    struct orr_letter letter = letter_of(comm, number, from, room, size);

    orr_letter_receive(&letter);
    orr_letter_wait(&letter);
    check_size(&letter);
}

void together_exchange(struct orr_answers_comm *comm, int64_t number, int to,
                       const void *bytes, size_t size, int from, void *room, size_t rooms)
{
    struct orr_letter in = letter_of(comm, number, from, room, rooms);
    struct orr_letter out = letter_of(comm, number, to, bytes, size);

    orr_letter_receive(&in);
    begin_send(&out);
    orr_letter_wait(&out);
    orr_letter_wait(&in);
    check_size(&in);
}

/* Ranks are counted from the root on. A rank has its bytes from the one without its lowest
 * bit, and sends them to those with one more bit below that. */
void together_broadcast(struct orr_answers_comm *comm, int root, void *bytes, size_t size)
{
    int64_t number = comm->ncollectives++;
    int n = comm->size, self = (comm->rank - root + n) % n, bit = 1;

    while (bit < n && !(self & bit))
        bit <<= 1;
    if (self)
        together_receive(comm, number, (self - bit + root) % n, bytes, size);
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (self + bit < n)
            together_send(comm, number, (self + bit + root) % n, bytes, size);
}

void together_gather(struct orr_answers_comm *comm, int root, const void *mine, size_t size,
                     void *all)
{
    int64_t number = comm->ncollectives++;

    if (comm->rank != root) {
        together_send(comm, number, root, mine, size);
        return;
    }
    for (int i = 0; i < comm->size; i++) {
        char *at = (char *)all + (size_t)i * size;

        if (i != root)
            together_receive(comm, number, i, at, size);
        else if (size)
            memcpy(at, mine, size);
    }
}
