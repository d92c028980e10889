/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/images/originals.h - what each image has a copy of, with variables of its own: the
 * executable, and the application's libraries, which are those that need StarPU, StarPU-MPI or
 * MPI, and those that need one of these.
 */
#pragma once

#include "mpi/images/elf.h"
#include "mpi/images/image.h"

struct orr_originals;

/* For so many copies of each. Errors: -ENOMEM and others of orr_copier_new, with a message.
 * The caller ends *ret when all copies are made. */
int orr_originals_find(unsigned ncopies, struct orr_originals **ret, struct orr_error *err);
void orr_originals_free(struct orr_originals *originals);

/* Calls visit for each import of each of them, which may change its slot. Errors: -errno, with a
 * message. */
int orr_originals_each_import(const struct orr_originals *originals,
                              void (*visit)(const struct orr_import *import, void *arg),
                              void *arg, struct orr_error *err);

/* Makes the originals an image, or copies of them; main is at that offset of the executable.
 * The caller ends *image with orr_image_done. Errors, with a message: of orr_copier_load and
 * orr_image_patch. */
int orr_originals_use(const struct orr_originals *originals, size_t main, orr_finder find,
                      struct orr_image *image, struct orr_error *err);
int orr_originals_copy(struct orr_originals *originals, size_t main, orr_finder find,
                       struct orr_image *image, struct orr_error *err);
