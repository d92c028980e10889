/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/images/refusals.c - see refusals.h. A function in the place of another one is not told
 * its name: there is one for each name.
 */
#include "mpi/images/refusals.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"

enum { MOST = 64 };

static const char *names[MOST];

static _Noreturn void refuse(unsigned number)
{
    orr_log_error("%s: simulated ranks do not have this function of MPI: run the program under "
                  "mpirun, or record each rank (orrery record --ranks)",
                  names[number]);
    fflush(NULL);
    _Exit(EXIT_FAILURE);
}

#define ONE(n)                                                                 \
    static void refuse_##n(void)                                               \
    {                                                                          \
        refuse(0##n);                                                          \
    }
#define EIGHT(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7)
EIGHT(0) EIGHT(1) EIGHT(2) EIGHT(3) EIGHT(4) EIGHT(5) EIGHT(6) EIGHT(7)
#undef ONE
#undef EIGHT

/* In octal. */
#define EIGHT(n)                                                               \
    refuse_##n##0, refuse_##n##1, refuse_##n##2, refuse_##n##3, refuse_##n##4, \
        refuse_##n##5, refuse_##n##6, refuse_##n##7
static void (*const functions[MOST])(void) = {EIGHT(0), EIGHT(1), EIGHT(2), EIGHT(3),
                                              EIGHT(4), EIGHT(5), EIGHT(6), EIGHT(7)};
#undef EIGHT

/* Names that begin so are of functions that no other rank takes part in. */
static const char *const local[] = {
    "MPI_Type_", "MPI_Op_",    "MPI_Pack",   "MPI_Unpack",     "MPI_Info_",
    "MPI_Error_", "MPI_Errhandler_", "MPI_Get_count", "MPI_Get_elements", "MPI_Get_address",
    "MPI_Get_version", "MPI_Get_library_version", "MPI_Status_", "MPI_Alloc_mem",
    "MPI_Free_mem", "MPI_Wtick", "MPI_Reduce_local", "MPI_Add_error_", "MPI_Pcontrol",
    "MPI_Aint_", "MPI_Test_cancelled", "MPI_Address", "MPI_Attr_"};

bool orr_refusal_is_due(const char *name)
{
    if (strncmp(name, "mpi_", 4) == 0) /* of Fortran */
        return true;
    if (strncmp(name, "MPI_", 4) != 0)
        return false;
    for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
        if (strncmp(name, local[i], strlen(local[i])) == 0)
            return false;
    return true;
}

void (*orr_refusal_of(const char *name))(void)
{
    for (unsigned i = 0; i < MOST; i++) {
        if (!names[i])
            names[i] = name;
        if (strcmp(names[i], name) == 0)
            return functions[i];
    }
    return NULL;
}
