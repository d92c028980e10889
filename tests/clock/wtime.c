/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/clock/wtime.c - stands in for a library of MPI: its clock does not come from the C
 * library, so that only who answers MPI_Wtime itself can change what it says.
 */
double MPI_Wtime(void);
double MPI_Wtime(void)
{
    static double asked;

    return asked += 1000;
}
