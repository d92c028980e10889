/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/answers/answers.c - see answers.h. */
#include "mpi/answers/answers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/number.h"
#include "mpi/images/image.h"

struct orr_answers *orr_answers(void)
{
    struct orr_simulated_place *place = orr_simulated_place();
    struct orr_answers *answers = place->own;
    int self = place->rank;

    if (answers)
        return answers;
    answers = calloc(1, sizeof(*answers));
    if (answers)
        answers->comms = calloc(2, sizeof(*answers->comms));
    if (!answers || !answers->comms)
        orr_answers_fail("MPI_Init", "out of memory");
    answers->ncomms = 2;
    answers->comms[0].simulated = orr_simulated_world(place->net);
    answers->comms[0].rank = self;
    answers->comms[0].size = orr_simulated_comm_size(answers->comms[0].simulated);
    answers->comms[1].simulated = orr_simulated_comm_new(place->net, &self, 1);
    answers->comms[1].size = 1;
    place->own = answers;
    return answers;
}

void orr_answers_end(void)
{
    struct orr_simulated_place *place = orr_simulated_place();
    struct orr_answers *answers = place->own;

    if (!answers)
        return;
    for (size_t i = 0; i < answers->nrequests; i++) {
        free(answers->requests[i]->plan);
        free(answers->requests[i]);
    }
    for (size_t i = 0; i < answers->ngroups; i++)
        free(answers->groups[i]);
    free(answers->groups);
    free(answers->requests);
    free(answers->comms);
    free(answers);
    place->own = NULL;
}

void orr_answers_fail(const char *call, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    orr_vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    orr_log_error("%s: rank %d: %s", call, orr_simulated_place()->rank, text);
    fflush(NULL);
    _Exit(EXIT_FAILURE);
}

/* --- handles --- */

MPI_Comm orr_answers_comm_in(MPI_Comm comm)
{
    return (MPI_Comm)(intptr_t)orr_image_shared((void *)(intptr_t)comm);
}

MPI_Comm orr_answers_comm_out(MPI_Comm comm)
{
    return (MPI_Comm)(intptr_t)orr_image_private((void *)(intptr_t)comm);
}

MPI_Request orr_answers_request_in(MPI_Request request)
{
    return (MPI_Request)(intptr_t)orr_image_shared((void *)(intptr_t)request);
}

MPI_Request orr_answers_request_out(MPI_Request request)
{
    return (MPI_Request)(intptr_t)orr_image_private((void *)(intptr_t)request);
}

/* --- datatypes --- */

size_t orr_answers_size(int count, MPI_Datatype type)
{
    int size = 0;

    PMPI_Type_size(type, &size);
    return (size_t)size * (size_t)count;
}

size_t orr_answers_extent(int count, MPI_Datatype type)
{
    MPI_Aint lower = 0, extent = 0;

    PMPI_Type_get_extent(type, &lower, &extent);
    return (size_t)extent * (size_t)count;
}

bool orr_answers_is_dense(MPI_Datatype type)
{
    MPI_Aint lower = 0, extent = 0;

    PMPI_Type_get_extent(type, &lower, &extent);
    return lower == 0 && (size_t)extent == orr_answers_size(1, type);
}

void orr_answers_pack(const void *from, int count, MPI_Datatype type, void *bytes)
{
    size_t size = orr_answers_size(count, type);
    int at = 0;

    if (size && orr_answers_is_dense(type))
        memcpy(bytes, from, size);
    else if (size)
        PMPI_Pack(from, count, type, bytes, (int)size, &at, MPI_COMM_SELF);
}

void orr_answers_unpack(const void *bytes, size_t size, void *to, int count,
                        MPI_Datatype type)
{
    size_t one = orr_answers_size(1, type);
    int at = 0;

    if (size && orr_answers_is_dense(type))
        memcpy(to, bytes, size);
    else if (size)
        PMPI_Unpack(bytes, (int)size, &at, to, one ? (int)(size / one) : count, type,
                    MPI_COMM_SELF);
}
