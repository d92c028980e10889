/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inlines.c - the functions that the public headers define (_ORR_INLINE), for callers
 * that see their declarations alone.
 */
#define _ORR_DEFINE_INLINES
#include <starpu.h>
