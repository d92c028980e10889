/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/saved.h - checkpoints as files of a folder: one of each rank with what it keeps for
 * others, and a manifest, which is written last and has the sizes and checksums of these.
 * A checkpoint without manifest, or of which a file differs from it, is none. Each file
 * gets its name when all of it is on the disk.
 *
 *     ID-DOMAIN-NUMBER.RANK.part    records, as the machine has numbers
 *     ID-DOMAIN-NUMBER.manifest     text
 *
 * No state; any thread. Errors are negative errnos, with a sentence in *err.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* Which one. */
struct orr_saved {
    const char *folder;
    int id, domain;
    uint64_t number;
};

/* The value of entry `entry` of the template that rank `source` had. */
struct orr_saved_record {
    uint32_t entry;
    int32_t source;
    uint64_t size;
    const void *bytes;
};

/* A rank's file. */
struct orr_saved_sum {
    uint64_t size;
    uint32_t crc;
};

struct orr_saved_manifest {
    int nranks;
    unsigned nentries;
    struct orr_saved_sum *sums; /* of each rank; owned */
};

/* Makes the folder, if it is not there. */
int orr_saved_folder(const char *folder, struct orr_error *err);

int orr_saved_write_part(const struct orr_saved *saved, int rank,
                         const struct orr_saved_record *records, unsigned n,
                         struct orr_saved_sum *ret, struct orr_error *err);
int orr_saved_write_manifest(const struct orr_saved *saved,
                             const struct orr_saved_manifest *manifest,
                             struct orr_error *err);

/* The highest number below `below` that has a manifest; 0: none. */
uint64_t orr_saved_newest(const char *folder, int id, int domain, uint64_t below);

/* -ENOENT: there is none; -EBADMSG: it is damaged. `sums` is the caller's to free. */
int orr_saved_read_manifest(const struct orr_saved *saved, struct orr_saved_manifest *ret,
                            struct orr_error *err);

/* Reads all of a rank's file, and gives each record, in memory that is valid until `take`
 * returns; its result ends the reading if it is not 0. -EBADMSG: it is not what the
 * manifest says, which may show when records were given. */
int orr_saved_read_part(const struct orr_saved *saved, int rank,
                        const struct orr_saved_sum *sum,
                        int (*take)(void *arg, const struct orr_saved_record *record),
                        void *arg, struct orr_error *err);

/* Whatever there is of it. */
void orr_saved_remove_part(const struct orr_saved *saved, int rank);
void orr_saved_remove_manifest(const struct orr_saved *saved);
