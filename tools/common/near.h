/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/near.h - suggestions for mistyped names of models. One thread.
 */
#pragma once

#include "tools/perfmodel/perfmodel.h"

/* Suggests on stderr models of the place's host with similar names, if any. */
void near_suggest(const struct perfmodel_place *place, const char *typed);
