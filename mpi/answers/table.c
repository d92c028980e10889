/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/answers/table.c - which function stands for which of MPI's. */
#include <string.h>

#include "mpi/answers/answers.h"

orr_answer orr_answers_find(const char *name)
{
#define FORTRAN(name) {"mpi_" #name "_", (orr_answer)orr_answer_of_##name},
#define ROW(name) {"MPI_" #name, (orr_answer)orr_answer_##name},
    static const struct {
        const char *name;
        orr_answer function;
    } rows[] = {ORR_ANSWERS(ROW) ORR_ANSWERS_NUMBERS(ROW) ORR_ANSWERS_FORTRAN(FORTRAN)};
#undef ROW
#undef FORTRAN

    name += *name == 'P'; /* as profilers call it, and Fortran's library */
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].function;
    return NULL;
}
