/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/replayed.c - see replayed.h. */
#include "replayed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *player;

void replay_by(const char *program)
{
    player = program;
}

bool replay_wanted(void)
{
    return player != NULL;
}

/* Files of this process. */
static const char *path_of(const char *what)
{
    static char paths[3][64];
    static unsigned next;
    char *path = paths[next++ % 3];

    snprintf(path, sizeof(*paths), "/tmp/orrery-random-%d.%s", (int)getpid(),
             what);
    return path;
}

void replay_record(void)
{
    setenv("ORRERY_RECORD", path_of("rec"), 1);
    setenv("ORRERY_TRACE", path_of("run"), 1);
}

static bool play(const char *record)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        execl(player, player, record, (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* The number of the first line that differs, 0: none does. */
static unsigned compare(const char *one, const char *other)
{
    FILE *a = fopen(one, "r"), *b = fopen(other, "r");
    unsigned line = 1;
    int c = a ? 0 : EOF, d = b ? 0 : EOF;

    if (a && b)
        do {
            line += c == '\n';
            c = getc(a);
            d = getc(b);
        } while (c == d && c != EOF);
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    return a && b && c == d ? 0 : line;
}

void replay_compare(struct report *report)
{
    const char *record = path_of("rec"), *run = path_of("run"),
               *again = path_of("again");
    unsigned line;

    unsetenv("ORRERY_RECORD");
    setenv("ORRERY_TRACE", again, 1);
    if (!play(record))
        report_failure(report, REFUSED, "its replay fails");
    else if ((line = compare(run, again)) != 0)
        report_failure(report, WRONG,
                       "the trace of its replay differs in line %u", line);
    if (getenv("ORRERY_RANDOM_KEEP"))
        return;
    unlink(record);
    unlink(run);
    unlink(again);
}
