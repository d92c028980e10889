/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/places.h - processors whose thread has ended a region of main's and looks
 * for the next one for a moment, before its task ends: that begins there at once,
 * without a task.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct orr_omp_task;

struct orr_omp_place {
    /* Nobody looks, somebody does, or the thread that he has got. */
    _Alignas(64) _Atomic(uintptr_t) given;
};

/* Gives the thread to who looks for one there; false: nobody does. */
bool orr_omp_place_give(struct orr_omp_place *place,
                        struct orr_omp_task *thread);

/* Looks for a thread there, unless the worker, the caller's, gets something else to
 * do; NULL: none came. */
struct orr_omp_task *orr_omp_place_look(struct orr_omp_place *place);
