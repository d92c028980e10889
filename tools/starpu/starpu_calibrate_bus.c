/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/starpu_calibrate_bus.c - the program of that name: measures the
 * links between the memory nodes of this machine anew, as starpu_init does
 * where there are no measurements yet, and prints where they are stored. It
 * uses the public interface only. One thread.
 */
#include <starpu.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "starpu_calibrate_bus"

/* Exit codes. */
enum { OK = 0, FAILED = 1, USAGE = 2 };

static const char help[] =
    "usage: " NAME " [-f]\n"
    "Measures the links between the memory nodes of this machine and writes the "
    "bus\n"
    "files; orrery calibrate bus shows what it measures.\n"
    "  -f, --force    what happens anyway\n"
    "  -h, --help     this text\n"
    "  -v, --version  the version\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: starpu_calibrate_bus -f\n";

static int is_option(const char *word, char letter, const char *name)
{
    return (word[0] == '-' && word[1] == letter && word[2] == '\0') ||
           strcmp(word, name) == 0;
}

/* What was printed is where it was to go. */
static int end_output(void)
{
    if (fflush(stdout) == 0)
        return OK;
    perror(NAME ": standard output");
    return FAILED;
}

static int calibrate_this_bus(void)
{
    struct starpu_conf conf;

    /* This machine, even when programs are to be simulated on another. */
    unsetenv("ORRERY_MACHINE");
    setenv("STARPU_BUS_CALIBRATE", "1", 1);
    if (starpu_conf_init(&conf) != 0)
        return FAILED;
    if (starpu_init(&conf) != 0)
        return FAILED;
    starpu_bus_print_filenames(stdout);
    starpu_shutdown();
    return end_output();
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (is_option(argv[i], 'h', "--help")) {
            fputs(help, stdout);
            return end_output();
        }
        if (is_option(argv[i], 'v', "--version")) {
            puts(NAME " (Orrery) " ORR_VERSION);
            return end_output();
        }
        if (!is_option(argv[i], 'f', "--force")) {
            fprintf(stderr,
                    NAME ": %s is not understood; see " NAME " --help\n",
                    argv[i]);
            return USAGE;
        }
    }
    return calibrate_this_bus();
}
