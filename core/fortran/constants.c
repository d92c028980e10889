/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/fortran/constants.c - the constants of fstarpu_mod: by their names, and where a
 * program has the module, in it. The module is in Fortran, where variables of type(c_ptr)
 * begin as null pointers; there are numbers beside them.
 */
#include <string.h>

#include "core/fortran/fortran.h"

/* Of the program; missing in one that is not in Fortran. */
extern intptr_t fstarpu_values[] __attribute__((weak));
extern void *fstarpu_constants[] __attribute__((weak));

static void __attribute__((constructor)) set_constants(void)
{
    if (!fstarpu_values || !fstarpu_constants)
        return;
    for (intptr_t i = 0; i < fstarpu_values[0]; i++)
        fstarpu_constants[i] = (void *)fstarpu_values[i + 1];
}

void *fstarpu_get_constant(const char *s)
{
#define ROW(name, value) {#name, value},
    static const struct {
        const char *name;
        long value;
    } rows[] = {ORR_FORTRAN_CONSTANTS(ROW)};
#undef ROW

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strcmp(rows[i].name, s) == 0)
            return (void *)(intptr_t)rows[i].value;
    ORR_FORTRAN_FAIL("there is no constant \"%s\": the program was compiled with the "
                     "module of another version; compile fstarpu_mod.f90 again",
                     s);
}
