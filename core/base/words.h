/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/words.h - which word was meant by a mistyped one. No state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether `name` may have been meant by `typed`: all of its letters occur in
 * the name in that order ("chol_gemm" in "chol_model_gemm"), the name is a part
 * of it, or they differ by few letters (a third of the shorter one, at least
 * one). Letter case does not count. False without memory. */
bool orr_words_near(const char *typed, const char *name);

/* Letters to insert, drop, replace or swap with the next one to make `b` from
 * `a`. SIZE_MAX without memory. */
size_t orr_words_distance(const char *a, const char *b);

/* Letters that may differ between a mistyped word and the name that was meant: a
 * third of the shorter one, at least one where it has more than one. */
size_t orr_words_tolerance(const char *typed, const char *name);

/* The name that is nearest to what was typed, as returned by `name(list, i)`
 * for i = 0 …, NULL at the end; the first of several. NULL when none is near:
 * a third of the letters, at least one, differ. Lent by the list. */
const char *orr_words_nearest(const char *typed, const void *list,
                          const char *(*name)(const void *list, size_t i));
