/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/doctor.h - what makes programs of several ranks slow before a line of theirs is at
 * fault: ranks of a host that compute on the same processors, or use one GPU; tasks shorter
 * than what their messages cost. Rank 0 says so once, each with a remedy, when ranks begin
 * and when they end (ORRERY_MPI_WARN_…).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct orr_config;
struct orr_rank;

enum { ORR_DOCTOR_WORDS = 16, ORR_DOCTOR_DEVICES = 16 };

/* What a rank says of itself when it begins; no pointers: it goes to other processes. */
struct orr_doctor_place {
    char host[64];
    uint32_t nworkers; /* of processors */
    uint32_t ndevices;
    uint64_t used[ORR_DOCTOR_WORDS];      /* a bit per processor that these run on */
    uint64_t allowed[ORR_DOCTOR_WORDS];   /* … that the process may use */
    char devices[ORR_DOCTOR_DEVICES][16]; /* GPUs, by their place on the bus */
};

/* … and when it ends. */
struct orr_doctor_work {
    uint64_t tasks, messages; /* of messages those that it has sent or received */
    double tasks_us;          /* that kernels took */
    double messages_us;       /* that its thread of MPI had to do */
};

/* Gets a warning; `text` is valid until it returns. */
typedef void orr_doctor_say(void *arg, const char *text);

/* What is wrong with n ranks, one warning of each kind and host at most, of those kinds that
 * the settings leave in. */
void orr_doctor_judge_places(const struct orr_config *config,
                             const struct orr_doctor_place *places, unsigned n,
                             orr_doctor_say *say, void *arg);
void orr_doctor_judge_work(const struct orr_config *config,
                           const struct orr_doctor_work *works, unsigned n,
                           orr_doctor_say *say, void *arg);

/* How many other ranks of its host may run on a processor on which that rank may. */
unsigned orr_doctor_sharers(const struct orr_doctor_place *places, unsigned n,
                            unsigned rank);

/* All ranks meet, and rank 0 warns. Nothing of one rank, simulated or pretended ones.
 * Main. */
void orr_doctor_open(struct orr_rank *rank, const char *call);
void orr_doctor_close(struct orr_rank *rank, const char *call);
