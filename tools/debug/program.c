/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/program.c - see program.h. */
#include "tools/debug/program.h"

#include "tools/common/interrupt.h"
#include "tools/common/process.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Events between snapshots, at first. */
enum { EVERY = 2048 };

/* --- what it prints --- */

static void pass_on(struct program *program, const char *stream, int fd, off_t *seen)
{
    char text[8192];
    ssize_t n;

    while ((n = pread(fd, text, sizeof(text), *seen)) > 0) {
        *seen += n;
        program->print(program->print_arg, stream, text, (size_t)n);
    }
}

void program_flush(struct program *program)
{
    pass_on(program, "stdout", program->out, &program->seen_out);
    pass_on(program, "stderr", program->err, &program->seen_err);
}

/* A file that goes with its descriptors. It has no name at any time, which a
 * signal would leave, but where the file system knows no such files. */
static int make_file(void)
{
    const char *parent = getenv("TMPDIR");
    const char *folder = parent && *parent ? parent : "/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    char *path = fd < 0 ? tool_format("%s/orrery-debug-XXXXXX", folder) : NULL;

    if (path)
        fd = mkostemp(path, O_CLOEXEC);
    if (path && fd >= 0)
        unlink(path);
    if (fd < 0)
        tool_error("debug: no temporary file: %s", strerror(errno));
    free(path);
    return fd;
}

/* --- lines --- */

/* Bytes, and the descriptor beside them. 0: the other side is gone. */
static ssize_t receive(int fd, char *to, size_t room, int *ret_sent)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec bytes = {to, room};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control.room)};
    ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(ret_sent, CMSG_DATA(header), sizeof(*ret_sent));
    return n;
}

/* Waits, and passes on what is printed meanwhile. */
static bool await_bytes(struct program *program, int fd)
{
    struct pollfd fds[] = {{fd, POLLIN, 0}, {program->also, POLLIN, 0}};
    int n;

    do {
        n = poll(fds, program->watches_also ? 2 : 1, 100);
        if (n == 0)
            program_flush(program);
        if (n > 0 && program->watches_also && fds[1].revents)
            program->watches_also = program->on_also(program->on_also_arg);
    } while (n == 0 || (n < 0 && errno == EINTR) || (n > 0 && !fds[0].revents));
    return n > 0;
}

/* More of what the other side says. 0: it is gone, or there is no memory. */
static ssize_t read_bytes(struct program *program, int fd)
{
    if (program->room - program->n < 4096) {
        size_t room = 2 * program->room + 8192;
        char *line = realloc(program->line, room);

        if (!line)
            return 0;
        program->line = line;
        program->room = room;
    }
    return await_bytes(program, fd)
               ? receive(fd, program->line + program->n,
                         program->room - program->n, &program->sent)
               : 0;
}

/* The next line as JSON, a new reference; NULL: there are no more. */
static json_t *read_line(struct program *program, int fd)
{
    char *end;
    json_t *json;

    while (
        !(end = program->n ? memchr(program->line, '\n', program->n) : NULL)) {
        ssize_t n = read_bytes(program, fd);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return NULL;
        program->n += (size_t)n;
    }
    json = json_loadb(program->line, (size_t)(end - program->line), 0, NULL);
    program->n -= (size_t)(end + 1 - program->line);
    memmove(program->line, end + 1, program->n);
    return json ? json : json_object();
}

static void send_line(int fd, const char *text)
{
    char line[PROGRAM_REQUEST + 1];
    int n = snprintf(line, sizeof(line), "%s\n", text);

    if (n > 0 && (size_t)n < sizeof(line))
        n = (int)send(fd, line, (size_t)n, MSG_NOSIGNAL);
}

void program_send(struct program *program, const char *request)
{
    if (program->fd >= 0)
        send_line(program->fd, request);
}

void program_halt(const struct program *program)
{
    if (program->fd >= 0)
        (void)!send(program->fd, "halt\n", 5, MSG_NOSIGNAL);
}

/* --- processes --- */

static uint64_t number_of(const json_t *json, const char *key)
{
    return (uint64_t)json_number_value(json_object_get(json, key));
}

static void end_process(pid_t pid)
{
    if (pid <= 0)
        return;
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Those that have ended, but the one whose end is of interest. */
static void reap(pid_t but)
{
    siginfo_t info = {0};

    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
           info.si_pid != but) {
        waitpid(info.si_pid, NULL, 0);
        info.si_pid = 0;
    }
}

/* What runs now is not needed any more. */
static void end_run(struct program *program)
{
    if (program->fd >= 0)
        close(program->fd);
    end_process(program->pid);
    if (program->started != program->pid)
        end_process(program->started);
    program->fd = -1;
    program->pid = program->started = 0;
    program->n = 0;
    reap(0);
}

/* It has ended by itself: how. A script that has started it ends after it. */
static void note_end(struct program *program)
{
    pid_t pid = program->started > 0 ? program->started : program->pid;

    close(program->fd);
    program->fd = -1;
    program->status = 0;
    while (pid > 0 && waitpid(pid, &program->status, 0) < 0 && errno == EINTR)
        ;
    program->pid = program->started = 0;
    program_flush(program);
    reap(0);
}

/* In the child. Addresses are the same in each run, and a signal of the terminal is ours
 * alone. */
static _Noreturn void run_child(const struct program *program, pid_t debugger,
                                int fd)
{
    const struct process *process = &program->launch->process;
    int input = open(program->input ? program->input : "/dev/null", O_RDONLY);
    char number[24];

    interrupt_forget();
    setpgid(0, 0);
    personality(ADDR_NO_RANDOMIZE);
    /* Whatever ends the debugger, and before the run has asked it anything. */
    process_end_with(debugger);
    lseek(program->out, 0, SEEK_SET);
    lseek(program->err, 0, SEEK_SET);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(program->out, STDOUT_FILENO) < 0 ||
        dup2(program->err, STDERR_FILENO) < 0)
        _exit(127);
    for (const char *const *set = process->set; set && *set; set++)
        strchr(*set, '=') ? putenv((char *)(uintptr_t)*set) : unsetenv(*set);
    snprintf(number, sizeof(number), "%d", fd);
    setenv("ORRERY_DEBUGGER", number, 1);
    setenv("ORRERY_SIM_WATCHDOG", "0", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 0); /* its threads, which begin with the program, would
                                             * keep it from being copied */
    unsetenv("ORRERY_REPORT");
    execvp(process->argv[0], process->argv);
    fprintf(stderr, "orrery: debug: %s cannot be started: %s\n", process->argv[0],
            strerror(errno));
    _exit(127);
}

static int launch_process(struct program *program)
{
    pid_t debugger = getpid();
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return -1;
    fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    program->started = fork();
    if (program->started == 0)
        run_child(program, debugger, pair[1]);
    close(pair[1]);
    program->fd = pair[0];
    if (program->started < 0) {
        close(pair[0]);
        program->fd = -1;
    }
    return program->started < 0 ? -1 : 0;
}

/* Runs it until it opens its run. */
static int begin(struct program *program)
{
    json_t *hello;

    program->n = 0;
    program->pid = 0;
    if (launch_process(program) < 0) {
        tool_error("debug: %s", strerror(errno));
        return -1;
    }
    hello = read_line(program, program->fd);
    if (hello) {
        json_decref(hello);
        return 0;
    }
    note_end(program);
    if (WIFEXITED(program->status) && WEXITSTATUS(program->status) == 0)
        tool_error("debug: %s ended without a simulated run: it is linked to another library, or "
                   "calls no starpu_init",
                   program->launch->argv[0]);
    else
        tool_error("debug: %s ended before its run began", program->launch->argv[0]);
    return -1;
}

int program_start(struct program *program)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    program->fd = program->sent = program->near.fd = -1;
    program->every = EVERY;
    program->copies = true;
    program->out = make_file();
    program->err = program->out < 0 ? -1 : make_file();
    if (program->err < 0)
        return -1;
    return begin(program);
}

/* Tells it that nobody needs it, and waits until its memory is given back. */
static void end_copy(const struct program_snapshot *copy)
{
    char rest[256];
    ssize_t n;

    shutdown(copy->fd, SHUT_WR);
    do {
        n = recv(copy->fd, rest, sizeof(rest), 0);
    } while (n > 0 || (n < 0 && errno == EINTR));
    close(copy->fd);
}

void program_stop(struct program *program)
{
    end_run(program);
    for (unsigned i = 0; i < program->nsnapshots; i++)
        end_copy(&program->snapshots[i]);
    program->nsnapshots = 0;
    if (program->near.fd >= 0)
        end_copy(&program->near);
    reap(0);
    close(program->out);
    close(program->err);
    free(program->line);
    program->line = NULL;
    program->n = program->room = 0;
}

/* --- snapshots --- */

/* They hold every second event that they did: an end of their sockets is all that the
 * others need. The run makes fewer from now on, too. */
static void thin_out(struct program *program)
{
    unsigned kept = 1;

    for (unsigned i = 1; i < program->nsnapshots; i++)
        if (i % 2 == 0)
            program->snapshots[kept++] = program->snapshots[i];
        else
            close(program->snapshots[i].fd);
    program->nsnapshots = kept;
    program->every *= 2;
}

/* In the place of the one before. */
static void take_near(struct program *program,
                      const struct program_snapshot *snapshot)
{
    if (program->near.fd >= 0)
        close(program->near.fd);
    program->near = *snapshot;
    program->makes_near = false;
    reap(program->started > 0 ? program->started : program->pid);
}

static void take_snapshot(struct program *program, const json_t *json)
{
    struct program_snapshot snapshot = {number_of(json, "snapshot"), program->sent};
    unsigned at;

    program->sent = -1;
    if (json_object_get(json, "refused") || snapshot.fd < 0) {
        program->copies = false;
        return;
    }
    if (program->makes_near) {
        take_near(program, &snapshot);
        return;
    }
    if (program->nsnapshots == PROGRAM_SNAPSHOTS)
        thin_out(program);
    at = program->nsnapshots;
    while (at > 0 && program->snapshots[at - 1].number > snapshot.number)
        at--;
    memmove(&program->snapshots[at + 1], &program->snapshots[at],
            (program->nsnapshots - at) * sizeof(snapshot));
    program->snapshots[at] = snapshot;
    program->nsnapshots++;
    reap(program->started > 0 ? program->started : program->pid);
}

/* --- going --- */

/* Sends the request, which it takes, and waits until the program stops. */
static json_t *go(struct program *program, char *request)
{
    json_t *json;

    if (request)
        program_send(program, request);
    free(request);
    while (program->fd >= 0 && (json = read_line(program, program->fd))) {
        if (json_object_get(json, "event")) {
            program->pid = (pid_t)number_of(json, "pid");
            program_flush(program);
            return json;
        }
        if (json_object_get(json, "snapshot"))
            take_snapshot(program, json);
        if (json_object_get(json, "hello")) /* a script has started another program */
            program_send(program, "leave");
        json_decref(json);
    }
    if (program->fd >= 0)
        note_end(program);
    return NULL;
}

json_t *program_request(struct program *program, const char *request)
{
    json_t *json;

    if (strchr(request, '\n') || strlen(request) >= PROGRAM_REQUEST)
        return json_pack("{ss}", "error",
                         "a name has no line end, and less than 4000 bytes");
    program_send(program, request);
    json = program->fd >= 0 ? read_line(program, program->fd) : NULL;
    if (!json && program->fd >= 0)
        note_end(program);
    return json ? json : json_pack("{ss}", "error", "the program has ended");
}

json_t *program_ask(struct program *program, const char *words)
{
    char *request = tool_format("ask\t%s", words);
    json_t *json = request ? program_request(program, request)
                           : json_pack("{ss}", "error", "out of memory");

    free(request);
    return json;
}

/* The copy that goes on from the snapshot; -1: that is gone. */
static int resume(struct program *program, const struct program_snapshot *snapshot)
{
    json_t *json;
    int fd = -1;

    program->n = 0;
    program->sent = -1;
    send_line(snapshot->fd, "resume");
    while (fd < 0 && (json = read_line(program, snapshot->fd))) {
        if (json_object_get(json, "resumed")) {
            fd = program->sent;
            program->sent = -1;
            json_decref(json);
            break;
        }
        json_decref(json);
    }
    program->n = 0;
    return fd;
}

json_t *program_go(struct program *program, const char *words)
{
    unsigned n = program->nsnapshots;

    return go(
        program,
        tool_format("go\t%s\tevery=%u\troom=%u\tthen=%u\tbehind=%llu", words,
                    program->copies ? program->every : 0, PROGRAM_SNAPSHOTS - n,
                    PROGRAM_SNAPSHOTS / 2,
                    n ? (unsigned long long)program->snapshots[n - 1].number
                      : 0));
}

json_t *program_leave_copy(struct program *program, uint64_t number)
{
    unsigned long long at = number;
    json_t *said;

    program->makes_near = program->copies;
    said =
        go(program,
           tool_format("go\tlimit=%llu\tevery=%d\troom=2\tthen=2\tbehind=%llu",
                       at, program->copies, at - 1));
    program->makes_near = false;
    return said;
}

/* What the run, which stands, has said. */
static json_t *take_stop(struct program *program)
{
    json_t *json = read_line(program, program->fd);

    if (json)
        program->pid = (pid_t)number_of(json, "pid");
    return json;
}

/* The last copy up to that event, NULL: there is none. */
static const struct program_snapshot *last_copy(const struct program *program,
                                                uint64_t number)
{
    const struct program_snapshot *near = &program->near;
    unsigned n = program->nsnapshots;

    while (n > 0 && program->snapshots[n - 1].number > number)
        n--;
    if (near->fd >= 0 && near->number <= number &&
        (n == 0 || near->number > program->snapshots[n - 1].number))
        return near;
    return n > 0 ? &program->snapshots[n - 1] : NULL;
}

json_t *program_back(struct program *program, uint64_t number)
{
    const struct program_snapshot *from = last_copy(program, number);

    end_run(program);
    if (from) {
        program->fd = resume(program, from);
        return program->fd < 0 ? NULL : take_stop(program);
    }
    if (begin(program) < 0)
        return NULL;
    return program_go(program, "limit=1");
}
