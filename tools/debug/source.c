/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/source.c - see source.h. */
#include "tools/debug/source.h"

#include "tools/common/interrupt.h"
#include "tools/common/tool.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Programs submit at few places: those that were looked up. The last ones are kept. */
enum { KNOWN = 64, AROUND = 5 };

static struct {
    char *object; /* owned */
    unsigned long long offset;
    char *source; /* owned; "": not known */
} known[KNOWN];
static unsigned nknown;

/* What addr2line prints of an address: "FILE:LINE" for each function that was inlined
 * there, the innermost first. */
static FILE *start_lookup(const char *object, unsigned long long offset, pid_t *ret_pid)
{
    char address[32];
    int ends[2];

    snprintf(address, sizeof(address), "0x%llx", offset);
    if (pipe(ends) != 0)
        return NULL;
    *ret_pid = fork();
    if (*ret_pid == 0) {
        int null = open("/dev/null", O_WRONLY);

        interrupt_forget();
        dup2(ends[1], STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        close(ends[0]);
        execlp("addr2line", "addr2line", "-i", "-e", object, address, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

/* Headers of ours are not where the user has written something. */
static char *look_up(const char *object, unsigned long long offset)
{
    char *line = NULL, *found = NULL;
    size_t room = 0;
    pid_t pid = -1;
    FILE *lines = start_lookup(object, offset, &pid);

    while (lines && getline(&line, &room, lines) >= 0) {
        char *end = strstr(line, " (");

        line[end ? (size_t)(end - line) : strcspn(line, "\n")] = '\0';
        if (*line != '?' && !strstr(line, "/orrery/stf/") && !found)
            found = tool_format("%s", line);
    }
    free(line);
    if (lines)
        fclose(lines);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return found ? found : tool_format("%s", "");
}

static const char *source_of(const char *object, unsigned long long offset)
{
    unsigned at = nknown % KNOWN;

    for (unsigned i = 0; i < nknown && i < KNOWN; i++)
        if (known[i].offset == offset && !strcmp(known[i].object, object))
            return known[i].source;
    free(known[at].object);
    free(known[at].source);
    known[at].object = tool_format("%s", object);
    known[at].source = look_up(object, offset);
    known[at].offset = offset;
    if (!known[at].object || !known[at].source)
        return "";
    nknown++;
    return known[at].source;
}

static void resolve(json_t *item)
{
    const char *object = json_string_value(json_object_get(item, "object"));
    const char *source;

    if (!object)
        return;
    source = source_of(object, (unsigned long long)json_number_value(
                                   json_object_get(item, "offset")));
    if (*source)
        json_object_set_new(item, "source", json_string(source));
    json_object_del(item, "object");
    json_object_del(item, "offset");
    json_object_del(item, "call");
}

void source_resolve(json_t *result)
{
    json_t *answer = json_object_get(result, "answer"), *item;
    size_t i;

    resolve(result);
    json_array_foreach (answer, i, item)
        resolve(item);
}

/* Files that are both there are the same if they are one; else their names are compared. */
static bool is_same_file(const char *one, const char *other)
{
    const char *a = strrchr(one, '/'), *b = strrchr(other, '/');
    char *x = realpath(one, NULL), *y = realpath(other, NULL);
    bool same = x && y && *one == '/' && *other == '/'
                    ? !strcmp(x, y)
                    : !strcmp(a ? a + 1 : one, b ? b + 1 : other);

    free(x);
    free(y);
    return same;
}

bool source_is(const json_t *said, const char *line)
{
    json_t *copy = json_deep_copy(said);
    const char *source, *colon, *wanted = strrchr(line, ':');
    char *one = NULL, *other = NULL;
    bool same = false;

    resolve(copy);
    source = json_string_value(json_object_get(copy, "source"));
    colon = source ? strrchr(source, ':') : NULL;
    if (colon && wanted && !strcmp(colon, wanted)) {
        one = strndup(source, (size_t)(colon - source));
        other = strndup(line, (size_t)(wanted - line));
        same = one && other && is_same_file(one, other);
    }
    free(one);
    free(other);
    json_decref(copy);
    return same;
}

static json_t *read_lines(const char *path, unsigned long line)
{
    FILE *file = fopen(path, "re");
    json_t *list = json_array();
    char *text = NULL;
    size_t room = 0;

    for (unsigned long n = 1; file && getline(&text, &room, file) >= 0 && n <= line + AROUND; n++) {
        char shown[300];

        text[strcspn(text, "\n")] = '\0';
        if (n + AROUND < line)
            continue;
        snprintf(shown, sizeof(shown), "%s%lu\t%.250s", n == line ? "> " : "  ", n, text);
        json_array_append_new(list, json_pack("{sIss}", "line", (json_int_t)n, "text", shown));
    }
    free(text);
    if (file)
        fclose(file);
    return list;
}

static json_t *show_lines(const char *source, const char *path, unsigned long line)
{
    json_t *list = read_lines(path, line);
    char text[PATH_MAX + 100];

    if (json_array_size(list))
        return json_pack("{ssso}", "source", source, "answer", list);
    json_decref(list);
    snprintf(text, sizeof(text), "%s: the file cannot be read, or has fewer lines", source);
    return json_pack("{ssss}", "source", source, "error", text);
}

json_t *source_list(const json_t *event)
{
    json_t *now = event ? json_deep_copy(event) : json_object();
    const char *source, *colon;
    char path[PATH_MAX];
    json_t *result;

    resolve(now);
    source = json_string_value(json_object_get(now, "source"));
    colon = source ? strrchr(source, ':') : NULL;
    if (!colon) {
        result = json_pack("{ss}", "error",
                           json_object_get(now, "task")
                               ? "where this task was submitted is not known: compile the program "
                                 "with -g, and install binutils (addr2line)"
                               : "this event is not one of a task");
    } else {
        snprintf(path, sizeof(path), "%.*s", (int)(colon - source), source);
        result = show_lines(source, path, strtoul(colon + 1, NULL, 10));
    }
    json_decref(now);
    return result;
}
