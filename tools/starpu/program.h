/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/program.h - the command line of the programs with StarPU's
 * names. One thread.
 */
#pragma once

#include "tools/common/tool.h"

/* Reads the options of the program `name`; `version` is the flag of -v. Returns
 * how many operands there are, from argv[1] on; or -1 when the program is to end
 * at once, with *ret_code: help or the version was asked for, or an option is
 * wrong. */
int starpu_program_parse(const char *name, int argc, char **argv,
                         const struct tool_option *options, const bool *version,
                         const char *help, int *ret_code);
