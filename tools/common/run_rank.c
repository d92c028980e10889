/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/run_rank.c - see run_rank.h. */
#include "tools/common/run_rank.h"

#include "tools/common/process.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child, asked;

/* Who ends this process means the rank. */
static void pass_on(int number)
{
    asked = number;
    if (child > 0)
        kill((pid_t)child, number);
}

static const int passed[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};

static void pass_signals_on(void)
{
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

    for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
        sigaction(passed[i], &action, NULL);
}

static _Noreturn void become(char *const *argv, pid_t parent)
{
    /* A launcher that kills this process only is to end the rank, too. */
    process_end_with(parent);
    execvp(argv[0], argv);
    tool_error("%s cannot be started: %s", argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* As the launchers number them. */
static const char *number_of_rank(void)
{
    const char *number = getenv("OMPI_COMM_WORLD_RANK");

    if (!number)
        number = getenv("PMI_RANK");
    return number ? number : "?";
}

static void tell_signal(int number)
{
    char host[HOST_NAME_MAX + 1] = "?";

    (void)gethostname(host, sizeof(host) - 1);
    /* In one piece: other ranks say something now, too. */
    dprintf(STDERR_FILENO, "orrery: rank %s (process %d on %s) was killed by signal %d, %s%s\n",
            number_of_rank(), (int)child, host, number, strsignal(number),
            number == SIGKILL ? ": by somebody, or, as the kernel's log says then, for want "
                                "of memory"
                              : "");
}

/* So that the launcher sees the signal, too; without a second core file. */
static void end_by(int number)
{
    struct rlimit none = {0};

    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    raise(number);
}

int run_rank(char *const *argv)
{
    pid_t parent = getpid();
    int status;

    pass_signals_on();
    child = fork();
    if (child < 0)
        return tool_fail(TOOL_FAILED, "%s cannot be started: %s", argv[0], strerror(errno));
    if (child == 0)
        become(argv, parent);
    while (waitpid((pid_t)child, &status, 0) < 0)
        if (errno != EINTR)
            return tool_fail(TOOL_FAILED, "waiting for %s: %s", argv[0], strerror(errno));
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    if (!asked)
        tell_signal(WTERMSIG(status));
    end_by(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}
