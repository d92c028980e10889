/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/apart.c - computes a bound in a process of its own, so that it can
 * be ended: when its time is over, whatever the solver is doing, and when the
 * command is interrupted. The result comes back through a pipe. One thread.
 */
#include "tools/bound/apart.h"
#include "tools/common/interrupt.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A method looks at the clock now and then only. */
#define GRACE_S 0.3

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    interrupted = number;
}

double apart_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What goes through the pipe; the two texts follow. */
struct message {
    int rc;
    struct orr_bound_result result; /* pointers say only whether there is one */
    size_t why, limit;              /* bytes */
};

/* --- the child --- */

static bool send_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;

    while (n > 0) {
        ssize_t sent = write(fd, at, n);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        n -= (size_t)sent;
    }
    return true;
}

static void compute_bound_in_child(const struct apart_job *job, int fd)
{
    struct message message = {.rc = 0};
    struct orr_bound_result *r = &message.result;
    const struct orr_bound_options options = {.seconds = job->seconds,
                                              .patience = job->patience};
    bool sent;

    interrupt_forget();
    message.rc = job->solver->compute(job->in, job->method, &options, r);
    if (message.rc == 0) {
        message.why = r->why ? strlen(r->why) : 0;
        message.limit = r->limit ? strlen(r->limit) : 0;
    }
    sent = send_all(fd, &message, sizeof(message));
    if (sent && message.rc == 0)
        sent = send_all(fd, r->why, message.why) &&
               send_all(fd, r->limit, message.limit);
    _exit(sent ? 0 : 1);
}

/* --- the parent --- */

/* Reads n bytes until the date. Returns whether all came. */
static bool read_bytes_until(int fd, void *bytes, size_t n, double until)
{
    char *at = bytes;

    while (n > 0 && !interrupted) {
        struct pollfd wanted = {.fd = fd, .events = POLLIN};
        double left = until - apart_clock();
        ssize_t came;

        if (left <= 0 || poll(&wanted, 1, (int)ceil(left * 1e3)) == 0)
            return false;
        if (!wanted.revents)
            continue; /* a signal */
        came = read(fd, at, n);
        if (came < 0 && errno == EINTR)
            continue;
        if (came <= 0)
            return false;
        at += came;
        n -= (size_t)came;
    }
    return n == 0;
}

static bool read_text_until(int fd, size_t n, bool any, char **ret,
                            double until)
{
    *ret = any ? calloc(n + 1, 1) : NULL;
    return !any || (*ret && read_bytes_until(fd, *ret, n, until));
}

/* A result without a value. */
static int result_without_value(struct orr_bound_result *ret,
                                enum orr_bound_method method,
                                enum orr_bound_outcome outcome, const char *why)
{
    *ret = (struct orr_bound_result){.method = method,
                                     .outcome = outcome,
                                     .ms = NAN,
                                     .upper_ms = NAN,
                                     .why = strdup(why)};
    return ret->why ? 0 : -ENOMEM;
}

/* The result that the child sends, if it does. */
static int receive_bound_result(const struct apart_job *job, int fd,
                                double until, struct orr_bound_result *ret)
{
    struct message message;
    char *why = NULL, *limit = NULL;

    if (read_bytes_until(fd, &message, sizeof(message), until)) {
        if (message.rc < 0)
            return message.rc;
        if (read_text_until(fd, message.why, message.result.why != NULL, &why,
                            until) &&
            read_text_until(fd, message.limit, message.result.limit != NULL,
                            &limit, until)) {
            *ret = message.result;
            ret->why = why;
            ret->limit = limit;
            return 0;
        }
    }
    free(why);
    free(limit);
    if (interrupted)
        return result_without_value(ret, job->method, ORR_BOUND_SKIPPED,
                                    "interrupted");
    if (apart_clock() >= until)
        return result_without_value(
            ret, job->method, ORR_BOUND_TIME_LIMIT,
            "nothing was proved when its time was over; --time "
            "gives more");
    return result_without_value(ret, job->method, ORR_BOUND_SKIPPED,
                                "its process ended without a result");
}

int apart_compute(const struct apart_job *job, struct orr_bound_result *ret)
{
    double start = apart_clock();
    int ends[2], rc;
    pid_t child;

    if (pipe(ends) < 0)
        return -errno;
    child = fork();
    if (child == 0) {
        close(ends[0]);
        compute_bound_in_child(job, ends[1]);
    }
    rc = child < 0 ? -errno : 0;
    close(ends[1]);
    if (rc == 0) {
        rc = receive_bound_result(job, ends[0], start + job->seconds + GRACE_S,
                                  ret);
        kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    if (rc == 0 && isnan(ret->ms))
        ret->seconds = apart_clock() - start;
    return rc;
}

/* --- signals --- */

void apart_begin(void)
{
    interrupted = 0;
    interrupt_take(note_signal);
}

int apart_end(void)
{
    interrupt_take(NULL);
    return interrupted;
}

int apart_interrupted(void)
{
    return interrupted;
}
