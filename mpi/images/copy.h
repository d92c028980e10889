/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/images/copy.h - an object of this process, its executable or a library, loaded once
 * more. */
#pragma once

#include <link.h>

#include "core/base/error.h"

struct orr_copier;

/* Why copies of the executable could not stand for it: a sentence with the remedy. NULL:
 * they can. */
const char *orr_copy_trouble(void);

/* For so many copies of an object. Errors: -errno, with a message. The caller ends *ret
 * when all copies are made; they stay. */
int orr_copier_new(const struct link_map *object, unsigned ncopies, struct orr_copier **ret,
                   struct orr_error *err);
void orr_copier_free(struct orr_copier *copier);

/* One more, with variables of its own; its code is the original's memory, and its name that of
 * the original's file. Its constructors were not called. Errors as above. */
int orr_copier_load(struct orr_copier *copier, const struct link_map **ret,
                    struct orr_error *err);
