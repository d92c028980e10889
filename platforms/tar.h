/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/tar.h - the table that the module "packed" hands out. What the
 * functions promise is said in packed.h, at orr_packed_parse and _format.
 */
#pragma once

#include <stddef.h>

#include "core/base/error.h"

struct orr_packed;

struct orr_tar_ops {
    int (*parse)(const char *path, const char *bytes, size_t size,
                 struct orr_packed **ret, struct orr_error *err);
    int (*format)(const struct orr_packed *packed, char **ret_bytes,
                  size_t *ret_size, struct orr_error *err);
};

/* The same for programs that link tar.c themselves, as fuzz-packed does. */
extern const struct orr_tar_ops orr_tar_ops;
