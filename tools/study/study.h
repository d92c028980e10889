/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/study/study.h - a declared experiment: programs with sizes, machines, edits, noise,
 * policies, repetitions; and each of its runs. docs/STUDY.md has what users see. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A program with the arguments of one size. */
struct study_size {
    char *text;   /* owned: as it is written, "" without any */
    char **words; /* owned, as are the texts: the command line, NULL-terminated */
};

struct study_program {
    char *name;    /* owned */
    char **words;  /* owned, as are the texts: without those of a size; NULL-terminated */
    char **inputs; /* owned: files that it reads; NULL-terminated */
    struct study_size *sizes; /* owned */
    size_t nsizes;
};

/* Lists are owned, as are their texts, and NULL-terminated. */
struct study {
    char *path; /* owned: of the file, in its folder, which the command works in */
    struct study_program *programs; /* owned */
    size_t nprograms;
    char **machines;
    char **edits; /* as ORRERY_SET takes them, "" for none */
    char **noises; /* "none", or as --noise takes them */
    char **policies;
    char **variables; /* "NAME=value" */
    char *assume;   /* owned, as --assume; or NULL */
    char *costs;    /* owned: the file of powers, or NULL */
    char *baseline; /* owned: the policy that others are tested against, or NULL */
    unsigned repetitions;
    bool draws; /* repetitions are draws of what models do not know (docs/COMPARE.md) */
    size_t nmachines, nedits, nnoises, npolicies;
    size_t nworkloads; /* programs with sizes on machines with edits and noise … */
    size_t nruns;      /* … times policies times repetitions */
};

#define STUDY_MAX_RUNS 2000000

/* Reads the file. Errors: a message with file and line, and an exit code. *ret is for
 * study_done in any case. */
int study_read(const char *path, struct study *ret);
void study_done(struct study *study);

/* What each run is: repetition by repetition, workload by workload, policy by policy. */
struct study_run {
    const struct study_program *program;
    const struct study_size *size;
    const char *machine, *edits, *noise, *policy;
    size_t workload, policy_index, repetition;
    size_t machine_and_edit; /* machine by machine, edit by edit */
};
struct study_run study_run(const struct study *study, size_t which);
size_t study_run_number(const struct study *study, size_t workload, size_t policy,
                        size_t repetition);

/* "cholesky -size 960 on h100-pcie-4, cuda.count = 2": the parts of which the study has more
 * than one; owned. NULL without memory. */
char *study_workload_name(const struct study *study, size_t workload);
