/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/c_locale.h - the C locale, for other libraries that print and read numbers.
 * Ours are in number.h. Any thread.
 */
#pragma once

#include <locale.h>

/* Between begin and end the calling thread has the C locale. */
struct orr_c_locale {
    locale_t c, before;
};

struct orr_c_locale orr_c_locale_begin(void);
void orr_c_locale_end(struct orr_c_locale locale);
