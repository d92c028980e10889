/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/simulated/letters.h - bytes that an application's own calls of MPI send from rank to
 * rank: a send finds its receive by communicator, realm, sender and tag, in the order of the
 * sends. They go over the same network as the packets of simulated.h, beside them. Any
 * context of a rank that may wait.
 */
#pragma once

#include "core/base/list.h"
#include "mpi/simulated/program.h"

struct orr_context;
struct orr_envelope;

enum { ORR_ANY = -1 }; /* of a receive: any sender, any tag */

/* Letters of one realm do not meet those of another one. */
enum orr_letter_realm { ORR_LETTERS_OF_USER, ORR_LETTERS_OF_COLLECTIVES };

/* A send or a receive. The caller's memory, and its bytes, until it has ended. */
struct orr_letter {
    struct orr_simulated_comm *comm;
    enum orr_letter_realm realm;
    int self; /* the caller's rank there */
    int peer; /* to which, or from which */
    int64_t tag;
    void *bytes;
    size_t size;      /* of them: what is sent, or room */
    bool synchronous; /* of a send: it does not end before its receive has begun */

    /* When it has ended. */
    bool ended;
    int error;     /* 0; -EMSGSIZE: more came than there is room for; -ECANCELED */
    int source;    /* of a receive: who sent it, … */
    int64_t found; /* … its tag, … */
    size_t moved;  /* … its bytes, of which there is room for `size` */

    /* The letters' own. */
    struct orr_list link;
    struct orr_context *waiting;
    struct orr_envelope *envelope;
    double owed_us; /* of the processor that waits for it, when it has ended */
};

/* Begins it: of a letter that is zeroed but for its first part. Errors: -ENOMEM. A send
 * ends at once if its bytes are few enough for the network (eager=). */
int orr_letter_send(struct orr_letter *letter);
void orr_letter_receive(struct orr_letter *letter);

/* Waits until it has ended. */
void orr_letter_wait(struct orr_letter *letter);

/* Waits until one of n has ended, NULLs aside; returns its place, -1: all are NULL. */
int orr_letters_wait_any(struct orr_letter *const *letters, int n);

/* Ends one that stands for something else than bytes, and was never begun: who waits for it
 * goes on. */
void orr_letter_end(struct orr_letter *letter);

/* Takes a receive back that has found nothing yet; else returns false. */
bool orr_letter_cancel(struct orr_letter *letter);

/* Whether a receive like this one would find something now: fills source, found and moved.
 * With `waits` it waits for that. */
bool orr_letter_probe(struct orr_letter *like, bool waits);

/* Some µs of the caller's time pass, in which others may go on: for calls that are made
 * again and again until something has happened. */
void orr_letters_pass_time(void);

/* To be called by what reads the clock: who does so a thousand times in a row waits for a
 * date, and time passes with the next ones, about as much as the reading takes. */
void orr_letters_read_clock(void);
