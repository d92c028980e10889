/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/trial.c - see trial.h. */
#include "trial.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leaks.h"
#include "run.h"
#include "stacks.h"

enum { EXIT_DEADLOCK = 3 }; /* of a simulation in which nothing moves */

/* Who waits for less tries whether a smaller program hangs, too. */
enum { LONG_S = 10 };

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = {
        [PASSED] = "passed",
        [WRONG] = "wrong bytes",
        [MISPLACED] = "another worker",
        [MISCOUNTED] = "not once",
        [PASSED_OVER] = "another order",
        [CROWDED] = "no exclusion",
        [REFUSED] = "a call was refused",
        [GAVE_UP] = "the library gave up",
        [DEADLOCK] = "a deadlock",
        [HANG] = "it hangs",
        [CRASH] = "a crash",
    };

    return names[outcome];
}

/* -- the child -- */

static _Noreturn void be_child(const struct program *program, unsigned limit_s,
                               struct trial *trial)
{
    bool done;

    if (limit_s >= LONG_S)
        stacks_at_alarm();
    else
        signal(SIGALRM, SIG_DFL);
    dup2(trial->log, STDERR_FILENO);
    done = run_program(program, limit_s, trial->report);
    fflush(NULL);
    leaks_end();
    _exit(!done || atomic_load(&trial->report->outcome) != PASSED);
}

/* -- the parent -- */

static struct report *share(void)
{
    void *report = mmap(NULL, sizeof(struct report), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return report == MAP_FAILED ? NULL : report;
}

static void forget(struct trial *trial)
{
    if (trial->report)
        munmap(trial->report, sizeof(*trial->report));
    if (trial->log >= 0)
        close(trial->log);
    trial->pid = 0;
}

int trial_start(const struct program *program, unsigned limit_s,
                struct trial *ret)
{
    struct trial trial = {.log = memfd_create("log", 0), .report = share()};
    int err = 0;

    if (trial.log < 0 || !trial.report) {
        err = -errno;
        forget(&trial);
        return err;
    }
    fflush(NULL);
    trial.pid = fork();
    if (trial.pid == 0)
        be_child(program, limit_s, &trial);
    if (trial.pid < 0) {
        err = -errno;
        forget(&trial);
        return err;
    }
    *ret = trial;
    return 0;
}

static void read_log(int log, char *text, size_t size)
{
    off_t length = lseek(log, 0, SEEK_END);
    off_t from = length > (off_t)size - 1 ? length - (off_t)size + 1 : 0;
    ssize_t n = pread(log, text, size - 1, from);

    text[n > 0 ? n : 0] = '\0';
}

/* Which calls the threads were in. */
static void add_calls(const struct report *report, struct verdict *ret)
{
    for (unsigned t = 0; t < MAX_THREADS; t++) {
        unsigned call = atomic_load(&report->calls[t]);
        size_t n = strlen(ret->text);

        if (call)
            snprintf(ret->text + n, sizeof(ret->text) - n,
                     ", thread %u is in call %u", t, call - 1);
    }
}

static void judge_status(int status, struct verdict *ret)
{
    if (WIFSIGNALED(status)) {
        ret->outcome = WTERMSIG(status) == SIGALRM ? HANG : CRASH;
        snprintf(ret->text, sizeof(ret->text), "signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        ret->outcome =
            WEXITSTATUS(status) == EXIT_DEADLOCK ? DEADLOCK : GAVE_UP;
        snprintf(ret->text, sizeof(ret->text), "exit status %d",
                 WEXITSTATUS(status));
    }
}

static void judge(const struct trial *trial, int status, struct verdict *ret)
{
    const struct report *report = trial->report;

    memset(ret, 0, sizeof(*ret));
    ret->digest = report->digest;
    ret->nordered = report->nordered;
    ret->graph = atomic_load(&report->graph);
    if (atomic_load(&report->ready)) {
        ret->outcome = (enum outcome)atomic_load(&report->outcome);
        ret->graph = report->failed;
        snprintf(ret->text, sizeof(ret->text), "%s", report->text);
    } else {
        judge_status(status, ret);
        add_calls(report, ret);
    }
    read_log(trial->log, ret->log, sizeof(ret->log));
}

int trials_wait(struct trial *trials, unsigned n, struct verdict *ret)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(n == 1 ? trials->pid : -1, &status, 0);

        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            return -1;
        for (unsigned i = 0; i < n; i++)
            if (trials[i].pid == pid) {
                judge(&trials[i], status, ret);
                forget(&trials[i]);
                return (int)i;
            }
    }
}

struct verdict trial_run(const struct program *program, unsigned limit_s)
{
    struct trial trial;
    struct verdict verdict;
    int err = trial_start(program, limit_s, &trial);

    if (err) {
        fprintf(stderr, "no process can be started: %s\n", strerror(-err));
        abort();
    }
    (void)trials_wait(&trial, 1, &verdict);
    return verdict;
}
