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
struct orr_worker;

struct orr_omp_place {
    /* Whether a task looks for a thread here; then the thread that it was given. */
    _Alignas(64) _Atomic(uintptr_t) given;
};

/* Gives the thread to the task that looks for one at this place; false: none does. */
bool orr_omp_place_give(struct orr_omp_place *place,
                        struct orr_omp_task *thread);

/* The calling task looks for a thread for a moment, at its worker's place; NULL: none
 * came, or the worker got something else to do. */
struct orr_omp_task *orr_omp_place_look(struct orr_omp_place *place);

/* Whether the worker has something else to do: a kernel that may go on, or a task in its
 * own list. */
bool orr_omp_place_is_wanted(struct orr_worker *worker);
