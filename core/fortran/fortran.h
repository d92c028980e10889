/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/fortran/fortran.h - what the module fstarpu_mod calls: declared by
 * bindings/fortran/fstarpu.txt, of which fstarpu_core.h is made; here what its functions
 * share. A caller's mistake that a function cannot return ends the program, with a
 * message that names the call. Any thread.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

#include "core/base/log.h"
#include "bindings/fortran/fstarpu_core.h"

/* A copy of the text that is there until the process ends, the same one for equal texts;
 * NULL of NULL. Without memory the program ends. */
const char *orr_fortran_keep(const char *call, const char *text);

/* Frees an object, NULL or of orr_fortran_new, once the library is not initialised: now,
 * or with a later one. */
void orr_fortran_retire(const char *call, void *object);

/* A zeroed object of malloc(); without memory the program ends. */
void *orr_fortran_new(const char *call, size_t n, size_t size);

/* Ends the program after a message. */
#define ORR_FORTRAN_FAIL(format, ...)                                          \
    do {                                                                       \
        orr_log_error("%s: " format, __func__, __VA_ARGS__);                   \
        abort();                                                               \
    } while (0)

/* Ends the program if a number is not in the range. */
#define ORR_FORTRAN_RANGE(what, number, least, most)                           \
    do {                                                                       \
        if ((number) < (least) || (number) > (most))                           \
            ORR_FORTRAN_FAIL("%s %d is none of %d to %d", what, number, least, \
                             most);                                            \
    } while (0)
