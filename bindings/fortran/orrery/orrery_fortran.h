/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * orrery_fortran.h - what the module `orrery` calls, on the public headers. Its descriptors of
 * arrays (ISO_Fortran_binding.h) are those of one Fortran compiler, with which this is
 * built. Functions return 0 or a negative errno, and leave a sentence for the module's
 * errmsg (orrery_fortran_message). Any thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ISO_Fortran_binding.h>

#include <starpu.h>

enum { MOST_DIMENSIONS = 4, MOST_FILTERS = 4, MOST_ARGUMENTS = 16, SMALL_VALUE = 32 };

/* An array as it lies: in dimension k there are n[k] elements, `stride` bytes apart. */
struct layout {
    char *at;
    size_t element;
    int rank;
    size_t n[MOST_DIMENSIONS];
    ptrdiff_t stride[MOST_DIMENSIONS];
};

/* One argument of submit: type(access) of the module. */
struct access {
    int mode;  /* of data; 0: a value; -1: an error, … */
    int owned; /* … which is this; else 1: `at` is of malloc(), and submit frees it */
    void *at; /* the handle; of a value its bytes, NULL: they are in `small` */
    size_t size;
    char small[SMALL_VALUE];
};

/* How data are cut: type(filter). */
struct cut {
    int parts, dimension, shadow;
};

/* How many variables but one stand for an object, which ends with the last one. */
struct shared {
    atomic_int n;
};

/* type(task)'s. */
struct kept_task {
    struct shared shared; /* first */
    struct starpu_task *task; /* NULL: it was waited for */
};

/* type(codelet)'s. */
struct kernels {
    struct shared shared; /* first */
    struct starpu_codelet cl;
    bool known; /* `cl` has the modes of the first task */
    char *name;
};

/* Keeps the sentence for this thread, and returns err. */
int complain(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads a descriptor; -EINVAL where no layout of data is so. */
int layout_of(const CFI_cdesc_t *array, struct layout *ret);
/* The bytes from its first one to its last one. */
size_t layout_span(const struct layout *layout);
/* Whether both have an element in common, of elements of equal size. */
bool layouts_meet(const struct layout *one, const struct layout *other);
bool layouts_are_equal(const struct layout *one, const struct layout *other);
/* Registers such data in main memory. */
int layout_register(const struct layout *layout, starpu_data_handle_t *ret);

/* The handle of data by the number that type(data) has, or of a part of it; NULL, after a
 * complaint. Indices count from 1; those that are 0 are not given. */
starpu_data_handle_t data_find(int64_t number, const int *indices);
/* That of an array that a task uses itself: registered with the first one. */
int data_of_array(const struct layout *layout, starpu_data_handle_t *ret);
