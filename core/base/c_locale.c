/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/c_locale.c - see c_locale.h. */
#include "core/base/c_locale.h"

#include <errno.h>

int orr_c_locale_begin(struct orr_c_locale *locale)
{
    locale->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale->c)
        return -ENOMEM;
    locale->before = uselocale(locale->c);
    return 0;
}

void orr_c_locale_end(struct orr_c_locale *locale)
{
    uselocale(locale->before);
    freelocale(locale->c);
}
