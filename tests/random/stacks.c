/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/stacks.c - see stacks.h. */
#include "stacks.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char own_pid[16];
static int shown_on = -1;

/* In the debugger's process. */
static _Noreturn void become_gdb(void)
{
    dup2(shown_on, STDOUT_FILENO);
    dup2(shown_on, STDERR_FILENO);
    execlp("gdb", "gdb", "-nx", "-batch", "-p", own_pid, "-ex",
           "thread apply all backtrace 20", (char *)NULL);
    _exit(127);
}

static void show(int number)
{
    static const char why[] = "# it hangs; the stacks of its threads:\n";
    pid_t gdb;

    (void)!write(shown_on, why, strlen(why));
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    gdb = _Fork();
    if (gdb == 0)
        become_gdb();
    if (gdb > 0)
        waitpid(gdb, NULL, 0);
    /* It is blocked until this returns. */
    signal(number, SIG_DFL);
    raise(number);
}

void stacks_at_alarm(void)
{
    snprintf(own_pid, sizeof(own_pid), "%d", (int)getpid());
    shown_on = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    signal(SIGALRM, show);
}
