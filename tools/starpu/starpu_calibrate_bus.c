/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/starpu_calibrate_bus.c - the program of that name: measures the
 * links between the memory nodes of this machine anew, as starpu_init does
 * where there are no measurements yet, and prints where they are stored. It
 * uses the public interface only. One thread.
 */
#include "tools/starpu/program.h"

#include <starpu.h>

#include <stdio.h>
#include <stdlib.h>

#define NAME "starpu_calibrate_bus"

static const char help[] =
    "usage: " NAME " [-f]\n"
    "Measures the links between the memory nodes of this machine and writes the\n"
    "bus files; orrery calibrate bus shows what it measures.\n"
    "  -f, --force    accepted: it always measures\n"
    "  -h, --help     this text\n"
    "  -v, --version  the version\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: starpu_calibrate_bus -f\n";

static int calibrate_this_bus(void)
{
    struct starpu_conf conf;

    /* This machine, even when programs are to be simulated on another. */
    unsetenv("ORRERY_MACHINE");
    setenv("STARPU_BUS_CALIBRATE", "1", 1);
    if (starpu_conf_init(&conf) != 0)
        return TOOL_FAILED;
    if (starpu_init(&conf) != 0)
        return TOOL_FAILED;
    starpu_bus_print_filenames(stdout);
    starpu_shutdown();
    return TOOL_OK;
}

int main(int argc, char **argv)
{
    bool forced, version = false; /* it measures in any case */
    const struct tool_option options[] = {
        {'f', "force", NULL, &forced}, {'v', "version", NULL, &version}, {0}};
    int noperands, code;

    noperands =
        starpu_program_parse(NAME, argc, argv, options, &version, help, &code);
    if (noperands < 0)
        return tool_close(code);
    if (noperands > 0)
        return tool_fail(TOOL_USAGE,
                         "%s is not understood; see " NAME " --help", argv[1]);
    return tool_close(calibrate_this_bus());
}
