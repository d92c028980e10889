/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/c_locale.h - numbers in files are written as in C, whatever locale
 * the application has set. Any thread.
 */
#pragma once

#include <locale.h>

/* Between begin and end the calling thread has the C locale. */
struct orr_c_locale {
    locale_t c, before;
};

/* Errors: -ENOMEM; there is then nothing to end. */
int orr_c_locale_begin(struct orr_c_locale *locale);
void orr_c_locale_end(struct orr_c_locale *locale);
