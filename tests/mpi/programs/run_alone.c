/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/run_alone.c - a main in front of app_main that adds nothing. */
#include "wave.h"

int main(int argc, char **argv)
{
    return app_main(argc, argv);
}
