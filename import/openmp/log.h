/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/openmp/log.h - reads the log of an OpenMP program (record/openmp/log.h): the
 * events of all threads in the order of their dates. No number in it is trusted. One
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"
#include "record/openmp/log.h"

struct omp_log;

/* One event; `thread` counts from 0. `text` is that of ORR_OMP_CODE and ORR_OMP_DATUM, else NULL. Lent until
 * the log is closed. */
struct omp_log_event {
    const struct orr_omp_event *event;
    size_t thread;
    const char *text;
};

/* Errors, with a message: -EINVAL, -ENOMEM, those of the system. */
int omp_log_open(const char *path, struct omp_log **ret, struct orr_error *err);
void omp_log_close(struct omp_log *log);

const struct orr_omp_header *omp_log_header(const struct omp_log *log);
size_t omp_log_threads(const struct omp_log *log);

/* The next one; false at the end. */
bool omp_log_next(struct omp_log *log, struct omp_log_event *ret);

/* Back to the first one. */
void omp_log_rewind(struct omp_log *log);
