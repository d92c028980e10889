/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/sched/schedule.c - see schedule.h. */
#include "core/sched/schedule.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <starpu_config.h>

static const char magic[] = "orrery schedule 1";

/* Tables have a place for each number, so a number beyond these limits is an error, and
 * so is one far beyond what a file of that size can name. */
enum { MOST_TASKS = 1 << 28, MOST_OF_ANY = 1 << 20, MOST_PER_BYTE = 16 };

struct reader {
    struct orr_schedule *schedule;
    const char *file;
    struct orr_error *err;
    size_t room;
    uint32_t place;
    long most; /* number of a task */
    unsigned line;
};

static int schedule_line_fail(const struct reader *r, const char *what,
                              const char *text)
{
    return orr_fail(r->err, -EINVAL,
                    "%s, line %u: %s `%s'; a line is TASK WORKER KERNEL, two "
                    "numbers and a name, as orrery trace --schedule writes it",
                    r->file, r->line, what, text);
}

static struct orr_schedule_task *task_at(struct reader *r, uint32_t number)
{
    struct orr_schedule *s = r->schedule;

    if (orr_grow(&s->tasks, &r->room, number, sizeof(*s->tasks)) < 0)
        return NULL;
    if (s->ntasks < number)
        s->ntasks = number;
    return &s->tasks[number - 1];
}

static int read_task(struct reader *r, char *text)
{
    char *worker_end, *end, *kernel;
    long number = strtol(text, &end, 10);
    long worker = strtol(end, &worker_end, 10);
    struct orr_schedule_task *task;

    if (end == text || number < 1 || number > r->most)
        return schedule_line_fail(r, "no number of a task in", text);
    if (worker_end == end || worker < 0 || worker >= STARPU_NMAXWORKERS)
        return schedule_line_fail(r, "no number of a worker in", text);
    kernel = worker_end + strspn(worker_end, " \t");
    if (kernel == worker_end || !*kernel)
        return schedule_line_fail(r, "no kernel in", text);
    task = task_at(r, (uint32_t)number);
    if (!task)
        return -ENOMEM;
    if (task->place)
        return schedule_line_fail(r, "a second line for the task of", text);
    task->kernel = strdup(kernel);
    task->worker = (uint32_t)worker;
    task->place = ++r->place;
    return task->kernel ? 0 : -ENOMEM;
}

static int schedule_read_line(struct reader *r, char *text)
{
    static const char policy[] = "policy ";

    text[strcspn(text, "\r\n")] = '\0';
    if (r->line == 1 && strcmp(text, magic) != 0)
        return orr_fail(r->err, -EINVAL,
                        "%s is no schedule: its first line is not `%s'",
                        r->file, magic);
    if (r->line == 1 || *text == '#' || !text[strspn(text, " \t")])
        return 0;
    if (strncmp(text, policy, strlen(policy)) != 0)
        return read_task(r, text);
    free(r->schedule->policy);
    r->schedule->policy = strdup(text + strlen(policy));
    return r->schedule->policy ? 0 : -ENOMEM;
}

static int read_lines(struct reader *r, FILE *f)
{
    char *text = NULL;
    size_t size = 0;
    int rc = 0;

    while (!rc && getline(&text, &size, f) >= 0) {
        r->line++;
        rc = schedule_read_line(r, text);
    }
    free(text);
    if (!rc && ferror(f))
        rc = orr_fail(r->err, -EIO, "%s cannot be read", r->file);
    if (!rc && r->line == 0)
        rc = orr_fail(r->err, -EINVAL, "%s is empty: no schedule", r->file);
    return rc;
}

static long most_in(FILE *f)
{
    struct stat st;

    if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode) ||
        st.st_size > MOST_TASKS / MOST_PER_BYTE)
        return MOST_TASKS;
    return MOST_OF_ANY + MOST_PER_BYTE * (long)st.st_size;
}

int orr_schedule_read(const char *file, struct orr_schedule *ret,
                      struct orr_error *err)
{
    struct reader r = {.schedule = ret, .file = file, .err = err};
    FILE *f = fopen(file, "r");
    int rc;

    *ret = (struct orr_schedule){.ntasks = 0};
    if (!f) {
        rc = -errno;
        return orr_fail(err, rc, "the schedule %s cannot be read: %s", file,
                        strerror(-rc));
    }
    r.most = most_in(f);
    rc = read_lines(&r, f);
    fclose(f);
    if (rc == -ENOMEM)
        orr_fail(err, rc, "%s: out of memory", file);
    if (rc)
        orr_schedule_done(ret);
    return rc;
}

void orr_schedule_done(struct orr_schedule *schedule)
{
    for (uint32_t i = 0; schedule->tasks && i < schedule->ntasks; i++)
        free(schedule->tasks[i].kernel);
    free(schedule->tasks);
    free(schedule->policy);
    *schedule = (struct orr_schedule){.ntasks = 0};
}
