/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/images/image.h - the program of a rank: the executable or a copy of it, with what the C
 * library has once for a process and a program for itself: the end by exit, functions of
 * atexit, states of getopt, rand, drand48 and strtok.
 */
#pragma once

#include <link.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "mpi/images/elf.h"

struct orr_context;
struct orr_image_handler;

/* A variable of a library, and the image's copy of it. */
struct orr_image_copy {
    void *own, *shared;
};

/* A copy of an object, and what is to be called before main. */
struct orr_image_part {
    const struct link_map *copy;
    struct orr_elf_constructors constructors;
};

struct orr_image {
    const struct link_map *object;
    struct orr_image_part *parts; /* owned; of copies, the executable's is the last */
    unsigned nparts;
    int (*main)(int argc, char **argv, char **environment);
    int status; /* with which it has ended */
    struct orr_image_copy *copies; /* owned */
    size_t ncopies;

    /* image.c */
    struct orr_context *context; /* that main runs on, NULL: it does not */
    char **arguments;            /* of main; owned */
    jmp_buf leave;               /* back to who has called main */
    struct orr_image_handler *handlers; /* owned; the last one first */
    char *token;                 /* of strtok */
    char **optarg;               /* these four: its variables */
    int *optind, *opterr, *optopt;
    bool parses;                 /* it has called getopt */
    struct random_data random;
    char random_state[128];
    struct drand48_data drand48;
    void *status_ignore[2]; /* MPICH's: where the program has Fortran's MPI_STATUS_IGNORE … */
};

/* A function that stands for another one, as orr_answers_find has them. */
typedef void (*orr_function)(void);
typedef orr_function (*orr_finder)(const char *name);

/* Makes an image of an object whose main is at that offset. */
void orr_image_init(struct orr_image *image, const struct link_map *object, size_t main);
void orr_image_done(struct orr_image *image);

/* Variables of libraries whose names begin like that, of which the image has copies, are
 * as the libraries' are now. -ENOMEM. */
int orr_image_copy_variables(struct orr_image *image, const char *prefix);

/* Puts the functions that `find` has, and images' own, in the place of those that the object
 * imports. A function of MPI that nobody has is refused by its name when it is called. The
 * image is filled by orr_image_init later. Errors: -errno, with a message. */
int orr_image_patch(struct orr_image *image, const struct link_map *object, orr_finder find,
                    struct orr_error *err);

/* Runs it, on the calling context, as the rank's: the constructors of copies, main with a
 * copy of its arguments, then the functions of atexit. Returns when it has returned or called exit. */
void orr_image_run(struct orr_image *image, int argc, char **argv, char **environment);

/* The image that the caller belongs to, NULL: none. Set before images run. */
extern struct orr_image *(*orr_image_current)(void);

/* The library's variable of which the caller's image has a copy at that address, as Open
 * MPI's handles are; any other address is returned as it is. And back. */
void *orr_image_shared(void *address);
void *orr_image_private(void *address);
