/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/join_paje.h - the traces of all ranks as one Pajé file, for ViTE, PajeNG and
 * StarVZ: a container per rank, all on rank 0's clock, and a link for each message. One
 * thread.
 */
#pragma once

#include <stddef.h>

#include "core/base/error.h"

/* Writes `path` of the traces in CSV of n ranks; *ret_links is how many messages have links.
 * Errors, with a message: those of rank_traces_read and of the system. */
int join_paje(char *const *files, unsigned n, const char *path, size_t *ret_links,
              struct orr_error *err);
