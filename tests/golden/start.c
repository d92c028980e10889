/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/golden/start.c - a program that begins and ends. */
#include <starpu.h>

int main(void)
{
    if (starpu_init(NULL) != 0)
        return 1;
    starpu_shutdown();
    return 0;
}
