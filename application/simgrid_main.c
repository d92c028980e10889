/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * application/simgrid_main.c - the `main' of programs that are built for simulation alone
 * (pkg-config starpu-1.4-simgrid): their own is called starpu_main, as C or C++ has it.
 */
#include <stdio.h>

int starpu_main(int argc, char **argv, char **envp) __attribute__((weak));
int starpu_main_cxx(void) __asm__("_Z11starpu_mainv") __attribute__((weak));
int starpu_main_cxx_arguments(int argc, char **argv)
    __asm__("_Z11starpu_mainiPPc") __attribute__((weak));
int starpu_main_cxx_constants(int argc, char **argv)
    __asm__("_Z11starpu_mainiPPKc") __attribute__((weak));
int starpu_main_cxx_environment(int argc, char **argv, char **envp)
    __asm__("_Z11starpu_mainiPPcS0_") __attribute__((weak));

int main(int argc, char **argv, char **envp)
{
    if (starpu_main)
        return starpu_main(argc, argv, envp);
    if (starpu_main_cxx_arguments)
        return starpu_main_cxx_arguments(argc, argv);
    if (starpu_main_cxx)
        return starpu_main_cxx();
    if (starpu_main_cxx_constants)
        return starpu_main_cxx_constants(argc, argv);
    if (starpu_main_cxx_environment)
        return starpu_main_cxx_environment(argc, argv, envp);
    fprintf(stderr, "orrery: error: this program has no starpu_main: compile its "
                    "file with main with the flags of pkg-config --cflags "
                    "starpu-1.4-simgrid\n");
    return 1;
}
