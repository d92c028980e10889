/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/near.h - suggestions for mistyped names. One thread.
 */
#pragma once

#include "tools/perfmodel/perfmodel.h"

#include <stdbool.h>

/* Whether `name` may have been meant by `typed`: all of its letters occur in
 * the name in that order ("chol_gemm" in "chol_model_gemm"), the name is a part
 * of it, or they differ by few letters (a third of the shorter one, at least
 * one). Letter case does not count. False without memory. */
bool near_is(const char *typed, const char *name);

/* Suggests on stderr models of the place's host with similar names, if any. */
void near_suggest(const struct perfmodel_place *place, const char *typed);
