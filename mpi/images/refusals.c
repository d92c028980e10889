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

enum { MOST = 512 };

static const char *names[MOST];
static const char *why = "simulated ranks do not have this function of MPI: run the program under "
                         "mpirun, or record each rank (orrery record --ranks)";

void orr_refusals_say(const char *reason)
{
    why = reason;
}

static _Noreturn void refuse(unsigned number)
{
    orr_log_error("%s: %s", names[number], why);
    fflush(NULL);
    _Exit(EXIT_FAILURE);
}

#define ONE(n)                                                                 \
    static void refuse_##n(void)                                               \
    {                                                                          \
        refuse(0##n);                                                          \
    }
#define EIGHT(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7)
#define SIXTY_FOUR(n)                                                          \
    EIGHT(n##0) EIGHT(n##1) EIGHT(n##2) EIGHT(n##3) EIGHT(n##4) EIGHT(n##5)    \
    EIGHT(n##6) EIGHT(n##7)
SIXTY_FOUR(0) SIXTY_FOUR(1) SIXTY_FOUR(2) SIXTY_FOUR(3)
SIXTY_FOUR(4) SIXTY_FOUR(5) SIXTY_FOUR(6) SIXTY_FOUR(7)
#undef ONE
#undef EIGHT
#undef SIXTY_FOUR

/* In octal. */
#define EIGHT(n)                                                               \
    refuse_##n##0, refuse_##n##1, refuse_##n##2, refuse_##n##3, refuse_##n##4, \
        refuse_##n##5, refuse_##n##6, refuse_##n##7
#define SIXTY_FOUR(n)                                                          \
    EIGHT(n##0), EIGHT(n##1), EIGHT(n##2), EIGHT(n##3), EIGHT(n##4), EIGHT(n##5), \
        EIGHT(n##6), EIGHT(n##7)
static void (*const functions[MOST])(void) = {
    SIXTY_FOUR(0), SIXTY_FOUR(1), SIXTY_FOUR(2), SIXTY_FOUR(3),
    SIXTY_FOUR(4), SIXTY_FOUR(5), SIXTY_FOUR(6), SIXTY_FOUR(7)};
#undef EIGHT
#undef SIXTY_FOUR

/* Names that begin so are of functions that no other rank takes part in. */
static const char *const local[] = {
    "MPI_Type_", "MPI_Op_",    "MPI_Pack",   "MPI_Unpack",     "MPI_Info_",
    "MPI_Error_", "MPI_Errhandler_", "MPI_Get_count", "MPI_Get_elements", "MPI_Get_address",
    "MPI_Get_version", "MPI_Get_library_version", "MPI_Status_", "MPI_Alloc_mem",
    "MPI_Free_mem", "MPI_Wtick", "MPI_Reduce_local", "MPI_Add_error_", "MPI_Pcontrol",
    "MPI_Aint_", "MPI_Test_cancelled", "MPI_Address", "MPI_Attr_", "MPI_Message_",
    "MPI_Comm_c2f", "MPI_Comm_f2c", "MPI_Request_c2f", "MPI_Request_f2c", "MPI_Group_c2f",
    "MPI_Group_f2c", "MPI_File_c2f", "MPI_File_f2c", "MPI_Win_c2f", "MPI_Win_f2c",
    "MPI_Comm_create_keyval", "MPI_Comm_free_keyval", "MPI_Keyval_",
    "MPI_F_", "MPI_F08_" /* variables */};

bool orr_refusal_is_due(const char *name)
{
    name += *name == 'P'; /* the same by the name that profilers call, as Fortran's library does */
    if (strncmp(name, "MPI_", 4) != 0)
        return false;
    for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
        if (strncmp(name, local[i], strlen(local[i])) == 0)
            return false;
    return true;
}

bool orr_refusal_is_due_alone(const char *name)
{
    static const char *const own[] = {
        "MPI_Init",      "MPI_Final",      "MPI_Query_thread", "MPI_Is_thread_main",
        "MPI_Abort",     "MPI_Wtime",      "MPI_Get_processor_name", "MPI_Comm_dup",
        "MPI_Comm_free", "MPI_Comm_compare", "MPI_Comm_get_", "MPI_Comm_set_",
        "MPI_Comm_create_errhandler", "MPI_Wait", "MPI_Test", "MPI_Request_"};

    if (!orr_refusal_is_due(name))
        return false;
    name += *name == 'P';
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (strncmp(name, own[i], strlen(own[i])) == 0)
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
