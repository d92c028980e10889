/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/graph_text.h - graphs as text, docs/GRAPH.md: values survive writing
 * and reading to the last bit. Any thread, one at a time per graph.
 */
#pragma once

#include <stdio.h>

#include "bound/graph.h"

/* Limits of a file, so that none takes more memory than a few times its length,
 * and this much. */
enum {
    ORR_GRAPH_MAX_LINE = 1 << 23,      /* bytes */
    ORR_GRAPH_MAX_WORKERS = 1 << 16,   /* also memory nodes and links */
    ORR_GRAPH_MAX_DURATIONS = 1 << 24, /* types × workers */
};

/* Writes a graph that orr_graph_check accepts, in the C locale. Errors: -EIO,
 * -ENOMEM. */
int orr_graph_write(const struct orr_graph *graph, FILE *f);

/* The same to a file, which appears whole or not at all. Errors, with a
 * message: -EINVAL what could not be read again; those of the system;
 * -ENOMEM. */
int orr_graph_save(const struct orr_graph *graph, const char *path,
                   struct orr_error *err);

/* Reads a graph and checks it; `name` stands for the text in errors. Owned by
 * the caller. Errors: -EINVAL with "name:line: …", -EIO, -ENOMEM. */
int orr_graph_read(FILE *f, const char *name, struct orr_graph **ret,
                   struct orr_error *err);

/* The same of a file. Errors also: those of fopen. */
int orr_graph_load(const char *path, struct orr_graph **ret,
                   struct orr_error *err);
