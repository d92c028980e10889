/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/flow.h - tasks, data and what waits for what, as readers of files find
 * them; flow_write.c makes a record of that. All owned by the flow. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/error.h"
#include "record/call.h"

enum flow_kind {
    FLOW_TASK,
    FLOW_CONTROL,  /* without a kernel: it only waits */
    FLOW_WONT_USE, /* starpu_data_wont_use of its only datum */
    FLOW_PREFETCH, /* of its only datum, to `node` */
    FLOW_WAIT_ALL, /* the application waits for all tasks before it */
};

#define FLOW_NONE SIZE_MAX

struct flow_use {
    size_t datum;
    uint32_t mode; /* enum starpu_data_access_mode */
};

struct flow_datum {
    char *name; /* or NULL */
    uint64_t bytes;
    int64_t home;  /* node; -1: none */
    bool has_home; /* else it is main memory if its first use reads it */
    /* What is written goes to main memory, where the file system is. */
    bool is_file;
    int64_t coordinates[8];
    size_t ncoordinates;
};

struct flow_task {
    enum flow_kind kind;
    char *kernel; /* name of its codelet, or NULL */
    bool chosen;  /* by a rule of the user's: kinds.h */
    char *model;  /* symbol of the performance model; NULL: the kernel's name */
    char *name;   /* its own, or NULL */
    uint64_t order; /* of submission, from 1; 0: before all that have one */
    double us;      /* that it took, or is said to take; NaN: not known */
    /* The same per kind of workers, if flow->per_kind. */
    double times[ORR_NKINDS];
    unsigned kind_of_worker; /* where it ran: number + 1; 0: not known */
    double flops;            /* 0: not known */
    double after_us; /* that the application took since what it did before */
    int64_t priority;
    int64_t ran;    /* worker where it ran, -1 */
    int64_t worker; /* where it is to run, -1: anywhere */
    int64_t device; /* the number of the device that is to run it, -1: any */
    uint64_t worker_order;
    uint64_t node;     /* of a prefetch */
    int64_t iteration; /* -1: none */
    uint64_t tag;
    bool tagged;
    bool has_footprint;
    uint32_t footprint;
    struct flow_use *uses;
    size_t nuses;
    size_t *before, nbefore;         /* tasks that it waits for */
    size_t *end_before, nend_before; /* tasks that its end waits for */
    /* The number + 1 of the task on whose worker it goes on, which does `how` meanwhile; and
     * of one of the task that has created this one's; 0: none. */
    size_t resumes, under;
    enum orr_how how;
    unsigned ncores; /* processors of one host that it takes; 0: one */
    uint64_t memory; /* bytes of main memory beside its data, 0: not known */
    uint64_t *workers;               /* words of 32 bits; */
    size_t nworkers;
};

/* A name and what it stands for. */
struct flow_index {
    void *root; /* of tsearch */
};

struct flow {
    struct flow_task *tasks;
    struct flow_datum *data;
    size_t ntasks, ndata;
    char **notes; /* what the file lacks, or is read otherwise */
    size_t nnotes;
    struct flow_index task_names, datum_names;
    struct flow_kind_rule *kinds; /* owned: kinds.h */
    size_t nkinds;
    struct orr_error *err;
    const char *path;
    const char *host; /* borrowed: whose times `us` are, measured; or NULL */
    size_t exchanged; /* the datum of the busiest queue of a device, or FLOW_NONE */
    double pause_us; /* that the application took before the first task */
    unsigned long line; /* where the reader is, 0: the format has no lines */
    bool pinned;   /* tasks without a model run on the worker where they ran */
    bool costs_in_times; /* what the runtime itself takes is in the times of tasks */
    /* Flags of the run: workers are threads of OpenMP's, or 0. */
    uint64_t threads;
    bool binary;   /* the record is to have the compact form */
    bool has_all_waits; /* tasks wait for others by name, not by the order of data */
    bool per_kind; /* tasks have times per kind of workers */
};

/* `path` is borrowed. */
void flow_init(struct flow *flow, const char *path, struct orr_error *err);
void flow_done(struct flow *flow);

/* The message with the file, and the line if there is one; returns -EINVAL. */
int flow_wrong(struct flow *flow, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int flow_no_memory(struct flow *flow);

/* The next line of the file, without its end; counts it. 1, 0 at the end of the file, or
 * an error, with its message. */
int flow_read_line(struct flow *flow, FILE *file, char **line, size_t *room);

/* --- tasks and data --- */

/* A task more, without anything; NULL without memory. Pointers to others end. */
struct flow_task *flow_add_task(struct flow *flow);

/* The number of a datum more; FLOW_NONE without memory. `name` may be NULL. */
size_t flow_add_datum(struct flow *flow, const char *name, uint64_t bytes);

/* Errors: -ENOMEM. */
int flow_use(struct flow_task *task, size_t datum, uint32_t mode);
int flow_wait(struct flow_task *task, size_t before);
int flow_end_wait(struct flow_task *task, size_t before);

/* Replaces *to by a copy. Errors: -ENOMEM. */
int flow_text(char **to, const char *text);

/* Something that the record lacks, or that was understood so. Once each. */
int flow_note(struct flow *flow, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- names --- */

/* The number that stands for the name, FLOW_NONE: none does. */
size_t flow_find(const struct flow_index *index, const char *name);

/* Lets the name stand for that number. Errors: -EEXIST: it has another one;
 * -ENOMEM. */
int flow_set(struct flow_index *index, const char *name, size_t number);
void flow_index_done(struct flow_index *index);

/* --- order: flow_order.c --- */

/* For qsort_r, of numbers of tasks: by the order that these have (`arg`: all tasks), then by
 * number. */
int flow_compare_order(const void *a, const void *b, void *arg);

/* Each reads what a task has written: those that read a datum wait for the one
 * that writes it. Where several write, which task reads whose value is not
 * known: a note. Errors: -ENOMEM. */
int flow_wait_for_writers(struct flow *flow);

/* Fills `ret` (of ntasks, or NULL) with the tasks, each behind those that it waits
 * for. Errors, with a message: -EINVAL for tasks that wait for each other; -ENOMEM. */
int flow_sort(struct flow *flow, size_t *ret);

/* For formats that have no order of submission: the tasks get one in which each comes
 * behind those that it waits for. Errors as above. */
int flow_give_order(struct flow *flow);

/* --- the record --- */

/* Sorts tasks by their order, fills gaps in it with tasks that do nothing, and
 * writes all. Errors, with a message: -EINVAL for a circle of tasks that wait for
 * each other; -ENOMEM. */
int flow_write(struct flow *flow, FILE *out);
