/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/library.h - what the libraries of library.c export. */
#pragma once

extern int library_public;

void library_begin(void *comm); /* an MPI_Comm */
int library_add(int n);
int above_add(int n);
