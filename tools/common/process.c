/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/process.c - see process.h. Children stay in this process group,
 * so that the terminal's interrupt reaches them; a signal to this process alone
 * is passed on. A self-pipe makes both visible to poll.
 */
#include "tools/common/process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/interrupt.h"
#include "tools/common/server.h"
#include "tools/common/tool.h"

/* A signal handler can reach nothing but a file-scope variable. Written by
 * signals_init before handlers are in place. */
static int self_pipe[2] = {-1, -1};

static const double most_to_save_s = 60, soon_s = 2;

struct signals {
    interrupt_fn *interrupt;
    struct sigaction child;
};

/* Those that one call runs. */
struct group {
    struct process *processes; /* borrowed */
    size_t n;
    size_t first, started; /* all before `first` have ended, those from `started` not begun */
    struct server *servers; /* owned: nservers, as many as run at once */
    unsigned nservers;
    struct pollfd *fds; /* owned: of the processes that run, of servers, and two more */
    const struct process_meanwhile *meanwhile; /* borrowed, NULL: none */
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
    saved->interrupt = interrupt_take(on_child_or_signal);
    sigaction(SIGCHLD, &action, &saved->child);
    return 0;
}

static void signals_done(const struct signals *saved)
{
    interrupt_take(saved->interrupt);
    sigaction(SIGCHLD, &saved->child, NULL);
    close(self_pipe[0]);
    close(self_pipe[1]);
}

/* In the child: never returns. Failures travel through `report`. */
static void process_exec(const struct process *process, int kept, int output,
                         int report)
{
    for (const char *const *set = process->set; set && *set; set++)
        if (strchr(*set, '=') ? putenv((char *)(uintptr_t)*set) != 0
                              : unsetenv(*set) != 0)
            break;
    interrupt_forget();
    if (kept >= 0)
        fcntl(kept, F_SETFD, 0);
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

/* Starts it and checks whether the program could be executed. It has the descriptor `kept`,
 * -1: none but the usual ones. */
static int process_start(struct process *process, int kept)
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
        process_exec(process, kept, output[1], report[1]);
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

/* --- processes that do one job after the other --- */

/* One that waits for jobs. Returns 0 or a negative errno. */
static int server_start(struct server *server, const struct process *process)
{
    char jobs[32], *const words[] = {process->argv[0], jobs, NULL};
    struct process its = {
        .argv = words, .quiet = process->quiet, .apart = process->apart};
    int ends[2], rc;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    snprintf(jobs, sizeof(jobs), "--jobs=%d", ends[1]);
    rc = process_start(&its, ends[1]);
    close(ends[1]);
    *server = (struct server){.pid = its.pid,
                              .socket = ends[0],
                              .output = its.output,
                              .program = strdup(process->argv[0]),
                              .quiet = process->quiet,
                              .apart = process->apart};
    if (rc == 0 && server->program)
        return 0;
    server_end(server);
    return rc ? rc : -ENOMEM;
}

static bool server_fits(const struct server *server, const struct process *process)
{
    return server->pid > 0 && !server->works &&
           server->quiet == process->quiet && server->apart == process->apart &&
           strcmp(server->program, process->argv[0]) == 0;
}

/* An idle one of that program, else one in the place of another that is idle. */
static struct server *find_server(struct group *group,
                                  const struct process *process)
{
    struct server *found = NULL;

    for (unsigned i = 0; i < group->nservers; i++) {
        struct server *server = &group->servers[i];

        if (server_fits(server, process))
            return server;
        if (!server->works && (!found || server->pid == 0))
            found = server;
    }
    assert(found); /* no more jobs at once than servers */
    server_end(found);
    return found;
}

static int start_job(struct group *group, struct process *process)
{
    struct server *server = find_server(group, process);
    int rc = 0;

    process->output = -1;
    process->start_s = tool_now_s();
    /* One that waits may have been ended by somebody: then another one does it. */
    for (int attempt = 0; attempt < 2 && !process->server && rc == 0; attempt++) {
        if (server->pid == 0)
            rc = server_start(server, process);
        if (rc == 0 && server_begin(server, process->argv[1], process->set))
            process->server = server;
        else if (rc == 0)
            server_end(server);
    }
    if (process->server) {
        process->pid = server->pid;
        process->output = server->output;
    } else {
        process->error = rc ? -rc : ECHILD;
    }
    return -process->error;
}

/* A process of its own, or a job of one that there is. */
static int process_begin(struct group *group, struct process *process)
{
    return process->takes_jobs && group->n > 1 ? start_job(group, process)
                                               : process_start(process, -1);
}

/* --- output and end --- */

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
        if (process->server)
            process->server->output = -1;
        return;
    }
    memcpy(text + process->length, bytes, (size_t)n);
    process->text = text;
    process->length += (size_t)n;
    text[process->length] = '\0';
}

/* What it has written until now. */
static void take_rest_of_output(struct process *process)
{
    fcntl(process->output, F_SETFL, O_NONBLOCK);
    for (size_t before = process->length + 1;
         process->output >= 0 && before != process->length;) {
        before = process->length;
        take_output(process);
    }
}

/* Notices the end of a child, or of its job. Returns whether it ended now. */
static bool reap(struct process *process)
{
    struct server *server = process->server;
    bool answered;

    if (process->pid <= 0)
        return false;
    answered = server && server_has_ended_job(server);
    if (!answered &&
        waitpid(process->pid, &process->status, WNOHANG) != process->pid)
        return false;
    process->pid = 0;
    process->wall_s = tool_now_s() - process->start_s;
    /* Later output of a surviving grandchild does not matter. */
    if (process->output >= 0)
        take_rest_of_output(process);
    if (server) {
        process->server = NULL;
        server->works = false;
        if (!answered) {
            server->pid = 0;
            server_end(server);
        }
    } else if (process->output >= 0)
        close(process->output);
    process->output = -1;
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
static int wait_for_news(struct group *group, int ms)
{
    struct process *processes = group->processes;
    const struct process_meanwhile *beside = group->meanwhile;
    struct pollfd *fds = group->fds;
    size_t n = group->started - group->first;
    int stop = 0;

    for (size_t i = 0; i < n; i++) {
        const struct process *process = &processes[group->first + i];

        fds[i] = (struct pollfd){.fd = process->pid > 0 ? process->output : -1,
                                 .events = POLLIN};
    }
    for (unsigned i = 0; i < group->nservers; i++)
        fds[n + i] = (struct pollfd){
            .fd = group->servers[i].works ? group->servers[i].socket : -1,
            .events = POLLIN};
    fds[n + group->nservers] =
        (struct pollfd){.fd = self_pipe[0], .events = POLLIN};
    fds[n + group->nservers + 1] =
        (struct pollfd){.fd = beside ? beside->fd : -1, .events = POLLIN};
    if (beside && (ms < 0 || ms > beside->every_ms))
        ms = beside->every_ms;
    if (poll(fds, n + group->nservers + 2, ms) >= 0) /* else by a signal */
        for (size_t i = 0; i < n; i++)
            if (fds[i].revents)
                take_output(&processes[group->first + i]);
    if (beside)
        beside->act(beside->arg);
    (void)take_signals(&stop);
    return stop;
}

/* Signals all that run; returns whether there is one. */
static bool signal_all(struct group *group, int number)
{
    struct process *processes = group->processes;
    bool alive = false;

    for (size_t i = group->first; i < group->started; i++)
        if (processes[i].pid > 0 && !reap(&processes[i])) {
            kill(processes[i].pid, number);
            alive = true;
        }
    return alive;
}

/* Ends all that run: SIGTERM first, which has them save what there is. SIGKILL comes
 * when that takes too long, or with another signal to this process. */
static void processes_terminate(struct group *group)
{
    double begin_s = tool_now_s();
    bool told = false;

    signal_all(group, SIGTERM);
    while (signal_all(group, 0)) {
        double s = tool_now_s() - begin_s;

        if (wait_for_news(group, 50) || s > most_to_save_s)
            signal_all(group, SIGKILL);
        if (s > soon_s && !told) {
            tool_error("waiting for what runs to save what there is; another "
                       "interrupt ends it at once");
            told = true;
        }
    }
}

static int processes_run(struct group *group,
                         void (*ended)(void *arg, size_t which), void *arg)
{
    struct process *processes = group->processes;
    size_t nended = 0, n = group->n;
    int stop = 0;

    while (nended < n && !stop) {
        while (group->started < n && group->started - nended < group->nservers) {
            size_t which = group->started++;

            if (process_begin(group, &processes[which]) < 0 && processes[which].pid == 0) {
                processes[which].ended = true;
                nended++;
                if (ended)
                    ended(arg, which);
            }
        }
        while (group->first < group->started && processes[group->first].ended)
            group->first++;
        if (nended < n)
            stop = wait_for_news(group, -1);
        /* The terminal's interrupt ends the programs, too: it came before that. And
         * a child may have ended since it was looked at: nothing says so again. */
        do {
            for (size_t i = group->first; i < group->started; i++)
                if (reap(&processes[i])) {
                    nended++;
                    if (ended)
                        ended(arg, i);
                }
        } while (take_signals(&stop) && !stop);
    }
    if (stop)
        processes_terminate(group);
    return stop;
}

int process_run(struct process *processes, size_t n, unsigned at_once,
                void (*ended)(void *arg, size_t which), void *arg)
{
    struct group group = {
        .processes = processes, .n = n, .nservers = at_once ? at_once : 1,
        .meanwhile = n == 1 ? processes->meanwhile : NULL};
    struct signals saved;
    int stop = 0;

    group.fds = calloc(n + group.nservers + 2, sizeof(*group.fds));
    group.servers = calloc(group.nservers, sizeof(*group.servers));
    if (!group.fds || !group.servers || signals_init(&saved) < 0) {
        for (size_t i = 0; i < n; i++)
            processes[i].error = ENOMEM;
        goto free_all;
    }
    for (unsigned i = 0; i < group.nservers; i++)
        group.servers[i] = (struct server){.socket = -1, .output = -1};
    stop = processes_run(&group, ended, arg);
    for (unsigned i = 0; i < group.nservers; i++)
        server_end(&group.servers[i]);
    signals_done(&saved);
free_all:
    free(group.servers);
    free(group.fds);
    return stop;
}

void process_end_with(pid_t parent)
{
    /* The kernel tells of ends after this call alone. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(128 + SIGKILL);
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

/* What stands behind "orrery: error: ", or "orrery: rank 3: error: "; NULL: the line is no error
 * of the library's. */
static const char *error_in(const char *line)
{
    static const char begin[] = "orrery: ", rank[] = "rank ",
                      mark[] = "error: ";

    if (strncmp(line, begin, sizeof(begin) - 1) != 0)
        return NULL;
    line += sizeof(begin) - 1;
    if (!strncmp(line, rank, sizeof(rank) - 1)) {
        line += sizeof(rank) - 1;
        line += strspn(line, "0123456789");
        line += strncmp(line, ": ", 2) ? 0 : 2;
    }
    return strncmp(line, mark, sizeof(mark) - 1) ? NULL
                                                 : line + sizeof(mark) - 1;
}

void process_print_errors(const struct process *process, FILE *to)
{
    const char *line = process->text;

    while (line && *line) {
        size_t length = strcspn(line, "\n");
        const char *said = error_in(line);

        if (said)
            fprintf(to, "  %.*s\n", (int)(line + length - said), said);
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
    const char *line = process->text, *end;

    *to = '\0';
    for (; line && *line; line = *end ? end + 1 : end) {
        const char *ours = error_in(line);

        end = line + strcspn(line, "\n");
        if (ours)
            line = ours;
        if (end > line)
            copy_line_shortened(to, size, line, (size_t)(end - line));
        if (ours) {
            cut_heading(to);
            return true;
        }
    }
    return false;
}
