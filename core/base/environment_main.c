/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/environment_main.c - prints docs/ENVIRONMENT.md; a build-time
 * program of one thread. */
#include "core/base/config.h"

int main(void)
{
    orr_config_print(stdout);
    return ferror(stdout) ? 1 : 0;
}
