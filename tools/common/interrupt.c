/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/interrupt.c - see interrupt.h. */
#include "tools/common/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/scratch.h"

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NSIGNALS = sizeof(numbers) / sizeof(*numbers) };

/* A signal handler can reach nothing but file-scope variables. */
static interrupt_fn *volatile taken;
static const char *volatile said;

static void write_to_stderr(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* there is no reader */
}

_Noreturn void interrupt_end(int number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t set;

    if (said) {
        write_to_stderr("\n");
        write_to_stderr(program_invocation_short_name);
        write_to_stderr(": interrupted: ");
        write_to_stderr(said);
        write_to_stderr("\n");
    }
    scratch_remove_all();
    sigaction(number, &usual, NULL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    _exit(128 + number);
}

static void on_interrupt(int number)
{
    int saved = errno;

    if (taken)
        taken(number);
    else
        interrupt_end(number);
    errno = saved;
}

void interrupt_begin(void)
{
    struct sigaction before, action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};

    for (unsigned i = 0; i < NSIGNALS; i++)
        sigaddset(&action.sa_mask, numbers[i]);
    for (unsigned i = 0; i < NSIGNALS; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

interrupt_fn *interrupt_take(interrupt_fn *handler)
{
    interrupt_fn *before = taken;

    taken = handler;
    return before;
}

void interrupt_forget(void)
{
    struct sigaction now, usual = {.sa_handler = SIG_DFL};

    for (unsigned i = 0; i < NSIGNALS; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == on_interrupt)
            sigaction(numbers[i], &usual, NULL);
}

void interrupt_says(const char *message)
{
    said = message;
}
