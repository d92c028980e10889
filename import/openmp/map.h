/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/openmp/map.h - numbers of the log and what they stand for. One thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* All zero at the beginning. */
struct omp_map {
    struct omp_map_entry *entries; /* owned: as many as `room`, a power of two */
    size_t room, used;
};

/* NULL: it stands for nothing. */
void *omp_map_find(const struct omp_map *map, uint64_t number);

/* Lets the number stand for that. Errors: -ENOMEM. */
int omp_map_set(struct omp_map *map, uint64_t number, void *value);
void omp_map_forget(struct omp_map *map, uint64_t number);
void omp_map_done(struct omp_map *map);
