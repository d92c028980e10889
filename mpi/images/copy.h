/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/images/copy.h - the executable of this process, loaded once more. */
#pragma once

#include <link.h>

#include "core/base/error.h"

struct orr_copier;

/* Why copies of the executable could not stand for it: a sentence with the remedy. NULL:
 * they can. */
const char *orr_copy_trouble(void);

/* Errors: -errno, with a message. The caller ends *ret when all copies are made; they
 * stay. */
int orr_copier_new(unsigned ncopies, struct orr_copier **ret, struct orr_error *err);
void orr_copier_free(struct orr_copier *copier);

/* One more, with variables of its own, its constructors run; its code is the executable's
 * memory. Errors likewise. */
int orr_copier_load(struct orr_copier *copier, const struct link_map **ret,
                    struct orr_error *err);
