/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/process.c - see process.h. Children stay in this process group,
 * so that the terminal's interrupt reaches them; a signal to this process alone
 * is passed on. A self-pipe makes both visible to poll.
 */
#include "tools/common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/tool.h"

/* A signal handler can reach nothing but a file-scope variable. Written by
 * signals_init before handlers are in place. */
static int self_pipe[2] = {-1, -1};

static const double most_to_save_s = 60, soon_s = 2;

struct signals {
    struct sigaction interrupt, terminate, child;
};

static void on_child_or_signal(int number)
{
    int saved = errno;
    char byte = (char)number;
    ssize_t ignored = write(self_pipe[1], &byte, 1);

    (void)ignored;
    errno = saved;
}

static int signals_init(struct signals *saved)
{
    struct sigaction action = {.sa_handler = on_child_or_signal,
                               .sa_flags = SA_RESTART};

    if (pipe2(self_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    sigaction(SIGINT, &action, &saved->interrupt);
    sigaction(SIGTERM, &action, &saved->terminate);
    sigaction(SIGCHLD, &action, &saved->child);
    return 0;
}

static void signals_done(const struct signals *saved)
{
    sigaction(SIGINT, &saved->interrupt, NULL);
    sigaction(SIGTERM, &saved->terminate, NULL);
    sigaction(SIGCHLD, &saved->child, NULL);
    close(self_pipe[0]);
    close(self_pipe[1]);
}

/* In the child: never returns. Failures travel through `report`. */
static void process_exec(const struct process *process, int output, int report)
{
    for (const char *const *set = process->set; set && *set; set++)
        if (strchr(*set, '=') ? putenv((char *)(uintptr_t)*set) != 0
                              : unsetenv(*set) != 0)
            break;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (output >= 0) {
        dup2(output, STDOUT_FILENO);
        dup2(process->apart ? open("/dev/null", O_WRONLY) : output,
             STDERR_FILENO);
    }
    execvp(process->argv[0], process->argv);

    ssize_t ignored = write(report, &errno, sizeof(errno));
    (void)ignored;
    _exit(127);
}

/* Starts it and checks whether the program could be executed. */
static int process_start(struct process *process)
{
    int output[2] = {-1, -1}, report[2] = {-1, -1}, error = 0;
    ssize_t n;

    process->output = -1;
    process->start_s = tool_now_s();
    if (pipe2(report, O_CLOEXEC) < 0 ||
        (process->quiet && pipe2(output, O_CLOEXEC) < 0)) {
        error = errno;
        goto close_report;
    }
    process->pid = fork();
    if (process->pid == 0)
        process_exec(process, output[1], report[1]);
    if (process->pid < 0) {
        error = errno;
        process->pid = 0;
        close(output[0]);
        goto close_output;
    }
    process->output = output[0];
    close(report[1]);
    report[1] = -1;
    do {
        n = read(report[0], &error, sizeof(error));
    } while (n < 0 && errno == EINTR);
    if (n <= 0)
        error = 0;
close_output:
    if (output[1] >= 0)
        close(output[1]);
close_report:
    if (report[0] >= 0)
        close(report[0]);
    if (report[1] >= 0)
        close(report[1]);
    process->error = error;
    return -error;
}

/* Takes what is in the pipe; closes it at its end. */
static void take_output(struct process *process)
{
    char bytes[4096], *text;
    ssize_t n = read(process->output, bytes, sizeof(bytes));

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    text =
        n > 0 ? realloc(process->text, process->length + (size_t)n + 1) : NULL;
    if (!text) {
        close(process->output);
        process->output = -1;
        return;
    }
    memcpy(text + process->length, bytes, (size_t)n);
    process->text = text;
    process->length += (size_t)n;
    text[process->length] = '\0';
}

/* Notices the end of a child. Returns whether it ended now. */
static bool reap(struct process *process)
{
    if (process->pid <= 0 ||
        waitpid(process->pid, &process->status, WNOHANG) != process->pid)
        return false;
    process->pid = 0;
    process->wall_s = tool_now_s() - process->start_s;
    /* Later output of a surviving grandchild does not matter. */
    if (process->output >= 0) {
        fcntl(process->output, F_SETFL, O_NONBLOCK);
        for (size_t before = process->length + 1;
             process->output >= 0 && before != process->length;) {
            before = process->length;
            take_output(process);
        }
        if (process->output >= 0)
            close(process->output);
        process->output = -1;
    }
    process->ended = true;
    return true;
}

/* Takes what has come since; returns whether a child may have ended. *stop is the last
 * signal to stop, if there was one. */
static bool take_signals(int *stop)
{
    bool child = false;
    char byte;

    while (read(self_pipe[0], &byte, 1) == 1)
        if (byte == SIGCHLD)
            child = true;
        else
            *stop = byte;
    return child;
}

/* Waits until output or a signal comes, for so many ms, -1: for ever. Returns the
 * signal to stop, 0 for none: any child may have ended. */
static int wait_for_news(struct process *processes, size_t n,
                         struct pollfd *fds, int ms)
{
    int stop = 0;

    fds[n] = (struct pollfd){.fd = self_pipe[0], .events = POLLIN};
    for (size_t i = 0; i < n; i++)
        fds[i] = (struct pollfd){
            .fd = processes[i].pid > 0 ? processes[i].output : -1,
            .events = POLLIN};
    if (poll(fds, n + 1, ms) >= 0) /* else by a signal */
        for (size_t i = 0; i < n; i++)
            if (fds[i].revents)
                take_output(&processes[i]);
    (void)take_signals(&stop);
    return stop;
}

/* Signals all that run; returns whether there is one. */
static bool signal_all(struct process *processes, size_t n, int number)
{
    bool alive = false;

    for (size_t i = 0; i < n; i++)
        if (processes[i].pid > 0 && !reap(&processes[i])) {
            kill(processes[i].pid, number);
            alive = true;
        }
    return alive;
}

/* Ends all that run: SIGTERM first, which has them save what there is. SIGKILL comes
 * when that takes too long, or with another signal to this process. */
static void processes_terminate(struct process *processes, size_t n,
                                struct pollfd *fds)
{
    double begin_s = tool_now_s();
    bool told = false;

    signal_all(processes, n, SIGTERM);
    while (signal_all(processes, n, 0)) {
        double s = tool_now_s() - begin_s;

        if (wait_for_news(processes, n, fds, 50) || s > most_to_save_s)
            signal_all(processes, n, SIGKILL);
        if (s > soon_s && !told) {
            tool_error("waiting for what runs to save what there is; another "
                       "interrupt ends it at once");
            told = true;
        }
    }
}

static int processes_run(struct process *processes, size_t n, unsigned at_once,
                         struct pollfd *fds,
                         void (*ended)(void *arg, size_t which), void *arg)
{
    size_t started = 0, nended = 0;
    int stop = 0;

    while (nended < n && !stop) {
        for (; started < n && started - nended < at_once; started++)
            if (process_start(&processes[started]) < 0 &&
                processes[started].pid == 0) {
                processes[started].ended = true;
                nended++;
                if (ended)
                    ended(arg, started);
            }
        if (nended < n)
            stop = wait_for_news(processes, n, fds, -1);
        /* The terminal's interrupt ends the programs, too: it came before that. And
         * a child may have ended since it was looked at: nothing says so again. */
        do {
            for (size_t i = 0; i < started; i++)
                if (reap(&processes[i])) {
                    nended++;
                    if (ended)
                        ended(arg, i);
                }
        } while (take_signals(&stop) && !stop);
    }
    if (stop)
        processes_terminate(processes, n, fds);
    return stop;
}

int process_run(struct process *processes, size_t n, unsigned at_once,
                void (*ended)(void *arg, size_t which), void *arg)
{
    struct pollfd *fds = calloc(n + 1, sizeof(*fds));
    struct signals saved;
    int stop;

    if (!fds || signals_init(&saved) < 0) {
        for (size_t i = 0; i < n; i++)
            processes[i].error = ENOMEM;
        free(fds);
        return 0;
    }
    stop = processes_run(processes, n, at_once ? at_once : 1, fds, ended, arg);
    signals_done(&saved);
    free(fds);
    return stop;
}

void process_done(struct process *process)
{
    free(process->text);
    process->text = NULL;
}

int process_exit_code(const struct process *process)
{
    if (process->error)
        return 127;
    if (WIFSIGNALED(process->status))
        return 128 + WTERMSIG(process->status);
    return WEXITSTATUS(process->status);
}

/* A sentence that only leads to a list on the next lines is left out. */
static void cut_heading(char *line)
{
    size_t length = strlen(line);
    char *end = NULL;

    if (length == 0 || line[length - 1] != ':')
        return;
    for (char *at = strstr(line, ". "); at; at = strstr(at + 1, ". "))
        end = at;
    if (end)
        end[1] = '\0';
}

void process_print_errors(const struct process *process, FILE *to)
{
    static const char mark[] = "orrery: error: ";
    const char *line = process->text;

    while (line && *line) {
        size_t length = strcspn(line, "\n");

        if (!strncmp(line, mark, sizeof(mark) - 1))
            fprintf(to, "  %.*s\n", (int)(length - (sizeof(mark) - 1)),
                    line + sizeof(mark) - 1);
        line += length + (line[length] == '\n');
    }
}

/* A line of `length` bytes; one that is too long ends with a whole word and "…". */
static void copy_line_shortened(char *to, size_t size, const char *line,
                                size_t length)
{
    static const char more[] = " \xe2\x80\xa6";

    snprintf(to, size, "%.*s", (int)length, line);
    if (length < size)
        return;
    length = size - sizeof(more);
    while (length > 0 && to[length] != ' ')
        length--;
    snprintf(to + length, size - length, "%s", more);
}

bool process_error_line(const struct process *process, char *to, size_t size)
{
    static const char mark[] = "orrery: error: ";
    const char *line = process->text, *end;

    *to = '\0';
    for (; line && *line; line = *end ? end + 1 : end) {
        bool ours = !strncmp(line, mark, sizeof(mark) - 1);

        end = line + strcspn(line, "\n");
        if (ours)
            line += sizeof(mark) - 1;
        if (end > line)
            copy_line_shortened(to, size, line, (size_t)(end - line));
        if (ours) {
            cut_heading(to);
            return true;
        }
    }
    return false;
}
