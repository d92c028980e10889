/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/plural.h - the letter that makes an English noun plural. Any thread. */
#pragma once

#include <stddef.h>

static inline const char *orr_plural(size_t n)
{
    return n == 1 ? "" : "s";
}
