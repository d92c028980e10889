/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/openmp/reader.h - what the files that make a flow of a log share. One thread. */
#pragma once

#include "import/flow.h"
#include "import/openmp/log.h"
#include "import/openmp/map.h"
#include "import/openmp/names.h"
#include "import/openmp/tree.h"

/* A thread of the program. */
struct omp_thread {
    struct omp_task *current; /* that it executes; NULL: none, or what is outside of regions */
    struct omp_task **outer;  /* owned: those that have met a region, the last one innermost */
    size_t nouter;
    uint64_t last;    /* ns of its clock: until there it is known what it did */
    double serial_us; /* outside of regions, since its last one */
    bool started;     /* it has an event; … */
    bool met;         /* … it has met a region */
    bool if0;         /* it has come to a task for which the creator waits */
    uint64_t waits_since; /* ns: its last wait for others' exclusion */
    uint64_t block_begin, block_bytes; /* of the DEPEND that comes; 0: not known */
    double idle_us;       /* of the time before this event, what belongs to no task */
};

/* Tasks of the record, by their numbers. */
struct omp_numbers {
    size_t *at, n, room;
};

/* Of a datum: its last readers, or those of its last inoutset, and the group before. */
struct omp_set {
    enum orr_omp_mode mode; /* 0: something else */
    struct omp_numbers now, before;
};

/* Where a datum is. */
struct omp_place {
    uint64_t address, begin, bytes; /* the last two are of its block; 0: not known */
    size_t datum;
};

struct omp_reader {
    struct flow *flow;
    struct omp_log *log;
    struct omp_names *names;
    struct omp_tree tree;
    struct omp_map tasks, regions;
    struct omp_thread *threads;
    struct omp_region *live; /* outermost regions that have not ended */
    struct omp_region *loose; /* regions inside of others that are in no task's list (yet) */
    double pending_us;       /* what the last region took to end */
    uint64_t begun, ended;   /* ns: of the first outermost region, of the last one */
    double inside_us;        /* in all of them */
    struct omp_set *sets; /* owned: by datum, once there is an inoutset */
    size_t roomsets;
    struct omp_place *places; /* owned: by datum, where sizes were asked for */
    size_t roomplaces;
    size_t nregions, ntasks, nexclusions;
    size_t nall, nsets; /* uses of all memory, inoutsets */
    double exclusion_us;
    unsigned team; /* the largest one */
    unsigned long notes[ORR_OMP_NNOTES];
    bool together; /* several threads had outermost regions at one time */
    bool lost;     /* an event is about what is not there */
};

/* sizes.c: the use is one of that datum. Errors: -ENOMEM. */
int omp_note_place(struct omp_reader *reader, size_t datum, const struct omp_use *use);

/* … all are known: data get their sizes, and the record says which have none. Errors: -ENOMEM. */
int omp_settle_sizes(struct omp_reader *reader);

/* events.c: all of the log. Errors: -ENOMEM, or with a message. */
int omp_read_events(struct omp_reader *reader);

/* emit.c: tasks of the record for an outermost region that has ended; the application waits
 * for them. Errors: -ENOMEM. */
int omp_emit_region(struct omp_reader *reader, struct omp_region *region);
