/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/spool.h - files without a name, for what is to become part of another
 * file. They are gone with the process, however that ends. One thread per file.
 */
#pragma once

#include <stdio.h>

/* One in the folder of `path`, so that its bytes can go to that file without leaving the
 * file system; the caller closes it. Errors: -ENOMEM, those of the system. */
int orr_spool_open(const char *path, FILE **ret);

/* Adds what it has from `begin` on behind what was written to `file`. Errors: those of
 * the system. */
int orr_spool_append(FILE *spool, size_t begin, FILE *file);
