/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/print.h - a program as C that needs <starpu.h> alone. */
#pragma once

#include <stdio.h>

#include "program.h"

/* Prints the legal program with the command that builds and runs it; `text`
 * says what is wrong with it. It ends with 0 when all is as it must be. */
void program_print(FILE *out, const struct program *program, const char *text);
