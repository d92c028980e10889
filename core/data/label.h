/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/label.h - how messages call data, and what limits memory. No lock, no
 * memory.
 */
#pragma once

struct orr_handle;
struct orr_runtime;

enum { ORR_DATA_NAME = 80 };

struct orr_label {
    char text[ORR_DATA_NAME];
};

/* Name and coordinates, "A(3,4)"; a piece without a name has those of its whole and its
 * number, "A(3,4)[1]"; data without a name have their number, "data number 7". */
struct orr_label orr_handle_label(const struct orr_handle *handle);

/* The same as words of a sentence: "data `A(3,4)'", "data number 7". */
struct orr_label orr_handle_words(const struct orr_handle *handle);

/* The variable that limits the node's memory, or words for that. */
const char *orr_memory_limit(const struct orr_runtime *rt, unsigned node);
