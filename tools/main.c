/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/main.c - the `orrery` command: finds the sub-command and calls it.
 * One thread.
 */
#include "tools/tool.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"run", cmd_run, "run a program, for real or on a simulated machine"},
    {"calibrate", cmd_calibrate, "measure a program's kernels until known"},
    {"compare", cmd_compare, "compare machines and schedulers in one table"},
    {"machine", cmd_machine, "list, show or copy machines"},
    {"perfmodel", cmd_perfmodel, "look at measured kernel times, move them"},
    {"trace", cmd_trace, "run a program and draw what its workers did"},
    {"validate", cmd_validate, "compare real and simulated runs, find drift"},
};

#define NCOMMANDS (sizeof(commands) / sizeof(*commands))

static void print_help(FILE *file)
{
    fputs("usage: orrery COMMAND [OPTIONS] [-- PROGRAM ARGUMENTS]\n"
          "Runs task-based programs on machines one has, or has not.\n\n",
          file);
    for (size_t i = 0; i < NCOMMANDS; i++)
        fprintf(file, "  %-9s %s\n", commands[i].name, commands[i].what);
    fputs("\norrery COMMAND --help says more.\n"
          "example: orrery compare -m MACHINE -s eager,dmdas -- ./cholesky\n",
          file);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return TOOL_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_help(stdout);
        return TOOL_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("orrery " ORR_VERSION);
        return TOOL_OK;
    }
    for (size_t i = 0; i < NCOMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    tool_error("there is no command %s; see orrery --help", argv[1]);
    return TOOL_USAGE;
}
