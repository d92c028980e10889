/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/steps/objects.h - slabs whose objects are allocations of their own, to
 * see whether one is used when it was given back. They take the place of
 * core/base/slab.c.
 */
#pragma once

/* From now on objects are counted. */
void objects_begin(void);

/* All objects were given back, and none was written since. */
void objects_end(void);
