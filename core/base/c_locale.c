/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/c_locale.c - see c_locale.h. */
#include "core/base/c_locale.h"

/* The C library has that locale ready: no memory is taken. Without it the thread keeps its
 * own. */
struct orr_c_locale orr_c_locale_begin(void)
{
    struct orr_c_locale locale = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};

    if (locale.c)
        locale.before = uselocale(locale.c);
    return locale;
}

void orr_c_locale_end(struct orr_c_locale locale)
{
    if (!locale.c)
        return;
    uselocale(locale.before);
    freelocale(locale.c);
}
