/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/late.c - preloaded: `orrery debug` calls personality in the child, before it starts
 * the program there. The child makes the file LATE_FILE, and waits until the debugger has ended.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int personality(unsigned long persona);

int personality(unsigned long persona)
{
    pid_t debugger = getppid();
    const char *path = getenv("LATE_FILE");

    (void)persona;
    if (path)
        close(open(path, O_WRONLY | O_CREAT, 0600));
    while (path && getppid() == debugger)
        usleep(10000);
    return 0;
}
